/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_FUNCTIONS_H
#define __PERF_HYBRID_FUNCTIONS_H

#include <stdbool.h>
#include <linux/types.h>

/**
 * struct hybrid_functions - functions of one language in a sample
 * @language: enum hybrid_walk_language + 1; before hybrid_functions__split() also
 *	HYBRID_WALK_SEVERAL
 * @functions: as struct hybrid_walk_interpreted has them; need not be aligned
 * @nr: number of @functions, each two words
 * @are_whole: the last one is the outermost
 */
struct hybrid_functions {
	u32		 language;
	const void	*functions;
	unsigned int	 nr;
	bool		 are_whole;
};

/**
 * hybrid_functions__split - the functions of a sample by language
 * @all: the functions
 * @parts: out: HYBRID_WALK_PARTS of them
 *
 * Return: number of @parts; no two are of one language, and all are within @all.
 */
unsigned int hybrid_functions__split(const struct hybrid_functions *all,
				     struct hybrid_functions *parts);

#endif /* __PERF_HYBRID_FUNCTIONS_H */
