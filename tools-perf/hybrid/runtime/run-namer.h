/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RUN_NAMER_H
#define __PERF_HYBRID_RUN_NAMER_H

#include "run-chains.h"

struct hybrid_run_namer;

/**
 * struct hybrid_run_language - how the functions of an interpreter's language are named
 * @language: of the names
 * @ip_of: the address of a frame, by struct hybrid_walk_function; 0: its function can't be read
 * @unknown: the address of such a frame; 0: it gets none
 * @begin: as struct hybrid_namer has it; it calls hybrid_run_namer__begin(). NULL: that alone
 * @text: as struct hybrid_namer has it
 * @names_first: as struct hybrid_run_chains has it
 * @lasts: the same
 * @functions: as struct hybrid_run_names has it
 * @first: the same
 */
struct hybrid_run_language {
	enum hybrid_language	language;
	u64			(*ip_of)(struct hybrid_run_namer *run_namer,
					 struct hybrid_names *names, u64 function, u64 position);
	u64			(*unknown)(struct hybrid_run_namer *run_namer,
					   struct hybrid_names *names);
	void			(*begin)(struct hybrid_namer *namer,
					 const struct hybrid_named_chain *c);
	void			(*text)(struct hybrid_namer *namer, struct hybrid_names *names,
					const void *text, size_t size);
	bool			names_first;
	bool			lasts;
	const void		*(*functions)(struct hybrid_run_namer *run_namer,
					      const struct hybrid_named_chain *c,
					      unsigned int *nr);
	const struct hybrid_named_chain *(*first)(struct hybrid_run_namer *run_namer,
						  const struct hybrid_named_chain *c,
						  unsigned int *nr);
};

/**
 * struct hybrid_run_namer - names the frames of a process by what its interpreter runs
 * @namer: the interface
 * @language: of the interpreter
 * @evaluator: of the process
 * @space: of the process; the caller sets it before each use
 * @runs: of the chain that is being named
 * @chains: that were named
 */
struct hybrid_run_namer {
	struct hybrid_namer			 namer;
	const struct hybrid_run_language	*language;
	const struct hybrid_evaluator		*evaluator;
	struct hybrid_space			*space;
	struct hybrid_runs			 runs;
	struct hybrid_run_chains		 chains;
};

/**
 * hybrid_run_namer__init - begin to name frames
 * @run_namer: zeroed, or with @runs.roots alone
 * @language: must stay
 * @evaluator: must stay; it may be found later
 *
 * To be ended with hybrid_run_namer__exit().
 */
void hybrid_run_namer__init(struct hybrid_run_namer *run_namer,
			    const struct hybrid_run_language *language,
			    const struct hybrid_evaluator *evaluator);
void hybrid_run_namer__exit(struct hybrid_run_namer *run_namer);

/* As struct hybrid_namer's @begin; @c stays until the chain is named. */
void hybrid_run_namer__begin(struct hybrid_run_namer *run_namer,
			     const struct hybrid_named_chain *c);

#endif /* __PERF_HYBRID_RUN_NAMER_H */
