/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_DEBUG_FILE_H
#define __PERF_HYBRID_DEBUG_FILE_H

#include <linux/types.h>

struct hybrid_object;

/**
 * hybrid_debug_file_open - open the separate debug file of an object
 * @object: open
 *
 * Looked for in the places where elfutils looks: by build-id under /usr/lib/debug, then by
 * .gnu_debuglink beside the file, in .debug there, and in the same directory under /usr/lib/debug;
 * then by build-id from the servers that DEBUGINFOD_URLS names. It must have the object's build-id,
 * or if the object has none, the checksum of .gnu_debuglink. Only regular files are opened.
 *
 * Return: a file descriptor; -1: there is none; HYBRID_OPEN_LATER.
 */
int hybrid_debug_file_open(struct hybrid_object *object);

/**
 * hybrid_debuginfod_find - ask the servers that DEBUGINFOD_URLS names
 * @build_id: of the program
 * @size: bytes of @build_id
 *
 * Waits for them.
 *
 * Return: a file descriptor of the debug file; -1: there is none.
 */
int hybrid_debuginfod_find(const u8 *build_id, size_t size);

#endif /* __PERF_HYBRID_DEBUG_FILE_H */
