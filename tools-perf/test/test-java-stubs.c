// SPDX-License-Identifier: GPL-2.0
/*
 * Frames of the interpreter of a JVM, and of the code between methods.
 */
#include <string.h>
#include "java-methods.h"
#include "tap.h"

/* mov 0x618(%r15),%rsp; push %rax; sub $16,%rsp */
static const u8 barrier[] = {
	0x49, 0x8b, 0xa7, 0x18, 0x06, 0x00, 0x00, 0x50, 0x48, 0x83, 0xec, 0x10, 0x90,
};

/* The frame of the interpreter at stack word @bp, whose caller's sp is at word @sp. */
static void put_interpreted(unsigned int bp, unsigned int sp, u64 ret)
{
	java.stack[bp] = 0x5678;
	java.stack[bp + 1] = ret;
	java.stack[bp - 1] = JAVA_STACK + 8 * sp;
	java.stack[bp - 3] = 0xabc0;
	java.stack[bp - 8] = 0xdef;
}

static void test_interpreter(void)
{
	java_begin_interpreted();
	put_interpreted(10, 14, java_called());
	java.stack[14 + JAVA_FRAME / 8 - 1] = java_called();
	java.u.regs.value[HYBRID_X86_64_BP] = JAVA_STACK + 80;
	java.u.regs.value[R13] = 0x777;
	java_unwind(java_code_at(JAVA_INTERPRETER) + JAVA_LOOP);
	check(java.u.nr >= 2);
	same(java.frames[0].cfa, JAVA_STACK + 8 * 14);
	same(java.frames[0].function, 0xabc0);
	same(java.frames[0].position, 0x777);
	same(java.frames[1].ret, java_called());
	same(java.frames[1].cfa, JAVA_STACK + 8 * 14 + JAVA_FRAME);
	same(java.frames[1].function, 0);

	/* Where the caller's sp is below the frame or far above it, the code tells of bp alone. */
	java.stack[9] = JAVA_STACK;
	java_unwind(java_code_at(JAVA_INTERPRETER) + JAVA_LOOP);
	same(java.frames[0].cfa, JAVA_STACK + 8 * 12);
	same(java.frames[0].function, 0);
	java.stack[9] = JAVA_STACK + (2 << 20);
	java_unwind(java_code_at(JAVA_INTERPRETER) + JAVA_LOOP);
	same(java.frames[0].cfa, JAVA_STACK + 8 * 12);
	java_end();
}

/* Where the method's caller is compiled, and its sp is in r13. */
static void expect_entry(unsigned int at, unsigned int ra, bool known)
{
	memset(java.stack, 0, sizeof(java.stack));
	java.stack[ra] = java_called();
	java.u.regs.value[R13] = JAVA_STACK + 8 * 12;
	java_pass();
	java_unwind(java_code_at(JAVA_INTERPRETER) + at);
	if (!known) {
		same(java.u.sure, 1);
		return;
	}
	check(java.u.sure >= 2);
	same(java.frames[0].cfa, JAVA_STACK + 8 * 12);
	same(java.frames[1].ret, java_called());
}

static void test_entry(void)
{
	java_begin_interpreted();
	java.u.regs.value[HYBRID_X86_64_BP] = 0x1234;
	expect_entry(JAVA_ENTRY_START, 0, true);
	expect_entry(JAVA_ENTRY_POP, 0, true);
	expect_entry(JAVA_ENTRY_PUSH, 0, false);
	expect_entry(JAVA_ENTRY_ENTER, 0, true);
	expect_entry(JAVA_ENTRY_ENTER + 1, 1, true);
	expect_entry(JAVA_ENTRY_SAVE, 1, true);
	java_end();
}

static void test_leave(void)
{
	java_begin_interpreted();
	java.u.regs.value[RBX] = JAVA_STACK + 8 * 12;
	java.u.regs.value[HYBRID_X86_64_BP] = 0x1234;
	java.stack[0] = java_called();
	java_unwind(java_code_at(JAVA_INTERPRETER) + JAVA_LEAVE + 1);
	check(java.u.sure >= 2);
	same(java.frames[0].cfa, JAVA_STACK + 8 * 12);
	/* The return address is in r13. */
	java_unwind(java_code_at(JAVA_INTERPRETER) + JAVA_LEAVE + 3);
	same(java.u.sure, 1);
	java_end();
}

static void test_adapter(void)
{
	java_begin_method(java_pushed, sizeof(java_pushed), 12);
	java_add(JAVA_INTERPRETER, "I2C/C2I adapters", java_adapter, sizeof(java_adapter))
		->frame_size = 0;
	java.u.regs.value[R13] = JAVA_STACK + 8 * 7;
	java.stack[0] = java_called();
	java_unwind(java_code_at(JAVA_INTERPRETER) + 5);
	same(java.frames[0].cfa, JAVA_STACK + 8);
	check(java.u.sure >= 2);
	java_unwind(java_code_at(JAVA_INTERPRETER) + 6);
	same(java.u.sure, 1);
	java_unwind(java_code_at(JAVA_INTERPRETER) + 17);
	same(java.frames[0].cfa, JAVA_STACK + 8 * 7);
	check(java.u.sure >= 2);
	java_end();
}

/* movzwl 46(%rdx),%edx; pop %rax; pop %rbx; push %rax; mov 20(%rcx),%ebx */
static const u8 handles[] = {
	0x0f, 0xb7, 0x52, 0x2e, 0x58, 0x5b, 0x50, 0x8b, 0x59, 0x14,
};

/* An interpreted call by a method handle: the caller may be compiled, with a frame of any size. */
static void test_handles(void)
{
	java_begin_method(java_pushed, sizeof(java_pushed), 12);
	java_add(JAVA_INTERPRETER, "MethodHandles adapters", handles, sizeof(handles))
		->frame_size = 0;
	java.u.regs.value[R13] = JAVA_STACK + 8 * 7;
	java.stack[0] = java_called();
	java_unwind(java_code_at(JAVA_INTERPRETER) + 4);
	same(java.frames[0].cfa, JAVA_STACK + 8 * 7);
	check(java.u.sure >= 2);
	java_unwind(java_code_at(JAVA_INTERPRETER) + 7);
	same(java.frames[0].cfa, JAVA_STACK + 8 * 7);
	check(java.u.sure >= 2);
	/* The return address is in a register. */
	java_unwind(java_code_at(JAVA_INTERPRETER) + 5);
	same(java.u.sure, 1);
	java_unwind(java_code_at(JAVA_INTERPRETER) + 6);
	same(java.u.sure, 1);
	java_end();
}

/* The rest of a virtual thread's frames are in the heap. */
static void test_barrier(void)
{
	u64 *return_pc;

	java_begin_method(java_pushed, sizeof(java_pushed), 12);
	java_add(JAVA_INTERPRETER, "StubRoutines (1)", barrier, sizeof(barrier))->frame_size = 0;
	return_pc = java_return_pc();
	*return_pc = java_called();
	java.stack[5] = java_code_at(JAVA_INTERPRETER);
	/* Behind a word that aligns it, the frame of what has entered the thread. */
	java.stack[6 + 1 + JAVA_FRAME / 8 - 1] = java_called();
	java_unwind(java_code_at(JAVA_INNER) + 12);
	check(java.u.nr >= 3);
	same(java.frames[1].ret, java_code_at(JAVA_INTERPRETER));
	same(java.frames[2].ret, java_called());
	same(java.frames[1].cfa, JAVA_STACK + 8 * 7 + JAVA_FRAME);
	java_end();
}

/* As JDK 21 has it: the tables have neither the stub nor the method that enters the thread. */
static void test_barrier_alone(void)
{
	java_begin_method(java_pushed, sizeof(java_pushed), 12);
	java_drop_field("_cont_entry");
	java_drop_field("_return_pc");
	java_add(JAVA_INTERPRETER, "StubRoutines (continuation stubs)", barrier, sizeof(barrier))
		->frame_size = 0;
	java.stack[5] = java_code_at(JAVA_INTERPRETER);
	/* An address of code that calls nothing; and that of a call, but of no native method. */
	java.stack[7] = java_called() + 4;
	java.stack[15] = java_called();
	java_unwind(java_code_at(JAVA_INNER) + 12);
	same(java.u.nr, 2);
	java_pass();
	java_add(JAVA_INNER, "native nmethod", java_pushed, sizeof(java_pushed))->complete = 12;
	java_unwind(java_code_at(JAVA_INNER) + 12);
	check(java.u.nr >= 3);
	same(java.frames[1].cfa, JAVA_STACK + 8 * 16);
	same(java.frames[2].ret, java_called());
	java_end();
}

/* The same, if what has called it is interpreted. */
static void test_barrier_interpreted(void)
{
	java_begin_method(java_pushed, sizeof(java_pushed), 12);
	java_drop_field("_cont_entry");
	java_drop_field("_return_pc");
	java_add_interpreter(JAVA_INTERPRETER);
	java_add(JAVA_STUB, "StubRoutines (continuation stubs)", barrier, sizeof(barrier))
		->frame_size = 0;
	java.stack[5] = java_code_at(JAVA_STUB);
	java.stack[7] = java_code_at(JAVA_INTERPRETER) + JAVA_LOOP;
	java.stack[14] = JAVA_STACK + 8 * 20;
	java.stack[15] = java_code_at(JAVA_INTERPRETER) + JAVA_LOOP;
	java_unwind(java_code_at(JAVA_INNER) + 12);
	check(java.u.nr >= 3);
	same(java.frames[1].cfa, JAVA_STACK + 8 * 16);
	same(java.frames[2].ret, java_code_at(JAVA_INTERPRETER) + JAVA_LOOP);
	java_end();
}

/* push $-1; push %rbp; mov %rsp,%rbp; push %rdi; lea 24(%rsp),%rdi; call *%rax */
static const u8 entry_barrier[] = {
	0x68, 0xff, 0xff, 0xff, 0xff, 0x55, 0x48, 0x8b, 0xec, 0x57,
	0x48, 0x8d, 0x7c, 0x24, 0x18, 0xff, 0xd0, 0x90,
};

/* What a method has called before it begins has a word more in its frame. */
static void test_entry_barrier(void)
{
	java_begin_method(java_pushed, sizeof(java_pushed), 12);
	java_add(JAVA_INTERPRETER, "StubRoutines (1)", entry_barrier, sizeof(entry_barrier))
		->frame_size = 0;
	java.stack[5] = java_code_at(JAVA_INTERPRETER) + 17;
	java.stack[4] = JAVA_STACK + 8 * 8;
	java.stack[8] = 0x1234;
	java.stack[10] = java_called();
	java_unwind(java_code_at(JAVA_INNER) + 12);
	check(java.u.nr >= 3);
	same(java.frames[1].cfa, JAVA_STACK + 8 * 11);
	same(java.frames[2].ret, java_called());
	java_end();
}

static const struct tap_test tests[] = {
	{ "a frame of the interpreter", test_interpreter },
	{ "a method begins to be interpreted", test_entry },
	{ "the interpreter leaves a frame", test_leave },
	{ "between interpreted and compiled code", test_adapter },
	{ "a call by a method handle", test_handles },
	{ "a virtual thread", test_barrier },
	{ "a virtual thread of JDK 21", test_barrier_alone },
	{ "a virtual thread that is entered by an interpreted method", test_barrier_interpreted },
	{ "a method's entry barrier", test_entry_barrier },
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
