/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_OUTCOME_H
#define __PERF_HYBRID_OUTCOME_H

/* What became of a sample's user callchain. Every sample counts as one of them. */
enum hybrid_outcome {
	HYBRID_COMPLETE,	/* to the outermost frame, or there is no user part */
	HYBRID_STITCHED,	/* to the outermost frame, behind the dump's end */
	HYBRID_GUESSED,		/* to the outermost frame, by steps that nothing confirms */
	HYBRID_FP_ONLY,		/* the kernel's frame pointer chain: no dump */
	HYBRID_TRUNCATED,	/* ends where the dump or --max-stack ends */
	HYBRID_NOT_IN_MEMORY,	/* ends where the kernel came to a page that is not there */
	HYBRID_NO_MAP,		/* led to an address that no mapping holds */
	HYBRID_NO_CFI,		/* led to code with neither CFI nor frame pointer */
	HYBRID_BAD_CFI,		/* the CFI can't be right */
	HYBRID_UNREAD,		/* led to code whose file was not read in time */
	HYBRID_NR_OUTCOMES,
};

#endif /* __PERF_HYBRID_OUTCOME_H */
