// SPDX-License-Identifier: GPL-2.0
/*
 * The frame by a way from the beginning of its function: code made up of bytes.
 */
#include <string.h>
#include "code-bytes.h"
#include "from-entry.h"
#include "tap.h"
#include "../hybrid/x86/code.h"

/* Where the function begins. */
#define ENTRY	0x1000

static struct hybrid_rule rule;
static unsigned int took;

/* The function, int3 around it: is the frame of its byte @at known? */
#define KNOWN(at, bytes) ({						\
	code_fill(0xcc);						\
	CODE_PUT(ENTRY, bytes);						\
	known(at);							\
})

static bool known(unsigned int at)
{
	memset(&rule, 0, sizeof(rule));
	return hybrid_from_entry_rule(&code_mem, CODE_BASE + ENTRY + at, &rule, &took);
}

static void expect(s32 cfa_off, enum hybrid_rule_bp bp, s32 bp_off)
{
	same(rule.kind, HYBRID_RULE_CFA);
	same(rule.base, HYBRID_BASE_SP);
	same(rule.cfa_off, cfa_off);
	same(rule.ra_off, -8);
	same(rule.bp, bp);
	if (bp == HYBRID_BP_AT_CFA)
		same(rule.bp_off, bp_off);
}

/* As V8's Builtins_CallFunction: test; jne; push; mov; call; mov; pop; over: jmp *%rcx */
#define CALL_FUNCTION	"\xf6\x42\x2f\x60\x75\x0b\x55\x48\x89\xe5\xff\xd1\x90\x48\x89\xec\x5d\xff\xe1"

static void frameless(void)
{
	check(KNOWN(0, CALL_FUNCTION));
	expect(8, HYBRID_BP_SAME, 0);
	check(known(4));
	expect(8, HYBRID_BP_SAME, 0);
	check(known(17));
	expect(8, HYBRID_BP_SAME, 0);
	/* The analysis of the kernel knows of no end of it. */
	check(hybrid_code_ask(&code_mem, CODE_BASE + ENTRY + 17, &rule));
	expect(8, HYBRID_BP_SAME, 0);
}

static void pushed(void)
{
	check(KNOWN(7, CALL_FUNCTION));
	expect(16, HYBRID_BP_SAME, 0);
	check(known(10));
	expect(16, HYBRID_BP_AT_CFA, -16);
	/* sub $24,%rsp; jmp *%rax */
	check(KNOWN(4, "\x48\x83\xec\x18\xff\xe0"));
	expect(32, HYBRID_BP_SAME, 0);
}

/* mov 8(%r13),%rbx; jmp to what returns by the r15 that it has set by then: not by that of now. */
static void another_register(void)
{
	code_fill(0xcc);
	CODE_PUT(ENTRY, "\x49\x8b\x5d\x08\xe9\x07\x00\x00\x00");
	CODE_PUT(ENTRY + 16, "\x48\x31\xc0\x49\x8d\x67\x08\xc3");
	check(hybrid_code_ask(&code_mem, CODE_BASE + ENTRY + 4, &rule));
	expect(8, HYBRID_BP_SAME, 0);
}

/*
 * As V8's Builtins_ResumeGeneratorTrampoline: pop %rax; push %rbx; push %rcx; push %rax; jmp *%rdx.
 * The return address is in a register meanwhile, and then not where it was.
 */
static void return_address_popped(void)
{
	unsigned int at;

	check(KNOWN(0, "\x58\x53\x51\x50\xff\xe2"));
	expect(8, HYBRID_BP_SAME, 0);
	for (at = 1; at < 6; at++)
		check(!known(at));
	/* lea 8(%rsp),%rsp */
	check(!KNOWN(6, "\x48\x8d\x64\x24\x08\x50\xff\xe2"));
}

static void unknown(void)
{
	/* Behind a call, whose callee may have taken arguments off the stack. */
	check(!KNOWN(2, "\xff\xd1\x90\xff\xe1"));
	/* Within an instruction. */
	check(!KNOWN(1, CALL_FUNCTION));
	/* Where no way comes to. */
	check(!KNOWN(2, "\xff\xe1\x90\x90"));
	/* and $-16,%rsp */
	check(!KNOWN(4, "\x48\x83\xe4\xf0\xff\xe1"));
	/* xor %ebp,%ebp */
	check(!KNOWN(2, "\x31\xed\xff\xe1"));
	/* One byte of int3 is not what functions are kept apart by. */
	code_fill(0x90);
	CODE_PUT(ENTRY - 1, "\xcc");
	check(!known(1));
	/* It would begin too far before. */
	code_fill(0x90);
	CODE_PUT(ENTRY - 4, "\xcc\xcc\xcc\xcc");
	check(known(500));
	check(!known(8200));
	code_mem.is_64bit = false;
	check(!known(500));
	code_mem.is_64bit = true;
}

static void bounded(void)
{
	unsigned int i;

	/* A jump with each instruction, to the next one, and beginnings everywhere. */
	for (i = 0; i < CODE_SIZE; i += 2)
		CODE_PUT(i, "\x74\x00");
	for (i = 12; i < CODE_SIZE; i += 32)
		CODE_PUT(i, "\xcc\xcc\xcc\xcc");
	known(8000);
	check(took <= 2048);
	code_fill(0xcc);
	CODE_PUT(ENTRY, "\xeb\xfe");
	check(!known(2));
	check(took <= 2048);
}

static void random_code(void)
{
	unsigned int round, i;

	for (round = 0; round < 20; round++) {
		for (i = 0; i < CODE_SIZE; i++)
			code[i] = i % 64 < 8 ? 0xcc : tap_random();
		for (i = 0; i < 200; i++) {
			known(tap_random() % (2 * CODE_SIZE));
			check(took <= 2048);
		}
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "from its entry: a function without a frame", frameless },
		{ "from its entry: what was pushed", pushed },
		{ "from its entry: another function's end", another_register },
		{ "from its entry: a return address that was popped", return_address_popped },
		{ "from its entry: what is not known", unknown },
		{ "from its entry: bounds", bounded },
		{ "from its entry: any code", random_code },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
