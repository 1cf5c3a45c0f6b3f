// SPDX-License-Identifier: GPL-2.0
/*
 * Frames of a JVM, by what the process says of its code: this one.
 */
#include <stdio.h>
#include <string.h>
#include <linux/perf_unwind_rules.h>
#include "abi.h"
#include "batch.h"
#include "../hybrid/bpf_skel/java-code.h"
#include "java-world.h"
#include "../hybrid/runtime/java/vm-structs.h"
#include "tap.h"

#define INNER	0x1000
#define OUTER	0x2000
#define INTERP	0x3000
#define STUB	0x4000

/* Where a call ends in outer(). */
#define CALLED	48

#define R13	13
#define RBX	3

/* mov %eax,-0x1000(%rsp); push %rbp; sub $32,%rsp; nop; add; pop; cmp 8(%r15),%rsp; ja; ret */
static const u8 pushed[] = {
	0x89, 0x84, 0x24, 0x00, 0xf0, 0xff, 0xff,
	0x55, 0x48, 0x83, 0xec, 0x20,
	0x90, 0x90, 0x90, 0x90,
	0x48, 0x83, 0xc4, 0x20,
	0x5d,
	0x49, 0x3b, 0xa7, 0x08, 0x00, 0x00, 0x00,
	0x0f, 0x87, 0x00, 0x00, 0x00, 0x00,
	0xc3,
};

/* sub $40,%rsp; mov %rbp,32(%rsp); nop */
static const u8 moved[] = {
	0x48, 0x83, 0xec, 0x28, 0x48, 0x89, 0x6c, 0x24, 0x20, 0x90, 0x90,
};

/* pop %rax; mov %rsp,%r13; sub $32,%rsp; mov %rax,(%rsp); jmp *%rcx */
static const u8 adapter[] = {
	0x48, 0x83, 0x7b, 0x48, 0x00, 0x58, 0x49, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20,
	0x48, 0x89, 0x04, 0x24, 0xff, 0xe1,
};

/* mov 0x618(%r15),%rsp; push %rax; sub $16,%rsp */
static const u8 barrier[] = {
	0x49, 0x8b, 0xa7, 0x18, 0x06, 0x00, 0x00, 0x50, 0x48, 0x83, 0xec, 0x10, 0x90,
};

/* A method with a call to @to. */
static void add_outer(u64 to)
{
	u8 code[64];
	u64 at;
	s32 disp;

	memset(code, 0x90, sizeof(code));
	java_add(OUTER, "nmethod", code, sizeof(code));
	at = java_code_at(OUTER);
	disp = to - (at + CALLED);
	code[CALLED - 5] = 0xe8;
	memcpy(code + CALLED - 4, &disp, sizeof(disp));
	memcpy((void *)at, code, sizeof(code));
}

static u64 called(void)
{
	return java_code_at(OUTER) + CALLED;
}

/* Two methods: the inner one has that code, and its frame is whole behind @complete bytes. */
static void begin(const u8 *code, unsigned int size, s16 complete)
{
	java_begin();
	java_add(INNER, "nmethod", code, size)->complete = complete;
	add_outer(java_code_at(INNER));
}

/* The frame at @at of the inner method ends @words above sp; bp is saved there, or not. */
static void expect(unsigned int at, unsigned int words, bool saved)
{
	memset(java.stack, 0, sizeof(java.stack));
	java.stack[words - 1] = called();
	if (saved)
		java.stack[words - 2] = 0x1234;
	java.u.regs.value[HYBRID_X86_64_BP] = saved ? 1 : 0x1234;
	java_pass();
	java_unwind(java_code_at(INNER) + at);
	check(java.u.nr >= 2);
	same(java.frames[0].cfa, JAVA_STACK + 8 * words);
	same(java.frames[1].ret, called());
	same(java.frames[1].cfa, JAVA_STACK + 8 * words + JAVA_FRAME);
	check(java.u.sure >= 2);
}

static void test_pushed(void)
{
	begin(pushed, sizeof(pushed), 12);
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
	begin(moved, sizeof(moved), 9);
	expect(0, 1, false);
	expect(4, 6, false);
	expect(9, 6, true);
	java_end();
}

/* Its place is used again, or the method is gone. */
static void test_freed(void)
{
	begin(pushed, sizeof(pushed), 12);
	expect(12, 6, true);
	java_add(INNER, "nmethod", pushed, sizeof(pushed))->complete = 12;
	((struct java_test_blob *)(JAVA_CODE + INNER + 8))->frame_size = 8;
	expect(12, 8, true);
	java_remove(INNER);
	java_pass();
	java_unwind(java_code_at(INNER) + 12);
	check(java.u.nr == 1 || java.u.sure == 1);
	java_end();
}

/* What another method has called has a frame of another size. */
static void test_callers(void)
{
	begin(pushed, sizeof(pushed), 12);
	java.stack[5] = called();
	java.stack[5 + JAVA_FRAME / 8] = called();
	java_unwind(java_code_at(INNER) + 12);
	check(java.u.nr >= 3);
	same(java.frames[2].ret, called());
	java_end();
}

/* pop %rax; pop %r10: the caller has pushed two words, which its frame does not count. */
static void test_pushed_words(void)
{
	static const u8 pops[] = { 0x58, 0x41, 0x5a };

	begin(pushed, sizeof(pushed), 12);
	memcpy((void *)called(), pops, sizeof(pops));
	java.stack[5] = called();
	java.stack[5 + JAVA_FRAME / 8] = java_code_at(OUTER) + 8;
	java.stack[5 + JAVA_FRAME / 8 + 2] = called();
	java_unwind(java_code_at(INNER) + 12);
	check(java.u.nr >= 3);
	same(java.frames[2].ret, called());
	java_end();
}

/* The frame of the interpreter at stack word @bp, whose caller's sp is at word @sp. */
static void put_interpreted(unsigned int bp, unsigned int sp, u64 ret)
{
	java.stack[bp] = 0x5678;
	java.stack[bp + 1] = ret;
	java.stack[bp - 1] = JAVA_STACK + 8 * sp;
	java.stack[bp - 3] = 0xabc0;
	java.stack[bp - 8] = 0xdef;
}

static void begin_interpreter(void)
{
	begin(pushed, sizeof(pushed), 12);
	java_add_interpreter(INTERP);
}

static void test_interpreter(void)
{
	begin_interpreter();
	put_interpreted(10, 14, called());
	java.stack[14 + JAVA_FRAME / 8 - 1] = called();
	java.u.regs.value[HYBRID_X86_64_BP] = JAVA_STACK + 80;
	java.u.regs.value[R13] = 0x777;
	java_unwind(java_code_at(INTERP) + JAVA_LOOP);
	check(java.u.nr >= 2);
	same(java.frames[0].cfa, JAVA_STACK + 8 * 14);
	same(java.frames[0].function, 0xabc0);
	same(java.frames[0].position, 0x777);
	same(java.frames[1].ret, called());
	same(java.frames[1].cfa, JAVA_STACK + 8 * 14 + JAVA_FRAME);
	same(java.frames[1].function, 0);

	/* Where the caller's sp is below the frame or far above it, the code tells of bp alone. */
	java.stack[9] = JAVA_STACK;
	java_unwind(java_code_at(INTERP) + JAVA_LOOP);
	same(java.frames[0].cfa, JAVA_STACK + 8 * 12);
	same(java.frames[0].function, 0);
	java.stack[9] = JAVA_STACK + (2 << 20);
	java_unwind(java_code_at(INTERP) + JAVA_LOOP);
	same(java.frames[0].cfa, JAVA_STACK + 8 * 12);
	java_end();
}

/* Where the method's caller is compiled, and its sp is in r13. */
static void expect_entry(unsigned int at, unsigned int ra, bool known)
{
	memset(java.stack, 0, sizeof(java.stack));
	java.stack[ra] = called();
	java.u.regs.value[R13] = JAVA_STACK + 8 * 12;
	java_pass();
	java_unwind(java_code_at(INTERP) + at);
	if (!known) {
		same(java.u.sure, 1);
		return;
	}
	check(java.u.sure >= 2);
	same(java.frames[0].cfa, JAVA_STACK + 8 * 12);
	same(java.frames[1].ret, called());
}

static void test_entry(void)
{
	begin_interpreter();
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
	begin_interpreter();
	java.u.regs.value[RBX] = JAVA_STACK + 8 * 12;
	java.u.regs.value[HYBRID_X86_64_BP] = 0x1234;
	java.stack[0] = called();
	java_unwind(java_code_at(INTERP) + JAVA_LEAVE + 1);
	check(java.u.sure >= 2);
	same(java.frames[0].cfa, JAVA_STACK + 8 * 12);
	/* The return address is in r13. */
	java_unwind(java_code_at(INTERP) + JAVA_LEAVE + 3);
	same(java.u.sure, 1);
	java_end();
}

static void test_adapter(void)
{
	begin(pushed, sizeof(pushed), 12);
	java_add(INTERP, "I2C/C2I adapters", adapter, sizeof(adapter))->frame_size = 0;
	java.u.regs.value[R13] = JAVA_STACK + 8 * 7;
	java.stack[0] = called();
	java_unwind(java_code_at(INTERP) + 5);
	same(java.frames[0].cfa, JAVA_STACK + 8);
	check(java.u.sure >= 2);
	java_unwind(java_code_at(INTERP) + 6);
	same(java.u.sure, 1);
	java_unwind(java_code_at(INTERP) + 17);
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
	begin(pushed, sizeof(pushed), 12);
	java_add(INTERP, "MethodHandles adapters", handles, sizeof(handles))->frame_size = 0;
	java.u.regs.value[R13] = JAVA_STACK + 8 * 7;
	java.stack[0] = called();
	java_unwind(java_code_at(INTERP) + 4);
	same(java.frames[0].cfa, JAVA_STACK + 8 * 7);
	check(java.u.sure >= 2);
	java_unwind(java_code_at(INTERP) + 7);
	same(java.frames[0].cfa, JAVA_STACK + 8 * 7);
	check(java.u.sure >= 2);
	/* The return address is in a register. */
	java_unwind(java_code_at(INTERP) + 5);
	same(java.u.sure, 1);
	java_unwind(java_code_at(INTERP) + 6);
	same(java.u.sure, 1);
	java_end();
}

/* The rest of a virtual thread's frames are in the heap. */
static void test_barrier(void)
{
	u64 *return_pc;

	begin(pushed, sizeof(pushed), 12);
	java_add(INTERP, "StubRoutines (1)", barrier, sizeof(barrier))->frame_size = 0;
	return_pc = java_return_pc();
	*return_pc = called();
	java.stack[5] = java_code_at(INTERP);
	/* Behind a word that aligns it, the frame of what has entered the thread. */
	java.stack[6 + 1 + JAVA_FRAME / 8 - 1] = called();
	java_unwind(java_code_at(INNER) + 12);
	check(java.u.nr >= 3);
	same(java.frames[1].ret, java_code_at(INTERP));
	same(java.frames[2].ret, called());
	same(java.frames[1].cfa, JAVA_STACK + 8 * 7 + JAVA_FRAME);
	java_end();
}

/* As JDK 21 has it: the tables have neither the stub nor the method that enters the thread. */
static void test_barrier_alone(void)
{
	begin(pushed, sizeof(pushed), 12);
	java_drop_field("_cont_entry");
	java_drop_field("_return_pc");
	java_add(INTERP, "StubRoutines (continuation stubs)", barrier, sizeof(barrier))
		->frame_size = 0;
	java.stack[5] = java_code_at(INTERP);
	/* An address of code that calls nothing; and that of a call, but of no native method. */
	java.stack[7] = called() + 4;
	java.stack[15] = called();
	java_unwind(java_code_at(INNER) + 12);
	same(java.u.nr, 2);
	java_pass();
	java_add(INNER, "native nmethod", pushed, sizeof(pushed))->complete = 12;
	java_unwind(java_code_at(INNER) + 12);
	check(java.u.nr >= 3);
	same(java.frames[1].cfa, JAVA_STACK + 8 * 16);
	same(java.frames[2].ret, called());
	java_end();
}

/* The same, if what has called it is interpreted. */
static void test_barrier_interpreted(void)
{
	begin(pushed, sizeof(pushed), 12);
	java_drop_field("_cont_entry");
	java_drop_field("_return_pc");
	java_add_interpreter(INTERP);
	java_add(STUB, "StubRoutines (continuation stubs)", barrier, sizeof(barrier))
		->frame_size = 0;
	java.stack[5] = java_code_at(STUB);
	java.stack[7] = java_code_at(INTERP) + JAVA_LOOP;
	java.stack[14] = JAVA_STACK + 8 * 20;
	java.stack[15] = java_code_at(INTERP) + JAVA_LOOP;
	java_unwind(java_code_at(INNER) + 12);
	check(java.u.nr >= 3);
	same(java.frames[1].cfa, JAVA_STACK + 8 * 16);
	same(java.frames[2].ret, java_code_at(INTERP) + JAVA_LOOP);
	java_end();
}

/* A method may push words before its instructions: the return address is that of code. */
static void test_pushed_within(void)
{
	unsigned int i;

	for (i = 0; i <= HYBRID_WALK_PUSHED + 1; i++) {
		begin(pushed, sizeof(pushed), 12);
		java.stack[5 + i] = called();
		java_unwind(java_code_at(INNER) + 14);
		same(java.u.nr >= 2 && java.frames[1].ret == called(), i <= HYBRID_WALK_PUSHED);
		if (i <= HYBRID_WALK_PUSHED)
			same(java.frames[0].cfa, JAVA_STACK + JAVA_FRAME + 8 * i);
		java_end();
	}
}

/* push $-1; push %rbp; mov %rsp,%rbp; push %rdi; lea 24(%rsp),%rdi; call *%rax */
static const u8 entry_barrier[] = {
	0x68, 0xff, 0xff, 0xff, 0xff, 0x55, 0x48, 0x8b, 0xec, 0x57,
	0x48, 0x8d, 0x7c, 0x24, 0x18, 0xff, 0xd0, 0x90,
};

/* What a method has called before it begins has a word more in its frame. */
static void test_entry_barrier(void)
{
	begin(pushed, sizeof(pushed), 12);
	java_add(INTERP, "StubRoutines (1)", entry_barrier, sizeof(entry_barrier))->frame_size = 0;
	java.stack[5] = java_code_at(INTERP) + 17;
	java.stack[4] = JAVA_STACK + 8 * 8;
	java.stack[8] = 0x1234;
	java.stack[10] = called();
	java_unwind(java_code_at(INNER) + 12);
	check(java.u.nr >= 3);
	same(java.frames[1].cfa, JAVA_STACK + 8 * 11);
	same(java.frames[2].ret, called());
	java_end();
}

static bool range_at(u64 ip, struct hybrid_runtime_range *range)
{
	java.frames[0] = (struct hybrid_frame) { .ip = ip, .ret = ip };
	java_pass();
	return hybrid_runtime_range(java.unwinder.runtimes, &java.u, 0, range);
}

static void test_range(void)
{
	struct hybrid_runtime_range range;
	u64 interpreter;

	begin_interpreter();
	interpreter = java_code_at(INTERP);
	check(!range_at(interpreter + JAVA_ENTRY_SAVE, &range));
	check(range_at(interpreter + JAVA_LOOP, &range));
	check(!range.jvm);
	same(range.start, interpreter + JAVA_ENTRY_WHOLE);
	same(range.rule.kind, HYBRID_RULE_SAVED_SP);
	java_end();
}

/* A field of the block at @block, as a walker in the kernel reads it. */
static s64 field_at(u64 block, struct hybrid_walk_field field)
{
	const struct java_field from = { 0, field.size, field.is_signed };
	s64 value = 0;

	check(java_field_value(&from, (void *)(block + field.offset), field.size, &value));
	return value;
}

/* What a walker needs to find methods by itself, whichever of them samples meet. */
static void test_described(void)
{
	const struct hybrid_walk_jvm *jvm;
	struct hybrid_runtime_range range;
	u64 block = JAVA_CODE + INNER;

	begin(pushed, sizeof(pushed), 12);
	java_add(INTERP, "I2C/C2I adapters", adapter, sizeof(adapter))->frame_size = 0;
	check(!range_at(java_code_at(INTERP) + 5, &range));
	check(range_at(java_code_at(INNER) + 12, &range));
	jvm = range.jvm;
	check(jvm);
	same(jvm->heaps[0].low, JAVA_CODE);
	same(jvm->heaps[0].size, JAVA_CODE_SIZE);
	same(jvm->heaps[0].segmap, (u64)java_segment(0));
	same(1U << jvm->heaps[0].segment_bits, JAVA_SEGMENT);
	same(jvm->heaps[1].size, 0);
	check(jvm->size <= HYBRID_WALK_BLOB);
	same(field_at(block, jvm->used), 1);
	check(!strcmp((char *)field_at(block, jvm->name), "nmethod"));
	same(field_at(block, jvm->frame_complete), 12);
	same(field_at(block, jvm->frame_size), JAVA_FRAME / 8);
	same(field_at(block, jvm->code_begin), java_code_at(INNER));
	same(block + jvm->header + field_at(block, jvm->data_offset),
	     java_code_at(INNER) + sizeof(pushed));
	same(field_at(block, jvm->osr_entry), 0);
	same((s16)field_at(block, jvm->entry_bci), -1);
	java_end();
}

/* A heap of code grows: whoever knows it finds methods in the new part, too. */
static void test_growing(void)
{
	struct hybrid_runtime_range range;

	java_begin();
	java_commit(OUTER);
	java_add(INNER, "nmethod", pushed, sizeof(pushed))->complete = 12;
	check(range_at(java_code_at(INNER) + 12, &range) && range.jvm);
	if (range.jvm) {
		same(range.jvm->heaps[0].low, JAVA_CODE);
		same(range.jvm->heaps[0].size, JAVA_CODE_SIZE);
	}
	check(!range_at(called(), &range));
	add_outer(java_code_at(INNER));
	java_commit(JAVA_CODE_SIZE);
	check(range_at(called(), &range) && range.jvm);
	java_end();
}

/* What is known from before does not have perf look at the process all the time. */
static void test_known(void)
{
	struct hybrid_runtime_range range;
	unsigned int i;

	begin_interpreter();
	for (i = 0; i < 100; i++) {
		check(range_at(called(), &range));
		same(hybrid_memory_is_asked(java.unwinder.memory), i < 4);
	}
	/* Another method in its place; and none. */
	java_add(OUTER, "nmethod", pushed, sizeof(pushed))->compile_id = 4711;
	check(range_at(java_code_at(OUTER) + 12, &range));
	check(hybrid_memory_is_asked(java.unwinder.memory));
	check(!range_at(called(), &range));
	java_remove(OUTER);
	check(!range_at(java_code_at(OUTER) + 12, &range));
	java_end();
}

/* The JVM has ended: of a method that was read before other addresses are met. */
static void test_gone(void)
{
	struct hybrid_runtime_range range;
	u8 code[256];

	memset(code, 0x90, sizeof(code));
	begin_interpreter();
	java_add(OUTER, "nmethod", code, sizeof(code));
	check(range_at(java_code_at(OUTER) + 10, &range));
	java_gone();
	java_pass();
	check(range_at(java_code_at(OUTER) + sizeof(code) - 10, &range));
	check(!range_at(java_code_at(OUTER) + sizeof(code) + 10, &range));
	java_end();
}

/* The row that a walker finds for an address of the inner method. */
static u64 row_at(const u8 *code, unsigned int at, unsigned int complete)
{
	u8 near[HYBRID_JAVA_ROOM] = {};
	unsigned int end;
	u64 row = 0;

	/* What stands before the code is the blob. */
	if (at >= complete) {
		memcpy(near + (at < HYBRID_JAVA_LEFT ? HYBRID_JAVA_LEFT - at : 0),
		       code + (at < HYBRID_JAVA_LEFT ? 0 : at - HYBRID_JAVA_LEFT),
		       min(at, (unsigned int)HYBRID_JAVA_LEFT));
		return hybrid_java_body_row(near, JAVA_FRAME);
	}
	memcpy(near + HYBRID_JAVA_MADE - complete, code, complete);
	for (end = HYBRID_JAVA_MADE; end > HYBRID_JAVA_SAVED && !row; end--)
		row = hybrid_java_prologue_row(near, end, HYBRID_JAVA_MADE - complete + at,
					       JAVA_FRAME);
	return row;
}

/* A walker's rows are the rules by which perf walks. */
static void compare_rows(const u8 *code, unsigned int size, unsigned int complete)
{
	struct perf_unwind_rule to;
	struct hybrid_rule rule;
	unsigned int at;

	begin(code, size, complete);
	for (at = 0; at < size; at++) {
		/* Within an instruction. */
		if (code == moved && at && at < 4)
			continue;
		java.frames[0] = (struct hybrid_frame) {
			.ip = java_code_at(INNER) + at, .ret = java_code_at(INNER) + at,
		};
		java_pass();
		check(hybrid_runtime_rule(java.unwinder.runtimes, &java.u, 0, &rule));
		hybrid_batch_code_rule(&hybrid_abi_64, &rule, true, &to);
		same(HYBRID_WALK_KIND(row_at(code, at, complete)), to.kind);
		same(HYBRID_WALK_CFA_OFF(row_at(code, at, complete)), to.cfa_off);
		same(HYBRID_WALK_BASE(row_at(code, at, complete)), to.base);
		same(HYBRID_WALK_BP(row_at(code, at, complete)), to.fp);
		if (to.fp == PERF_UNWIND_FP_AT_CFA)
			same(HYBRID_WALK_BP_OFF(row_at(code, at, complete)), to.fp_off);
	}
	java_end();
}

/* As pushed[], with the operands of other sizes, a barrier, and what JDK 15 and before have. */
static const u8 large[] = {
	0x55, 0x48, 0x8b, 0xec, 0x48, 0x81, 0xec, 0x20, 0x00, 0x00, 0x00,
	0x41, 0x81, 0x7f, 0x20, 0x01, 0x00, 0x00, 0x00, 0x0f, 0x85, 0x00, 0x00, 0x00, 0x00,
	0x90, 0x48, 0x81, 0xc4, 0x20, 0x00, 0x00, 0x00, 0x5d,
	0x4d, 0x8b, 0x97, 0x08, 0x01, 0x00, 0x00, 0x41, 0x85, 0x02, 0xc3,
	0x90, 0x48, 0x83, 0xc4, 0x20, 0x5d, 0x49, 0x3b, 0x67, 0x08,
	0x0f, 0x87, 0x00, 0x00, 0x00, 0x00, 0xc3,
	0x90, 0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3,
	0xc7, 0x81, 0x10, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xc9, 0xc3, 0x90,
};

/* mov %ecx,%r9d; add %ecx,%r9d; and a look at the safepoint's word after them, in a loop. */
static const u8 no_leave[] = {
	0x55, 0x48, 0x8b, 0xec, 0x48, 0x83, 0xec, 0x20, 0x90,
	0x44, 0x8b, 0xc9, 0x44, 0x03, 0xc9, 0x4d, 0x8b, 0x97, 0x08, 0x01, 0x00, 0x00,
	0x41, 0x85, 0x02, 0x90,
};

/* Instructions that end as leave does leave no frame. */
static void test_no_leave(void)
{
	static const u8 ends[] = { 12, 15, 22, 25 };
	struct hybrid_rule rule;
	unsigned int i;

	begin(no_leave, sizeof(no_leave), 9);
	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		java.frames[0] = (struct hybrid_frame) {
			.ip = java_code_at(INNER) + ends[i], .ret = java_code_at(INNER) + ends[i],
		};
		java_pass();
		check(hybrid_runtime_rule(java.unwinder.runtimes, &java.u, 0, &rule));
		same(rule.cfa_off, JAVA_FRAME);
	}
	java_end();
	compare_rows(no_leave, sizeof(no_leave), 9);
}

static void test_rows(void)
{
	compare_rows(pushed, sizeof(pushed), 12);
	compare_rows(moved, sizeof(moved), 9);
	compare_rows(large, sizeof(large), 25);
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

	begin(pushed, sizeof(pushed), 12);
	before = nr_reads();
	expect(12, 6, true);
	/* A page takes two. */
	check(before < 0 || nr_reads() - before < 200);
	java_end();
}

static const struct tap_test tests[] = {
	{ "a method that pushes bp", test_pushed },
	{ "a method that stores bp", test_moved },
	{ "a method that is gone, and another in its place", test_freed },
	{ "callers", test_callers },
	{ "a caller that has pushed words", test_pushed_words },
	{ "a method that has pushed words", test_pushed_within },
	{ "a frame of the interpreter", test_interpreter },
	{ "a method begins to be interpreted", test_entry },
	{ "the interpreter leaves a frame", test_leave },
	{ "between interpreted and compiled code", test_adapter },
	{ "a call by a method handle", test_handles },
	{ "a virtual thread", test_barrier },
	{ "a virtual thread of JDK 21", test_barrier_alone },
	{ "a virtual thread that is entered by an interpreted method", test_barrier_interpreted },
	{ "a method's entry barrier", test_entry_barrier },
	{ "ranges with one rule", test_range },
	{ "methods that a walker finds by itself", test_described },
	{ "a heap that grows", test_growing },
	{ "what is known from before", test_known },
	{ "addresses of a method that is known, when the JVM has ended", test_gone },
	{ "tables are read by pages", test_tables },
	{ "instructions that end as leave does", test_no_leave },
	{ "rows that a walker finds for each address of a method", test_rows },
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
