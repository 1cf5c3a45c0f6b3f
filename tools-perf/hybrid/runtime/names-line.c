// SPDX-License-Identifier: GPL-2.0
/* Line tables of a runtime's functions, as DWARF 4. */
#include <dwarf.h>
#include <string.h>
#include <linux/compiler.h>
#include "names-line.h"
#include "names-private.h"

#define DWARF_VERSION		4
#define ADDRESS_SIZE		8
/* The first special opcode: they step as far as LINE_RANGE and LINE_BASE say, and make a row. */
#define OPCODE_BASE		13
#define LAST_OPCODE		255
#define LINE_RANGE		14
#define LINE_BASE		(-5)

static void put_u8(FILE *file, u8 value)
{
	putc_unlocked(value, file);
}

static void put_u16(FILE *file, u16 value)
{
	fwrite(&value, sizeof(value), 1, file);
}

static void put_u32(FILE *file, u32 value)
{
	fwrite(&value, sizeof(value), 1, file);
}

static void put_u64(FILE *file, u64 value)
{
	fwrite(&value, sizeof(value), 1, file);
}

static void put_text(FILE *file, const char *text)
{
	fwrite(text, strlen(text) + 1, 1, file);
}

static void put_uleb(FILE *file, u64 value)
{
	do {
		put_u8(file, (value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		value >>= 7;
	} while (value);
}

static void put_sleb(FILE *file, s64 value)
{
	bool more;

	do {
		u8 byte = value & 0x7f;

		value >>= 7;
		more = value != (byte & 0x40 ? -1 : 0);
		put_u8(file, byte | (more ? 0x80 : 0));
	} while (more);
}

/* A length that stands before what it is of: put at @at when all of that is there. */
static void put_length(FILE *file, long at)
{
	long end = ftell(file);

	fseek(file, at, SEEK_SET);
	put_u32(file, end - at - 4);
	fseek(file, end, SEEK_SET);
}

void hybrid_names__debug_abbrev(const struct hybrid_names *names __maybe_unused, FILE *file)
{
	static const u8 unit[] = {
		1, DW_TAG_compile_unit, DW_CHILDREN_no,
		DW_AT_producer,		DW_FORM_string,
		DW_AT_name,		DW_FORM_string,
		DW_AT_language,		DW_FORM_data2,
		DW_AT_low_pc,		DW_FORM_addr,
		DW_AT_high_pc,		DW_FORM_data8,
		DW_AT_stmt_list,	DW_FORM_sec_offset,
		0, 0,
		0
	};

	fwrite(unit, sizeof(unit), 1, file);
}

void hybrid_names__debug_info(const struct hybrid_names *names, FILE *file)
{
	long start = ftell(file);

	put_u32(file, 0);
	put_u16(file, DWARF_VERSION);
	put_u32(file, 0);
	put_u8(file, ADDRESS_SIZE);
	put_uleb(file, 1);
	put_text(file, "perf record --call-graph hybrid");
	put_text(file, hybrid_names__label(names));
	put_u16(file, hybrid_names__dwarf(names));
	put_u64(file, HYBRID_NAMES_OFFSET);
	put_u64(file, names->used);
	put_u32(file, 0);
	put_length(file, start);
}

void hybrid_names__debug_aranges(const struct hybrid_names *names, FILE *file)
{
	long start = ftell(file);

	put_u32(file, 0);
	put_u16(file, 2);
	put_u32(file, 0);
	put_u8(file, ADDRESS_SIZE);
	put_u8(file, 0);
	/* Addresses and lengths are aligned to the size of both, from the start. */
	put_u32(file, 0);
	put_u64(file, HYBRID_NAMES_OFFSET);
	put_u64(file, names->used);
	put_u64(file, 0);
	put_u64(file, 0);
	put_length(file, start);
}

static void put_header(const struct hybrid_names *names, FILE *file)
{
	static const u8 operands[OPCODE_BASE - 1] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
	long start;
	u32 i;

	put_u16(file, DWARF_VERSION);
	start = ftell(file);
	put_u32(file, 0);
	put_u8(file, 1);		/* bytes of the shortest instruction */
	put_u8(file, 1);		/* operations of one */
	put_u8(file, 1);		/* rows begin statements */
	put_u8(file, (u8)LINE_BASE);
	put_u8(file, LINE_RANGE);
	put_u8(file, OPCODE_BASE);
	fwrite(operands, sizeof(operands), 1, file);
	put_u8(file, 0);		/* no directories: names of files hold theirs */
	for (i = 0; i < names->nr_files; i++) {
		put_text(file, names->text + names->files[i]);
		put_uleb(file, 0);
		put_uleb(file, 0);
		put_uleb(file, 0);
	}
	put_u8(file, 0);
	put_length(file, start);
}

static void put_extended(FILE *file, u8 opcode, const void *operand, size_t size)
{
	put_u8(file, 0);
	put_uleb(file, 1 + size);
	put_u8(file, opcode);
	if (size)
		fwrite(operand, size, 1, file);
}

static void put_advance(FILE *file, u64 addresses)
{
	put_u8(file, DW_LNS_advance_pc);
	put_uleb(file, addresses);
}

/* The table's next row. */
static void put_row(FILE *file, u64 addresses, s64 lines)
{
	u64 opcode = OPCODE_BASE + LINE_RANGE * addresses + lines - LINE_BASE;

	if (lines >= LINE_BASE && lines < LINE_BASE + LINE_RANGE && addresses <= LAST_OPCODE &&
	    opcode <= LAST_OPCODE) {
		put_u8(file, opcode);
		return;
	}
	put_advance(file, addresses);
	put_u8(file, DW_LNS_advance_line);
	put_sleb(file, lines);
	put_u8(file, DW_LNS_copy);
}

/* The places before the first entry have no line. */
static void put_function(const struct hybrid_names *names, const struct names_entry *entry,
			 FILE *file)
{
	const struct hybrid_name_line *lines = names->lines + entry->line;
	u64 address = HYBRID_NAMES_OFFSET + entry->start + 2 * (u64)lines[0].index;
	u32 i, at = lines[0].index, line = 1;

	put_extended(file, DW_LNE_set_address, &address, sizeof(address));
	put_u8(file, DW_LNS_set_file);
	put_uleb(file, entry->file);
	for (i = 0; i < entry->nr_lines; i++) {
		put_row(file, 2 * (u64)(lines[i].index - at), (s64)lines[i].line - line);
		at = lines[i].index;
		line = lines[i].line;
	}
	put_advance(file, 2 * (u64)(entry->size - at));
	put_extended(file, DW_LNE_end_sequence, NULL, 0);
}

void hybrid_names__debug_line(const struct hybrid_names *names, FILE *file)
{
	long start = ftell(file);
	u32 i;

	put_u32(file, 0);
	put_header(names, file);
	for (i = 0; i < names->nr; i++) {
		if (names->entries[i].nr_lines && names->entries[i].file)
			put_function(names, &names->entries[i], file);
	}
	put_length(file, start);
}
