/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_AFTER_H
#define __PERF_HYBRID_AFTER_H

#include <linux/types.h>

struct x86_frame_mem;

/* Where the rule stands that holds once an instruction has run. */
enum hybrid_after {
	HYBRID_AFTER_SAME,	/* with it: a jump, which leaves the stack alone */
	HYBRID_AFTER_NEXT,	/* with the next instruction */
	HYBRID_AFTER_CALL,	/* with it, once the return address is taken away */
	HYBRID_AFTER_RETURN,	/* with the caller, wherever that is */
};

/**
 * hybrid_after - what the instruction at an address leaves
 * @mem: reads the code
 * @ip: the instruction
 * @next: out: the address behind it
 *
 * Return: HYBRID_AFTER_SAME where it can't be read, too.
 */
enum hybrid_after hybrid_after(const struct x86_frame_mem *mem, u64 ip, u64 *next);

#endif /* __PERF_HYBRID_AFTER_H */
