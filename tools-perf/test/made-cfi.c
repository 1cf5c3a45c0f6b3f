// SPDX-License-Identifier: GPL-2.0
#include <dwarf.h>
#include <string.h>
#include "made-cfi.h"

#define CODE_SIZE	4096

void made_byte(struct made_bytes *to, u8 byte)
{
	to->bytes[to->nr++] = byte;
}

void made_word(struct made_bytes *to, u64 value, unsigned int size)
{
	memcpy(to->bytes + to->nr, &value, size);
	to->nr += size;
}

void made_uleb(struct made_bytes *to, u64 value)
{
	for (; value >= 0x80; value >>= 7)
		made_byte(to, value | 0x80);
	made_byte(to, value);
}

void made_sleb(struct made_bytes *to, s64 value)
{
	for (; value < -0x40 || value >= 0x40; value >>= 7)
		made_byte(to, value | 0x80);
	made_byte(to, value & 0x7f);
}

static void put(struct made_cfi *cfi, const void *bytes, unsigned int size)
{
	memcpy(cfi->frames + cfi->size, bytes, size);
	cfi->size += size;
}

/* With the length before it, and filled up by nops. */
static void put_entry(struct made_cfi *cfi, struct made_bytes *entry)
{
	u32 len;

	while (entry->nr % 4)
		made_byte(entry, DW_CFA_nop);
	len = entry->nr;
	put(cfi, &len, sizeof(len));
	put(cfi, entry->bytes, entry->nr);
}

void made_cfi_begin(struct made_cfi *cfi)
{
	static const u8 head[] = { 1, 0x1b, 0x03, 0x3b };
	s32 frames = MADE_FRAMES - MADE_HEADER - 4;

	memset(cfi, 0, sizeof(*cfi));
	memcpy(cfi->head, head, sizeof(head));
	memcpy(cfi->head + 4, &frames, sizeof(frames));
}

void made_cie(struct made_cfi *cfi, const char *augmentation, const struct made_bytes *data,
	      u64 code, s64 align, u8 ra, const struct made_bytes *program)
{
	struct made_bytes entry = {};
	unsigned int i;

	cfi->cie = cfi->size;
	made_word(&entry, 0, 4);
	made_byte(&entry, 1);
	for (i = 0; i <= strlen(augmentation); i++)
		made_byte(&entry, augmentation[i]);
	made_uleb(&entry, code);
	made_sleb(&entry, align);
	made_byte(&entry, ra);
	if (*augmentation == 'z')
		made_uleb(&entry, data->nr);
	for (i = 0; i < data->nr; i++)
		made_byte(&entry, data->bytes[i]);
	for (i = 0; i < program->nr; i++)
		made_byte(&entry, program->bytes[i]);
	put_entry(cfi, &entry);
}

void made_usual_cie(struct made_cfi *cfi)
{
	static const struct made_bytes data = { { DW_EH_PE_pcrel | DW_EH_PE_sdata4 }, 1 };
	static const struct made_bytes program = { { DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1 },
						   5 };

	cfi->encoding = DW_EH_PE_pcrel | DW_EH_PE_sdata4;
	made_cie(cfi, "zR", &data, 1, -8, 16, &program);
}

static unsigned int size_of(u8 encoding)
{
	static const u8 sizes[] = { 8, 0, 2, 4, 8, 0, 0, 0 };

	return sizes[encoding & 7];
}

void made_fde(struct made_cfi *cfi, u64 start, u64 size, const struct made_bytes *program)
{
	unsigned int bytes = size_of(cfi->encoding), i;
	struct made_bytes entry = {};
	u64 at = start;

	cfi->entries[cfi->nr].start = start - MADE_HEADER;
	cfi->entries[cfi->nr++].fde = MADE_FRAMES + cfi->size - MADE_HEADER;
	made_word(&entry, cfi->size + 4 - cfi->cie, 4);
	if ((cfi->encoding & 0x70) == DW_EH_PE_pcrel)
		at -= MADE_FRAMES + cfi->size + 8;
	made_word(&entry, at, bytes);
	made_word(&entry, size, bytes);
	/* No augmentation data. */
	made_byte(&entry, 0);
	for (i = 0; i < program->nr; i++)
		made_byte(&entry, program->bytes[i]);
	put_entry(cfi, &entry);
}

struct hybrid_object *made_cfi_object(struct made_cfi *cfi)
{
	u32 nr = cfi->table_nr ?: cfi->nr;
	struct made_bytes header = {};
	u8 code[CODE_SIZE];
	struct elf_made elf;
	unsigned int i;

	memset(code, 0x90, sizeof(code));
	for (i = 0; i < sizeof(cfi->head); i++)
		made_byte(&header, cfi->head[i]);
	made_word(&header, nr, sizeof(nr));
	for (i = 0; i < cfi->nr; i++) {
		made_word(&header, cfi->entries[i].start, 4);
		made_word(&header, cfi->entries[i].fde, 4);
	}
	elf_made_begin(&elf);
	elf_made_loaded(&elf, ".text", SHF_EXECINSTR, MADE_TEXT, code, sizeof(code));
	elf_made_loaded(&elf, ".eh_frame", 0, MADE_FRAMES, cfi->frames, cfi->size);
	elf_made_loaded(&elf, ".eh_frame_hdr", 0, MADE_HEADER, header.bytes,
			cfi->header_size ?: header.nr);
	return elf_made_object(&elf);
}
