// SPDX-License-Identifier: GPL-2.0
/*
 * Samples in the kernel's code that optimized uprobes call.
 */
#include <stdio.h>
#include <string.h>
#include <perf/event.h>
#include "scene.h"
#include "tap.h"
#include "track.h"

#define TRAMPOLINE	0x7f3000000000ULL
#define RED_ZONE	128

static struct scene s;

/* Where an instruction begins, and how many words are pushed there. */
static const struct {
	unsigned int	offset;
	unsigned int	pushed;
} insns[] = {
	{ 0, 0 }, { 1, 1 }, { 3, 2 }, { 4, 3 }, { 11, 3 }, { 13, 3 }, { 14, 2 }, { 16, 1 },
	{ 17, 0 },
};

static void map_trampoline(const char *name)
{
	static union perf_event event;

	/* The scene is made by its first sample. */
	scene_start(&s, 0);
	memset(&event, 0, sizeof(event));
	event.header.type = PERF_RECORD_MMAP2;
	event.header.misc = PERF_RECORD_MISC_USER;
	event.header.size = sizeof(event.mmap2);
	event.mmap2.pid = SCENE_PID;
	event.mmap2.tid = SCENE_PID;
	event.mmap2.start = TRAMPOLINE;
	event.mmap2.len = 4096;
	event.mmap2.prot = 4;
	snprintf(event.mmap2.filename, sizeof(event.mmap2.filename), "%s", name);
	same(hybrid_track(&scene_ps, &event), 0);
}

/* The words that it pushes may be addresses behind a nop, too. */
static void sample_at(unsigned int offset, unsigned int pushed, const char *ret, unsigned int left)
{
	scene_start(&s, TRAMPOLINE + offset);
	scene_fill(&s, pushed, scene_at("nop5_behind"));
	scene_push(&s, scene_at(ret));
	scene_fill(&s, left / 8, 0xdead);
	scene_push(&s, scene_at("outer_ret"));
	scene_unwind(&s);
}

static void each_instruction(void)
{
	unsigned int i;

	map_trampoline("[uprobes-trampoline]");
	for (i = 0; i < ARRAY_SIZE(insns); i++) {
		sample_at(insns[i].offset, insns[i].pushed, "nop5_behind", 0);
		scene_expect(&s, HYBRID_STOP_OUTERMOST, TRAMPOLINE + insns[i].offset,
			     scene_at("nop5_behind") - 1, scene_at("outer_ret") - 1);
		sample_at(insns[i].offset, insns[i].pushed, "nop10_behind", RED_ZONE);
		scene_expect(&s, HYBRID_STOP_OUTERMOST, TRAMPOLINE + insns[i].offset,
			     scene_at("nop10_behind") - 1, scene_at("outer_ret") - 1);
	}
}

/* Inside of instructions, behind them, and where nothing can have called it. */
static void not_there(void)
{
	static const unsigned int offsets[] = { 2, 5, 10, 12, 15, 18, 4095 };
	unsigned int i;

	map_trampoline("[uprobes-trampo");
	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		sample_at(offsets[i], 3, "nop5_behind", 0);
		scene_expect(&s, HYBRID_STOP_NO_CFI, TRAMPOLINE + offsets[i]);
	}
	sample_at(13, 3, "pushed_end", 0);
	scene_expect(&s, HYBRID_STOP_NO_CFI, TRAMPOLINE + 13);
	sample_at(13, 3, "outer_ret", 0);
	scene_expect(&s, HYBRID_STOP_NO_CFI, TRAMPOLINE + 13);
}

/* The dump ends before the return address. */
static void cut_off(void)
{
	unsigned int i;

	map_trampoline("[uprobes-trampoline]");
	for (i = 0; i < ARRAY_SIZE(insns); i++) {
		sample_at(insns[i].offset, insns[i].pushed, "nop5_behind", 0);
		s.u.dump_size = insns[i].pushed * 8;
		scene_unwind(&s);
		scene_expect(&s, HYBRID_STOP_DUMP_END, TRAMPOLINE + insns[i].offset);
		same(s.u.missing, SCENE_STACK + insns[i].pushed * 8);
		s.u.dump_size += 8;
		scene_unwind(&s);
		same(s.u.nr, 2);
	}
}

static void another_mapping(void)
{
	map_trampoline("//anon");
	sample_at(13, 3, "nop5_behind", 0);
	scene_expect(&s, HYBRID_STOP_NO_CFI, TRAMPOLINE + 13);
}

static const struct tap_test tests[] = {
	{ "uprobe: each instruction of the kernel's code", each_instruction },
	{ "uprobe: what can't be", not_there },
	{ "uprobe: the dump ends there", cut_off },
	{ "uprobe: another mapping", another_mapping },
};

int main(void)
{
	int status = tap_run(tests, ARRAY_SIZE(tests));

	scene_exit();
	return status;
}
