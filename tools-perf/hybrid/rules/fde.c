// SPDX-License-Identifier: GPL-2.0
/*
 * The FDEs of .eh_frame and .debug_frame, with the addresses that they are
 * about: see the Linux Standard Base, Core, "Exception Frames".
 */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "arch.h"
#include "fde.h"
#include "object.h"

/**
 * struct section - CFI as it stands in a file
 * @ident: of the file
 * @data: bytes
 * @vaddr: of the first
 * @bias: what to add to an address for the object's own
 * @is_eh: .eh_frame, and not .debug_frame
 * @cie_at: offset of the CIE that @encoding is of; ~0: none
 * @encoding: of addresses, DW_EH_PE_*
 */
struct section {
	const unsigned char	*ident;
	Elf_Data		*data;
	u64			 vaddr;
	u64			 bias;
	bool			 is_eh;
	Dwarf_Off		 cie_at;
	u8			 encoding;
};

static unsigned int encoded_size(const struct section *sec, u8 encoding)
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
static bool read_encoded(const struct section *sec, u8 encoding, const u8 **at, const u8 *end,
			 u64 *value)
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
static u8 cie_encoding(const struct section *sec, const Dwarf_CIE *cie)
{
	const u8 *at = cie->augmentation_data, *end;
	const char *letter = cie->augmentation;
	u64 personality;

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
			if (!read_encoded(sec, *at, &at, end, &personality))
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

static u8 encoding_of(struct section *sec, const Dwarf_FDE *fde)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	if (sec->cie_at == fde->CIE_pointer)
		return sec->encoding;
	sec->cie_at = fde->CIE_pointer;
	sec->encoding = DW_EH_PE_omit;
	if (!dwarf_next_cfi(sec->ident, sec->data, sec->is_eh, fde->CIE_pointer, &next, &entry) &&
	    dwarf_cfi_cie_p(&entry))
		sec->encoding = cie_encoding(sec, &entry.cie);
	return sec->encoding;
}

static bool read_fde(struct section *sec, const Dwarf_FDE *fde, struct hybrid_fde *range)
{
	u8 encoding = encoding_of(sec, fde), base = encoding & 0x70;
	const u8 *at = fde->start;
	u64 start, size;

	if (encoding & DW_EH_PE_indirect ||
	    (base != DW_EH_PE_absptr && base != DW_EH_PE_pcrel) ||
	    !read_encoded(sec, encoding, &at, fde->end, &start))
		return false;
	if (base == DW_EH_PE_pcrel)
		start += sec->vaddr + (fde->start - (const u8 *)sec->data->d_buf);
	if (!read_encoded(sec, encoding & 7, &at, fde->end, &size))
		return false;
	/* Where the file's class has shorter addresses they wrap around. */
	if (sec->ident[EI_CLASS] == ELFCLASS32)
		start = (u32)start;
	range->start = start + sec->bias;
	range->end = range->start + size;
	/* Functions that the linker dropped are left at address 0. */
	return size && start && range->end > range->start;
}

static int add(struct hybrid_fdes *fdes, const struct hybrid_fde *fde)
{
	struct hybrid_fde *more;
	size_t alloc = fdes->alloc * 2 + 64;

	if (fdes->nr == fdes->alloc) {
		more = realloc(fdes->fdes, alloc * sizeof(*more));
		if (!more)
			return -ENOMEM;
		fdes->fdes = more;
		fdes->alloc = alloc;
	}
	fdes->fdes[fdes->nr++] = *fde;
	return 0;
}

static int read_section(struct section *sec, struct hybrid_fdes *fdes)
{
	Dwarf_Off off = 0, next;
	struct hybrid_fde fde;
	Dwarf_CFI_Entry entry;
	int err;

	for (; off < sec->data->d_size; off = next) {
		next = off;
		err = dwarf_next_cfi(sec->ident, sec->data, sec->is_eh, off, &next, &entry);
		if (err > 0 || next <= off)
			break;
		if (err || dwarf_cfi_cie_p(&entry) || !read_fde(sec, &entry.fde, &fde))
			continue;
		if (add(fdes, &fde))
			return -ENOMEM;
	}
	return 0;
}

/* No section of that name: no FDEs, and no error. */
static int read_file(Elf *elf, const char *name, u64 bias, struct hybrid_fdes *fdes)
{
	struct section sec = {
		.ident = elf ? (const void *)elf_getident(elf, NULL) : NULL,
		.is_eh = !strcmp(name, ".eh_frame"), .bias = bias, .cie_at = ~0ULL,
	};
	Elf_Scn *scn = NULL;
	size_t names;

	if (!sec.ident || elf_getshdrstrndx(elf, &names))
		return 0;
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		const char *found;
		GElf_Shdr shdr;

		if (!gelf_getshdr(scn, &shdr))
			break;
		found = elf_strptr(elf, names, shdr.sh_name);
		if (!found || strcmp(found, name) || shdr.sh_type == SHT_NOBITS)
			continue;
		sec.data = elf_getdata(scn, NULL);
		sec.vaddr = shdr.sh_addr;
		return sec.data && sec.data->d_buf ? read_section(&sec, fdes) : 0;
	}
	return 0;
}

static int compare(const void *pa, const void *pb)
{
	const struct hybrid_fde *a = pa, *b = pb;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* In order, and where two overlap, the second without what the first has. */
static void sort(struct hybrid_fdes *fdes)
{
	size_t i, nr = 0;
	u64 end = 0;

	if (fdes->nr)
		qsort(fdes->fdes, fdes->nr, sizeof(*fdes->fdes), compare);
	for (i = 0; i < fdes->nr; i++) {
		struct hybrid_fde fde = fdes->fdes[i];

		if (fde.start < end)
			fde.start = end;
		if (fde.start >= fde.end)
			continue;
		end = fde.end;
		fdes->fdes[nr++] = fde;
	}
	fdes->nr = nr;
}

/* Code at the entry that has no FDE, up to what has one, is taken for one. */
static int add_entry(struct hybrid_object *object, struct hybrid_fdes *fdes)
{
	u64 size = object->cfi.abi->arch->entry_size(object);
	struct hybrid_fde fde = { object->entry, object->entry + size };
	size_t i;

	if (!size || hybrid_fdes_find(fdes, fde.start))
		return 0;
	for (i = 0; i < fdes->nr && fdes->fdes[i].start < fde.start; i++)
		;
	if (i < fdes->nr)
		fde.end = min(fde.end, fdes->fdes[i].start);
	if (add(fdes, &fde))
		return -ENOMEM;
	sort(fdes);
	return 0;
}

/* A Go program has its functions in a table. */
static int add_pclntab(struct hybrid_object *object, struct hybrid_fdes *fdes)
{
	struct hybrid_fde fde;
	u32 i;

	if (!hybrid_pclntab_find(object))
		return 0;
	for (i = 0; i < object->pclntab.nr; i++) {
		if (hybrid_pclntab_function(object, i, &fde) && add(fdes, &fde))
			return -ENOMEM;
	}
	return 0;
}

int hybrid_fdes_read(struct hybrid_object *object, struct hybrid_fdes *fdes)
{
	int err;

	memset(fdes, 0, sizeof(*fdes));
	err = read_file(object->elf, ".eh_frame", 0, fdes);
	if (!err && object->cfi.debug)
		err = read_file(object->debug_elf, ".debug_frame", object->cfi.debug_bias, fdes);
	if (!err)
		err = add_pclntab(object, fdes);
	sort(fdes);
	if (!err)
		err = add_entry(object, fdes);
	if (err)
		hybrid_fdes_exit(fdes);
	return err;
}

const struct hybrid_fde *hybrid_fdes_find(const struct hybrid_fdes *fdes, u64 vaddr)
{
	size_t low = 0, high = fdes->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (vaddr < fdes->fdes[mid].start)
			high = mid;
		else if (vaddr >= fdes->fdes[mid].end)
			low = mid + 1;
		else
			return &fdes->fdes[mid];
	}
	return NULL;
}

void hybrid_fdes_exit(struct hybrid_fdes *fdes)
{
	free(fdes->fdes);
	memset(fdes, 0, sizeof(*fdes));
}
