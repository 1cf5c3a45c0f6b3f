// SPDX-License-Identifier: GPL-2.0
/*
 * What the code adds to a row: each pattern of bytes, at each place, and with each byte changed.
 */
#include <string.h>
#include "abi.h"
#include "elf-made.h"
#include "refine-row.h"
#include "tap.h"

#define TEXT		0x10000
#define SIZE		1024

/* Where in the code a pattern stands. */
#define AT		512

/* How far from an address a switch of stacks is looked for; and bytes before that. */
#define MAX_SWITCH	256
#define MAX_PATTERN	28

static u8 text[SIZE];
static struct hybrid_object *object;
static struct hybrid_row row;

static void open_text(unsigned int size, u64 entry)
{
	struct elf_made elf;

	if (object)
		elf_made_close(object);
	elf_made_begin(&elf);
	elf.header.e_entry = entry;
	elf_made_loaded(&elf, ".text", SHF_EXECINSTR, TEXT, text, size);
	object = elf_made_object(&elf);
	object->pclntab.tried = true;
}

static void close_text(void)
{
	elf_made_close(object);
	object = NULL;
}

/* A Go program, or a file with .debug_frame, of which only that it is there is looked at. */
static void set_kind(bool is_go, bool has_debug)
{
	object->pclntab.nr = is_go;
	object->cfi.debug = has_debug ? (Dwarf_CFI *)text : NULL;
}

/* Is the row the first one of its FDE? */
static bool begins;

static void refine(unsigned int start, unsigned int end, unsigned int at,
		   const struct hybrid_rule *rule)
{
	memset(&row, 0, sizeof(row));
	row.start = TEXT + start;
	row.end = TEXT + end;
	row.begins = begins;
	row.rule = *rule;
	hybrid_refine_row(object, TEXT + at, &row);
	object->cfi.debug = NULL;
}

static void fill(u8 byte)
{
	memset(text, byte, sizeof(text));
}

/* As a CFI has it of code that pushes nothing; and of a frame with room. */
static const struct hybrid_rule plain = { .kind = HYBRID_RULE_CFA, .cfa_off = 8, .ra_off = -8 };

/**
 * struct pattern - a switch of stacks
 * @code: bytes
 * @len: of @code
 * @any: of them those that may be others, a bit for each
 * @from: the first that runs on the other stack
 * @to: behind the last
 * @rule: of these
 */
struct pattern {
	const char		*code;
	unsigned int		len;
	u32			any;
	unsigned int		from;
	unsigned int		to;
	struct hybrid_rule	rule;
};

#define CODE(bytes)	.code = (bytes), .len = sizeof(bytes) - 1
#define SWITCHED	.kind = HYBRID_RULE_SWITCHED

/* src/runtime/asm_amd64.s of Go, as its versions are assembled. */
static const struct pattern patterns[] = {
	{ CODE("\xff\xd0\x48\x8b\x7c\x24\x30\x48\x8b\x77\x08\x48\x2b\x74\x24\x28"), .to = 2,
	  .rule = { SWITCHED, .deref_off = HYBRID_SWITCH_DEPTH, .cfa_off = 40 } },
	{ CODE("\xff\xd0\x48\x8b\x74\x24\x28\x48\x89\xf4"), .to = 2,
	  .rule = { .kind = HYBRID_RULE_DEREF, .cfa_off = 40, .deref_off = 8, .ra_off = -8 } },
	{ CODE("\xff\xd0\x48\xc7\xc1\1\2\3\4\x48\x8b\x7c\x24\x30\x48\x8b\x77\x08\x48\x2b\x74\x24"
	       "\x28"), .any = 0xf << 5, .to = 2,
	  .rule = { SWITCHED, .deref_off = HYBRID_SWITCH_DEPTH, .cfa_off = 40 } },
	{ CODE("\xe8\1\2\3\4\x48\x8b\x7c\x24\x08\x48\x8b\x77\x08\x48\x2b\x34\x24"),
	  .any = 0xf << 1, .to = 5, .rule = { SWITCHED, .deref_off = HYBRID_SWITCH_DEPTH } },
	{ CODE("\xe8\1\2\3\4\x48\xc7\xc1\5\6\7\10\x48\x8b\x7c\x24\x08\x48\x8b\x77\x08\x48\x2b\x34"
	       "\x24"), .any = 0xf << 1 | 0xf << 8, .to = 5,
	  .rule = { SWITCHED, .deref_off = HYBRID_SWITCH_DEPTH } },
	{ CODE("\xe8\1\2\3\4\x48\x8b\x34\x24\x48\x89\xf4"), .any = 0xf << 1, .to = 5,
	  .rule = { .kind = HYBRID_RULE_DEREF, .bp = HYBRID_BP_AT_CFA, .bp_off = -16,
		    .deref_off = 16, .ra_off = -8 } },
	{ CODE("\x50\x4c\x8b\x22\x41\xff\xd4\x58"), .to = 8,
	  .rule = { .kind = HYBRID_RULE_OUTERMOST } },
	{ CODE("\x50\x4c\x8b\x22\x41\xff\xd4\x90\x58"), .to = 9,
	  .rule = { .kind = HYBRID_RULE_OUTERMOST } },
	{ CODE("\x48\x8b\x63\x38\xe8"), .from = 4, .to = 9,
	  .rule = { SWITCHED, .deref_off = HYBRID_SWITCH_GROWS } },
	{ CODE("\x48\x8b\x63\x38\x48\x8b\x6b\x68\xe8"), .from = 4, .to = 13,
	  .rule = { SWITCHED, .bp = HYBRID_BP_UNDEFINED } },
	{ CODE("\x48\x8b\x63\x38\xbd\0\0\0\0\xe8"), .from = 4, .to = 14,
	  .rule = { SWITCHED, .bp = HYBRID_BP_UNDEFINED } },
	{ CODE("\x48\x89\xdc\x48\x89\xfa\x48\x8b\x3f\xff\xd7"), .from = 3, .to = 11,
	  .rule = { SWITCHED } },
	{ CODE("\x48\x8b\x62\x38\x48\x89\xfa\x48\x8b\x3f\xff\xd7"), .from = 4, .to = 12,
	  .rule = { SWITCHED } },
};

static bool is_rule(const struct hybrid_rule *rule)
{
	return !memcmp(&row.rule, rule, sizeof(*rule));
}

/* A row of all the code, asked for from each of its addresses: it is split around the pattern. */
static void expect_split(const struct pattern *p, bool is_there, unsigned int step)
{
	unsigned int at;
	bool right;

	for (at = AT - 40; at < AT + 60; at += step) {
		refine(16, SIZE - 16, at, &plain);
		set_kind(true, false);
		if (!is_there)
			right = is_rule(&plain) && row.start == TEXT + 16 &&
				row.end == TEXT + SIZE - 16;
		else if (at < AT + p->from)
			right = is_rule(&plain) && row.start == TEXT + 16 &&
				row.end == TEXT + AT + p->from;
		else if (at >= AT + p->to)
			right = is_rule(&plain) && row.start == TEXT + AT + p->to &&
				row.end == TEXT + SIZE - 16;
		else
			right = is_rule(&p->rule) && row.start == TEXT + AT + p->from &&
				row.end == TEXT + AT + p->to;
		if (!check(right))
			printf("# pattern %u, byte %d\n", (unsigned int)(p - patterns),
			       (int)at - AT);
	}
}

static void switches(void)
{
	unsigned int i, byte;

	for (i = 0; i < ARRAY_SIZE(patterns); i++) {
		const struct pattern *p = &patterns[i];

		fill(0x90);
		memcpy(text + AT, p->code, p->len);
		open_text(SIZE, 0);
		set_kind(true, false);
		expect_split(p, true, 1);
		for (byte = 0; byte < p->len; byte++) {
			text[AT + byte] ^= 0x11;
			open_text(SIZE, 0);
			set_kind(true, false);
			expect_split(p, p->any >> byte & 1, 7);
			text[AT + byte] ^= 0x11;
		}
	}
	close_text();
}

/* It is looked for near the address, and within the row. */
static void far_switches(void)
{
	const struct pattern *p = &patterns[11];
	u64 at;
	int distance;

	fill(0x90);
	memcpy(text + AT, p->code, p->len);
	open_text(SIZE, 0);
	for (distance = -400; distance < 400; distance++) {
		at = AT - distance;
		set_kind(true, false);
		refine(0, SIZE, at, &plain);
		same(row.start != TEXT || row.end != TEXT + SIZE,
		     distance < MAX_SWITCH && distance >= -MAX_SWITCH - MAX_PATTERN);
		/* A row that begins, or ends, at the address. */
		set_kind(true, false);
		refine(at, SIZE, at, &plain);
		same(row.start != TEXT + at || row.end != TEXT + SIZE,
		     distance < MAX_SWITCH && distance > -11);
		set_kind(true, false);
		refine(0, at + 1, at, &plain);
		same(row.start != TEXT || row.end != TEXT + at + 1,
		     distance <= -3 && distance >= -MAX_SWITCH - MAX_PATTERN);
	}
	close_text();
}

/* Of which files, and of which rows, switches are looked for. */
static void kinds(void)
{
	struct hybrid_rule rule = plain;
	unsigned int i, kind;
	bool is_go, has_debug;

	fill(0x90);
	memcpy(text + AT, patterns[11].code, patterns[11].len);
	open_text(SIZE, 0);
	for (i = 0; i < 4; i++) {
		is_go = i & 1;
		has_debug = i & 2;
		for (kind = HYBRID_RULE_NONE; kind <= HYBRID_RULE_SWITCHED; kind++) {
			rule.kind = kind;
			set_kind(is_go, has_debug);
			refine(16, SIZE, AT + 4, &rule);
			same(row.rule.kind != kind || row.start != TEXT + 16,
			     is_go ? kind <= HYBRID_RULE_CFA :
				     has_debug && kind == HYBRID_RULE_CFA);
		}
	}
	close_text();
}

/* mov %rbp,N(%rsp) where a row begins: rbp is saved only behind it. */
static void saved_bp(void)
{
	static const s32 offsets[] = { 0, 8, 0x78, 0x7f, 0x80, -0x80, -0x81, 0x1000 };
	struct hybrid_rule rule = { .kind = HYBRID_RULE_CFA, .bp = HYBRID_BP_AT_CFA,
				    .ra_off = -8, .bp_off = -16 };
	u8 code[8] = { 0x48, 0x89, 0, 0x24 };
	unsigned int i, len, at;

	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		len = offsets[i] == (s8)offsets[i] ? 5 : 8;
		code[2] = len == 5 ? 0x6c : 0xac;
		memcpy(code + 4, &offsets[i], 4);
		rule.cfa_off = offsets[i] + 16;
		fill(0x90);
		memcpy(text + AT, code, len);
		open_text(SIZE, 0);
		for (at = 0; at < len + 4; at++) {
			set_kind(true, false);
			refine(AT, AT + 40, AT + at, &rule);
			same(row.rule.bp, at < len ? HYBRID_BP_SAME : HYBRID_BP_AT_CFA);
			same(row.rule.bp_off, at < len ? 0 : -16);
			same(row.start, TEXT + AT + (at < len ? 0 : len));
			same(row.end, TEXT + AT + (at < len ? len : 40));
		}
		/* A row of nothing else; of other files; of a bp that is not saved. */
		set_kind(true, false);
		refine(AT, AT + len, AT, &rule);
		check(is_rule(&rule));
		set_kind(true, false);
		refine(AT, AT + len + 1, AT, &rule);
		check(!is_rule(&rule));
		set_kind(false, true);
		refine(AT, AT + 40, AT, &rule);
		check(is_rule(&rule));
		set_kind(true, false);
		rule.bp = HYBRID_BP_AT_BP;
		refine(AT, AT + 40, AT, &rule);
		check(is_rule(&rule));
		rule.bp = HYBRID_BP_AT_CFA;
		/* Each byte is looked at. */
		for (at = 0; at < len; at++) {
			text[AT + at] ^= 0x40;
			open_text(SIZE, 0);
			set_kind(true, false);
			refine(AT, AT + 40, AT, &rule);
			check(is_rule(&rule));
			text[AT + at] ^= 0x40;
		}
	}
	close_text();
}

/**
 * struct leave - how gcc leaves a frame that it has aligned
 * @code: what ends with the lea, and a pop behind that
 * @lea: offset of the lea
 * @len: offset behind it
 */
struct leave {
	const char	*code;
	unsigned int	lea;
	unsigned int	len;
	const struct hybrid_abi *abi;
};

static void realigned(void)
{
	static const struct leave leaves[] = {
		{ "\x5d\x49\x8d\x62\xf8", 1, 5, &hybrid_abi_64 },
		{ "\x5d\x49\x8d\x65\xf0", 1, 5, &hybrid_abi_64 },
		{ "\x5d\x8d\x61\xfc", 1, 4, &hybrid_abi_32 },
	};
	const struct hybrid_rule rule = { .kind = HYBRID_RULE_CFA, .bp = HYBRID_BP_AT_BP };
	unsigned int i, byte, at;
	bool right;

	for (i = 0; i < ARRAY_SIZE(leaves); i++) {
		const struct leave *l = &leaves[i];

		for (byte = 0; byte <= l->len; byte++) {
			fill(0x90);
			memcpy(text + AT, l->code, l->len);
			/* With each byte changed, and at the end with none. */
			right = byte == l->len;
			if (!right)
				text[AT + byte] ^= 0x80;
			open_text(SIZE, 0);
			object->cfi.abi = l->abi;
			for (at = AT - 8; at < AT + l->len; at++) {
				refine(AT - 8, AT + l->len, at, &rule);
				same(row.restored, right && at >= AT + l->lea);
				same(row.start, TEXT + AT + (row.restored ? (int)l->lea : -8));
				same(row.end, TEXT + AT + (right && at < AT + l->lea ? l->lea :
									       l->len));
			}
			/* Of the lea alone, and behind it. */
			refine(AT + l->lea, AT + l->len, AT + l->lea, &rule);
			same(row.restored, false);
			refine(AT + l->len, AT + 40, AT + l->len, &rule);
			same(row.restored, right);
			same(row.rule.bp, right ? HYBRID_BP_SAME : HYBRID_BP_AT_BP);
			/* The other word size has another one. */
			object->cfi.abi = l->abi->word == 8 ? &hybrid_abi_32 : &hybrid_abi_64;
			refine(AT + l->len, AT + 40, AT + l->len, &rule);
			same(row.restored, false);
		}
	}
	close_text();
}

/* pop %r13 behind the lea. */
static void realigned_pop(void)
{
	const struct hybrid_rule rule = { .kind = HYBRID_RULE_CFA, .bp = HYBRID_BP_AT_BP };
	unsigned int byte;

	for (byte = 0; byte <= 7; byte++) {
		fill(0x90);
		memcpy(text + AT, "\x5d\x49\x8d\x65\xf0\x41\x5d", 7);
		if (byte < 7)
			text[AT + byte] ^= 0x80;
		open_text(SIZE, 0);
		refine(AT + 7, AT + 40, AT + 7, &rule);
		same(row.restored, byte == 7);
		object->cfi.abi = &hybrid_abi_32;
		refine(AT + 7, AT + 40, AT + 7, &rule);
		same(row.restored, false);
	}
	close_text();
}

/* Any pop of a general register, and leave, where a row begins. */
static void popped(void)
{
	const struct hybrid_rule rule = { .kind = HYBRID_RULE_CFA, .cfa_off = 8, .ra_off = -8,
					  .bp = HYBRID_BP_AT_CFA, .bp_off = -16 };
	const struct hybrid_rule at_sp = { .kind = HYBRID_RULE_CFA, .cfa_off = 16, .ra_off = -8,
					   .bp = HYBRID_BP_AT_CFA, .bp_off = -16 };
	unsigned int byte;
	bool pops;

	for (byte = 0; byte < 256; byte++) {
		fill(0x90);
		text[AT - 1] = byte;
		open_text(SIZE, 0);
		pops = byte == 0xc9 || (byte >= 0x58 && byte < 0x60);
		refine(AT, AT + 16, AT + 3, &rule);
		same(row.popped, pops);
		same(row.rule.bp, pops ? HYBRID_BP_SAME : HYBRID_BP_AT_CFA);
		/* It is at sp: not popped yet. */
		refine(AT, AT + 16, AT + 3, &at_sp);
		same(row.rule.bp, HYBRID_BP_AT_CFA);
	}
	close_text();
}

/* Bytes before a row that are in the page before, or in none. */
static void pages(void)
{
	static u8 code[3 * HYBRID_PAGE];
	struct elf_made elf;
	unsigned int at;

	memset(code, 0x90, sizeof(code));
	for (at = HYBRID_PAGE - 2; at < HYBRID_PAGE + 10; at++) {
		memcpy(code + at, "\x5d\x49\x8d\x62\xf8", 5);
		elf_made_begin(&elf);
		elf_made_loaded(&elf, ".text", SHF_EXECINSTR, TEXT, code, sizeof(code));
		object = elf_made_object(&elf);
		object->pclntab.tried = true;
		refine(at + 5, at + 40, at + 5, &plain);
		check(row.restored);
		refine(at + 6, at + 40, at + 6, &plain);
		check(!row.restored);
		close_text();
		memset(code + at, 0x90, 5);
	}
	/* Before the first byte of the file's code nothing is read, and behind the last. */
	fill(0x90);
	text[0] = 0xc9;
	text[1] = 0x5d;
	open_text(2, 0);
	refine(0, 2, 0, &plain);
	check(!row.popped);
	refine(1, 2, 1, &plain);
	check(row.popped);
	refine(2, 3, 2, &plain);
	check(row.popped);
	refine(3, 4, 3, &plain);
	check(!row.popped);
	close_text();
}

/* mov %rbx,%rsp where makecontext() has its functions return to, and no CFI. */
static void context_start(void)
{
	const struct hybrid_rule none = {};
	unsigned int byte;

	for (byte = 0; byte <= 3; byte++) {
		fill(0x90);
		memcpy(text + AT, "\x48\x89\xdc", 3);
		if (byte < 3)
			text[AT + byte] ^= 0x80;
		open_text(SIZE, 0);
		refine(AT - 1, AT, AT - 1, &none);
		same(row.rule.kind, byte == 3 ? HYBRID_RULE_OUTERMOST : HYBRID_RULE_NONE);
		same(row.rule.signal, byte == 3);
		/* The byte before it is asked for. */
		refine(AT, AT + 1, AT, &none);
		same(row.rule.kind, HYBRID_RULE_NONE);
		refine(AT - 1, AT, AT - 1, &plain);
		same(row.rule.kind, HYBRID_RULE_CFA);
		object->cfi.abi = &hybrid_abi_32;
		refine(AT - 1, AT, AT - 1, &none);
		same(row.rule.kind, HYBRID_RULE_NONE);
	}
	/* A call is before it. */
	memcpy(text + AT - 2, "\xff\xd0\x48\x89\xdc", 5);
	open_text(SIZE, 0);
	refine(AT - 1, AT, AT - 1, &none);
	same(row.rule.kind, HYBRID_RULE_NONE);
	close_text();
}

/* One row for all of a function of more than a page, which pushes a register for a call. */
static void long_row(void)
{
	static const u8 call[] = { 0x50, 0xe8, 0, 0, 0, 0, 0x58 };
	struct hybrid_rule rule = { .kind = HYBRID_RULE_CFA, .cfa_off = 80, .ra_off = -8 };
	static u8 code[8192];
	struct elf_made elf;

	memset(code, 0x90, sizeof(code));
	memcpy(code + 100, call, sizeof(call));
	elf_made_begin(&elf);
	elf_made_loaded(&elf, ".text", SHF_EXECINSTR, TEXT, code, sizeof(code));
	object = elf_made_object(&elf);
	object->pclntab.tried = true;
	/* As a compiler's, which has others before it. */
	refine(0, 4096, 101, &rule);
	same(row.end, TEXT + 4096);
	begins = true;
	refine(0, 4096, 101, &rule);
	same(row.rule.kind, HYBRID_RULE_NONE);
	same(row.start, TEXT + 101);
	same(row.end, TEXT + 107);
	refine(0, 4096, 100, &rule);
	same(row.rule.cfa_off, 80);
	same(row.start, TEXT);
	same(row.end, TEXT + 101);
	refine(0, 4096, 107, &rule);
	same(row.rule.cfa_off, 80);
	same(row.start, TEXT + 107);
	same(row.end, TEXT + 4096);
	/* A shorter one, of a frame by bp, and of 32 bits. */
	refine(0, 4095, 101, &rule);
	same(row.end, TEXT + 4095);
	rule.base = HYBRID_BASE_BP;
	refine(0, 4096, 101, &rule);
	same(row.end, TEXT + 4096);
	rule.base = HYBRID_BASE_SP;
	object->cfi.abi = &hybrid_abi_32;
	refine(0, 4096, 101, &rule);
	same(row.end, TEXT + 4096);
	begins = false;
	close_text();
}

/* clone() of musl calls the thread's function: each byte of what is around counts. */
static void thread_start(void)
{
	static const u8 code[] = { 0x31, 0xed, 0x5f, 0x41, 0xff, 0xd1,
				   0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05 };
	const struct hybrid_rule none = {};
	unsigned int byte, at;

	for (byte = 0; byte <= sizeof(code); byte++) {
		fill(0x90);
		memcpy(text + AT - 6, code, sizeof(code));
		if (byte < sizeof(code))
			text[AT - 6 + byte] ^= 0x80;
		open_text(SIZE, 0);
		for (at = AT - 8; at < AT + 10; at++) {
			refine(at, at + 1, at, &none);
			same(row.rule.kind, byte == sizeof(code) && at == AT - 1 ?
			     HYBRID_RULE_OUTERMOST : HYBRID_RULE_NONE);
		}
		object->cfi.abi = &hybrid_abi_32;
		refine(AT - 1, AT, AT - 1, &none);
		same(row.rule.kind, HYBRID_RULE_NONE);
	}
	close_text();
}

/* The code that a process begins with: xor %ebp,%ebp; mov %rsp,%rdi; call; hlt */
static void entry(void)
{
	const struct hybrid_rule none = {};
	unsigned int at;

	fill(0x90);
	memcpy(text + AT, "\x31\xed\x48\x89\xe7\xe8\0\0\0\0\xf4", 11);
	open_text(SIZE, TEXT + AT);
	for (at = AT - 3; at < AT + 20; at++) {
		refine(at, at + 1, at, &none);
		same(row.rule.kind, at >= AT && at < AT + 10 ? HYBRID_RULE_OUTERMOST :
							       HYBRID_RULE_NONE);
		same(row.rule.signal, false);
	}
	close_text();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "refine: switches of stacks",			switches },
		{ "refine: switches that are far",		far_switches },
		{ "refine: files and rows that may switch",	kinds },
		{ "refine: where Go saves rbp",			saved_bp },
		{ "refine: aligned frames that are left",	realigned },
		{ "refine: a pop behind these",			realigned_pop },
		{ "refine: what was popped",			popped },
		{ "refine: bytes of two pages, or of none",	pages },
		{ "refine: where a context begins",		context_start },
		{ "refine: where a process begins",		entry },
		{ "refine: where a thread begins",		thread_start },
		{ "refine: a long row",				long_row },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
