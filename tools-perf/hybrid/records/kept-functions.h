/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_KEPT_FUNCTIONS_H
#define __PERF_HYBRID_KEPT_FUNCTIONS_H

#include <stdbool.h>
#include <sys/types.h>
#include <linux/types.h>

struct hybrid_sample_functions;
struct hybrid_walked;

/*
 * perf top and trace: what an interpreter runs in a sample. perf top has one thread that reads the
 * rings, and another one that resolves samples some time later: the functions are kept until then.
 */

/**
 * hybrid_kept_functions__read - a record of BPF's was read from a ring
 * @walked: of the record. If it is a function's, that is kept. If it has functions of an
 *	interpreter they are kept; else those of the record before, if they are of the same sample
 */
void hybrid_kept_functions__read(const struct hybrid_walked *walked);

/**
 * hybrid_kept_functions__read_other - a record of the kernel's was read from a ring
 *
 * The functions of the record before are those of a sample that the kernel writes, if this is it.
 * They have its time.
 */
void hybrid_kept_functions__read_other(void);

/**
 * hybrid_kept_functions__take - the functions of a sample
 * @ids: of its task, as struct hybrid_walked has them
 * @time: of the sample
 * @functions: out: valid until the next call; unchanged if there are none
 */
void hybrid_kept_functions__take(u64 ids, u64 time,
				 struct hybrid_sample_functions *functions);

/**
 * struct hybrid_kept_text - a function that BPF has read
 * @next: the next newer one
 * @pid: of the process
 * @language: of the function
 * @size: bytes of @text
 * @text: struct hybrid_walk_text
 */
struct hybrid_kept_text {
	struct hybrid_kept_text	*next;
	pid_t				 pid;
	u32				 language;
	u32				 size;
	u8				 text[];
};

/**
 * hybrid_kept_functions__text - the oldest function that was read in a process
 * @pid: of the process
 *
 * Return: to be freed; NULL: there is none, or it was too old to be kept.
 */
struct hybrid_kept_text *hybrid_kept_functions__text(pid_t pid);

/* No more samples are resolved. */
void hybrid_kept_functions__exit(void);

#endif /* __PERF_HYBRID_KEPT_FUNCTIONS_H */
