/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_PRINT_NAME_H
#define __PERF_HYBRID_PRINT_NAME_H

#include <stdio.h>

/**
 * hybrid_print_name - print a name that a process has chosen
 * @out: stream, which may be a terminal
 * @name: of a file or a thread
 *
 * Bytes for which hybrid_name_shown() returns 0 are printed as \xHH.
 */
void hybrid_print_name(FILE *out, const char *name);

#endif /* __PERF_HYBRID_PRINT_NAME_H */
