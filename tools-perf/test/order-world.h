/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __HYBRID_TEST_ORDER_WORLD_H
#define __HYBRID_TEST_ORDER_WORLD_H

#include "ring-order.h"

#define RINGS	5
#define SIZE	4096U

#define HOLD	HYBRID_ORDER_HOLD

struct record {
	struct perf_event_header	header;
	u64				time;
	u64				id;
	u8				rest[];
};

/* A writer and what it wrote; the kernel's side of the rings. */
struct world {
	struct hybrid_ring	rings[RINGS];
	struct hybrid_ring	*heap[RINGS];
	struct hybrid_order	order;
	u64			now;
	u64			head[RINGS];
	u64			consumed[RINGS];
	u64			time;
	u64			written;
	u64			delivered;
	u64			last_time;
	unsigned int		bursts;
	bool			seen[200000];
	int			stop_at;
	int			again_in;
	unsigned int		copied;
};

/* That of the running test. */
extern struct world w;

/* What the passes below read the rings by: each record is checked against what was written. */
extern const struct hybrid_order_ops world_ops;

u64 world_head(struct hybrid_ring *ring, void *arg);
u64 world_time(const struct perf_event_header *event, void *arg);
int world_deliver(struct hybrid_ring *ring, const struct perf_event_header *event, void *arg);
void world_consume(struct hybrid_ring *ring, void *arg);

/* Empty rings, all that is asked for; and their memory again. */
void world_start(void);
void world_end(void);

void world_put(unsigned int ring, const void *data, unsigned int size);
bool world_write(unsigned int ring, u64 time, unsigned int size);
void world_write_some(unsigned int nr);

int world_pass_by(const struct hybrid_order_ops *by, u64 now);
int world_pass(void);
int world_pass_at_once(void);
int world_pass_all(void);

#endif /* __HYBRID_TEST_ORDER_WORLD_H */
