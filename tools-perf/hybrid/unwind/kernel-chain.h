/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_KERNEL_CHAIN_H
#define __PERF_HYBRID_KERNEL_CHAIN_H

#include <stdbool.h>
#include <linux/types.h>

/**
 * struct hybrid_kernel_chain - the callchain of a sample as the kernel made it
 * @kernel: words before the user part, with their context words
 * @nr_kernel: number of @kernel
 * @user: entries of the user part
 * @nr_user: number of @user
 * @has_user: there is a PERF_CONTEXT_USER before @user
 * @is_walked: the user part is of a walk by loaded rules, as far as that came
 * @info: what that says of itself, PERF_UNWIND_INFO_*; 0 without a walk
 */
struct hybrid_kernel_chain {
	const u64	*kernel;
	unsigned int	 nr_kernel;
	const u64	*user;
	unsigned int	 nr_user;
	bool		 has_user;
	bool		 is_walked;
	u64		 info;
};

/**
 * hybrid_kernel_chain_parse - find the parts of a callchain
 * @ips: the callchain, with its context words: PERF_CONTEXT_USER_RULES and the word behind that
 *	stand right before PERF_CONTEXT_USER. What follows the user part is left out
 * @nr: number of @ips
 * @chain: out; points into @ips
 */
void hybrid_kernel_chain_parse(const u64 *ips, unsigned int nr, struct hybrid_kernel_chain *chain);

/* Has the walk by rules come to the outermost frame, so that there is no dump? */
bool hybrid_kernel_chain_is_whole(const struct hybrid_kernel_chain *chain);

#endif /* __PERF_HYBRID_KERNEL_CHAIN_H */
