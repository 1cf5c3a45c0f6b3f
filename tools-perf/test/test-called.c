// SPDX-License-Identifier: GPL-2.0
/*
 * The outermost return address of a chain is one that nobody returns to: fibers. No frame is
 * written for it, and the mark stays unless the stack ends there.
 */
#include <string.h>
#include "called.h"
#include "merge-scene.h"
#include "kernel-walk.h"
#include "tap.h"

/* leaf() in pushed(), whose return address is @ret; above it @nr words of @word. */
static void fiber(u64 ret, unsigned int nr, u64 word)
{
	merge_pushed(0);
	scene_push_pushed(&s, 0, ret);
	scene_fill(&s, nr, word);
}

static void expect_fiber(int line)
{
	const u64 want[] = { USER, scene_at("leaf_at"), scene_at("pushed_ret") - 1, CUT_OFF };

	merge_compare(want, ARRAY_SIZE(want), __FILE__, line);
	merge_finish();
}

/* What a walk goes on to from there depends on the code before, and on the words above. */
static void no_call(void)
{
	static const char * const starts[] = { "bpframe_entry", "leaf_at", "outer", "pushed_end" };
	static const u64 words[] = { 0, 0xdead, SCENE_STACK };
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		for (j = 0; j < ARRAY_SIZE(words); j++) {
			fiber(scene_at(starts[i]), 8, words[j]);
			check(merge() > HYBRID_GUESSED);
			expect_fiber(__LINE__);
		}
		/* The copy of the stack ends there. */
		fiber(scene_at(starts[i]), 0, 0);
		check(merge() > HYBRID_GUESSED);
		expect_fiber(__LINE__);
	}
}

/* Several, one above the other. */
static void no_calls(void)
{
	fiber(scene_at("leaf_at") + 1, 0, 0);
	scene_push(&s, scene_at("pushed_end"));
	scene_push(&s, scene_at("outer"));
	check(merge() > HYBRID_GUESSED);
	expect_fiber(__LINE__);
}

/* A call stands before it that does not return, and leads to another function. */
static void other_call(void)
{
	fiber(scene_at("noret_ret"), 8, 0);
	check(merge() > HYBRID_GUESSED);
	expect_fiber(__LINE__);

	/* It leads to what runs. */
	scene_start(&s, scene_at("leaf_at"));
	chain_start((const u64[]){ USER }, 1);
	scene_push(&s, scene_at("noret_ret"));
	scene_fill(&s, 8, 0);
	same(merge(), HYBRID_COMPLETE);
	merge_expect(USER, scene_at("leaf_at"), scene_at("noret_ret") - 1);
	merge_finish();
}

static void expect_complete(int line)
{
	const u64 want[] = { USER, scene_at("leaf_at"), scene_at("pushed_ret") - 1 };

	merge_compare(want, ARRAY_SIZE(want), __FILE__, line);
	merge_finish();
}

/* Nothing is in memory above the fiber: the kernel could not copy it. */
static void top(void)
{
	static const char * const starts[] = {
		"bpframe_entry", "leaf_at", "outer", "pushed_end", "noret_ret",
	};
	static const u64 words[] = { 0, 0xdead, SCENE_STACK };
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		for (j = 0; j < ARRAY_SIZE(words); j++) {
			fiber(scene_at(starts[i]), 8, words[j]);
			s.u.dump_room = s.u.dump_size + 4096;
			same(merge(), HYBRID_COMPLETE);
			same(s.u.fiber_end, scene_top(&s) - 8 * 8);
			same(s.u.fiber_ret, scene_at(starts[i]));
			expect_complete(__LINE__);
		}
		fiber(scene_at(starts[i]), 200, 0xdead);
		same(merge(), HYBRID_COMPLETE);
		expect_complete(__LINE__);
	}
}

/* The mapping of the stack ends where the copy does: what comes next is not asked for. */
static void top_of_mapping(void)
{
	fiber(scene_at("leaf_at"), 100, 0xdead);
	s.u.dump_room = s.u.dump_size;
	s.u.room_ends = true;
	same(merge(), HYBRID_COMPLETE);
	same(s.u.fiber_end, scene_top(&s) - 100 * 8);
	expect_complete(__LINE__);
	/* A caller is in it. */
	fiber(scene_at("leaf_at"), 9, 0);
	scene_push(&s, scene_at("outer_ret"));
	s.u.dump_room = s.u.dump_size;
	s.u.room_ends = true;
	check(merge() > HYBRID_GUESSED);
	expect_fiber(__LINE__);
}

/* A caller's return address is above the pointer to a function: CFI that is wrong leads there. */
static void not_top(void)
{
	unsigned int i;

	for (i = 1; i < 128; i += 9) {
		fiber(scene_at("leaf_at"), i, 0);
		scene_push(&s, scene_at("outer_ret"));
		scene_fill(&s, 300, 0);
		check(merge() > HYBRID_GUESSED);
		same(s.u.fiber_end, 0);
		expect_fiber(__LINE__);
	}
	/* What is above it is not known. */
	fiber(scene_at("leaf_at"), 100, 0);
	s.u.dump_room = s.u.dump_size;
	check(merge() > HYBRID_GUESSED);
	expect_fiber(__LINE__);
}

/* As many bytes as are looked at, and one word more. */
static void how_far(void)
{
	unsigned int i;

	for (i = 120; i < 136; i++) {
		fiber(scene_at("leaf_at"), i, 0);
		scene_push(&s, scene_at("outer_ret"));
		scene_fill(&s, 300, 0);
		if (i < 128) {
			check(merge() > HYBRID_GUESSED);
			expect_fiber(__LINE__);
		} else {
			same(merge(), HYBRID_COMPLETE);
			expect_complete(__LINE__);
		}
	}
}

/* Code that no file has, and nobody can be asked about: it may be a caller. */
static void made_code_above(void)
{
	fiber(scene_at("leaf_at"), 200, 0);
	s.stack[20] = SCENE_JIT + 200;
	check(merge() > HYBRID_GUESSED);
	expect_fiber(__LINE__);
	/* An address in no mapping, and one that no call stands before. */
	s.stack[20] = SCENE_JIT + 8192;
	same(merge(), HYBRID_COMPLETE);
	expect_complete(__LINE__);
	s.stack[20] = scene_at("leaf_at");
	same(merge(), HYBRID_COMPLETE);
	expect_complete(__LINE__);
}

/* The fiber ends in its stack's last page; the copy goes on behind, and may lack pages. */
static void hole_above(void)
{
	unsigned int i, hole;

	for (hole = 0; hole < 4; hole++) {
		merge_pushed(0);
		for (i = 0; i < 120; i++)
			scene_push_pushed(&s, 0, scene_at("pushed_ret"));
		scene_push_pushed(&s, 0, scene_at("leaf_at"));
		scene_fill(&s, 512 - s.nr, 0);
		/* What the copy has there is none of the stack. */
		scene_fill(&s, 1024, scene_at("outer_ret"));
		s.u.dump_room = s.u.dump_size;
		s.u.holes = hole ? 1U << hole : 0;
		if (hole == 1)
			same(merge(), HYBRID_COMPLETE);
		else
			check(merge() > HYBRID_GUESSED);
		same(s.u.fiber_end, hole == 1 ? SCENE_STACK + (1 + 4 * 121) * 8 : 0);
		merge_finish();
	}
}

/* The copy has room to the end of the page, or a word more. What is behind is not known. */
static void room_above(void)
{
	unsigned int i, more;

	for (more = 0; more < 2; more++) {
		merge_pushed(0);
		for (i = 0; i < 120; i++)
			scene_push_pushed(&s, 0, scene_at("pushed_ret"));
		scene_push_pushed(&s, 0, scene_at("leaf_at"));
		scene_fill(&s, 8, 0);
		s.u.dump_room = 4096 + more * 8;
		if (more)
			same(merge(), HYBRID_COMPLETE);
		else
			check(merge() > HYBRID_GUESSED);
		same(s.u.fiber_end, more ? SCENE_STACK + (1 + 4 * 121) * 8 : 0);
		merge_finish();
	}
}

/* Of 0 nothing is made. */
static void zero(void)
{
	fiber(0, 8, 0);
	same(merge(), HYBRID_COMPLETE);
	same(s.u.fiber_end, scene_top(&s) - 8 * 8);
	same(s.u.fiber_ret, 0);
	expect_complete(__LINE__);
}

/* A call stands before these: they stay, whatever is outside of them. */
static void called(void)
{
	fiber(scene_at("pushed_ret"), 1, 0xdead);
	check(merge() > HYBRID_GUESSED);
	merge_expect(USER, scene_at("leaf_at"), scene_at("pushed_ret") - 1,
		     scene_at("pushed_ret") - 1, CUT_OFF);
	merge_finish();
	/* And what a signal has interrupted has called nobody. */
	scene_start(&s, scene_at("leaf_at"));
	chain_start((const u64[]){ USER }, 1);
	scene_push(&s, scene_at("sigframe_ret"));
	scene_fill(&s, 22, 0);
	s.stack[1 + 20] = scene_top(&s);
	s.stack[1 + 21] = scene_at("bpframe_entry");
	scene_push(&s, 0xdead);
	check(merge() > HYBRID_GUESSED);
	merge_expect(USER, scene_at("leaf_at"), scene_at("sigframe_ret"),
		     scene_at("bpframe_entry"), CUT_OFF);
	merge_finish();
}

/* The same, walked in the kernel. */
static void walked(void)
{
	static const char * const starts[] = { "bpframe_entry", "leaf_at", "noret_ret" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		fiber(scene_at(starts[i]), 8, 0);
		chain_start(NULL, 0);
		chain_add(PERF_CONTEXT_USER_RULES);
		chain_add(OUTERMOST);
		chain_add(USER);
		chain_add(scene_at("leaf_at"));
		chain_add(scene_at("pushed_ret"));
		chain_add(scene_at(starts[i]));
		s.u.dump_size = 0;
		/* What is remembered of a frame holds for it inside of others only. */
		hybrid_kernel_walk_frames(&scene_unwinder, &s.u,
					  kernel_chain(chain, nr_chain), false);
		hybrid_kernel_walk_frames(&scene_unwinder, &s.u,
					  kernel_chain(chain, nr_chain), false);
		m.kernel = kernel_chain(chain, nr_chain);
		m.unwind = &s.u;
		m.out = out;
		m.max = MERGE_MAX;
		same(hybrid_merge(&scene_unwinder, &m), HYBRID_FP_ONLY);
		expect_fiber(__LINE__);
	}
}

static void start_at(const char *label)
{
	static const u64 start[] = { USER };

	scene_start(&s, scene_at(label));
	chain_start(start, 1);
}

/* A frame of once(), itself(), even() or odd(): the word that it keeps free, the return address. */
static void push(const char *ret)
{
	scene_push(&s, 0);
	scene_push(&s, scene_at(ret));
}

/* From the dump, and as the kernel has walked: the same @nr frames of @want, and no more. */
static void expect_cut(const u64 *want, unsigned int nr, int line)
{
	static const u64 start[] = { PERF_CONTEXT_USER_RULES, OUTERMOST, USER };
	struct hybrid_unwind walked;
	unsigned int i, all;
	u64 rets[MERGE_MAX];

	hybrid_unwind(&scene_unwinder, &s.u);
	tap_same(s.u.stop, HYBRID_STOP_BAD_FRAME, __FILE__, line, "stop");
	tap_same(s.u.nr, nr, __FILE__, line, "frames of the dump");
	tap_same(s.u.sure, nr, __FILE__, line, "sure");
	for (i = 0; i < min(nr, s.u.nr); i++)
		tap_same(s.frames[i].ip, want[i], __FILE__, line, "frame");
	/* All of its stack, as a walker has it that checks nothing. */
	chain_start(start, ARRAY_SIZE(start));
	chain_add(scene_at("leaf_at"));
	for (all = 0, i = 0; i < s.nr && all < MERGE_MAX; i++) {
		if (s.stack[i] >> 32 == SCENE_BIAS >> 32)
			rets[all++] = s.stack[i];
	}
	for (i = 0; i < all; i++)
		chain_add(rets[i]);
	walked = s.u;
	hybrid_kernel_walk_frames(&scene_unwinder, &walked, kernel_chain(chain, nr_chain), false);
	tap_same(walked.stop, HYBRID_STOP_BAD_FRAME, __FILE__, line, "stop of the walk");
	tap_same(walked.nr, nr, __FILE__, line, "frames of the walk");
	tap_same(walked.sure, nr, __FILE__, line, "sure of the walk");
}

/* CFI that makes a function its own caller, though the calls lead elsewhere. */
static void own_caller(void)
{
	static const char * const rets[] = { "once_ret", "once_again_ret" };
	const u64 want[] = { scene_at("leaf_at"), scene_at("once_ret") - 1 };
	unsigned int again, nr, i;

	for (again = 0; again < ARRAY_SIZE(rets); again++) {
		for (nr = 1; nr <= 100; nr = nr * 3 + 1) {
			start_at("leaf_at");
			scene_push(&s, scene_at("once_ret"));
			for (i = 0; i < nr; i++)
				push(rets[again]);
			push("outer_ret");
			expect_cut(want, ARRAY_SIZE(want), __LINE__);
			merge_finish();
		}
	}
}

/* odd() and even() call each other. Then CFI leads in a circle with once(), which calls neither. */
static void circle(void)
{
	const u64 want[] = {
		scene_at("odd"), scene_at("even_ret") - 1, scene_at("odd_ret") - 1,
	};
	unsigned int i;

	start_at("odd");
	scene_push(&s, scene_at("even_ret"));
	push("odd_ret");
	for (i = 0; i < 50; i++) {
		push("once_ret");
		push("even_ret");
	}
	push("outer_ret");
	hybrid_unwind(&scene_unwinder, &s.u);
	same(s.u.stop, HYBRID_STOP_BAD_FRAME);
	same(s.u.nr, ARRAY_SIZE(want));
	for (i = 0; i < ARRAY_SIZE(want) && i < s.u.nr; i++)
		same(s.frames[i].ip, want[i]);
	merge_finish();
}

/* A coroutine's first function, and old data as its return address: that call leads to even(). */
static void other_caller(void)
{
	const u64 want[] = { scene_at("leaf_at") };
	unsigned int round;

	/* The second round finds the result of the first. */
	for (round = 0; round < 2; round++) {
		start_at("leaf_at");
		scene_push(&s, scene_at("odd_ret"));
		push("outer_ret");
		hybrid_unwind(&scene_unwinder, &s.u);
		same(s.u.stop, HYBRID_STOP_BAD_FRAME);
		same(s.u.nr, ARRAY_SIZE(want));
		same(s.frames[0].ip, want[0]);
		check(!hybrid_is_called_pair(&scene_unwinder, s.u.space, want[0],
					     scene_at("odd_ret")));
		merge_finish();
	}
}

/* What calls itself, or each other, stays whole and unmarked. */
static void recursion(void)
{
	unsigned int nr, i;

	for (nr = 1; nr <= 300; nr = nr * 2 + 1) {
		start_at("leaf_at");
		scene_push(&s, scene_at("itself_leaf_ret"));
		for (i = 0; i < nr; i++)
			push("itself_ret");
		push("outer_ret");
		hybrid_unwind(&scene_unwinder, &s.u);
		same(s.u.stop, HYBRID_STOP_OUTERMOST);
		same(s.u.nr, nr + 3);
		same(s.u.sure, nr + 3);
		merge_finish();

		start_at("odd");
		scene_push(&s, scene_at("even_ret"));
		for (i = 0; i < nr; i++) {
			push("odd_ret");
			push("even_ret");
		}
		push("outer_ret");
		hybrid_unwind(&scene_unwinder, &s.u);
		same(s.u.stop, HYBRID_STOP_OUTERMOST);
		same(s.u.nr, 2 * nr + 3);
		same(s.u.sure, 2 * nr + 3);
		merge_finish();
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "called: no call before the last return address", no_call },
		{ "called: nor before several", no_calls },
		{ "called: the call before it leads to another function", other_call },
		{ "called: the top of a fiber's stack", top },
		{ "called: the top of a fiber's mapping", top_of_mapping },
		{ "called: not the top", not_top },
		{ "called: how far above the top", how_far },
		{ "called: code without a file above it", made_code_above },
		{ "called: pages above it that are not there", hole_above },
		{ "called: the room of the copy ends above", room_above },
		{ "called: a return address of 0", zero },
		{ "called: true callers stay", called },
		{ "called: walked in the kernel", walked },
		{ "called: a function that did not call itself", own_caller },
		{ "called: a circle", circle },
		{ "called: a caller that was on the stack before", other_caller },
		{ "called: recursion", recursion },
	};
	int ret = tap_run(tests, ARRAY_SIZE(tests));

	scene_exit();
	return ret;
}
