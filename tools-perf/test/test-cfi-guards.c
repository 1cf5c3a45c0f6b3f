// SPDX-License-Identifier: GPL-2.0
/*
 * What .eh_frame and its header may say wrong, field by field.
 */
#include <dwarf.h>
#include <string.h>
#include "cfi.h"
#include "fde.h"
#include "made-cfi.h"
#include "section.h"
#include "tap.h"

#define START	(MADE_TEXT + 0x100)

static const struct made_bytes none;
static struct made_cfi cfi;

static void program(struct made_bytes *to, const char *bytes, unsigned int nr)
{
	memset(to, 0, sizeof(*to));
	memcpy(to->bytes, bytes, nr);
	to->nr = nr;
}

#define PROGRAM(to, bytes) program(to, bytes, sizeof(bytes) - 1)

/* The file with one function of 16 bytes. */
static void begin(void)
{
	made_cfi_begin(&cfi);
	made_usual_cie(&cfi);
}

/* Is a row read without libdw at an address? */
static bool reads(u64 addr)
{
	struct hybrid_object *object = made_cfi_object(&cfi);
	struct hybrid_row row;
	bool found;

	memset(&row, 0x5a, sizeof(row));
	found = hybrid_eh_frame_row(&object->cfi, addr, &row);
	elf_made_close(object);
	return found;
}

static void header(void)
{
	unsigned int i;

	begin();
	made_fde(&cfi, START, 16, &none);
	check(!reads(START - 1));
	check(reads(START));
	check(reads(START + 15));
	check(!reads(START + 16));
	/* The version, and the encodings; where .eh_frame is. */
	for (i = 0; i < 8; i++) {
		cfi.head[i] ^= 1;
		check(!reads(START));
		cfi.head[i] ^= 1;
	}
	/* A table of more entries than it has, and one that ends within its head. */
	cfi.table_nr = 2;
	check(!reads(START));
	cfi.table_nr = 0;
	for (i = 1; i < 20; i++) {
		cfi.header_size = i;
		check(!reads(START));
	}
	cfi.header_size = 20;
	check(reads(START));
	/* Where the FDE is: at the CIE, behind the section. */
	cfi.entries[0].fde = MADE_FRAMES - MADE_HEADER;
	check(!reads(START));
	cfi.entries[0].fde = MADE_FRAMES + cfi.size - MADE_HEADER;
	check(!reads(START));
	cfi.entries[0].fde = MADE_FRAMES - MADE_HEADER - 4;
	check(!reads(START));
}

/* Each of many is found, and none between them. */
static void search(void)
{
	unsigned int nr, i;

	for (nr = 1; nr < 6; nr++) {
		begin();
		for (i = 0; i < nr; i++)
			made_fde(&cfi, START + 32 * i, 16, &none);
		for (i = 0; i < nr * 32; i++)
			same(reads(START + i), i % 32 < 16);
	}
}

/* What is not known of one function says nothing of the next. */
static void other_cie(void)
{
	static const struct made_bytes data = { { DW_EH_PE_pcrel | DW_EH_PE_sdata4 }, 1 };
	struct hybrid_object *object;
	struct hybrid_row row;
	struct made_bytes bytes;
	unsigned int i;

	begin();
	made_fde(&cfi, START, 16, &none);
	/* It has no CFA. */
	made_cie(&cfi, "zR", &data, 1, -8, 16, &none);
	made_fde(&cfi, START + 16, 16, &none);
	/* Another register. */
	PROGRAM(&bytes, "\x0c\x06\x10\x90\x01");
	made_cie(&cfi, "zR", &data, 1, -8, 16, &bytes);
	made_fde(&cfi, START + 32, 16, &none);
	/* It remembers more states than it brings back. */
	PROGRAM(&bytes, "\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0c\x07\x08\x90\x01");
	made_cie(&cfi, "zR", &data, 1, -8, 16, &bytes);
	PROGRAM(&bytes, "\x0a\x0b");
	made_fde(&cfi, START + 48, 16, &bytes);
	/* The return address is in another column. */
	PROGRAM(&bytes, "\x0c\x07\x08\x90\x01");
	made_cie(&cfi, "zR", &data, 1, -8, 15, &bytes);
	made_fde(&cfi, START + 64, 16, &none);
	object = made_cfi_object(&cfi);
	for (i = 0; i < 200; i++) {
		u64 addr = START + tap_random() % 80;
		unsigned int which = (addr - START) / 16;

		memset(&row, 0x5a, sizeof(row));
		if (!same(hybrid_eh_frame_row(&object->cfi, addr, &row), which % 2 == 0 ?
			  which != 4 : which == 3) || which % 2)
			continue;
		if (which == 4)
			continue;
		same(row.rule.base, which ? HYBRID_BASE_BP : HYBRID_BASE_SP);
		same(row.rule.cfa_off, which ? 16 : 8);
	}
	elf_made_close(object);
}

/* Letters that are known, and others. */
static void augmentations(void)
{
	static const struct {
		const char	*letters;
		const char	*data;
		unsigned int	nr;
		bool		reads;
	} of[] = {
		{ "zR", "\x1b", 1, true },
		{ "zLR", "\x1b\x1b", 2, true },
		{ "zPLR", "\x03\0\0\0\0\x1b\x1b", 7, true },
		{ "zPLR", "\x03\0\0\0\0\x03\x1b", 7, true },
		{ "zPR", "\x9b\0\0\0\0\x1b", 6, true },
		{ "zPR", "\0\0\0\0\0\0\0\0\0\x1b", 10, true },
		{ "zPR", "\x02\0\0\x1b", 4, true },
		{ "zPR", "\x04\0\0\0\0\0\0\0\0\x1b", 10, true },
		/* A signal frame; pointer authentication; what no one knows. */
		{ "zRS", "\x1b", 1, false },
		{ "zRB", "\x1b", 1, false },
		{ "zQR", "\x1b\x1b", 2, false },
		{ "", "", 0, false },
		{ "eh", "", 0, false },
		/* A personality of LEB128, of which the size is not known. */
		{ "zPR", "\x01\0\x1b", 3, false },
	};
	struct made_bytes data, initial;
	unsigned int i;

	PROGRAM(&initial, "\x0c\x07\x08\x90\x01");
	for (i = 0; i < ARRAY_SIZE(of); i++) {
		made_cfi_begin(&cfi);
		program(&data, of[i].data, of[i].nr);
		cfi.encoding = 0x1b;
		made_cie(&cfi, of[i].letters, &data, 1, -8, 16, &initial);
		made_fde(&cfi, START, 16, &none);
		if (!same(reads(START), of[i].reads))
			printf("# %s\n", of[i].letters);
	}
}

/* The FDEs of a file, as they are listed. */
static void list(struct hybrid_fdes *fdes)
{
	struct hybrid_object *object = made_cfi_object(&cfi);

	same(hybrid_fdes_read(object, fdes), 0);
	elf_made_close(object);
}

/* All encodings of addresses: which are read, and as which address? */
static void encodings(void)
{
	static const struct made_bytes initial = { { 0x0c, 7, 8, 0x90, 1 }, 5 };
	struct made_bytes data = { .nr = 1 };
	unsigned int encoding, size, base;
	struct hybrid_fdes fdes;
	bool known;
	u64 start;

	for (encoding = 0; encoding < 256; encoding++) {
		data.bytes[0] = encoding;
		made_cfi_begin(&cfi);
		cfi.encoding = encoding;
		made_cie(&cfi, "zR", &data, 1, -8, 16, &initial);
		size = encoding & 7;
		base = encoding & 0x70;
		/* 2 bytes hold no address of the code, but a distance, which is signed or not. */
		if (size == 2 && base == DW_EH_PE_pcrel)
			made_fde(&cfi, encoding & 8 ? MADE_FRAMES - 0x100 : MADE_FRAMES + 0xff00,
				 16, &none);
		else
			made_fde(&cfi, size == 2 ? 0x7000 : START, 16, &none);
		known = (size == 0 || (size >= 2 && size <= 4)) && !(encoding & 0x80) &&
			(!base || base == DW_EH_PE_pcrel);
		start = size != 2 ? START : !base ? 0x7000 :
			encoding & 8 ? MADE_FRAMES - 0x100 : MADE_FRAMES + 0xff00;
		/* The distance is negative. */
		if (encoding == (DW_EH_PE_pcrel | DW_EH_PE_udata4))
			start += 1ULL << 32;
		list(&fdes);
		if (!same(fdes.nr, known))
			printf("# encoding %#x\n", encoding);
		if (fdes.nr) {
			same(fdes.fdes[0].start, start);
			same(fdes.fdes[0].end, fdes.fdes[0].start + 16);
		}
		hybrid_fdes_exit(&fdes);
	}
}

/* FDEs of nothing; of functions that were dropped; that wrap around. */
static void no_ranges(void)
{
	static const struct made_bytes initial = { { 0x0c, 7, 8, 0x90, 1 }, 5 };
	static const struct made_bytes data = { { DW_EH_PE_udata8 }, 1 };
	static const struct {
		u64	start;
		u64	size;
		bool	is_one;
	} ranges[] = {
		{ START, 1, true }, { START, 0, false }, { 0, 16, false }, { 1, 16, true },
		{ ~0ULL - 15, 15, true }, { ~0ULL - 15, 16, false }, { ~0ULL - 15, 17, false },
		{ START, ~0ULL, false }, { START, ~0ULL - START, true },
	};
	struct hybrid_fdes fdes;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ranges); i++) {
		made_cfi_begin(&cfi);
		cfi.encoding = DW_EH_PE_udata8;
		made_cie(&cfi, "zR", &data, 1, -8, 16, &initial);
		made_fde(&cfi, ranges[i].start, ranges[i].size, &none);
		list(&fdes);
		if (!same(fdes.nr, ranges[i].is_one))
			printf("# range %u\n", i);
		hybrid_fdes_exit(&fdes);
	}
}

/* Ranges that overlap, against a map of all addresses. */
static void lists(void)
{
	u8 covered[256];
	struct hybrid_fde gap;
	struct hybrid_fdes fdes;
	unsigned int round, nr, i, at, start, size;
	u64 end;

	for (round = 0; round < 60; round++) {
		begin();
		memset(covered, 0, sizeof(covered));
		nr = tap_random() % (round % 10 ? 10 : MADE_FDES);
		for (i = 0; i < nr; i++) {
			start = tap_random() % 200;
			size = 1 + tap_random() % 40;
			made_fde(&cfi, START + start, size, &none);
			memset(covered + start, 1, size);
		}
		list(&fdes);
		for (i = 0, end = 0; i < fdes.nr; i++) {
			check(fdes.fdes[i].start >= end && fdes.fdes[i].end > fdes.fdes[i].start);
			end = fdes.fdes[i].end;
		}
		for (at = 0; at < sizeof(covered); at++) {
			same(!!hybrid_fdes_find(&fdes, START + at), covered[at]);
			if (!same(hybrid_fdes_gap(&fdes, START + at, &gap), !covered[at]) ||
			    covered[at])
				continue;
			for (start = at; start && !covered[start - 1]; start--)
				;
			same(gap.start, start ? START + start : 0);
			for (size = at; size < sizeof(covered) && !covered[size]; size++)
				;
			same(gap.end, size < sizeof(covered) ? START + size : ~0ULL);
		}
		hybrid_fdes_exit(&fdes);
	}
}

/* Numbers of as many bytes as 63 bits take, and of one more; what ends behind the program. */
static void operands(void)
{
	static const struct {
		const char	*bytes;
		unsigned int	nr;
		bool		reads;
	} of[] = {
		{ "\x2e\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10, true },
		{ "\x2e\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, false },
		/* def_cfa_offset: 2^31 - 1, 2^31 */
		{ "\x0e\xff\xff\xff\xff\x07", 6, true }, { "\x0e\x80\x80\x80\x80\x08", 6, false },
		/* offset of bp, and of the return address: 2^28 - 1, 2^28 and more, by -8 */
		{ "\x86\x80\x80\x80\x80\x01", 6, true }, { "\x86\x81\x80\x80\x80\x01", 6, false },
		{ "\x90\x80\x80\x80\x80\x01", 6, true }, { "\x90\x81\x80\x80\x80\x01", 6, false },
		/* expressions that end with the program, and behind it */
		{ "\x10\x03\x02\x31\x31", 5, true }, { "\x10\x03\x03\x31\x31", 5, false },
		{ "\x10\x03\xff\x7f\x31", 5, false },
		{ "\x07\x80", 2, false }, { "\x02", 1, false }, { "\x03\x01", 2, false },
		{ "\x04\x01\x00\x00", 4, false }, { "\x86", 1, false }, { "\x05\x06", 2, false },
		{ "\x2f\x01", 2, false }, { "\x1d\x00", 2, false },
	};
	struct made_bytes bytes;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(of); i++) {
		begin();
		/* Nops before it, so that the entry's end is the program's. */
		program(&bytes, "\0\0\0", (4 - (13 + of[i].nr) % 4) % 4);
		memcpy(bytes.bytes + bytes.nr, of[i].bytes, of[i].nr);
		bytes.nr += of[i].nr;
		made_fde(&cfi, START, 16, &bytes);
		if (!same(reads(START), of[i].reads))
			printf("# bytes %u\n", i);
	}
}

/* A row ends with its FDE, whatever its program says. */
static void ends(void)
{
	struct hybrid_object *object;
	struct made_bytes bytes;
	struct hybrid_row row;
	unsigned int by;

	for (by = 14; by < 19; by++) {
		begin();
		PROGRAM(&bytes, "\x02\x00\x0e\x10");
		bytes.bytes[1] = by;
		made_fde(&cfi, START, 16, &bytes);
		object = made_cfi_object(&cfi);
		check(hybrid_eh_frame_row(&object->cfi, START + 15, &row));
		same(row.start, by < 16 ? START + by : START);
		same(row.end, START + 16);
		same(row.rule.cfa_off, by < 16 ? 16 : 8);
		check(hybrid_eh_frame_row(&object->cfi, START, &row));
		same(row.end, START + min(by, 16U));
		elf_made_close(object);
	}
}

/* A function of the usual CIE and this program. */
struct program_rule {
	const char		*bytes;
	unsigned int		nr;
	struct hybrid_rule	rule;
};

#define BYTES(b)	.bytes = (b), .nr = sizeof(b) - 1
#define FULL		.rule = { .kind = HYBRID_RULE_FULL }
#define CFA(base_, off, ...)						\
	.rule = { .kind = HYBRID_RULE_CFA, .base = base_, .cfa_off = off, .ra_off = -8, \
		  ##__VA_ARGS__ }
#define DEREF(off, add)							\
	.rule = { .kind = HYBRID_RULE_DEREF, .base = HYBRID_BASE_BP, .cfa_off = (off), \
		  .deref_off = (add), .ra_off = -8 }

/* What a rule says, and what it does not, of expressions and places. */
static const struct program_rule program_rules[] = {
	/* The CFA: breg7 8; bregx 7 8; breg6 -8; breg3 8 */
	{ BYTES("\x0f\x02\x77\x08"), CFA(HYBRID_BASE_SP, 8) },
	{ BYTES("\x0f\x03\x92\x07\x08"), CFA(HYBRID_BASE_SP, 8) },
	{ BYTES("\x0f\x02\x76\x78"), CFA(HYBRID_BASE_BP, -8) },
	{ BYTES("\x0f\x02\x73\x08"), FULL },
	/* breg6 -8; deref; with plus_uconst 16, 255, 256; with two of them; with lit8; plus */
	{ BYTES("\x0f\x03\x76\x78\x06"), DEREF(-8, 0) },
	{ BYTES("\x0f\x05\x76\x78\x06\x23\x10"), DEREF(-8, 16) },
	{ BYTES("\x0f\x06\x76\x78\x06\x23\xff\x01"), DEREF(-8, 255) },
	{ BYTES("\x0f\x06\x76\x78\x06\x23\x80\x02"), FULL },
	{ BYTES("\x0f\x07\x76\x78\x06\x23\x08\x23\x08"), FULL },
	{ BYTES("\x0f\x05\x76\x78\x06\x38\x22"), FULL },
	{ BYTES("\x0f\x04\x76\x78\x06\x12"), FULL },
	{ BYTES("\x0f\x04\x76\x78\x23\x08"), FULL },
	/* breg7 2^31 - 1, 2^31; lit8 */
	{ BYTES("\x0f\x06\x77\xff\xff\xff\xff\x07"), CFA(HYBRID_BASE_SP, 0x7fffffff) },
	{ BYTES("\x0f\x06\x77\x80\x80\x80\x80\x08"), FULL },
	{ BYTES("\x0f\x01\x38"), FULL },
	/* bp: at breg6 0, -8; breg6 0 + 8; breg7 0; breg6 2^31; its value; another register */
	{ BYTES("\x10\x06\x02\x76\x00"), CFA(HYBRID_BASE_SP, 8, .bp = HYBRID_BP_AT_BP) },
	{ BYTES("\x10\x06\x02\x76\x78"),
	  CFA(HYBRID_BASE_SP, 8, .bp = HYBRID_BP_AT_BP, .bp_off = -8) },
	{ BYTES("\x10\x06\x04\x76\x00\x23\x08"), FULL },
	{ BYTES("\x10\x06\x02\x77\x00"), FULL },
	{ BYTES("\x10\x06\x01\x38"), FULL },
	{ BYTES("\x10\x06\x06\x76\x80\x80\x80\x80\x08"), FULL },
	{ BYTES("\x16\x06\x02\x76\x00"), FULL },
	{ BYTES("\x09\x06\x03"), FULL },
	{ BYTES("\x14\x06\x02"), FULL },
	{ BYTES("\x07\x06"), CFA(HYBRID_BASE_SP, 8, .bp = HYBRID_BP_UNDEFINED) },
	{ BYTES("\x86\x02"), CFA(HYBRID_BASE_SP, 8, .bp = HYBRID_BP_AT_CFA, .bp_off = -16) },
	{ BYTES("\x86\x81\x80\x80\x80\x01"), FULL },
	/*
	 * The return address: none; in a register; at an expression; far away. The stack pointer:
	 * saved; a value
	 */
	{ BYTES("\x07\x10"), .rule = { .kind = HYBRID_RULE_OUTERMOST } },
	{ BYTES("\x09\x10\x03"), FULL },
	{ BYTES("\x10\x10\x02\x77\x00"), FULL },
	{ BYTES("\x90\x81\x80\x80\x80\x01"), FULL },
	{ BYTES("\x87\x02"), FULL },
	{ BYTES("\x14\x07\x01"), FULL },
	{ BYTES("\x14\x07\x00"), CFA(HYBRID_BASE_SP, 8) },
};

static void rules(void)
{
	struct hybrid_object *object;
	struct made_bytes bytes;
	struct hybrid_row row;
	unsigned int i, libdw;

	for (i = 0; i < 2 * ARRAY_SIZE(program_rules); i++) {
		const struct program_rule *p = &program_rules[i / 2];

		begin();
		program(&bytes, p->bytes, p->nr);
		made_fde(&cfi, START, 16, &bytes);
		object = made_cfi_object(&cfi);
		libdw = i % 2;
		same(libdw ? hybrid_cfi_libdw_row(&object->cfi, START + 3, &row) :
			     hybrid_cfi_row(&object->cfi, START + 3, &row), 0);
		/* Of a whole row the rule says no more than that. */
		if (!check(row.rule.kind == p->rule.kind &&
			   (row.rule.kind == HYBRID_RULE_FULL ||
			    !memcmp(&row.rule, &p->rule, sizeof(row.rule)))))
			printf("# program %u: kind %u, base %u, CFA %d %u, bp %u %d\n", i / 2,
			       row.rule.kind, row.rule.base, row.rule.cfa_off,
			       row.rule.deref_off, row.rule.bp, row.rule.bp_off);
		/* The whole row is there at once, or when it is asked for. */
		same(!!row.full, row.rule.kind == HYBRID_RULE_FULL);
		check(hybrid_cfi_full(&object->cfi, &row) == row.full && row.full);
		hybrid_row_exit(&row);
		check(!row.full);
		elf_made_close(object);
	}
}

/* An expression of so many operations. */
static void long_expressions(void)
{
	struct hybrid_object *object;
	struct made_bytes bytes;
	struct hybrid_row row;
	unsigned int nr;

	for (nr = 62; nr < 68; nr++) {
		begin();
		PROGRAM(&bytes, "\x0f");
		made_uleb(&bytes, nr + 1);
		made_byte(&bytes, 0x77);
		made_byte(&bytes, 8);
		while (bytes.nr < nr + 3)
			made_byte(&bytes, DW_OP_nop);
		made_fde(&cfi, START, 16, &bytes);
		object = made_cfi_object(&cfi);
		same(hybrid_cfi_row(&object->cfi, START, &row), 0);
		same(row.rule.kind, nr <= 64 ? HYBRID_RULE_FULL : HYBRID_RULE_NONE);
		check(!row.full == (nr > 64));
		check(hybrid_cfi_full(&object->cfi, &row) == row.full);
		hybrid_row_exit(&row);
		elf_made_close(object);
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "guards: the header of .eh_frame",	header },
		{ "guards: its table",			search },
		{ "guards: CIEs that differ",		other_cie },
		{ "guards: augmentations",		augmentations },
		{ "guards: encodings",			encodings },
		{ "guards: ranges that are none",	no_ranges },
		{ "guards: ranges that overlap",	lists },
		{ "guards: operands",			operands },
		{ "guards: the end of a function",	ends },
		{ "guards: rules of expressions",	rules },
		{ "guards: long expressions",		long_expressions },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
