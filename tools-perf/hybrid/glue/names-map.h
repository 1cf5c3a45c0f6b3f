/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_NAMES_MAP_H
#define __PERF_HYBRID_NAMES_MAP_H

#include <stddef.h>
#include <sys/types.h>

struct hybrid_names;
struct perf_event_attr;
struct perf_event_header;

/* A mapping of names, with the longest path and the longest trailer. */
#define HYBRID_NAMES_EVENT_SIZE	(4096 + 256)

/**
 * hybrid_names__event - a record that maps the names of a runtime in a process
 * @names: of the runtime
 * @path: of the file
 * @attr: of the sample's event, as the kernel has it
 * @sample: the first of the process that needs it; the record is as old
 * @pid: the process
 * @out: room for HYBRID_NAMES_EVENT_SIZE bytes, 8-byte aligned
 *
 * Some readers find the file by its build-id, in perf's build-id cache, and some by its path.
 *
 * Return: bytes written.
 */
size_t hybrid_names__event(const struct hybrid_names *names, const char *path,
			   const struct perf_event_attr *attr,
			   const struct perf_event_header *sample, pid_t pid, void *out);

#endif /* __PERF_HYBRID_NAMES_MAP_H */
