// SPDX-License-Identifier: GPL-2.0
/*
 * What a walker in the kernel is told of a JVM, and the rows that it finds.
 */
#include <string.h>
#include <linux/perf_unwind_rules.h>
#include "abi.h"
#include "batch.h"
#include "../hybrid/runtime/java/java-code.h"
#include "java-methods.h"
#include "../hybrid/runtime/java/vm-structs.h"
#include "tap.h"

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
	const struct hybrid_walk_compiled *jvm;
	struct hybrid_runtime_range range;
	u64 block = JAVA_CODE + JAVA_INNER;

	java_begin_method(java_pushed, sizeof(java_pushed), 12);
	java_add(JAVA_INTERPRETER, "I2C/C2I adapters", java_adapter, sizeof(java_adapter))
		->frame_size = 0;
	check(!java_range_at(java_code_at(JAVA_INTERPRETER) + 5, &range));
	check(java_range_at(java_code_at(JAVA_INNER) + 12, &range));
	jvm = range.compiled;
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
	same(field_at(block, jvm->code_begin), java_code_at(JAVA_INNER));
	same(block + jvm->header + field_at(block, jvm->data_offset),
	     java_code_at(JAVA_INNER) + sizeof(java_pushed));
	same(field_at(block, jvm->osr_entry), 0);
	same((s16)field_at(block, jvm->entry_bci), -1);
	java_end();
}

/* A heap of code grows: whoever knows it finds methods in the new part, too. */
static void test_growing(void)
{
	struct hybrid_runtime_range range;

	java_begin();
	java_commit(JAVA_OUTER);
	java_add(JAVA_INNER, "nmethod", java_pushed, sizeof(java_pushed))->complete = 12;
	check(java_range_at(java_code_at(JAVA_INNER) + 12, &range) && range.compiled);
	if (range.compiled) {
		same(range.compiled->heaps[0].low, JAVA_CODE);
		same(range.compiled->heaps[0].size, JAVA_CODE_SIZE);
	}
	check(!java_range_at(java_called(), &range));
	java_add_outer(java_code_at(JAVA_INNER));
	java_commit(JAVA_CODE_SIZE);
	check(java_range_at(java_called(), &range) && range.compiled);
	java_end();
}

/* What is known from before does not have perf look at the process all the time. */
static void test_known(void)
{
	struct hybrid_runtime_range range;
	unsigned int i;

	java_begin_interpreted();
	for (i = 0; i < 100; i++) {
		check(java_range_at(java_called(), &range));
		same(hybrid_memory_is_asked(java.unwinder.memory), i < 4);
	}
	/* Another method in its place; and none. */
	java_add(JAVA_OUTER, "nmethod", java_pushed, sizeof(java_pushed))->compile_id = 4711;
	check(java_range_at(java_code_at(JAVA_OUTER) + 12, &range));
	check(hybrid_memory_is_asked(java.unwinder.memory));
	check(!java_range_at(java_called(), &range));
	java_remove(JAVA_OUTER);
	check(!java_range_at(java_code_at(JAVA_OUTER) + 12, &range));
	java_end();
}

/* The JVM has ended: of a method that was read before other addresses are met. */
static void test_gone(void)
{
	struct hybrid_runtime_range range;
	u8 code[256];

	memset(code, 0x90, sizeof(code));
	java_begin_interpreted();
	java_add(JAVA_OUTER, "nmethod", code, sizeof(code));
	check(java_range_at(java_code_at(JAVA_OUTER) + 10, &range));
	java_gone();
	java_pass();
	check(java_range_at(java_code_at(JAVA_OUTER) + sizeof(code) - 10, &range));
	check(!java_range_at(java_code_at(JAVA_OUTER) + sizeof(code) + 10, &range));
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

	java_begin_method(code, size, complete);
	for (at = 0; at < size; at++) {
		/* Within an instruction. */
		if (code == java_moved && at && at < 4)
			continue;
		java.frames[0] = (struct hybrid_frame) {
			.ip = java_code_at(JAVA_INNER) + at, .ret = java_code_at(JAVA_INNER) + at,
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

/* As java_pushed[], with operands of other sizes, a barrier, and what JDK 15 and before have. */
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
	u64 ip;

	java_begin_method(no_leave, sizeof(no_leave), 9);
	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		ip = java_code_at(JAVA_INNER) + ends[i];
		java.frames[0] = (struct hybrid_frame) { .ip = ip, .ret = ip };
		java_pass();
		check(hybrid_runtime_rule(java.unwinder.runtimes, &java.u, 0, &rule));
		same(rule.cfa_off, JAVA_FRAME);
	}
	java_end();
	compare_rows(no_leave, sizeof(no_leave), 9);
}

static void test_rows(void)
{
	compare_rows(java_pushed, sizeof(java_pushed), 12);
	compare_rows(java_moved, sizeof(java_moved), 9);
	compare_rows(large, sizeof(large), 25);
}

static const struct tap_test tests[] = {
	{ "methods that a walker finds by itself", test_described },
	{ "a heap that grows", test_growing },
	{ "what is known from before", test_known },
	{ "addresses of a method that is known, when the JVM has ended", test_gone },
	{ "instructions that end as leave does", test_no_leave },
	{ "rows that a walker finds for each address of a method", test_rows },
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
