// SPDX-License-Identifier: GPL-2.0
/*
 * What a thread was seen to be in: learned, and joined to what ends early.
 */
#include <string.h>
#include "tail.h"
#include "tap.h"

#define MAX	512

static struct hybrid_frame out[MAX];

/* leaf(10) < a(11) < b(12) < main(13) < start(14) */
static const struct hybrid_frame stack[] = {
	{ 9, 10, 0x1000 }, { 10, 11, 0x1040 }, { 11, 12, 0x1080 }, { 12, 13, 0x1100 },
	{ 13, 14, 0 },
};

/* More samples than anything needs to be believed that nothing contradicted. */
#define WHILE	32

/* The thread's stack was deeper than a dump; then nothing else is seen for a while. */
static void settle(struct hybrid_tail *tail)
{
	const struct hybrid_frame callee = { 0, 1, 1 };
	struct hybrid_frame caller = { 0, 1, 0 };
	unsigned int nr;
	bool complete;

	hybrid_tail_join(tail, &callee, &caller, &nr, &complete);
	tail->history.now += WHILE;
}

/* As many samples as have to show a caller before it is believed. */
static void learn(struct hybrid_tail *tail, const struct hybrid_frame *frames, unsigned int nr,
		  bool complete)
{
	unsigned int i;

	for (i = 0; i < 8; i++)
		hybrid_tail_learn(tail, frames, nr, complete);
}

static unsigned int copy(const struct hybrid_tail_entry *entries, unsigned int nr,
			 struct hybrid_frame *to, unsigned int max)
{
	unsigned int i;

	for (i = 0; i < nr && i < max; i++)
		to[i] = entries[i].caller;
	return i;
}

static unsigned int join_to(struct hybrid_tail *tail, const struct hybrid_frame *callee,
			    struct hybrid_frame *caller, struct hybrid_frame *to,
			    unsigned int max, bool *complete)
{
	unsigned int nr;
	const struct hybrid_tail_entry *entries =
		hybrid_tail_join(tail, callee, caller, &nr, complete);

	return copy(entries, nr, to, max);
}

static unsigned int root_to(const struct hybrid_tail *tail, struct hybrid_frame *callee,
			    struct hybrid_frame *caller, struct hybrid_frame *to,
			    unsigned int max)
{
	unsigned int nr;
	const struct hybrid_tail_entry *entries = hybrid_tail_root(tail, callee, caller, &nr);

	return copy(entries, nr, to, max);
}

static unsigned int join(struct hybrid_tail *tail, u64 cfa, u64 ret, u64 caller_cfa,
			 unsigned int max, bool *complete)
{
	struct hybrid_frame callee = { 0, 1, cfa }, caller = { ret - 1, ret, caller_cfa };

	return join_to(tail, &callee, &caller, out, max, complete);
}

static void expect(unsigned int got, const u64 *rets, unsigned int nr)
{
	unsigned int i;

	same(got, nr);
	for (i = 0; i < nr && i < got; i++) {
		same(out[i].ret, rets[i]);
		same(out[i].ip, rets[i] - 1);
	}
}

static void joins(void)
{
	static const u64 rets[] = { 11, 12, 13, 14 };
	struct hybrid_tail tail = {};
	bool complete;
	unsigned int i;

	check(!join(&tail, 0x1000, 11, 0, MAX, &complete) && !complete);
	learn(&tail, stack, ARRAY_SIZE(stack), true);
	check(!join(&tail, 0x1000, 11, 0, MAX, &complete) && !complete);
	settle(&tail);
	for (i = 0; i < 3; i++) {
		complete = false;
		expect(join(&tail, stack[i].cfa, stack[i + 1].ret, 0, MAX, &complete),
		       rets + i + 1, 3 - i);
		check(complete);
		/* The place of the caller's own call may be known, too. */
		expect(join(&tail, stack[i].cfa, stack[i + 1].ret, stack[i + 1].cfa, MAX,
			    &complete), rets + i + 1, 3 - i);
	}
	hybrid_tail_exit(&tail);
	same(tail.nr, 0);
}

static void must_agree(void)
{
	struct hybrid_tail tail = {};
	bool complete = true;

	hybrid_tail_learn(&tail, stack, ARRAY_SIZE(stack), true);
	settle(&tail);
	/* The address, elsewhere. */
	check(!join(&tail, 0x1008, 11, 0, MAX, &complete) && !complete);
	check(!join(&tail, 0xff8, 11, 0, MAX, &complete) && !complete);
	check(!join(&tail, 0x2000, 11, 0, MAX, &complete) && !complete);
	/* The place, with another address, or another frame above. */
	check(!join(&tail, 0x1000, 12, 0, MAX, &complete) && !complete);
	check(!join(&tail, 0x1000, 11, 0x1048, MAX, &complete) && !complete);
	hybrid_tail_exit(&tail);
}

/* Of the next sample one number of one frame differs: the entry has it as it is now. */
static void one_differs(void)
{
	struct hybrid_frame frames[ARRAY_SIZE(stack)];
	struct hybrid_tail tail = {};
	unsigned int i, part;

	for (i = 1; i < ARRAY_SIZE(stack); i++) {
		for (part = 0; part < 3; part++) {
			hybrid_tail_learn(&tail, stack, ARRAY_SIZE(stack), true);
			memcpy(frames, stack, sizeof(frames));
			if (part == 0)
				frames[i].ip -= 5;
			else if (part == 1)
				frames[i].ret += 100;
			else if (frames[i].cfa)
				frames[i].cfa += 8;
			hybrid_tail_learn(&tail, frames, ARRAY_SIZE(frames), true);
			same(tail.nr, ARRAY_SIZE(stack) - 1);
			same(tail.entries[i - 1].cfa, frames[i - 1].cfa);
			same(tail.entries[i - 1].caller.ip, frames[i].ip);
			same(tail.entries[i - 1].caller.ret, frames[i].ret);
			same(tail.entries[i - 1].caller.cfa, frames[i].cfa);
			hybrid_tail_exit(&tail);
		}
	}
}

/* A recursive function's address is on the stack many times. */
static void recursion(void)
{
	struct hybrid_frame frames[20];
	struct hybrid_tail tail = {};
	unsigned int i;
	bool complete;

	for (i = 0; i < 20; i++)
		frames[i] = (struct hybrid_frame){ 49, 50, 0x1000 + i * 0x20 };
	frames[18].ret = 60;
	frames[19] = (struct hybrid_frame){ 69, 70, 0 };
	learn(&tail, frames, 20, true);
	settle(&tail);
	for (i = 0; i < 17; i++) {
		same(join(&tail, frames[i].cfa, 50, 0, MAX, &complete), 18 - i);
		check(complete);
		check(!join(&tail, frames[i].cfa + 8, 50, 0, MAX, &complete));
	}
	/* Not by address alone: not even in the root's frames where it is not alone. */
	check(!root_to(&tail, &frames[15], &frames[16], out, MAX));
	hybrid_tail_exit(&tail);
}

/* One sample shows the outer frames, a deeper one the inner ones. */
static void piecewise(void)
{
	static const struct hybrid_frame deep[] = {
		{ 19, 20, 0xe00 }, { 20, 21, 0xe80 }, { 21, 22, 0xf00 },
		{ 9, 10, 0x1000 }, { 10, 11, 0 },
	};
	static const u64 rets[] = { 22, 10, 11, 12, 13, 14 };
	struct hybrid_tail tail = {};
	bool complete;

	learn(&tail, stack, ARRAY_SIZE(stack), true);
	/* Its dump ended before the call at 0x1000 was read. */
	learn(&tail, deep, 4, false);
	same(tail.nr, 7);
	settle(&tail);
	/* Between the two nobody has looked: no frame is skipped. */
	expect(join(&tail, 0xe00, 21, 0, MAX, &complete), rets, 2);
	check(!complete);
	expect(join(&tail, 0x1040, 12, 0, MAX, &complete), rets + 4, 2);
	check(complete);

	/* A sample that shows both joins them. */
	learn(&tail, deep, 5, false);
	settle(&tail);
	expect(join(&tail, 0xe00, 21, 0, MAX, &complete), rets, 6);
	check(complete);
	hybrid_tail_exit(&tail);
}

/* What returned is forgotten; what never was seen complete is no root. */
static void forgets(void)
{
	static const struct hybrid_frame other[] = {
		{ 29, 30, 0x1070 }, { 30, 31, 0x10c0 }, { 12, 13, 0x1100 },
	};
	struct hybrid_frame start[] = { { 12, 13, 0x1100 }, { 13, 14, 0 } };
	struct hybrid_tail tail = {};
	bool complete;

	hybrid_tail_learn(&tail, stack, ARRAY_SIZE(stack), true);
	hybrid_tail_learn(&tail, other, ARRAY_SIZE(other), false);
	settle(&tail);
	check(!join(&tail, 0x1000, 11, 0, MAX, &complete));
	check(!join(&tail, 0x1080, 13, 0, MAX, &complete));
	same(tail.nr, 3);
	/* Deeper than all before, and not to the outermost: nothing is rooted. */
	hybrid_tail_learn(&tail, (const struct hybrid_frame []){
			  { 0, 1, 0x2000 }, { 1, 2, 0x3000 } }, 2, false);
	same(tail.nr, 1);
	check(!tail.rooted);
	check(!root_to(&tail, &start[0], &start[1], out, MAX));
	/* One frame says nothing. */
	hybrid_tail_learn(&tail, stack, 1, true);
	same(tail.nr, 1);
	hybrid_tail_exit(&tail);
}

static void root(void)
{
	struct hybrid_frame callee = { 11, 12, 0 }, caller = { 12, 13, 0 }, first = { 10, 11, 0 };
	struct hybrid_tail tail = {};

	hybrid_tail_learn(&tail, stack, ARRAY_SIZE(stack), true);
	/* It runs once in a thread: to have seen it is enough. */
	same(root_to(&tail, &callee, &caller, out, MAX), 1);
	same(out[0].ret, 14);
	same(callee.cfa, 0x1080);
	same(caller.cfa, 0x1100);
	caller.ret = 99;
	check(!root_to(&tail, &callee, &caller, out, MAX));
	/* Elsewhere: another stack. */
	caller.ret = 13;
	callee.cfa = 0x1088;
	check(!root_to(&tail, &callee, &caller, out, MAX));
	callee.cfa = 0;
	/* Three frames from the end may be a thread's start; four is any function. */
	check(!root_to(&tail, &callee, &first, out, MAX));
	first = (struct hybrid_frame){ 11, 12, 0 };
	same(root_to(&tail, &callee, &first, out, MAX), 2);
	hybrid_tail_exit(&tail);
}

/* Frames whose place is not known, between others: what is outside of them is not linked. */
static void unknown_places(void)
{
	static const struct hybrid_frame frames[] = {
		{ 10, 11, 0x1040 }, { 11, 12, 0 }, { 12, 13, 0x1100 }, { 13, 14, 0x1140 },
		{ 14, 15, 0 },
	};
	struct hybrid_frame callee = { 11, 12, 0 }, caller = { 12, 13, 0 };
	struct hybrid_tail tail = {};
	unsigned int i;
	bool complete;

	for (i = 0; i < 64; i++)
		hybrid_tail_learn(&tail, frames, ARRAY_SIZE(frames), true);
	same(tail.nr, 3);
	same(tail.entries[0].cfa, 0x1040);
	same(tail.entries[1].cfa, 0x1100);
	same(tail.entries[2].cfa, 0x1140);
	check(!tail.entries[0].linked && tail.entries[1].linked && tail.rooted);
	/* Which call the first one's caller was in was not seen. */
	settle(&tail);
	same(join(&tail, 0x1040, 12, 0, MAX, &complete), 0);
	check(!complete);
	/* Nor can the thread's start be found from before that. */
	callee = (struct hybrid_frame) { 9, 10, 0 };
	caller = (struct hybrid_frame) { 11, 12, 0 };
	check(!root_to(&tail, &callee, &caller, out, MAX));
	same(caller.cfa, 0);
	callee = (struct hybrid_frame) { 12, 13, 0 };
	caller = (struct hybrid_frame) { 13, 14, 0 };
	same(root_to(&tail, &callee, &caller, out, MAX), 1);
	hybrid_tail_exit(&tail);
	/* The outermost frame was not seen. */
	hybrid_tail_learn(&tail, &frames[2], 3, false);
	check(!tail.rooted);
	caller.cfa = 0;
	check(!root_to(&tail, &callee, &caller, out, MAX));
	hybrid_tail_exit(&tail);
}

/* A handler on a stack of its own: what is below the first is another stack. */
static void signal_stack(void)
{
	static const struct hybrid_frame frames[] = {
		{ 39, 40, 0x9000 }, { 40, 41, 0x9040 }, { 10, 11, 0x1040 },
		{ 11, 12, 0x1080 }, { 12, 13, 0 },
	};
	struct hybrid_tail tail = {};
	bool complete;

	hybrid_tail_learn(&tail, frames, ARRAY_SIZE(frames), true);
	settle(&tail);
	check(!join(&tail, 0x1040, 12, 0, MAX, &complete));
	join(&tail, 0x9000, 41, 0, MAX, &complete);
	check(!complete);
	hybrid_tail_exit(&tail);
}

/*
 * a() and b() call c() with frames of one size; of the samples deep below c() none shows
 * which of the two it was. What the others show is wrong for half of them.
 */
static void two_callers(void)
{
	const struct hybrid_frame deep[] = { { 9, 10, 0xd00 }, { 10, 11, 0 } };
	struct hybrid_frame shallow[] = {
		{ 10, 11, 0xd00 }, { 11, 12, 0xe00 }, { 12, 13, 0x1000 }, { 13, 14, 0 },
	};
	struct hybrid_tail tail = {};
	unsigned int round, wrong = 0, nr;
	bool complete;

	for (round = 0; round < 10000; round++) {
		u64 caller = tap_random() % 2 ? 12 : 22;

		if (tap_random() % 4 == 0) {
			shallow[1].ret = 11;
			shallow[2].ret = caller;
			hybrid_tail_learn(&tail, shallow, ARRAY_SIZE(shallow), true);
			continue;
		}
		nr = join(&tail, deep[0].cfa, deep[1].ret, 0, MAX, &complete);
		wrong += nr && out[0].ret != caller;
		hybrid_tail_learn(&tail, deep, ARRAY_SIZE(deep), false);
	}
	same(wrong, 0);
	/* Who called the two is known. */
	nr = join(&tail, 0xe00, 12, 0, MAX, &complete);
	check(nr + join(&tail, 0xe00, 22, 0, MAX, &complete));
	hybrid_tail_exit(&tail);
}

/*
 * A loop calls one function after another, none of which is seen to return, and these call
 * one on a deep stack: that the last sample that showed a caller is long ago says nothing.
 */
static void seldom_shown(void)
{
	const struct hybrid_frame deep[] = { { 9, 10, 0xd00 }, { 10, 11, 0 } };
	struct hybrid_tail tail = {};
	unsigned int i;
	bool complete;

	for (i = 0; i < 7; i++)
		hybrid_tail_learn(&tail, stack, ARRAY_SIZE(stack), true);
	for (i = 0; i < 10 * WHILE; i++) {
		check(!join(&tail, 0x1000, 11, 0, MAX, &complete));
		hybrid_tail_learn(&tail, deep, ARRAY_SIZE(deep), false);
	}
	hybrid_tail_exit(&tail);
}

/* One caller for a long time, then another: what was seen is not believed for ever. */
static void another_phase(void)
{
	struct hybrid_frame frames[ARRAY_SIZE(stack)];
	struct hybrid_tail tail = {};
	unsigned int round, held = 0;
	bool complete;

	memcpy(frames, stack, sizeof(stack));
	settle(&tail);
	learn(&tail, frames, ARRAY_SIZE(frames), true);
	settle(&tail);
	check(join(&tail, 0x1000, 11, 0, MAX, &complete) && complete);
	frames[3].ret = 23;
	learn(&tail, frames, ARRAY_SIZE(frames), true);
	settle(&tail);
	check(!join(&tail, 0x1000, 11, 0, MAX, &complete) || !complete);
	settle(&tail);
	check(join(&tail, 0x1000, 11, 0, MAX, &complete) && complete);
	same(out[1].ret, 23);
	/* The more often it changes, the longer it has to stand. */
	for (round = 0; round < 20; round++) {
		frames[3].ret = 23 + round % 2 * 10;
		learn(&tail, frames, ARRAY_SIZE(frames), true);
		settle(&tail);
		settle(&tail);
		held += join(&tail, 0x1000, 11, 0, MAX, &complete) && complete;
	}
	check(held <= 1);
	hybrid_tail_exit(&tail);
}

/* More calls than are kept: none is believed that was not seen for long since. */
static void too_many(void)
{
	struct hybrid_frame frames[] = { { 9, 10, 0x1000 }, { 10, 11, 0x2000 }, { 11, 12, 0 } };
	struct hybrid_tail tail = {};
	bool complete;
	u64 ret;

	settle(&tail);
	for (ret = 100; ret < 100000; ret++) {
		frames[1].ret = ret;
		hybrid_tail_learn(&tail, frames, ARRAY_SIZE(frames), true);
	}
	learn(&tail, frames, ARRAY_SIZE(frames), true);
	check(tail.history.calls.bits <= 16);
	check(!join(&tail, 0x1000, ret - 1, 0, MAX, &complete));
	settle(&tail);
	check(!join(&tail, 0x1000, ret - 1, 0, MAX, &complete));
	tail.history.now += 1 << 24;
	check(join(&tail, 0x1000, ret - 1, 0, MAX, &complete) && complete);
	hybrid_tail_exit(&tail);
}

#define DEPTH	200

static struct hybrid_frame truth[DEPTH];
static unsigned int depth;

/* Calls and returns; truth[0] is the outermost frame here, stack down from 1 MiB. */
static void run_a_while(void)
{
	unsigned int steps = tap_random() % 20;

	while (steps--) {
		if (depth > 1 && tap_random() % 2) {
			depth--;
			continue;
		}
		if (depth == DEPTH)
			continue;
		truth[depth] = (struct hybrid_frame){ .ret = 100 + tap_random() % 20 };
		truth[depth].cfa = depth ? truth[depth - 1].cfa - 16 * (1 + tap_random() % 40) :
				   1 << 20;
		depth++;
	}
}

/*
 * One sample whose dump reaches over @seen frames. Returns true where it was joined to
 * another caller than the true one.
 */
static bool sample(struct hybrid_tail *tail, unsigned int seen, unsigned int *stitched)
{
	struct hybrid_frame frames[DEPTH + MAX];
	unsigned int i, nr, unwound;
	bool wrong = false, joined;

	for (i = 0; i < seen && i < depth; i++)
		frames[i] = truth[depth - 1 - i];
	nr = i;
	unwound = nr;
	frames[nr - 1].cfa = 0;
	if (seen < depth && nr > 1) {
		nr += join_to(tail, &frames[nr - 2], &frames[nr - 1], frames + nr, MAX, &joined);
		*stitched += nr > unwound;
		wrong = nr > depth || (joined && nr != depth);
		for (i = unwound; !wrong && i < nr; i++)
			wrong = frames[i].ret != truth[depth - 1 - i].ret;
	}
	hybrid_tail_learn(tail, frames, unwound, seen >= depth);
	return wrong;
}

/* Of each thread only the first samples come to be believed: there are contradictions. */
static void random_threads(void)
{
	unsigned int round, stitched = 0, wrong = 0;
	struct hybrid_tail tail = {};

	for (round = 0; round < 1000000; round++) {
		if (round % 2000 == 0) {
			hybrid_tail_exit(&tail);
			depth = 0;
		}
		run_a_while();
		if (depth)
			wrong += sample(&tail, 1 + tap_random() % 12, &stitched);
	}
	hybrid_tail_exit(&tail);
	/* As much as is allowed to be wrong in 1,000. */
	check(stitched > 1000);
	check(wrong * 1000 <= stitched);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "tail: joins", joins },
		{ "tail: place and address must agree", must_agree },
		{ "tail: one number of one frame", one_differs },
		{ "tail: recursion", recursion },
		{ "tail: learned piece by piece", piecewise },
		{ "tail: what is gone is forgotten", forgets },
		{ "tail: the start of a thread", root },
		{ "tail: frames whose place is not known", unknown_places },
		{ "tail: a signal stack", signal_stack },
		{ "tail: two callers", two_callers },
		{ "tail: a caller that few samples showed", seldom_shown },
		{ "tail: one caller, then another", another_phase },
		{ "tail: more calls than are kept", too_many },
		{ "tail: random threads", random_threads },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
