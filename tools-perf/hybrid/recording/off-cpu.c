// SPDX-License-Identifier: GPL-2.0
/*
 * perf record --off-cpu --call-graph hybrid: chains are made when a task goes to sleep, as
 * those of samples are, and kept for the samples that come when it runs again, or at the
 * end of the recording (bpf_off_cpu.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "../../event.h"
#include "../../evlist.h"
#include "../../evsel.h"
#include "../records/walk-record.h"
#include "recording.h"

/**
 * struct hybrid_chain - a callchain that samples are to have
 * @word: by which they name it
 * @outcome: what became of it
 * @walked: there was a walk by loaded rules
 * @info: what that says of itself
 * @nr: of @ips
 * @ips: the callchain, with its context words
 */
struct hybrid_chain {
	u64			word;
	enum hybrid_outcome	outcome;
	bool			walked;
	u64			info;
	u32			nr;
	u64			ips[];
};

/* Time of the first sample that perf adds at the end: OFF_CPU_TIMESTAMP, util/bpf_off_cpu.c. */
#define ADDED_FROM	(~0ULL << 32)

/* What of a sample of the event stands before its raw data. */
#define BEFORE_RAW	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | \
			 PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

/* The raw data: the task, for how long, the callchain with its number, the cgroup. */
enum raw_word {
	RAW_TASK,
	RAW_PERIOD,
	RAW_NR,
	RAW_CONTEXT,
	RAW_FIRST,
};

/**
 * struct sleep - a sample of a sleep, as the kernel's program has written it
 * @raw_at: offset of the raw data's size
 * @rest_at: offset of what stands behind the raw data
 * @words: the raw data
 * @nr: of @words
 */
struct sleep {
	u32	raw_at;
	u32	rest_at;
	u64	words[HYBRID_MAX_RECORD / 8];
	u32	nr;
};

/* The chains are those of samples that have what BPF's records tell, and a dump. */
static void init_event(struct hybrid_event *event, const struct hybrid_bpf *bpf,
		       unsigned int max_stack)
{
	event->off_cpu = true;
	event->max_stack = min_t(unsigned int, max_stack, HYBRID_MAX_FRAMES);
	event->layout.attr = (struct perf_event_attr) {
		.sample_type		= (hybrid_bpf__sample_type(bpf) & ~PERF_SAMPLE_RAW) |
					  PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN |
					  PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_id_all		= 1,
		.sample_regs_user	= HYBRID_BPF_REGS,
	};
}

/* Of other records the id tells what they end with: of an event that has the same there. */
static bool ends_alike(const struct evsel *evsel, u64 type)
{
	return !((evsel->core.attr.sample_type ^ type) & HYBRID_BPF_TRAILER) && evsel->core.id;
}

void hybrid_off_cpu_init(struct hybrid_record *hr, unsigned int max_stack)
{
	struct evsel *evsel;

	if (!hybrid_bpf__is_off_cpu(hr->walker.bpf)) {
		/* Their chains are the kernel's; perf writes some at the end. */
		evlist__for_each_entry(hr->evlist, evsel)
			hr->hits.is_unknown |= evsel__is_offcpu_event(evsel);
		return;
	}
	evlist__for_each_entry(hr->evlist, evsel) {
		if (ends_alike(evsel, hybrid_bpf__sample_type(hr->walker.bpf)))
			hr->off_cpu.id = evsel->core.id[0];
		if (!evsel__is_offcpu_event(evsel))
			continue;
		hr->off_cpu.event = &hr->events[evsel->core.idx];
		init_event(hr->off_cpu.event, hr->walker.bpf, max_stack);
	}
}

void hybrid_off_cpu_exit(struct hybrid_off_cpu *off_cpu)
{
	u32 i;

	for (i = 0; off_cpu->chains && i <= HYBRID_WALK_CHAINS; i++)
		free(off_cpu->chains[i]);
	free(off_cpu->chains);
}

/* A copy of what hybrid_make_chain() has made. */
static struct hybrid_chain *keep(const struct hybrid_sample *sample, u64 word)
{
	struct hybrid_chain *chain = malloc(sizeof(*chain) + sample->nr * sizeof(u64));

	if (!chain)
		return NULL;
	chain->word = word;
	chain->outcome = sample->outcome;
	chain->walked = sample->kernel.is_walked || sample->kernel.info;
	chain->info = sample->kernel.info;
	chain->nr = sample->nr;
	memcpy(chain->ips, sample->chain, sample->nr * sizeof(u64));
	return chain;
}

/* Takes the chain; where memory is short it is not known. */
static void put_numbered(struct hybrid_off_cpu *off_cpu, struct hybrid_chain *chain, u64 number)
{
	if (!off_cpu->chains)
		off_cpu->chains = calloc(HYBRID_WALK_CHAINS + 1, sizeof(void *));
	if (!off_cpu->chains || number > HYBRID_WALK_CHAINS) {
		free(chain);
		return;
	}
	free(off_cpu->chains[number]);
	off_cpu->chains[number] = chain;
}

int hybrid_off_cpu_chain(struct hybrid_record *hr, struct hybrid_ring *ring,
			 struct hybrid_walked *walked)
{
	struct hybrid_event *event = hr->off_cpu.event;
	const u64 word = walked->head.sleep;
	struct hybrid_sample_parts parts;
	struct hybrid_thread *thread;
	struct hybrid_sample sample;
	struct hybrid_chain *chain;
	int err;

	/* It went to sleep in the kernel. */
	walked->head.misc = PERF_RECORD_MISC_KERNEL;
	hybrid_take_walked(hr, event, walked, &parts, &sample);
	err = hybrid_make_chain(hr, ring, event, &parts, &sample);
	if (err)
		return err;
	hybrid_stats_failure(&hr->stats, sample.outcome,
			     sample.is_known ? NULL : hr->core->unwind.failed_in);
	/* Not when a sample has it: its process may be gone by then. */
	hybrid_hits_chain(hr, &sample);
	thread = hybrid_thread_find(&hr->core->ps, sample.pid, sample.tid);
	chain = keep(&sample, word);
	if (word & HYBRID_WALK_CHAIN && chain) {
		put_numbered(&hr->off_cpu, chain, word & ~HYBRID_WALK_CHAIN);
	} else if (thread) {
		free(thread->asleep);
		thread->asleep = chain;
	} else {
		free(chain);
	}
	return 0;
}

static struct hybrid_chain *find_numbered(const struct hybrid_off_cpu *off_cpu, u64 number)
{
	return off_cpu->chains && number <= HYBRID_WALK_CHAINS ? off_cpu->chains[number] : NULL;
}

/* Of a task that exits, and has no stack any more. */
static const struct hybrid_chain no_user_part = {
	.outcome	= HYBRID_COMPLETE,
	.nr		= 1,
	.ips		= { PERF_CONTEXT_USER },
};

/* The chain that a sample's word names; NULL where it is not known, or is no such word. */
static const struct hybrid_chain *find_chain(struct hybrid_record *hr, const struct sleep *sleep)
{
	const u32 *task = (const u32 *)&sleep->words[RAW_TASK];
	u64 word = sleep->words[RAW_FIRST];
	struct hybrid_thread *thread;

	if (sleep->words[RAW_NR] == 1)
		return &no_user_part;
	if (word & HYBRID_WALK_CHAIN)
		return find_numbered(&hr->off_cpu, word & ~HYBRID_WALK_CHAIN);
	thread = hybrid_thread_find(&hr->core->ps, task[0], task[1]);
	return thread && thread->asleep && thread->asleep->word == word ? thread->asleep : NULL;
}

static int parse(const struct evsel *evsel, const struct perf_event_header *header,
		 struct sleep *sleep)
{
	u64 type = evsel->core.attr.sample_type;
	u32 size;

	sleep->raw_at = sizeof(*header) + hweight64(type & BEFORE_RAW) * sizeof(u64);
	if (sleep->raw_at + sizeof(size) > header->size)
		return -EINVAL;
	memcpy(&size, (const u8 *)header + sleep->raw_at, sizeof(size));
	sleep->rest_at = sleep->raw_at + sizeof(size) + size;
	if (size > header->size || sleep->rest_at > header->size || sleep->rest_at % 8)
		return -EINVAL;
	sleep->nr = size / sizeof(u64);
	memcpy(sleep->words, (const u8 *)header + sleep->raw_at + sizeof(size),
	       sleep->nr * sizeof(u64));
	/* The first word need not be there; behind the callchain stands the cgroup. */
	if (sleep->nr <= RAW_FIRST || sleep->words[RAW_NR] < 1 ||
	    sleep->words[RAW_NR] > sleep->nr - RAW_FIRST)
		return -EINVAL;
	return 0;
}

/*
 * No chain was made when the task went to sleep: there was no room in the ring, and the
 * sample has the kernel's frame pointer chain, if any; or what was made is not known.
 */
static struct hybrid_chain *cut_off(struct hybrid_record *hr, struct hybrid_ring *ring,
				    const struct perf_event_header *header,
				    const struct sleep *sleep)
{
	bool is_word = sleep->words[RAW_FIRST] & (HYBRID_WALK_CHAIN | HYBRID_WALK_SLEEP);
	struct hybrid_event *event = hr->off_cpu.event;
	struct hybrid_walked walked = {
		.ids		= sleep->words[RAW_TASK],
		.head.id	= hr->off_cpu.id,
	};
	union perf_event *at = (union perf_event *)header;
	struct hybrid_sample_parts parts;
	struct hybrid_sample sample;

	if (evlist__parse_sample_timestamp(hr->evlist, at, &walked.time))
		walked.time = 0;
	walked.head.time = walked.time;
	hybrid_take_walked(hr, event, &walked, &parts, &sample);
	sample.kernel.has_user = true;
	sample.kernel.user = &sleep->words[RAW_FIRST];
	while (!is_word && sample.kernel.nr_user < sleep->words[RAW_NR] - 1 &&
	       sample.kernel.user[sample.kernel.nr_user] < (u64)PERF_CONTEXT_MAX)
		sample.kernel.nr_user++;
	if (hybrid_make_chain(hr, ring, event, &parts, &sample))
		return NULL;
	hybrid_hits_chain(hr, &sample);
	return keep(&sample, 0);
}

/* A sample has it. */
static void count(struct hybrid_record *hr, const struct hybrid_chain *chain, u16 ring_size)
{
	hybrid_stats_read(&hr->stats, ring_size);
	hybrid_stats_outcome(&hr->stats, chain->outcome);
	if (chain->walked)
		hybrid_stats_walk(&hr->stats, chain->info);
}

/* The sample with the chain in place of its own. */
static int write_sleep(struct hybrid_record *hr, const struct perf_event_header *header,
		       struct sleep *sleep, const struct hybrid_chain *chain)
{
	u32 rest = header->size - sleep->rest_at, nr, size, fixed;
	struct perf_event_header *out = hybrid_output_room(&hr->out, HYBRID_MAX_RECORD);
	u64 cgroup = sleep->words[sleep->nr - 1];
	u8 *to = (u8 *)out + sleep->raw_at;

	if (!out)
		return -EIO;
	fixed = sleep->raw_at + sizeof(size) + (RAW_CONTEXT + 1) * sizeof(u64) + rest;
	nr = min(chain->nr, (HYBRID_MAX_RECORD - fixed) / 8);
	size = (RAW_CONTEXT + nr + 1) * sizeof(u64) + sizeof(size);
	memcpy(out, header, sleep->raw_at);
	sleep->words[RAW_NR] = nr;
	memcpy(to, &size, sizeof(size));
	to += sizeof(size);
	memcpy(to, sleep->words, RAW_CONTEXT * sizeof(u64));
	to += RAW_CONTEXT * sizeof(u64);
	memcpy(to, chain->ips, nr * sizeof(u64));
	to += nr * sizeof(u64);
	memcpy(to, &cgroup, sizeof(cgroup));
	/* The data and its size are whole words; the kernel counts what fills up the last. */
	to += sizeof(cgroup) + sizeof(size);
	memset(to - sizeof(size), 0, sizeof(size));
	memcpy(to, (const u8 *)header + sleep->rest_at, rest);
	out->size = to + rest - (u8 *)out;
	/* The kernel says what it was in when it wrote the sample. */
	out->misc = PERF_RECORD_MISC_USER;
	hr->out.used += out->size;
	hr->stats.file_bytes += out->size;
	return 0;
}

/* A sample that can't be read, or that there is no memory for. */
static int drop(struct hybrid_record *hr, struct hybrid_event *event,
		const struct perf_event_header *header)
{
	hybrid_stats_read(&hr->stats, header->size);
	hr->stats.shed++;
	event->shed++;
	return 0;
}

int hybrid_off_cpu_deliver(struct hybrid_record *hr, struct hybrid_ring *ring,
			   struct hybrid_event *event, const struct perf_event_header *header)
{
	const struct evsel *evsel = evlist__event2evsel(hr->evlist, (union perf_event *)header);
	struct hybrid_chain *made = NULL;
	const struct hybrid_chain *chain;
	struct sleep sleep;
	u64 time;
	int err;

	if (parse(evsel, header, &sleep)) {
		hr->stats.bad++;
		return drop(hr, event, header);
	}
	chain = find_chain(hr, &sleep);
	if (!chain) {
		made = cut_off(hr, ring, header, &sleep);
		chain = made;
	}
	if (!chain)
		return drop(hr, event, header);
	count(hr, chain, header->size);
	err = write_sleep(hr, header, &sleep, chain);
	free(made);
	if (!evlist__parse_sample_timestamp(hr->evlist, (union perf_event *)header, &time))
		hybrid_hits_time(&hr->hits, time);
	return err;
}

unsigned int hybrid_record__off_cpu(struct hybrid_record *hr, u32 number, u64 *chain,
				    unsigned int room)
{
	const struct hybrid_chain *found = find_numbered(&hr->off_cpu, number);
	unsigned int nr;

	hybrid_hits_time(&hr->hits, ADDED_FROM + hr->off_cpu.nr_added++);
	if (found) {
		count(hr, found, 0);
		nr = min(found->nr, room);
		memcpy(chain, found->ips, nr * sizeof(*chain));
		return nr;
	}
	hybrid_stats_read(&hr->stats, 0);
	hybrid_stats_outcome(&hr->stats, HYBRID_FP_ONLY);
	chain[0] = PERF_CONTEXT_USER;
	chain[1] = hybrid_synthetic_ip(HYBRID_SYNTHETIC_CUT_OFF);
	return 2;
}
