// SPDX-License-Identifier: GPL-2.0
/*
 * V8's compiled code: what was inlined; the process is the test's own.
 */
#include <string.h>
#include "../hybrid/runtime/walk-interpreter.h"
#include "own-memory.h"
#include "tap.h"
#include "../hybrid/rules/clock.h"
#include "v8-code-world.h"

static struct v8_addresses addresses;
static struct v8_heap heap = { .pm = &own.pm, .layout = &v8_code_layout };

static void translation(void)
{
	/* Of version 10: one function at its bytecode 3. */
	static const u8 old[] = { 6, 2, 2, 0, 36, 6, 0, 0, 0, 0 };
	struct v8_translation t = { .bytes = v8_two, .size = sizeof(v8_two) };
	struct v8_translated frames[4];

	check(v8_translation__choose(&t, v8_code_layout.version));
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
	same(v8_translation__frames(&t, sizeof(v8_two), frames, 4), 0);
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

/* A description of so many frames of no function, which take two bytes each. */
static bool has_frames(unsigned int nr)
{
	u8 bytes[4096] = { 12, 0, (2 * nr & 0x7f) | 0x80, 2 * nr >> 7, 0 };
	struct v8_translation t = { .bytes = bytes, .size = 5 + 2 * nr };
	unsigned int i;

	for (i = 0; i < nr; i++)
		bytes[5 + 2 * i] = 5;
	return v8_translation__choose(&t, v8_code_layout.version);
}

/* No frames, or too many; and the next description begins before all frames were there. */
static void number_of_frames(void)
{
	static const u8 cut[] = { 12, 0, 2, 0, 12, 0, 2, 0, 5, 0 };
	struct v8_translation t = { .bytes = cut, .size = sizeof(cut) };

	check(!has_frames(0));
	check(has_frames(1) && has_frames(100));
	check(has_frames(1024) && !has_frames(1025));
	check(!v8_translation__choose(&t, v8_code_layout.version));
	t = (struct v8_translation) { .bytes = cut + 4, .size = sizeof(cut) - 4 };
	check(v8_translation__choose(&t, v8_code_layout.version));
}

/* A description that takes its frame from an earlier one, at a byte that is no opcode there. */
static bool has_earlier(u8 op)
{
	/* A value; a function at 0. The other begins 7 bytes after the value, and has a match. */
	const u8 bytes[] = { 12, 0, 2, 2, 10, op, 0, 0, 0, 0, 0, 0, 12, 7, 2, 2, 41 };
	struct v8_translation t = { .bytes = bytes, .size = sizeof(bytes) };

	return v8_translation__choose(&t, v8_code_layout.version);
}

static void earlier_opcodes(void)
{
	/* One without operands, then a function; the last opcode is a match, as all behind it. */
	check(has_earlier(11));
	check(!has_earlier(39) && !has_earlier(40) && !has_earlier(100));
}

/* A number has at most five bytes: @nr more than one, which add nothing. */
static bool is_translated(unsigned int nr)
{
	u8 bytes[sizeof(v8_two) + 8];
	struct v8_translation t = { .bytes = bytes, .size = sizeof(v8_two) + nr };
	struct v8_translated frames[4];

	memcpy(bytes, v8_two, SECOND + 1);
	memset(bytes + SECOND + 1, 0x80, nr);
	bytes[SECOND + 1 + nr] = 0;
	bytes[SECOND + 1] |= v8_two[SECOND + 1];
	memcpy(bytes + SECOND + 2 + nr, v8_two + SECOND + 2, sizeof(v8_two) - SECOND - 2);
	return v8_translation__choose(&t, v8_code_layout.version) &&
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
	u8 bytes[sizeof(v8_two)];
	unsigned int round;

	for (round = 0; round < 50000; round++) {
		memcpy(bytes, v8_two, sizeof(v8_two));
		bytes[tap_random() % sizeof(bytes)] = tap_random();
		bytes[tap_random() % sizeof(bytes)] = tap_random();
		t = (struct v8_translation) { .bytes = bytes, .size = sizeof(bytes) };
		if (v8_translation__choose(&t, v8_code_layout.version))
			check(v8_translation__frames(&t, tap_random() % sizeof(bytes), frames,
						     4) <= 4);
	}
}

static void check_points(const u8 *bytes, u32 size, bool is_maglev, bool is_new)
{
	const struct v8_safepoints safepoints = {
		.bytes = bytes, .size = size, .is_maglev = is_maglev, .is_new = is_new,
	};
	struct v8_points points = {};

	check(v8_points__read(&points, &safepoints, &v8_exits, 200));
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
	struct v8_safepoints safepoints = { .bytes = v8_table, .size = sizeof(v8_table) - 1 };
	struct v8_points none = {};

	check_points(v8_table, sizeof(v8_table), false, false);
	check_points(newer, sizeof(newer), false, true);
	check_points(maglev, sizeof(maglev), true, false);
	/* Newer than it was taken to be. */
	check_points(newer, sizeof(newer), false, false);
	check(!v8_points__read(&none, &safepoints, &v8_exits, 200));
	v8_points__free(&none);
	same(v8_exits__at(&v8_exits, 100), 0);
	check(v8_exits__at(&v8_exits, 99) < 0 && v8_exits__at(&v8_exits, 101) < 0);
	check(v8_exits__at(&v8_exits, 104) < 0);
	check(v8_points__nearest(&none, 5) < 0);
}

static void nearest(void)
{
	static struct v8_point call = { .at = 69, .exit = 2 };
	struct v8_code code = {
		.instructions = (u8 *)v8_loop, .size = sizeof(v8_loop), .exits = v8_exits,
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

static const struct v8_address *find(u32 at, bool is_innermost)
{
	return v8_addresses__find(&addresses, &heap, (u64)&v8_code_memory,
				  (u64)v8_world->instructions + at, is_innermost);
}

static void check_address(const struct v8_address *address, unsigned int inner, u32 place)
{
	if (!check(address && address->nr == 2))
		return;
	same(address->list[1].shared, (u64)v8_world->shared[0]);
	same(address->list[1].place, 3);
	same(address->list[0].shared, (u64)v8_world->shared[inner]);
	same(address->list[0].place, place);
	same(address->shared, (u64)v8_world->shared[0]);
	check(!address->is_interpreter);
}

static void inlined(void)
{
	const struct v8_address *address;

	own_begin();
	memset(&addresses, 0, sizeof(addresses));
	v8_set_world(TURBOFAN);
	check_address(find(16, false), 1, 10);
	check_address(find(69, false), 2, 12);
	check_address(find(13, true), 2, 12);
	check_address(find(18, true), 1, 10);
	/* Once more, as it is known. */
	check_address(find(69, false), 2, 12);
	check(!find(sizeof(v8_loop) + 64, false));
	v8_addresses__exit(&addresses);
	/* Code that is not optimised. */
	v8_set_world(BASELINE);
	address = find(16, false);
	check(address && !address->nr && !address->is_interpreter && !address->shared);
	v8_addresses__exit(&addresses);
	v8_set_world(BASELINE - 1);
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
	v8_set_world(MAGLEV);
	v8_set_type(wrapper, CODE + 1);
	wrapper[1] = TAG(v8_world->shared[2]);
	v8_world->deopt[2 + 6] = TAG(wrapper);
	/* The prologue; nothing else in the code is described. */
	v8_world->translation[1] = SMI(0);
	address = find(0, true);
	check(address && !address->nr && address->shared == (u64)v8_world->shared[2]);
	v8_addresses__exit(&addresses);
	v8_set_world(MAGLEV);
	wrapper[1] = TAG(wrapper);
	v8_world->deopt[2 + 6] = TAG(wrapper);
	address = find(0, true);
	check(address && !address->shared);
	v8_addresses__exit(&addresses);
	v8_set_world(MAGLEV);
	v8_world->deopt[2 + 6] = SMI(3);
	address = find(0, true);
	check(address && !address->shared);
	v8_addresses__exit(&addresses);
	own_end();
}

/* A register may hold the function of code that the baseline compiler has made, or anything. */
static void function_in_register(void)
{
	static u64 function[4], wrapper[2], other[2];
	const struct v8_address *address;
	const struct v8_code *code;

	own_begin();
	memset(&addresses, 0, sizeof(addresses));
	v8_set_world(BASELINE);
	v8_set_type(function, SHARED + 1);
	v8_set_type(wrapper, CODE + 1);
	v8_set_type(other, CODE);
	function[3] = TAG(v8_world->shared[0]);
	wrapper[1] = TAG(v8_world->code);
	v8_world->shared[0][1] = TAG(v8_world->code);
	address = find(0, true);
	if (!check(address))
		return;
	code = &addresses.codes.known[address->code];
	same(v8_code__shared(code, &heap, TAG(function)), (u64)v8_world->shared[0]);
	/* In versions before 11 an object is between. */
	hybrid_memory_forget(own.memory);
	v8_world->shared[0][1] = TAG(wrapper);
	same(v8_code__shared(code, &heap, TAG(function)), (u64)v8_world->shared[0]);
	/* Another code; none; objects in a circle. */
	hybrid_memory_forget(own.memory);
	wrapper[1] = TAG(other);
	same(v8_code__shared(code, &heap, TAG(function)), 0);
	hybrid_memory_forget(own.memory);
	wrapper[1] = TAG(wrapper);
	same(v8_code__shared(code, &heap, TAG(function)), 0);
	/* No function, no object, no memory. */
	function[3] = TAG(wrapper);
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
	u64 page = (u64)v8_world->instructions & ~4095ULL;
	struct v8_missed *known = addresses.codes.missed;
	unsigned int nr, i;

	own_begin();
	memset(&addresses, 0, sizeof(addresses));
	v8_set_world(BASELINE);
	v8_world->stream[0] = 0;
	check(!find(16, false));
	for (i = 0, nr = 0; i < ARRAY_SIZE(addresses.codes.missed); i++)
		nr += known[i].page == page ? known[i].nr : 0;
	same(nr, 1);
	for (nr = 3; nr < 5; nr++) {
		v8_set_world(BASELINE);
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
	v8_set_world(TURBOFAN);
	check_address(find(69, false), 2, 12);
	same(code->stream, (u64)v8_world->stream);
	code->stream = 0x1000;
	code->checked = 0;
	check_address(find(69, false), 2, 12);
	check(v8_code__is_current(code, &heap));
	code->stream = (u64)v8_world->stream;
	code->checked = 0;
	v8_world->stream[1] = TAG(v8_world->deopt);
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
	v8_set_world(3);
	address = find(16, false);
	check(address && address->is_regexp && !address->shared);
	v8_addresses__exit(&addresses);
	v8_set_world(4);
	address = find(16, false);
	check(address && !address->is_regexp);
	v8_addresses__exit(&addresses);
	own_end();
}

/* Words at random: no more than functions that are wrong. */
static void random_words(void)
{
	u64 *words = (u64 *)v8_world;
	unsigned int round, i;

	own_begin();
	memset(&addresses, 0, sizeof(addresses));
	for (round = 0; round < 5000; round++) {
		v8_set_world(round & 1 ? TURBOFAN : MAGLEV);
		for (i = 0; i < 3; i++)
			words[tap_random() % (sizeof(*v8_world) / 8)] =
				tap_random() & 1 ? SMI(tap_random()) : TAG(v8_world->code);
		find(tap_random() % sizeof(v8_loop), tap_random() & 1);
		v8_addresses__exit(&addresses);
	}
	own_end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "descriptions of frames, of several versions",	translation },
		{ "descriptions of no frame, and of too many",		number_of_frames },
		{ "opcodes of earlier descriptions", earlier_opcodes },
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
