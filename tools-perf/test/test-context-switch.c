// SPDX-License-Identifier: GPL-2.0
/*
 * Where the caller is of functions that switch stacks. Code made up of bytes.
 */
#include "code-bytes.h"
#include "context-switch.h"
#include "tap.h"

#define START	1024

#define PUT(bytes) do {							\
	code_fill(0xcc);						\
	CODE_PUT(START, bytes);						\
} while (0)

/* CFA = sp + @cfa at byte @at; the caller's bp at CFA + @bp, 0: in bp; @cfa -1: no rule. */
static void expect(int line, unsigned int at, int cfa, int bp)
{
	struct hybrid_rule rule;
	bool found = hybrid_switch_rule(&code_mem, CODE_BASE + START + at, &rule);

	tap_same(found, cfa >= 0, __FILE__, line, "found");
	if (!found || cfa < 0)
		return;
	tap_same(rule.kind, HYBRID_RULE_CFA, __FILE__, line, "kind");
	tap_same(rule.base, HYBRID_BASE_SP, __FILE__, line, "base");
	tap_same(rule.cfa_off, cfa, __FILE__, line, "CFA");
	tap_same(rule.ra_off, -8, __FILE__, line, "return address");
	tap_same(rule.bp, bp ? HYBRID_BP_AT_CFA : HYBRID_BP_SAME, __FILE__, line, "bp");
	tap_same(rule.bp_off, bp, __FILE__, line, "place of bp");
}

#define EXPECT(at, cfa, bp) expect(__LINE__, at, cfa, bp)

/* jump_fcontext() of Boost 1.74. */
static void boost(void)
{
	PUT("\x48\x8d\x64\x24\xc8\x0f\xae\x1c\x24\xd9\x7c\x24\x04\x4c\x89\x64\x24\x08"
	    "\x4c\x89\x6c\x24\x10\x4c\x89\x74\x24\x18\x4c\x89\x7c\x24\x20\x48\x89\x5c\x24\x28"
	    "\x48\x89\x6c\x24\x30\x48\x89\xe0\x48\x89\xfc\x4c\x8b\x44\x24\x38\x0f\xae\x14\x24"
	    "\xd9\x6c\x24\x04\x4c\x8b\x64\x24\x08\x4c\x8b\x6c\x24\x10\x4c\x8b\x74\x24\x18"
	    "\x4c\x8b\x7c\x24\x20\x48\x8b\x5c\x24\x28\x48\x8b\x6c\x24\x30\x48\x8d\x64\x24\x40"
	    "\x48\x89\xf2\x48\x89\xc7\x41\xff\xe0");
	EXPECT(0x00, 8, 0);
	EXPECT(0x05, 64, 0);
	EXPECT(0x09, 64, 0);
	EXPECT(0x2e, 64, 0);
	/* sp is the other fiber's. */
	EXPECT(0x31, 64, -16);
	EXPECT(0x57, 64, -16);
	EXPECT(0x5c, 64, 0);
	EXPECT(0x61, 0, 0);
	EXPECT(0x67, 0, 0);
	/* Within an instruction. */
	EXPECT(0x06, -1, 0);
	/* No function begins there, or none of 64 bits. */
	code[START - 1] = 0x48;
	EXPECT(0x31, -1, 0);
	code[START - 1] = 0xc3;
	EXPECT(0x31, 64, -16);
	code_mem.is_64bit = false;
	EXPECT(0x31, -1, 0);
	code_mem.is_64bit = true;
	/* The register was loaded from another place. */
	code[START + 0x35] = 0x30;
	EXPECT(0x31, -1, 0);
}

/* push %rbp; push %rbx; mov %rsp,(%rdi); mov (%rsi),%rsp; pop %rbx; pop %rbp; ret */
static void pushes(void)
{
	PUT("\x55\x53\x48\x89\x27\x48\x8b\x26\x5b\x5d\xc3");
	EXPECT(0, 8, 0);
	EXPECT(1, 16, 0);
	EXPECT(2, 24, 0);
	EXPECT(5, 24, 0);
	EXPECT(8, 24, -16);
	EXPECT(9, 16, -16);
	EXPECT(10, 8, 0);
}

static void others(void)
{
	/* push %rbp; pop %rbp; ret: it stays on its stack. */
	PUT("\x55\x5d\xc3");
	EXPECT(1, -1, 0);
	/* mov %rdi,%rsp; mov %rsi,%rsp; ret: twice. */
	PUT("\x48\x89\xfc\x48\x89\xf4\xc3");
	EXPECT(3, -1, 0);
	/* mov %rdi,%rsp; lea (%rsp,%rsi,8),%rsp; ret: sp is not known. */
	PUT("\x48\x89\xfc\x48\x8d\x24\xf4\xc3");
	EXPECT(3, -1, 0);
	/* mov %rsp,%rbp; mov %rdi,%rsp; leave; ret */
	PUT("\x48\x89\xe5\x48\x89\xfc\xc9\xc3");
	EXPECT(3, -1, 0);
	/* mov %rdi,%rsp; jmp *%rax: to what is not on the stack. */
	PUT("\x48\x89\xfc\xff\xe0");
	EXPECT(3, -1, 0);
	/* mov %rdi,%rsp; mov -8(%rsp),%rax; mov %rsi,%rax; jmp *%rax */
	PUT("\x48\x89\xfc\x48\x8b\x44\x24\xf8\x48\x89\xf0\xff\xe0");
	EXPECT(3, -1, 0);
	/* The same without the change of rax. */
	PUT("\x48\x89\xfc\x48\x8b\x44\x24\xf8\xff\xe0");
	EXPECT(3, 0, 0);
	/* Code that goes on for ever. */
	code_fill(0x90);
	EXPECT(0, -1, 0);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "context switch: Boost's", boost },
		{ "context switch: pushes and pops", pushes },
		{ "context switch: other functions", others },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
