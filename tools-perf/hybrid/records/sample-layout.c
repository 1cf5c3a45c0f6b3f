// SPDX-License-Identifier: GPL-2.0
/*
 * The layout of PERF_RECORD_SAMPLE, as far as the stack dump: see struct
 * perf_event_type's comment in include/uapi/linux/perf_event.h.
 */
#include <errno.h>
#include <string.h>
#include <linux/bitops.h>
#include "sample-layout.h"

struct cursor {
	const u8	*base;
	u32		 at;
	u32		 size;
};

static bool skip(struct cursor *c, u64 bytes)
{
	if (bytes > c->size - c->at)
		return false;
	c->at += bytes;
	return true;
}

static bool skip_words(struct cursor *c, u64 words)
{
	return words <= HYBRID_MAX_RECORD / 8 && skip(c, words * 8);
}

static bool read_u64(struct cursor *c, u64 *value)
{
	const void *from = c->base + c->at;

	if (!skip(c, 8))
		return false;
	memcpy(value, from, 8);
	return true;
}

static bool skip_read(struct cursor *c, u64 format)
{
	u64 times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		    !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	u64 each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
	u64 nr = 1;

	if (format & PERF_FORMAT_GROUP && !read_u64(c, &nr))
		return false;
	return nr <= HYBRID_MAX_RECORD / 8 && skip_words(c, times + nr * each);
}

/* All that stands before the callchain. */
static bool parse_head(const struct hybrid_layout *layout, struct cursor *c,
		       struct hybrid_sample_parts *s)
{
	u64 type = layout->attr.sample_type, ids;

	s->pid = -1;
	s->tid = -1;
	s->time = ~0ULL;
	if (!skip_words(c, !!(type & PERF_SAMPLE_IDENTIFIER)))
		return false;
	if (type & PERF_SAMPLE_IP && !read_u64(c, &s->ip))
		return false;
	if (type & PERF_SAMPLE_TID) {
		if (!read_u64(c, &ids))
			return false;
		s->pid = (u32)ids;
		s->tid = ids >> 32;
	}
	if (type & PERF_SAMPLE_TIME && !read_u64(c, &s->time))
		return false;
	type &= PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
		PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	return skip_words(c, hweight64(type)) &&
	       (!(layout->attr.sample_type & PERF_SAMPLE_READ) ||
		skip_read(c, layout->attr.read_format));
}

static bool parse_chain(struct cursor *c, struct hybrid_sample_parts *s)
{
	u64 nr;

	if (!read_u64(c, &nr))
		return false;
	s->chain = (const u64 *)(c->base + c->at);
	s->nr_chain = nr;
	return skip_words(c, nr);
}

static bool skip_raw(struct cursor *c)
{
	u32 size;

	if (c->size - c->at < sizeof(size))
		return false;
	memcpy(&size, c->base + c->at, sizeof(size));
	/* The kernel pads so that size and data together are whole words. */
	return (size + sizeof(size)) % 8 == 0 && skip(c, size + sizeof(size));
}

static bool skip_branches(const struct hybrid_layout *layout, struct cursor *c)
{
	u64 nr, words = sizeof(struct perf_branch_entry) / 8 + layout->branch_counters;

	if (!read_u64(c, &nr) || nr > HYBRID_MAX_RECORD / 8)
		return false;
	return skip_words(c, nr * words +
			  !!(layout->attr.branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX));
}

static bool parse_regs(const struct hybrid_layout *layout, struct cursor *c,
		       struct hybrid_sample_parts *s)
{
	if (!read_u64(c, &s->regs_abi))
		return false;
	if (s->regs_abi == PERF_SAMPLE_REGS_ABI_NONE)
		return true;
	s->regs = (const u64 *)(c->base + c->at);
	return skip_words(c, hweight64(layout->attr.sample_regs_user));
}

static bool parse_stack(struct cursor *c, struct hybrid_sample_parts *s)
{
	u64 size;

	if (!read_u64(c, &size))
		return false;
	if (!size)
		return true;
	s->stack = c->base + c->at;
	s->stack_room = size;
	return size % 8 == 0 && skip(c, size) && read_u64(c, &s->stack_size) &&
	       s->stack_size <= size;
}

int hybrid_layout_parse(const struct hybrid_layout *layout,
			const struct perf_event_header *event,
			struct hybrid_sample_parts *sample)
{
	struct cursor c = { (const u8 *)event, sizeof(*event), event->size };
	u64 type = layout->attr.sample_type;

	memset(sample, 0, sizeof(*sample));
	sample->event = event;
	if (event->size < sizeof(*event) || event->size % 8)
		return -EINVAL;
	if (!parse_head(layout, &c, sample))
		return -EINVAL;
	sample->chain_at = c.at;
	if (type & PERF_SAMPLE_CALLCHAIN && !parse_chain(&c, sample))
		return -EINVAL;
	if (type & PERF_SAMPLE_RAW && !skip_raw(&c))
		return -EINVAL;
	if (type & PERF_SAMPLE_BRANCH_STACK && !skip_branches(layout, &c))
		return -EINVAL;
	sample->regs_at = c.at;
	if (type & PERF_SAMPLE_REGS_USER && !parse_regs(layout, &c, sample))
		return -EINVAL;
	if (type & PERF_SAMPLE_STACK_USER && !parse_stack(&c, sample))
		return -EINVAL;
	sample->rest_at = c.at;
	return 0;
}

/* Offset behind the callchain. */
static u32 chain_end(const struct hybrid_sample_parts *sample)
{
	return sample->chain ? sample->chain_at + 8 + sample->nr_chain * 8 : sample->chain_at;
}

static u32 file_regs_size(const struct hybrid_layout *layout,
			  const struct hybrid_sample_parts *sample)
{
	if (!layout->file_regs)
		return 0;
	return 8 + (sample->regs ? hweight64(layout->file_regs) * 8 : 0);
}

unsigned int hybrid_layout_room(const struct hybrid_layout *layout,
				const struct hybrid_sample_parts *sample)
{
	u32 fixed = sample->chain_at + 8 + (sample->regs_at - chain_end(sample)) +
		    file_regs_size(layout, sample) + (sample->event->size - sample->rest_at);

	return fixed < HYBRID_MAX_RECORD ? (HYBRID_MAX_RECORD - fixed) / 8 : 0;
}

static u8 *append(u8 *to, const void *from, size_t size)
{
	memcpy(to, from, size);
	return to + size;
}

static u8 *append_regs(const struct hybrid_layout *layout, const struct hybrid_sample_parts *sample,
		       u8 *to)
{
	u64 mask = layout->attr.sample_regs_user;
	unsigned int i, n = 0;

	if (!layout->file_regs)
		return to;
	to = append(to, &sample->regs_abi, 8);
	if (!sample->regs)
		return to;
	for (i = 0; i < 64; i++) {
		if (!(mask & (1ULL << i)))
			continue;
		if (layout->file_regs & (1ULL << i))
			to = append(to, &sample->regs[n], 8);
		n++;
	}
	return to;
}

size_t hybrid_layout_write(const struct hybrid_layout *layout,
			   const struct hybrid_sample_parts *sample,
			   const u64 *chain, unsigned int nr, void *out)
{
	const u8 *event = (const u8 *)sample->event;
	struct perf_event_header *header = out;
	u64 nr64 = nr;
	u8 *to = out;

	to = append(to, event, sample->chain_at);
	if (layout->attr.sample_type & PERF_SAMPLE_CALLCHAIN) {
		to = append(to, &nr64, 8);
		to = append(to, chain, nr * 8);
	}
	to = append(to, event + chain_end(sample), sample->regs_at - chain_end(sample));
	to = append_regs(layout, sample, to);
	to = append(to, event + sample->rest_at, sample->event->size - sample->rest_at);
	header->size = to - (u8 *)out;
	return header->size;
}

void hybrid_layout_set_ip(const struct hybrid_layout *layout, void *event, u64 ip)
{
	u8 *at = (u8 *)event + sizeof(struct perf_event_header);

	if (layout->attr.sample_type & PERF_SAMPLE_IDENTIFIER)
		at += 8;
	if (layout->attr.sample_type & PERF_SAMPLE_IP)
		memcpy(at, &ip, sizeof(ip));
}
