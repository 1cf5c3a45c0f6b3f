/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_NAMES_LINE_H
#define __PERF_HYBRID_NAMES_LINE_H

#include <stdio.h>

struct hybrid_names;

/* The sections of DWARF 4 that say which lines functions have, one unit in each. */
void hybrid_names__debug_abbrev(const struct hybrid_names *names, FILE *file);
void hybrid_names__debug_info(const struct hybrid_names *names, FILE *file);
void hybrid_names__debug_aranges(const struct hybrid_names *names, FILE *file);
void hybrid_names__debug_line(const struct hybrid_names *names, FILE *file);

#endif /* __PERF_HYBRID_NAMES_LINE_H */
