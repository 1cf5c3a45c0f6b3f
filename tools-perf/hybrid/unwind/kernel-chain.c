// SPDX-License-Identifier: GPL-2.0
#include <linux/perf_event.h>
#include <linux/perf_unwind_rules.h>
#include "kernel-chain.h"

void hybrid_kernel_chain_parse(const u64 *ips, unsigned int nr, struct hybrid_kernel_chain *chain)
{
	unsigned int i = 0;

	*chain = (struct hybrid_kernel_chain) { .kernel = ips };
	while (i < nr && ips[i] != PERF_CONTEXT_USER_RULES && ips[i] != PERF_CONTEXT_USER)
		i++;
	chain->nr_kernel = i;
	if (i + 1 < nr && ips[i] == PERF_CONTEXT_USER_RULES) {
		chain->is_walked = true;
		chain->info = ips[i + 1];
		i += 2;
	}
	if (i >= nr || ips[i] != PERF_CONTEXT_USER)
		return;
	chain->has_user = true;
	chain->user = &ips[++i];
	while (i + chain->nr_user < nr && chain->user[chain->nr_user] < (u64)PERF_CONTEXT_MAX)
		chain->nr_user++;
}

bool hybrid_kernel_chain_is_whole(const struct hybrid_kernel_chain *chain)
{
	return chain->is_walked &&
	       PERF_UNWIND_INFO_END(chain->info) == PERF_UNWIND_END_OUTERMOST;
}
