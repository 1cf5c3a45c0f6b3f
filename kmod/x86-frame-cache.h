/* SPDX-License-Identifier: GPL-2.0 */
/* x86 frame analysis: a small cache, as samples repeat their addresses. */
#ifndef _X86_FRAME_CACHE_H
#define _X86_FRAME_CACHE_H

#include <linux/types.h>

#include "x86-frame.h"

/* A power of two.  Half of it makes half of a program's samples miss. */
#define X86_FRAME_CACHE_SIZE	2048

/**
 * struct x86_frame_cache_entry - an answer
 * @space:	the address space
 * @ip:		the instruction
 * @code:	the bytes at @ip that the answer was found with
 * @cfa_off:	see struct x86_frame_rule
 * @fp_off:	see struct x86_frame_rule
 * @use_fp:	see struct x86_frame_rule
 * @kind:	what found it
 * @is_64bit:	how the code was decoded
 * @used:	there is an answer
 */
struct x86_frame_cache_entry {
	u64		space;
	unsigned long	ip;
	u64		code;
	s32		cfa_off;
	s32		fp_off;
	bool		use_fp;
	u8		kind;
	bool		is_64bit;
	bool		used;
};

/**
 * struct x86_frame_cache - answers, by address space and ip
 * @entries:	the answers
 * @work:	memory for the analysis
 *
 * All zero is an empty cache.  One that more than one context can use at a
 * time, as when an NMI comes into the handler of an interrupt, needs a copy
 * for each of them.
 */
struct x86_frame_cache {
	struct x86_frame_cache_entry	entries[X86_FRAME_CACHE_SIZE];
	struct x86_frame_work		work;
};

enum x86_frame_kind
x86_frame_analyze_cached(struct x86_frame_cache *cache, u64 space,
			 const struct x86_frame_mem *mem, unsigned long ip,
			 struct x86_frame_rule *rule);

#endif /* _X86_FRAME_CACHE_H */
