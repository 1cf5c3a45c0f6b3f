// SPDX-License-Identifier: GPL-2.0
/*
 * Where the kernel's frame pointer chain is joined to the frames of a dump: which of the two ways
 * to read it is taken, and that nothing behind its end is read.
 */
#include <stdlib.h>
#include <string.h>
#include "merge-scene.h"
#include "tap.h"

/* bpframe() was sampled at its entry; three frames of it, two of which are in the dump. */
static void start(void)
{
	static const u64 user[] = { USER };

	scene_start(&s, scene_at("bpframe_entry"));
	scene_push(&s, scene_at("bpframe_ret"));
	scene_fill(&s, 2, 0xdead);
	scene_reg_top(&s, HYBRID_X86_64_BP);
	scene_push_bpframe(&s, scene_top(&s) + 32, scene_at("bpframe_ret"));
	scene_fill(&s, 2, 0xdead);
	scene_push_bpframe(&s, 0, scene_at("outer_ret"));
	s.u.dump_size = 5 * 8;
	chain_start(user, ARRAY_SIZE(user));
	chain_add(scene_at("bpframe_entry"));
}

/* At a probe, a chain that fits only without the word at sp is read without it. */
static void one_way(void)
{
	start();
	chain_add(scene_at("bpframe_ret"));
	chain_add(scene_at("outer_ret"));
	m.at_probe = true;
	same(merge(), HYBRID_STITCHED);
	m.at_probe = false;
	merge_expect(USER, scene_at("bpframe_entry"), scene_at("bpframe_ret") - 1,
		     scene_at("bpframe_ret") - 1, scene_at("outer_ret") - 1);
	merge_finish();
}

/* The kernel's chain is shorter than the dump: no word behind it is read. */
static void short_chain(void)
{
	u64 *ips;

	start();
	ips = malloc(nr_chain * sizeof(*ips));
	check(ips);
	if (!ips)
		return;
	memcpy(ips, chain, nr_chain * sizeof(*ips));
	m = (struct hybrid_merge) {
		.kernel = kernel_chain(ips, nr_chain), .unwind = &s.u, .out = out,
		.max = MERGE_MAX,
	};
	hybrid_unwind(&scene_unwinder, &s.u);
	same(s.u.stop, HYBRID_STOP_DUMP_END);
	same(hybrid_merge(&scene_unwinder, &m), HYBRID_TRUNCATED);
	free(ips);
	merge_finish();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "merge: one of two ways fits", one_way },
		{ "merge: a short chain of the kernel's", short_chain },
	};
	int status = tap_run(tests, ARRAY_SIZE(tests));

	scene_exit();
	return status;
}
