/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RUNS_H
#define __PERF_HYBRID_RUNS_H

#include "evaluator.h"
#include "name-chain.h"

/*
 * An evaluator runs a function that another one calls without a native frame for it, for as long
 * as no C function is between: a run. The outermost frame of a run is where a native frame of the
 * evaluator begins.
 */

/* A callchain has no more of them: HYBRID_MAX_RECORD. */
#define HYBRID_RUNS_FRAMES	8192

/*
 * Of a function that a run ends with, beside HYBRID_WALK_RUN_ENDS: what begins the evaluator anew
 * has run it, and what has called that runs the next run. Of languages that have a @restart.
 */
#define HYBRID_RUN_CROSSES	2ULL

/* Functions whose place is remembered. */
#define HYBRID_RUN_ROOTS	64

/**
 * struct hybrid_run_root - the outermost function of chains
 * @function: as struct hybrid_walk_function has it; 0: none
 * @nr_outside: native frames of the evaluator that are further out, in the chain with the fewest
 */
struct hybrid_run_root {
	u64		function;
	unsigned int	nr_outside;
};

/**
 * struct hybrid_runs - the functions that an interpreter runs in a chain, as it is named
 * @evaluator: whose native frames run them
 * @space: of the process
 * @chain: that is being named
 * @at: index of the next frame of @chain's functions
 * @skip: native frames of the evaluator, the next ones, that run nothing yet
 * @more: runs that have no native frame yet, the next ones
 * @frame: number of the next native frame
 * @is_restarted: the frame that was looked at last is of @evaluator's @restart
 * @is_first_again: the innermost frame of the evaluator has called what begins it anew
 * @crosses: the last run ends with HYBRID_RUN_CROSSES
 * @is_even: there are as many runs as native frames of the evaluator, and no others
 * @first_own: address of the innermost frame that runs functions, or has run them; 0: there is none
 * @own: bits of native frames: those that run functions
 * @again: bits of those: an evaluator that they have begun runs all that is theirs, if the run
 *	before does not end with HYBRID_RUN_CROSSES
 * @roots: HYBRID_RUN_ROOTS of them, of a language that has coroutines which share the thread's
 *	stack; NULL: it has none
 */
struct hybrid_runs {
	const struct hybrid_evaluator	*evaluator;
	struct hybrid_space		*space;
	const struct hybrid_named_chain	*chain;
	unsigned int			 at;
	unsigned int			 skip;
	unsigned int			 more;
	unsigned int			 frame;
	bool				 is_restarted;
	bool				 is_first_again;
	bool				 crosses;
	bool				 is_even;
	u64				 first_own;
	u64				 own[HYBRID_RUNS_FRAMES / 64];
	u64				 again[HYBRID_RUNS_FRAMES / 64];
	struct hybrid_run_root		*roots;
};

/**
 * struct hybrid_run_names - who names functions
 * @names: to which they are added
 * @ip_of: the address of a frame, by struct hybrid_walk_function; 0: it gets none
 * @functions: all functions of a chain, as @ip_of takes them: out: @nr of them, each two words;
 *	NULL: they are as the chain has them
 * @first: the same of the first run alone, with a chain that has no others; @nr: out: pairs of
 *	words of the run in @c. NULL: they are as the chain has them
 * @arg: for these
 */
struct hybrid_run_names {
	struct hybrid_names	*names;
	u64			(*ip_of)(void *arg, struct hybrid_names *names, u64 function,
					 u64 position);
	const void		*(*functions)(void *arg, const struct hybrid_named_chain *c,
					      unsigned int *nr);
	const struct hybrid_named_chain *(*first)(void *arg, const struct hybrid_named_chain *c,
						  unsigned int *nr);
	void			*arg;
};

/**
 * hybrid_runs__begin - a chain is about to be named
 * @runs: out, but for @roots
 * @evaluator: must stay until the next call
 * @space: the same
 * @c: the same
 *
 * The evaluator's outermost native frame belongs to the outermost run. An innermost one that has
 * just begun, or is about to return, has none: it is the innermost frame of all, or its last call
 * is not over (_Py_CheckFunctionResult() in Python/ceval.c before CPython 3.11). And an innermost
 * run may have no native frame yet: it stands right outside of the innermost frame. With @roots,
 * the evaluator's outermost frames may belong to no run: a greenlet lies on the stack of what has
 * started it.
 */
void hybrid_runs__begin(struct hybrid_runs *runs, const struct hybrid_evaluator *evaluator,
			struct hybrid_space *space, const struct hybrid_named_chain *c);

/**
 * hybrid_runs__begin_first - the first frame of a chain is about to be named, and no other one
 * @runs: of a hybrid_runs__begin() with the same evaluator and space, or these alone
 * @c: the chain. It has as many runs as native frames of the evaluator, or its first frame is none
 *
 * Return: what the frame is: hybrid_evaluator__of().
 */
unsigned int hybrid_runs__begin_first(struct hybrid_runs *runs,
				      const struct hybrid_named_chain *c);

/* Of function @i of a chain: what struct hybrid_walk_function has; @word is 0 or 1. */
u64 hybrid_named_function(const struct hybrid_named_chain *c, unsigned int i, unsigned int word);

/*
 * As struct hybrid_namer's @name, for each user frame in turn: after a native frame of the
 * evaluator stand those of its run.
 */
unsigned int hybrid_runs__name(struct hybrid_runs *runs, const struct hybrid_run_names *how,
			       u64 ip, u64 *out, unsigned int room);

#endif /* __PERF_HYBRID_RUNS_H */
