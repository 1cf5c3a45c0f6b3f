/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_URETPROBE_H
#define __PERF_HYBRID_URETPROBE_H

#include <stdbool.h>
#include <linux/types.h>

struct hybrid_unwind;

/**
 * hybrid_uretprobe_is_trampoline - may a return address be that of a return probe?
 * @ret: as it stands on the stack
 *
 * The kernel puts it in place of the caller's: the start of a page, [uprobes].
 */
static inline bool hybrid_uretprobe_is_trampoline(u64 ret)
{
	return ret && !(ret % 4096);
}

/**
 * hybrid_uretprobe_return - the return address that a return probe has replaced
 * @u: the sample
 * @at: where on the stack a return address stands; never less than in the call before
 * @ret: what stands there, hybrid_uretprobe_is_trampoline()
 *
 * In its own callchain the kernel has the address that was there. That chain goes by
 * frame pointers: it tells only of frames that have one.
 *
 * Return: the address; @ret where it is not known.
 */
u64 hybrid_uretprobe_return(struct hybrid_unwind *u, u64 at, u64 ret);

#endif /* __PERF_HYBRID_URETPROBE_H */
