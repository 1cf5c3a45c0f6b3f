// SPDX-License-Identifier: GPL-2.0
/*
 * The rules of whole functions: code made up of bytes.
 */
#include <stdlib.h>
#include <string.h>
#include "code-bytes.h"
#include "from-entry.h"
#include "function-rules.h"
#include "tap.h"

/* Where the function begins. */
#define ENTRY	0x1000

static struct hybrid_code_rules rules;
static unsigned int looked;

/* Finds the rules of all code. */
static void find(void)
{
	free(rules.at);
	memset(&rules, 0, sizeof(rules));
	rules.start = CODE_BASE;
	rules.size = CODE_SIZE;
	looked = hybrid_function_rules(&code_mem, CODE_BASE, &rules);
}

#define FIND(bytes) ({ code_fill(0xcc); CODE_PUT(ENTRY, bytes); find(); })

/* The rule of the function's byte @at; NULL: none is known. */
static const struct hybrid_rule *rule(unsigned int at)
{
	u8 number = rules.at[ENTRY + at];

	return number && number != HYBRID_CODE_UNUSED ? &rules.rules[number - 1] : NULL;
}

static void expect(unsigned int at, enum hybrid_rule_base base, s32 cfa_off)
{
	check(rule(at));
	if (!rule(at))
		return;
	same(rule(at)->kind, HYBRID_RULE_CFA);
	same(rule(at)->base, base);
	same(rule(at)->cfa_off, cfa_off);
	same(rule(at)->ra_off, -8);
}

/* As V8's Builtins_CallFunction: test; jne; push; mov; call; nop; mov; pop; over: jmp *%rcx */
static void framed(void)
{
	unsigned int at;

	FIND("\xf6\x42\x2f\x60\x75\x0b\x55\x48\x89\xe5\xff\xd1\x90\x48\x89\xec\x5d\xff\xe1");
	for (at = 0; at < 7; at++)
		expect(at, HYBRID_BASE_SP, 8);
	for (at = 7; at < 10; at++)
		expect(at, HYBRID_BASE_SP, 16);
	/* With bp, behind the call, too. */
	for (at = 10; at < 17; at++) {
		expect(at, HYBRID_BASE_BP, 16);
		same(rule(at)->bp, HYBRID_BP_AT_CFA);
		same(rule(at)->bp_off, -16);
	}
	/* Both by the jump and behind pop. */
	expect(17, HYBRID_BASE_SP, 8);
	check(!rules.at[ENTRY - 1] && !rule(19));
	same(rules.at[ENTRY + 19], HYBRID_CODE_UNUSED);
	check(looked >= 9 && looked < 32);
}

/* Each instruction has the rule that a way to it alone shows. */
static void as_from_entry(void)
{
	struct hybrid_rule other;
	unsigned int at, took;

	/* push %rbx; sub $24,%rsp; test; je; add; pop; ret; add; pop; jmp *%rax */
	FIND("\x53\x48\x83\xec\x18\x85\xc0\x74\x06\x48\x83\xc4\x18\x5b\xc3"
	     "\x48\x83\xc4\x18\x5b\xff\xe0");
	for (at = 0; at < 22; at++) {
		if (!hybrid_from_entry_rule(&code_mem, CODE_BASE + ENTRY + at, &other, &took))
			continue;
		check(rule(at) && !memcmp(rule(at), &other, sizeof(other)));
	}
	expect(5, HYBRID_BASE_SP, 40);
	expect(15, HYBRID_BASE_SP, 40);
	expect(20, HYBRID_BASE_SP, 8);
}

/*
 * As V8's Builtins_BaselineOutOfLinePrologue: add $8,%rsp; push %rbp; mov %rsp,%rbp; call; nop. The
 * return address is one word further out than a way from the beginning shows. And the caller has
 * no frame yet, although it has called: so there is no rule for the beginning, either.
 */
static void return_address_dropped(void)
{
	unsigned int at;

	FIND("\x48\x83\xc4\x08\x55\x48\x89\xe5\xff\xd1\x90\x48\x89\xec\x5d\xff\xe1");
	for (at = 0; at < 17; at++)
		check(!rule(at));
	/* pop %r15; push %rbp; mov %rsp,%rbp; push %rsi; push %r15; ret */
	FIND("\x41\x5f\x55\x48\x89\xe5\x56\x41\x57\xc3");
	for (at = 0; at < 10; at++)
		check(!rule(at));
	/* pop %rbx; push %rcx; push %rbx; jmp *%rcx: no frame, as Builtins_FunctionPrototypeCall */
	FIND("\x5b\x51\x53\xff\xe1");
	expect(0, HYBRID_BASE_SP, 8);
}

/* As V8's Builtins_BaselineLeaveFrame: mov -40(%rbp),%r8; mov %rbp,%rsp; pop %rbp; ret */
static void jumped_to_with_frame(void)
{
	unsigned int at;

	FIND("\x4c\x8b\x45\xd8\x48\x8b\xe5\x5d\xc3");
	for (at = 0; at < 9; at++)
		check(!rule(at));
	/* With a frame of its own: push %rbp; mov %rsp,%rbp; ... */
	FIND("\x55\x48\x89\xe5\x48\x8b\xe5\x5d\xc3");
	expect(4, HYBRID_BASE_BP, 16);
}

static void unknown(void)
{
	/* Behind a call, whose callee may have taken arguments off the stack. */
	FIND("\xff\xd1\x90\xff\xe1");
	expect(0, HYBRID_BASE_SP, 8);
	check(!rule(2));
	/* Where no way comes to: it fills up the code, or it does not. */
	FIND("\xff\xe1\x90\x0f\x1f\x40\x00\x53\x90");
	same(rules.at[ENTRY + 2], HYBRID_CODE_UNUSED);
	same(rules.at[ENTRY + 6], HYBRID_CODE_UNUSED);
	same(rules.at[ENTRY + 7], 0);
	same(rules.at[ENTRY + 8], 0);
	/* A way comes to it, and it fills up the code behind a jump, too. */
	FIND("\x74\x02\xff\xe1\x90\xff\xe1");
	expect(4, HYBRID_BASE_SP, 8);
	/* and $-16,%rsp */
	FIND("\x48\x83\xe4\xf0\xff\xe1");
	check(!rule(4));
	/* je over it, where sp is still known. */
	FIND("\x74\x04\x48\x83\xe4\xf0\xff\xe1");
	expect(6, HYBRID_BASE_SP, 8);
	/* xor %ebp,%ebp: it was not saved. */
	FIND("\x31\xed\xff\xe1");
	check(!rule(2));
	/* je over a push: two frames at one place. */
	FIND("\x74\x01\x53\x90\xff\xe1");
	check(!rule(0) && !rule(3));
	/* No function begins behind one byte of int3. */
	code_fill(0x90);
	CODE_PUT(ENTRY - 1, "\xcc");
	find();
	check(!rule(0));
}

/* Three functions of one instruction and what fills up the code: of one all that is looked at. */
static void neighbours(void)
{
	unsigned int i;

	code_fill(0xcc);
	for (i = 0; i < 3; i++)
		CODE_PUT(ENTRY + 64 * i, "\xff\xe1");
	free(rules.at);
	memset(&rules, 0, sizeof(rules));
	rules.start = CODE_BASE + ENTRY + 64;
	rules.size = 64;
	same(hybrid_function_rules(&code_mem, CODE_BASE, &rules), 1);
	check(rules.at[0] && rules.at[0] != HYBRID_CODE_UNUSED);
	/* push %rbx; jmp to the next one, which begins without what was pushed. */
	FIND("\x53\xeb\x3d");
	CODE_PUT(ENTRY + 64, "\xff\xe1");
	find();
	expect(0, HYBRID_BASE_SP, 8);
	expect(1, HYBRID_BASE_SP, 16);
	expect(64, HYBRID_BASE_SP, 8);
}

/* The code that was asked for is in the middle of a function, or its end can't be read. */
static void parts(void)
{
	code_fill(0x90);
	CODE_PUT(ENTRY - 4, "\xcc\xcc\xcc\xcc");
	CODE_PUT(ENTRY, "\x53");
	free(rules.at);
	memset(&rules, 0, sizeof(rules));
	rules.start = CODE_BASE + ENTRY + 256;
	rules.size = 512;
	hybrid_function_rules(&code_mem, CODE_BASE, &rules);
	check(rules.at[0] && rules.at[511]);
	same(rules.rules[rules.at[0] - 1].cfa_off, 16);
	/* It may not be looked at before. */
	free(rules.at);
	memset(rules.rules, 0, sizeof(rules.rules));
	rules.nr = 0;
	hybrid_function_rules(&code_mem, CODE_BASE + ENTRY + 64, &rules);
	check(!rules.at[0]);
	same(rules.nr, 0);
	free(rules.at);
	rules.start = CODE_BASE + CODE_SIZE - 16;
	rules.size = 65536;
	hybrid_function_rules(&code_mem, CODE_BASE, &rules);
	check(!rules.at[65535]);
	free(rules.at);
	rules.at = NULL;
}

static void bounded(void)
{
	unsigned int i, j;

	/* A jump with each instruction, to the next one. */
	for (i = 0; i < CODE_SIZE; i += 2)
		CODE_PUT(i, "\x74\x00");
	CODE_PUT(ENTRY - 4, "\xcc\xcc\xcc\xcc");
	find();
	check(looked <= CODE_SIZE);
	FIND("\xeb\xfe");
	expect(0, HYBRID_BASE_SP, 8);
	same(looked, 1);
	/* Any code. */
	srand(1);
	for (j = 0; j < 200; j++) {
		code_fill(0xcc);
		for (i = ENTRY; i < ENTRY + 2048; i++) {
			const char byte = rand() >> 7;

			code_put(i, &byte, 1);
		}
		find();
		check(looked <= 2 * 2048);
	}
}

/* Rules of all sizes of a frame: no more than there is room for. */
static void many_rules(void)
{
	unsigned int i;

	code_fill(0xcc);
	memset(code + ENTRY, 0x53, 200);
	CODE_PUT(ENTRY + 200, "\xff\xe1");
	find();
	same(rules.nr, HYBRID_CODE_RULES);
	for (i = 0; i < 200; i++) {
		if (i < HYBRID_CODE_RULES)
			expect(i, HYBRID_BASE_SP, 8 + 8 * i);
		else
			check(!rule(i));
	}
}

/* Branches that wait. */
static void many_branches(void)
{
	unsigned int nr, i;
	s32 to;

	for (nr = 254; nr < 260; nr++) {
		code_fill(0xc3);
		CODE_PUT(ENTRY - 4, "\xcc\xcc\xcc\xcc");
		for (i = 0; i < nr; i++) {
			to = 6 * 400 + i * 16 - 6 * (i + 1);
			CODE_PUT(ENTRY + 6 * i, "\x0f\x84");
			memcpy(code + ENTRY + 6 * i + 2, &to, sizeof(to));
			CODE_PUT(ENTRY + 6 * 400 + 16 * i, "\xff\xe1");
		}
		CODE_PUT(ENTRY + 6 * nr, "\xff\xe1");
		find();
		same(!!rule(6 * 400 + 16 * (nr - 1)), nr <= 256);
	}
}

/* Functions that begin so far before the code that is asked for, and go so far beyond it. */
static void around(void)
{
	unsigned int at;
	s32 to;

	for (at = 8192 - 32; at <= 8192 + 32; at += 16) {
		/* nops, but for a jump over them */
		code_fill(0x90);
		CODE_PUT(0x5000 - at - 4, "\xcc\xcc\xcc\xcc\x53\xe9");
		to = at - 6;
		memcpy(code + 0x5000 - at + 2, &to, sizeof(to));
		free(rules.at);
		memset(&rules, 0, sizeof(rules));
		rules.start = CODE_BASE + 0x5000;
		rules.size = 16;
		hybrid_function_rules(&code_mem, CODE_BASE, &rules);
		same(!!rules.at[0], at < 8192);
		/* To beyond, and back. */
		code_fill(0xcc);
		to = 16 + at - 5;
		CODE_PUT(0x5000, "\xe9");
		memcpy(code + 0x5001, &to, sizeof(to));
		to = 8 - (16 + at) - 5;
		CODE_PUT(0x5000 + 16 + at, "\xe9");
		memcpy(code + 0x5000 + 16 + at + 1, &to, sizeof(to));
		CODE_PUT(0x5008, "\xff\xe1");
		/* No other function begins between. */
		memset(code + 0x500a, 0x90, 6 + at);
		free(rules.at);
		memset(&rules, 0, sizeof(rules));
		rules.start = CODE_BASE + 0x5000;
		rules.size = 16;
		hybrid_function_rules(&code_mem, CODE_BASE, &rules);
		check(rules.at[0]);
		same(rules.at[8] && rules.at[8] != HYBRID_CODE_UNUSED, at < 8192);
	}
	code_mem.is_64bit = false;
	find();
	code_mem.is_64bit = true;
	same(rules.nr, 0);
}

/* Makes a function of the like of what compilers write; @cfa: of each byte of it. */
static unsigned int make_function(s32 *cfa, s32 *saved)
{
	unsigned int at = 0, from, i, nr = 4 + tap_random() % 30;
	s32 sp = 8, bp = 0, size;

	for (i = 0; i < nr; i++) {
		from = at;
		switch (tap_random() % 8) {
		case 0:
			/* push %rbp, once */
			code[ENTRY + at++] = bp ? 0x53 : 0x55;
			size = 8;
			break;
		case 1:
			code[ENTRY + at++] = 0x53;
			size = 8;
			break;
		case 2:
			size = 8 * (tap_random() % 15);
			CODE_PUT(ENTRY + at, "\x48\x83\xec");
			code[ENTRY + at + 3] = size;
			at += 4;
			break;
		case 3:
			/* add: not what was saved, nor more than there is */
			size = -8 * (s32)(tap_random() % 4);
			if (sp + size < (bp ?: 8))
				size = 0;
			CODE_PUT(ENTRY + at, "\x48\x83\xc4");
			code[ENTRY + at + 3] = -size;
			at += 4;
			break;
		case 4:
			CODE_PUT(ENTRY + at, "\xc5\xf8\x77");
			at += 3;
			size = 0;
			break;
		case 5:
			/* je to the next instruction */
			CODE_PUT(ENTRY + at, "\x74\x00");
			at += 2;
			size = 0;
			break;
		default:
			CODE_PUT(ENTRY + at, "\x48\x89\xd8");
			at += 3;
			size = 0;
			break;
		}
		while (from < at) {
			saved[from] = bp;
			cfa[from++] = sp;
		}
		sp += size;
		if (code[ENTRY + at - 1] == 0x55 && !bp)
			bp = sp;
	}
	CODE_PUT(ENTRY + at, "\xff\xe1");
	cfa[at] = sp;
	saved[at] = bp;
	return at + 1;
}

/* Each instruction's frame is what its pushes and additions have made. */
static void made_functions(void)
{
	s32 cfa[512], saved[512];
	struct hybrid_rule other;
	unsigned int round, nr, at, took;

	for (round = 0; round < 80; round++) {
		code_fill(0xcc);
		nr = make_function(cfa, saved);
		find();
		for (at = 0; at < nr; at++) {
			if (!check(rule(at)))
				continue;
			same(rule(at)->base, HYBRID_BASE_SP);
			same(rule(at)->cfa_off, cfa[at]);
			same(rule(at)->bp, HYBRID_BP_SAME);
			same(rule(at)->bp_off, -saved[at]);
			if (hybrid_from_entry_rule(&code_mem, CODE_BASE + ENTRY + at, &other,
						   &took))
				check(!memcmp(rule(at), &other, sizeof(other)));
		}
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "functions' rules: with a frame",		framed },
		{ "functions' rules: as by a way to each",	as_from_entry },
		{ "functions' rules: a return address that was dropped", return_address_dropped },
		{ "functions' rules: a frame that others have made", jumped_to_with_frame },
		{ "functions' rules: what is not known",	unknown },
		{ "functions' rules: neighbours",		neighbours },
		{ "functions' rules: parts of functions",	parts },
		{ "functions' rules: bounds",			bounded },
		{ "functions' rules: many",			many_rules },
		{ "functions' rules: many branches",		many_branches },
		{ "functions' rules: the code around",		around },
		{ "functions' rules: functions that are made",	made_functions },
	};
	int err = tap_run(tests, ARRAY_SIZE(tests));

	free(rules.at);
	return err;
}
