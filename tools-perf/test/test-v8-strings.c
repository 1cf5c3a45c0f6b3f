// SPDX-License-Identifier: GPL-2.0
/*
 * V8's objects and strings of each kind: what is read of them, and what is none. The process is the
 * test's own.
 */
#include <string.h>
#include "own-memory.h"
#include "tap.h"
#include "v8-scope.h"
#include "v8-told.h"

#define FIRST_NONSTRING	128
#define ONE_BYTE	8
#define SCOPE_INFO	261

#define TAG(object)	((u64)(object) + V8_TAG)
#define SMI(number)	((u64)(number) << 32)

/* A string's characters are read by pieces of 4096 bytes. */
#define CHARS		10000

static const struct v8_layout layout = {
	.first_nonstring = FIRST_NONSTRING, .one_byte = ONE_BYTE, .type_scope_info = SCOPE_INFO,
	.map_instance_type = 12, .string_length = 12, .string_chars = 16, .cons_first = 16,
	.cons_second = 24, .sliced_parent = 16, .sliced_offset = 24, .thin_actual = 16,
	.external_resource = 16,
};

static const struct v8_heap heap = { .pm = &own.pm, .layout = &layout };

/* A string: its map, the hash and the length, and what its kind has. */
struct string {
	u64	map;
	u64	length;
	u64	words[2];
};

static u64 maps[512][2];
static struct {
	u64	map;
	u64	length;
	u8	bytes[2 * CHARS];
} chars;
static struct string strings[1024];
static unsigned int nr_strings;

static u64 map_of(u16 type)
{
	maps[type][1] = (u64)type << 32;
	return TAG(maps[type]);
}

static u64 add(u16 kind, u32 length, u64 first, u64 second)
{
	struct string *string = &strings[nr_strings++ % ARRAY_SIZE(strings)];

	*string = (struct string) {
		.map = map_of(kind), .length = SMI(length), .words = { first, second },
	};
	return TAG(string);
}

static u32 unit(u32 at, u32 width)
{
	return width == 1 ? (at * 7) & 0xff : at * 777 & 0xffff;
}

/* One that is written as it is. */
static u64 flat(u32 length, u32 width)
{
	u16 wide;
	u32 i;

	chars.map = map_of(V8_STRING_SEQ | (width == 1 ? ONE_BYTE : 0));
	chars.length = SMI(length);
	for (i = 0; i < length; i++) {
		wide = unit(i, width);
		memcpy(chars.bytes + i * width, &wide, width);
	}
	return TAG(&chars);
}

/* What comes of a string: its units, by the number of the first one. */
struct got {
	u32	from;
	u32	nr;
	u32	width;
	bool	is_right;
	u32	most;
};

static bool take(void *arg, const void *units, u32 nr, u32 width)
{
	struct got *got = arg;
	u16 value;
	u32 i;

	for (i = 0; i < nr; i++) {
		value = width == 1 ? ((const u8 *)units)[i] : 0;
		if (width == 2)
			memcpy(&value, (const u8 *)units + 2 * i, 2);
		got->is_right &= value == unit(got->from + got->nr + i, width);
	}
	got->is_right &= width == got->width && nr;
	got->nr += nr;
	return got->nr < got->most;
}

static void expect(u64 word, u32 max, u32 from, u32 nr, u32 width)
{
	struct got got = { .from = from, .width = width, .is_right = true, .most = ~0U };

	hybrid_memory_forget(own.memory);
	check(v8_string__each(&heap, word, max, take, &got));
	same(got.nr, nr);
	check(got.is_right);
}

static bool is_refused(u64 word)
{
	struct got got = { .most = ~0U };

	hybrid_memory_forget(own.memory);
	return !v8_string__each(&heap, word, CHARS, take, &got);
}

/* Whatever the length, and however many are wanted. */
static void whole(void)
{
	static const u32 lengths[] = { 0, 1, 2, 2047, 2048, 2049, 4095, 4096, 4097, 9000 };
	unsigned int i, k, width;
	u32 external = V8_STRING_EXTERNAL;
	u64 word;

	own_begin();
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		for (width = 1; width <= 2; width++) {
			word = flat(lengths[i], width);
			expect(word, CHARS, 0, lengths[i], width);
			for (k = 0; k < i; k++)
				expect(word, lengths[k], 0, lengths[k], width);
			/* The characters are elsewhere; another string stands for one. */
			expect(add(external | (width == 1 ? ONE_BYTE : 0), lengths[i], 0,
				   (u64)chars.bytes), CHARS, 0, lengths[i], width);
			expect(add(V8_STRING_THIN, lengths[i], word, 0), CHARS, 0, lengths[i],
			       width);
		}
	}
	own_end();
}

/* Each slice of a string, of a slice of it, and of a string of two parts. */
static void slices(void)
{
	u32 from, nr, width, inner;
	u64 word, slice;

	own_begin();
	for (width = 1; width <= 2; width++) {
		word = flat(6, width);
		for (from = 0; from <= 6; from++) {
			for (nr = 0; from + nr <= 6; nr++) {
				slice = add(V8_STRING_SLICED, nr, word, SMI(from));
				expect(slice, CHARS, from, nr, width);
				expect(slice, 2, from, min(nr, 2U), width);
				for (inner = 0; inner <= nr; inner++)
					expect(add(V8_STRING_SLICED, nr - inner, slice, SMI(inner)),
					       CHARS, from + inner, nr - inner, width);
			}
		}
	}
	check(is_refused(add(V8_STRING_SLICED, 1, word, SMI(-1))));
	check(is_refused(add(V8_STRING_SLICED, 1, word, 3)));
	own_end();
}

/* Two slices that make the string again, and slices of what they make. */
static void joined(void)
{
	u32 cut, from, nr;
	u64 word, both;

	own_begin();
	word = flat(9, 1);
	for (cut = 0; cut <= 9; cut++) {
		both = add(V8_STRING_CONS, 9, add(V8_STRING_SLICED, cut, word, 0),
			   add(V8_STRING_SLICED, 9 - cut, word, SMI(cut)));
		for (from = 0; from <= 9; from++) {
			for (nr = 0; from + nr <= 9; nr++)
				expect(add(V8_STRING_SLICED, nr, both, SMI(from)), CHARS, from, nr,
				       1);
			expect(both, from, 0, from, 1);
		}
	}
	own_end();
}

/* Who takes the characters has enough. */
static void enough(void)
{
	struct got got = { .width = 1, .is_right = true, .most = 4096 };
	u64 word;

	own_begin();
	word = flat(9000, 1);
	check(v8_string__each(&heap, add(V8_STRING_CONS, 9001, word, 1), CHARS, take, &got));
	same(got.nr, 4096);
	check(got.is_right);
	own_end();
}

/* A tree of strings, each made of two. */
static u64 tree(unsigned int depth)
{
	u64 part;

	if (!depth)
		return flat(1, 1);
	part = tree(depth - 1);
	return add(V8_STRING_CONS, 1U << depth, part, tree(depth - 1));
}

/* As a text: characters of 0 are left out, and what there is no room for. */
static void texts(void)
{
	char text[2 * V8_TEXT];
	u32 nr, width, i;
	u64 word;

	own_begin();
	for (width = 1; width <= 2; width++) {
		for (nr = V8_TEXT - 3; nr < V8_TEXT + 3; nr++) {
			word = flat(nr, width);
			for (i = 0; i < nr; i++)
				memcpy(chars.bytes + i * width, "z", width);
			chars.bytes[width] = 0;
			memset(text, '!', sizeof(text));
			hybrid_memory_forget(own.memory);
			same(v8_string__text(&heap, word, text), true);
			same(strlen(text), min(nr - 1, V8_TEXT - 1U));
			same(text[V8_TEXT], '!');
			same(strspn(text, "z"), strlen(text));
		}
	}
	/* What is no string leaves nothing. */
	check(!v8_string__text(&heap, SMI(1), text));
	same_text(text, "");
	own_end();
}

/* Where nothing is there. */
static void unreadable(void)
{
	own_begin();
	check(is_refused(add(V8_STRING_EXTERNAL, 1, 0, 8)));
	check(is_refused(add(V8_STRING_CONS, 2, TAG(8), flat(1, 1))));
	check(is_refused(add(V8_STRING_CONS, 2, flat(1, 1), TAG(8))));
	check(is_refused(add(V8_STRING_THIN, 2, SMI(8), 0)));
	same(v8_word(&heap, 8), 0);
	same(v8_u32(&heap, 8), 0);
	own_end();
}

/* Nested no deeper than 8, of no more than 256 parts, and in no circle. */
static void limits(void)
{
	unsigned int depth;
	u64 word, circle;

	own_begin();
	word = flat(5, 1);
	for (depth = 0; depth <= 8; depth++) {
		expect(word, CHARS, 0, 5, 1);
		word = add(V8_STRING_THIN, 5, word, 0);
	}
	check(is_refused(word));
	/* So is a slice, and what follows one. */
	word = flat(5, 1);
	for (depth = 0; depth <= 8; depth++) {
		expect(word, CHARS, 0, 5, 1);
		word = add(V8_STRING_SLICED, 5, word, 0);
	}
	check(is_refused(word));
	for (depth = 0, word = flat(1, 1); depth <= 8; depth++) {
		check(!is_refused(word));
		word = add(V8_STRING_CONS, 2 + depth, flat(1, 1), word);
	}
	check(is_refused(word));
	check(!is_refused(tree(6)));
	check(is_refused(tree(8)));
	circle = add(V8_STRING_CONS, 100, 0, 0);
	strings[(nr_strings - 1) % ARRAY_SIZE(strings)].words[0] = circle;
	check(is_refused(circle));
	own_end();
}

/* An object is tagged, and so is its map, which is there. */
static void objects(void)
{
	static u8 bytes[64];
	u64 word, tag, map;
	u16 type = 0;

	own_begin();
	/* A map is where an object of this tag would begin. */
	for (tag = 0; tag <= V8_TAG_MASK; tag++) {
		map = map_of(ONE_BYTE);
		word = ((u64)bytes & -8ULL) + 16 + tag;
		memcpy((void *)(word - V8_TAG), &map, sizeof(map));
		hybrid_memory_forget(own.memory);
		same(!!v8_object(&heap, word, &type), tag == V8_TAG);
	}
	word = flat(3, 1) - V8_TAG;
	map = chars.map - V8_TAG;
	for (tag = 0; tag <= V8_TAG_MASK; tag++) {
		chars.map = map + V8_TAG;
		hybrid_memory_forget(own.memory);
		same(v8_object(&heap, word + tag, &type), tag == V8_TAG ? word : 0);
		same(is_refused(word + tag), tag != V8_TAG);
		chars.map = map + tag;
		hybrid_memory_forget(own.memory);
		same(v8_object(&heap, word + V8_TAG, &type), tag == V8_TAG ? word : 0);
	}
	same(type, ONE_BYTE);
	chars.map = TAG(8);
	hybrid_memory_forget(own.memory);
	same(v8_object(&heap, word + V8_TAG, &type), 0);
	/* Types of strings are less than all others; and some of these are of no known kind. */
	for (type = 0; type < 2 * FIRST_NONSTRING; type++) {
		chars.map = map_of(type);
		if ((type & V8_STRING_KIND) == V8_STRING_SEQ)
			same(is_refused(TAG(&chars)), type >= FIRST_NONSTRING);
		if ((type & V8_STRING_KIND) == 4 || (type & V8_STRING_KIND) > V8_STRING_THIN)
			check(is_refused(TAG(&chars)));
	}
	own_end();
}

/* The map of a map has itself as its map. */
static void maps_of_maps(void)
{
	static u64 meta[2], map[2];
	static u8 bytes[64];
	u64 tag, word;

	own_begin();
	for (tag = 0; tag <= V8_TAG_MASK; tag++) {
		meta[0] = TAG(meta);
		map[0] = TAG(meta) - V8_TAG + tag;
		hybrid_memory_forget(own.memory);
		same(v8_is_map(&heap, (u64)map + tag), tag == V8_TAG);
		same(v8_is_map(&heap, TAG(map)), tag == V8_TAG);
		word = ((u64)bytes & -8ULL) + 16 + tag;
		memcpy((void *)(word - V8_TAG), meta, sizeof(*meta));
		hybrid_memory_forget(own.memory);
		same(v8_is_map(&heap, word), tag == V8_TAG);
	}
	map[0] = TAG(map) + 8;
	hybrid_memory_forget(own.memory);
	check(!v8_is_map(&heap, TAG(map)));
	own_end();
}

/* Of a function BPF has told: each field is the one of the record. */
static void told_fields(void)
{
	static struct hybrid_walk_text text;
	const struct hybrid_walk_v8_source source = { .chars = 1, .length = 2, .width = 1 };
	size_t size = offsetof(struct hybrid_walk_text, bytes) + sizeof(source);
	struct v8_told told;

	text = (struct hybrid_walk_text) {
		.function = HYBRID_WALK_NATIVE_FUNCTION(0x1230ULL, 0x77ULL), .type = 3, .size = 5,
		.line = 7, .states = { 11, 13 }, .sizes = { sizeof(source) },
	};
	memcpy(text.bytes, &source, sizeof(source));
	check(v8_told__read(&told, &text, size));
	same(told.addr, 0x1230);
	same(told.words[0], 3);
	same(told.words[1], 5);
	same(told.scope.start, 7);
	same(told.scope.end, 11);
	same(told.mark, 13);
	check(!memcmp(&told.source, &source, sizeof(source)));
	check(!*told.scope.name && !*told.file);
	check(!v8_told__read(&told, &text, size - 1));
}

/* A function without a ScopeInfo has its name in its place; what is neither has none. */
static void scopes(void)
{
	struct v8_scope scope;

	own_begin();
	chars.map = map_of(V8_STRING_SEQ | ONE_BYTE);
	chars.length = SMI(4);
	memcpy(chars.bytes, "spam", 4);
	v8_scope__read(&heap, TAG(&chars), &scope);
	same_text(scope.name, "spam");
	check(scope.start < 0 && scope.end < 0);
	chars.map = map_of(FIRST_NONSTRING | ONE_BYTE);
	hybrid_memory_forget(own.memory);
	v8_scope__read(&heap, TAG(&chars), &scope);
	check(!*scope.name && scope.start < 0 && scope.end < 0);
	own_end();
}

/* Positions are at a place of their own, or are the first two numbers that may be a range. */
static void positions(void)
{
	struct v8_layout of = layout;
	const struct v8_heap with = { .pm = &own.pm, .layout = &of };
	/* No locals; the positions; what follows the locals. */
	u64 info[24] = {
		map_of(SCOPE_INFO), SMI(0), 0, 0, SMI(7), SMI(11),
		SMI(30), SMI(20), flat(4, 1), SMI(20), SMI(40), SMI(50),
	};
	struct v8_scope scope;

	of.scope_first_vars = 5;
	own_begin();
	of.version = 12 << 8 | 7;
	v8_scope__read(&with, TAG(info), &scope);
	same(scope.start, 20);
	same(scope.end, 40);
	check(*scope.name);
	of.version = 12 << 8 | 8;
	v8_scope__read(&with, TAG(info), &scope);
	same(scope.start, 7);
	same(scope.end, 11);
	check(*scope.name);
	own_end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "V8 strings: of all lengths",		whole },
		{ "V8 strings: slices",			slices },
		{ "V8 strings: of two parts",		joined },
		{ "V8 strings: no more is needed",	enough },
		{ "V8 strings: as texts",		texts },
		{ "V8 strings: what can't be read",	unreadable },
		{ "V8 strings: nested ones",		limits },
		{ "V8 objects: tags and types",		objects },
		{ "V8 objects: maps",			maps_of_maps },
		{ "V8 functions: what BPF has read",	told_fields },
		{ "V8 functions: names alone",		scopes },
		{ "V8 functions: positions",		positions },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
