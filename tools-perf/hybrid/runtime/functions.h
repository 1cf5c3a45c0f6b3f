/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_FUNCTIONS_H
#define __PERF_HYBRID_FUNCTIONS_H

#include <stdbool.h>
#include <linux/types.h>
#include "walk-interpreter.h"

/* Languages of one sample, at most. The functions of others are left out. */
#define HYBRID_SAMPLE_LANGUAGES	4

/**
 * struct hybrid_functions - functions of one language in a sample
 * @language: theirs
 * @nr: number of @words, each struct hybrid_walk_function
 * @words: the functions, from the innermost on; need not be aligned
 * @are_whole: the last one is the outermost
 */
struct hybrid_functions {
	enum hybrid_language	 language;
	unsigned int		 nr;
	const void		*words;
	bool			 are_whole;
};

/**
 * struct hybrid_sample_functions - the functions that BPF has read of a sample
 * @nr: number of @of
 * @of: the functions of each language; no two are of one language. The others are not set
 */
struct hybrid_sample_functions {
	unsigned int		nr;
	struct hybrid_functions	of[HYBRID_SAMPLE_LANGUAGES];
};

/* Those of the language with this number in @of; behind the last one: none, of no language. */
const struct hybrid_functions *
hybrid_sample_functions__get(const struct hybrid_sample_functions *functions, unsigned int i);

/* Bytes of all words. */
size_t hybrid_sample_functions__size(const struct hybrid_sample_functions *functions);

/**
 * hybrid_sample_functions__copy - have the words in memory of one's own
 * @functions: they are in there from now on
 * @words: out: has room for hybrid_sample_functions__size()
 */
void hybrid_sample_functions__copy(struct hybrid_sample_functions *functions, void *words);

#endif /* __PERF_HYBRID_FUNCTIONS_H */
