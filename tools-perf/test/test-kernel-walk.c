// SPDX-License-Identifier: GPL-2.0
/*
 * Samples without a dump: what reaches the file must be what the unwinder would
 * have written, had it seen the stack.
 */
#include <string.h>
#include "../hybrid/bpf_skel/hybrid_walk.h"
#include "merge-scene.h"
#include "kernel-chain.h"
#include "kernel-walk.h"
#include "tap.h"
#include "walk.h"

static u64 unwound[MERGE_MAX];
static unsigned int nr_unwound;

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
	chain_of_walk(OUTERMOST);
	same(merge_walk(), HYBRID_COMPLETE);
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
		chain_of_walk(end);
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

	for (nr = 0; nr <= ARRAY_SIZE(bare); nr++) {
		same(kernel_chain(bare, nr)->is_walked, nr == ARRAY_SIZE(bare));
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
	chain_of_walk(OUTERMOST);
	m = (struct hybrid_merge) {
		.kernel = kernel_chain(chain, nr_chain), .out = out, .max = MERGE_MAX,
	};
	same(hybrid_merge(&scene_unwinder, &m), HYBRID_COMPLETE);
	same(m.nr, 4 + s.u.nr);
	chain_of_walk(PERF_UNWIND_END_NO_RULE);
	m.kernel = kernel_chain(chain, nr_chain);
	same(hybrid_merge(&scene_unwinder, &m), HYBRID_FP_ONLY);
	merge_finish();
}

static void limit(void)
{
	merge_pushed(10);
	hybrid_unwind(&scene_unwinder, &s.u);
	chain_of_walk(OUTERMOST);
	s.u.max_frames = 4;
	same(merge_walk(), HYBRID_TRUNCATED);
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
	chain_of_walk(OUTERMOST);
	m.tail = &tail;
	same(merge_walk(), HYBRID_COMPLETE);
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
	chain_of_walk(OUTERMOST);
	nr = s.u.nr;
	for (wrong = 1; wrong < nr; wrong++) {
		chain[nr_chain - nr + wrong]++;
		hybrid_kernel_walk_frames(&scene_unwinder, &s.u,
					  kernel_chain(chain, nr_chain), true);
		same(s.u.nr, nr);
		hybrid_kernel_walk_frames(&scene_unwinder, &s.u,
					  kernel_chain(chain, nr_chain), false);
		same(s.u.stop, HYBRID_STOP_BAD_FRAME);
		same(s.u.nr, wrong);
		same(s.u.sure, wrong);
		chain[nr_chain - nr + wrong]--;
	}
	hybrid_kernel_walk_frames(&scene_unwinder, &s.u, kernel_chain(chain, nr_chain), false);
	same(s.u.stop, HYBRID_STOP_OUTERMOST);
	same(s.u.nr, nr);
	/* As a goroutine's: behind the first byte of what has no caller, and there alone. */
	chain[nr_chain - 1] = scene_at("outer") + 1;
	hybrid_kernel_walk_frames(&scene_unwinder, &s.u, kernel_chain(chain, nr_chain), false);
	same(s.u.stop, HYBRID_STOP_OUTERMOST);
	same(s.u.nr, nr);
	chain[nr_chain - 2] = scene_at("outer") + 1;
	hybrid_kernel_walk_frames(&scene_unwinder, &s.u, kernel_chain(chain, nr_chain), false);
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

/* In sigreturn(), behind the trampoline: no CFI, and what was interrupted has not called. */
static void in_sigreturn(void)
{
	const u64 ips[] = {
		scene_at("sigframe_ret") + 7, scene_at("bpframe_entry"), scene_at("outer_ret"),
	};

	walk_chain(ips, ARRAY_SIZE(ips));
	same(s.u.stop, HYBRID_STOP_OUTERMOST);
	same(s.u.nr, ARRAY_SIZE(ips));
}

/* What code without CFI has told counts where the call leads there. */
static void by_code(void)
{
	u64 bare = SCENE_NOCFI + elf_file_symbol("nocfi.so", "bare_at");
	u64 bare_ret = SCENE_NOCFI + elf_file_symbol("nocfi.so", "bare_ret");
	const u64 called[] = { bare, bare_ret }, not_called[] = { bare, scene_at("once_ret") };

	walk_chain(called, ARRAY_SIZE(called));
	same(s.u.stop, HYBRID_STOP_OUTERMOST);
	same(s.u.nr, 2);
	walk_chain(not_called, ARRAY_SIZE(not_called));
	same(s.u.stop, HYBRID_STOP_NO_CFI);
	same(s.u.nr, 1);
}

/* Which frames are remembered as callers: not those whose callee decides. */
static void remembered(void)
{
	const u64 ips[] = {
		scene_at("leaf_at"), scene_at("pushed_ret"), scene_at("sigframe_ret"),
		scene_at("bpframe_entry"), SCENE_JIT + 200, scene_at("outer_ret"),
	};
	static const bool is_caller[] = { false, true, false, false, true, false };
	struct hybrid_cache_entry *entry;
	unsigned int i;
	u64 ip;

	memset(scene_unwinder.cache, 0, sizeof(scene_unwinder.cache));
	walk_chain(ips, ARRAY_SIZE(ips));
	same(s.u.nr, ARRAY_SIZE(ips));
	for (i = 0; i < ARRAY_SIZE(ips); i++) {
		/* What a signal has interrupted is looked up as it is. */
		ip = i && i != 3 ? ips[i] - 1 : ips[i];
		entry = hybrid_cache_at(&scene_unwinder, s.u.space->gen, ip);
		same(entry->ip, ip);
		same(entry->is_caller, is_caller[i]);
	}
}

/* Functions of interpreters come to their frames, by steps from one to the next. */
static void functions(void)
{
	static const struct {
		u64	step;
		u64	at;
	} steps[] = { { 0, 0 }, { 2, 2 }, { 3, 5 }, { 1, 6 }, { 1, 7 } };
	u8 words[sizeof(u64) * 2 * ARRAY_SIZE(steps) + 1];
	unsigned int i, nr;
	u64 word;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		word = steps[i].step << HYBRID_WALK_FUNCTION_BITS | (0x7f0000001000 + i * 8) >> 3;
		memcpy(words + 1 + i * 16, &word, sizeof(word));
		word = 100 + i;
		memcpy(words + 9 + i * 16, &word, sizeof(word));
	}
	/* Seven frames; the last function is of none. */
	for (nr = 0; nr <= ARRAY_SIZE(steps); nr++) {
		merge_pushed(5);
		hybrid_unwind(&scene_unwinder, &s.u);
		same(s.u.nr, 7);
		chain_of_walk(OUTERMOST);
		memset(&s.frames[7], 0xee, sizeof(s.frames[7]));
		s.u.functions = words + 1;
		s.u.nr_functions = nr;
		hybrid_kernel_walk_frames(&scene_unwinder, &s.u,
					  kernel_chain(chain, nr_chain), true);
		for (i = 0; i < 4; i++) {
			same(s.frames[steps[i].at].function, i < nr ? 0x7f0000001000 + i * 8 : 0);
			same(s.frames[steps[i].at].position, i < nr ? 100 + i : 0);
		}
		same(s.frames[1].function, 0);
		same(s.frames[7].function, 0xeeeeeeeeeeeeeeee);
	}
	merge_finish();
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
		{ "loaded: which callers are remembered", remembered },
		{ "loaded: functions of interpreters", functions },
	};
	int ret = tap_run(tests, ARRAY_SIZE(tests));

	scene_exit();
	return ret;
}
