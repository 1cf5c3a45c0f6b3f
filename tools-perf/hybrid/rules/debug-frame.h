/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_DEBUG_FRAME_H
#define __PERF_HYBRID_DEBUG_FRAME_H

struct hybrid_object;

/**
 * hybrid_debug_frame_open - look for .debug_frame, once for each object
 * @object: open; its cfi.debug and cfi.debug_bias are set where one is found,
 *	in the file itself or in its separate debug file
 *
 * The debug file is found as libdwfl finds it for every elfutils tool: by
 * build-id or .gnu_debuglink under /usr/lib/debug, and from debuginfod servers
 * where DEBUGINFOD_URLS names some (perf record does so on --debuginfod).
 */
void hybrid_debug_frame_open(struct hybrid_object *object);
void hybrid_debug_frame_close(struct hybrid_object *object);

#endif /* __PERF_HYBRID_DEBUG_FRAME_H */
