// SPDX-License-Identifier: GPL-2.0
/*
 * Chains that were named by what an interpreter runs. Which native frame has which function is
 * decided by the frames and the number of runs: a chain with equal callers that run the same has
 * the same names.
 */
#include <linux/kernel.h>
#include "../bpf_skel/hybrid_interpreter.h"
#include "run-chains.h"

void hybrid_run_chains__exit(struct hybrid_run_chains *chains)
{
	hybrid_named_chains__exit(&chains->known);
}

/* Is the first user entry of the chain its first frame, and is all known that the chain runs? */
static bool is_usable(const struct hybrid_named_chain *c)
{
	return c->nr_frames && c->nr_functions && c->is_whole && c->functions_are_whole &&
	       c->user < c->nr && c->chain[c->user] == c->frames[0].ip &&
	       c->frames[0].ip == c->frames[0].ret;
}

/* Is each entry the frame of the same number? A mark is none. */
static bool is_plain(const struct hybrid_named_chain *c)
{
	unsigned int i;

	if (c->nr - c->user != c->nr_frames)
		return false;
	for (i = 0; i < c->nr_frames; i++) {
		if (c->chain[c->user + i] != c->frames[i].ip)
			return false;
	}
	return true;
}

/* How many functions does the first run have? @nr: all have so many. */
static unsigned int first_run(const struct hybrid_named_chain *c, unsigned int nr)
{
	unsigned int at = 0;

	while (at < nr) {
		if (hybrid_named_function(c, at++, 0) & HYBRID_WALK_RUN_ENDS)
			break;
	}
	return at;
}

/* Added to @first of a key: the first frame's run ends with HYBRID_RUN_CROSSES. */
#define CROSSES		0x80000000U

/*
 * @first: what the first frame is. If it is the evaluator's, its run is not in the key, but whether
 * that crosses: this decides which frame has the next run.
 */
static struct hybrid_chain_key key_of(const struct hybrid_run_names *how,
				      const struct hybrid_named_chain *c, unsigned int first)
{
	bool is_own = first & HYBRID_EVALUATOR_OWN;
	const struct hybrid_named_chain *run = c;
	unsigned int at = 0, nr = 0;

	if (is_own && how->first) {
		run = how->first(how->arg, c, &at);
		nr = run->nr_functions;
	} else if (is_own) {
		at = first_run(c, c->nr_functions);
		nr = at;
	}
	if (nr && hybrid_named_function(run, nr - 1, 0) & HYBRID_RUN_CROSSES)
		first |= CROSSES;
	return hybrid_chain_key(c, first, (const u8 *)c->functions + 2 * sizeof(u64) * at,
				2 * (c->nr_functions - at));
}

/* Are chains kept with such a first frame? What restarts the evaluator has to be one of it. */
static bool is_kept(const struct hybrid_run_chains *chains, unsigned int first)
{
	return !first || (first & HYBRID_EVALUATOR_OWN && chains->names_first);
}

/* The first frame, and the functions of its run. Returns false if there may be no room. */
static bool name_first(struct hybrid_runs *runs, const struct hybrid_run_names *how,
		       struct hybrid_named_chain *c, unsigned int nr_named)
{
	unsigned int room = c->max - c->nr_out, nr;

	if (how->first && runs->own[0] & 1)
		runs->chain = how->first(how->arg, c, &nr);
	if (room < 1 + c->nr_functions + nr_named)
		return false;
	nr = hybrid_runs__name(runs, how, c->chain[c->user], c->out + c->nr_out, room);
	hybrid_named_chain_put_first(c, nr);
	return true;
}

/* Are the functions of the callers still those that have the kept names? In the same order. */
static bool is_current(const struct hybrid_kept_chain *chain, const struct hybrid_run_names *how,
		       const struct hybrid_named_chain *c, const struct hybrid_chain_key *key)
{
	unsigned int i, nr = c->nr_functions, at = 0;
	const u64 *named = hybrid_kept_chain_named(chain);
	struct hybrid_named_chain of = *c;
	u64 function, ip;

	i = nr - key->nr_functions / 2;
	if (how->functions) {
		of.functions = how->functions(how->arg, c, &nr);
		i = i ? first_run(&of, nr) : 0;
	}
	for (; i < nr; i++) {
		function = hybrid_named_function(&of, i, 0);
		if (!(function & HYBRID_WALK_FUNCTION_ADDR))
			continue;
		ip = how->ip_of(how->arg, how->names, function, hybrid_named_function(&of, i, 1));
		while (ip && at < chain->nr_named && named[at] != ip)
			at++;
		if (ip && at++ == chain->nr_named)
			return false;
	}
	return true;
}

/* The chain as it was named before; NULL: it was not, or its functions are others now. */
static struct hybrid_kept_chain *find(struct hybrid_run_chains *chains,
				      const struct hybrid_run_names *how,
				      const struct hybrid_named_chain *c,
				      const struct hybrid_chain_key *key)
{
	struct hybrid_kept_chain *chain;
	bool is_old;

	chain = hybrid_named_chains__find_old(&chains->known, c, key, &is_old);
	if (!chain || !is_old)
		return chain;
	if (!is_current(chain, how, c, key))
		return NULL;
	hybrid_named_chains__renew(chain);
	return chain;
}

bool hybrid_run_chains__whole(struct hybrid_run_chains *chains, struct hybrid_runs *runs,
			      const struct hybrid_run_names *how,
			      const struct hybrid_namer *namer, struct hybrid_named_chain *c)
{
	struct hybrid_kept_chain *chain;
	struct hybrid_chain_key key;
	unsigned int first;

	chains->unread = namer->nr_unread;
	if (!is_usable(c) || (c->is_unseen && !c->knows_first))
		return false;
	first = hybrid_runs__begin_first(runs, c);
	if (!is_kept(chains, first))
		return false;
	key = key_of(how, c, first);
	chain = find(chains, how, c, &key);
	if (!chain || !name_first(runs, how, c, chain->nr_named))
		return false;
	hybrid_named_chains__put(chain, c);
	c->is_named = true;
	return true;
}

void hybrid_run_chains__keep(struct hybrid_run_chains *chains, const struct hybrid_runs *runs,
			     const struct hybrid_run_names *how,
			     const struct hybrid_namer *namer,
			     const struct hybrid_named_chain *c)
{
	struct hybrid_kept_chain *chain;
	struct hybrid_chain_key key;
	unsigned int first;

	if (!is_usable(c) || !is_plain(c) || chains->unread != namer->nr_unread)
		return;
	first = hybrid_evaluator__of(runs->evaluator, runs->space, c->frames[0].ip);
	if (!is_kept(chains, first))
		return;
	/* Else the first frame would have the functions of other runs than its own. */
	if (first ? !runs->is_even : c->rest != c->user + 1)
		return;
	key = key_of(how, c, first);
	chain = hybrid_named_chains__keep(&chains->known, c, &key);
	if (chain && chains->lasts)
		chain->named_at = 0;
}
