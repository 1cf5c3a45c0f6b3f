/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RUN_CHAINS_H
#define __PERF_HYBRID_RUN_CHAINS_H

#include "named-chains.h"
#include "runs.h"

/**
 * struct hybrid_run_chains - chains of a process that were named by what its interpreter runs
 * @names_first: functions of the first frame can be named without those of its callers
 * @lasts: the words that BPF writes of a function identify it for good: its name is not compared
 *	again
 * @unread: frames that had no name when the chain began that is named
 * @known: chains
 */
struct hybrid_run_chains {
	bool				names_first;
	bool				lasts;
	u64				unread;
	struct hybrid_named_chains	known;
};

/**
 * hybrid_run_chains__whole - name all user frames of a chain as those of another one were named
 * @chains: of the process
 * @runs: has the evaluator and the space: hybrid_runs__begin_first()
 * @how: names functions
 * @namer: of the process
 * @c: the chain
 *
 * As struct hybrid_namer's @whole. If the first frame is the evaluator's, the functions of its run
 * are named as any. All other functions have to be the same, as BPF has written them.
 */
bool hybrid_run_chains__whole(struct hybrid_run_chains *chains, struct hybrid_runs *runs,
			      const struct hybrid_run_names *how,
			      const struct hybrid_namer *namer, struct hybrid_named_chain *c);

/* As struct hybrid_namer's @keep; @runs: as hybrid_runs__begin() has begun it for @c. */
void hybrid_run_chains__keep(struct hybrid_run_chains *chains, const struct hybrid_runs *runs,
			     const struct hybrid_run_names *how,
			     const struct hybrid_namer *namer,
			     const struct hybrid_named_chain *c);

void hybrid_run_chains__exit(struct hybrid_run_chains *chains);

#endif /* __PERF_HYBRID_RUN_CHAINS_H */
