// SPDX-License-Identifier: GPL-2.0
/*
 * Records of the BPF program of any bytes: parsed, and made samples that are parsed again.
 *
 * Input: 8 bytes that choose what the events have; the rest is the record.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/perf_unwind_rules.h>
#include "fuzz.h"
#include "sample-layout.h"
#include "walk-record.h"

#define TRAILER	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW)
#define OPTIONAL (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | \
		  PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define NEEDED	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN | \
		 PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

static void check_chain(const struct hybrid_walked *walked,
			const struct hybrid_sample_parts *sample)
{
	u32 nr_kernel = walked->head.nr_kernel, front = 0;
	const u64 user = PERF_CONTEXT_USER;

	/* The rules' word, and what they say, stand before the user's part. */
	if (!walked->head.nr_user && walked->dump) {
		while (front < nr_kernel && memcmp(walked->ips + front * 8, &user, 8))
			front++;
		if (sample->nr_chain != nr_kernel + 2 ||
		    memcmp(sample->chain, walked->ips, front * 8) ||
		    sample->chain[front] != PERF_CONTEXT_USER_RULES ||
		    sample->chain[front + 1] != walked->head.info ||
		    memcmp(sample->chain + front + 2, walked->ips + front * 8,
			   (nr_kernel - front) * 8))
			abort();
		return;
	}
	if (!walked->head.nr_user) {
		if (sample->nr_chain != nr_kernel ||
		    memcmp(sample->chain, walked->ips, nr_kernel * 8))
			abort();
		return;
	}
	if (sample->nr_chain != nr_kernel + 3 + walked->head.nr_user ||
	    memcmp(sample->chain, walked->ips, nr_kernel * 8) ||
	    memcmp(sample->chain + nr_kernel + 3, walked->ips + nr_kernel * 8,
		   walked->head.nr_user * 8) ||
	    sample->chain[nr_kernel] != PERF_CONTEXT_USER_RULES ||
	    sample->chain[nr_kernel + 1] != walked->head.info ||
	    sample->chain[nr_kernel + 2] != PERF_CONTEXT_USER)
		abort();
}

/* Are there context words where a walk puts none? No record of BPF has them. */
static bool has_contexts(const struct hybrid_walked *walked)
{
	u32 nr_kernel = walked->head.nr_kernel, i;
	u64 word;

	for (i = 0; i < nr_kernel + walked->head.nr_user; i++) {
		memcpy(&word, walked->ips + i * sizeof(word), sizeof(word));
		if (word == PERF_CONTEXT_USER_RULES ||
		    (walked->head.nr_user && word == PERF_CONTEXT_USER) ||
		    (i >= nr_kernel && word >= (u64)PERF_CONTEXT_MAX))
			return true;
	}
	return false;
}

/* What is read of the record at once, of any bytes, is what its sample has. */
static void check_parts(const struct hybrid_walked *walked, u64 type, u64 regs,
			const struct hybrid_sample_parts *sample)
{
	u64 *ips = malloc(HYBRID_WALKED_IPS * sizeof(*ips)), head[HYBRID_WALKED_HEAD];
	struct hybrid_kernel_chain chain, at_once;
	struct hybrid_sample_parts parts;
	u64 values[HYBRID_WALKED_REGS];

	if (!ips || has_contexts(walked)) {
		free(ips);
		return;
	}
	hybrid_walked_head(walked, type, head, &parts);
	if (parts.chain_at != sample->chain_at ||
	    memcmp(head + 1, sample->event + 1, parts.chain_at - 8))
		abort();
	hybrid_kernel_chain_parse(sample->chain, sample->nr_chain, &chain);
	hybrid_walked_chain(walked, ips, &at_once);
	if (chain.nr_user != at_once.nr_user || chain.is_walked != at_once.is_walked ||
	    (chain.nr_user && memcmp(chain.user, at_once.user, chain.nr_user * 8)))
		abort();
	if (walked->dump && (hybrid_walked_regs(walked, regs, values) != sample->regs_abi ||
			     (sample->regs && memcmp(values, sample->regs,
						     __builtin_popcountll(regs) * 8))))
		abort();
	free(ips);
}

static void make_sample(const struct hybrid_walked *walked, u64 type, u64 regs)
{
	struct hybrid_layout layout = {
		.attr.sample_type	= type,
		.attr.sample_regs_user	= walked->dump ? regs & HYBRID_BPF_ALL_REGS : 0,
	};
	struct perf_event_header *made = aligned_alloc(8, HYBRID_MAX_RECORD);
	struct hybrid_sample_parts sample;

	hybrid_walked_sample(walked, type, layout.attr.sample_regs_user, made);
	if (hybrid_layout_parse(&layout, made, &sample))
		abort();
	check_chain(walked, &sample);
	check_parts(walked, type, layout.attr.sample_regs_user, &sample);
	if (walked->dump && (sample.stack_size != walked->stack_size ||
			     sample.stack_room != walked->stack_room))
		abort();
	free(made);
}

static void end_at_hole(struct hybrid_walked *walked)
{
	u32 holes = walked->holes, in_page = walked->dump ? hybrid_walked_sp(walked) % 4096 : 0;
	u32 size = walked->stack_size;

	hybrid_walked_end_at_hole(walked);
	if (walked->stack_size > size || (!holes && walked->stack_size != size))
		abort();
	if (walked->dump && walked->stack_size &&
	    holes & ((2ULL << (in_page + walked->stack_size - 1) / 4096) - 1))
		abort();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct perf_event_header *record;
	struct hybrid_walked walked;
	u64 type, words, trailer;
	int err;

	/* Who calls has looked for an identifier. */
	if (size < 16 || size > 0xffff - sizeof(*record))
		return 0;
	memcpy(&type, data, sizeof(type));
	words = (size - 8) / 8;
	record = malloc(sizeof(*record) + words * 8);
	*record = (struct perf_event_header) {
		.type = PERF_RECORD_SAMPLE, .size = sizeof(*record) + words * 8,
	};
	memcpy(record + 1, data + 8, words * 8);
	trailer = TRAILER | (type & PERF_SAMPLE_CPU);
	err = hybrid_walked_parse(trailer, record, &walked);
	/* The same record has the same time. */
	if (!err && hybrid_walked_time(trailer, record) != walked.head.time)
		abort();
	if (!err && hybrid_walked_is_sample(&walked)) {
		make_sample(&walked, NEEDED | (type & OPTIONAL), type >> 32);
		end_at_hole(&walked);
		make_sample(&walked, NEEDED | (type & OPTIONAL), type >> 32);
	}
	free(record);
	return 0;
}
