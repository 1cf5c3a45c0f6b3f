/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_EVENT_H
#define __PERF_HYBRID_EVENT_H

#include "../records/sample-layout.h"
#include "../unwind/precise.h"

struct evsel;
struct record_opts;

/**
 * struct hybrid_event - what is known of one event
 * @hybrid: its samples are unwound
 * @off_cpu: that of perf record --off-cpu; all else is of the samples that its chains are
 *	made as
 * @at_probe: see struct hybrid_merge
 * @max_stack: user frames to keep
 * @shed: samples left out
 * @layout: of its samples
 * @precise: what moments they are of
 */
struct hybrid_event {
	bool			 hybrid;
	bool			 off_cpu;
	bool			 at_probe;
	unsigned int		 max_stack;
	u64			 shed;
	struct hybrid_layout	 layout;
	struct hybrid_precise	 precise;
};

/**
 * hybrid_event__init - take note of an event, and change its attr to what the
 *	file is to say of it
 * @event: out
 * @evsel: the event, open
 * @opts: of the recording
 * @max_stack: user frames to keep, unless the event says otherwise
 */
void hybrid_event__init(struct hybrid_event *event, struct evsel *evsel,
			const struct record_opts *opts, unsigned int max_stack);

#endif /* __PERF_HYBRID_EVENT_H */
