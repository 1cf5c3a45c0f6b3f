// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that make the frame of their caller, and their callers: code made up of bytes.
 */
#include "callers-frame.h"
#include "code-bytes.h"
#include "tap.h"
#include "../hybrid/x86/code.h"

/* Where the caller is, and the function that it calls. */
#define CALLER	0x1000
#define CALLEE	0x1100

/* As V8's Builtins_BaselineOutOfLinePrologue: pop %r15; push %rbp; mov %rsp,%rbp; push %r15; ret */
#define MAKES	"\x41\x5f\x55\x48\x89\xe5\x41\x57\xc3"

/* As its baseline compiler's code: mov $24,%ebx; movabs %r12; call CALLEE; push %rax; leave; ret */
#define CALLS	"\xbb\x18\x00\x00\x00\x49\xbc\x00\x00\x00\x00\x00\x00\x00\x00" \
		"\xe8\xec\x00\x00\x00\x50\xc9\xc3"

static unsigned int took;

static bool makes(const char *bytes, unsigned int len)
{
	code_fill(0xcc);
	code_put(CALLEE, bytes, len);
	return hybrid_makes_callers_frame(&code_mem, CODE_BASE + CALLEE, &took);
}

#define MADE(bytes) makes(bytes, sizeof(bytes) - 1)

static void callee(void)
{
	check(MADE(MAKES));
	/* testb; jne over the rest: by either way */
	check(MADE("\xf6\x40\x15\x3e\x75\x09" MAKES));
	check(MADE("\xf6\x40\x15\x3e\x74\x01\xc3" MAKES));
	/* add $8,%rsp; push %rbp; mov %rsp,%rbp */
	check(MADE("\x48\x83\xc4\x08\x55\x48\x89\xe5\xc3"));
	/* A frame of its own; none; behind a call; in code that ends. */
	check(!MADE("\x55\x48\x89\xe5\xc9\xc3"));
	check(!MADE("\x58\x51\x50\xff\xe1"));
	check(!MADE("\xff\xd0" MAKES));
	check(!MADE("\x41\x5f\x55"));
	/* A loop ends. */
	check(!MADE("\x74\xfe\xeb\xfc"));
	check(took < 100);
}

static void expect_entry(unsigned int at)
{
	struct hybrid_rule rule;

	check(hybrid_is_before_frame(&code_mem, CODE_BASE + CALLER + at));
	check(hybrid_code_ask(&code_mem, CODE_BASE + CALLER + at, &rule));
	same(rule.base, HYBRID_BASE_SP);
	same(rule.cfa_off, 8);
	same(rule.ra_off, -8);
	same(rule.bp, HYBRID_BP_SAME);
}

static void caller(void)
{
	struct hybrid_rule rule;

	code_fill(0xcc);
	CODE_PUT(CALLER, CALLS);
	CODE_PUT(CALLEE, MAKES);
	expect_entry(0);
	expect_entry(5);
	expect_entry(15);
	/* Behind the call it has a frame. */
	check(!hybrid_is_before_frame(&code_mem, CODE_BASE + CALLER + 20));
	check(hybrid_code_ask(&code_mem, CODE_BASE + CALLER + 20, &rule));
	same(rule.base, HYBRID_BASE_BP);
	/* What is called is another function. */
	CODE_PUT(CALLEE, "\x55\x48\x89\xe5\xc9\xc3\xcc\xcc\xcc");
	check(!hybrid_is_before_frame(&code_mem, CODE_BASE + CALLER));
	/* Something is pushed before the call, or a jump is. */
	CODE_PUT(CALLEE, MAKES);
	CODE_PUT(CALLER + 4, "\x53");
	check(!hybrid_is_before_frame(&code_mem, CODE_BASE + CALLER + 4));
	check(!hybrid_calls_for_frame(&code_mem, CODE_BASE + CALLER));
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "caller's frame: the function that makes it",	callee },
		{ "caller's frame: before the call",		caller },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
