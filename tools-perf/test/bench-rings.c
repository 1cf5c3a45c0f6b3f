// SPDX-License-Identifier: GPL-2.0
/*
 * How many samples a second one core takes from very many rings: ordered, unwound,
 * merged and rewritten, as perf record does it, with no kernel behind the rings.
 *
 * usage: bench-rings [RINGS [FRAMES [SECONDS]]]
 *
 * Every ring gets 1,000 samples a second of the time that the samples say, with dumps
 * of 8 KiB; what is measured is the CPU time of the passes over the rings, one for each
 * 10 ms of that time, and of writing what they make of the samples to memory. Not in
 * it: perf's look-up of the event by its id, and what a wake-up and a disk cost.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/mman.h>
#include <linux/compiler.h>
#include <linux/time64.h>
#include "../../../arch/x86/include/uapi/asm/perf_regs.h"
#include "core.h"
#include "elf-file.h"
#include "sample-layout.h"
#include "ring-order.h"
#include "scene.h"
#include "stats.h"

#define DUMP_SIZE	8192U
#define RING_SIZE	(512UL << 10)
#define REGS		0xff0fffULL
#define NR_REGS		20
#define EACH_PASS	10

struct record {
	struct perf_event_header	header;
	u64				ip;
	u32				pid;
	u32				tid;
	u64				time;
	u64				nr_chain;
	u64				chain[2];
	u64				abi;
	u64				regs[NR_REGS];
	u64				stack_size;
	u64				stack[DUMP_SIZE / 8];
	u64				used;
};

struct world {
	struct hybrid_ring	*rings;
	struct hybrid_ring	**heap;
	u64			*head;
	unsigned int		 nr;
	struct hybrid_order	 order;
	struct hybrid_layout	 layout;
	struct hybrid_core	*core;
	struct hybrid_stats	 stats;
	u64			 frames;
	u64			 used;
	int			 file;
};

static struct world w;
static struct scene scene;
static struct record sample;
static u64 chain[HYBRID_MAX_RECORD / 8];
static u8 out[65536 + HYBRID_MAX_RECORD] __aligned(8);

static u64 head(struct hybrid_ring *ring, void *arg __maybe_unused)
{
	return w.head[ring - w.rings];
}

static u64 time_of(const struct perf_event_header *event, void *arg __maybe_unused)
{
	return ((const struct record *)event)->time;
}

static int deliver(struct hybrid_ring *ring __maybe_unused,
		   const struct perf_event_header *event, void *arg __maybe_unused)
{
	struct hybrid_sample s = {
		.regs_mask = REGS, .max_frames = 127, .chain = chain,
	};
	struct hybrid_sample_parts parts;

	if (hybrid_layout_parse(&w.layout, event, &parts))
		exit(2);
	s.pid = parts.pid;
	s.tid = parts.tid;
	s.regs_abi = parts.regs_abi;
	s.regs = parts.regs;
	s.stack = parts.stack;
	s.stack_size = parts.stack_size;
	s.stack_room = parts.stack_room;
	s.max = hybrid_layout_room(&w.layout, &parts);
	hybrid_kernel_chain_parse(parts.chain, parts.nr_chain, &s.kernel);
	hybrid_core_callchain(w.core, &s);
	hybrid_stats_read(&w.stats, event->size);
	hybrid_stats_count(&w.stats, s.outcome, NULL);
	w.frames += s.nr - 1;
	if (w.used > 65536) {
		if (pwrite(w.file, out, w.used, 0) != (ssize_t)w.used)
			exit(2);
		w.used = 0;
	}
	w.used += hybrid_layout_write(&w.layout, &parts, chain, s.nr, out + w.used);
	return 0;
}

static void consume(struct hybrid_ring *ring __maybe_unused,
		    void *arg __maybe_unused)
{
}

static void make_sample(unsigned int nr)
{
	unsigned int i;

	scene_start(&scene, scene_at("leaf_at"));
	scene_push(&scene, scene_at("pushed_ret"));
	for (i = 2; i < nr; i++)
		scene_push_pushed(&scene, 0, scene_at(i + 1 < nr ? "pushed_ret" : "outer_ret"));
	sample.header.type = PERF_RECORD_SAMPLE;
	sample.header.misc = PERF_RECORD_MISC_USER;
	sample.header.size = sizeof(sample);
	sample.ip = scene_at("leaf_at");
	sample.pid = SCENE_PID;
	sample.nr_chain = 2;
	sample.chain[0] = PERF_CONTEXT_USER;
	sample.chain[1] = sample.ip;
	sample.abi = PERF_SAMPLE_REGS_ABI_64;
	sample.regs[PERF_REG_X86_SP] = SCENE_STACK;
	sample.regs[PERF_REG_X86_IP] = sample.ip;
	sample.stack_size = DUMP_SIZE;
	sample.used = DUMP_SIZE;
	memcpy(sample.stack, scene.stack, sizeof(sample.stack));
}

static void make_rings(unsigned int nr)
{
	unsigned int i;

	w.nr = nr;
	w.core = hybrid_core_new(NULL, NULL);
	if (!w.core)
		exit(2);
	elf_file_map(&w.core->ps, SCENE_PID, "frames.so", SCENE_BIAS);
	w.file = memfd_create("bench-rings", MFD_CLOEXEC);
	w.rings = calloc(nr, sizeof(*w.rings));
	w.heap = calloc(nr, sizeof(*w.heap));
	w.head = calloc(nr, sizeof(*w.head));
	if (!w.rings || !w.heap || !w.head || w.file < 0)
		exit(2);
	for (i = 0; i < nr; i++) {
		w.rings[i].data = calloc(1, RING_SIZE);
		w.rings[i].copy = malloc(HYBRID_MAX_RECORD);
		w.rings[i].mask = RING_SIZE - 1;
		if (!w.rings[i].data || !w.rings[i].copy)
			exit(2);
		hybrid_core_fork(w.core, SCENE_PID, SCENE_PID + i, SCENE_PID);
	}
	w.layout.attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	w.layout.attr.sample_regs_user = REGS;
	w.layout.attr.sample_stack_user = DUMP_SIZE;
}

static void put(unsigned int ring, u64 time)
{
	u64 at = w.head[ring] & w.rings[ring].mask, first = RING_SIZE - at;
	u8 *data = (u8 *)w.rings[ring].data;

	sample.time = time;
	sample.tid = SCENE_PID + ring;
	if (first > sizeof(sample))
		first = sizeof(sample);
	memcpy(data + at, &sample, first);
	memcpy(data, (u8 *)&sample + first, sizeof(sample) - first);
	w.head[ring] += sizeof(sample);
}

static double cpu_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec + (double)ts.tv_nsec / NSEC_PER_SEC;
}

static double measure(double seconds)
{
	static const struct hybrid_order_ops ops = {
		.head = head, .time = time_of, .deliver = deliver, .consume = consume,
	};
	double used = 0, start;
	u64 now = 0;
	unsigned int i, ring;

	while (used < seconds) {
		for (ring = 0; ring < w.nr; ring++) {
			for (i = 0; i < EACH_PASS; i++)
				put(ring, now + i * NSEC_PER_MSEC + ring * 1000);
		}
		now += EACH_PASS * NSEC_PER_MSEC;
		start = cpu_time();
		if (hybrid_order_pass(&w.order, now, w.rings, w.nr, w.heap, &ops, &w) < 0)
			exit(2);
		used += cpu_time() - start;
	}
	return used;
}

int main(int argc, char **argv)
{
	unsigned int rings = argc > 1 ? atoi(argv[1]) : 256;
	unsigned int depth = argc > 2 ? atoi(argv[2]) : 20;
	double used;

	if (rings < 1 || rings > 4096 || depth < 3 || depth > 120) {
		fprintf(stderr, "bench-rings: 1 to 4096 rings, 3 to 120 frames\n");
		return 2;
	}
	make_sample(depth);
	make_rings(rings);
	used = measure(argc > 3 ? atof(argv[3]) : 2);
	printf("%u rings, %.1f frames: %" PRIu64 " samples, %.2f %% complete, ",
	       rings, (double)w.frames / w.stats.read, w.stats.read,
	       100.0 * w.stats.outcomes[HYBRID_COMPLETE] / w.stats.read);
	printf("%.2f us each: %.0f a second by one core; needed %u\n",
	       used * 1e6 / w.stats.read, w.stats.read / used, rings * 1000);
	hybrid_core_delete(w.core);
	scene_exit();
	return 0;
}
