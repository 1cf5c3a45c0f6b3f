/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_SESSION_NAMES_H
#define __PERF_HYBRID_SESSION_NAMES_H

#include <linux/types.h>

struct hybrid_core;
struct hybrid_sample;
struct hybrid_named_chain;
struct thread;

/**
 * hybrid_session_names__put - put the functions of runtimes into a chain of perf top or trace
 * @core: of processes that run
 * @sample: the last one of @core
 * @thread: that was sampled; its process gets a map of the names
 * @c: @out and @max; out: as hybrid_name_chain() has it
 *
 * No file is written: the symbols are in perf's own tables at once.
 */
void hybrid_session_names__put(struct hybrid_core *core, const struct hybrid_sample *sample,
			       struct thread *thread, struct hybrid_named_chain *c);

#endif /* __PERF_HYBRID_SESSION_NAMES_H */
