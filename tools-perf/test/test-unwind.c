// SPDX-License-Identifier: GPL-2.0
/*
 * Stepping by rule over made-up stacks.
 */
#include <string.h>
#include "scene.h"
#include "tap.h"

#define BP	HYBRID_X86_64_BP

static struct scene s;

/* leaf() < pushed() < bpframe() < outer() */
static void start_chain(void)
{
	u64 bp = SCENE_STACK + 8 + 32;

	scene_start(&s, scene_at("leaf_at"));
	scene_reg(&s, BP, bp);
	scene_push(&s, scene_at("pushed_ret"));
	scene_push_pushed(&s, 0, scene_at("bpframe_ret"));
	scene_push_bpframe(&s, 0, scene_at("outer_ret"));
}

#define expect_chain()									\
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("leaf_at"),			\
		     scene_at("pushed_ret") - 1, scene_at("bpframe_ret") - 1,		\
		     scene_at("outer_ret") - 1)

static void chain(void)
{
	start_chain();
	scene_unwind(&s);
	expect_chain();
	same(s.frames[0].ret, scene_at("leaf_at"));
	same(s.frames[1].ret, scene_at("pushed_ret"));
	same(s.frames[0].cfa, SCENE_STACK + 8);
	same(s.frames[1].cfa, SCENE_STACK + 40);
	same(s.frames[2].cfa, SCENE_STACK + 56);
	same(s.frames[3].cfa, 0);
	same(s.u.sp, SCENE_STACK + 56);
	check(s.u.bp_known);
	same(s.u.bp, 0);
	same(s.u.rule.kind, HYBRID_RULE_OUTERMOST);
	/* From the caches now. */
	scene_unwind(&s);
	expect_chain();
}

/* At each boundary of prologue and epilogue. */
static void boundaries(void)
{
	scene_start(&s, scene_at("bpframe_entry"));
	scene_push(&s, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("bpframe_entry"),
		     scene_at("outer_ret") - 1);

	scene_start(&s, scene_at("bpframe_pushed"));
	scene_push_bpframe(&s, 0x1234, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("bpframe_pushed"),
		     scene_at("outer_ret") - 1);
	check(s.u.bp_known);
	same(s.u.bp, 0x1234);

	/* Behind leave, nobody has to look below the stack pointer. */
	scene_start(&s, scene_at("leaves_left"));
	scene_reg(&s, BP, 0x5678);
	scene_push(&s, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("leaves_left"),
		     scene_at("outer_ret") - 1);
	check(s.u.bp_known);
	same(s.u.bp, 0x5678);
}

static void truncated(void)
{
	static const unsigned int frames[] = { 1, 2, 2, 2, 2, 3, 3, 4 };
	u64 bytes;

	start_chain();
	for (bytes = 0; bytes < 56; bytes++) {
		s.u.dump_size = bytes;
		scene_unwind(&s);
		same(s.u.nr, frames[bytes / 8]);
		same(s.u.stop, HYBRID_STOP_DUMP_END);
		same(s.frames[0].cfa, SCENE_STACK + 8);
	}
	s.u.dump_size = 56;
	scene_unwind(&s);
	expect_chain();
}

static void limit(void)
{
	unsigned int max;

	start_chain();
	for (max = 1; max < 4; max++) {
		s.u.max_frames = max;
		memset(&s.frames[max], 0xee, sizeof(s.frames[max]));
		scene_unwind(&s);
		same(s.u.stop, HYBRID_STOP_LIMIT);
		same(s.u.nr, max);
		same(s.frames[max].ip, 0xeeeeeeeeeeeeeeee);
	}
	/* As many as there are is no limit. */
	s.u.max_frames = 4;
	scene_unwind(&s);
	expect_chain();
}

static void deep(void)
{
	unsigned int i;

	scene_start(&s, scene_at("leaf_at"));
	scene_push(&s, scene_at("pushed_ret"));
	for (i = 0; i < 1000; i++)
		scene_push_pushed(&s, 0, scene_at("pushed_ret"));
	scene_push_pushed(&s, 0, scene_at("outer_ret"));
	scene_unwind(&s);
	same(s.u.nr, 1003);
	same(s.u.stop, HYBRID_STOP_OUTERMOST);
	for (i = 2; i < 1000; i++)
		same(s.frames[i].cfa, s.frames[i - 1].cfa + 32);
}

/* Pages that the dump has not, of a stack that begins anywhere in its first one. */
static void holes(void)
{
	static const u64 shifts[] = { 0, 8, 2048, 4088 };
	unsigned int i, page;

	for (i = 0; i < ARRAY_SIZE(shifts); i++) {
		for (page = 1; page < 7; page++) {
			deep();
			s.u.dump_start += shifts[i];
			s.u.regs.value[HYBRID_X86_64_SP] = s.u.dump_start;
			s.u.holes = 1 << page;
			scene_unwind(&s);
			same(s.u.stop, HYBRID_STOP_DUMP_END);
			check(s.u.missing >= SCENE_STACK + page * 4096 &&
			      s.u.missing < SCENE_STACK + page * 4096 + 32);
			/* One that nothing is looked for in. */
			s.u.holes = 1 << 9;
			scene_unwind(&s);
			same(s.u.stop, HYBRID_STOP_OUTERMOST);
		}
	}
	s.u.holes = 0;
}

static void unaligned_dump(void)
{
	static u8 bytes[sizeof(s.stack) + 8];
	unsigned int shift;

	for (shift = 1; shift < 8; shift++) {
		start_chain();
		memcpy(bytes + shift, s.stack, s.u.dump_size);
		s.u.dump = bytes + shift;
		scene_unwind(&s);
		expect_chain();
	}
}

static void no_map(void)
{
	/* Not even the sampled address. */
	scene_start(&s, 0x1000);
	scene_push(&s, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_NO_MAP, 0x1000);
	check(!s.u.failed_in);

	/* A return address into nothing is none: the frame goes. */
	scene_start(&s, scene_at("leaf_at"));
	scene_push(&s, scene_at("pushed_ret"));
	scene_push_pushed(&s, 0, 0x1000);
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_NO_MAP, scene_at("leaf_at"), scene_at("pushed_ret") - 1);
	check(s.u.failed_in && strstr(s.u.failed_in->ident.path, "frames.so"));
	same(s.frames[1].cfa, SCENE_STACK + 40);

	/* The last byte of a mapping is in it, the one behind is not. */
	scene_start(&s, SCENE_JIT + 4095);
	scene_unwind(&s);
	check(s.u.stop != HYBRID_STOP_NO_MAP);
	scene_start(&s, SCENE_JIT + 4096);
	scene_unwind(&s);
	same(s.u.stop, HYBRID_STOP_NO_MAP);
}

static void zero_return(void)
{
	scene_start(&s, scene_at("leaf_at"));
	scene_push(&s, 0);
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("leaf_at"));
}

static void bad_frames(void)
{
	static const char * const labels[] = { "cycle_at", "below_at" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(labels); i++) {
		scene_start(&s, scene_at("leaf_at"));
		scene_push(&s, scene_at(labels[i]) + 1);
		scene_fill(&s, 8, scene_at(labels[i]) + 1);
		scene_unwind(&s);
		scene_expect(&s, HYBRID_STOP_BAD_FRAME, scene_at("leaf_at"),
			     scene_at(labels[i]));
		check(s.u.failed_in && strstr(s.u.failed_in->ident.path, "frames.so"));
	}
	/* A frame pointer that points below, or was not known. */
	scene_start(&s, scene_at("bpframe_at"));
	scene_reg(&s, BP, SCENE_STACK - 64);
	scene_fill(&s, 8, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_BAD_FRAME, scene_at("bpframe_at"));
	scene_start(&s, scene_at("undefbp_at"));
	scene_reg(&s, BP, SCENE_STACK + 8);
	scene_push(&s, scene_at("bpframe_ret"));
	scene_fill(&s, 8, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_BAD_FRAME, scene_at("undefbp_at"),
		     scene_at("bpframe_ret") - 1);
	check(!s.u.bp_known);
}

/* Addresses that wrap around, at both ends. */
static void wild_registers(void)
{
	static const u64 wild[] = { 0, 1, 7, ~0ULL, ~0ULL - 7, 1ULL << 63, 1ULL << 47 };
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(wild); i++) {
		for (j = 0; j < ARRAY_SIZE(wild); j++) {
			start_chain();
			s.u.dump_start = wild[i];
			s.u.regs.value[HYBRID_X86_64_SP] = wild[i];
			s.u.regs.value[BP] = wild[j];
			scene_unwind(&s);
			check(s.u.nr >= 1 && s.u.nr <= 4);
			s.u.regs.value[HYBRID_X86_64_IP] = scene_at("bpframe_at");
			scene_unwind(&s);
			check(s.u.nr >= 1 && s.u.nr <= 4);
		}
	}
}

/* A call that does not return: the return address is in another function. */
static void call_at_end(void)
{
	scene_start(&s, scene_at("leaf_at"));
	scene_push(&s, scene_at("noret_ret"));
	scene_push(&s, 0);
	scene_push(&s, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("leaf_at"),
		     scene_at("noret_ret") - 1, scene_at("outer_ret") - 1);
}

/* Nobody called what a context's first function returns to. */
static void context_start(void)
{
	scene_start(&s, scene_at("leaf_at"));
	scene_reg(&s, BP, SCENE_STACK + 16);
	scene_push(&s, scene_at("pushed_ret"));
	scene_push_pushed(&s, 0, scene_at("context"));
	scene_fill(&s, 8, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("leaf_at"),
		     scene_at("pushed_ret") - 1, scene_at("context"));

	/* That looks the same, and was called. */
	scene_start(&s, scene_at("leaf_at"));
	scene_push(&s, scene_at("context_called"));
	scene_unwind(&s);
	check(s.u.stop != HYBRID_STOP_OUTERMOST);
}

/* The code is asked where CFI leads to what nobody called from; not elsewhere. */
static void wrong_cfi(void)
{
	const u64 pushed[] = { 0, 0x1000, scene_at("leaf_at") };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pushed); i++) {
		scene_start(&s, scene_at("silent_at"));
		scene_push(&s, pushed[i]);
		scene_push(&s, scene_at("outer_ret"));
		scene_unwind(&s);
		scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("silent_at"),
			     scene_at("outer_ret") - 1);
		same(s.frames[0].cfa, SCENE_STACK + 16);
	}

	scene_start(&s, scene_at("silent_at"));
	scene_push(&s, scene_at("pushed_ret"));
	scene_push_pushed(&s, 0, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("silent_at"),
		     scene_at("pushed_ret") - 1, scene_at("outer_ret") - 1);

	/* Nothing that the code tells leads behind a call: it ends by its CFI. */
	scene_start(&s, scene_at("silent_at"));
	scene_push(&s, 0);
	scene_push(&s, scene_at("leaf_at"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("silent_at"));
}

/* In a child of vfork() that has given up its address space, its parent's calls. */
static void overwritten(void)
{
	start_chain();
	s.u.overwritten = true;
	scene_unwind(&s);
	expect_chain();

	/* No call is before this return address. Hand-written code may have pushed it. */
	scene_start(&s, scene_at("bpframe_entry"));
	scene_push(&s, scene_at("leaf_at") + 1);
	scene_push(&s, scene_at("outer_ret"));
	scene_unwind(&s);
	same(s.u.nr, 3);
	s.u.overwritten = true;
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_BAD_FRAME, scene_at("bpframe_entry"));
}

static void abi_32(void)
{
	u64 bp;

	scene_start_32(&s, scene_at_32("leaf_at"));
	scene_push(&s, scene_at_32("pushed_ret"));
	scene_fill(&s, 3, 0xdeadbeef);
	scene_push(&s, scene_at_32("wraps_ret"));
	scene_push(&s, scene_at_32("bpframe_ret"));
	bp = scene_reg_top(&s, HYBRID_I386_BP);
	scene_push_bpframe(&s, 0, scene_at_32("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at_32("leaf_at"),
		     scene_at_32("pushed_ret") - 1, scene_at_32("wraps_ret") - 1,
		     scene_at_32("bpframe_ret") - 1, scene_at_32("outer_ret") - 1);
	same(s.frames[3].cfa, bp + 8);
	same(s.frames[2].cfa, bp);
}

/* In the call that ends a signal's trampoline: no CFI is there, but before it. */
static void behind_trampoline(void)
{
	u64 behind = scene_at("sigframe_ret") + 7;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		scene_start(&s, behind + i);
		scene_fill(&s, 22, 0);
		s.stack[20] = scene_top(&s);
		s.stack[21] = scene_at("bpframe_entry");
		scene_push(&s, scene_at("outer_ret"));
		scene_unwind(&s);
		if (i)
			check(s.u.stop != HYBRID_STOP_OUTERMOST && s.u.nr == 1);
		else
			scene_expect(&s, HYBRID_STOP_OUTERMOST, behind - 1,
				     scene_at("bpframe_entry"), scene_at("outer_ret") - 1);
	}
}

/* The file of code that is not there yet: the chain ends, and is not remembered so. */
static bool is_late;

static int open_late(const struct hybrid_mapping *mapping)
{
	if (!is_late)
		return elf_file_open(mapping);
	mapping->object->load = (void *)1;
	return HYBRID_OPEN_LATER;
}

static void unread(void)
{
	struct hybrid_space *before;
	struct hybrid_processes ps;
	struct hybrid_space *space;

	hybrid_processes_init(&ps, open_late);
	elf_file_map(&ps, 7, "frames.so", SCENE_BIAS);
	space = hybrid_process_find(&ps, 7)->space;
	scene_start(&s, scene_at("leaf_at"));
	scene_push(&s, scene_at("outer_ret"));
	before = s.u.space;
	s.u.space = space;
	is_late = true;
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_UNREAD, scene_at("leaf_at"));
	check(s.u.failed_in == hybrid_space_find(space, scene_at("leaf_at"))->object);
	is_late = false;
	s.u.failed_in->load = NULL;
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("leaf_at"), scene_at("outer_ret") - 1);
	s.u.space = before;
	hybrid_processes_exit(&ps);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "unwind: a chain", chain },
		{ "unwind: prologue and epilogue", boundaries },
		{ "unwind: the dump ends anywhere", truncated },
		{ "unwind: a limit of frames", limit },
		{ "unwind: a thousand frames", deep },
		{ "unwind: pages that a dump has not", holes },
		{ "unwind: a dump at any address", unaligned_dump },
		{ "unwind: addresses without mapping", no_map },
		{ "unwind: a return address of zero", zero_return },
		{ "unwind: frames that do not lead upwards", bad_frames },
		{ "unwind: registers that wrap around", wild_registers },
		{ "unwind: a call at the end of a function", call_at_end },
		{ "unwind: the start of a context", context_start },
		{ "unwind: CFI that is wrong where the sample is", wrong_cfi },
		{ "unwind: a stack that another task has written to", overwritten },
		{ "unwind: behind a signal's trampoline", behind_trampoline },
		{ "unwind: a file that is not there yet", unread },
		{ "unwind: i386", abi_32 },
	};
	int status = tap_run(tests, ARRAY_SIZE(tests));

	scene_exit();
	return status;
}
