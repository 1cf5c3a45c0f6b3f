// SPDX-License-Identifier: GPL-2.0
/*
 * Samples without a dump: what reaches the file must be what the unwinder would
 * have written, had it seen the stack.
 */
#include <string.h>
#include "merge-scene.h"
#include "kernel-walk.h"
#include "known-walk.h"
#include "tap.h"

#define OUTERMOST	(PERF_UNWIND_END_OUTERMOST | 3 << 16)

static u64 unwound[MERGE_MAX];
static unsigned int nr_unwound;

/* The kernel's chain of what was unwound: all return addresses as they are. */
static void make_chain(u64 info)
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

/* As unwind_once() and make_chain() of recording/sample.c do it. */
static enum hybrid_outcome merge_loaded(void)
{
	s.u.dump_size = 0;
	hybrid_kernel_walk_frames(&scene_unwinder, &s.u, chain, nr_chain, true);
	m.kernel = chain;
	m.nr_kernel = nr_chain;
	m.unwind = &s.u;
	m.out = out;
	m.max = MERGE_MAX;
	memset(out, 0xee, sizeof(out));
	return hybrid_merge(&scene_unwinder, &m);
}

/* Unwinds the scene from its dump, then takes it as the kernel would give it. */
static void expect_same(void)
{
	static const u64 kernel[] = { PERF_CONTEXT_KERNEL, 0xffffffff81000010,
				      0xffffffff81000020, PERF_CONTEXT_USER };
	unsigned int i;

	chain_start(kernel, ARRAY_SIZE(kernel));
	same(merge(), HYBRID_COMPLETE);
	memcpy(unwound, out, sizeof(out));
	nr_unwound = m.nr;
	make_chain(OUTERMOST);
	same(merge_loaded(), HYBRID_COMPLETE);
	same(s.u.stop, HYBRID_STOP_OUTERMOST);
	same(m.nr, nr_unwound);
	for (i = 0; i < nr_unwound; i++)
		same(out[i], unwound[i]);
	merge_finish();
}

static void plain(void)
{
	unsigned int nr;

	for (nr = 1; nr < 20; nr++) {
		merge_pushed(nr);
		expect_same();
	}
}

/* The trampoline and what was interrupted are no callers: their addresses stay. */
static void signals(void)
{
	/* Words of struct ucontext. */
	unsigned int at = 1;

	scene_start(&s, scene_at("leaf_at"));
	scene_push(&s, scene_at("sigframe_ret"));
	scene_fill(&s, 22, 0);
	s.stack[at + 20] = scene_top(&s);
	s.stack[at + 21] = scene_at("bpframe_entry");
	scene_push(&s, scene_at("outer_ret"));
	expect_same();
	same(unwound[5], scene_at("sigframe_ret"));
	same(unwound[6], scene_at("bpframe_entry"));
	same(unwound[7], scene_at("outer_ret") - 1);
}

/* The call is the last instruction of its function. */
static void noreturn(void)
{
	scene_start(&s, scene_at("leaf_at"));
	scene_push(&s, scene_at("noret_ret"));
	scene_fill(&s, 1, 0);
	scene_push(&s, scene_at("outer_ret"));
	expect_same();
}

/* Neither the word nor its info reaches a file, whatever the info says. */
static void stripped(void)
{
	unsigned int end, i;

	for (end = PERF_UNWIND_END_NONE; end <= PERF_UNWIND_END_BUSY; end++) {
		merge_pushed(3);
		hybrid_unwind(&scene_unwinder, &s.u);
		make_chain(end);
		same(merge(), HYBRID_COMPLETE);
		same(m.nr, 4 + s.u.nr);
		for (i = 0; i < m.nr; i++)
			check(out[i] != PERF_CONTEXT_USER_RULES && out[i] != end);
		merge_finish();
	}
}

/* Cut off behind the word, or behind its info. */
static void cut_off(void)
{
	static const u64 bare[] = { PERF_CONTEXT_KERNEL, 0x10, PERF_CONTEXT_USER_RULES, 0 };
	unsigned int nr;
	u64 info;

	for (nr = 0; nr <= ARRAY_SIZE(bare); nr++) {
		same(hybrid_chain_info(bare, nr, &info), nr == ARRAY_SIZE(bare));
		chain_start(bare, nr);
		merge_pushed(2);
		chain_start(bare, nr);
		merge();
		check(m.nr >= s.u.nr + 1);
		merge_finish();
	}
}

/* No such task: the chain is complete all the same. */
static void no_thread(void)
{
	merge_pushed(3);
	hybrid_unwind(&scene_unwinder, &s.u);
	make_chain(OUTERMOST);
	m = (struct hybrid_merge) {
		.kernel = chain, .nr_kernel = nr_chain, .out = out, .max = MERGE_MAX,
	};
	same(hybrid_merge(&scene_unwinder, &m), HYBRID_COMPLETE);
	same(m.nr, 4 + s.u.nr);
	make_chain(PERF_UNWIND_END_NO_RULE);
	m.nr_kernel = nr_chain;
	same(hybrid_merge(&scene_unwinder, &m), HYBRID_FP_ONLY);
	merge_finish();
}

static void limit(void)
{
	merge_pushed(10);
	hybrid_unwind(&scene_unwinder, &s.u);
	make_chain(OUTERMOST);
	s.u.max_frames = 4;
	same(merge_loaded(), HYBRID_TRUNCATED);
	same(s.u.nr, 4);
	merge_finish();
}

/* Its frames have no places: the same chain, and nothing to join to. */
static void no_places(void)
{
	merge_pushed(10);
	same(merge(), HYBRID_COMPLETE);
	nr_unwound = m.nr;
	memcpy(unwound, out, sizeof(out));
	make_chain(OUTERMOST);
	m.tail = &tail;
	same(merge_loaded(), HYBRID_COMPLETE);
	same(m.nr, nr_unwound + 3);
	same(out[m.nr - 1], unwound[nr_unwound - 1]);
	same(tail.nr, 0);
	merge_finish();
}

/* A walk that has not looked at the code: the chain ends where that contradicts it. */
static void confirm_once(void)
{
	unsigned int nr, wrong;

	merge_pushed(4);
	merge();
	make_chain(OUTERMOST);
	nr = s.u.nr;
	for (wrong = 1; wrong < nr; wrong++) {
		chain[nr_chain - nr + wrong]++;
		hybrid_kernel_walk_frames(&scene_unwinder, &s.u, chain, nr_chain, true);
		same(s.u.nr, nr);
		hybrid_kernel_walk_frames(&scene_unwinder, &s.u, chain, nr_chain, false);
		same(s.u.stop, HYBRID_STOP_BAD_FRAME);
		same(s.u.nr, wrong);
		same(s.u.sure, wrong);
		chain[nr_chain - nr + wrong]--;
	}
	hybrid_kernel_walk_frames(&scene_unwinder, &s.u, chain, nr_chain, false);
	same(s.u.stop, HYBRID_STOP_OUTERMOST);
	same(s.u.nr, nr);
	/* As a goroutine's: behind the first byte of what has no caller, and there alone. */
	chain[nr_chain - 1] = scene_at("outer") + 1;
	hybrid_kernel_walk_frames(&scene_unwinder, &s.u, chain, nr_chain, false);
	same(s.u.stop, HYBRID_STOP_OUTERMOST);
	same(s.u.nr, nr);
	chain[nr_chain - 2] = scene_at("outer") + 1;
	hybrid_kernel_walk_frames(&scene_unwinder, &s.u, chain, nr_chain, false);
	same(s.u.stop, HYBRID_STOP_BAD_FRAME);
	same(s.u.nr, nr - 2);
	merge_finish();
}

/* What the first time has found is known the second time. */
static void confirmed(void)
{
	confirm_once();
	confirm_once();
}

/* @ips: a whole chain, as BPF has walked it. */
static void walked(const u64 *ips, unsigned int nr)
{
	unsigned int i;

	scene_start(&s, ips[0]);
	chain_start(NULL, 0);
	chain_add(PERF_CONTEXT_USER_RULES);
	chain_add(OUTERMOST);
	chain_add(PERF_CONTEXT_USER);
	for (i = 0; i < nr; i++)
		chain_add(ips[i]);
	hybrid_kernel_walk_frames(&scene_unwinder, &s.u, chain, nr_chain, false);
}

/* In sigreturn(), behind the trampoline: no CFI, and what was interrupted has not called. */
static void in_sigreturn(void)
{
	const u64 ips[] = {
		scene_at("sigframe_ret") + 7, scene_at("bpframe_entry"), scene_at("outer_ret"),
	};

	walked(ips, ARRAY_SIZE(ips));
	same(s.u.stop, HYBRID_STOP_OUTERMOST);
	same(s.u.nr, ARRAY_SIZE(ips));
}

/* What code without CFI has told counts where the call leads there. */
static void by_code(void)
{
	u64 bare = SCENE_NOCFI + elf_file_symbol("nocfi.so", "bare_at");
	u64 bare_ret = SCENE_NOCFI + elf_file_symbol("nocfi.so", "bare_ret");
	const u64 called[] = { bare, bare_ret }, not_called[] = { bare, scene_at("pushed_ret") };

	walked(called, ARRAY_SIZE(called));
	same(s.u.stop, HYBRID_STOP_OUTERMOST);
	same(s.u.nr, 2);
	walked(not_called, ARRAY_SIZE(not_called));
	same(s.u.stop, HYBRID_STOP_NO_CFI);
	same(s.u.nr, 1);
}

/* The user part of the chain that make_chain() has made, and where its frames are to be. */
static const u64 *user_ips(void)
{
	return chain + nr_chain - s.u.nr;
}

static void forget(void)
{
	memset(scene_unwinder.cache, 0, sizeof(scene_unwinder.cache));
}

static bool known(void)
{
	return hybrid_known_walk(&scene_unwinder, s.u.space, user_ips(), s.u.nr, out);
}

static void learn(void)
{
	hybrid_known_walk_learn(&scene_unwinder, s.u.space, user_ips(), s.u.nr,
				m.out + m.nr - s.u.nr);
}

/* A pushed() stack as BPF has walked it, merged. */
static void walked_pushed(unsigned int nr)
{
	merge_pushed(nr);
	hybrid_unwind(&scene_unwinder, &s.u);
	make_chain(OUTERMOST);
	same(merge_loaded(), HYBRID_COMPLETE);
}

/* Known after the first time: the same frames, and of other lengths of the same stack, too. */
static void known_again(void)
{
	unsigned int nr, i;

	forget();
	walked_pushed(3);
	check(!known());
	learn();
	merge_finish();
	for (nr = 3; nr < 20; nr++) {
		walked_pushed(nr);
		memcpy(unwound, out + m.nr - s.u.nr, s.u.nr * sizeof(*unwound));
		check(known());
		for (i = 0; i < s.u.nr; i++)
			same(out[i], unwound[i]);
		merge_finish();
	}
}

/* Each address in its place: an unknown one, one of another place, or the end in the middle. */
static void known_places(void)
{
	unsigned int nr, wrong;
	u64 *ips, first, caller;

	forget();
	walked_pushed(4);
	learn();
	nr = s.u.nr;
	ips = chain + nr_chain - nr;
	for (wrong = 0; wrong < nr; wrong++) {
		ips[wrong]++;
		check(!known());
		ips[wrong]--;
	}
	check(known());
	s.u.nr--;
	nr_chain--;
	check(!known());
	s.u.nr++;
	nr_chain++;
	/* A return address as the sampled one. */
	first = ips[0];
	ips[0] = ips[1] - 1;
	check(!known());
	ips[0] = first;
	/* And the sampled one as a caller's. */
	caller = ips[1];
	ips[1] = first + 1;
	check(!known());
	ips[1] = caller;
	check(known());
	/* Other mappings. */
	s.u.space->gen++;
	check(!known());
	s.u.space->gen--;
	check(known());
	merge_finish();
}

/* A whole chain that is not copied when it comes again. */
static void complete_and_unknown(const u64 *ips, unsigned int nr)
{
	forget();
	walked(ips, nr);
	same(merge_loaded(), HYBRID_COMPLETE);
	learn();
	check(!known());
	merge_finish();
}

/* A signal's frames are no return addresses: each time anew. */
static void known_signal(void)
{
	const u64 ips[] = {
		scene_at("leaf_at"), scene_at("sigframe_ret"), scene_at("bpframe_entry"),
		scene_at("outer_ret"),
	};

	complete_and_unknown(ips, ARRAY_SIZE(ips));
}

/* Code without CFI: whether it was called depends on what called it. */
static void known_by_code(void)
{
	const u64 ips[] = {
		SCENE_NOCFI + elf_file_symbol("nocfi.so", "bare_at"),
		SCENE_NOCFI + elf_file_symbol("nocfi.so", "bare_ret"),
		scene_at("outer_ret"),
	};

	complete_and_unknown(ips, ARRAY_SIZE(ips));
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "loaded: frames without pointers", plain },
		{ "loaded: a signal's return", signals },
		{ "loaded: a call that never returns", noreturn },
		{ "loaded: the context word is taken out", stripped },
		{ "loaded: a chain that is cut off", cut_off },
		{ "loaded: a task that is not known", no_thread },
		{ "loaded: more frames than were asked for", limit },
		{ "loaded: nothing to join to", no_places },
		{ "loaded: return addresses that no call stands before", confirmed },
		{ "loaded: in the call that ends a signal's trampoline", in_sigreturn },
		{ "loaded: callers by code without CFI", by_code },
		{ "known: through known addresses, other chains too", known_again },
		{ "known: each address in its place", known_places },
		{ "known: never through a signal's frame", known_signal },
		{ "known: never through code without CFI", known_by_code },
	};
	int ret = tap_run(tests, ARRAY_SIZE(tests));

	scene_exit();
	return ret;
}
