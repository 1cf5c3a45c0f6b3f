/* SPDX-License-Identifier: GPL-2.0 */
/* x86 frame analysis: a cache, because samples repeat their addresses. */
#ifndef _X86_FRAME_CACHE_H
#define _X86_FRAME_CACHE_H

#include <linux/types.h>

#include "x86_frame.h"

/*
 * Number of sets, which is a power of two, and of entries in a set: a cache takes at most 16 KiB.
 * Tests use other numbers.
 */
#ifndef X86_FRAME_CACHE_SETS
#define X86_FRAME_CACHE_SETS	128
#endif
#define X86_FRAME_CACHE_WAYS	5
/* Bits of a key for the address space.  No machine has so many that a number repeats. */
#define X86_FRAME_CACHE_SPACE	40
/* An entry is for an aligned block of so many bytes of code. */
#define X86_FRAME_CACHE_BLOCK	64

/**
 * struct x86_frame_cache_entry - a result
 * @key:	address space, and above that the low bits of a hash of mode, address and bytes of
 *		the block
 * @ips:	a bit for each byte of the block that the result is for; 0: unused entry
 * @cfa_words:	see struct x86_frame_rule, in words
 * @fp_words:	see struct x86_frame_rule, in words
 * @mem_words:	see struct x86_frame_rule, in words
 * @use_fp:	see struct x86_frame_rule
 * @reg:	see struct x86_frame_rule
 * @kind:	what found it
 */
struct x86_frame_cache_entry {
	u64	key;
	u64	ips;
	s16	cfa_words;
	s16	fp_words;
	s16	mem_words;
	u8	use_fp:1;
	u8	reg:5;
	u8	kind;
};

/**
 * struct x86_frame_cache - results, by block of code
 * @sets:	the results
 * @victim:	entry of a set that is replaced next
 * @spent:	set by the caller: how much of X86_FRAME_INSNS a search may not take, because
 *		other analyses of the same walk took it
 * @work:	memory for a search
 *
 * A cache of zeroes is empty.  Only one context may use a cache at a time: an NMI may interrupt the
 * handler of an interrupt.
 */
struct x86_frame_cache {
	struct x86_frame_cache_entry	sets[X86_FRAME_CACHE_SETS][X86_FRAME_CACHE_WAYS];
	unsigned int			victim;
	unsigned int			spent;
	struct x86_frame_work		work;
};

enum x86_frame_kind x86_frame_recall(struct x86_frame_cache *cache, u64 space,
				     const struct x86_frame_mem *mem, unsigned long ip,
				     struct x86_frame_rule *rule);
enum x86_frame_kind x86_frame_search(struct x86_frame_cache *cache, u64 space,
				     const struct x86_frame_mem *mem, unsigned long ip,
				     struct x86_frame_rule *rule);
enum x86_frame_kind
x86_frame_analyze_cached(struct x86_frame_cache *cache, u64 space,
			 const struct x86_frame_mem *mem, unsigned long ip,
			 struct x86_frame_rule *rule);

#endif /* _X86_FRAME_CACHE_H */
