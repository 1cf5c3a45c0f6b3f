// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's chain and the unwound one, made one.
 */
#include <string.h>
#include "merge-scene.h"
#include "tap.h"

#define BP	HYBRID_X86_64_BP

#define USER	PERF_CONTEXT_USER

/* What a chain ends in that is not known to the outermost frame. */
#define CUT_OFF	hybrid_mark_ip(HYBRID_MARK_CUT_OFF)
#define GUESSED	hybrid_mark_ip(HYBRID_MARK_GUESSED)

/* The kernel's part of a chain is these three words. */
#define KERNEL	PERF_CONTEXT_KERNEL
#define IP_1	0xffffffff81000010
#define IP_2	0xffffffff81000020

/*
 * @nr times bpframe() with a body of two words, then outer(); and what the
 * kernel makes of it.
 */
static void recurse(unsigned int nr)
{
	static const u64 start[] = { KERNEL, IP_1, IP_2, USER };
	unsigned int i;

	scene_start(&s, scene_at("bpframe_at"));
	chain_start(start, ARRAY_SIZE(start));
	chain_add(scene_at("bpframe_at"));
	for (i = 0; i < nr; i++) {
		scene_fill(&s, 2, 0xdead);
		if (!i)
			scene_reg(&s, BP, scene_top(&s));
		scene_push_bpframe(&s, i + 1 < nr ? scene_top(&s) + 32 : 0,
				   scene_at(i + 1 < nr ? "bpframe_ret" : "outer_ret"));
		chain_add(s.stack[s.nr - 1]);
	}
}

/* The chain that recurse(@nr) should end as. */
static void expect_recursion(unsigned int nr, int line)
{
	u64 want[MERGE_MAX] = { KERNEL, IP_1, IP_2, USER };
	unsigned int i, n = 4;

	want[n++] = scene_at("bpframe_at");
	for (i = 1; i < nr; i++)
		want[n++] = scene_at("bpframe_ret") - 1;
	want[n++] = scene_at("outer_ret") - 1;
	merge_compare(want, n, __FILE__, line);
}

static void complete(void)
{
	recurse(10);
	same(merge(), HYBRID_COMPLETE);
	expect_recursion(10, __LINE__);

	/* The kernel knows nothing of the user part, or has none. */
	nr_chain = 4;
	same(merge(), HYBRID_COMPLETE);
	expect_recursion(10, __LINE__);
	nr_chain = 3;
	same(merge(), HYBRID_COMPLETE);
	expect_recursion(10, __LINE__);
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

	recurse(10);
	for (words = 0; words < 40; words++) {
		s.u.dump_size = words * 8;
		outcome = merge();
		if (outcome == HYBRID_STITCHED) {
			expect_recursion(10, __LINE__);
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

static void disagreeing(void)
{
	unsigned int i;
	u64 right;

	recurse(10);
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
	recurse(10);
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
		scene_reg(&s, BP, scene_top(&s));
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
	scene_reg(&s, BP, scene_top(&s));
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

/* The last page of user space: [uprobes], which no record tells of. */
#define TRAMPOLINE	0x7fffffffe000

/* Frame @i of recurse() returns to there, and the kernel knows where that leads. */
static void probe_return(unsigned int i)
{
	s.stack[4 * i + 3] = TRAMPOLINE;
}

/* Return probes of any of the frames, and a dump of any size. */
static void return_probes(void)
{
	unsigned int round, words, i;

	for (round = 0; round < 200; round++) {
		recurse(10);
		for (i = 0; i < 10; i++) {
			if (round == 0 || tap_random() % 2)
				probe_return(i);
		}
		same(merge(), HYBRID_COMPLETE);
		expect_recursion(10, __LINE__);
	}
	for (words = 4; words < 40; words++) {
		recurse(10);
		probe_return(2);
		probe_return(7);
		s.u.dump_size = words * 8;
		if (merge() == HYBRID_STITCHED)
			expect_recursion(10, __LINE__);
		else
			same(m.nr, 4 + 1 + words / 4 + 1);
	}
	merge_finish();
}

/* The kernel found the innermost caller otherwise, and has that before the others. */
static void return_probes_one_more(void)
{
	static const u64 start[] = { USER };
	enum hybrid_outcome outcome;
	unsigned int round, one_more, i;

	for (round = 0; round < 400; round++) {
		one_more = round % 2;
		scene_start(&s, scene_at("bpframe_entry"));
		scene_push(&s, scene_at("bpframe_ret"));
		chain_start(start, 1);
		chain_add(scene_at("bpframe_entry"));
		if (one_more)
			chain_add(scene_at("bpframe_ret"));
		for (i = 0; i < 4; i++) {
			scene_fill(&s, 2, 0xdead);
			if (!i)
				scene_reg(&s, BP, scene_top(&s));
			chain_add(scene_at(i < 3 ? "bpframe_ret" : "outer_ret"));
			scene_push_bpframe(&s, i < 3 ? scene_top(&s) + 32 : 0,
					   tap_random() % 2 ? TRAMPOLINE : chain[nr_chain - 1]);
		}
		outcome = merge();
		/* What is not clear is not taken: only where all that tells is replaced. */
		if (outcome != HYBRID_COMPLETE) {
			check(one_more && s.stack[s.nr - 1] == TRAMPOLINE);
			same(outcome, HYBRID_NO_MAP);
			continue;
		}
		merge_expect(USER, scene_at("bpframe_entry"), scene_at("bpframe_ret") - 1,
			     scene_at("bpframe_ret") - 1, scene_at("bpframe_ret") - 1,
			     scene_at("bpframe_ret") - 1, scene_at("outer_ret") - 1);
	}
	merge_finish();
}

/* Nothing is made up of a chain that does not know. */
static void return_probes_unknown(void)
{
	/* It has no user part. */
	recurse(10);
	probe_return(2);
	nr_chain = 3;
	same(merge(), HYBRID_NO_MAP);
	same(m.nr, 3 + 1 + 3 + 1);
	/* It has another address than one of the frames before. */
	recurse(10);
	probe_return(2);
	chain[5] = scene_at("pushed_ret");
	same(merge(), HYBRID_NO_MAP);
	same(m.nr, 4 + 3 + 1);
	/* What it has is no return address; or the trampoline, on an old kernel. */
	recurse(10);
	probe_return(2);
	chain[7] = scene_at("bpframe_entry");
	same(merge(), HYBRID_NO_MAP);
	chain[7] = TRAMPOLINE;
	same(merge(), HYBRID_NO_MAP);
	same(m.nr, 4 + 3 + 1);
	/* It ends before. */
	nr_chain = 7;
	same(merge(), HYBRID_NO_MAP);
	merge_finish();
}

/* Code without CFI, which only a call before the return address confirms. */
static void return_probes_no_cfi(void)
{
	u64 bare_at = SCENE_NOCFI + elf_file_symbol("nocfi.so", "bare_at");
	u64 bare_ret = SCENE_NOCFI + elf_file_symbol("nocfi.so", "bare_ret");
	static const u64 start[] = { USER };

	scene_start(&s, bare_at);
	scene_reg(&s, BP, SCENE_STACK);
	scene_push_bpframe(&s, SCENE_STACK + 16, TRAMPOLINE);
	scene_push_bpframe(&s, 0, TRAMPOLINE);
	chain_start(start, 1);
	chain_add(bare_at);
	chain_add(bare_ret);
	chain_add(scene_at("outer_ret"));
	same(merge(), HYBRID_COMPLETE);
	merge_expect(USER, bare_at, bare_ret - 1, scene_at("outer_ret") - 1);
	merge_finish();
}

/* Frames that it does not go through are not known to it, but those above are. */
static void return_probes_frameless(void)
{
	static const u64 start[] = { USER };
	unsigned int i;

	for (i = 0; i < 3; i++) {
		scene_start(&s, scene_at("leaf_at"));
		scene_push(&s, i == 2 ? TRAMPOLINE : scene_at("pushed_ret"));
		scene_push_pushed(&s, 0, scene_at("bpframe_ret"));
		scene_reg(&s, BP, scene_top(&s));
		scene_push_bpframe(&s, 0, i ? TRAMPOLINE : scene_at("outer_ret"));
		chain_start(start, 1);
		chain_add(scene_at("leaf_at"));
		chain_add(scene_at("outer_ret"));
		same(merge(), i < 2 ? HYBRID_COMPLETE : HYBRID_NO_MAP);
		if (i < 2)
			merge_expect(USER, scene_at("leaf_at"), scene_at("pushed_ret") - 1,
				     scene_at("bpframe_ret") - 1, scene_at("outer_ret") - 1);
		else
			merge_expect(USER, scene_at("leaf_at"), CUT_OFF);
	}
	merge_finish();
}

/* Without a frame pointer at the dump's end, the kernel's chain is another's. */
static void no_frame_pointer(void)
{
	static const u64 start[] = { USER };

	scene_start(&s, scene_at("bpframe_at"));
	scene_reg(&s, BP, SCENE_STACK);
	scene_push_bpframe(&s, SCENE_STACK + 48, scene_at("pushed_ret"));
	scene_push_pushed(&s, 0, scene_at("bpframe_ret"));
	scene_push_bpframe(&s, 0, scene_at("outer_ret"));
	chain_start(start, 1);
	chain_add(scene_at("bpframe_at"));
	chain_add(scene_at("pushed_ret"));
	chain_add(scene_at("outer_ret"));
	s.u.dump_size = 4 * 8;
	same(merge(), HYBRID_TRUNCATED);
	merge_expect(USER, scene_at("bpframe_at"), scene_at("pushed_ret") - 1, CUT_OFF);

	/* Behind the dump: what pushed() calls is leaf(). */
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
	recurse(3);
	m.kernel = chain;
	m.nr_kernel = nr_chain;
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
	m.nr_kernel = nr_chain;
	same(hybrid_merge(&scene_unwinder, &m), HYBRID_FP_ONLY);
	expect_copy();
	m.nr_kernel = 3;
	same(hybrid_merge(&scene_unwinder, &m), HYBRID_COMPLETE);
	merge_expect(KERNEL, IP_1, IP_2);
	m.nr_kernel = 0;
	same(hybrid_merge(&scene_unwinder, &m), HYBRID_COMPLETE);
	same(m.nr, 0);

	/* Of a process that nothing is known of, no address can be shown to be a caller. */
	m.nr_kernel = nr_chain;
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
		m.kernel = chain;
		m.nr_kernel = nr_chain;
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

	recurse(2);
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

static void bounded(void)
{
	unsigned int room, frames;

	recurse(10);
	for (room = 0; room < 12; room++) {
		m.max = nr_chain + 2 - 11 + room;
		m.tail = &tail;
		merge();
		check(m.nr <= m.max);
		same(out[m.max], 0xeeeeeeeeeeeeeeee);
	}
	merge_finish();
	/* max_frames holds for what is joined, too: room for no more is there. */
	for (frames = 1; frames < 11; frames++) {
		recurse(10);
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

int main(void)
{
	static const struct tap_test tests[] = {
		{ "merge: complete chains", complete },
		{ "merge: the dump ends anywhere in a recursion", stitched },
		{ "merge: chains that disagree", disagreeing },
		{ "merge: frame pointers that disagree", other_recursion },
		{ "merge: at a function's entry", function_entry },
		{ "merge: a uprobe's caller from sp", uprobe },
		{ "merge: return probes", return_probes },
		{ "merge: return probes, and a caller by sp", return_probes_one_more },
		{ "merge: return probes that the kernel's chain has not", return_probes_unknown },
		{ "merge: return probes in code without CFI", return_probes_no_cfi },
		{ "merge: return probes of frames without a pointer", return_probes_frameless },
		{ "merge: no frame pointer where the dump ends", no_frame_pointer },
		{ "merge: frame pointers of another frame", another_frame },
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
