// SPDX-License-Identifier: GPL-2.0
/*
 * What an unwind begins with and leaves behind, and the limits of what is kept from one to the
 * next.
 */
#include <string.h>
#include "../hybrid/runtime/walk-interpreter.h"
#include "call-check.h"
#include "called.h"
#include "follow-bp.h"
#include "known-walk.h"
#include "precise.h"
#include "rows.h"
#include "scene.h"
#include "tail.h"
#include "tap.h"
#include "walk.h"

static struct scene s;

/* What the sample before has left counts for nothing. */
static void fiber_before(void)
{
	scene_start(&s, scene_at("leaf_at"));
	scene_push(&s, scene_at("outer_ret"));
	s.u.fiber_end = 1;
	s.u.fiber_ret = 2;
	scene_unwind(&s);
	same(s.u.stop, HYBRID_STOP_OUTERMOST);
	same(s.u.fiber_end, 0);
	same(s.u.fiber_ret, 0);
}

/* Of a chain that is cut off, nothing is left of its end. */
static void cut(void)
{
	scene_start(&s, scene_at("leaf_at"));
	s.frames[0] = (struct hybrid_frame) { scene_at("leaf_at"), scene_at("leaf_at"), 1 };
	s.frames[1] = (struct hybrid_frame) { scene_at("odd_ret") - 1, scene_at("odd_ret"), 2 };
	s.u.nr = 2;
	s.u.sure = 2;
	s.u.stop = HYBRID_STOP_OUTERMOST;
	s.u.rule.kind = HYBRID_RULE_OUTERMOST;
	s.u.fiber_end = 3;
	s.u.bp_known = true;
	hybrid_cut_refuted(&scene_unwinder, &s.u);
	same(s.u.nr, 1);
	same(s.u.sure, 1);
	same(s.u.stop, HYBRID_STOP_BAD_FRAME);
	same(s.u.rule.kind, HYBRID_RULE_NONE);
	same(s.u.fiber_end, 0);
	check(s.u.is_refuted && !s.u.bp_known);
}

/* A call that leads elsewhere refutes its callee, unless code wrote the callee's address. */
static void written(void)
{
	static const struct {
		const char	*ret;
		unsigned int	nr;
	} inner[] = { { "pushed_ret", 2 }, { "bpframe_entry", 3 } };
	unsigned int i;
	u64 ret;

	for (i = 0; i < ARRAY_SIZE(inner); i++) {
		scene_start(&s, scene_at("leaf_at"));
		ret = scene_at(inner[i].ret);
		s.frames[0] = (struct hybrid_frame) { scene_at("leaf_at"), scene_at("leaf_at"), 1 };
		s.frames[1] = (struct hybrid_frame) { ret - 1, ret, 2 };
		ret = scene_at("odd_ret");
		s.frames[2] = (struct hybrid_frame) { ret - 1, ret, 3 };
		s.u.nr = 3;
		hybrid_cut_refuted(&scene_unwinder, &s.u);
		same(s.u.nr, inner[i].nr);
	}
}

/* An address that is looked up first is no part of a walk that is known. */
static void new_entry(void)
{
	struct hybrid_cache_entry *entry;
	struct hybrid_object *object;
	bool mapped;
	u64 ip;

	scene_start(&s, scene_at("leaf_at"));
	ip = scene_at("pushed_ret") - 1;
	entry = hybrid_cache_at(&scene_unwinder, s.u.space->gen, ip);
	memset(entry, 0xff, sizeof(*entry));
	check(hybrid_unwind_row(&scene_unwinder, s.u.space, ip, &mapped, &object));
	check(mapped && hybrid_cache_find(&scene_unwinder, s.u.space->gen, ip) == entry);
	check(!entry->is_caller && !entry->called_by);
	check(!entry->is_known_first && !entry->is_known_caller && !entry->is_known_last);
}

/* A walk of one address is not kept: its callers are not known. */
static void short_walk(void)
{
	const u64 ips[] = { scene_at("leaf_at"), scene_at("outer_ret") };
	const u64 frames[] = { ips[0], ips[1] - 1 };

	scene_start(&s, ips[0]);
	memset(&scene_unwinder.last_walk, 0, sizeof(scene_unwinder.last_walk));
	scene_unwinder.is_call_unsure = false;
	hybrid_known_walk_learn(&scene_unwinder, s.u.space, &ips[1], 1, &ips[1]);
	same(scene_unwinder.last_walk.nr, 0);
	hybrid_known_walk_learn(&scene_unwinder, s.u.space, ips, 2, frames);
	same(scene_unwinder.last_walk.nr, 2);
	memset(&scene_unwinder.last_walk, 0, sizeof(scene_unwinder.last_walk));
}

/* A pair is of both addresses and of the state of the space. */
static void called_pair(void)
{
	const u64 callee = 0x401000, ret = 0x402000;
	struct hybrid_called_pair pair;
	unsigned int wrong, i;

	scene_start(&s, scene_at("leaf_at"));
	for (wrong = 0; wrong < 8; wrong++) {
		pair = (struct hybrid_called_pair) {
			.gen = s.u.space->gen + (wrong & 1), .is_called = true,
			.callee = callee + (wrong & 2 ? 64 : 63), .ret = ret + !!(wrong & 4),
		};
		for (i = 0; i < ARRAY_SIZE(scene_unwinder.called); i++)
			scene_unwinder.called[i] = pair;
		same(hybrid_is_called_pair(&scene_unwinder, s.u.space, callee, ret), !wrong);
	}
	memset(scene_unwinder.called, 0, sizeof(scene_unwinder.called));
}

/* bpframe() was sampled, and its caller is beyond the dump. */
static bool follow(const u64 *words, bool bp_known, enum hybrid_rule_base base)
{
	const struct hybrid_links links = { .words = words, .nr = 1 };

	scene_start(&s, scene_at("bpframe_at"));
	scene_reg_top(&s, HYBRID_X86_64_BP);
	scene_unwind(&s);
	same(s.u.stop, HYBRID_STOP_DUMP_END);
	same(s.u.nr, 1);
	check(s.u.bp_known && s.u.rule.base == HYBRID_BASE_BP);
	s.u.bp_known = bp_known;
	s.u.rule.base = base;
	return hybrid_follow_links(&scene_unwinder, &s.u, &links);
}

/* BPF's frames are followed only from a frame whose bp is known and is its base. */
static void links(void)
{
	u64 words[2];

	scene_start(&s, scene_at("bpframe_at"));
	words[0] = SCENE_STACK | HYBRID_WALK_NATIVE_LINK;
	words[1] = scene_at("outer_ret");
	check(follow(words, true, HYBRID_BASE_BP));
	same(s.u.nr, 2);
	same(s.frames[1].ret, words[1]);
	check(!follow(words, false, HYBRID_BASE_BP));
	same(s.u.nr, 1);
	check(!follow(words, true, HYBRID_BASE_SP));
	same(s.u.nr, 1);
	words[0] += 8;
	check(!follow(words, true, HYBRID_BASE_BP));
	same(s.u.nr, 1);
}

/* A call that may have led to the callee, or surely led to it, is not written over. */
static void far_call(void)
{
	const u64 ret = scene_at("calls_table_ret");

	scene_start(&s, scene_at("leaf_at"));
	scene_push(&s, ret);
	scene_push(&s, 0);
	scene_push(&s, scene_at("outer_ret"));
	same(hybrid_leads_to(&scene_unwinder, &s.u, ret, s.u.regs.value[s.u.abi->ip],
			     HYBRID_REACH_MAYBE), HYBRID_REACH_FAR);
	/* By its function's start it may have been called, and by its own address it was. */
	same(hybrid_leads_to(&scene_unwinder, &s.u, ret, scene_at("by_table_at"),
			     HYBRID_REACH_MAYBE), HYBRID_REACH_THERE);
	same(hybrid_leads_to(&scene_unwinder, &s.u, ret, scene_at("by_table_at"),
			     HYBRID_REACH_FAR), HYBRID_REACH_FAR);
	s.u.overwritten = true;
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("leaf_at"), ret - 1,
		     scene_at("outer_ret") - 1);
}

/* V8's code that has called keeps a frame with bp, which may be beyond the dump. */
static void framed_beyond(void)
{
	const u64 ret = SCENE_NOCFI + elf_file_symbol("nocfi.so", "enters_ret");
	const struct hybrid_mapping *mapping;

	scene_start(&s, scene_at("leaf_at"));
	mapping = hybrid_space_find(s.u.space, ret);
	s.u.space->entries_id = mapping->object->id;
	s.u.space->entries = 0;
	s.u.space->entries_end = ret - mapping->start + mapping->pgoff;
	scene_push(&s, ret);
	scene_fill(&s, 3, 0xdead);
	scene_reg_top(&s, HYBRID_X86_64_BP);
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_DUMP_END, scene_at("leaf_at"), ret - 1);
	check(s.u.by_code);
	s.u.space->entries_id = 0;
	s.u.space->entries_end = 0;
}

static bool saved_sp(void *runtimes __maybe_unused,
		     const struct hybrid_unwind *u __maybe_unused, unsigned int at,
		     struct hybrid_rule *rule)
{
	*rule = (struct hybrid_rule) { .kind = HYBRID_RULE_SAVED_SP, .cfa_off = -8 };
	return !at;
}

/* A bp of 0 in a frame that a runtime's rule has left does not end the stack. */
static void saved_bp(void)
{
	u64 bp;

	scene_start(&s, SCENE_JIT + 8);
	bp = scene_push(&s, 0) + 8;
	s.stack[0] = bp + 16;
	scene_reg(&s, HYBRID_X86_64_BP, bp);
	scene_push_bpframe(&s, 0, SCENE_JIT + 200);
	scene_fill(&s, 4, 0);
	scene_unwinder.runtime_rule = saved_sp;
	scene_unwind(&s);
	scene_unwinder.runtime_rule = NULL;
	scene_expect(&s, HYBRID_STOP_NO_CFI, SCENE_JIT + 8, SCENE_JIT + 199);
}

/* The first of a thread's entries may be the one into its start. */
static void root_at_first(void)
{
	static const struct hybrid_frame frames[] = {
		{ 11, 12, 0x1080 }, { 12, 13, 0x1100 }, { 13, 14, 0 },
	};
	struct hybrid_frame callee = { 11, 12, 0 }, caller = { 12, 13, 0 };
	const struct hybrid_tail_entry *entry;
	struct hybrid_tail tail = {};
	unsigned int nr;

	hybrid_tail_learn(&tail, frames, ARRAY_SIZE(frames), true);
	entry = hybrid_tail_root(&tail, &callee, &caller, &nr);
	same(nr, 1);
	check(entry && entry->caller.ret == 14);
	same(callee.cfa, 0x1080);
	hybrid_tail_exit(&tail);
}

/* The same caller, called from another place, is another call. */
static void other_place(void)
{
	struct hybrid_frame frames[] = { { 12, 13, 0x1100 }, { 13, 14, 0 } };
	struct hybrid_tail tail = {};

	hybrid_tail_learn(&tail, frames, ARRAY_SIZE(frames), true);
	same(tail.entries[0].since, 1);
	hybrid_tail_learn(&tail, frames, ARRAY_SIZE(frames), true);
	same(tail.entries[0].since, 1);
	frames[0].cfa += 8;
	hybrid_tail_learn(&tail, frames, ARRAY_SIZE(frames), true);
	same(tail.nr, 1);
	same(tail.entries[0].cfa, 0x1108);
	same(tail.entries[0].since, 3);
	hybrid_tail_exit(&tail);
}

/*
 * leaf() was sampled, redzone() was interrupted, and either may have been called through the
 * register from which outer() calls.
 */
static enum hybrid_precise_way choose(enum hybrid_skid moment, u64 interrupt, u64 retired)
{
	struct hybrid_precise precise = {
		.moment = moment, .interrupt = interrupt, .retired = retired,
	};
	const u64 at = scene_at("redzone");
	unsigned int way;

	scene_start(&s, scene_at("leaf_at"));
	scene_push(&s, scene_at("outer_ret"));
	s.u.user = &at;
	s.u.nr_user = 1;
	check(hybrid_precise_unwind(&scene_unwinder, &s.u, &precise));
	s.u.user = NULL;
	same(s.u.nr, 2);
	same(s.u.stop, HYBRID_STOP_OUTERMOST);
	for (way = 0; way < HYBRID_PRECISE_NR && !precise.ways[way]; way++)
		;
	same(s.u.frames[0].ip, way == HYBRID_PRECISE_INTERRUPT ? at : scene_at("leaf_at") + 1);
	same(precise.first, way == HYBRID_PRECISE_INTERRUPT ? 0 : scene_at("leaf_at"));
	return way;
}

/* If both moments fit, the likelier one is taken, but the function that ran last. */
static void both_fit(void)
{
	same(choose(HYBRID_SKID_STACK, 0, 0), HYBRID_PRECISE_INTERRUPT);
	same(choose(HYBRID_SKID_UNKNOWN, 0, 1), HYBRID_PRECISE_RETIRED);
	same(choose(HYBRID_SKID_UNKNOWN, 1, 1), HYBRID_PRECISE_INTERRUPT);
	same(choose(HYBRID_SKID_ADDRESS, 1, 0), HYBRID_PRECISE_INTERRUPT);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "unwind: fibers of the sample before", fiber_before },
		{ "unwind: a chain that is cut off", cut },
		{ "unwind: a return address that no call has left", written },
		{ "unwind: an address that is looked up first", new_entry },
		{ "known walk: one address", short_walk },
		{ "called: what a pair is of", called_pair },
		{ "follow bp: frames that BPF has found", links },
		{ "unwind: a call by a table of jumps", far_call },
		{ "unwind: V8's frame beyond the dump", framed_beyond },
		{ "unwind: a bp of 0 by a runtime's rule", saved_bp },
		{ "tail: the first entry is the root", root_at_first },
		{ "tail: another place", other_place },
		{ "precise: both moments fit", both_fit },
	};
	int status = tap_run(tests, ARRAY_SIZE(tests));

	scene_exit();
	return status;
}
