/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_PPROF_OUTPUT_H
#define __PERF_PPROF_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/*
 * A compressed file that is there with all that was written, or not at all: it is
 * written beside its place, and moved there at the end.
 */
struct pprof_output {
	const char	*path;
	char		*temporary;	/* NULL: written in place, as to a device */
	void		*gz;
	int		 fd;		/* the same file, to be asked when gz is closed */
	bool		 force;
	int		 error;		/* errno of what failed first */
	u64		 size;		/* bytes of the file; once it was committed */
};

/**
 * pprof_output__open - begin a file
 * @output: the file
 * @path: its place
 * @force: it may replace another one
 *
 * Return: 0, or -1 after it said why.
 */
int pprof_output__open(struct pprof_output *output, const char *path, bool force);

/* Writes bytes; pprof_output__commit() says whether all went well. */
void pprof_output__write(struct pprof_output *output, const void *data, size_t size);

/**
 * pprof_output__commit - put the file in its place
 * @output: that all was written to
 *
 * Return: 0, or -1 after it said why; then nothing is left of it.
 */
int pprof_output__commit(struct pprof_output *output);

/* Gives the file up, if it is not in its place. */
void pprof_output__discard(struct pprof_output *output);

#endif /* __PERF_PPROF_OUTPUT_H */
