// SPDX-License-Identifier: GPL-2.0
/*
 * V8's compiled code: what was inlined; the process is the test's own.
 */
#include <string.h>
#include "../hybrid/bpf_skel/hybrid_interpreter.h"
#include "own-memory.h"
#include "tap.h"
#include "../hybrid/rules/clock.h"
#include "v8-inlined.h"
#include "v8-nearest.h"

/* Types, as of V8 12.4, and kinds of code. */
#define ARRAY		174
#define CODE		206
#define STREAM		210
#define BYTES		212
#define SHARED		262
#define BASELINE	10
#define MAGLEV		11
#define TURBOFAN	12

#define TAG(object)	((u64)(object) + V8_TAG)
#define SMI(number)	((u64)(number) << 32)

static struct v8_addresses addresses;
static u64 maps[512][2];

static const struct v8_layout layout = {
	.version = 12 << 8 | 4, .type_shared = SHARED, .type_code = CODE, .type_stream = STREAM,
	.map_instance_type = 12, .function_shared = 8, .shared_data = 8,
	.array_length = 8, .array_data = 16,
	.code_kind_baseline = BASELINE, .code_deopt = 8, .code_flags = 48, .code_size = 52,
	.stream_start = 32, .deopt_literals = 2, .deopt_inlining = 7,
};

static struct v8_heap heap = { .pm = &own.pm, .layout = &layout };

/*
 * Of version 12: a function at its bytecode 3, in which another one is at 10; and, with the first
 * frame as there, a third one at 12.
 */
static const u8 two[] = {
	12, 0, 4, 4, 1, 6, 0, 0, 35, 2, 1, 20, 2, 0, 32,
	12, 15, 4, 4, 42, 1, 24, 4, 0, 32,
};

#define SECOND	15

static void translation(void)
{
	/* Of version 10: one function at its bytecode 3. */
	static const u8 old[] = { 6, 2, 2, 0, 36, 6, 0, 0, 0, 0 };
	struct v8_translation t = { .bytes = two, .size = sizeof(two) };
	struct v8_translated frames[4];

	check(v8_translation__choose(&t, layout.version));
	same(v8_translation__frames(&t, 0, frames, 4), 2);
	same(frames[0].literal, 0);
	same(frames[0].bytecode, 3);
	same(frames[1].literal, 1);
	same(frames[1].bytecode, 10);
	same(v8_translation__frames(&t, SECOND, frames, 4), 2);
	same(frames[0].literal, 0);
	same(frames[0].bytecode, 3);
	same(frames[1].literal, 2);
	same(frames[1].bytecode, 12);
	/* No room; none begins there. */
	same(v8_translation__frames(&t, 0, frames, 1), 0);
	same(v8_translation__frames(&t, 4, frames, 4), 0);
	same(v8_translation__frames(&t, sizeof(two), frames, 4), 0);
	/* Another version's: the opcodes tell. */
	check(v8_translation__choose(&t, 13 << 8 | 6));
	same(v8_translation__frames(&t, SECOND, frames, 4), 2);
	t = (struct v8_translation) { .bytes = old, .size = sizeof(old) };
	check(v8_translation__choose(&t, 12 << 8));
	same(v8_translation__frames(&t, 0, frames, 4), 1);
	same(frames[0].bytecode, 3);
	/* Cut off. */
	t.size--;
	check(!v8_translation__choose(&t, 12 << 8));
}

/* A number has at most five bytes: @nr more than one, which add nothing. */
static bool is_translated(unsigned int nr)
{
	u8 bytes[sizeof(two) + 8];
	struct v8_translation t = { .bytes = bytes, .size = sizeof(two) + nr };
	struct v8_translated frames[4];

	memcpy(bytes, two, SECOND + 1);
	memset(bytes + SECOND + 1, 0x80, nr);
	bytes[SECOND + 1 + nr] = 0;
	bytes[SECOND + 1] |= two[SECOND + 1];
	memcpy(bytes + SECOND + 2 + nr, two + SECOND + 2, sizeof(two) - SECOND - 2);
	return v8_translation__choose(&t, layout.version) &&
	       v8_translation__frames(&t, SECOND, frames, 4) == 2 && frames[1].bytecode == 12;
}

static void long_numbers(void)
{
	unsigned int nr;

	for (nr = 0; nr < 8; nr++)
		same(is_translated(nr), nr <= 4);
}

static void random_translation(void)
{
	struct v8_translated frames[4];
	struct v8_translation t;
	u8 bytes[sizeof(two)];
	unsigned int round;

	for (round = 0; round < 50000; round++) {
		memcpy(bytes, two, sizeof(two));
		bytes[tap_random() % sizeof(bytes)] = tap_random();
		bytes[tap_random() % sizeof(bytes)] = tap_random();
		t = (struct v8_translation) { .bytes = bytes, .size = sizeof(bytes) };
		if (v8_translation__choose(&t, layout.version))
			check(v8_translation__frames(&t, tap_random() % sizeof(bytes), frames,
						     4) <= 4);
	}
}

static const struct v8_exits exits = { .start = 100, .nr_eager = 1, .nr = 3 };

/* Two calls: one returns to 16 and has the exit 1, the other to 69, and has the exit 2. */
static const u8 table[] = { 2, 0, 0, 0, 0x91, 0, 0, 0, 16, 2, 105, 69, 3, 109 };

static void check_points(const u8 *bytes, u32 size, bool is_maglev, bool is_new)
{
	const struct v8_safepoints safepoints = {
		.bytes = bytes, .size = size, .is_maglev = is_maglev, .is_new = is_new,
	};
	struct v8_points points = {};

	check(v8_points__read(&points, &safepoints, &exits, 200));
	same(points.nr, 4);
	same(v8_points__return(&points, 16), 1);
	same(v8_points__return(&points, 69), 2);
	/* Where calls return to when the code is no longer valid. */
	same(v8_points__return(&points, 104), 1);
	check(v8_points__return(&points, 17) < 0);
	same(v8_points__nearest(&points, 0), 1);
	same(v8_points__nearest(&points, 60), 2);
	same(v8_points__nearest(&points, 199), 2);
	v8_points__free(&points);
}

static void points(void)
{
	static const u8 newer[] = { 8, 0, 0, 0, 2, 0, 0, 0, 0x91, 0, 0, 0,
				    16, 2, 105, 69, 3, 109 };
	static const u8 maglev[] = { 2, 0, 0, 0, 0x91, 0, 0, 0, 7, 0, 0, 0, 7, 0, 0, 0,
				     16, 2, 105, 0, 69, 3, 109, 0 };
	struct v8_safepoints safepoints = { .bytes = table, .size = sizeof(table) - 1 };
	struct v8_points none = {};

	check_points(table, sizeof(table), false, false);
	check_points(newer, sizeof(newer), false, true);
	check_points(maglev, sizeof(maglev), true, false);
	/* Newer than it was taken to be. */
	check_points(newer, sizeof(newer), false, false);
	check(!v8_points__read(&none, &safepoints, &exits, 200));
	v8_points__free(&none);
	same(v8_exits__at(&exits, 100), 0);
	check(v8_exits__at(&exits, 99) < 0 && v8_exits__at(&exits, 101) < 0);
	check(v8_exits__at(&exits, 104) < 0);
	check(v8_points__nearest(&none, 5) < 0);
}

/* A loop from 0 to 18 that V8 may interrupt by the call at 64; then a check that may fail. */
static const u8 loop[128] = {
	0x49, 0x3b, 0x65, 0x20, 0x0f, 0x86, 54, 0, 0, 0, 0x48, 0xff, 0xc0, 0x48, 0x39, 0xc8,
	0x7c, 0xee, 0x0f, 0x85, 76, 0, 0, 0, 0xc3, 0xcc, 0xcc,
	[64] = 0xe8, 0, 0, 0, 0, 0xe9, 0xc0, 0xff, 0xff, 0xff,
};

static void nearest(void)
{
	static struct v8_point call = { .at = 69, .exit = 2 };
	struct v8_code code = {
		.instructions = (u8 *)loop, .size = sizeof(loop), .exits = exits,
		.points = { .list = &call, .nr = 1 },
	};

	same(v8_nearest(&code, 10), 2);
	same(v8_nearest(&code, 13), 2);
	same(v8_nearest(&code, 0), 2);
	/* Behind the loop. */
	same(v8_nearest(&code, 18), 0);
	check(v8_nearest(&code, 24) < 0);
	check(v8_nearest(&code, 1000) < 0);
}

/* A piece of code, and the objects that belong to it. */
struct world {
	u64	stream[4];
	u8	instructions[128];
	u8	table[64];
	u64	code[16];
	u64	deopt[2 + 11 + 3 * 3];
	u64	translation[8];
	u64	literals[8];
	u64	shared[3][2];
};

static union {
	struct world	w;
	u8		bytes[2048];
} memory __aligned(64);

/* Its instructions begin at a multiple of 64. */
#define world	((struct world *)(memory.bytes + 32))

static void set_type(u64 *object, u16 type)
{
	maps[type][1] = (u64)type << 32;
	object[0] = TAG(maps[type]);
}

static void set_deopt(void)
{
	u64 *words = world->deopt + 2;
	unsigned int i;

	set_type(world->deopt, ARRAY);
	world->deopt[1] = SMI(11 + 3 * 3);
	words[0] = TAG(world->translation);
	words[2] = TAG(world->literals);
	words[6] = TAG(world->shared[0]);
	words[8] = SMI(exits.start);
	words[9] = SMI(exits.nr_eager);
	words[10] = SMI(exits.nr - exits.nr_eager);
	/* The exit 2 has the second description. */
	for (i = 0; i < exits.nr; i++)
		words[11 + 3 * i + 1] = SMI(i == 2 ? SECOND : 0);
	set_type(world->translation, BYTES);
	world->translation[1] = SMI(sizeof(two));
	memcpy(world->translation + 2, two, sizeof(two));
	set_type(world->literals, ARRAY);
	world->literals[1] = SMI(3);
	for (i = 0; i < 3; i++) {
		set_type(world->shared[i], SHARED);
		world->literals[2 + i] = TAG(world->shared[i]);
	}
	/* One that may be collected. */
	world->literals[3] |= 2;
}

static void set_world(unsigned int kind)
{
	u32 sizes[3] = { kind, sizeof(loop), sizeof(table) };

	hybrid_memory_forget(own.memory);
	memset(&memory, 0, sizeof(memory));
	set_type(world->stream, STREAM);
	world->stream[1] = TAG(world->code);
	memcpy(world->instructions, loop, sizeof(loop));
	memcpy(world->table, table, sizeof(table));
	set_type(world->code, CODE);
	world->code[1] = TAG(world->deopt);
	memcpy((u8 *)world->code + layout.code_flags, sizes, sizeof(sizes));
	set_deopt();
}

static const struct v8_address *find(u32 at, bool is_innermost)
{
	return v8_addresses__find(&addresses, &heap, (u64)&memory, (u64)world->instructions + at,
				  is_innermost);
}

static void check_address(const struct v8_address *address, unsigned int inner, u32 place)
{
	if (!check(address && address->nr == 2))
		return;
	same(address->list[1].shared, (u64)world->shared[0]);
	same(address->list[1].place, 3);
	same(address->list[0].shared, (u64)world->shared[inner]);
	same(address->list[0].place, place);
	same(address->shared, (u64)world->shared[0]);
	check(!address->is_interpreter);
}

static void inlined(void)
{
	const struct v8_address *address;

	own_begin();
	memset(&addresses, 0, sizeof(addresses));
	set_world(TURBOFAN);
	check_address(find(16, false), 1, 10);
	check_address(find(69, false), 2, 12);
	check_address(find(13, true), 2, 12);
	check_address(find(18, true), 1, 10);
	/* Once more, as it is known. */
	check_address(find(69, false), 2, 12);
	check(!find(sizeof(loop) + 64, false));
	v8_addresses__exit(&addresses);
	/* Code that is not optimised. */
	set_world(BASELINE);
	address = find(16, false);
	check(address && !address->nr && !address->is_interpreter && !address->shared);
	v8_addresses__exit(&addresses);
	set_world(BASELINE - 1);
	address = find(16, false);
	check(address && !address->nr && address->is_interpreter);
	v8_addresses__exit(&addresses);
	own_end();
}

/* The function of optimised code, of which the code may have only a wrapper, or nothing. */
static void function_of_code(void)
{
	const struct v8_address *address;
	static u64 wrapper[2];

	own_begin();
	memset(&addresses, 0, sizeof(addresses));
	set_world(MAGLEV);
	set_type(wrapper, CODE + 1);
	wrapper[1] = TAG(world->shared[2]);
	world->deopt[2 + 6] = TAG(wrapper);
	/* The prologue; nothing else in the code is described. */
	world->translation[1] = SMI(0);
	address = find(0, true);
	check(address && !address->nr && address->shared == (u64)world->shared[2]);
	v8_addresses__exit(&addresses);
	set_world(MAGLEV);
	wrapper[1] = TAG(wrapper);
	world->deopt[2 + 6] = TAG(wrapper);
	address = find(0, true);
	check(address && !address->shared);
	v8_addresses__exit(&addresses);
	set_world(MAGLEV);
	world->deopt[2 + 6] = SMI(3);
	address = find(0, true);
	check(address && !address->shared);
	v8_addresses__exit(&addresses);
	own_end();
}

/* A register may hold the function of code that the baseline compiler has made, or anything. */
static void function_in_register(void)
{
	static u64 function[2], wrapper[2], other[2];
	const struct v8_address *address;
	const struct v8_code *code;

	own_begin();
	memset(&addresses, 0, sizeof(addresses));
	set_world(BASELINE);
	set_type(function, SHARED + 1);
	set_type(wrapper, CODE + 1);
	set_type(other, CODE);
	function[1] = TAG(world->shared[0]);
	wrapper[1] = TAG(world->code);
	world->shared[0][1] = TAG(world->code);
	address = find(0, true);
	if (!check(address))
		return;
	code = &addresses.codes.known[address->code];
	same(v8_code__shared(code, &heap, TAG(function)), (u64)world->shared[0]);
	/* In versions before 11 an object is between. */
	hybrid_memory_forget(own.memory);
	world->shared[0][1] = TAG(wrapper);
	same(v8_code__shared(code, &heap, TAG(function)), (u64)world->shared[0]);
	/* Another code; none; objects in a circle. */
	hybrid_memory_forget(own.memory);
	wrapper[1] = TAG(other);
	same(v8_code__shared(code, &heap, TAG(function)), 0);
	hybrid_memory_forget(own.memory);
	wrapper[1] = TAG(wrapper);
	same(v8_code__shared(code, &heap, TAG(function)), 0);
	/* No function, no object, no memory. */
	function[1] = TAG(wrapper);
	hybrid_memory_forget(own.memory);
	same(v8_code__shared(code, &heap, TAG(function)), 0);
	same(v8_code__shared(code, &heap, SMI(5)), 0);
	same(v8_code__shared(code, &heap, 0x1001), 0);
	v8_addresses__exit(&addresses);
	own_end();
}

/* In a page that was searched for code several times in vain it is not searched for again soon. */
static void missed(void)
{
	u64 page = (u64)world->instructions & ~4095ULL;
	struct v8_missed *known = addresses.codes.missed;
	unsigned int nr, i;

	own_begin();
	memset(&addresses, 0, sizeof(addresses));
	set_world(BASELINE);
	world->stream[0] = 0;
	check(!find(16, false));
	for (i = 0, nr = 0; i < ARRAY_SIZE(addresses.codes.missed); i++)
		nr += known[i].page == page ? known[i].nr : 0;
	same(nr, 1);
	for (nr = 3; nr < 5; nr++) {
		set_world(BASELINE);
		for (i = 0; i < ARRAY_SIZE(addresses.codes.missed); i++)
			known[i] = (struct v8_missed) {
				page, nr, hybrid_clock_ns(CLOCK_MONOTONIC_COARSE) + (1ULL << 40),
			};
		same(!!find(16, false), nr == 3);
		v8_addresses__exit(&addresses);
		memset(&addresses, 0, sizeof(addresses));
	}
	own_end();
}

/* What was read of code holds when its process has ended, but not if other code is there. */
static void process_ended(void)
{
	struct v8_code *code = addresses.codes.known;

	own_begin();
	memset(&addresses, 0, sizeof(addresses));
	set_world(TURBOFAN);
	check_address(find(69, false), 2, 12);
	same(code->stream, (u64)world->stream);
	code->stream = 0x1000;
	code->checked = 0;
	check_address(find(69, false), 2, 12);
	check(v8_code__is_current(code, &heap));
	code->stream = (u64)world->stream;
	code->checked = 0;
	world->stream[1] = TAG(world->deopt);
	hybrid_memory_forget(own.memory);
	check(!v8_code__is_current(code, &heap));
	v8_addresses__exit(&addresses);
	own_end();
}

/* src/objects/code-kind.h */
static void regular_expression(void)
{
	const struct v8_address *address;

	own_begin();
	memset(&addresses, 0, sizeof(addresses));
	set_world(3);
	address = find(16, false);
	check(address && address->is_regexp && !address->shared);
	v8_addresses__exit(&addresses);
	set_world(4);
	address = find(16, false);
	check(address && !address->is_regexp);
	v8_addresses__exit(&addresses);
	own_end();
}

/* Words at random: no more than functions that are wrong. */
static void random_words(void)
{
	u64 *words = (u64 *)world;
	unsigned int round, i;

	own_begin();
	memset(&addresses, 0, sizeof(addresses));
	for (round = 0; round < 5000; round++) {
		set_world(round & 1 ? TURBOFAN : MAGLEV);
		for (i = 0; i < 3; i++)
			words[tap_random() % (sizeof(*world) / 8)] =
				tap_random() & 1 ? SMI(tap_random()) : TAG(world->code);
		find(tap_random() % sizeof(loop), tap_random() & 1);
		v8_addresses__exit(&addresses);
	}
	own_end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "descriptions of frames, of several versions",	translation },
		{ "descriptions with bytes at random",			random_translation },
		{ "V8: long numbers of the same",	long_numbers },
		{ "tables of calls, of several versions",		points },
		{ "from an instruction to the next known place",	nearest },
		{ "functions that were inlined",			inlined },
		{ "the function of code without its frame",		function_of_code },
		{ "objects of code with words at random",		random_words },
		{ "code: a function in a register",		function_in_register },
		{ "code: what is no object of V8's",		missed },
		{ "code: when its process has ended",		process_ended },
		{ "code: of a regular expression",		regular_expression },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
