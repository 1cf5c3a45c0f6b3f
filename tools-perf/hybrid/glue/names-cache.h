/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_NAMES_CACHE_H
#define __PERF_HYBRID_NAMES_CACHE_H

struct hybrid_names;

/**
 * hybrid_names__cache - write names to perf's build-id cache
 * @names: all functions that there are
 *
 * As the object of their build-id, which the cache may have already: then it gets another
 * content at once, so that readers see the old or the new one. Only the user can read it.
 *
 * Return: 0, or -errno.
 */
int hybrid_names__cache(const struct hybrid_names *names);

#endif /* __PERF_HYBRID_NAMES_CACHE_H */
