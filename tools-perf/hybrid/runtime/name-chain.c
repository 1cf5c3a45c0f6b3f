// SPDX-License-Identifier: GPL-2.0
/* Functions of a runtime in callchains. */
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include "../unwind/synthetic-frame.h"
#include "name-chain.h"

static bool is_mark(u64 ip)
{
	unsigned int mark;

	for (mark = 0; mark < HYBRID_NR_SYNTHETIC; mark++) {
		if (ip == hybrid_synthetic_ip(mark))
			return true;
	}
	return false;
}

static void put(struct hybrid_named_chain *c, const u64 *ips, unsigned int nr)
{
	unsigned int fit = min(nr, c->max - c->nr_out);

	memcpy(c->out + c->nr_out, ips, fit * sizeof(*ips));
	c->nr_out += fit;
	c->is_cut_off |= fit < nr;
}

/* @at: which of the user frames it is. */
static void put_frame(struct hybrid_namer *namer, struct hybrid_names *names,
		      struct hybrid_named_chain *c, u64 ip, unsigned int at)
{
	const struct hybrid_frame *frame = at < c->nr_frames ? &c->frames[at] : NULL;
	u64 out[HYBRID_NAMES_OF_FRAME];
	unsigned int nr = namer->name(namer, names, frame, ip, out);

	if (!nr) {
		put(c, &ip, 1);
		return;
	}
	put(c, out, nr);
	c->is_named = true;
	if (!at)
		c->first = out[0];
}

void hybrid_name_chain(struct hybrid_namer *namer, struct hybrid_names *names,
		       struct hybrid_named_chain *c)
{
	unsigned int i = 0, at = 0;

	c->nr_out = 0;
	c->is_named = false;
	c->first = 0;
	c->is_cut_off = false;
	while (i < c->nr && c->chain[i] != PERF_CONTEXT_USER)
		i++;
	i = min(i + 1, c->nr);
	put(c, c->chain, i);
	for (; i < c->nr && !c->is_cut_off; i++) {
		if (is_mark(c->chain[i]) || c->chain[i] >= (u64)PERF_CONTEXT_MAX)
			put(c, &c->chain[i], 1);
		else
			put_frame(namer, names, c, c->chain[i], at++);
	}
	/* It says more than the frame that there is no room for. */
	if (c->is_cut_off && c->nr_out)
		c->out[c->nr_out - 1] = hybrid_synthetic_ip(HYBRID_SYNTHETIC_CUT_OFF);
}
