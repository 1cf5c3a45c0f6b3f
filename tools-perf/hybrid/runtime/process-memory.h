/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_PROCESS_MEMORY_H
#define __PERF_HYBRID_PROCESS_MEMORY_H

#include "../rules/space.h"
#include "../unwind/memory.h"

/* Longest string that hybrid_process_memory_string() reads, in bytes, its end included. */
#define HYBRID_PROCESS_STRING	256

struct hybrid_kept_page;
struct hybrid_file_range;
struct hybrid_file_of;

/**
 * struct hybrid_process_memory - the memory of a process that has a runtime
 * @memory: reads what is in no file
 * @objects: opens files
 * @space: of the process; the caller sets it before each use, as its state changes
 * @pid: the process
 * @ranges: what it had mapped of files when that was read last, by address; owned
 * @nr_ranges: number of @ranges
 * @read_at: when they were read last, in ns
 * @wait: how long after that they may be read again, in ns
 * @files: the files of @ranges that were opened; owned
 * @nr_files: number of @files
 * @pages: that are kept, see hybrid_process_memory_keep(); owned; NULL: none are
 */
struct hybrid_process_memory {
	struct hybrid_memory		*memory;
	struct hybrid_objects		*objects;
	struct hybrid_space		*space;
	pid_t				 pid;
	struct hybrid_file_range	*ranges;
	unsigned int			 nr_ranges;
	u64				 read_at;
	u64				 wait;
	struct hybrid_file_of		*files;
	unsigned int			 nr_files;
	struct hybrid_kept_page		*pages;
};

/**
 * hybrid_process_memory_map - read which files a process has mapped where
 * @pm: @memory, @objects and @pid are set
 *
 * From /proc/PID/maps (Documentation/filesystems/proc.rst), at most 4 MiB of it. May be called
 * again.
 *
 * Return: 0, or -1 if the process is gone or memory is short.
 */
int hybrid_process_memory_map(struct hybrid_process_memory *pm);

/**
 * hybrid_process_memory_exit - close and free what belongs to it
 * @pm: may be zeroed
 */
void hybrid_process_memory_exit(struct hybrid_process_memory *pm);

/**
 * hybrid_process_memory_keep - read whole pages, and keep them
 * @pm: of the process
 * @keep: from now on; false: no more, and what was kept is not used again
 *
 * For tables with many small parts that do not change: each part took a system call or two. If
 * memory is short, nothing is kept.
 */
void hybrid_process_memory_keep(struct hybrid_process_memory *pm, bool keep);

/**
 * hybrid_process_memory_read - what is at an address now
 * @pm: of the process
 * @addr: in it
 * @dst: out
 * @size: bytes
 *
 * Pages that the process has of its own are read from it. What it has not changed of a file is
 * read from the file, which was opened as files of code are: so perf waits for no file system.
 *
 * Return: 0, or -1 if not all of it can be read.
 */
int hybrid_process_memory_read(struct hybrid_process_memory *pm, u64 addr, void *dst,
			       size_t size);

/* The word at an address, as hybrid_process_memory_read(); 0 if it can't be read. */
u64 hybrid_process_word(struct hybrid_process_memory *pm, u64 addr);

/* Is an address in memory without a file that the process shares, or may share, with others? */
bool hybrid_process_memory_is_shared(struct hybrid_process_memory *pm, u64 addr);

/**
 * hybrid_process_memory_string - a string that ends with a byte of 0
 * @pm: of the process
 * @addr: in it
 * @dst: out; room for HYBRID_PROCESS_STRING
 *
 * Return: 0, or -1 if it can't be read or is longer.
 */
int hybrid_process_memory_string(struct hybrid_process_memory *pm, u64 addr, char *dst);

#endif /* __PERF_HYBRID_PROCESS_MEMORY_H */
