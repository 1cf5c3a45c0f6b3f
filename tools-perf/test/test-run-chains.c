// SPDX-License-Identifier: GPL-2.0
/*
 * Chains that were named by what an interpreter runs: a known one has the names that it would have
 * frame by frame.
 */
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <string.h>
#include "../hybrid/runtime/walk-interpreter.h"
#include "run-chains.h"
#include "tap.h"

#define MOST		8
#define NATIVE		0x1000
#define EVALUATOR	0x10000
#define ENDS		HYBRID_WALK_RUN_ENDS

/* Without addresses of a file: code that the process has made is enough. */
static struct hybrid_evaluator evaluator = {
	.made_start = EVALUATOR, .made_end = EVALUATOR + 0x100,
};

static struct hybrid_space space;
static struct hybrid_runs runs;
static struct hybrid_run_chains chains;
static unsigned int nr_asked, nr_named;
static bool is_unread;
static u64 renamed;

static u64 ip_of(void *arg __maybe_unused, struct hybrid_names *names __maybe_unused,
		 u64 function, u64 position)
{
	nr_asked++;
	return function + 2 * position + renamed;
}

static void begin(struct hybrid_namer *namer __maybe_unused, const struct hybrid_named_chain *c)
{
	hybrid_runs__begin(&runs, &evaluator, &space, c);
}

static const struct hybrid_run_names how = { .ip_of = ip_of };

static unsigned int name(struct hybrid_namer *namer, struct hybrid_names *names __maybe_unused,
			 const struct hybrid_frame *frame __maybe_unused, u64 ip, u64 *out,
			 unsigned int room)
{
	namer->nr_unread += is_unread;
	nr_named++;
	return hybrid_runs__name(&runs, &how, ip, out, room);
}

static bool whole(struct hybrid_namer *namer, struct hybrid_names *names __maybe_unused,
		  struct hybrid_named_chain *c)
{
	runs.evaluator = &evaluator;
	runs.space = &space;
	return hybrid_run_chains__whole(&chains, &runs, &how, namer, c);
}

static void keep(struct hybrid_namer *namer, const struct hybrid_named_chain *c)
{
	hybrid_run_chains__keep(&chains, &runs, &how, namer, c);
}

static struct hybrid_namer plain = { .begin = begin, .name = name };
static struct hybrid_namer known = { .begin = begin, .name = name, .whole = whole, .keep = keep };

/**
 * struct scene - a chain
 * @chain: with its context
 * @frames: of @chain
 * @functions: of the interpreter
 * @out: with names
 * @c: of these
 */
struct scene {
	u64				 chain[MOST + 1];
	struct hybrid_frame		 frames[MOST];
	u64				 functions[2 * MOST];
	u64				 out[4 * MOST];
	struct hybrid_named_chain	 c;
};

static void set_up(struct scene *s, const u64 *ips, unsigned int nr, const u64 *functions,
		   unsigned int nr_functions)
{
	unsigned int i;

	memset(s, 0, sizeof(*s));
	s->chain[0] = PERF_CONTEXT_USER;
	for (i = 0; i < nr; i++) {
		s->chain[i + 1] = ips[i];
		s->frames[i] = (struct hybrid_frame) { .ip = ips[i], .ret = ips[i] + !!i };
	}
	memcpy(s->functions, functions, nr_functions * 2 * sizeof(u64));
	s->c = (struct hybrid_named_chain) {
		.chain = s->chain, .nr = nr + 1, .frames = s->frames, .nr_frames = nr,
		.is_whole = true, .functions = s->functions, .nr_functions = nr_functions,
		.functions_are_whole = true, .gen = 1, .out = s->out, .max = 4 * MOST,
	};
}

/* A native frame, and two of the evaluator. */
static void run(struct scene *s, u64 first, u64 inner, u64 outer)
{
	const u64 ips[] = { first, EVALUATOR + 8, NATIVE + 16, EVALUATOR + 24, NATIVE + 32 };
	const u64 functions[] = { inner | ENDS, 0, outer | ENDS, 0 };

	set_up(s, ips, ARRAY_SIZE(ips), functions, 2);
	nr_asked = 0;
	hybrid_name_chain(&known, NULL, &s->c);
}

static void forget(void)
{
	hybrid_run_chains__exit(&chains);
	chains.names_first = true;
	is_unread = false;
}

static void check_known(void)
{
	const u64 named[] = {
		PERF_CONTEXT_USER, NATIVE, EVALUATOR + 8, 0x100 | ENDS, NATIVE + 16,
		EVALUATOR + 24, 0x200 | ENDS, NATIVE + 32,
	};
	unsigned int i;
	struct scene s;

	forget();
	for (i = 0; i < 2; i++) {
		run(&s, NATIVE, 0x100, 0x200);
		same(nr_asked, i ? 0 : 2);
		same(s.c.nr_out, ARRAY_SIZE(named));
		check(!memcmp(s.out, named, sizeof(named)));
		check(s.c.is_named && !s.c.first);
		same(s.c.rest, 2);
	}
	/* Another address of the first frame, which nobody names. */
	run(&s, NATIVE + 4, 0x100, 0x200);
	same(nr_asked, 0);
	same(s.out[1], NATIVE + 4);
}

/* Equal native frames with other functions have names of their own. */
static void check_others(void)
{
	struct scene s;

	forget();
	run(&s, NATIVE, 0x100, 0x200);
	run(&s, NATIVE, 0x300, 0x200);
	same(s.out[3], 0x300 | ENDS);
	same(s.out[6], 0x200 | ENDS);
	run(&s, NATIVE, 0x100, 0x400);
	same(s.out[3], 0x100 | ENDS);
	same(s.out[6], 0x400 | ENDS);
	/* The mark, which has the bits above the address. */
	run(&s, NATIVE, 0x100, 0x200 | 1ULL << 48);
	same(s.out[6], 0x200 | ENDS | 1ULL << 48);
	run(&s, NATIVE, 0x100, 0x200);
	same(nr_asked, 0);
	same(s.out[6], 0x200 | ENDS);
}

/* No name has to be read again but those of the frame that runs. */
static void check_first(void)
{
	const u64 ips[] = { EVALUATOR, NATIVE, EVALUATOR + 24, NATIVE + 32 };
	u64 functions[] = { 0x100, 0, 0x100 | ENDS, 0, 0x200 | ENDS, 0 };
	struct scene s;

	forget();
	set_up(&s, ips, ARRAY_SIZE(ips), functions, 3);
	hybrid_name_chain(&known, NULL, &s.c);
	functions[0] = 0x500;
	set_up(&s, ips, ARRAY_SIZE(ips), functions, 3);
	nr_asked = 0;
	hybrid_name_chain(&known, NULL, &s.c);
	same(nr_asked, 2);
	same(s.c.rest, 4);
	same(s.c.first, EVALUATOR);
	same(s.out[2], 0x500);
	same(s.out[3], 0x100 | ENDS);
	same(s.out[6], 0x200 | ENDS);
	chains.names_first = false;
	hybrid_name_chain(&known, NULL, &s.c);
	same(s.c.nr_out, 8);
	same(s.out[6], 0x200 | ENDS);
}

/* All that is known was named more than a second ago. */
static void make_old(void)
{
	struct hybrid_kept_chain *chain;
	unsigned int i;

	for (i = 0; chains.known.sets && i < HYBRID_CHAINS_WAYS << HYBRID_CHAINS_BITS; i++) {
		chain = &chains.known.sets[i / HYBRID_CHAINS_WAYS][i % HYBRID_CHAINS_WAYS];
		if (chain->named_at)
			chain->named_at = 1;
	}
}

/* Its functions are compared, and the frames are not named one by one if they are the same. */
static void check_old(void)
{
	struct scene s;

	forget();
	run(&s, NATIVE, 0x100, 0x200);
	make_old();
	nr_named = 0;
	run(&s, NATIVE, 0x100, 0x200);
	same(nr_asked, 2);
	same(nr_named, 0);
	same(s.out[3], 0x100 | ENDS);
	same(s.out[6], 0x200 | ENDS);
	run(&s, NATIVE, 0x100, 0x200);
	same(nr_asked, 0);
	make_old();
	renamed = 0x1000;
	run(&s, NATIVE, 0x100, 0x200);
	same(s.out[3], 0x1100 | ENDS);
	same(s.out[6], 0x1200 | ENDS);
	check(nr_named);
	renamed = 0;
}

/* Names that last are not asked for again. */
static void check_lasting(void)
{
	struct scene s;

	forget();
	chains.lasts = true;
	run(&s, NATIVE, 0x100, 0x200);
	make_old();
	run(&s, NATIVE, 0x100, 0x200);
	same(nr_asked, 0);
	same(s.out[3], 0x100 | ENDS);
	chains.lasts = false;
}

/* What could not be read is asked for again. */
static void check_unread(void)
{
	struct scene s;

	forget();
	is_unread = true;
	run(&s, NATIVE, 0x100, 0x200);
	is_unread = false;
	run(&s, NATIVE, 0x100, 0x200);
	same(nr_asked, 2);
	run(&s, NATIVE, 0x100, 0x200);
	same(nr_asked, 0);
}

static void set_at_random(struct scene *s)
{
	static const u64 places[] = { NATIVE, NATIVE + 8, EVALUATOR, EVALUATOR + 8 };
	unsigned int nr = 1 + tap_random() % 4, nr_functions = tap_random() % 4, i;
	u64 ips[MOST], functions[2 * MOST];

	for (i = 0; i < nr; i++)
		ips[i] = places[tap_random() % ARRAY_SIZE(places)];
	for (i = 0; i < nr_functions; i++) {
		functions[2 * i] = tap_random() % 3 << 8 | tap_random() % 2;
		functions[2 * i + 1] = tap_random() % 2 << 16;
	}
	set_up(s, ips, nr, functions, nr_functions);
	s->c.is_whole = tap_random() % 8;
	s->c.functions_are_whole = tap_random() % 8;
	s->c.max = tap_random() % 8 ? 4 * MOST : tap_random() % 8 + nr + 1;
}

static void check_same(const struct scene *s, const struct scene *t)
{
	same(s->c.nr_out, t->c.nr_out);
	same(s->c.rest, t->c.rest);
	same(s->c.first, t->c.first);
	/* If no frame has a name, it is the chain itself. */
	check(s->c.is_named || !t->c.is_named);
	same(s->c.is_cut_off, t->c.is_cut_off);
	check(!memcmp(s->out, t->out, t->c.nr_out * sizeof(u64)));
}

/* As the walk in the kernel has found it, and one by one: both as without known chains. */
static void check_random(void)
{
	unsigned int i, nr = 0, nr_unseen = 0;
	struct scene s, t;

	forget();
	for (i = 0; i < 200000; i++) {
		set_at_random(&s);
		if (!(tap_random() % 256)) {
			make_old();
			renamed = tap_random() % 4 << 12;
		}
		t = s;
		t.c.chain = t.chain;
		t.c.frames = t.frames;
		t.c.functions = t.functions;
		t.c.out = t.out;
		hybrid_name_chain(&plain, NULL, &t.c);
		s.c.is_unseen = tap_random() % 2;
		s.c.knows_first = true;
		s.c.nr_frames = s.c.is_unseen ? 1 : s.c.nr_frames;
		if (s.c.is_unseen && hybrid_name_known(&known, NULL, &s.c)) {
			check_same(&s, &t);
			nr_unseen++;
		} else if (!s.c.is_unseen) {
			nr_asked = 0;
			hybrid_name_chain(&known, NULL, &s.c);
			check_same(&s, &t);
			nr += s.c.is_named && !nr_asked;
		}
	}
	check(nr > 1000 && nr_unseen > 1000);
	renamed = 0;
	forget();
}

/* What has a frame of its own, and runs what the evaluator ran that has called it. */
static void check_restarting(void)
{
	const u64 ips[] = { EVALUATOR, EVALUATOR + 24, NATIVE, EVALUATOR + 32 };
	const u64 functions[] = { 0x100 | ENDS, 0, 0x200 | ENDS, 0 };
	const u64 named[] = {
		PERF_CONTEXT_USER, EVALUATOR, 0x100 | ENDS, EVALUATOR + 24, NATIVE,
		EVALUATOR + 32, 0x200 | ENDS,
	};
	struct scene s;
	unsigned int i;

	forget();
	evaluator.made_restarts = true;
	for (i = 0; i < 2; i++) {
		set_up(&s, ips, ARRAY_SIZE(ips), functions, 2);
		nr_asked = 0;
		hybrid_name_chain(&known, NULL, &s.c);
		same(nr_asked, i ? 1 : 2);
		same(s.c.nr_out, ARRAY_SIZE(named));
		check(!memcmp(s.out, named, sizeof(named)));
	}
	check_random();
	evaluator.made_restarts = false;
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "a known chain",				check_known },
		{ "equal frames that run other functions",	check_others },
		{ "a first frame of the evaluator",		check_first },
		{ "a chain that was named long ago",		check_old },
		{ "a frame that could not be read",		check_unread },
		{ "a chain whose names last",			check_lasting },
		{ "chains at random",				check_random },
		{ "a first frame that restarts the evaluator",	check_restarting },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
