/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_UPROBE_H
#define __PERF_HYBRID_UPROBE_H

#include "step.h"

/**
 * hybrid_step_uprobe - leave the kernel's code that an optimized uprobe calls
 * @w: under way
 * @caller: out: its address is that behind the uprobe
 *
 * Return: HYBRID_STOP_NO_CFI where the last frame is not that code, or was not called from
 * a place that can have such a uprobe.
 */
enum hybrid_stop hybrid_step_uprobe(struct hybrid_walk *w, struct hybrid_caller *caller);

#endif /* __PERF_HYBRID_UPROBE_H */
