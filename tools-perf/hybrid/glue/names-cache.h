/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_NAMES_CACHE_H
#define __PERF_HYBRID_NAMES_CACHE_H

#include <limits.h>

struct hybrid_names;

/**
 * hybrid_names__path - make the folder that names are written to
 * @names: of a runtime
 * @path: out: of the file that will be there, absolute; room for PATH_MAX
 *
 * The folder is in perf's build-id cache, and belongs to the build-id of the names. The folder that
 * the cache is in, the user's home, has to be there.
 *
 * Return: 0, or -errno; then @path is the label alone, and no file will be there.
 */
int hybrid_names__path(const struct hybrid_names *names, char *path);

/**
 * hybrid_names__cache - write names to perf's build-id cache
 * @names: all functions that there are
 * @path: from hybrid_names__path(), which returned 0
 *
 * There may be a file with fewer names already: it is replaced at once, so that readers see
 * the old or the new one. Only the user can read it.
 *
 * Return: 0, or -errno.
 */
int hybrid_names__cache(const struct hybrid_names *names, const char *path);

#endif /* __PERF_HYBRID_NAMES_CACHE_H */
