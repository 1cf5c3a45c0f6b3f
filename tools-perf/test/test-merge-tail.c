// SPDX-License-Identifier: GPL-2.0
/*
 * Chains that go on by what the thread was seen to be in before.
 */
#include <string.h>
#include "../hybrid/runtime/walk-interpreter.h"
#include "merge-scene.h"
#include "tap.h"

/*
 * What the sample showed is believed: its stack was deeper than the dump, and it was
 * seen for a while.
 */
static void settle(unsigned int dump_size)
{
	u64 size = s.u.dump_size;
	unsigned int i;

	s.u.dump_size = dump_size;
	merge();
	s.u.dump_size = size;
	for (i = 0; i < 64; i++)
		merge();
}

static bool is_guessed(void)
{
	unsigned int i;

	for (i = 0; i < m.nr; i++) {
		if (out[i] == hybrid_synthetic_ip(HYBRID_SYNTHETIC_GUESSED))
			return true;
	}
	return false;
}

static void learned(void)
{
	unsigned int words;

	m.tail = &tail;
	merge_pushed(10);
	s.u.dump_size = 200;
	same(merge(), HYBRID_TRUNCATED);
	merge_finish();

	m.tail = &tail;
	merge_pushed(10);
	same(merge(), HYBRID_COMPLETE);
	settle(8);
	/* Two frames are needed: the call and where it returns to. */
	for (words = 1; words < s.nr; words++) {
		s.u.dump_size = words * 8;
		same(merge(), HYBRID_STITCHED);
		/* All frames, and a mark before those that the sample does not show. */
		same(m.nr, 14);
		same(out[13], scene_at("outer_ret") - 1);
		check(is_guessed());
	}
	/* Another return address at the join: other callers, unknown ones. */
	s.stack[0] = scene_at("raoff_at");
	s.u.dump_size = 8;
	check(merge() != HYBRID_STITCHED);
	merge_finish();
}

/* Learned frames are cut to the room for frames. */
static void learned_bounded(void)
{
	unsigned int frames;

	for (frames = 2; frames < 12; frames++) {
		m.tail = &tail;
		merge_pushed(10);
		same(merge(), HYBRID_COMPLETE);
		settle(8);
		s.u.dump_size = 8;
		s.u.max_frames = frames;
		memset(&s.frames[frames], 0xee, sizeof(s.frames[0]));
		same(merge(), HYBRID_TRUNCATED);
		same(m.nr, 1 + frames + (frames > 2) + 1);
		same(out[m.nr - 1], hybrid_synthetic_ip(HYBRID_SYNTHETIC_CUT_OFF));
		same(s.frames[frames].ip, 0xeeeeeeeeeeeeeeee);
		merge_finish();
	}
}

/* More frames than any buffer on the way has room for. */
static void learned_deep(void)
{
	m.tail = &tail;
	merge_pushed(400);
	same(merge(), HYBRID_COMPLETE);
	same(m.nr, 403);
	settle(8);
	s.u.dump_size = 64;
	same(merge(), HYBRID_STITCHED);
	same(m.nr, 404);
	merge_finish();
}

/* The address of the start code, known to stand elsewhere: another stack. */
static void root_elsewhere(void)
{
	m.tail = &tail;
	merge_pushed(1);
	same(merge(), HYBRID_COMPLETE);
	merge_pushed(1);
	s.u.dump_start += 64;
	s.u.regs.value[HYBRID_X86_64_SP] += 64;
	s.u.dump_size = 8;
	same(merge(), HYBRID_TRUNCATED);
	merge_expect(PERF_CONTEXT_USER, scene_at("leaf_at"), scene_at("pushed_ret") - 1,
		     hybrid_synthetic_ip(HYBRID_SYNTHETIC_CUT_OFF));
	merge_finish();
}

/* Frames that the kernel's chain added must be among the learned ones. */
static void kernel_disagrees(void)
{
	static const u64 start[] = { PERF_CONTEXT_USER };
	unsigned int i;

	scene_start(&s, scene_at("bpframe_at"));
	scene_reg(&s, HYBRID_X86_64_BP, SCENE_STACK);
	for (i = 0; i < 2; i++)
		scene_push_bpframe(&s, scene_top(&s) + 16, scene_at("bpframe_ret"));
	scene_push_bpframe(&s, 0, scene_at("outer_ret"));
	chain_start(start, 1);
	chain_add(scene_at("bpframe_at"));
	chain_add(scene_at("bpframe_ret"));
	chain_add(scene_at("bpframe_ret"));
	m.tail = &tail;
	same(merge(), HYBRID_COMPLETE);
	settle(16);

	chain_add(scene_at("far_ret"));
	s.u.dump_size = 16;
	same(merge(), HYBRID_TRUNCATED);
	merge_expect(PERF_CONTEXT_USER, scene_at("bpframe_at"), scene_at("bpframe_ret") - 1,
		     scene_at("bpframe_ret") - 1, scene_at("far_ret") - 1,
		     hybrid_synthetic_ip(HYBRID_SYNTHETIC_CUT_OFF));
	merge_finish();

	/* The same, with a chain that agrees. */
	s.u.dump_size = s.nr * 8;
	m.tail = &tail;
	same(merge(), HYBRID_COMPLETE);
	settle(16);
	nr_chain--;
	s.u.dump_size = 16;
	same(merge(), HYBRID_STITCHED);
	same(m.nr, 6);
	same(out[5], scene_at("outer_ret") - 1);
	check(is_guessed());
	merge_finish();
}

/* BPF's frames lead to where the thread began, which runs once: nothing is guessed. */
static void start_by_links(void)
{
	static const u64 start[] = { PERF_CONTEXT_USER };
	u64 links[2 * 4];
	unsigned int i;

	m.tail = &tail;
	scene_start(&s, scene_at("leaf_at"));
	chain_start(start, 1);
	/* V8's, which any call may lead to. */
	s.u.space->entries_id = 1;
	scene_push(&s, SCENE_JIT + 200);
	scene_reg_top(&s, HYBRID_X86_64_BP);
	for (i = 0; i < 4; i++) {
		links[2 * i] = scene_top(&s) | HYBRID_WALK_NATIVE_LINK;
		links[2 * i + 1] = i < 3 ? SCENE_JIT + 200 : scene_at("pushed_ret");
		scene_push_bpframe(&s, scene_top(&s) + 16, links[2 * i + 1]);
	}
	scene_push_pushed(&s, 0, scene_at("outer_ret"));
	same(merge(), HYBRID_COMPLETE);
	settle(8);
	s.u.dump_size = 24;
	m.links = (struct hybrid_links) { .words = links, .nr = 4 };
	same(merge(), HYBRID_STITCHED);
	merge_expect(PERF_CONTEXT_USER, scene_at("leaf_at"), SCENE_JIT + 199, SCENE_JIT + 199,
		     SCENE_JIT + 199, SCENE_JIT + 199, scene_at("pushed_ret") - 1,
		     scene_at("outer_ret") - 1);
	/* One of them has not called: the chain ends before it, and with a mark. */
	links[2 * 2 + 1] = scene_at("leaf_at");
	m.tail = NULL;
	same(merge(), HYBRID_TRUNCATED);
	merge_expect(PERF_CONTEXT_USER, scene_at("leaf_at"), SCENE_JIT + 199, SCENE_JIT + 199,
		     SCENE_JIT + 199, hybrid_synthetic_ip(HYBRID_SYNTHETIC_CUT_OFF));
	same(s.u.sure, s.u.nr);
	memset(&m.links, 0, sizeof(m.links));
	s.u.space->entries_id = 0;
	merge_finish();
}

/* The kernel's chain ends anywhere: its frames are among the learned ones, and those go on. */
static void kernel_agrees(void)
{
	static const u64 start[] = { PERF_CONTEXT_USER };
	unsigned int i, nr, wrong;

	scene_start(&s, scene_at("bpframe_at"));
	scene_reg(&s, HYBRID_X86_64_BP, SCENE_STACK);
	for (i = 0; i < 6; i++)
		scene_push_bpframe(&s, scene_top(&s) + 16, scene_at("bpframe_ret"));
	scene_push_bpframe(&s, 0, scene_at("outer_ret"));
	chain_start(start, 1);
	chain_add(scene_at("bpframe_at"));
	m.tail = &tail;
	same(merge(), HYBRID_COMPLETE);
	settle(16);
	s.u.dump_size = 16;
	for (nr = 0; nr < 6; nr++) {
		nr_chain = 2;
		for (i = 0; i < nr; i++)
			chain_add(scene_at("bpframe_ret"));
		same(merge(), HYBRID_STITCHED);
		same(m.nr, 1 + 8 + 1);
		same(out[m.nr - 1], scene_at("outer_ret") - 1);
		check(is_guessed());
		for (wrong = 3; wrong < nr_chain; wrong++) {
			chain[wrong] = scene_at("far_ret");
			check(merge() != HYBRID_STITCHED);
			same(out[m.nr - 1], hybrid_synthetic_ip(HYBRID_SYNTHETIC_CUT_OFF));
			chain[wrong] = scene_at("bpframe_ret");
		}
	}
	merge_finish();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "merge: a learned tail", learned },
		{ "merge: a learned tail, cut", learned_bounded },
		{ "merge: a learned tail of 400 frames", learned_deep },
		{ "merge: a learned tail and a kernel chain that disagree", kernel_disagrees },
		{ "merge: a learned tail and a kernel chain that agree", kernel_agrees },
		{ "merge: the start code of another stack", root_elsewhere },
		{ "merge: the start of a thread behind frames of BPF's", start_by_links },
	};
	int status = tap_run(tests, ARRAY_SIZE(tests));

	scene_exit();
	return status;
}
