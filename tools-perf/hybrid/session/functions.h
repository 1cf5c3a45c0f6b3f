/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_SESSION_FUNCTIONS_H
#define __PERF_HYBRID_SESSION_FUNCTIONS_H

#include <stdbool.h>
#include <linux/types.h>

struct hybrid_named_chain;
struct hybrid_walked;

/*
 * perf top and trace: what an interpreter runs in a sample. perf top has one thread that reads the
 * rings, and another one that resolves samples some time later: the functions are kept until then.
 */

/**
 * hybrid_session_functions__read - a record of BPF's was read from a ring
 * @walked: of the record. If it has functions of an interpreter they are kept; else those of the
 *	record before, if they are of the same sample
 */
void hybrid_session_functions__read(const struct hybrid_walked *walked);

/**
 * hybrid_session_functions__read_other - a record of the kernel's was read from a ring
 *
 * The functions of the record before are those of a sample that the kernel writes, if this is it.
 * They have its time.
 */
void hybrid_session_functions__read_other(void);

/**
 * hybrid_session_functions__take - the functions of a sample
 * @ids: of its task, as struct hybrid_walked has them
 * @time: of the sample
 * @c: out: its functions, valid until the next call; unchanged if there are none
 */
void hybrid_session_functions__take(u64 ids, u64 time, struct hybrid_named_chain *c);

/* No more samples are resolved. */
void hybrid_session_functions__exit(void);

#endif /* __PERF_HYBRID_SESSION_FUNCTIONS_H */
