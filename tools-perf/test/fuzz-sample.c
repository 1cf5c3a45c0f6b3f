// SPDX-License-Identifier: GPL-2.0
/*
 * Records of any bytes as samples: parsed, unwound, merged, rewritten, and
 * parsed again.
 *
 * Input: 16 bytes that choose the layout; then records, each behind two bytes of
 * its size. Words of them whose top byte says so become addresses that matter,
 * as few random ones would.
 */
#include <stdlib.h>
#include <string.h>
#include "elf-file.h"
#include "fuzz.h"
#include "hybrid-unwind.h"
#include "precise.h"
#include "sample-layout.h"
#include "scene.h"

#define MAX_STACK	40

/* Of the process that scene.h describes; each input has a thread of its own. */
#define TID		(SCENE_PID + 1)

struct choice {
	u64	type;
	u8	read_format;
	u8	branches;
	u8	file_regs;
	u8	max_frames;
	u32	regs;
};

static struct hybrid_layout layout;
static u64 chain[HYBRID_MAX_RECORD / 8];
static struct hybrid_precise precise;
static struct hybrid_core *core;

static void choose(const struct choice *c)
{
	memset(&layout, 0, sizeof(layout));
	layout.attr.sample_type = c->type & 0x1ffffff;
	layout.attr.read_format = c->read_format & 31;
	layout.attr.branch_sample_type = c->branches & 1 ? PERF_SAMPLE_BRANCH_HW_INDEX : 0;
	layout.branch_counters = c->branches & 2;
	memset(&precise, 0, sizeof(precise));
	precise.moment = c->branches >> 2 & 3;
	layout.attr.sample_regs_user = c->regs & 1 ? 0xff0fff : c->regs;
	if (c->file_regs & 1 && layout.attr.sample_type & PERF_SAMPLE_REGS_USER)
		layout.file_regs = layout.attr.sample_regs_user & (c->regs >> 1 | 1);
}

static u64 meant(u64 word)
{
	switch (word >> 56) {
	case 0xf0:
		return SCENE_BIAS + 0x1000 + word % 512;
	case 0xf1:
		return SCENE_STACK + word % 1024;
	case 0xf2:
		return SCENE_JIT + word % 4096;
	case 0xf3:
		return SCENE_NOCFI + word % 4096;
	case 0xf4:
		return SCENE_I386 + word % 4096;
	case 0xf5:
		return (u64)-(word % 4096);
	default:
		return word;
	}
}

/* What was written is a sample of the file's layout, with the chain. */
static void check_written(const void *out, size_t size, unsigned int nr)
{
	const struct perf_event_header *header = out;
	struct hybrid_layout file = layout;
	struct hybrid_sample_parts sample;

	file.attr.sample_regs_user = layout.file_regs;
	file.attr.sample_type &= ~PERF_SAMPLE_STACK_USER;
	if (!layout.file_regs)
		file.attr.sample_type &= ~PERF_SAMPLE_REGS_USER;
	if (header->size != size || hybrid_layout_parse(&file, header, &sample))
		abort();
	if (file.attr.sample_type & PERF_SAMPLE_CALLCHAIN &&
	    (sample.nr_chain != nr || memcmp(sample.chain, chain, nr * 8)))
		abort();
}

static void one_record(const struct perf_event_header *event, unsigned int max_frames)
{
	struct hybrid_sample unwound = {
		.pid = SCENE_PID, .tid = TID, .regs_mask = layout.attr.sample_regs_user,
		.precise = &precise, .max_frames = max_frames, .chain = chain,
	};
	struct hybrid_sample_parts sample;
	size_t size;
	void *out;

	/* Who asks for user stacks asks for callchains: there is room for a merge. */
	if (hybrid_layout_parse(&layout, event, &sample) || !sample.chain)
		return;
	hybrid_kernel_chain_parse(sample.chain, sample.nr_chain, &unwound.kernel);
	unwound.regs_abi = sample.regs_abi == PERF_SAMPLE_REGS_ABI_64 ? PERF_SAMPLE_REGS_ABI_64 :
									PERF_SAMPLE_REGS_ABI_32;
	unwound.regs = sample.stack_size ? sample.regs : NULL;
	unwound.stack = sample.stack;
	unwound.stack_size = sample.stack_size;
	unwound.max = hybrid_layout_room(&layout, &sample);
	hybrid_core_callchain(core, &unwound);
	if (unwound.outcome >= HYBRID_NR_OUTCOMES || unwound.nr > unwound.max)
		abort();
	out = aligned_alloc(8, HYBRID_MAX_RECORD);
	size = hybrid_layout_write(&layout, &sample, chain, unwound.nr, out);
	if (size > HYBRID_MAX_RECORD)
		abort();
	check_written(out, size, unwound.nr);
	free(out);
}

static int map(struct hybrid_mapping *mapping, const struct hybrid_ident *ident, bool exec,
	       void *arg __maybe_unused)
{
	const struct hybrid_core_map map = {
		.start = mapping->start, .end = mapping->end, .pgoff = mapping->pgoff,
		.file = ident,
	};

	return exec ? hybrid_core_map(core, SCENE_PID, &map) : 0;
}

static void make_process(void)
{
	static const struct hybrid_core_ops ops = { .open = elf_file_open };
	const struct hybrid_core_map jit = { .start = SCENE_JIT, .end = SCENE_JIT + 4096 };

	core = hybrid_core_new(&ops, NULL);
	if (!core)
		abort();
	elf_file_each_map("frames.so", SCENE_BIAS, map, NULL);
	elf_file_each_map("nocfi.so", SCENE_NOCFI, map, NULL);
	elf_file_each_map("i386.so", SCENE_I386, map, NULL);
	/* The process stays if the other thread goes. */
	if (hybrid_core_map(core, SCENE_PID, &jit) ||
	    hybrid_core_fork(core, SCENE_PID, SCENE_PID, SCENE_PID))
		abort();
}

static struct perf_event_header *make_record(const u8 *data, size_t size)
{
	size_t words = size / 8, i;
	u64 *event = aligned_alloc(8, (words + 1) * 8);

	for (i = 0; event && i < words; i++) {
		memcpy(&event[i + 1], data + i * 8, 8);
		event[i + 1] = meant(event[i + 1]);
	}
	if (event)
		*(struct perf_event_header *)event = (struct perf_event_header) {
			.type = PERF_RECORD_SAMPLE, .size = (words + 1) * 8,
		};
	return (struct perf_event_header *)event;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct perf_event_header *event;
	struct choice choice;
	u16 bytes;

	if (size < sizeof(choice))
		return 0;
	memcpy(&choice, data, sizeof(choice));
	data += sizeof(choice);
	size -= sizeof(choice);
	choose(&choice);
	if (!core)
		make_process();
	if (hybrid_core_fork(core, SCENE_PID, TID, SCENE_PID))
		abort();
	while (size > 2) {
		memcpy(&bytes, data, 2);
		data += 2;
		size -= 2;
		if (bytes > size)
			bytes = size;
		event = make_record(data, bytes);
		if (event)
			one_record(event, 1 + choice.max_frames % MAX_STACK);
		free(event);
		data += bytes;
		size -= bytes;
	}
	hybrid_core_exit(core, TID);
	return 0;
}
