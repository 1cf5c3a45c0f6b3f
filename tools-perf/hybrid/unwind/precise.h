/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_PRECISE_H
#define __PERF_HYBRID_PRECISE_H

#include <stdio.h>
#include "skid.h"
#include "unwind.h"

/* How the user part of a precise event's sample was found. */
enum hybrid_precise_way {
	HYBRID_PRECISE_INTERRUPT,	/* from where the interrupt was */
	HYBRID_PRECISE_RETIRED,		/* from behind the sampled instruction */
	HYBRID_PRECISE_KERNEL,		/* the interrupt was in the kernel: its chain */
	HYBRID_PRECISE_REFUTED,		/* calls refute all of it: the kernel's chain */
	HYBRID_PRECISE_NR,
};

/**
 * struct hybrid_precise - what is known of a precise event
 * @moment: what its samples are of; of an unknown processor, what they are taken for
 * @interrupt: samples of an unknown processor that only fit HYBRID_SKID_ADDRESS
 * @retired: and HYBRID_SKID_STACK
 * @ways: samples by enum hybrid_precise_way
 * @first: of the last sample, the first entry that its chain is to have; 0: as it is
 */
struct hybrid_precise {
	enum hybrid_skid	moment;
	u64			interrupt;
	u64			retired;
	u64			ways[HYBRID_PRECISE_NR];
	u64			first;
};

/**
 * hybrid_precise_unwind - hybrid_unwind() of a sample whose parts may be of two moments
 * @unwinder: caches
 * @u: the sample, after hybrid_uretprobe_chain(); its ip is the sampled address, whatever
 *	the other registers are of
 * @precise: of the event
 *
 * The chain is unwound from the moment that the registers are of; with
 * HYBRID_SKID_NONE there is only one. Where nothing in the
 * sample tells more than the kernel's chain, @u has one frame, and stops there.
 *
 * Return: false where the kernel's chain is to be taken: the registers are no user's, or
 * what they lead to is refuted by the calls on the way.
 */
bool hybrid_precise_unwind(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u,
			   struct hybrid_precise *precise);

/**
 * hybrid_precise_walked - the account of a sample that the kernel walked by loaded rules
 * @unwinder: caches
 * @u: the sample, after hybrid_unwind() or hybrid_kernel_walk_frames()
 * @precise: of the event
 * @ip: the sampled address
 *
 * The kernel gives such a sample registers and stack of the interrupt, which its chain
 * begins at: only the sampled address may be of another moment.
 */
void hybrid_precise_walked(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u,
			   struct hybrid_precise *precise, u64 ip);

/**
 * hybrid_precise_put_first - make the sampled address the chain's first user entry
 * @precise: after hybrid_precise_unwind() or hybrid_precise_walked()
 * @chain: the merged chain of that sample
 * @nr: number of @chain
 *
 * So it is where the interrupt was in the same function, and in the same call of it as
 * far as one can see; else the first entry is where the interrupt was.
 */
void hybrid_precise_put_first(const struct hybrid_precise *precise, u64 *chain,
			      unsigned int nr);

/**
 * hybrid_precise_print - a line that says how an event's chains were found
 * @precise: of the event; nothing is printed of one that is not precise
 * @out: stream
 */
void hybrid_precise_print(const struct hybrid_precise *precise, FILE *out);

#endif /* __PERF_HYBRID_PRECISE_H */
