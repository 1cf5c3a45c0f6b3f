// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include "kernel-chain.h"
#include "kernel-walk.h"
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

const struct hybrid_kernel_chain *kernel_chain(const u64 *ips, unsigned int nr)
{
	static struct hybrid_kernel_chain kernel;

	hybrid_kernel_chain_parse(ips, nr, &kernel);
	return &kernel;
}

enum hybrid_outcome merge(void)
{
	m.kernel = kernel_chain(chain, nr_chain);
	m.unwind = &s.u;
	m.out = out;
	m.max = m.max ?: MERGE_MAX;
	memset(out, 0xee, sizeof(out));
	s.u.user = m.kernel->user;
	s.u.nr_user = m.kernel->nr_user;
	s.u.user_at = 0;
	hybrid_unwind(&scene_unwinder, &s.u);
	return hybrid_merge(&scene_unwinder, &m);
}

/* The kernel's chain of what was unwound: all return addresses as they are. */
void chain_of_walk(u64 info)
{
	static const u64 kernel[] = { PERF_CONTEXT_KERNEL, 0xffffffff81000010,
				      0xffffffff81000020, PERF_CONTEXT_USER_RULES };
	unsigned int i;

	chain_start(kernel, ARRAY_SIZE(kernel));
	chain_add(info);
	chain_add(PERF_CONTEXT_USER);
	for (i = 0; i < s.u.nr; i++)
		chain_add(s.frames[i].ret);
}

/* As hybrid_core_callchain() does it. */
enum hybrid_outcome merge_walk(void)
{
	s.u.dump_size = 0;
	m.kernel = kernel_chain(chain, nr_chain);
	hybrid_kernel_walk_frames(&scene_unwinder, &s.u, m.kernel, true);
	m.unwind = &s.u;
	m.out = out;
	m.max = MERGE_MAX;
	memset(out, 0xee, sizeof(out));
	return hybrid_merge(&scene_unwinder, &m);
}

/* @ips: a whole chain, as BPF has walked it. */
void walk_chain(const u64 *ips, unsigned int nr)
{
	unsigned int i;

	scene_start(&s, ips[0]);
	chain_start(NULL, 0);
	chain_add(PERF_CONTEXT_USER_RULES);
	chain_add(OUTERMOST);
	chain_add(PERF_CONTEXT_USER);
	for (i = 0; i < nr; i++)
		chain_add(ips[i]);
	hybrid_kernel_walk_frames(&scene_unwinder, &s.u, kernel_chain(chain, nr_chain),
				  false);
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
