// SPDX-License-Identifier: GPL-2.0
/*
 * Which native frame of an evaluator runs which functions.
 */
#include <limits.h>
#include <string.h>
#include <linux/kernel.h>
#include "../bpf_skel/hybrid_interpreter.h"
#include "runs.h"

/* They need not be aligned. */
u64 hybrid_named_function(const struct hybrid_named_chain *c, unsigned int i, unsigned int word)
{
	u64 value;

	memcpy(&value, (const u8 *)c->functions + (2 * i + word) * sizeof(value), sizeof(value));
	return value;
}

static bool crosses(const struct hybrid_runs *runs, u64 function)
{
	return runs->evaluator->restart && function & HYBRID_RUN_CROSSES;
}

/* Those that end with HYBRID_RUN_CROSSES are not counted, and neither are their native frames. */
static unsigned int nr_runs(const struct hybrid_runs *runs, const struct hybrid_named_chain *c)
{
	unsigned int i, nr = 0;
	bool ends = true;
	u64 function;

	for (i = 0; i < c->nr_functions; i++) {
		function = hybrid_named_function(c, i, 0);
		ends = function & HYBRID_WALK_RUN_ENDS;
		nr += ends && !crosses(runs, function);
	}
	return nr + !ends;
}

/*
 * From the innermost frame on, each frame of the chain once. Returns whether it surely runs
 * functions, or has run them: what has called @restart may have left all of them to a frame further
 * in.
 */
static bool look_at(u64 ip, void *arg)
{
	struct hybrid_runs *runs = arg;
	unsigned int of = hybrid_evaluator__of(runs->evaluator, runs->space, ip);
	unsigned int at = runs->frame++;
	bool is_own = of & HYBRID_EVALUATOR_OWN;
	bool is_again = is_own && runs->is_restarted && runs->first_own;

	if (is_own && !runs->first_own) {
		runs->first_own = ip;
		runs->is_first_again = runs->is_restarted;
	}
	runs->is_restarted = of & HYBRID_EVALUATOR_RESTART;
	if (at >= HYBRID_RUNS_FRAMES)
		return false;
	if (!(at % 64)) {
		runs->own[at / 64] = 0;
		runs->again[at / 64] = 0;
	}
	runs->own[at / 64] |= (u64)is_own << at % 64;
	runs->again[at / 64] |= (u64)is_again << at % 64;
	return is_own && !is_again;
}

static bool is_next_own(struct hybrid_runs *runs)
{
	unsigned int at = runs->frame++;

	return at < HYBRID_RUNS_FRAMES && runs->own[at / 64] >> at % 64 & 1 &&
	       (runs->crosses || !(runs->again[at / 64] >> at % 64 & 1));
}

/* Resets all but @own and @again: look_at() sets their bits before anything reads them. */
static void begin(struct hybrid_runs *runs, const struct hybrid_named_chain *c)
{
	runs->chain = c;
	runs->at = 0;
	runs->skip = 0;
	runs->more = 0;
	runs->frame = 0;
	runs->is_restarted = false;
	runs->is_first_again = false;
	runs->crosses = false;
	runs->is_even = false;
	runs->first_own = 0;
}

static struct hybrid_run_root *find_root(struct hybrid_runs *runs)
{
	const struct hybrid_named_chain *c = runs->chain;
	struct hybrid_run_root *root;
	u64 function = 0;
	unsigned int i;

	for (i = c->nr_functions; i && !function; i--)
		function = hybrid_named_function(c, i - 1, 0) & ~(u64)HYBRID_WALK_RUN_ENDS;
	root = &runs->roots[(function >> 4) % HYBRID_RUN_ROOTS];
	if (root->function != function)
		*root = (struct hybrid_run_root) { .function = function, .nr_outside = UINT_MAX };
	return root;
}

/* May the innermost frame of the evaluator run nothing? It runs no more, or not yet. */
static bool may_be_idle(const struct hybrid_runs *runs, unsigned int extra)
{
	return runs->own[0] & 1 ||
	       (extra && hybrid_evaluator__has_ended(runs->evaluator, runs->space,
						     runs->first_own));
}

/*
 * How many of the evaluator's innermost frames run nothing? @extra: frames of the evaluator that
 * are more than runs. With coroutines it is one, or none.
 */
static unsigned int nr_to_skip(struct hybrid_runs *runs, unsigned int extra)
{
	struct hybrid_run_root *root;

	if (!runs->roots)
		return extra;
	root = find_root(runs);
	if (!may_be_idle(runs, extra)) {
		root->nr_outside = min(root->nr_outside, extra);
		return 0;
	}
	return extra == (root->nr_outside == UINT_MAX ? 1 : root->nr_outside + 1);
}

void hybrid_runs__begin(struct hybrid_runs *runs, const struct hybrid_evaluator *evaluator,
			struct hybrid_space *space, const struct hybrid_named_chain *c)
{
	unsigned int nr, nr_of_runs;

	begin(runs, c);
	runs->evaluator = evaluator;
	runs->space = space;
	if (!c->nr_functions)
		return;
	nr = hybrid_named_chain_count(c, look_at, runs);
	runs->frame = 0;
	if (!c->functions_are_whole || !c->is_whole)
		return;
	nr_of_runs = nr_runs(runs, c);
	if (nr >= nr_of_runs)
		runs->skip = nr_to_skip(runs, nr - nr_of_runs);
	else if (nr)
		runs->more = nr_of_runs - nr;
	/* The eval's evaluator has not begun. */
	if (runs->is_first_again && crosses(runs, hybrid_named_function(c, 0, 0)))
		runs->more++;
	runs->is_even = nr == nr_of_runs && !runs->more;
}

unsigned int hybrid_runs__begin_first(struct hybrid_runs *runs, const struct hybrid_named_chain *c)
{
	unsigned int of = hybrid_evaluator__of(runs->evaluator, runs->space, c->frames[0].ip);

	begin(runs, c);
	runs->own[0] = of & HYBRID_EVALUATOR_OWN;
	runs->again[0] = 0;
	return of;
}

/* The functions of the next runs: @left. */
static unsigned int name_runs(struct hybrid_runs *runs, const struct hybrid_run_names *how,
			      unsigned int left, u64 *out, unsigned int room)
{
	const struct hybrid_named_chain *c = runs->chain;
	unsigned int nr = 0;
	u64 function, position, ip;

	for (; runs->at < c->nr_functions && left; runs->at++) {
		function = hybrid_named_function(c, runs->at, 0);
		left -= function & HYBRID_WALK_RUN_ENDS;
		runs->crosses = crosses(runs, function);
		if (!(function & HYBRID_WALK_FUNCTION_ADDR))
			continue;
		position = hybrid_named_function(c, runs->at, 1);
		ip = how->ip_of(how->arg, how->names, function, position);
		if (ip && nr == room)
			return room + 1;
		if (ip)
			out[nr++] = ip;
	}
	return nr;
}

unsigned int hybrid_runs__name(struct hybrid_runs *runs, const struct hybrid_run_names *how,
			       u64 ip, u64 *out, unsigned int room)
{
	const struct hybrid_named_chain *c = runs->chain;
	unsigned int nr;
	bool is_own;

	if (!c || runs->at >= c->nr_functions)
		return 0;
	is_own = is_next_own(runs);
	if (is_own && runs->skip) {
		runs->skip--;
		return 0;
	}
	nr = runs->more + is_own;
	runs->more = 0;
	if (!nr || !room)
		return nr;
	nr = name_runs(runs, how, nr, out + 1, room - 1);
	*out = ip;
	return nr ? nr + 1 : 0;
}
