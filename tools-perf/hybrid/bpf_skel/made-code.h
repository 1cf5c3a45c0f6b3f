/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_MADE_CODE_H
#define __HYBRID_MADE_CODE_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/*
 * Code that no file has: a process made it. It may be other code in the next moment, so that a
 * rule for it holds if the code that the rule was made from is still there.
 */

/* Words of code, at most, by which a walk knows that the code is what a rule was made from. */
#define HYBRID_CODE_WORDS	48

/* Where a walk ends, the code that is there goes to perf: so many bytes, of one page. */
#define HYBRID_SEEN_CODE	256
#define HYBRID_SEEN_BEFORE	64

/**
 * struct hybrid_made_code - such code, as a walk has read it for a sample
 * @ip: where the walk ended
 * @start: address of @bytes
 * @size: of @bytes, at most HYBRID_SEEN_CODE; 0: there are none
 * @bytes: they need not be aligned
 */
struct hybrid_made_code {
	__u64		 ip;
	__u64		 start;
	__u32		 size;
	const __u8	*bytes;
};

/**
 * hybrid_code_hash - add a word to a hash by which code is told from other code
 * @hash: of the words before; 0: there are none
 * @word: of the code, or one that stands for it
 *
 * Return: the hash with this word.
 */
static inline __u64 hybrid_code_hash(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

#endif /* __HYBRID_MADE_CODE_H */
