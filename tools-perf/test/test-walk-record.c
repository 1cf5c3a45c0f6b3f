// SPDX-License-Identifier: GPL-2.0
/*
 * Records of the BPF program: each size and number that they may have, the same and one more; and
 * the samples that are made of them, word by word.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/align.h>
#include <linux/perf_unwind_rules.h>
#include "tap.h"
#include "walk-record.h"

#define BASE	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW)
#define WHOLE	PERF_UNWIND_END_OUTERMOST
#define CUT	PERF_UNWIND_END_NO_RULE
#define IDS	0x0000123400005678ULL
#define RECORDED	777
#define STACK_AT	offsetof(struct hybrid_walk_dump, stack)

static u8 raw[65536];
static struct hybrid_walk_head *const head = (void *)raw;
static struct hybrid_walk_record *const record = (void *)raw;
static struct hybrid_walk_dump *const dump = (void *)raw;
static struct hybrid_walked walked;
static struct perf_event_header *made;

/*
 * Parses a record with so many bytes of @raw, of which it says that it has @said. It ends where
 * memory ends, so that ASan sees who reads on.
 */
static int parse_as(u64 type, u32 size, u32 said)
{
	const u64 before[] = { 1, IDS, RECORDED, 3 };
	unsigned int words = type & PERF_SAMPLE_CPU ? 4 : 3;
	size_t all = sizeof(*made) + words * 8 + ALIGN(sizeof(said) + size, 8);
	u8 *at;

	free(made);
	made = malloc(all);
	*made = (struct perf_event_header) { .type = PERF_RECORD_SAMPLE, .size = all };
	at = (u8 *)(made + 1);
	memcpy(at, before, words * 8);
	at += words * 8;
	memcpy(at, &said, sizeof(said));
	memcpy(at + sizeof(said), raw, size);
	memset(&walked, 0xff, sizeof(walked));
	return hybrid_walked_parse(type, made, &walked);
}

static int parse(u32 size)
{
	return parse_as(BASE, size, size);
}

static void begin_kind(enum hybrid_walk_kind kind, u32 info)
{
	memset(raw, 0, sizeof(raw));
	*head = (struct hybrid_walk_head) {
		.time = 999, .ip = 0x1111, .id = 22, .period = 333, .addr = 0x4444,
		.info = info, .misc = 2, .kind = kind,
	};
}

/* The head of a record with nothing but this: of a walk, of the kernel's chain, or of neither. */
static void begin(u32 info, u16 nr_kernel)
{
	const bool is_whole = PERF_UNWIND_INFO_END(info) == WHOLE;

	begin_kind(is_whole || nr_kernel ? HYBRID_WALK_RECORD_SAMPLE : HYBRID_WALK_RECORD_NOTE,
		   info);
	head->nr_kernel = nr_kernel;
	head->nr_user = is_whole ? PERF_UNWIND_INFO_FRAMES(info) + 1 : 0;
}

/* One more part, at an offset. Returns where its functions end. */
static u32 put_part(u32 at, u16 kind, u16 language, u16 nr)
{
	struct hybrid_walk_part *part = (void *)(raw + at);

	*part = (struct hybrid_walk_part) {
		.kind = kind, .nr = nr, .language = language, .code_hash = 0xc0de,
		.is_whole = language == HYBRID_LANGUAGE_PERL,
	};
	head->nr_parts++;
	return at + sizeof(*part) + nr * sizeof(struct hybrid_walk_function);
}

static void task_and_time(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < 2; cpu++) {
		u64 type = BASE | (cpu ? PERF_SAMPLE_CPU : 0);

		begin(CUT, 0);
		same(parse_as(type, sizeof(*head), sizeof(*head)), 0);
		same(walked.ids, IDS);
		same(walked.time, RECORDED);
		same(walked.cpu, cpu ? 3 : 0);
		same(walked.head.time, 999);
		same(hybrid_walked_time(type, made), 999);
		head->time = 0;
		same(parse_as(type, sizeof(*head), sizeof(*head)), 0);
		same(walked.head.time, RECORDED);
		same(hybrid_walked_time(type, made), RECORDED);
	}
	same(hybrid_task_ids(0x5678, 0x1234), IDS);
}

/* Nothing is read of what is not there. */
static void sizes(void)
{
	u64 type = BASE | PERF_SAMPLE_CPU;
	u16 size;
	u8 *cut;

	begin(CUT, 0);
	same(parse(sizeof(*head) - 1), (u64)-EINVAL);
	same(hybrid_walked_time(BASE, made), 0);
	/* With what pads it the record has room for so much, and for no more. */
	same(parse_as(BASE, sizeof(*head), sizeof(*head) + 4), 0);
	same(parse_as(BASE, sizeof(*head), sizeof(*head) + 5), (u64)-EINVAL);
	same(hybrid_walked_time(BASE, made), 0);
	same(parse_as(BASE, sizeof(*head), ~0U), (u64)-EINVAL);
	/* Cut off anywhere. */
	for (; type >= BASE; type = type == BASE ? 0 : BASE) {
		same(parse_as(type, sizeof(*head), sizeof(*head)), 0);
		for (size = sizeof(*made) + 8; size < made->size; size += 8) {
			cut = malloc(size);
			memcpy(cut, made, size);
			((struct perf_event_header *)cut)->size = size;
			same(hybrid_walked_parse(type, (void *)cut, &walked), (u64)-EINVAL);
			same(hybrid_walked_time(type, (void *)cut), 0);
			free(cut);
		}
	}
}

static void walks(void)
{
	unsigned int nr_user, nr_kernel, nr;
	u32 size, frames_at;

	for (nr_user = 1; nr_user <= 3; nr_user++) {
		for (nr_kernel = 0; nr_kernel <= 2; nr_kernel++) {
			begin(WHOLE | (nr_user - 1) << 16, nr_kernel);
			size = sizeof(*head) + (nr_user + nr_kernel) * 8;
			same(parse(size), 0);
			same(parse(size - 1), (u64)-EINVAL);
			for (nr = 0; nr <= 2; nr++) {
				head->nr_parts = 0;
				frames_at = put_part(size, HYBRID_WALK_PART_FRAMES, 0, nr);
				same(parse(frames_at - 1), (u64)-EINVAL);
				same(parse(frames_at), 0);
				same(walked.head.nr_user, nr_user);
				same(walked.head.nr_kernel, nr_kernel);
				same(walked.nr_frames, nr);
				same(walked.frames - walked.ips,
				     (nr_user + nr_kernel) * 8 + sizeof(struct hybrid_walk_part));
				same(walked.code_hash, 0xc0de);
				check(hybrid_walked_is_sample(&walked));
				check(!walked.dump && !walked.text && !walked.functions.nr);
			}
		}
	}
	/* A walk that did not come to the outermost frame has what the kernel has made. */
	begin(CUT | 5 << 16, 2);
	same(parse(sizeof(*head) + 7 * 8), 0);
	same(walked.head.nr_user, 0);
	same(walked.head.nr_kernel, 2);
	same(walked.nr_frames | walked.functions.nr, 0);
	check(!walked.dump && !walked.room_ends && !walked.text && !walked.frames);
	same(walked.code_hash | walked.language | walked.space | walked.holes, 0);
	check(hybrid_walked_is_sample(&walked));
	begin(CUT, 0);
	same(parse(sizeof(*head)), 0);
	check(!hybrid_walked_is_sample(&walked));
}

/* Which numbers of entries go with which kinds. */
static void kinds(void)
{
	unsigned int kind;

	for (kind = 0; kind <= HYBRID_WALK_RECORD_TEXT + 1; kind++) {
		const bool is_sample = kind == HYBRID_WALK_RECORD_SAMPLE;
		const bool is_alone = kind == HYBRID_WALK_RECORD_NOTE ||
				      kind == HYBRID_WALK_RECORD_FUNCTIONS;
		const bool is_text = kind == HYBRID_WALK_RECORD_TEXT;

		begin_kind(kind, CUT);
		same(parse(sizeof(*head) + 16), is_alone || is_text ? 0 : (u64)-EINVAL);
		head->nr_kernel = 1;
		same(parse(sizeof(*head) + 16), is_sample || is_text ? 0 : (u64)-EINVAL);
		check(!is_sample || hybrid_walked_is_sample(&walked));
		/* Whose walk has frames came to the outermost one, and the other way round. */
		head->nr_user = 1;
		same(parse(sizeof(*head) + 16), is_text ? 0 : (u64)-EINVAL);
		head->info = WHOLE;
		same(parse(sizeof(*head) + 16), is_sample || is_text ? 0 : (u64)-EINVAL);
		head->nr_user = 0;
		same(parse(sizeof(*head) + 16), is_text ? 0 : (u64)-EINVAL);
	}
}

static void most_frames(void)
{
	/* All of them there, so that it is the number that counts. */
	const u32 size = sizeof(*head) + (HYBRID_WALK_IPS + 2) * 8;

	begin(WHOLE | (HYBRID_WALK_IPS - 1) << 16, 0);
	same(parse(size), 0);
	same(walked.head.nr_user, HYBRID_WALK_IPS);
	begin(WHOLE | (HYBRID_WALK_IPS - 1) << 16, 1);
	same(parse(size), (u64)-EINVAL);
	begin(WHOLE | HYBRID_WALK_IPS << 16, 0);
	same(parse(size), (u64)-EINVAL);
	begin(WHOLE | (HYBRID_WALK_IPS - 2) << 16, 1);
	same(parse(size), 0);
}

static void texts(void)
{
	begin_kind(HYBRID_WALK_RECORD_TEXT, 0);
	same(parse(sizeof(*head) + 21), 0);
	same(walked.text_size, sizeof(*head) + 21);
	check(walked.text && !memcmp(walked.text, raw, sizeof(*head)));
	check(!hybrid_walked_is_sample(&walked) && !walked.dump);
	same(walked.nr_frames | walked.functions.nr, 0);
}

static void expect_language(unsigned int i, enum hybrid_language language, u32 nr, u32 at)
{
	const struct hybrid_functions *of = &walked.functions.of[i];

	same(of->language, language);
	same(of->nr, nr);
	same(of->are_whole, language == HYBRID_LANGUAGE_PERL);
	same((const u8 *)of->words - walked.ips, at - sizeof(*head));
}

/* Functions alone, or behind a chain; of one language, or of several. */
static void interpreters(void)
{
	const u32 part = sizeof(struct hybrid_walk_part);
	u32 alone, first, second, third, end;

	for (alone = 0; alone < 2; alone++) {
		if (alone)
			begin_kind(HYBRID_WALK_RECORD_FUNCTIONS, CUT);
		else
			begin(WHOLE, 1);
		first = sizeof(*head) + (alone ? 0 : 16);
		second = put_part(first, HYBRID_WALK_PART_LANGUAGE, HYBRID_LANGUAGE_PERL, 2);
		same(parse(second), 0);
		same(walked.functions.nr, 1);
		expect_language(0, HYBRID_LANGUAGE_PERL, 2, first + part);
		third = put_part(second, HYBRID_WALK_PART_FRAMES, 0, 1);
		end = put_part(third, HYBRID_WALK_PART_LANGUAGE, HYBRID_LANGUAGE_PYTHON, 3);
		same(parse(end), 0);
		same(walked.functions.nr, 2);
		expect_language(0, HYBRID_LANGUAGE_PERL, 2, first + part);
		expect_language(1, HYBRID_LANGUAGE_PYTHON, 3, third + part);
		same(walked.nr_frames, 1);
		same(hybrid_walked_is_sample(&walked), !alone);
		for (end--; end >= third; end--)
			same(parse(end), (u64)-EINVAL);
	}
}

/* Parts that are left out: of nothing, of no language, of one that was before, of a fifth. */
static void other_parts(void)
{
	static const struct {
		u16	kind, language, nr;
	} parts[] = {
		{ HYBRID_WALK_PART_LANGUAGE, HYBRID_LANGUAGE_RUBY, 0 },
		{ HYBRID_WALK_PART_LANGUAGE, HYBRID_NO_LANGUAGE, 1 },
		{ HYBRID_WALK_PART_LANGUAGE, HYBRID_NR_LANGUAGES, 1 },
		{ HYBRID_WALK_PART_LANGUAGE, 0xffff, 1 },
		{ HYBRID_WALK_PART_LANGUAGE + 1, HYBRID_LANGUAGE_RUBY, 1 },
		{ HYBRID_WALK_PART_LANGUAGE, HYBRID_LANGUAGE_PERL, 1 },
		{ HYBRID_WALK_PART_LANGUAGE, HYBRID_LANGUAGE_PERL, 2 },
		{ HYBRID_WALK_PART_LANGUAGE, HYBRID_NR_LANGUAGES - 1, 1 },
	};
	u32 at = sizeof(*head), i;

	begin_kind(HYBRID_WALK_RECORD_FUNCTIONS, CUT);
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		at = put_part(at, parts[i].kind, parts[i].language, parts[i].nr);
	same(parse(at), 0);
	same(walked.functions.nr, 2);
	same(walked.functions.of[0].nr, 1);
	same(walked.functions.of[1].language, HYBRID_NR_LANGUAGES - 1);
	begin_kind(HYBRID_WALK_RECORD_FUNCTIONS, CUT);
	at = sizeof(*head);
	for (i = 1; i <= HYBRID_SAMPLE_LANGUAGES + 1; i++)
		at = put_part(at, HYBRID_WALK_PART_LANGUAGE, i, 1);
	same(parse(at), 0);
	same(walked.functions.nr, HYBRID_SAMPLE_LANGUAGES);
	same(walked.functions.of[HYBRID_SAMPLE_LANGUAGES - 1].language, HYBRID_SAMPLE_LANGUAGES);
}

/* Of all languages together: there is no room for more where they are kept. */
static void most_functions(void)
{
	const u16 most = HYBRID_WALK_FUNCTIONS;
	u32 at;

	begin_kind(HYBRID_WALK_RECORD_FUNCTIONS, CUT);
	at = put_part(sizeof(*head), HYBRID_WALK_PART_LANGUAGE, HYBRID_LANGUAGE_PERL, most - 1);
	at = put_part(at, HYBRID_WALK_PART_LANGUAGE, HYBRID_LANGUAGE_PHP, 1);
	same(parse(at), 0);
	same(hybrid_sample_functions__size(&walked.functions), most * 16);
	at = put_part(at, HYBRID_WALK_PART_LANGUAGE, HYBRID_LANGUAGE_RUBY, 1);
	same(parse(at), (u64)-EINVAL);
	begin_kind(HYBRID_WALK_RECORD_FUNCTIONS, CUT);
	at = put_part(sizeof(*head), HYBRID_WALK_PART_LANGUAGE, HYBRID_LANGUAGE_PERL, most + 1);
	same(parse(at), (u64)-EINVAL);
	/* More parts than there are bytes. */
	begin_kind(HYBRID_WALK_RECORD_FUNCTIONS, CUT);
	head->nr_parts = 0xffff;
	same(parse(sizeof(raw) / 2), (u64)-EINVAL);
}

static void begin_dump(u32 nr, u32 room, u32 size)
{
	unsigned int i;

	begin_kind(HYBRID_WALK_RECORD_DUMP, CUT);
	head->nr_kernel = nr;
	for (i = 0; i < ARRAY_SIZE(dump->ips); i++)
		dump->ips[i] = 0xffffffff81000000 + i;
	for (i = 0; i < ARRAY_SIZE(dump->regs); i++)
		dump->regs[i] = 0x100 + i;
	dump->room = room;
	dump->size = size;
	dump->holes = 6;
	dump->space = 0x5face;
	memset(dump->stack, 0x5a, 256);
}

static void dumps(void)
{
	begin_dump(3, 64, 32);
	dump->room_ends = 1;
	same(parse(STACK_AT + 32), 0);
	same(walked.head.nr_kernel, 3);
	same(walked.head.nr_user, 0);
	same(walked.stack_room, 64);
	same(walked.stack_size, 32);
	same(walked.holes, 6);
	same(walked.space, 0x5face);
	check(walked.room_ends && walked.dump && hybrid_walked_is_sample(&walked));
	check(!memcmp(walked.ips, dump->ips, sizeof(dump->ips)));
	same(hybrid_walked_sp(&walked), 0x100 + 19);
	check(!walked.text && !walked.functions.nr);
	same(walked.code_hash | walked.language | walked.nr_frames, 0);
	/* Of a sleep: the user's part of a chain. */
	head->id = 0;
	head->nr_user = 3;
	head->nr_kernel = 0;
	dump->room_ends = 0;
	same(parse(STACK_AT + 32), 0);
	same(walked.head.nr_user, 3);
	same(walked.head.nr_kernel, 0);
	check(!walked.room_ends);
}

/* The code around the address at which a walk ended, as much as there may be. */
static void codes(void)
{
	static const u64 sizes[] = { 0, 1, HYBRID_SEEN_CODE, HYBRID_SEEN_CODE + 1, ~0ULL };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		begin_dump(0, 0, 0);
		dump->code_ip = 0x1234;
		dump->code_start = 0x1200;
		dump->code_size = sizes[i];
		dump->code[0] = 0xc3;
		same(parse(STACK_AT), 0);
		same(walked.code.ip, 0x1234);
		same(walked.code.start, 0x1200);
		same(walked.code.size, sizes[i] <= HYBRID_SEEN_CODE ? sizes[i] : 0);
		same(walked.code.bytes[0], 0xc3);
	}
	begin(CUT, 0);
	same(parse(sizeof(*head)), 0);
	same(walked.code.size, 0);
}

static void dump_bounds(void)
{
	static const struct {
		u32	nr, room, size, there;
		bool	holds;
	} cases[] = {
		{ 0, 0, 0, 0, true }, { HYBRID_WALK_DUMP_IPS, 8, 8, 8, true },
		{ HYBRID_WALK_DUMP_IPS + 1, 8, 8, 8, false },
		{ 1, HYBRID_WALK_STACK, 8, 8, true }, { 1, HYBRID_WALK_STACK + 8, 8, 8, false },
		{ 1, HYBRID_WALK_STACK, HYBRID_WALK_STACK, HYBRID_WALK_STACK, true },
		{ 1, 16, 16, 16, true }, { 1, 16, 24, 24, false }, { 1, 20, 16, 16, false },
		{ 1, 24, 20, 24, false }, { 1, 16, 16, 15, false }, { 1, 16, 8, 8, true },
		{ 1, 16, 8, 7, false },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		u64 want = -EINVAL;

		if (cases[i].holds)
			want = 0;
		begin_dump(cases[i].nr, cases[i].room, cases[i].size);
		same(parse(STACK_AT + cases[i].there), want);
	}
	begin_dump(0, 0, 0);
	same(parse(STACK_AT - 1), (u64)-EINVAL);
	/* Who walked to the outermost frame needs none. */
	begin_dump(1, 8, 8);
	head->info = WHOLE;
	same(parse(STACK_AT + 8), (u64)-EINVAL);
	/* The bound is of both together. */
	begin_dump(HYBRID_WALK_DUMP_IPS, 8, 8);
	head->nr_user = 1;
	same(parse(STACK_AT + 8), (u64)-EINVAL);
}

static u64 out[65536 / 8];
static u64 want[65536 / 8];
static unsigned int nr_want;

static void add(u64 word)
{
	want[nr_want++] = word;
}

static const struct {
	u64	bit, word;
} words[] = {
	{ PERF_SAMPLE_IDENTIFIER, 22 }, { PERF_SAMPLE_IP, 0x1111 }, { PERF_SAMPLE_TID, IDS },
	{ PERF_SAMPLE_TIME, 999 }, { PERF_SAMPLE_ADDR, 0x4444 }, { PERF_SAMPLE_ID, 22 },
	{ PERF_SAMPLE_CPU, 3 }, { PERF_SAMPLE_PERIOD, 333 },
};

static void add_head(u64 type)
{
	unsigned int i;

	nr_want = 1;
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		if (type & words[i].bit)
			add(words[i].word);
	}
}

/* What is read of the record at once is what who reads the kernel's samples finds in @out. */
static void expect_same_parts(u64 type, u64 regs)
{
	const struct hybrid_layout layout = {
		.attr.sample_type = type | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
				    PERF_SAMPLE_STACK_USER,
		.attr.sample_regs_user = regs,
	};
	u64 head_words[HYBRID_WALKED_HEAD], values[HYBRID_WALKED_REGS];
	static u64 ips[HYBRID_WALKED_IPS], ended[65536 / 8];
	struct hybrid_sample_parts parts, at_once;
	struct hybrid_kernel_chain chain, copy;
	u64 abi = PERF_SAMPLE_REGS_ABI_NONE;

	same(hybrid_layout_parse(&layout, (void *)out, &parts), 0);
	hybrid_walked_head(&walked, type, head_words, &at_once);
	same(at_once.chain_at, parts.chain_at);
	check(!memcmp(head_words + 1, out + 1, parts.chain_at - 8));
	same(at_once.event->misc, parts.event->misc);
	if (type & PERF_SAMPLE_IP)
		same(at_once.ip, parts.ip);
	if (type & PERF_SAMPLE_TID)
		check(at_once.pid == parts.pid && at_once.tid == parts.tid);
	if (type & PERF_SAMPLE_TIME)
		same(at_once.time, parts.time);
	/* A sample without a chain: the file's is made of it. */
	same(hybrid_layout_room(&layout, &at_once),
	     (HYBRID_MAX_RECORD - at_once.chain_at - 8) / 8);
	same(hybrid_layout_write(&layout, &at_once, parts.chain, parts.nr_chain, ended),
	     parts.regs_at);
	check(!memcmp(ended + 1, out + 1, parts.regs_at - 8));
	hybrid_kernel_chain_parse(parts.chain, parts.nr_chain, &chain);
	hybrid_walked_chain(&walked, ips, &copy);
	same(copy.nr_kernel, chain.nr_kernel);
	same(copy.nr_user, chain.nr_user);
	same(copy.is_walked, chain.is_walked);
	same(copy.has_user, chain.has_user);
	same(copy.info, chain.info);
	check(!memcmp(copy.kernel, chain.kernel, chain.nr_kernel * 8));
	check(!chain.nr_user || !memcmp(copy.user, chain.user, chain.nr_user * 8));
	same(walked.stack_size, parts.stack_size);
	same(walked.stack_room, parts.stack_room);
	if (walked.dump)
		abi = hybrid_walked_regs(&walked, regs, values);
	same(abi, parts.regs_abi);
	check(!parts.regs || !memcmp(values, parts.regs, __builtin_popcountll(regs) * 8));
	check(!parts.stack_size || !memcmp(hybrid_walked_stack(&walked), parts.stack,
					   parts.stack_size));
}

static void expect(u64 type, u64 regs)
{
	const struct perf_event_header header = {
		.type = PERF_RECORD_SAMPLE, .misc = 2, .size = nr_want * 8,
	};

	memcpy(want, &header, sizeof(header));
	memset(out, 0xee, sizeof(out));
	hybrid_walked_sample(&walked, type, regs, (void *)out);
	check(!memcmp(out, want, nr_want * 8));
	same(out[nr_want], 0xeeeeeeeeeeeeeeee);
	expect_same_parts(type, regs);
}

/* Each of the words that an event may ask for, alone and with all others. */
static void samples_of_walks(void)
{
	unsigned int set, i, nr_kernel;
	u64 type;

	for (set = 0; set < 1 << ARRAY_SIZE(words); set++) {
		for (type = 0, i = 0; i < ARRAY_SIZE(words); i++)
			type |= set >> i & 1 ? words[i].bit : 0;
		nr_kernel = set % 3;
		begin(WHOLE | 1 << 16, nr_kernel);
		for (i = 0; i < nr_kernel + 2; i++)
			record->ips[i] = 0xa0 + i;
		same(parse_as(BASE | PERF_SAMPLE_CPU, sizeof(*head) + (nr_kernel + 2) * 8,
			      sizeof(*head) + (nr_kernel + 2) * 8), 0);
		add_head(type);
		add(nr_kernel + 3 + 2);
		for (i = 0; i < nr_kernel; i++)
			add(0xa0 + i);
		add(PERF_CONTEXT_USER_RULES);
		add(head->info);
		add(PERF_CONTEXT_USER);
		add(0xa0 + nr_kernel);
		add(0xa0 + nr_kernel + 1);
		add(PERF_SAMPLE_REGS_ABI_NONE);
		add(0);
		expect(type, 0);
	}
	/* No user part: the kernel's alone. */
	begin(CUT, 1);
	record->ips[0] = 0xa0;
	same(parse(sizeof(*head) + 8), 0);
	add_head(0);
	add(1);
	add(0xa0);
	add(PERF_SAMPLE_REGS_ABI_NONE);
	add(0);
	expect(0, 0);
}

/* Words of struct pt_regs, in the order of perf's numbers. */
static const u8 places[] = {
	10, 5, 11, 12, 13, 14, 4, 19, 16, 18, 17, 20, 0, 0, 0, 0, 9, 8, 7, 6, 3, 2, 1, 0,
};

static void add_dump(u64 abi, u64 regs, u32 room, u32 size)
{
	unsigned int i;

	add(abi);
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		if (regs >> i & 1)
			add(dump->regs[places[i]]);
	}
	add(room);
	for (i = 0; i < room; i += 8)
		add(i < size ? 0x5a5a5a5a5a5a5a5a : 0);
	if (room)
		add(size);
}

/* The registers are of what comes behind the kernel's part, wherever that ends. */
static void samples_of_dumps(void)
{
	u32 nr = 4, at, i;
	unsigned int bit;

	for (at = 0; at <= nr; at++) {
		begin_dump(nr, 64, at * 8);
		if (at < nr)
			dump->ips[at] = PERF_CONTEXT_USER;
		same(parse(STACK_AT + at * 8), 0);
		add_head(0);
		add(nr + 2);
		for (i = 0; i <= nr; i++) {
			if (i == at) {
				add(PERF_CONTEXT_USER_RULES);
				add(head->info);
			}
			if (i < nr)
				add(dump->ips[i]);
		}
		add_dump(PERF_SAMPLE_REGS_ABI_64, HYBRID_BPF_REGS, 64, at * 8);
		expect(0, HYBRID_BPF_REGS);
	}
	/* Each register alone; no room for a stack. */
	for (bit = 0; bit < 24; bit++) {
		if (!(HYBRID_BPF_ALL_REGS >> bit & 1))
			continue;
		begin_dump(0, 0, 0);
		/* Above its 16 bits a segment's word has anything. */
		dump->regs[17] = bit % 2 ? 0xabcd0023 : 0x10033;
		same(parse(STACK_AT), 0);
		add_head(0);
		add(2);
		add(PERF_CONTEXT_USER_RULES);
		add(head->info);
		add_dump(bit % 2 ? PERF_SAMPLE_REGS_ABI_32 : PERF_SAMPLE_REGS_ABI_64,
			 1ULL << bit, 0, 0);
		expect(0, 1ULL << bit);
	}
	/* Of a sleep. */
	begin_dump(0, 8, 8);
	head->id = 0;
	head->nr_user = 1;
	same(parse(STACK_AT + 8), 0);
	add_head(0);
	add(4);
	add(PERF_CONTEXT_USER_RULES);
	add(head->info);
	add(PERF_CONTEXT_USER);
	add(dump->ips[0]);
	add_dump(PERF_SAMPLE_REGS_ABI_64, 0, 8, 8);
	expect(0, 0);
}

static bool is_in_hole(u32 mask, u32 at)
{
	return mask >> at / HYBRID_WALK_PAGE & 1;
}

static void holes(void)
{
	static const u32 masks[] = { 0, 1, 2, 4, 6, 0x8000, 0xc000 };
	unsigned int i, in_page;
	u32 size, end;

	for (i = 0; i < ARRAY_SIZE(masks); i++) {
		for (in_page = 0; in_page < HYBRID_WALK_PAGE; in_page += 1365) {
			for (size = 0; size <= 4 * HYBRID_WALK_PAGE; size += 2048) {
				begin_dump(0, 4 * HYBRID_WALK_PAGE, size);
				dump->holes = masks[i];
				dump->regs[19] = 0x7ffc00000000 + in_page;
				same(parse(STACK_AT + size), 0);
				hybrid_walked_end_at_hole(&walked);
				/* The first page is that of the stack pointer. */
				for (end = 0; end < size && !is_in_hole(masks[i], in_page + end) &&
				     !is_in_hole(masks[i], in_page + end + 7);)
					end += 8;
				same(walked.stack_size, end);
				same(walked.holes, 0);
			}
		}
	}
	/* No dump, no holes. */
	begin(CUT, 1);
	same(parse(sizeof(*head) + 8), 0);
	walked.stack_size = 80;
	walked.holes = 1;
	hybrid_walked_end_at_hole(&walked);
	same(walked.stack_size, 80);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "walk-record: whose it is, and when it was written", task_and_time },
		{ "walk-record: sizes", sizes },
		{ "walk-record: walks", walks },
		{ "walk-record: kinds", kinds },
		{ "walk-record: as many frames as there may be", most_frames },
		{ "walk-record: texts of functions", texts },
		{ "walk-record: functions of interpreters", interpreters },
		{ "walk-record: parts that are left out", other_parts },
		{ "walk-record: as many functions as there may be", most_functions },
		{ "walk-record: dumps", dumps },
		{ "walk-record: code of dumps", codes },
		{ "walk-record: bounds of dumps", dump_bounds },
		{ "walk-record: samples of walks", samples_of_walks },
		{ "walk-record: samples of dumps", samples_of_dumps },
		{ "walk-record: dumps end at their first hole", holes },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
