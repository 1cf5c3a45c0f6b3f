/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_OFF_CPU_H
#define __PERF_HYBRID_OFF_CPU_H

#include <linux/types.h>

struct evlist;
struct hybrid_chain;
struct hybrid_event;
struct hybrid_record;
struct hybrid_ring;
struct hybrid_walked;
struct perf_event_header;

/**
 * struct hybrid_off_cpu - chains of tasks that went to sleep
 * @event: that their samples are of; NULL: there are none
 * @id: of an event; records that are made of a chain are of it
 * @chains: by their number, up to HYBRID_WALK_CHAINS; NULL where one is not known, or none
 * @nr_added: samples that hybrid_record__off_cpu() has made a chain for
 */
struct hybrid_off_cpu {
	struct hybrid_event	 *event;
	u64			  id;
	struct hybrid_chain	**chains;
	u64			  nr_added;
};

/**
 * hybrid_off_cpu_init - take note of the event of perf record --off-cpu
 * @hr: recording; nothing is done where its program does not make these chains
 * @max_stack: user frames to keep
 */
void hybrid_off_cpu_init(struct hybrid_record *hr, unsigned int max_stack);
void hybrid_off_cpu_exit(struct hybrid_off_cpu *off_cpu);

/**
 * hybrid_off_cpu_chain - make the chain of a task that went to sleep, and keep it
 * @hr: recording
 * @ring: that the record stands in
 * @walked: BPF's record of it, with the id of struct hybrid_off_cpu; changed. Its address is the
 *	word by which samples name the chain, HYBRID_WALK_CHAIN or HYBRID_WALK_SLEEP
 *
 * Return: as hybrid_deliver_sample().
 */
int hybrid_off_cpu_chain(struct hybrid_record *hr, struct hybrid_ring *ring,
			 struct hybrid_walked *walked);

/**
 * hybrid_off_cpu_deliver - a sample of one sleep, with its callchain in place of the word
 * @hr: recording
 * @ring: that it stands in
 * @event: of perf record --off-cpu
 * @header: the sample
 *
 * Return: as hybrid_deliver_sample().
 */
int hybrid_off_cpu_deliver(struct hybrid_record *hr, struct hybrid_ring *ring,
			   struct hybrid_event *event, const struct perf_event_header *header);

#endif /* __PERF_HYBRID_OFF_CPU_H */
