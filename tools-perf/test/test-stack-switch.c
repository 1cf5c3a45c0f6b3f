// SPDX-License-Identifier: GPL-2.0
/*
 * The way from the stack that C, and Go's own code, runs on to the goroutine's that waits.
 */
#include <string.h>
#include "merge-scene.h"
#include "tap.h"

#define BIAS	0x7e0000000000ULL
#define BP	HYBRID_X86_64_BP

/* Where a goroutine's stack ends, and how much of it is in use. */
#define GO_END	0xc000008000ULL
#define GO_USED	0x1f8

static u64 at(const char *label)
{
	return BIAS + elf_file_symbol("gopclntab.so", label);
}

/* A sample there; the Go program is mapped by the first one. */
static void start_at(const char *label)
{
	scene_start(&s, at(label));
	if (!hybrid_space_find(s.u.space, at(label)))
		elf_file_map(&scene_ps, SCENE_PID, "gopclntab.so", BIAS);
	scene_start(&s, at(label));
}

/* C, called by a goroutine: all that is in the dump is C's, and the switch. */
static void start_switch(u64 depth)
{
	static const u64 start[] = { USER };
	u64 used = GO_END - GO_USED;

	start_at("c_leaf_at");
	scene_reg(&s, BP, used + 0x18);
	scene_push(&s, at("switches_ret"));
	scene_fill(&s, 5, 0xdead);
	scene_push(&s, depth);
	scene_fill(&s, 8, 0xdead);
	chain_start(start, 1);
	chain_add(at("c_leaf_at"));
	chain_add(at("wrapper_ret"));
	chain_add(at("top") + 1);
}

static void follows(void)
{
	start_switch(GO_USED);
	same(merge(), HYBRID_STITCHED);
	merge_expect(USER, at("c_leaf_at"), at("switches_ret") - 1, at("caller_ret") - 1,
		     at("wrapper_ret") - 1, at("top"));
	/* Or as far as the kernel's chain does. */
	nr_chain--;
	same(merge(), HYBRID_BAD_CFI);
	merge_expect(USER, at("c_leaf_at"), at("switches_ret") - 1, at("caller_ret") - 1,
		     at("wrapper_ret") - 1, CUT_OFF);
	scene_exit();
}

/* There the frame pointer leads to the return address of what made the switch. */
static void follows_later(void)
{
	start_switch(0);
	s.stack[0] = at("later_ret");
	s.stack[1] = GO_USED - 0x18;
	chain[2] = at("goes_ret");
	same(merge(), HYBRID_STITCHED);
	merge_expect(USER, at("c_leaf_at"), at("later_ret") - 1, at("goes_ret") - 1, at("top"));
	s.stack[1] += 8;
	same(merge(), HYBRID_BAD_CFI);
	merge_expect(USER, at("c_leaf_at"), at("later_ret") - 1, CUT_OFF);
	scene_exit();
}

/* The goroutine's stack is behind the one that C runs on, and the dump holds both. */
static void follows_nearby(void)
{
	u64 bp;

	start_switch(GO_USED);
	bp = s.u.dump_start + 3 * 2048;
	scene_fill(&s, 4 * 2048 / 8, 0xdead);
	scene_reg(&s, BP, bp);
	s.stack[6] = 0x18 - bp % 2048;
	same(merge(), HYBRID_STITCHED);
	merge_expect(USER, at("c_leaf_at"), at("switches_ret") - 1, at("caller_ret") - 1,
		     at("wrapper_ret") - 1, at("top"));
	scene_exit();
}

static void same_cut_off(void)
{
	same(merge(), HYBRID_BAD_CFI);
	merge_expect(USER, at("c_leaf_at"), at("switches_ret") - 1, CUT_OFF);
}

static void ends(void)
{
	u64 bp;

	/* That is not how deep the stack was. */
	start_switch(GO_USED + 8);
	same_cut_off();
	/* Which of two calls it was nobody knows. */
	start_switch(GO_USED);
	chain[2] = at("wrapper_ret2");
	same_cut_off();
	/* No call leads to what calls the switch. */
	start_switch(GO_USED);
	chain[2] = at("caller_exit");
	same_cut_off();
	/* Its caller has no frame that bp could be of. */
	start_switch(GO_USED - 8);
	chain[2] = at("wrapper_ret3");
	same_cut_off();
	/* The frame is on the stack that is in the dump, or the register unknown. */
	start_switch(GO_USED);
	bp = s.u.dump_start + 16;
	scene_reg(&s, BP, bp);
	s.stack[6] = 0x18 - bp % 2048;
	same_cut_off();
	start_switch(GO_USED);
	s.u.regs.known &= ~(1U << BP);
	same_cut_off();
	scene_exit();
}

/* What systemstack() has been given runs, and the goroutine waits with bp at @used. */
static void start_closure(const char *closure, const char *called_by)
{
	static const u64 start[] = { USER };

	start_at(closure);
	scene_reg(&s, BP, GO_END - GO_USED);
	scene_push(&s, at("system_ret"));
	scene_fill(&s, 8, 0xdead);
	chain_start(start, 1);
	chain_add(at(closure));
	if (called_by)
		chain_add(at(called_by));
	chain_add(at("top") + 1);
}

/* Of two calls the one that hands over what runs. */
static void closures(void)
{
	start_closure("closure1", "starter_ret");
	same(merge(), HYBRID_STITCHED);
	merge_expect(USER, at("closure1"), at("system_ret") - 1, at("worker_ret") - 1,
		     at("starter_ret") - 1, at("top"));
	start_closure("closure2", "starter_ret");
	same(merge(), HYBRID_STITCHED);
	merge_expect(USER, at("closure2"), at("system_ret") - 1, at("worker_ret2") - 1,
		     at("starter_ret") - 1, at("top"));
	/* Nothing hands this over. */
	start_closure("copies", "starter_ret");
	same(merge(), HYBRID_BAD_CFI);
	merge_expect(USER, at("copies"), at("system_ret") - 1, CUT_OFF);
	scene_exit();
}

/* No call leads to what a goroutine begins with, but its closures have its name. */
static void goroutines(void)
{
	start_closure("closure1", NULL);
	same(merge(), HYBRID_STITCHED);
	merge_expect(USER, at("closure1"), at("system_ret") - 1, at("worker_ret") - 1,
		     at("top"));
	start_closure("closure2", NULL);
	same(merge(), HYBRID_STITCHED);
	merge_expect(USER, at("closure2"), at("system_ret") - 1, at("worker_ret2") - 1,
		     at("top"));
	start_closure("copies", NULL);
	same(merge(), HYBRID_BAD_CFI);
	merge_expect(USER, at("copies"), at("system_ret") - 1, CUT_OFF);
	scene_exit();
}

/* A caller without a frame, between two that have one. */
static void frameless(void)
{
	start_switch(GO_USED);
	chain[2] = at("barrier_ret");
	chain[3] = at("starter_ret3");
	chain_add(at("top") + 1);
	same(merge(), HYBRID_STITCHED);
	merge_expect(USER, at("c_leaf_at"), at("switches_ret") - 1, at("caller_ret") - 1,
		     at("barrier_ret") - 1, at("unframed_ret") - 1, at("starter_ret3") - 1,
		     at("top"));
	/* The chain ends there. */
	nr_chain -= 2;
	same(merge(), HYBRID_BAD_CFI);
	merge_expect(USER, at("c_leaf_at"), at("switches_ret") - 1, at("caller_ret") - 1,
		     at("barrier_ret") - 1, CUT_OFF);
	scene_exit();
}

/* One that assembler has made a frame for, and jumped to. */
static void framed(void)
{
	start_switch(GO_USED);
	chain[2] = at("guards_ret");
	chain[3] = at("guarded_ret");
	chain_add(at("top") + 1);
	same(merge(), HYBRID_STITCHED);
	merge_expect(USER, at("c_leaf_at"), at("switches_ret") - 1, at("caller_ret") - 1,
		     at("guards_ret") - 1, at("guarded_ret") - 1, at("top"));
	scene_exit();
}

/* A goroutine needs a larger stack: @bp is of the frame that is to call small(). */
static void start_growth(u64 sp, u64 ret, u64 bp)
{
	static const u64 start[] = { USER };

	start_at("copies");
	scene_reg(&s, BP, s.u.dump_start + 7 * 8);
	scene_push(&s, at("newstack_ret"));
	scene_fill(&s, 2, 0xdead);
	/* newstack()'s frame: struct gobuf begins with sp and pc. */
	scene_push(&s, sp);
	scene_push(&s, ret);
	scene_fill(&s, 2, 0xdead);
	scene_push(&s, bp);
	scene_push(&s, at("grows_ret"));
	scene_fill(&s, 8, 0xdead);
	chain_start(start, 1);
	chain_add(at("copies"));
	chain_add(at("grows_ret"));
	chain_add(at("top") + 1);
}

static void same_growth_cut_off(void)
{
	same(merge(), HYBRID_BAD_CFI);
	merge_expect(USER, at("copies"), at("newstack_ret") - 1, at("grows_ret") - 1, CUT_OFF);
	scene_exit();
}

static void growth(void)
{
	const u64 bp = GO_END - GO_USED, sp = bp - 0x10;

	start_growth(sp, at("starter_small"), bp);
	same(merge(), HYBRID_STITCHED);
	merge_expect(USER, at("copies"), at("newstack_ret") - 1, at("grows_ret") - 1,
		     at("small_ret") - 1, at("starter_small") - 1, at("top"));
	scene_exit();
	/* bp is not of that frame. */
	start_growth(sp, at("starter_small"), bp + 8);
	same_growth_cut_off();
	/* What is called there has no call of morestack(). */
	start_growth(sp, at("starter_ret"), bp);
	same_growth_cut_off();
	/* No call is in front of it. */
	start_growth(sp, at("starter_small") + 1, bp);
	same_growth_cut_off();
}

/* What the kernel has seen behind it has called what is in front, or is not taken. */
static void false_callers(void)
{
	start_switch(GO_USED);
	chain[3] = at("wrapper_ret");
	same(merge(), HYBRID_BAD_CFI);
	merge_expect(USER, at("c_leaf_at"), at("switches_ret") - 1, at("caller_ret") - 1,
		     at("wrapper_ret") - 1, CUT_OFF);
	scene_exit();
}

/* The innermost C function has a frame pointer: the kernel has seen its frame, too. */
static void start_framed_switch(void)
{
	start_switch(GO_USED);
	scene_start(&s, scene_at("bpframe_at"));
	scene_reg_top(&s, BP);
	scene_push_bpframe(&s, GO_END - GO_USED + 0x18, at("switches_ret"));
	scene_fill(&s, 5, 0xdead);
	scene_push(&s, GO_USED);
	scene_fill(&s, 8, 0xdead);
	nr_chain = 1;
	chain_add(scene_at("bpframe_at"));
	chain_add(at("switches_ret"));
	chain_add(at("wrapper_ret"));
	chain_add(at("top") + 1);
}

static void same_framed_cut_off(void)
{
	same(merge(), HYBRID_BAD_CFI);
	merge_expect(USER, scene_at("bpframe_at"), at("switches_ret") - 1, CUT_OFF);
	check(m.marked);
}

static void behind_frames(void)
{
	start_framed_switch();
	same(merge(), HYBRID_STITCHED);
	merge_expect(USER, scene_at("bpframe_at"), at("switches_ret") - 1, at("caller_ret") - 1,
		     at("wrapper_ret") - 1, at("top"));
	check(!m.marked);
	/* The kernel has seen another caller, or none. */
	chain[2]++;
	same_framed_cut_off();
	chain[2]--;
	for (nr_chain = 2; nr_chain < 4; nr_chain++)
		same_framed_cut_off();
	nr_chain = 5;
	same(merge(), HYBRID_STITCHED);
	scene_exit();
}

/* Frame pointers that lead down the stack, to words that fit the kernel's chain. */
static void down_the_stack(void)
{
	start_framed_switch();
	scene_start(&s, scene_at("bpframe_at"));
	scene_push_bpframe(&s, GO_END - GO_USED + 0x18, at("switches_ret"));
	scene_reg_top(&s, BP);
	scene_push_bpframe(&s, SCENE_STACK, scene_at("leaves") + 2);
	scene_push_bpframe(&s, GO_END - GO_USED + 0x18, at("switches_ret"));
	scene_fill(&s, 5, 0xdead);
	scene_push(&s, GO_USED);
	scene_fill(&s, 8, 0xdead);
	nr_chain = 2;
	chain_add(scene_at("leaves") + 2);
	chain_add(at("switches_ret"));
	chain_add(at("wrapper_ret"));
	chain_add(at("top") + 1);
	same(merge(), HYBRID_BAD_CFI);
	merge_expect(USER, scene_at("bpframe_at"), scene_at("leaves") + 1,
		     at("switches_ret") - 1, CUT_OFF);
	scene_exit();
}

/* With room for fewer frames the chain ends, and nothing is written behind them. */
static void no_room(void)
{
	unsigned int room;

	for (room = 2; room <= 5; room++) {
		start_switch(GO_USED);
		s.u.max_frames = room;
		memset(&s.frames[room], 0xee, sizeof(s.frames[0]));
		same(merge(), room < 5 ? HYBRID_BAD_CFI : HYBRID_STITCHED);
		same(s.frames[room].ip, 0xeeeeeeeeeeeeeeee);
		same(m.nr, 1 + room + (room < 5));
		same(m.marked, room < 5);
		scene_exit();
	}
	for (room = 3; room <= 6; room++) {
		start_growth(GO_END - GO_USED - 0x10, at("starter_small"), GO_END - GO_USED);
		s.u.max_frames = room;
		memset(&s.frames[room], 0xee, sizeof(s.frames[0]));
		same(merge(), room < 6 ? HYBRID_BAD_CFI : HYBRID_STITCHED);
		same(s.frames[room].ip, 0xeeeeeeeeeeeeeeee);
		same(m.marked, room < 6);
		scene_exit();
	}
}

/* Where newstack() has noted the goroutine's sp: as far below as its frame is, and no further. */
static void growth_far_below(void)
{
	const u64 bp = GO_END - GO_USED, sp = bp - 0x10;
	unsigned int below;

	for (below = 0; below <= 0x410; below += 8) {
		start_at("copies");
		chain_start((const u64[]){ USER }, 1);
		/* copies() and newstack() with a frame of that many bytes more. */
		scene_push(&s, at("newstack_ret"));
		scene_fill(&s, 6, 0xdead);
		scene_push(&s, bp);
		scene_push(&s, at("grows_ret"));
		scene_fill(&s, 1, 0xdead);
		/* sp is behind grows()'s return address: at word 9. */
		if (below >= 16 && below <= 9 * 8) {
			s.stack[(9 * 8 - below) / 8] = sp;
			s.stack[(9 * 8 - below) / 8 + 1] = at("starter_small");
		}
		/* Words that the walk itself needs. */
		s.stack[0] = at("newstack_ret");
		s.stack[7] = bp;
		s.stack[8] = at("grows_ret");
		scene_reg(&s, BP, s.u.dump_start + 7 * 8);
		chain_add(at("copies"));
		chain_add(at("grows_ret"));
		chain_add(at("top") + 1);
		same(merge(), below >= 32 && below <= 64 ? HYBRID_STITCHED : HYBRID_BAD_CFI);
		same(m.marked, !(below >= 32 && below <= 64));
		scene_exit();
	}
}

static const struct tap_test tests[] = {
	{ "from C to the goroutine that called it", follows },
	{ "the same with frames as of Go 1.21", follows_later },
	{ "the same where both stacks are in the dump", follows_nearby },
	{ "the same behind functions with frames", behind_frames },
	{ "frame pointers that lead down", down_the_stack },
	{ "where that is not known the chain ends", ends },
	{ "callers that have not called", false_callers },
	{ "the call that hands over what runs on the other stack", closures },
	{ "the same in what a goroutine begins with", goroutines },
	{ "a caller without a frame", frameless },
	{ "a caller with a frame that was jumped to", framed },
	{ "a stack that is too small", growth },
	{ "where it is noted who called", growth_far_below },
	{ "no room for more frames", no_room },
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
