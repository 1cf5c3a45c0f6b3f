/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_DEBUG_FRAME_H
#define __PERF_HYBRID_DEBUG_FRAME_H

#include <stdbool.h>

struct hybrid_object;

/**
 * hybrid_debug_frame_open - look for .debug_frame, once for each object
 * @object: open; its cfi.debug and cfi.debug_bias are set where one is found,
 *	in the file itself or in its separate debug file
 *
 * The debug file is that of hybrid_debug_file_open(); debuginfod servers are asked if
 * DEBUGINFOD_URLS names some (perf record sets it for --debuginfod).
 *
 * Return: false if the debug file comes later: call it again for the next row.
 */
bool hybrid_debug_frame_open(struct hybrid_object *object);
void hybrid_debug_frame_close(struct hybrid_object *object);

#endif /* __PERF_HYBRID_DEBUG_FRAME_H */
