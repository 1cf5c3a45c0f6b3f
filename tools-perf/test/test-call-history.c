// SPDX-License-Identifier: GPL-2.0
/*
 * From when on a call is believed to have the caller that it had before.
 */
#include "call-history.h"
#include "tap.h"

/* How often it must have been the same; or for how many samples, and how many of these show it. */
#define TIMES	16
#define SAMPLES	32ULL
#define SEEN	8

static struct hybrid_call_history history;
static const struct hybrid_call call = { 0x7ffc1000, 0x401000 };
static const struct hybrid_call outers[2] = { { 0x7ffc1040, 0x402000 }, { 0x7ffc1040, 0x403000 } };

static void learn(unsigned int outer, unsigned int times, bool again)
{
	while (times--)
		hybrid_call_history_learn(&history, &call, &outers[outer], again);
}

/* By times alone: no sample is counted. */
static bool holds(unsigned int outer)
{
	return hybrid_call_history_holds(&history, &call, &outers[outer], history.now, 0);
}

/* Each contradiction doubles the times, up to 16 doublings, and they count from 0. */
static void times(void)
{
	unsigned int i, outer = 0;

	check(!holds(0));
	learn(0, 1, false);
	for (i = 0; i <= 4; i++) {
		/* What it is in when the thread was in it all the time does not count. */
		learn(outer, 100, false);
		check(!holds(outer));
		learn(outer, (TIMES << i) - 1, true);
		check(!holds(outer));
		learn(outer, 1, true);
		check(holds(outer));
		check(!holds(!outer));
		outer = !outer;
		learn(outer, 1, false);
		check(!holds(0) && !holds(1));
	}
	for (; i < 40; i++) {
		outer = !outer;
		learn(outer, 1, false);
	}
	learn(outer, (TIMES << 16) - 1, true);
	check(!holds(outer));
	learn(outer, 1, true);
	check(holds(outer));
	hybrid_call_history_exit(&history);
}

/* For so many samples it was not seen in another one, nor outside of it. */
static void samples(void)
{
	unsigned int i, seen;
	u64 began, since;

	history.now = 1000;
	for (i = 0; i < 4; i++) {
		learn(i % 2, 1, false);
		began = history.now;
		for (; history.now < began + (4 * SAMPLES << i); history.now++) {
			for (seen = SEEN - 1; seen <= SEEN + 1; seen++) {
				for (since = history.now - (SAMPLES << i) - 1;
				     since <= history.now - (SAMPLES << i) + 1; since++)
					same(hybrid_call_history_holds(&history, &call,
								       &outers[i % 2], since,
								       seen),
					     seen >= SEEN &&
					     history.now - since >= SAMPLES << i &&
					     history.now - began >= SAMPLES << i);
			}
		}
	}
	hybrid_call_history_exit(&history);
}

/* Each of many calls is found, until all are forgotten, which is as a contradiction. */
static void many(void)
{
	struct hybrid_call of = { .ret = 0x401000 };
	unsigned int nr, i, bad = 0;

	for (nr = 1; !history.restarts && nr < 100000; nr++) {
		of.cfa = 16 * nr;
		for (i = 0; i < TIMES; i++)
			hybrid_call_history_learn(&history, &of, &call, true);
		bad += !hybrid_call_history_holds(&history, &of, &call, 0, 0) != history.restarts;
		if (nr % 512 || history.restarts)
			continue;
		for (i = 1; i <= nr; i++) {
			of.cfa = 16 * i;
			bad += !hybrid_call_history_holds(&history, &of, &call, 0, 0);
		}
	}
	same(bad, 0);
	same(history.calls.nr, 1);
	check(nr > 4096 && nr < 100000);
	/* No return address is no call. */
	of.ret = 0;
	hybrid_call_history_learn(&history, &of, &call, true);
	same(history.calls.nr, 1);
	check(!hybrid_call_history_holds(&history, &of, &call, 0, 100));
	hybrid_call_history_exit(&history);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "calls: how often they were the same", times },
		{ "calls: for how many samples", samples },
		{ "calls: more than there is room for", many },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
