// SPDX-License-Identifier: GPL-2.0
/*
 * The FDEs of real ELF files, against what libdw finds for each address.
 */
#include "debug-frame.h"
#include "elf-file.h"
#include "fde.h"
#include "rows.h"
#include "tap.h"

#define PID	1

static struct hybrid_processes ps;
static struct hybrid_object *object;
static struct hybrid_fdes fdes;

static void open_fdes(const char *name, const char *label, bool debug)
{
	const struct hybrid_mapping *mapping;
	struct hybrid_thread *thread;
	u64 vaddr = elf_file_symbol(name, label);

	hybrid_processes_init(&ps, elf_file_open);
	elf_file_map(&ps, PID, name, 0);
	thread = hybrid_thread_get(&ps, PID, PID);
	mapping = hybrid_space_find(thread->process->space, vaddr);
	hybrid_object_row(mapping, vaddr);
	object = mapping->object;
	if (debug && !object->debug_tried)
		hybrid_debug_frame_open(object);
	same(hybrid_fdes_read(object, &fdes), 0);
}

static void close_fdes(void)
{
	hybrid_fdes_exit(&fdes);
	hybrid_processes_exit(&ps);
}

static bool covered(u64 vaddr)
{
	struct hybrid_row row;
	bool found;

	if (hybrid_cfi_row(&object->cfi, vaddr, &row))
		return false;
	found = row.rule.kind != HYBRID_RULE_NONE;
	hybrid_row_exit(&row);
	return found;
}

static void functions(void)
{
	static const char * const labels[][2] = {
		{ "pushed_at", "pushed" }, { "bpframe_at", "bpframe" },
		{ "remember_between", "remember" }, { "leaf_at", "leaf" },
	};
	const struct hybrid_fde *fde;
	unsigned int i;

	open_fdes("frames.so", "leaf_at", false);
	for (i = 0; i < ARRAY_SIZE(labels); i++) {
		fde = hybrid_fdes_find(&fdes, elf_file_symbol("frames.so", labels[i][0]));
		if (check(fde))
			same(fde->start, elf_file_symbol("frames.so", labels[i][1]));
	}
	fde = hybrid_fdes_find(&fdes, elf_file_symbol("frames.so", "remember_after"));
	if (check(fde))
		same(fde->end, elf_file_symbol("frames.so", "remember_end"));
	/* The next one begins where the one before ends. */
	fde = hybrid_fdes_find(&fdes, elf_file_symbol("frames.so", "next"));
	if (check(fde)) {
		same(fde->start, elf_file_symbol("frames.so", "noret_ret"));
		same(fde[-1].end, fde->start);
	}
	check(!hybrid_fdes_find(&fdes, elf_file_symbol("frames.so", "nocfi_at")));
	check(!hybrid_fdes_find(&fdes, 0));
	check(!hybrid_fdes_find(&fdes, ~0ULL));
	close_fdes();
}

/* In order, and where libdw has a row there is an FDE, and nowhere else. */
static void all_addresses(const char *name, const char *label, bool debug)
{
	u64 vaddr, end;
	size_t i;

	open_fdes(name, label, debug);
	check(fdes.nr > 0);
	for (i = 0; i + 1 < fdes.nr; i++)
		check(fdes.fdes[i].end <= fdes.fdes[i + 1].start);
	vaddr = object->segments[0].vaddr;
	end = vaddr + object->segments[0].size;
	for (; vaddr < end; vaddr++) {
		/* A row that can't be read is in an FDE all the same. */
		if (covered(vaddr))
			check(hybrid_fdes_find(&fdes, vaddr));
		else if (hybrid_fdes_find(&fdes, vaddr))
			check(vaddr >= elf_file_symbol("frames.so", "unknown") &&
			      vaddr <= elf_file_symbol("frames.so", "unknown_at"));
	}
	close_fdes();
}

static void eh_frame(void)
{
	all_addresses("frames.so", "leaf_at", false);
}

static void debug_frame(void)
{
	all_addresses("debug.so", "plain_at", true);
	all_addresses("debug-split.so", "uncovered", true);
}

/* A debug file that is linked to 0, as its program no longer is. */
static void debug_frame_based(void)
{
	const struct hybrid_fde *fde;

	open_fdes("debug-based.so", "plain_at", true);
	fde = hybrid_fdes_find(&fdes, elf_file_symbol("debug-based.so", "plain_at"));
	if (check(fde))
		same(fde->start, elf_file_symbol("debug-based.so", "plain"));
	close_fdes();
}

/* What a process begins with has no FDE, and is one up to the next. */
static void program_entry(void)
{
	const struct hybrid_fde *fde;

	open_fdes("entry.so", "inner_at", false);
	same(fdes.nr, 2);
	fde = hybrid_fdes_find(&fdes, elf_file_symbol("entry.so", "start_ret"));
	if (check(fde)) {
		same(fde->start, elf_file_symbol("entry.so", "_start"));
		same(fde->end, elf_file_symbol("entry.so", "after"));
	}
	check(!hybrid_fdes_find(&fdes, elf_file_symbol("entry.so", "after_ret")));
	check(!hybrid_fdes_find(&fdes, elf_file_symbol("entry.so", "behind_ret")));
	close_fdes();

	/* It ends with a call that never returns: what is behind it is called. */
	open_fdes("entry-noreturn.so", "covered_at", false);
	fde = hybrid_fdes_find(&fdes, elf_file_symbol("entry-noreturn.so", "_start"));
	if (check(fde))
		same(fde->end, elf_file_symbol("entry-noreturn.so", "start_ret"));
	check(!hybrid_fdes_find(&fdes, elf_file_symbol("entry-noreturn.so", "inner_at")));
	check(!hybrid_fdes_find(&fdes, elf_file_symbol("entry-noreturn.so", "outer_ret")));
	close_fdes();
}

static void none(void)
{
	open_fdes("nocfi.so", "bare_at", true);
	same(fdes.nr, 0);
	check(!hybrid_fdes_find(&fdes, elf_file_symbol("nocfi.so", "bare_at")));
	close_fdes();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "fde: functions", functions },
		{ "fde: .eh_frame, address by address", eh_frame },
		{ "fde: .debug_frame, address by address", debug_frame },
		{ "fde: .debug_frame of a file not linked to 0", debug_frame_based },
		{ "fde: the entry of a program", program_entry },
		{ "fde: a file without CFI", none },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
