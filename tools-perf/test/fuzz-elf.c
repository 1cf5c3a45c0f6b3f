// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a mapped ELF file: opened, rows compiled all over it, and of the
 * functions that it lists, and one stack unwound through it.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <linux/kernel.h>
#include "abi.h"
#include "compile.h"
#include "fde.h"
#include "fuzz.h"
#include "process.h"
#include "unwind.h"

#define PID	1
#define BASE	0x7f0000000000ULL
#define STACK	0x7ffc00000000ULL
#define PAGES	64
/* Addresses that are unwound from: each is 64 frames at most. */
#define STARTS	48
/* Whose rows are looked at. */
#define FUNCTIONS	64

static struct hybrid_processes ps;
static struct hybrid_unwinder unwinder;
static struct hybrid_frame frames[64];
static u64 stack[256];
static int file;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	file = argc && argv ? memfd_create("elf", MFD_CLOEXEC) : -1;
	return file < 0;
}

static int open_file(const struct hybrid_mapping *mapping)
{
	return mapping ? dup(file) : -1;
}

static void unwind_from(struct hybrid_space *space, u64 ip, bool is_64)
{
	struct hybrid_unwind u = {
		.abi = is_64 ? &hybrid_abi_64 : &hybrid_abi_32,
		.space = space, .dump = (u8 *)stack, .dump_start = STACK,
		.dump_size = sizeof(stack), .max_frames = ARRAY_SIZE(frames), .frames = frames,
	};
	unsigned int i;

	for (i = 0; i < HYBRID_MAX_REGS; i++)
		u.regs.value[i] = STACK + 64 * i;
	u.regs.known = (1U << u.abi->nr) - 1;
	u.regs.value[u.abi->ip] = ip;
	u.regs.value[u.abi->sp] = STACK;
	hybrid_unwind(&unwinder, &u);
}

/* Rows must hold what was asked for, and not overlap. */
static void check_rows(const struct hybrid_object *object)
{
	struct rb_node *node;
	u64 last = 0;

	for (node = rb_first(&object->rows); node; node = rb_next(node)) {
		const struct hybrid_row *row = rb_entry(node, struct hybrid_row, node);

		if (row->start < last || row->end <= row->start)
			abort();
		last = row->end;
	}
}

/* So must functions, and each has rows from its first address on. */
static void check_functions(struct hybrid_object *object)
{
	struct hybrid_fdes fdes;
	struct hybrid_row row;
	size_t i;

	if (object->state != HYBRID_OBJECT_READY || hybrid_fdes_read(object, &fdes))
		return;
	for (i = 0; i < fdes.nr && i < FUNCTIONS; i++) {
		if (fdes.fdes[i].start >= fdes.fdes[i].end ||
		    (i && fdes.fdes[i].start < fdes.fdes[i - 1].end))
			abort();
		if (hybrid_compile_row(object, fdes.fdes[i].start, &row))
			continue;
		if (row.start > fdes.fdes[i].start || row.end <= fdes.fdes[i].start)
			abort();
		hybrid_row_exit(&row);
	}
	hybrid_fdes_exit(&fdes);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct hybrid_ident ident = { .path = "/elf" };
	struct hybrid_mapping mapping = {
		.start = BASE, .end = BASE + PAGES * 4096, .pid = PID,
	};
	struct hybrid_thread *thread;
	unsigned int i;
	u64 at;

	if (ftruncate(file, 0) || pwrite(file, data, size, 0) != (ssize_t)size)
		return 0;
	hybrid_processes_init(&ps, open_file);
	thread = hybrid_thread_get(&ps, PID, PID);
	if (!thread || hybrid_process_map(&ps, &mapping, &ident, true))
		abort();
	for (i = 0; i < ARRAY_SIZE(stack); i++)
		stack[i] = i % 3 ? STACK + i * 8 : BASE + i * 37 % (size + 1);
	for (i = 0; i < STARTS; i++) {
		at = (u64)i * size / STARTS;
		unwind_from(thread->process->space, BASE + at, i % 4);
	}
	if (thread->process->space->nr) {
		check_rows(thread->process->space->mappings[0].object);
		check_functions(thread->process->space->mappings[0].object);
	}
	hybrid_processes_exit(&ps);
	return 0;
}
