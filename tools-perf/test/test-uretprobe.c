// SPDX-License-Identifier: GPL-2.0
/*
 * Return probes: the kernel's chain has the addresses that their trampoline replaced.
 */
#include "merge-scene.h"
#include "tap.h"

#define BP	HYBRID_X86_64_BP

/* The last page of user space: [uprobes], which no record tells of. */
#define TRAMPOLINE	0x7fffffffe000

/* Frame @i of merge_recurse() returns to there, and the kernel knows where that leads. */
static void probe_return(unsigned int i)
{
	s.stack[4 * i + 3] = TRAMPOLINE;
}

/* Return probes of any of the frames, and a dump of any size. */
static void return_probes(void)
{
	unsigned int round, words, i;

	for (round = 0; round < 200; round++) {
		merge_recurse(10);
		for (i = 0; i < 10; i++) {
			if (round == 0 || tap_random() % 2)
				probe_return(i);
		}
		same(merge(), HYBRID_COMPLETE);
		merge_expect_recursion(10, __LINE__);
	}
	for (words = 4; words < 40; words++) {
		merge_recurse(10);
		probe_return(2);
		probe_return(7);
		s.u.dump_size = words * 8;
		if (merge() == HYBRID_STITCHED)
			merge_expect_recursion(10, __LINE__);
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
	merge_recurse(10);
	probe_return(2);
	nr_chain = 3;
	same(merge(), HYBRID_NO_MAP);
	same(m.nr, 3 + 1 + 3 + 1);
	/* It has another address than one of the frames before. */
	merge_recurse(10);
	probe_return(2);
	chain[5] = scene_at("pushed_ret");
	same(merge(), HYBRID_NO_MAP);
	same(m.nr, 4 + 3 + 1);
	/* What it has is no return address; or the trampoline, on an old kernel. */
	merge_recurse(10);
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

int main(void)
{
	static const struct tap_test tests[] = {
		{ "merge: return probes", return_probes },
		{ "merge: return probes, and a caller by sp", return_probes_one_more },
		{ "merge: return probes that the kernel's chain has not", return_probes_unknown },
		{ "merge: return probes in code without CFI", return_probes_no_cfi },
		{ "merge: return probes of frames without a pointer", return_probes_frameless },
	};
	int status = tap_run(tests, ARRAY_SIZE(tests));

	scene_exit();
	return status;
}
