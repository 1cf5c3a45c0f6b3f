// SPDX-License-Identifier: GPL-2.0
/*
 * Processes that run functions of several languages: one calls another one by C code.
 */
#include <string.h>
#include <linux/kernel.h>
#include "joined-namer.h"

const struct hybrid_functions *
hybrid_sample_functions__get(const struct hybrid_sample_functions *functions, unsigned int i)
{
	static const struct hybrid_functions none;

	return i < functions->nr ? &functions->of[i] : &none;
}

size_t hybrid_sample_functions__size(const struct hybrid_sample_functions *functions)
{
	size_t size = 0;
	unsigned int i;

	for (i = 0; i < functions->nr; i++)
		size += functions->of[i].nr * sizeof(struct hybrid_walk_function);
	return size;
}

void hybrid_sample_functions__copy(struct hybrid_sample_functions *functions, void *words)
{
	struct hybrid_functions *of;
	size_t size;

	for (of = functions->of; of < functions->of + functions->nr; of++) {
		size = of->nr * sizeof(struct hybrid_walk_function);
		memcpy(words, of->words, size);
		of->words = words;
		words += size;
	}
}

static void begin(struct hybrid_namer *namer, const struct hybrid_named_chain *c)
{
	struct hybrid_joined_namer *joined =
		container_of(namer, struct hybrid_joined_namer, namer);
	struct hybrid_named_chain chain;
	unsigned int i;

	for (i = 0; i < joined->nr; i++) {
		chain = *c;
		chain.functions = joined->parts[i].chain.functions;
		chain.nr_functions = joined->parts[i].chain.nr_functions;
		chain.functions_are_whole = joined->parts[i].chain.functions_are_whole;
		joined->parts[i].chain = chain;
		if (joined->parts[i].namer->begin)
			joined->parts[i].namer->begin(joined->parts[i].namer,
						      &joined->parts[i].chain);
	}
}

/*
 * Each is asked for each frame, as it counts them. What a frame runs comes after it; that it runs
 * functions of two languages is said of the innermost one alone.
 */
static unsigned int name(struct hybrid_namer *namer, struct hybrid_names *names __maybe_unused,
			 const struct hybrid_frame *frame, u64 ip, u64 *out, unsigned int room)
{
	struct hybrid_joined_namer *joined =
		container_of(namer, struct hybrid_joined_namer, namer);
	unsigned int i, nr = 0, more, last;
	u64 kept;

	for (i = 0; i < joined->nr && nr <= room; i++) {
		/* The next one begins with the frame's own address, which is there already. */
		last = nr ? nr - 1 : 0;
		kept = nr ? out[last] : ip;
		more = joined->parts[i].namer->name(joined->parts[i].namer, joined->parts[i].names,
						    frame, ip, out + last, room - last);
		if (nr)
			out[last] = kept;
		if (more)
			nr = last + more;
	}
	return nr;
}

void hybrid_joined_namer__init(struct hybrid_joined_namer *joined)
{
	joined->nr = 0;
	joined->namer = (struct hybrid_namer) { .begin = begin, .name = name };
}

void hybrid_joined_namer__add(struct hybrid_joined_namer *joined, struct hybrid_namer *namer,
			      struct hybrid_names *names,
			      const struct hybrid_functions *functions)
{
	unsigned int at = joined->nr++;

	joined->parts[at].namer = namer;
	joined->parts[at].names = names;
	joined->parts[at].chain = (struct hybrid_named_chain) {
		.functions = functions->words, .nr_functions = functions->nr,
		.functions_are_whole = functions->are_whole,
	};
}

void hybrid_joined_namer__name_chain(struct hybrid_joined_namer *joined,
				     struct hybrid_named_chain *c)
{
	const struct hybrid_named_chain *first = &joined->parts[0].chain;

	c->functions = first->functions;
	c->nr_functions = first->nr_functions;
	c->functions_are_whole = first->functions_are_whole;
	hybrid_name_chain(joined->nr > 1 ? &joined->namer : joined->parts[0].namer,
			  joined->parts[0].names, c);
}
