/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_STACK_BPF_H
#define __HYBRID_STACK_BPF_H

/*
 * Words of the user's stack, of which some are read at once.
 */
#include "maps.bpf.h"

/* Reads the stack from an address on. frame.bpf.h says why it is not inline. */
__noinline int fill_window(struct state *st, __u64 addr)
{
	/* What stands behind on the page is likely to be needed, too. */
	__u64 size = PAGE - (addr & (PAGE - 1));

	if (!st)
		return false;
	if (size > WINDOW)
		size = WINDOW;
	st->window_size = 0;
	if (bpf_probe_read_user(st->window, size, (void *)addr))
		return false;
	st->window_at = addr;
	st->window_size = size;
	return true;
}

/* A word of the user's stack. */
static __always_inline bool read_stack(struct state *st, __u64 addr, __u64 *word)
{
	__u64 at = addr - st->window_at;

	if (addr & 7)
		return false;
	/* The two conditions, as the size may be 0. */
	if (at >= WINDOW - 7 || at + 8 > st->window_size) {
		if (!fill_window(st, addr))
			return false;
		at = 0;
	}
	*word = *(__u64 *)&st->window[at & (WINDOW - 8)];
	return true;
}

#endif /* __HYBRID_STACK_BPF_H */
