/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_PPROF_LINES_H
#define __PERF_PPROF_LINES_H

#include <linux/types.h>

struct map;

struct pprof_line {
	char	*function;
	char	*file;		/* NULL: not known */
	u32	 line;
};

/* What runs at an address, the innermost of what was inlined first. */
struct pprof_lines {
	struct pprof_line	*line;
	u32			 nr;
};

/**
 * pprof_lines__find - the function and line of an address, and what is inlined there
 * @lines: told; of no symbol, there are none
 * @map: that holds the address
 * @address: in its process
 *
 * Return: 0 or -ENOMEM.
 */
int pprof_lines__find(struct pprof_lines *lines, struct map *map, u64 address);

void pprof_lines__exit(struct pprof_lines *lines);

#endif /* __PERF_PPROF_LINES_H */
