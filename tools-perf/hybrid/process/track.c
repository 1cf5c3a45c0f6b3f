// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include <sys/mman.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <perf/event.h>
#include "process.h"
#include "track.h"

/*
 * What can hold no file to read CFI from: anonymous memory, the heap, stacks,
 * the zero page, hugetlb and SysV segments. Code in them was made at run time.
 */
static bool is_anonymous(const char *path)
{
	return !strncmp(path, "//anon", 6) || path[0] == '[' ||
	       !strncmp(path, "/dev/zero", 9) || !strncmp(path, "/SYSV", 5) ||
	       !strncmp(path, "/anon_hugepage", 14) || !strncmp(path, "anon_inode:", 11);
}

static const char *name_of(const char *path, u64 start)
{
	if (!strcmp(path, "[vdso]"))
		return start >> 32 ? HYBRID_VDSO_64 : HYBRID_VDSO_32;
	return is_anonymous(path) ? NULL : path;
}

/* @event: struct perf_record_mmap2 begins as this does. */
static int map(struct hybrid_processes *ps, const struct perf_record_mmap *event,
	       struct hybrid_ident *ident, const char *path, bool exec)
{
	struct hybrid_mapping mapping = {
		.start		= event->start,
		.end		= event->start + event->len,
		.pgoff		= event->pgoff,
		.pid		= event->pid,
		.is_uprobes	= strstarts(path, HYBRID_UPROBES),
	};

	ident->path = name_of(path, mapping.start);
	return hybrid_process_map(ps, &mapping, ident->path ? ident : NULL, exec);
}

static int track_mmap(struct hybrid_processes *ps, const struct perf_record_mmap *event)
{
	struct hybrid_ident ident = {};

	return map(ps, event, &ident, event->filename,
		   !(event->header.misc & PERF_RECORD_MISC_MMAP_DATA));
}

void hybrid_track_ident(const struct hybrid_processes *ps, const struct perf_record_mmap2 *event,
			struct hybrid_ident *ident)
{
	if (event->header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID && !ps->no_build_ids) {
		ident->build_id_size = min_t(u8, event->build_id_size, HYBRID_BUILD_ID_SIZE);
		memcpy(ident->build_id, event->build_id, ident->build_id_size);
	} else {
		ident->maj = event->maj;
		ident->min = event->min;
		ident->ino = event->ino;
		ident->ino_generation = event->ino_generation;
	}
}

static int track_mmap2(struct hybrid_processes *ps, const struct perf_record_mmap2 *event)
{
	struct hybrid_ident ident = {};

	hybrid_track_ident(ps, event, &ident);
	return map(ps, (const struct perf_record_mmap *)event, &ident, event->filename,
		   event->prot & PROT_EXEC);
}

/*
 * Of a process that runs already perf makes up that its parent made it: what the
 * parent has mapped by now is not what it has.
 */
static int track_fork(struct hybrid_processes *ps, const struct perf_record_fork *event)
{
	if (event->header.misc & PERF_RECORD_MISC_FORK_EXEC && event->pid != event->ppid)
		return hybrid_process_found(ps, event->pid);
	return hybrid_process_fork(ps, event->pid, event->tid, event->ppid);
}

bool hybrid_track_is_change(const union perf_event *event)
{
	switch (event->header.type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return true;
	case PERF_RECORD_COMM:
		return event->header.misc & PERF_RECORD_MISC_COMM_EXEC;
	default:
		return false;
	}
}

int hybrid_track(struct hybrid_processes *ps, const union perf_event *event)
{
	/* Kernel and guest mappings are none of a process here. */
	u16 cpumode = event->header.misc & PERF_RECORD_MISC_CPUMODE_MASK;

	switch (event->header.type) {
	case PERF_RECORD_MMAP:
		return cpumode == PERF_RECORD_MISC_USER ? track_mmap(ps, &event->mmap) : 0;
	case PERF_RECORD_MMAP2:
		return cpumode == PERF_RECORD_MISC_USER ? track_mmap2(ps, &event->mmap2) : 0;
	case PERF_RECORD_COMM:
		if (event->header.misc & PERF_RECORD_MISC_COMM_EXEC)
			return hybrid_process_exec(ps, event->comm.pid);
		return 0;
	case PERF_RECORD_FORK:
		return track_fork(ps, &event->fork);
	case PERF_RECORD_EXIT:
		hybrid_thread_exit(ps, event->fork.tid);
		return 0;
	default:
		return 0;
	}
}
