// SPDX-License-Identifier: GPL-2.0
/*
 * Frames of compiled methods of a JVM, by what the process says of its code: this one.
 */
#include <stdio.h>
#include <string.h>
#include "java-methods.h"
#include "tap.h"

/* The frame at @at of the inner method ends @words above sp; bp is saved there, or not. */
static void expect(unsigned int at, unsigned int words, bool saved)
{
	memset(java.stack, 0, sizeof(java.stack));
	java.stack[words - 1] = java_called();
	if (saved)
		java.stack[words - 2] = 0x1234;
	java.u.regs.value[HYBRID_X86_64_BP] = saved ? 1 : 0x1234;
	java_pass();
	java_unwind(java_code_at(JAVA_INNER) + at);
	check(java.u.nr >= 2);
	same(java.frames[0].cfa, JAVA_STACK + 8 * words);
	same(java.frames[1].ret, java_called());
	same(java.frames[1].cfa, JAVA_STACK + 8 * words + JAVA_FRAME);
	check(java.u.sure >= 2);
}

static void test_pushed(void)
{
	java_begin_method(java_pushed, sizeof(java_pushed), 12);
	expect(0, 1, false);
	expect(7, 1, false);
	expect(8, 2, true);
	expect(12, 6, true);
	expect(16, 6, true);
	expect(20, 2, true);
	expect(21, 1, false);
	expect(28, 1, false);
	expect(34, 1, false);
	java_end();
}

static void test_moved(void)
{
	java_begin_method(java_moved, sizeof(java_moved), 9);
	expect(0, 1, false);
	expect(4, 6, false);
	expect(9, 6, true);
	java_end();
}

/* Its place is used again, or the method is gone. */
static void test_freed(void)
{
	java_begin_method(java_pushed, sizeof(java_pushed), 12);
	expect(12, 6, true);
	java_add(JAVA_INNER, "nmethod", java_pushed, sizeof(java_pushed))->complete = 12;
	((struct java_test_blob *)(JAVA_CODE + JAVA_INNER + 8))->frame_size = 8;
	expect(12, 8, true);
	java_remove(JAVA_INNER);
	java_pass();
	java_unwind(java_code_at(JAVA_INNER) + 12);
	check(java.u.nr == 1 || java.u.sure == 1);
	java_end();
}

/* What another method has called has a frame of another size. */
static void test_callers(void)
{
	java_begin_method(java_pushed, sizeof(java_pushed), 12);
	java.stack[5] = java_called();
	java.stack[5 + JAVA_FRAME / 8] = java_called();
	java_unwind(java_code_at(JAVA_INNER) + 12);
	check(java.u.nr >= 3);
	same(java.frames[2].ret, java_called());
	java_end();
}

/* pop %rax; pop %r10: the caller has pushed two words, which its frame does not count. */
static void test_pushed_words(void)
{
	static const u8 pops[] = { 0x58, 0x41, 0x5a };

	java_begin_method(java_pushed, sizeof(java_pushed), 12);
	memcpy((void *)java_called(), pops, sizeof(pops));
	java.stack[5] = java_called();
	java.stack[5 + JAVA_FRAME / 8] = java_code_at(JAVA_OUTER) + 8;
	java.stack[5 + JAVA_FRAME / 8 + 2] = java_called();
	java_unwind(java_code_at(JAVA_INNER) + 12);
	check(java.u.nr >= 3);
	same(java.frames[2].ret, java_called());
	java_end();
}

/* A method may push words before its instructions: the return address is that of code. */
static void test_pushed_within(void)
{
	unsigned int i;

	for (i = 0; i <= HYBRID_WALK_PUSHED + 1; i++) {
		java_begin_method(java_pushed, sizeof(java_pushed), 12);
		java.stack[5 + i] = java_called();
		java_unwind(java_code_at(JAVA_INNER) + 14);
		same(java.u.nr >= 2 && java.frames[1].ret == java_called(),
		     i <= HYBRID_WALK_PUSHED);
		if (i <= HYBRID_WALK_PUSHED)
			same(java.frames[0].cfa, JAVA_STACK + JAVA_FRAME + 8 * i);
		java_end();
	}
}

static void test_range(void)
{
	struct hybrid_runtime_range range;
	u64 interpreter;

	java_begin_interpreted();
	interpreter = java_code_at(JAVA_INTERPRETER);
	check(!java_range_at(interpreter + JAVA_ENTRY_SAVE, &range));
	check(java_range_at(interpreter + JAVA_LOOP, &range));
	check(!range.compiled);
	same(range.start, interpreter + JAVA_ENTRY_WHOLE);
	same(range.rule.kind, HYBRID_RULE_SAVED_SP);
	java_end();
}

/* Calls of read(), pread() and the like so far; -1 if the kernel does not count them. */
static long nr_reads(void)
{
	char line[64];
	long nr = -1;
	FILE *io = fopen("/proc/self/io", "r");

	while (io && fgets(line, sizeof(line), io))
		sscanf(line, "syscr: %ld", &nr);
	if (io)
		fclose(io);
	return nr;
}

/* They have hundreds of names, which took several reads each. */
static void test_tables(void)
{
	long before;

	java_begin_method(java_pushed, sizeof(java_pushed), 12);
	before = nr_reads();
	expect(12, 6, true);
	/* A page takes two. An analysis of code reads some 16 pages. */
	check(before < 0 || nr_reads() - before < 300);
	java_end();
}

static const struct tap_test tests[] = {
	{ "a method that pushes bp", test_pushed },
	{ "a method that stores bp", test_moved },
	{ "a method that is gone, and another in its place", test_freed },
	{ "callers", test_callers },
	{ "a caller that has pushed words", test_pushed_words },
	{ "a method that has pushed words", test_pushed_within },
	{ "ranges with one rule", test_range },
	{ "tables are read by pages", test_tables },
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
