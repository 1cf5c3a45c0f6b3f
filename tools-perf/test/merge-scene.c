// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include "merge-scene.h"
#include "tap.h"
#include "uretprobe.h"

struct scene s;
struct hybrid_merge m;
struct hybrid_tail tail;
u64 chain[MERGE_MAX], out[MERGE_MAX];
unsigned int nr_chain;

void chain_start(const u64 *ips, unsigned int nr)
{
	if (nr)
		memcpy(chain, ips, nr * sizeof(*ips));
	nr_chain = nr;
}

void chain_add(u64 ip)
{
	chain[nr_chain++] = ip;
}

void merge_pushed(unsigned int nr)
{
	static const u64 start[] = { PERF_CONTEXT_USER };

	scene_start(&s, scene_at("leaf_at"));
	scene_push(&s, scene_at("pushed_ret"));
	while (nr--)
		scene_push_pushed(&s, 0, scene_at(nr ? "pushed_ret" : "outer_ret"));
	chain_start(start, 1);
}

void merge_recurse(unsigned int nr)
{
	static const u64 start[] = { KERNEL, IP_1, IP_2, USER };
	unsigned int i;

	scene_start(&s, scene_at("bpframe_at"));
	chain_start(start, ARRAY_SIZE(start));
	chain_add(scene_at("bpframe_at"));
	for (i = 0; i < nr; i++) {
		scene_fill(&s, 2, 0xdead);
		if (!i)
			scene_reg(&s, HYBRID_X86_64_BP, scene_top(&s));
		scene_push_bpframe(&s, i + 1 < nr ? scene_top(&s) + 32 : 0,
				   scene_at(i + 1 < nr ? "bpframe_ret" : "outer_ret"));
		chain_add(s.stack[s.nr - 1]);
	}
}

enum hybrid_outcome merge(void)
{
	m.kernel = chain;
	m.nr_kernel = nr_chain;
	m.unwind = &s.u;
	m.out = out;
	m.max = m.max ?: MERGE_MAX;
	memset(out, 0xee, sizeof(out));
	hybrid_uretprobe_chain(&s.u, chain, nr_chain);
	hybrid_unwind(&scene_unwinder, &s.u);
	return hybrid_merge(&scene_unwinder, &m);
}

void merge_finish(void)
{
	hybrid_tail_exit(&tail);
	memset(&m, 0, sizeof(m));
}

void merge_compare(const u64 *want, unsigned int nr, const char *file, int line)
{
	unsigned int i;

	tap_same(m.nr, nr, file, line, "number of entries");
	for (i = 0; i < nr && i < m.nr; i++)
		tap_same(out[i], want[i], file, line, "entry");
}

void merge_expect_recursion(unsigned int nr, int line)
{
	u64 want[MERGE_MAX] = { KERNEL, IP_1, IP_2, USER };
	unsigned int i, n = 4;

	want[n++] = scene_at("bpframe_at");
	for (i = 1; i < nr; i++)
		want[n++] = scene_at("bpframe_ret") - 1;
	want[n++] = scene_at("outer_ret") - 1;
	merge_compare(want, n, __FILE__, line);
}
