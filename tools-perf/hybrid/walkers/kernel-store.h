/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_KERNEL_STORE_H
#define __PERF_HYBRID_KERNEL_STORE_H

#include "../compiler/compiler.h"

struct evlist;
struct perf_unwind_stats;

/**
 * hybrid_store__set_attr - have the events announce that they may get a store
 * @evlist: the events, of which those that are unwound are set
 * @has_store: before they are opened: hybrid_store__is_there(). False once they are open: what
 *	perf writes has no PERF_CONTEXT_USER_RULES.
 */
void hybrid_store__set_attr(struct evlist *evlist, bool has_store);

/**
 * hybrid_store__open - a store of the kernel's, attached to the events
 * @evlist: the events, open; those that are unwound get it
 *
 * Return: its file descriptor; -1 where the kernel has none: all goes on without.
 */
int hybrid_store__open(struct evlist *evlist);

/* Has the kernel stores? Whether one can be opened shows when it is. */
bool hybrid_store__is_there(void);

/* What it holds. Return: 0 or a negative errno. */
int hybrid_store__stats(int fd, struct perf_unwind_stats *stats);

/* For hybrid_compiler_new(); its store is a pointer to the file descriptor. */
extern const struct hybrid_store_ops hybrid_store_ops;

#endif /* __PERF_HYBRID_KERNEL_STORE_H */
