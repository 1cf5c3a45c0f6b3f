/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RUN_NAMER_H
#define __PERF_HYBRID_RUN_NAMER_H

#include "run-chains.h"

/**
 * struct hybrid_run_namer - names the frames of a process by what its interpreter runs
 * @namer: the interface. @begin may be set to what calls hybrid_run_namer__begin(), @text as well
 * @evaluator: of the process
 * @space: of the process; the caller sets it before each use
 * @runs: of the chain that is being named
 * @chains: that were named
 * @ip_of: the address of a frame, by struct hybrid_walk_interpreted; 0: its function can't be read
 * @unknown: the address of such a frame; 0: it gets none
 */
struct hybrid_run_namer {
	struct hybrid_namer		 namer;
	const struct hybrid_evaluator	*evaluator;
	struct hybrid_space		*space;
	struct hybrid_runs		 runs;
	struct hybrid_run_chains	 chains;
	u64 (*ip_of)(struct hybrid_run_namer *by, struct hybrid_names *names, u64 function,
		     u64 position);
	u64 (*unknown)(struct hybrid_run_namer *by, struct hybrid_names *names);
};

/**
 * hybrid_run_namer__init - begin to name frames
 * @by: zeroed; @evaluator, @ip_of and @unknown are set
 * @runtime: of the names
 *
 * Sets @namer. To be ended with hybrid_run_namer__exit().
 */
void hybrid_run_namer__init(struct hybrid_run_namer *by, enum hybrid_runtime runtime);
void hybrid_run_namer__exit(struct hybrid_run_namer *by);

/* As struct hybrid_namer's @begin; @c stays until the chain is named. */
void hybrid_run_namer__begin(struct hybrid_run_namer *by, const struct hybrid_named_chain *c);

#endif /* __PERF_HYBRID_RUN_NAMER_H */
