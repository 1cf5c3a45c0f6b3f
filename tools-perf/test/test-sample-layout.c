// SPDX-License-Identifier: GPL-2.0
/*
 * Samples of every layout, written by hand as the kernel does, parsed and
 * rewritten. The order of the parts is that of the comment on PERF_RECORD_SAMPLE
 * in include/uapi/linux/perf_event.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "sample-layout.h"
#include "tap.h"

/* A sample, and what the file is to get of it. */
struct record {
	struct hybrid_layout	layout;
	u64			words[HYBRID_MAX_RECORD / 8];
	unsigned int		nr;
	u64			want[HYBRID_MAX_RECORD / 8];
	unsigned int		nr_want;
	/* What is in it. */
	u32			nr_chain;
	u32			stack_size;
	bool			has_regs;
};

static struct record r;

/* The new callchain. */
static const u64 chain[] = { 0xc0, 0xc1, 0xc2, 0xc3, 0xc4 };

static u64 tested_bits[] = {
	PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP, PERF_SAMPLE_TID, PERF_SAMPLE_TIME,
	PERF_SAMPLE_ADDR, PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,
	PERF_SAMPLE_PERIOD, PERF_SAMPLE_READ, PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_RAW,
	PERF_SAMPLE_BRANCH_STACK, PERF_SAMPLE_REGS_USER, PERF_SAMPLE_STACK_USER,
	PERF_SAMPLE_WEIGHT,
};

static void in(u64 word)
{
	r.words[r.nr++] = word;
}

static void want(u64 word)
{
	r.want[r.nr_want++] = word;
}

static void both(u64 word)
{
	in(word);
	want(word);
}

static void add_read(u64 format)
{
	u64 nr = 1, i;

	if (format & PERF_FORMAT_GROUP) {
		nr = tap_random() % 4;
		both(nr);
	} else {
		both(0x1ead);
	}
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		both(0x1);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		both(0x2);
	for (i = 0; i < nr; i++) {
		if (format & PERF_FORMAT_GROUP)
			both(0x1ead);
		if (format & PERF_FORMAT_ID)
			both(i);
		if (format & PERF_FORMAT_LOST)
			both(0x1057);
	}
}

static void add_chain(void)
{
	unsigned int i;

	r.nr_chain = tap_random() % 6;
	in(r.nr_chain);
	for (i = 0; i < r.nr_chain; i++)
		in(0x01d0 + i);
	want(ARRAY_SIZE(chain));
	for (i = 0; i < ARRAY_SIZE(chain); i++)
		want(chain[i]);
}

static void add_raw(void)
{
	u32 size = 4 + 8 * (tap_random() % 4), i;

	both(size | 0xaaaaaaaa00000000ULL);
	for (i = 4; i < size; i += 8)
		both(0xaaaaaaaaaaaaaaaa);
}

static void add_branches(void)
{
	unsigned int nr = tap_random() % 4, i;

	both(nr);
	if (r.layout.attr.branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		both(0x1d);
	for (i = 0; i < nr * 3; i++)
		both(0xb0 + i);
	for (i = 0; r.layout.branch_counters && i < nr; i++)
		both(0xcc);
}

static void add_regs(void)
{
	u64 mask = r.layout.attr.sample_regs_user;
	unsigned int i;

	r.has_regs = tap_random() % 4;
	in(r.has_regs ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_NONE);
	if (r.layout.file_regs)
		want(r.words[r.nr - 1]);
	for (i = 0; r.has_regs && i < 64; i++) {
		if (!(mask & (1ULL << i)))
			continue;
		in(0x1000 + i);
		if (r.layout.file_regs & (1ULL << i))
			want(0x1000 + i);
	}
}

static void add_stack(void)
{
	unsigned int words = tap_random() % 5, i;

	in(words * 8);
	if (!words)
		return;
	for (i = 0; i < words; i++)
		in(0x57ac);
	r.stack_size = tap_random() % (words * 8 + 1);
	in(r.stack_size);
}

/* Behind address and task, a word each; it is those of these bits that are left. */
#define HEAD	(PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | \
		 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

static void make(u64 type)
{
	u64 head = type & HEAD;
	struct perf_event_header header = { .type = PERF_RECORD_SAMPLE, .misc = 2 };

	r.nr = 0;
	r.nr_want = 0;
	r.nr_chain = 0;
	r.stack_size = 0;
	r.has_regs = false;
	both(0);
	if (type & PERF_SAMPLE_IDENTIFIER)
		both(0x1d);
	if (type & PERF_SAMPLE_IP)
		both(0x401000);
	if (type & PERF_SAMPLE_TID)
		both(0x22200000111);
	for (; head; head &= head - 1)
		both(head);
	if (type & PERF_SAMPLE_READ)
		add_read(r.layout.attr.read_format);
	if (type & PERF_SAMPLE_CALLCHAIN)
		add_chain();
	if (type & PERF_SAMPLE_RAW)
		add_raw();
	if (type & PERF_SAMPLE_BRANCH_STACK)
		add_branches();
	if (type & PERF_SAMPLE_REGS_USER)
		add_regs();
	if (type & PERF_SAMPLE_STACK_USER)
		add_stack();
	if (type & PERF_SAMPLE_WEIGHT)
		both(0x3e1647);
	header.size = r.nr * 8;
	memcpy(r.words, &header, 8);
	header.size = r.nr_want * 8;
	memcpy(r.want, &header, 8);
}

static void make_layout(u64 type)
{
	memset(&r.layout, 0, sizeof(r.layout));
	r.layout.attr.sample_type = type;
	r.layout.attr.read_format = tap_random() % 32;
	if (tap_random() % 2)
		r.layout.attr.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX;
	r.layout.branch_counters = tap_random() % 2;
	r.layout.attr.sample_regs_user = tap_random() & 0xff0fff;
	if (tap_random() % 2 && type & PERF_SAMPLE_REGS_USER)
		r.layout.file_regs = r.layout.attr.sample_regs_user & tap_random();
}

static void compare_parsed(const struct hybrid_sample_parts *sample)
{
	u64 type = r.layout.attr.sample_type;

	same(sample->ip, type & PERF_SAMPLE_IP ? 0x401000 : 0);
	same(sample->pid, type & PERF_SAMPLE_TID ? 0x111 : -1ULL);
	same(sample->tid, type & PERF_SAMPLE_TID ? 0x222 : -1ULL);
	same(sample->time, type & PERF_SAMPLE_TIME ? type & HEAD : ~0ULL);
	same(sample->nr_chain, r.nr_chain);
	check(!sample->chain == !(type & PERF_SAMPLE_CALLCHAIN));
	if (sample->chain && sample->nr_chain == r.nr_chain && r.nr_chain)
		same(sample->chain[r.nr_chain - 1], 0x01d0 + r.nr_chain - 1);
	check(!sample->regs == !r.has_regs);
	if (sample->regs && r.layout.attr.sample_regs_user)
		same(sample->regs[0], 0x1000 + __builtin_ctzll(r.layout.attr.sample_regs_user));
	same(sample->stack_size, r.stack_size);
	if (sample->stack && r.stack_size >= 8)
		same(*(const u64 *)sample->stack, 0x57ac);
}

static void round_trip(void)
{
	static u64 out[HYBRID_MAX_RECORD / 8];
	struct hybrid_sample_parts sample;
	unsigned int room;

	if (!check(!hybrid_layout_parse(&r.layout, (void *)r.words, &sample)))
		return;
	compare_parsed(&sample);
	room = hybrid_layout_room(&r.layout, &sample);
	check(room >= ARRAY_SIZE(chain) && room < HYBRID_MAX_RECORD / 8);
	same(hybrid_layout_write(&r.layout, &sample, chain, ARRAY_SIZE(chain), out),
	     r.nr_want * 8);
	check(!memcmp(out, r.want, r.nr_want * 8));
}

static u64 type_of(unsigned int bits)
{
	unsigned int i;
	u64 type = 0;

	for (i = 0; i < ARRAY_SIZE(tested_bits); i++)
		type |= bits & (1U << i) ? tested_bits[i] : 0;
	return type;
}

static void every_type(void)
{
	unsigned int bits;

	for (bits = 0; bits < 1U << ARRAY_SIZE(tested_bits); bits++) {
		make_layout(type_of(bits));
		make(r.layout.attr.sample_type);
		round_trip();
	}
}

/* In a buffer of just its size, so that reading behind it is seen. */
static int parse_exactly(unsigned int size, struct hybrid_sample_parts *sample)
{
	struct perf_event_header *event = malloc(size);
	int err;

	memcpy(event, r.words, size);
	event->size = size;
	err = hybrid_layout_parse(&r.layout, event, sample);
	if (!err) {
		check(sample->chain_at <= sample->regs_at);
		check(sample->regs_at <= sample->rest_at);
		check(sample->rest_at <= size);
	}
	free(event);
	return err;
}

static void cut_short(void)
{
	unsigned int round, size, needed;
	struct hybrid_sample_parts sample;

	for (round = 0; round < 3000; round++) {
		u64 type = type_of(tap_random() & 0xffff) & ~PERF_SAMPLE_WEIGHT;

		make_layout(type);
		make(type);
		needed = r.nr * 8;
		for (size = 8; size < needed; size++)
			check(parse_exactly(size, &sample) == -EINVAL);
		same(parse_exactly(needed, &sample), 0);
		same(sample.rest_at, needed);
	}
}

/* The same of records that have one thing alone. */
static void cut_alone(void)
{
	struct hybrid_sample_parts sample;
	unsigned int bit, size;
	u64 type;

	for (bit = 0; bit < ARRAY_SIZE(tested_bits); bit++) {
		type = tested_bits[bit] & ~PERF_SAMPLE_WEIGHT;
		make_layout(type);
		make(type);
		for (size = 8; size < r.nr * 8; size++)
			check(parse_exactly(size, &sample) == -EINVAL);
		same(parse_exactly(r.nr * 8, &sample), 0);
	}
}

/* Any word of a record may be anything. */
static void lying_words(void)
{
	static const u64 lies[] = {
		~0ULL, 1ULL << 63, 1ULL << 61, 0x1fff, 0x2000, 0x10000, 9, 0xffffffff,
		0x100000000, ~0ULL - 7,
	};
	struct hybrid_sample_parts sample;
	unsigned int round, i;

	for (round = 0; round < 20000; round++) {
		u64 type = type_of(tap_random() & 0xffff);

		make_layout(type);
		make(type);
		i = 1 + tap_random() % r.nr;
		if (i == r.nr)
			continue;
		r.words[i] = lies[tap_random() % ARRAY_SIZE(lies)];
		parse_exactly(r.nr * 8, &sample);
	}
}

static void lies_rejected(void)
{
	const u64 type = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK |
			 PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	/* No chain, raw 4, no branches, no registers, a stack of 8 bytes. */
	static const u64 words[] = { 0, 0, 4, 0, 0, 8, 1, 8 };
	static const struct {
		unsigned int	at;
		u64		word;
	} lies[] = {
		{ 1, 7 }, { 1, ~0ULL }, { 1, 1ULL << 61 }, { 2, 5 }, { 2, 0 }, { 2, 0xfffffffc },
		{ 3, 3 }, { 3, 1ULL << 62 }, { 4, 1 }, { 5, 7 }, { 5, 16 }, { 5, ~0ULL },
		{ 5, ~7ULL }, { 7, 9 }, { 7, ~0ULL },
	};
	struct perf_event_header header = { .type = PERF_RECORD_SAMPLE, .size = sizeof(words) };
	struct hybrid_sample_parts sample;
	unsigned int i;

	memset(&r.layout, 0, sizeof(r.layout));
	r.layout.attr.sample_type = type;
	r.layout.attr.sample_regs_user = 0xffffff;
	memcpy(r.words, words, sizeof(words));
	memcpy(r.words, &header, 8);
	same(parse_exactly(sizeof(words), &sample), 0);
	same(sample.stack_size, 8);
	for (i = 0; i < ARRAY_SIZE(lies); i++) {
		u64 right = r.words[lies[i].at];

		r.words[lies[i].at] = lies[i].word;
		check(parse_exactly(sizeof(words), &sample) == -EINVAL);
		r.words[lies[i].at] = right;
	}
}

/* Raw data is padded by the kernel: what is not would misplace all behind it. */
static void raw_unpadded(void)
{
	struct perf_event_header header = { .type = PERF_RECORD_SAMPLE, .size = 24 };
	struct hybrid_sample_parts sample;
	u32 size;

	memset(&r.layout, 0, sizeof(r.layout));
	r.layout.attr.sample_type = PERF_SAMPLE_RAW;
	memcpy(r.words, &header, 8);
	for (size = 0; size < 20; size++) {
		r.words[1] = size;
		r.words[2] = 0;
		same(parse_exactly(24, &sample), size == 4 || size == 12 ? 0 : -EINVAL);
	}
}

/* As long a chain as there is room for, and the record is a valid one. */
static void room(void)
{
	static u64 many[HYBRID_MAX_RECORD / 8], out[HYBRID_MAX_RECORD / 8];
	struct hybrid_sample_parts sample, again;
	struct hybrid_layout layout;
	unsigned int round, nr;

	for (round = 0; round < 200; round++) {
		u64 type = type_of(tap_random() & 0xffff) | PERF_SAMPLE_CALLCHAIN;

		make_layout(type);
		make(type);
		same(hybrid_layout_parse(&r.layout, (void *)r.words, &sample), 0);
		nr = hybrid_layout_room(&r.layout, &sample);
		same(hybrid_layout_write(&r.layout, &sample, many, nr, out), HYBRID_MAX_RECORD);
		layout = r.layout;
		layout.attr.sample_regs_user = layout.file_regs;
		layout.attr.sample_type &= ~PERF_SAMPLE_STACK_USER;
		if (!layout.file_regs)
			layout.attr.sample_type &= ~PERF_SAMPLE_REGS_USER;
		same(hybrid_layout_parse(&layout, (void *)out, &again), 0);
		same(again.nr_chain, nr);
	}
}

/* A record that leaves no room; and one that leaves room for one word. */
static void no_room(void)
{
	const struct hybrid_layout layout = { .attr.sample_type = PERF_SAMPLE_CALLCHAIN };
	struct perf_event_header event = { .size = HYBRID_MAX_RECORD };
	struct hybrid_sample_parts sample = { .event = &event, .chain_at = 8, .regs_at = 8 };

	/* Two words are the header and the chain's number; all the others stand behind it. */
	sample.rest_at = 16;
	same(hybrid_layout_room(&layout, &sample), 0);
	sample.rest_at = 0;
	same(hybrid_layout_room(&layout, &sample), 0);
	sample.rest_at = 24;
	same(hybrid_layout_room(&layout, &sample), 1);
}

/* Not even a header, or not of whole words. */
static void no_record(void)
{
	const struct hybrid_layout layout = {};
	struct perf_event_header *event = malloc(sizeof(*event));
	struct hybrid_sample_parts sample;
	unsigned int size;

	memset(event, 0, sizeof(*event));
	for (size = 0; size < 24; size++) {
		event->size = size;
		same(hybrid_layout_parse(&layout, event, &sample),
		     size >= 8 && size % 8 == 0 ? 0 : (u64)-EINVAL);
	}
	free(event);
}

static void set_ip(void)
{
	static const struct {
		u64		type;
		unsigned int	at;
	} cases[] = {
		{ PERF_SAMPLE_IP | PERF_SAMPLE_TID, 1 },
		{ PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID, 2 },
		{ PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID, 0 },
		{ PERF_SAMPLE_TID, 0 },
	};
	unsigned int i, word;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct hybrid_layout layout = { .attr.sample_type = cases[i].type };
		const unsigned int at = cases[i].at;
		u64 words[5] = { 50, 51, 52, 53, 54 };

		hybrid_layout_set_ip(&layout, words, 0x1234);
		for (word = 0; word < ARRAY_SIZE(words); word++)
			same(words[word], word && word == at ? 0x1234 : 50 + word);
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "layout: every sample_type, parsed and rewritten", every_type },
		{ "layout: cut short at every length", cut_short },
		{ "layout: cut short, with one thing alone", cut_alone },
		{ "layout: lies in any word", lying_words },
		{ "layout: sizes that contradict each other", lies_rejected },
		{ "layout: raw data that is not padded", raw_unpadded },
		{ "layout: the longest chain there is room for", room },
		{ "layout: no room for a chain", no_room },
		{ "layout: no record", no_record },
		{ "layout: another address", set_ip },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
