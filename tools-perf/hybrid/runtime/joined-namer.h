/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_JOINED_NAMER_H
#define __PERF_HYBRID_JOINED_NAMER_H

#include "../bpf_skel/hybrid_interpreter.h"
#include "functions.h"
#include "name-chain.h"

/**
 * struct hybrid_joined_namer - names the frames of a process that runs several languages
 * @namer: the interface
 * @nr: number of @parts
 * @parts: who names functions of a language; its names; and the chain, with functions of that
 *	language alone
 *
 * Each language has native frames of its own evaluator, by which its functions find their places.
 */
struct hybrid_joined_namer {
	struct hybrid_namer	namer;
	unsigned int		nr;
	struct {
		struct hybrid_namer		*namer;
		struct hybrid_names		*names;
		struct hybrid_named_chain	 chain;
	} parts[HYBRID_SAMPLE_LANGUAGES + 1];
};

/* Makes a namer without a language. */
void hybrid_joined_namer__init(struct hybrid_joined_namer *joined);

/**
 * hybrid_joined_namer__add - have one more language
 * @joined: has room for it: HYBRID_SAMPLE_LANGUAGES, and one more
 * @namer: of the process and the language
 * @names: of its runtime
 * @functions: of the next chain; the bytes must stay until that is named
 */
void hybrid_joined_namer__add(struct hybrid_joined_namer *joined, struct hybrid_namer *namer,
			      struct hybrid_names *names,
			      const struct hybrid_functions *functions);

/**
 * hybrid_joined_namer__name_chain - name the frames of a chain by all languages
 * @joined: has one at least
 * @c: as hybrid_name_chain() has it; its functions are set to those of the first language
 */
void hybrid_joined_namer__name_chain(struct hybrid_joined_namer *joined,
				     struct hybrid_named_chain *c);

#endif /* __PERF_HYBRID_JOINED_NAMER_H */
