// SPDX-License-Identifier: GPL-2.0
/*
 * What the code of a file says: as the same bytes in memory do, wherever they stand in its pages.
 */
#include <string.h>
#include "abi.h"
#include "code-bytes.h"
#include "elf-made.h"
#include "tap.h"
#include "../hybrid/x86/code.h"

#define TEXT	0x10000
#define PAGE	4096

/* Where the code is: in the middle of a page, and across the end of one. */
#define MIDDLE	0x800

static u8 text[3 * PAGE];
static struct hybrid_object *object;

static void close_text(void)
{
	elf_made_close(object);
	object = NULL;
}

static void open_text(u64 vaddr, const void *bytes, unsigned int size)
{
	struct elf_made elf;

	if (object)
		close_text();
	elf_made_begin(&elf);
	elf_made_loaded(&elf, ".text", SHF_EXECINSTR, vaddr, bytes, size);
	object = elf_made_object(&elf);
}

#define LOOP "\x4c\x8d\x9c\x24\x00\x60\xff\xff\x48\x81\xec\x00\x10\x00\x00" \
	     "\x48\x83\x0c\x24\x00\x4c\x39\xdc\x75\xef"

/**
 * struct rule - code, and the rule that it shows
 * @code: bytes
 * @len: of @code
 * @at: offset of the instruction that is asked about
 * @is_32: it is 32-bit code
 * @rule: of it; HYBRID_RULE_NONE: none is known
 */
struct rule {
	const char		*code;
	unsigned int		len;
	unsigned int		at;
	bool			is_32;
	struct hybrid_rule	rule;
};

#define CODE(bytes)	.code = (bytes), .len = sizeof(bytes) - 1
#define CFA(base_, off)	.kind = HYBRID_RULE_CFA, .base = (base_), .cfa_off = (off)
#define SP_(off)	CFA(HYBRID_BASE_SP, off), .ra_off = -8
#define BP_SAVED	.bp = HYBRID_BP_AT_CFA, .bp_off = -16
#define REG(nr)		(HYBRID_BASE_REG + (nr))

static const struct rule rules[] = {
	{ CODE("\x5b\xc3"), .rule = { SP_(16) } },
	{ CODE("\x5b\xc3"), .is_32 = true,
	  .rule = { CFA(HYBRID_BASE_SP, 8), .ra_off = -4 } },
	{ CODE("\x5d\xc3"), .rule = { SP_(16), BP_SAVED } },
	/* xor %ebp,%ebp; ret */
	{ CODE("\x31\xed\xc3"), .rule = { SP_(8), .bp = HYBRID_BP_UNDEFINED } },
	{ CODE("\xc9\xc3"), .rule = { CFA(HYBRID_BASE_BP, 16), .ra_off = -8, BP_SAVED } },
	/* mov 16(%rsp),%rsp; pop %rbx; ret, and by rbp; in 32-bit code */
	{ CODE("\x48\x8b\x64\x24\x10\x5b\xc3"),
	  .rule = { .kind = HYBRID_RULE_DEREF, .cfa_off = 16, .deref_off = 16, .ra_off = -8 } },
	{ CODE("\x48\x8b\x65\xf0\xc3"),
	  .rule = { .kind = HYBRID_RULE_DEREF, .base = HYBRID_BASE_BP, .cfa_off = -16,
		    .deref_off = 8, .ra_off = -8 } },
	/* mov %rcx,%rsp; ret: the numbers of DWARF are others; of i386 they are not. */
	{ CODE("\x48\x89\xcc\xc3"), .rule = { CFA(REG(2), 8), .ra_off = -8 } },
	{ CODE("\x48\x89\xd4\xc3"), .rule = { CFA(REG(1), 8), .ra_off = -8 } },
	{ CODE("\x4c\x89\xd4\xc3"), .rule = { CFA(REG(10), 8), .ra_off = -8 } },
	{ CODE("\x89\xcc\xc3"), .is_32 = true, .rule = { CFA(REG(1), 4), .ra_off = -4 } },
	/* mov $15,%rax; syscall */
	{ CODE("\x48\xc7\xc0\x0f\0\0\0\x0f\x05"),
	  .rule = { .kind = HYBRID_RULE_SIGRETURN, .signal = true } },
	/* A loop that makes a frame: before it, in it; add $0xa000,%rsp; ret, leave; ret */
	{ CODE(LOOP "\x48\x81\xc4\x00\xa0\x00\x00\xc3"), .rule = { SP_(8) } },
	{ CODE(LOOP "\x48\x81\xc4\x00\xa0\x00\x00\xc3"), .at = 15,
	  .rule = { CFA(REG(11), 0xa008), .ra_off = -8 } },
	{ CODE(LOOP "\x48\x81\xc4\x00\xa0\x00\x00\xc3"), .at = 25, .rule = { SP_(0xa008) } },
	{ CODE(LOOP "\xc9\xc3"), .at = 15,
	  .rule = { CFA(HYBRID_BASE_BP, 16), .ra_off = -8, BP_SAVED } },
	{ CODE(LOOP "\xc9\xc3"), .at = 0,
	  .rule = { CFA(HYBRID_BASE_BP, 16), .ra_off = -8, BP_SAVED } },
	/* mov -8(%rbp),%r10; leave; lea -8(%r10),%rsp; ret */
	{ CODE("\x4c\x8b\x55\xf8\xc9\x49\x8d\x62\xf8\xc3"),
	  .rule = { .kind = HYBRID_RULE_DEREF, .base = HYBRID_BASE_BP, .cfa_off = -8,
		    .ra_off = -8, .bp = HYBRID_BP_AT_BP } },
	/* call *%rcx; leave; jmp *%rax: that bp points to the frame only the leave shows. */
	{ CODE("\xff\xd1\xc9\xff\xe0"),
	  .rule = { CFA(HYBRID_BASE_BP, 16), .ra_off = -8, BP_SAVED } },
	/* pop %rdx; pop %rcx; mov %rcx,%rsp; ret */
	{ CODE("\x5a\x59\x48\x89\xcc\xc3"),
	  .rule = { .kind = HYBRID_RULE_DEREF, .cfa_off = 8, .deref_off = 8, .ra_off = -8 } },
	/* jmp to itself; hlt */
	{ CODE("\xeb\xfe") }, { CODE("\xf4") }, { CODE("\xf4"), .is_32 = true },
};

static void expect(const struct hybrid_rule *got, bool found, const struct rule *r)
{
	bool right = found == !!r->rule.kind &&
		     (!found || !memcmp(got, &r->rule, sizeof(*got)));

	if (!check(right))
		printf("# rule %u: %d, kind %u, base %u, bp %u %d, CFA %d %u, ra %d\n",
		       (unsigned int)(r - rules), found, got->kind, got->base, got->bp,
		       got->bp_off, got->cfa_off, got->deref_off, got->ra_off);
}

static void all_rules(void)
{
	struct hybrid_rule rule;
	unsigned int i, at;

	for (i = 0; i < ARRAY_SIZE(rules); i++) {
		const struct rule *r = &rules[i];
		bool found;

		code_fill(0xf4);
		code_put(MIDDLE, r->code, r->len);
		code_mem.is_64bit = !r->is_32;
		code_mem.any_bp = true;
		found = hybrid_code_ask(&code_mem, CODE_BASE + MIDDLE + r->at, &rule);
		code_mem.is_64bit = true;
		code_mem.any_bp = false;
		expect(&rule, found, r);
		/* With each of its bytes as the first one of a page. */
		for (at = PAGE - r->len; at <= PAGE; at += i % 3 + 1) {
			memset(text, 0xf4, sizeof(text));
			memcpy(text + at, r->code, r->len);
			open_text(TEXT, text, sizeof(text));
			object->cfi.abi = r->is_32 ? &hybrid_abi_32 : &hybrid_abi_64;
			found = hybrid_code_rule(code_of(object), TEXT + at + r->at, &rule);
			expect(&rule, found, r);
		}
		close_text();
	}
}

/* The same for a run of code: with and without a rule of the code before. */
static void runs(void)
{
	struct hybrid_rule rule;
	unsigned int i, framed, took;
	bool found;
	u64 end;

	for (i = 0; i < 2 * ARRAY_SIZE(rules); i++) {
		const struct rule *r = &rules[i / 2];

		/* A trampoline's rule is not asked for so. */
		if (r->rule.kind == HYBRID_RULE_SIGRETURN || r->is_32)
			continue;
		framed = i % 2;
		memset(text, 0xf4, sizeof(text));
		memcpy(text + MIDDLE, r->code, r->len);
		open_text(TEXT, text, sizeof(text));
		memset(&rule, 0, sizeof(rule));
		if (framed)
			rule = hybrid_rule_frame_pointer(8);
		found = hybrid_code_rule_run(code_of(object), TEXT + MIDDLE + r->at, &rule, &end,
					     &took);
		expect(&rule, found, r);
		check(took >= 1);
		check(end > TEXT + MIDDLE + r->at && end <= TEXT + MIDDLE + r->len);
	}
	close_text();
}

/* A function that ends in jmp *%rax: the way from its beginning is looked at, and counts. */
static void from_entry(void)
{
	struct hybrid_rule rule = {};
	unsigned int took;
	u64 end;

	memset(text, 0xcc, sizeof(text));
	memset(text + MIDDLE, 0x90, 100);
	memcpy(text + MIDDLE + 100, "\xff\xe0", 2);
	open_text(TEXT, text, sizeof(text));
	check(hybrid_code_rule_run(code_of(object), TEXT + MIDDLE + 100, &rule, &end, &took));
	same(rule.kind, HYBRID_RULE_CFA);
	same(rule.base, HYBRID_BASE_SP);
	same(rule.cfa_off, 8);
	same(end, TEXT + MIDDLE + 102);
	check(took > 100);
	close_text();
}

/* How far a rule reaches, in straight code. */
static void ends(void)
{
	static const struct {
		const char	*code;
		unsigned int	len;
		unsigned int	end;
	} of[] = {
		/* nop; nop; pop %rbx; ret: up to the pop, and with it */
		{ "\x90\x90\x5b\xc3", 4, 3 },
		/* At the pop; at the ret; at what has no rule; at what can't be decoded. */
		{ "\x5b\xc3", 2, 1 }, { "\xc3", 1, 1 }, { "\xeb\xfe", 2, 2 },
		{ "\x62\x00\x90", 3, 1 },
	};
	struct hybrid_rule rule = {};
	unsigned int i, took;
	u64 end;

	for (i = 0; i < ARRAY_SIZE(of); i++) {
		memset(text, 0xf4, sizeof(text));
		memcpy(text + MIDDLE, of[i].code, of[i].len);
		open_text(TEXT, text, sizeof(text));
		memset(&rule, 0, sizeof(rule));
		hybrid_code_rule_run(code_of(object), TEXT + MIDDLE, &rule, &end, &took);
		if (!same(end - TEXT - MIDDLE, of[i].end))
			printf("# code %u\n", i);
	}
	close_text();
}

/* pop %r15; push %rbp; mov %rsp,%rbp; push %r15; ret: makes the frame of its caller. */
#define MAKES	"\x41\x5f\x55\x48\x89\xe5\x41\x57\xc3"
#define NOPS	"\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"

/*
 * jne to MAKES, over a return: if sp is at the return address the rule is not of the caller, but of
 * the caller's caller. Other rules are right.
 */
static void too_far(void)
{
	static const struct rule of[] = {
		{ CODE("\x90\x75\x02\x90\xc3" NOPS NOPS MAKES) },
		{ CODE("\x75\x02\x5b\xc3" NOPS NOPS MAKES), .rule = { SP_(16) } },
		/* mov %rbp,%rsp; ret. mov 8(%rsp),%rsp; ret */
		{ CODE("\x75\x04\x48\x89\xec\xc3" MAKES),
		  .rule = { CFA(HYBRID_BASE_BP, 8), .ra_off = -8 } },
		{ CODE("\x75\x06\x48\x8b\x64\x24\x08\xc3" MAKES),
		  .rule = { .kind = HYBRID_RULE_DEREF, .cfa_off = 8, .deref_off = 8,
			    .ra_off = -8 } },
		/* jne; pop %ebx; ret; pop %edx; push %ebp; mov %esp,%ebp; push %edx; ret */
		{ CODE("\x75\x02\x5b\xc3\x5a\x55\x89\xe5\x52\xc3"), .is_32 = true,
		  .rule = { CFA(HYBRID_BASE_SP, 8), .ra_off = -4 } },
	};
	unsigned int i, took;
	u64 end;

	for (i = 0; i < ARRAY_SIZE(of); i++) {
		struct hybrid_rule rule = {};
		bool found;

		memset(text, 0xf4, sizeof(text));
		memcpy(text + MIDDLE, of[i].code, of[i].len);
		open_text(TEXT, text, sizeof(text));
		object->cfi.abi = of[i].is_32 ? &hybrid_abi_32 : &hybrid_abi_64;
		found = hybrid_code_rule_run(code_of(object), TEXT + MIDDLE, &rule, &end, &took);
		expect(&rule, found, &of[i]);
		/* What was looked at to refuse it counts. */
		check(took > (found ? 1 : 25));
		/* Up to the return, or for the first instruction alone. */
		same(end, TEXT + MIDDLE + (found ? 1 + of[i].code[1] : 1));
	}
	close_text();
}

/* The file's code is not read before its segment, nor behind it. */
static void bounds(void)
{
	unsigned int i, size;
	u64 next;

	memset(text, 0x90, sizeof(text));
	/* call *%rax */
	memcpy(text + 16, "\xff\xd0", 2);
	for (i = 0; i < 4; i++) {
		size = 32 + i * 700;
		memcpy(text + size - 2, "\xff\xd0", 2);
		open_text(TEXT + i * 0x300, text, size);
		check(hybrid_code_is_return(code_of(object), TEXT + i * 0x300 + 18));
		check(!hybrid_code_is_return(code_of(object), TEXT + i * 0x300 + 19));
		check(!hybrid_code_is_return(code_of(object), TEXT + i * 0x300));
		check(hybrid_code_is_return(code_of(object), TEXT + i * 0x300 + size));
		check(!hybrid_code_is_return(code_of(object), TEXT + i * 0x300 + size + 1));
		memset(text + size - 2, 0x90, 2);
	}
	/* A segment that is at another place of the page than its addresses. */
	open_text(TEXT, text, 64);
	object->segments[0].vaddr += 8;
	object->segments[0].offset += 8;
	check(hybrid_code_is_return(code_of(object), TEXT + 18));
	object->segments[0].offset -= 4;
	check(hybrid_code_is_return(code_of(object), TEXT + 22));
	/* A page of it would begin before the file. */
	object->segments[0].offset = 0x8;
	object->segments[0].vaddr = TEXT + 0x100;
	check(!hybrid_code_is_return(code_of(object), TEXT + 0x112));
	/* It begins with the file: the first bytes of ELF are jg +0x45. Behind it is no code. */
	object->segments[0].offset = 0;
	object->segments[0].vaddr = TEXT;
	same(hybrid_code_jump(code_of(object), TEXT, &next), TEXT + 0x47);
	same(hybrid_code_jump(code_of(object), TEXT + 16 * PAGE, &next), 0);
	close_text();
}

/* The nop of 5 bytes, or of 10, that an optimized uprobe is written over. */
static void uprobes(void)
{
	static const char nop10[] = "\x66\x2e\x0f\x1f\x84\0\0\0\0\0", nop5[] = "\x0f\x1f\x44\0\0";
	unsigned int byte;
	u64 left;

	for (byte = 0; byte <= 10; byte++) {
		memset(text, 0x90, sizeof(text));
		memcpy(text + PAGE - 4, nop10, 10);
		text[PAGE - 4 + byte] ^= byte < 10;
		open_text(TEXT, text, sizeof(text));
		same(hybrid_code_is_uprobe(code_of(object), TEXT + PAGE + 6, &left), byte == 10);
		same(left, byte == 10 ? 128 : 0);
	}
	for (byte = 0; byte <= 5; byte++) {
		memset(text, 0x90, sizeof(text));
		memcpy(text + PAGE - 3, nop5, 5);
		text[PAGE - 3 + byte] ^= byte < 5;
		open_text(TEXT, text, sizeof(text));
		same(hybrid_code_is_uprobe(code_of(object), TEXT + PAGE + 2, &left), byte == 5);
		same(left, 0);
	}
	close_text();
}

/* What is asked of the same instructions in memory. */
static void others(void)
{
	u64 next;

	memset(text, 0xcc, sizeof(text));
	/* je +16; ret; call +0x100 */
	memcpy(text, "\x74\x10\xc3\xe8\x00\x01\x00\x00", 8);
	open_text(TEXT, text, sizeof(text));
	same(hybrid_code_jump(code_of(object), TEXT, &next), TEXT + 18);
	same(next, TEXT + 2);
	check(hybrid_code_returns(code_of(object), TEXT + 2));
	check(hybrid_code_returns(code_of(object), TEXT));
	check(!hybrid_code_returns(code_of(object), TEXT + 3));
	same(hybrid_code_call_target(code_of(object), TEXT + 8), TEXT + 0x108);
	same(hybrid_code_call_site(code_of(object), TEXT, TEXT + 8, TEXT + 0x108, 0), TEXT + 8);
	same(hybrid_code_call_site(code_of(object), TEXT, TEXT + 8, TEXT + 0x109, 0), 0);
	same(hybrid_code_call_site(code_of(object), TEXT, TEXT + 3, TEXT + 0x108, 0), 0);
	same(hybrid_code_effect(code_of(object), TEXT + 3, &next), HYBRID_EFFECT_CALL);
	same(next, TEXT + 8);
	close_text();
}

/* An instruction with an address before the first of two calls to one function: the site of it. */
static u64 site(const char *insn, u64 addr, u64 given, bool is_32)
{
	unsigned int len = strlen(insn) + 4, to = 0x200 - len - 5;
	u64 next = TEXT + len, word = TEXT + 0x300;
	s32 offset = addr - next;

	memset(text, 0xcc, sizeof(text));
	memcpy(text, insn, len - 4);
	memcpy(text + len - 4, &offset, 4);
	text[len] = 0xe8;
	memcpy(text + len + 1, &to, 4);
	to -= 5;
	text[len + 5] = 0xe8;
	memcpy(text + len + 6, &to, 4);
	memcpy(text + 0x100, &word, sizeof(word));
	open_text(TEXT, text, sizeof(text));
	object->cfi.abi = is_32 ? &hybrid_abi_32 : &hybrid_abi_64;
	return hybrid_code_call_site(code_of(object), TEXT, next + 10, TEXT + 0x200, given);
}

/* Which of two calls hands over a function is known by lea N(%rip) of it, or of its address. */
static void call_sites(void)
{
	static const char lea[] = "\x48\x8d\x05";

	same(site(lea, TEXT + 0x300, TEXT + 0x300, false), TEXT + 12);
	same(site(lea, TEXT + 0x300, TEXT + 0x301, false), 0);
	same(site(lea, TEXT + 0x100, TEXT + 0x300, false), TEXT + 12);
	same(site(lea, TEXT + 0x100, TEXT + 0x301, false), 0);
	/* Of nothing; in 32-bit code; mov; lea N(%rbp); lea N */
	same(site(lea, 0, 0, false), 0);
	same(site(lea, TEXT + 0x300, TEXT + 0x300, true), 0);
	same(site("\x48\x8b\x05", TEXT + 0x300, TEXT + 0x300, false), 0);
	same(site("\x48\x8d\x85", TEXT + 0x300, TEXT + 0x300, false), 0);
	same(site("\x48\x8d\x04\x25", TEXT + 0x300, TEXT + 0x300, false), 0);
	close_text();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "reader: rules",			all_rules },
		{ "reader: rules of runs of code",	runs },
		{ "reader: how far they reach",		ends },
		{ "reader: from the function's beginning",	from_entry },
		{ "reader: a rule that leads too far",	too_far },
		{ "reader: the ends of the code",	bounds },
		{ "reader: optimized uprobes",		uprobes },
		{ "reader: instructions",		others },
		{ "reader: calls that hand over a function", call_sites },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
