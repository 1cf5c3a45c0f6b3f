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

static bool is_frame(u64 ip)
{
	return !is_mark(ip) && ip < (u64)PERF_CONTEXT_MAX;
}

/* Which is the first entry of the user part? */
static unsigned int user_part(const struct hybrid_named_chain *c)
{
	unsigned int i = 0;

	while (i < c->nr && c->chain[i] != PERF_CONTEXT_USER)
		i++;
	return min(i + 1, c->nr);
}

/* @at: which of the user frames it is. */
static struct hybrid_frame frame_of(const struct hybrid_named_chain *c, u64 ip, unsigned int at)
{
	struct hybrid_frame frame = { .ip = at ? ip - 1 : ip, .ret = ip };

	return at < c->nr_frames ? c->frames[at] : frame;
}

unsigned int hybrid_named_chain_count(const struct hybrid_named_chain *c,
				      bool (*is)(u64 ip, void *arg), void *arg)
{
	unsigned int i, at = 0, nr = 0;

	for (i = user_part(c); i < c->nr; i++) {
		if (is_frame(c->chain[i]))
			nr += is(frame_of(c, c->chain[i], at++).ip, arg);
	}
	return nr;
}

static void put_frame(struct hybrid_namer *namer, struct hybrid_names *names,
		      struct hybrid_named_chain *c, u64 ip, unsigned int at)
{
	struct hybrid_frame frame = frame_of(c, ip, at);
	unsigned int room = c->max - c->nr_out, nr;
	u64 *out = c->out + c->nr_out;

	nr = namer->name(namer, names, &frame, ip, out, room);
	if (!nr) {
		put(c, &ip, 1);
		return;
	}
	c->is_cut_off |= nr > room;
	c->nr_out += min(nr, room);
	c->is_named = true;
	if (!at && room)
		c->first = out[0];
}

static void begin(struct hybrid_named_chain *c)
{
	c->nr_out = 0;
	c->is_named = false;
	c->first = 0;
	c->is_cut_off = false;
	c->user = user_part(c);
	c->rest = c->user;
	put(c, c->chain, c->user);
}

void hybrid_named_chain_put_first(struct hybrid_named_chain *c, unsigned int nr)
{
	if (nr)
		c->first = c->out[c->nr_out];
	else
		c->out[c->nr_out] = c->chain[c->user];
	c->nr_out += nr ?: 1;
	c->rest = c->nr_out;
}

bool hybrid_name_known(struct hybrid_namer *namer, struct hybrid_names *names,
		       struct hybrid_named_chain *c)
{
	u64 unread = namer->nr_unread;

	begin(c);
	if (namer->whole && namer->whole(namer, names, c))
		return true;
	/* It is named once more. */
	namer->nr_unread = unread;
	return false;
}

void hybrid_name_chain(struct hybrid_namer *namer, struct hybrid_names *names,
		       struct hybrid_named_chain *c)
{
	unsigned int i, at = 0;

	if (hybrid_name_known(namer, names, c))
		return;
	begin(c);
	if (namer->begin)
		namer->begin(namer, c);
	for (i = c->user; i < c->nr && !c->is_cut_off; i++) {
		if (is_frame(c->chain[i]))
			put_frame(namer, names, c, c->chain[i], at++);
		else
			put(c, &c->chain[i], 1);
		if (i == c->user)
			c->rest = c->nr_out;
	}
	if (namer->keep && c->is_named && !c->is_cut_off)
		namer->keep(namer, c);
	/* It says more than the frame that there is no room for. */
	if (c->is_cut_off && c->nr_out)
		c->out[c->nr_out - 1] = hybrid_synthetic_ip(HYBRID_SYNTHETIC_CUT_OFF);
}
