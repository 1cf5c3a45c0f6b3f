// SPDX-License-Identifier: GPL-2.0
/*
 * CFI as it stands in a file: see the Linux Standard Base, Core, "Exception Frames".
 */
#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <string.h>
#include "cfi.h"
#include "elf-bounds.h"
#include "fde.h"
#include "section.h"

static unsigned int encoded_size(const struct hybrid_section *sec, u8 encoding)
{
	switch (encoding & 7) {
	case DW_EH_PE_absptr:
		return sec->ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
	case DW_EH_PE_udata2:
		return 2;
	case DW_EH_PE_udata4:
		return 4;
	case DW_EH_PE_udata8:
		return 8;
	default:
		return 0;
	}
}

/* Addresses that nobody writes (indirect ones, LEB128) are not read. */
static bool read_encoded(const struct hybrid_section *sec, u8 encoding, const u8 **at,
			 const u8 *end, u64 *value)
{
	unsigned int size = encoded_size(sec, encoding);
	s32 word;
	s16 half;

	if (!size || (u64)(end - *at) < size)
		return false;
	*value = 0;
	memcpy(value, *at, size);
	if (encoding & DW_EH_PE_signed && size == 4) {
		memcpy(&word, *at, size);
		*value = (s64)word;
	} else if (encoding & DW_EH_PE_signed && size == 2) {
		memcpy(&half, *at, size);
		*value = (s64)half;
	}
	*at += size;
	return true;
}

/* The letters of a CIE's augmentation, with what stands in its data for each. */
static u8 cie_encoding(const struct hybrid_section *sec, const Dwarf_CIE *cie)
{
	const u8 *at = cie->augmentation_data, *end;
	const char *letter = cie->augmentation;
	u64 personality;
	u8 encoding;

	if (!sec->is_eh || !letter || *letter != 'z' || !at)
		return DW_EH_PE_absptr;
	end = at + cie->augmentation_data_size;
	while (*++letter && at < end) {
		switch (*letter) {
		case 'R':
			return *at;
		case 'L':
			at++;
			break;
		case 'P':
			encoding = *at++;
			if (!read_encoded(sec, encoding, &at, end, &personality))
				return DW_EH_PE_omit;
			break;
		case 'S':
		case 'B':
			break;
		default:
			return DW_EH_PE_omit;
		}
	}
	return DW_EH_PE_absptr;
}

/* CIEs are few, and those that stand side by side mostly the same. */
static u8 encoding_of(struct hybrid_section *sec, const Dwarf_FDE *fde)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	if (sec->cie_at == fde->CIE_pointer)
		return sec->encoding;
	sec->cie_at = fde->CIE_pointer;
	sec->encoding = DW_EH_PE_omit;
	if (fde->CIE_pointer < sec->data->d_size &&
	    !dwarf_next_cfi(sec->ident, sec->data, sec->is_eh, fde->CIE_pointer, &next, &entry) &&
	    dwarf_cfi_cie_p(&entry)) {
		sec->cie = entry.cie;
		sec->encoding = cie_encoding(sec, &entry.cie);
	}
	return sec->encoding;
}

const u8 *hybrid_section_range(struct hybrid_section *sec, const Dwarf_FDE *fde,
			       struct hybrid_fde *range)
{
	u8 encoding = encoding_of(sec, fde), base = encoding & 0x70;
	const u8 *at = fde->start;
	u64 start, size;

	if (encoding & DW_EH_PE_indirect ||
	    (base != DW_EH_PE_absptr && base != DW_EH_PE_pcrel) ||
	    !read_encoded(sec, encoding, &at, fde->end, &start))
		return NULL;
	if (base == DW_EH_PE_pcrel)
		start += sec->vaddr + (fde->start - (const u8 *)sec->data->d_buf);
	if (!read_encoded(sec, encoding & 7, &at, fde->end, &size))
		return NULL;
	/* Where the file's class has shorter addresses they wrap around. */
	if (sec->ident[EI_CLASS] == ELFCLASS32)
		start = (u32)start;
	range->start = start + sec->bias;
	range->end = range->start + size;
	/* Functions that the linker dropped are left at address 0. */
	return size && start && range->end > range->start ? at : NULL;
}

bool hybrid_section_open(struct hybrid_section *sec, Elf *elf, const char *name)
{
	GElf_Shdr shdr;
	size_t index;

	memset(sec, 0, sizeof(*sec));
	sec->ident = elf ? (const void *)elf_getident(elf, NULL) : NULL;
	sec->is_eh = !strcmp(name, ".eh_frame");
	sec->cie_at = ~0ULL;
	index = sec->ident ? hybrid_elf_find(elf, name, &shdr) : 0;
	if (!index)
		return false;
	sec->data = elf_getdata(elf_getscn(elf, index), NULL);
	sec->vaddr = shdr.sh_addr;
	return sec->data && sec->data->d_buf;
}

Elf *hybrid_cfi_sections(struct hybrid_cfi *cfi)
{
	if (cfi->fd < 0)
		return cfi->elf;
	if (cfi->sections_tried)
		return cfi->sections;
	cfi->sections_tried = true;
	errno = 0;
	cfi->sections = hybrid_elf_cfi(cfi->fd, cfi->user, cfi->elf);
	if (!cfi->sections && errno == EDQUOT)
		cfi->is_refused = true;
	return cfi->sections;
}
