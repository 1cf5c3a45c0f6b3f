/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_STACK_BPF_H
#define __HYBRID_STACK_BPF_H

/*
 * Words of the user's stack, of which some are read at once.
 */
#include "state.bpf.h"

/* A word of the user's stack. */
static __always_inline bool read_stack(struct state *st, __u64 addr, __u64 *word)
{
	__u64 at = addr - st->window_at, size;

	if (addr & 7)
		return false;
	/* The two conditions, as the size may be 0. */
	if (at < WINDOW - 7 && at + 8 <= st->window_size) {
		*word = *(__u64 *)&st->window[at & (WINDOW - 8)];
		return true;
	}
	/* What stands behind on the page is likely to be needed, too. */
	size = PAGE - (addr & (PAGE - 1));
	if (size > WINDOW)
		size = WINDOW;
	st->window_size = 0;
	if (bpf_probe_read_user(st->window, size, (void *)addr))
		return false;
	st->window_at = addr;
	st->window_size = size;
	*word = *(__u64 *)st->window;
	return true;
}

#endif /* __HYBRID_STACK_BPF_H */
