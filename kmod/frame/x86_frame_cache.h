/* SPDX-License-Identifier: GPL-2.0 */
/* x86 frame analysis: a small cache, as samples repeat their addresses. */
#ifndef _X86_FRAME_CACHE_H
#define _X86_FRAME_CACHE_H

#include <linux/types.h>

#include "x86_frame.h"

/*
 * Sets of entries, a power of two, and the entries of one: with all else a cache takes no
 * more than 16 KiB. Tests try other numbers.
 */
#ifndef X86_FRAME_CACHE_SETS
#define X86_FRAME_CACHE_SETS	128
#endif
#define X86_FRAME_CACHE_WAYS	5
/* Bytes of code that an entry is about, aligned. */
#define X86_FRAME_CACHE_BLOCK	64

/**
 * struct x86_frame_cache_entry - an answer
 * @tag:	a hash of address space, mode, address and bytes of the block
 * @ips:	a bit for each byte that the answer is for; none: not used
 * @cfa_words:	see struct x86_frame_rule, in words
 * @fp_words:	see struct x86_frame_rule, in words
 * @mem_words:	see struct x86_frame_rule, in words
 * @use_fp:	see struct x86_frame_rule
 * @reg:	see struct x86_frame_rule
 * @kind:	what found it
 */
struct x86_frame_cache_entry {
	u64	tag;
	u64	ips;
	s16	cfa_words;
	s16	fp_words;
	s16	mem_words;
	u8	use_fp:1;
	u8	reg:5;
	u8	kind;
};

/**
 * struct x86_frame_cache - answers, by block of code
 * @sets:	the answers
 * @key:	random, so that nobody can write code that has the tag of other code
 * @victim:	the entry of a set to be replaced next
 * @spent:	what a search may not take, of X86_FRAME_INSNS or more, as other analyses of
 *		the same walk took it: for those who walk to set
 * @work:	memory for the analysis
 *
 * All zero is an empty cache.  One with code of several users needs @key.  One that more
 * than one context can use at a time, as when an NMI comes into the handler of an interrupt,
 * needs a copy for each of them.
 */
struct x86_frame_cache {
	struct x86_frame_cache_entry	sets[X86_FRAME_CACHE_SETS][X86_FRAME_CACHE_WAYS];
	u64				key[2];
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
