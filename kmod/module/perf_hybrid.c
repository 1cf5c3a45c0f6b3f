// SPDX-License-Identifier: GPL-2.0
/*
 * perf_hybrid: exact innermost frames in user call chains, for kernels as
 * distributions ship them.
 */
#include <linux/module.h>

#include "hook.h"

static int __init perf_hybrid_init(void)
{
	return hook_init();
}

static void __exit perf_hybrid_exit(void)
{
	hook_exit();
}

module_init(perf_hybrid_init);
module_exit(perf_hybrid_exit);

MODULE_DESCRIPTION("User call chains with the callers that frame pointers do not show");
MODULE_LICENSE("GPL");
