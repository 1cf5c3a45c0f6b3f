// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's chain and the unwound one, made one.
 */
#include <string.h>
#include "../hybrid/runtime/walk-interpreter.h"
#include "merge-scene.h"
#include "tap.h"

#define BP	HYBRID_X86_64_BP

static void complete(void)
{
	merge_recurse(10);
	same(merge(), HYBRID_COMPLETE);
	merge_expect_recursion(10, __LINE__);

	/* The kernel knows nothing of the user part, or has none. */
	nr_chain = 4;
	same(merge(), HYBRID_COMPLETE);
	merge_expect_recursion(10, __LINE__);
	nr_chain = 3;
	same(merge(), HYBRID_COMPLETE);
	merge_expect_recursion(10, __LINE__);
	nr_chain = 0;
	same(merge(), HYBRID_COMPLETE);
	same(out[0], USER);
	same(out[1], scene_at("bpframe_at"));
	same(m.nr, 12);
	merge_finish();
}

/* Wherever the dump ends, the chain is whole, or ends there: never another. */
static void stitched(void)
{
	unsigned int words, nr_stitched = 0;
	enum hybrid_outcome outcome;

	merge_recurse(10);
	for (words = 0; words < 40; words++) {
		s.u.dump_size = words * 8;
		outcome = merge();
		if (outcome == HYBRID_STITCHED) {
			merge_expect_recursion(10, __LINE__);
			nr_stitched++;
			continue;
		}
		same(outcome, HYBRID_TRUNCATED);
		same(m.nr, 4 + 1 + words / 4 + 1);
		same(out[m.nr - 1], CUT_OFF);
	}
	/* Only where saved rbp and return address are parted is it not known. */
	check(nr_stitched >= 30);
	merge_finish();
}

/* What BPF has found by bp, of the recursion, from frame @from on; a function before each. */
static void set_links(u64 *words, unsigned int nr, unsigned int from)
{
	unsigned int i;
	u64 *pair = words;

	for (i = from; i < nr; i++) {
		*pair++ = 0x1000;
		*pair++ = 0;
		*pair++ = (SCENE_STACK + 32 * i + 16) | HYBRID_WALK_NATIVE_LINK;
		*pair++ = s.stack[4 * i + 3];
	}
	m.links = (struct hybrid_links) { .words = words, .nr = (pair - words) / 2 };
}

/* Where BPF went on by bp, the kernel's chain is not needed. */
static void links(void)
{
	static u64 words[4 * 200];
	unsigned int size;

	merge_recurse(100);
	nr_chain = 4;
	for (size = 4; size < 40; size++) {
		s.u.dump_size = size * 32;
		set_links(words, 100, 0);
		same(merge(), HYBRID_STITCHED);
		merge_expect_recursion(100, __LINE__);
		same(s.frames[50].cfa, SCENE_STACK + 32 * 50 + 32);
		m.links.nr = 0;
		same(merge(), HYBRID_TRUNCATED);
	}
	/* The walk came further than the dump. */
	set_links(words, 100, 60);
	same(merge(), HYBRID_TRUNCATED);
	/* Its frames end early, or are none: what is there stays. */
	set_links(words, 90, 0);
	same(merge(), HYBRID_TRUNCATED);
	same(m.nr, 4 + 1 + 90 + 1);
	words[4 * 60 + 3] = scene_at("once_ret");
	same(merge(), HYBRID_TRUNCATED);
	same(m.nr, 4 + 1 + 60 + 1);
	memset(&m.links, 0, sizeof(m.links));
	merge_finish();
}

static void disagreeing(void)
{
	unsigned int i;
	u64 right;

	merge_recurse(10);
	s.u.dump_size = 5 * 32;
	/* Any return address in the dump that the kernel saw otherwise. */
	for (i = 5; i < 10; i++) {
		right = chain[i];
		chain[i] = scene_at("pushed_ret");
		same(merge(), HYBRID_TRUNCATED);
		same(m.nr, 4 + 6 + 1);
		chain[i] = right;
	}
	same(merge(), HYBRID_STITCHED);
	/* The kernel's chain may end in the dump, or where it does. */
	for (i = 4; i < 10; i++) {
		nr_chain = i;
		same(merge(), HYBRID_TRUNCATED);
		same(m.nr, 4 + 6 + 1);
	}
	/* Or not come to the outermost frame. */
	nr_chain = 12;
	same(merge(), HYBRID_TRUNCATED);
	same(m.nr, 4 + 8 + 1);
	merge_finish();
}

/* Frame pointers that lead down, or to themselves. */
static void other_recursion(void)
{
	merge_recurse(10);
	s.stack[2 * 4 + 2] = SCENE_STACK + 16;
	s.u.dump_size = 5 * 32;
	merge();
	check(m.nr <= 4 + 6 + 1);
	s.stack[2] = SCENE_STACK + 16;
	check(merge() != HYBRID_STITCHED);
	merge_finish();
}

/* At a function's first instruction, the kernel may take the caller from sp. */
static void function_entry(void)
{
	static const u64 start[] = { USER };
	unsigned int extra;

	for (extra = 0; extra < 2; extra++) {
		scene_start(&s, scene_at("bpframe_entry"));
		scene_push(&s, scene_at("bpframe_ret"));
		scene_fill(&s, 2, 0xdead);
		scene_reg_top(&s, BP);
		scene_push_bpframe(&s, scene_top(&s) + 32, scene_at("bpframe_ret"));
		scene_fill(&s, 2, 0xdead);
		scene_push_bpframe(&s, 0, scene_at("outer_ret"));
		chain_start(start, 1);
		chain_add(scene_at("bpframe_entry"));
		if (extra)
			chain_add(scene_at("bpframe_ret"));
		chain_add(scene_at("bpframe_ret"));
		chain_add(scene_at("outer_ret"));
		s.u.dump_size = 5 * 8;
		/*
		 * The caller twice, at one address: at a probe both ways to read
		 * the kernel's chain fit, and no frame is made up. No other
		 * event has two ways.
		 */
		m.at_probe = extra;
		same(merge(), extra ? HYBRID_TRUNCATED : HYBRID_STITCHED);
		m.at_probe = false;
		if (!extra)
			merge_expect(USER, scene_at("bpframe_entry"), scene_at("bpframe_ret") - 1,
				     scene_at("bpframe_ret") - 1, scene_at("outer_ret") - 1);
	}
	merge_finish();
}

/* uprobe at the entry of a function that another one calls. */
static void uprobe(void)
{
	static const u64 start[] = { USER };

	scene_start(&s, scene_at("bpframe_entry"));
	scene_push(&s, scene_at("pushed_ret"));
	scene_push_pushed(&s, 0, scene_at("bpframe_ret"));
	scene_reg_top(&s, BP);
	scene_push_bpframe(&s, scene_top(&s) + 16, scene_at("bpframe_ret"));
	scene_push_bpframe(&s, 0, scene_at("outer_ret"));
	chain_start(start, 1);
	chain_add(scene_at("bpframe_entry"));
	chain_add(scene_at("pushed_ret"));
	chain_add(scene_at("bpframe_ret"));
	chain_add(scene_at("outer_ret"));
	s.u.dump_size = 7 * 8;
	/* No other event has the kernel do so. */
	same(merge(), HYBRID_TRUNCATED);
	m.at_probe = true;
	same(merge(), HYBRID_STITCHED);
	m.at_probe = false;
	merge_expect(USER, scene_at("bpframe_entry"), scene_at("pushed_ret") - 1,
		     scene_at("bpframe_ret") - 1, scene_at("bpframe_ret") - 1,
		     scene_at("outer_ret") - 1);
	merge_finish();
}

/* Without a frame pointer at the dump's end, the kernel's chain is another's. */
static void no_frame_pointer(void)
{
	static const u64 start[] = { USER };

	scene_start(&s, scene_at("bpframe_at"));
	scene_reg(&s, BP, SCENE_STACK);
	scene_push_bpframe(&s, SCENE_STACK + 48, scene_at("pushed_ret"));
	scene_push(&s, 0);
	scene_push(&s, 0);
	scene_push(&s, 0);
	scene_push(&s, scene_at("bpframe_ret"));
	scene_push_bpframe(&s, 0, scene_at("outer_ret"));
	chain_start(start, 1);
	chain_add(scene_at("bpframe_at"));
	chain_add(scene_at("pushed_ret"));
	chain_add(scene_at("outer_ret"));
	s.u.dump_size = 5 * 8;
	same(merge(), HYBRID_TRUNCATED);
	merge_expect(USER, scene_at("bpframe_at"), scene_at("pushed_ret") - 1, CUT_OFF);

	/* Behind the dump: what once() calls is leaf(). */
	chain_start(start, 1);
	chain_add(scene_at("bpframe_at"));
	chain_add(scene_at("once_ret"));
	chain_add(scene_at("outer_ret"));
	s.u.dump_size = 0;
	same(merge(), HYBRID_FP_ONLY);
	merge_expect(USER, scene_at("bpframe_at"), CUT_OFF);

	/* And a function without frame pointer is the last one known. */
	chain_start(start, 1);
	chain_add(scene_at("bpframe_at"));
	chain_add(scene_at("far_ret"));
	chain_add(scene_at("outer_ret"));
	same(merge(), HYBRID_FP_ONLY);
	merge_expect(USER, scene_at("bpframe_at"), scene_at("far_ret") - 1, CUT_OFF);
	merge_finish();
}

/* Both agree on where the dump ends, but not on whose frame is next. */
static void another_frame(void)
{
	static const u64 start[] = { USER };

	scene_start(&s, scene_at("bpreg_at"));
	scene_push(&s, scene_at("bpframe_ret"));
	scene_reg(&s, 12, SCENE_STACK + 64);
	scene_reg(&s, BP, SCENE_STACK + 128);
	chain_start(start, 1);
	chain_add(scene_at("bpreg_at"));
	chain_add(scene_at("outer_ret"));
	same(merge(), HYBRID_TRUNCATED);
	merge_expect(USER, scene_at("bpreg_at"), scene_at("bpframe_ret") - 1, CUT_OFF);
	merge_finish();
}

static void expect_copy(void)
{
	merge_expect(KERNEL, IP_1, IP_2, USER, scene_at("bpframe_at"), GUESSED,
		     scene_at("bpframe_ret") - 1, scene_at("bpframe_ret") - 1,
		     scene_at("outer_ret") - 1, CUT_OFF);
}

static void no_dump(void)
{
	merge_recurse(3);
	m.kernel = kernel_chain(chain, nr_chain);
	m.out = out;
	m.max = MERGE_MAX;
	m.unwind = NULL;
	m.space = s.u.space;
	m.abi = s.u.abi;
	same(hybrid_merge(&scene_unwinder, &m), HYBRID_FP_ONLY);
	expect_copy();
	/* Another context's word ends the user's frames. */
	chain_add(PERF_CONTEXT_GUEST);
	chain_add(scene_at("outer_ret"));
	m.kernel = kernel_chain(chain, nr_chain);
	same(hybrid_merge(&scene_unwinder, &m), HYBRID_FP_ONLY);
	expect_copy();
	m.kernel = kernel_chain(chain, 3);
	same(hybrid_merge(&scene_unwinder, &m), HYBRID_COMPLETE);
	merge_expect(KERNEL, IP_1, IP_2);
	m.kernel = kernel_chain(chain, 0);
	same(hybrid_merge(&scene_unwinder, &m), HYBRID_COMPLETE);
	same(m.nr, 0);

	/* Of a process that nothing is known of, no address can be shown to be a caller. */
	m.kernel = kernel_chain(chain, nr_chain);
	m.space = NULL;
	same(hybrid_merge(&scene_unwinder, &m), HYBRID_FP_ONLY);
	merge_expect(KERNEL, IP_1, IP_2, USER, scene_at("bpframe_at"), CUT_OFF);
	merge_finish();
}

/* A register that held no frame pointer: one address again and again. */
static void no_dump_no_frames(void)
{
	static const u64 start[] = { USER };
	static const u64 nowhere[] = { 0x1000, 0 };
	u64 not_called = scene_at("leaf_at");
	unsigned int i, n;

	scene_start(&s, scene_at("bpframe_at"));
	for (n = 0; n < 3; n++) {
		chain_start(start, 1);
		chain_add(scene_at("bpframe_at"));
		for (i = 0; i < 120; i++)
			chain_add(n < 2 ? nowhere[n] : not_called);
		m.kernel = kernel_chain(chain, nr_chain);
		m.out = out;
		m.max = MERGE_MAX;
		m.unwind = NULL;
		m.space = s.u.space;
		m.abi = s.u.abi;
		same(hybrid_merge(&scene_unwinder, &m), HYBRID_FP_ONLY);
		merge_expect(USER, scene_at("bpframe_at"), CUT_OFF);
	}
	merge_finish();
}

/* Context words of the kernel's other levels stay; none of them is a frame. */
static void contexts(void)
{
	static const u64 start[] = { PERF_CONTEXT_HV, 1, KERNEL, IP_1, IP_2, USER };

	merge_recurse(2);
	chain_start(start, ARRAY_SIZE(start));
	same(merge(), HYBRID_COMPLETE);
	merge_expect(PERF_CONTEXT_HV, 1, KERNEL, IP_1, IP_2, USER, scene_at("bpframe_at"),
		     scene_at("bpframe_ret") - 1, scene_at("outer_ret") - 1);
	/* A context word behind the user's frames ends them. */
	chain_add(scene_at("bpframe_at"));
	chain_add(PERF_CONTEXT_GUEST);
	chain_add(scene_at("outer_ret"));
	s.u.dump_size = 0;
	same(merge(), HYBRID_FP_ONLY);
	same(m.nr, 8);
	merge_finish();
}

/* Without room for all frames the chain is not complete, and says so. */
static void bounded(void)
{
	const unsigned int all = 4 + 11;
	unsigned int room, frames, i;

	for (room = 6; room <= all + 2; room++) {
		merge_recurse(10);
		nr_chain = 4;
		m.max = room;
		m.tail = &tail;
		same(merge(), room < all ? HYBRID_TRUNCATED : HYBRID_COMPLETE);
		same(m.nr, min(room, all));
		same(out[m.nr - 1], room < all ? CUT_OFF : scene_at("outer_ret") - 1);
		same(m.marked, room < all);
		for (i = 5; i + 1 < m.nr; i++)
			same(out[i], scene_at("bpframe_ret") - 1);
		same(out[m.max], 0xeeeeeeeeeeeeeeee);
	}
	merge_finish();
	/* A mark for a guess needs room, too. */
	for (room = 3; room <= 5; room++) {
		scene_start(&s, scene_at("opaque_at"));
		chain_start((const u64[]){ USER }, 1);
		scene_reg_top(&s, BP);
		scene_push_bpframe(&s, 0, scene_at("outer_ret"));
		m.max = room;
		same(merge(), room < 4 ? HYBRID_TRUNCATED : HYBRID_GUESSED);
		if (room < 4)
			merge_expect(USER, scene_at("opaque_at"), CUT_OFF);
		else
			merge_expect(USER, scene_at("opaque_at"), GUESSED,
				     scene_at("outer_ret") - 1);
	}
	merge_finish();
	/* max_frames holds for what is joined, too: room for no more is there. */
	for (frames = 1; frames < 11; frames++) {
		merge_recurse(10);
		s.u.dump_size = 0;
		s.u.max_frames = frames;
		memset(&s.frames[frames], 0xee, sizeof(s.frames[0]));
		same(merge(), HYBRID_FP_ONLY);
		same(m.nr, 4 + frames + 1);
		same(out[m.nr - 1], CUT_OFF);
		same(s.frames[frames].ip, 0xeeeeeeeeeeeeeeee);
	}
	merge_finish();
}

static void outcomes(void)
{
	merge_pushed(1);
	s.stack[0] = 0x1000;
	same(merge(), HYBRID_NO_MAP);
	s.stack[0] = scene_at("looping_at") + 1;
	same(merge(), HYBRID_BAD_CFI);
	s.stack[0] = SCENE_JIT + 8;
	scene_reg(&s, BP, 3);
	same(merge(), HYBRID_NO_CFI);
	merge_pushed(1);
	s.u.max_frames = 1;
	same(merge(), HYBRID_TRUNCATED);
	merge_finish();
}

/* A frame that is larger than the dump, and only the code says so. */
static void large_frame(void)
{
	u64 large = SCENE_NOCFI + elf_file_symbol("nocfi.so", "large_at");
	static const u64 start[] = { PERF_CONTEXT_USER };

	scene_start(&s, large);
	chain_start(start, 1);
	chain_add(large);
	scene_reg(&s, BP, SCENE_STACK + 64);
	scene_fill(&s, 2560, 0xdead);
	scene_push(&s, scene_at("outer_ret"));
	same(merge(), HYBRID_COMPLETE);
	s.u.dump_size = 8192;
	same(merge(), HYBRID_TRUNCATED);
	same(s.u.missing, SCENE_STACK + 20480);
	/* A copy that ended before it had to. */
	s.u.dump_room = 32768;
	same(merge(), HYBRID_NOT_IN_MEMORY);
	s.u.dump_room = 0;
	/* Where the code does not tell either, what a register holds is no frame. */
	scene_reg(&s, HYBRID_X86_64_IP, scene_at("opaque_at"));
	chain_start(start, 1);
	chain_add(scene_at("opaque_at"));
	scene_reg(&s, BP, SCENE_STACK + 16384);
	same(merge(), HYBRID_NO_CFI);
	merge_finish();
}

/* Where the kernel's copy ended before it had to, a larger one ends there, too. */
static void not_in_memory(void)
{
	merge_recurse(10);
	nr_chain = 3;
	s.u.dump_size = 80;
	s.u.dump_room = 80;
	same(merge(), HYBRID_TRUNCATED);
	s.u.dump_room = 8192;
	same(merge(), HYBRID_NOT_IN_MEMORY);
	same(out[m.nr - 1], CUT_OFF);
	/* The next word is further away than a dump reaches. */
	s.u.dump_room = 88;
	same(merge(), HYBRID_TRUNCATED);
	/* The copy went on behind what was not there. */
	s.u.dump_room = 80;
	s.u.holes = 1;
	same(merge(), HYBRID_NOT_IN_MEMORY);
	s.u.holes = 0;
	merge_finish();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "merge: complete chains", complete },
		{ "merge: the dump ends anywhere in a recursion", stitched },
		{ "merge: frames that BPF has found by bp", links },
		{ "merge: chains that disagree", disagreeing },
		{ "merge: frame pointers that disagree", other_recursion },
		{ "merge: at a function's entry", function_entry },
		{ "merge: a uprobe's caller from sp", uprobe },
		{ "merge: no frame pointer where the dump ends", no_frame_pointer },
		{ "merge: frame pointers of another frame", another_frame },
		{ "merge: pages that are not there", not_in_memory },
		{ "merge: a frame larger than the dump", large_frame },
		{ "merge: no dump", no_dump },
		{ "merge: no dump, and no frame pointers", no_dump_no_frames },
		{ "merge: context words", contexts },
		{ "merge: no more than there is room for", bounded },
		{ "merge: what became of a sample", outcomes },
	};
	int status = tap_run(tests, ARRAY_SIZE(tests));

	scene_exit();
	return status;
}
