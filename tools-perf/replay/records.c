// SPDX-License-Identifier: GPL-2.0
/*
 * The records of a perf.data file go through two rings, as those of --call-graph hybrid do
 * while it records: put in order, and each sample unwound and merged. Prints the chains,
 * as "perf script --ns -F time,ip" does, and at the end what became of the samples.
 *
 * The file has one event, with the registers and the dump of its samples as the ring has
 * them, IP, TID and TIME first, and sample_id_all: see selftests/precise.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include "hybrid-unwind.h"
#include "place.h"
#include "precise.h"
#include "ring-order.h"
#include "sample-layout.h"

/* More than any chain of such a file has. */
#define MAX_FRAMES	8000

#define USAGE	"usage: replay-records [--same] [--cpuid VENDOR,FAMILY,MODEL,STEPPING] FILE\n"
#define RINGS	2

/* As tools/perf/Documentation/perf.data-file-format.txt has it. */
struct file_header {
	char	magic[8];
	u64	size;
	u64	attr_size;
	u64	attrs_offset;
	u64	attrs_size;
	u64	data_offset;
	u64	data_size;
};

/**
 * struct replay - what a recording has
 * @layout: of the event
 * @precise: what moments its samples are of
 * @outcomes: samples by enum hybrid_outcome
 * @bad: samples that can't be parsed
 */
struct replay {
	struct hybrid_layout	 layout;
	struct hybrid_precise	 precise;
	struct hybrid_core	*core;
	struct hybrid_ring	 rings[RINGS];
	u64			 head[RINGS];
	u64			 chain[HYBRID_MAX_RECORD / 8];
	u64			 outcomes[HYBRID_NR_OUTCOMES];
	u64			 bad;
};

static struct replay replay;

static void fail(const char *path, const char *why)
{
	fprintf(stderr, "replay-records: %s: %s\n", path, why);
	exit(1);
}

static void read_at(FILE *file, const char *path, u64 offset, void *to, size_t size)
{
	if (fseek(file, offset, SEEK_SET) || fread(to, 1, size, file) != size)
		fail(path, "it is shorter than its header says: record it again");
}

static void put_record(struct hybrid_ring *ring, u64 *head, const struct perf_event_header *event)
{
	memcpy((u8 *)ring->data + *head, event, event->size);
	*head += event->size;
}

static void init_ring(struct hybrid_ring *ring, u64 size)
{
	u64 room = 4096;

	while (room < size)
		room *= 2;
	ring->data = aligned_alloc(8, room);
	ring->copy = aligned_alloc(8, HYBRID_MAX_RECORD + 8);
	ring->mask = room - 1;
	if (!ring->data || !ring->copy)
		fail("the rings", strerror(ENOMEM));
}

/* Samples go to one ring and the other, as from two processors. */
static void fill_rings(const char *path, const u8 *data, u64 size)
{
	unsigned int i, next = 0;
	u64 at = 0;

	for (i = 0; i < RINGS; i++)
		init_ring(&replay.rings[i], size);
	while (at + sizeof(struct perf_event_header) <= size) {
		const struct perf_event_header *event = (const void *)(data + at);

		if (event->size < sizeof(*event) || event->size % 8 || event->size > size - at)
			fail(path, "a record has a size that can't be: record it again");
		i = event->type == PERF_RECORD_SAMPLE ? next++ % RINGS : 0;
		put_record(&replay.rings[i], &replay.head[i], event);
		at += event->size;
	}
}

static void read_file(const char *path)
{
	struct file_header head;
	FILE *file = fopen(path, "r");
	u8 *data;

	if (!file)
		fail(path, strerror(errno));
	read_at(file, path, 0, &head, sizeof(head));
	if (memcmp(head.magic, "PERFILE2", 8) || head.data_size > 1ULL << 32)
		fail(path, "no perf.data file: name one of selftests/precise");
	read_at(file, path, head.attrs_offset, &replay.layout.attr,
		sizeof(replay.layout.attr));
	data = aligned_alloc(8, head.data_size + 8);
	if (!data)
		fail(path, strerror(ENOMEM));
	read_at(file, path, head.data_offset, data, head.data_size);
	fill_rings(path, data, head.data_size);
	free(data);
	fclose(file);
}

static u64 ring_head(struct hybrid_ring *ring, void *arg __maybe_unused)
{
	return replay.head[ring - replay.rings];
}

/* Behind IP and TID; of other records, their last word. */
static u64 record_time(const struct perf_event_header *event, void *arg __maybe_unused)
{
	u64 time, at = event->type == PERF_RECORD_SAMPLE ? 24 : event->size - 8;

	if (at + 8 > event->size)
		return 0;
	memcpy(&time, (const u8 *)event + at, 8);
	return time;
}

static void consume(struct hybrid_ring *ring __maybe_unused, void *arg __maybe_unused)
{
}

static void print_chain(u64 time, unsigned int nr)
{
	unsigned int i;

	printf("%" PRIu64 ".%09" PRIu64 ":\n", time / 1000000000, time % 1000000000);
	for (i = 0; i < nr; i++) {
		if (replay.chain[i] < (u64)PERF_CONTEXT_MAX)
			printf("\t%" PRIx64 "\n", replay.chain[i]);
	}
}

static void sample(const struct perf_event_header *event)
{
	struct hybrid_sample_parts parts;
	struct hybrid_sample sample = {
		.regs_abi = PERF_SAMPLE_REGS_ABI_64,
		.regs_mask = replay.layout.attr.sample_regs_user,
		.precise = &replay.precise, .max_frames = MAX_FRAMES, .chain = replay.chain,
	};

	if (hybrid_layout_parse(&replay.layout, event, &parts) || !parts.regs) {
		replay.bad++;
		return;
	}
	sample.pid = parts.pid;
	sample.tid = parts.tid;
	sample.regs = parts.regs;
	sample.stack = parts.stack;
	sample.stack_size = parts.stack_size;
	hybrid_kernel_chain_parse(parts.chain, parts.nr_chain, &sample.kernel);
	sample.max = hybrid_layout_room(&replay.layout, &parts);
	hybrid_core_callchain(replay.core, &sample);
	replay.outcomes[sample.outcome]++;
	print_chain(record_time(event, NULL), sample.nr);
}

static int deliver(struct hybrid_ring *ring __maybe_unused, const struct perf_event_header *event,
		   void *arg __maybe_unused)
{
	if (event->type == PERF_RECORD_SAMPLE)
		sample(event);
	else
		hybrid_core_record(replay.core, (const union perf_event *)event);
	return 0;
}

static void print_account(void)
{
	hybrid_precise_print(&replay.precise, stderr);
	fprintf(stderr, "frame pointer only %" PRIu64 ", bad %" PRIu64 "\n",
		replay.outcomes[HYBRID_FP_ONLY], replay.bad);
}

static void run(void)
{
	static const struct hybrid_order_ops ops = {
		.head = ring_head, .time = record_time, .deliver = deliver, .consume = consume,
	};
	static const struct hybrid_core_ops core_ops = { .open = place_open };
	struct hybrid_ring *heap[RINGS];
	struct hybrid_order order = {};
	unsigned int i;

	if (!hybrid_core_is_enough(PERF_SAMPLE_REGS_ABI_64, replay.layout.attr.sample_regs_user))
		fail("the event", "no registers to unwind from: see selftests/precise");
	replay.core = hybrid_core_new(&core_ops, NULL);
	if (!replay.core)
		fail("the unwinder", strerror(ENOMEM));
	hybrid_order_pass(&order, HYBRID_ORDER_ALL, replay.rings, RINGS, heap, &ops, NULL);
	hybrid_core_delete(replay.core);
	for (i = 0; i < RINGS; i++) {
		free((void *)replay.rings[i].data);
		free(replay.rings[i].copy);
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "same", no_argument, NULL, 's' },
		{ "cpuid", required_argument, NULL, 'c' },
		{},
	};
	const char *cpuid = NULL;
	bool same = false;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 's')
			same = true;
		else if (option == 'c')
			cpuid = optarg;
		else
			return 1;
	}
	if (optind + 1 != argc) {
		fputs(USAGE, stderr);
		return 1;
	}
	read_file(argv[optind]);
	replay.precise.moment = same ? HYBRID_SKID_NONE :
				hybrid_skid(&replay.layout.attr, "cpu", cpuid);
	run();
	print_account();
	return 0;
}
