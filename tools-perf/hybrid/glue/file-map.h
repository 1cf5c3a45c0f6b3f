/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_FILE_MAP_H
#define __PERF_HYBRID_FILE_MAP_H

#include <stddef.h>
#include <sys/types.h>

struct hybrid_mapping;
struct perf_event_attr;
struct perf_event_header;

/* A mapping of a file, with the longest path and the longest trailer. */
#define HYBRID_FILE_MAP_SIZE	(4096 + 256)

/**
 * hybrid_file_map__event - a record that maps a file where a process has a copy of it, or that has
 *	the number of the file
 * @mapping: the copy, or a mapping with a number that is not 0
 * @attr: of the sample's event, as the kernel has it
 * @sample: the first that met it; the record is as old
 * @pid: the process
 * @out: room for HYBRID_FILE_MAP_SIZE bytes, 8-byte aligned
 *
 * Any perf finds the file's symbols by it: the record of the kernel has anonymous memory there.
 *
 * Return: bytes written.
 */
size_t hybrid_file_map__event(const struct hybrid_mapping *mapping,
			      const struct perf_event_attr *attr,
			      const struct perf_event_header *sample, pid_t pid, void *out);

#endif /* __PERF_HYBRID_FILE_MAP_H */
