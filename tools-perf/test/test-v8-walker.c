// SPDX-License-Identifier: GPL-2.0
/*
 * Strings of V8 as the BPF program reads them: its own code, with this process for the one that is
 * sampled.
 */
#include <string.h>
#include <linux/compiler.h>
#include "tap.h"

/* What the code takes of the BPF program. */
#define __HYBRID_TEXT_BPF_H
#define __HYBRID_KERNEL_BPF_H
#undef __always_inline
#define __always_inline		inline
#define __noinline
#define barrier_var(var)	((void)(var))
#include "../hybrid/bpf_skel/interpreter-state.bpf.h"

#define TEXT_AT			0

struct state {
	struct {
		struct hybrid_walk_head	head;
		u64			ips[sizeof(struct hybrid_walk_text) / sizeof(u64) + 1];
	} record;
	struct hybrid_walk_interpreter	native;
	struct v8_reading		v8;
	struct told_code		telling;
	struct {
		u64			code;
		u64			identity;
		u64			language;
	} untold[NR_UNTOLD];
	u32				nr_untold;
	struct {
		u64			function;
	} marks[NR_MARKS];
};

struct loop {
	struct state *st;
};

struct text_loop {
	struct state *st;
};

static u64 user_word(u64 addr)
{
	u64 word;

	memcpy(&word, (const void *)addr, sizeof(word));
	return word;
}

static long bpf_probe_read_user(void *to, u32 size, const void *from)
{
	memcpy(to, from, size);
	return 0;
}

static void bpf_loop(u32 nr, long (*step)(u32 i, void *arg), void *arg, u64 flags)
{
	u32 i;

	for (i = 0; !flags && i < nr && !step(i, arg); i++)
		;
}

static void begin_text(const struct state *st, struct hybrid_walk_text *text, u64 function,
		       u32 language)
{
	text->head = st->record.head;
	text->function = function;
	text->language = language;
}

static bool tell_text(struct text_loop *loop, struct hybrid_walk_text *text, u64 size, u64 function)
{
	return loop && text->function == function && size;
}

static const struct told_code *find_told(struct state *st, u64 function)
{
	return function ? NULL : &st->telling;
}

static u32 mark_index(u64 function)
{
	return function % NR_MARKS;
}

#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"
#include "../hybrid/runtime/v8/v8-text.bpf.h"

#define FIRST_NONSTRING	128
#define ONE_BYTE	8

#define TAG(object)	((u64)(object) + V8_TAG)
#define SMI(number)	((u64)(number) << 32)

struct string {
	u64	map;
	u64	length;
	u64	words[2];
};

static u64 maps[FIRST_NONSTRING + 1][2];
static struct string strings[64];
static unsigned int nr_strings;
static struct state state;

static u64 add(u16 type, u32 length, u64 first, u64 second)
{
	struct string *string = &strings[nr_strings++ % ARRAY_SIZE(strings)];

	maps[type][1] = (u64)type << 32;
	*string = (struct string) {
		.map = TAG(maps[type]), .length = SMI(length), .words = { first, second },
	};
	return TAG(string);
}

/* Of two bytes each: a part of the record begins at an even place. */
static u64 chars(const char *text)
{
	static u16 wide[ARRAY_SIZE(strings)][24];
	u16 *to = wide[nr_strings % ARRAY_SIZE(strings)];
	u32 i;

	for (i = 0; text[i]; i++)
		to[i] = text[i];
	return add(V8_STRING_EXTERNAL, i, (u64)to, 0);
}

/* All of a string that is read, by its parts. */
static const char *read_text(u64 word)
{
	static char text[HYBRID_V8_PIECE];
	const struct hybrid_walk_text *record = (const void *)&state.record.ips[TEXT_AT];
	u32 at = 0, i, nr = 0, size, end;
	u16 head;

	state.native.v8.objects = (struct hybrid_walk_v8_objects) {
		.first_nonstring = FIRST_NONSTRING, .one_byte = ONE_BYTE, .map_type = 12,
		.string_length = 12, .external_chars = 16, .cons_first = 16, .cons_second = 24,
		.sliced_parent = 16, .sliced_offset = 24, .thin_actual = 16, .string_chars = 16,
	};
	memset(&state.v8, 0xa5, sizeof(state.v8));
	end = put_v8_string(&state, word, 0);
	memset(text, 0, sizeof(text));
	while (at < end) {
		memcpy(&head, &record->bytes[at], sizeof(head));
		size = HYBRID_V8_PART_SIZE(head);
		at += sizeof(head);
		for (i = 0; i < size; i += HYBRID_V8_PART_WIDTH(head))
			text[nr++] = record->bytes[at + i];
		at += size;
	}
	return text;
}

static void expect(u64 word, const char *all, u32 from, u32 nr)
{
	char want[16] = "";

	strncat(want, all + from, nr);
	same_text(read_text(word), want);
}

/* Two slices that make a string, and slices of what they make. */
static void joined(void)
{
	static const char all[] = "abcdefghi";
	u32 cut, from, nr;
	u64 word, both;

	for (cut = 0; cut <= 9; cut++) {
		for (from = 0; from <= 9; from++) {
			for (nr = 0; from + nr <= 9; nr++) {
				word = chars(all);
				both = add(V8_STRING_CONS, 9,
					   add(V8_STRING_SLICED, cut, word, 0),
					   add(V8_STRING_SLICED, 9 - cut, word, SMI(cut)));
				expect(add(V8_STRING_SLICED, nr, both, SMI(from)), all, from, nr);
			}
		}
	}
}

/* What follows a slice, of a slice and of a string of two parts, is all read. */
static void followed(void)
{
	u64 word = chars("abcdef"), part = add(V8_STRING_SLICED, 4, word, SMI(1)), both;

	both = add(V8_STRING_CONS, 4, add(V8_STRING_SLICED, 2, part, SMI(1)), chars("xy"));
	same_text(read_text(both), "cdxy");
	same_text(read_text(add(V8_STRING_CONS, 7, add(V8_STRING_SLICED, 3, both, 0),
				add(V8_STRING_EXTERNAL | ONE_BYTE, 4, (u64)"last", 0))), "cdxlast");
	same_text(read_text(add(V8_STRING_CONS, 2, add(V8_STRING_SLICED, 0, word, 0),
				add(V8_STRING_THIN, 2, part, 0))), "bcde");
	/* Its parent is shorter than it ought to be. */
	same_text(read_text(add(V8_STRING_CONS, 6, add(V8_STRING_SLICED, 4, chars("a"), SMI(3)),
				chars("xy"))), "xy");
}

/* No more strings wait than there is room for, and no more are read. */
static void limits(void)
{
	u64 word = chars("z");
	unsigned int i;

	for (i = 0; i < V8_PARTS / 2; i++)
		word = add(V8_STRING_CONS, 2 + i, chars("y"), word);
	/* The last part of them would be the 25th. */
	same_text(read_text(word), "yyyyyyyyyyyy");
	for (i = 0, word = chars("z"); i < V8_STRINGS - 1; i++)
		word = add(V8_STRING_CONS, 2 + i, word, chars("y"));
	same_text(read_text(word), "zyyyyyyy");
	same(state.v8.nr_strings, 0);
	/* The first of these finds no room: it is left out. */
	word = add(V8_STRING_CONS, 9, word, chars("y"));
	same_text(read_text(word), "yyyyyyyy");
	/* Each slice may bound what is left once more. */
	for (i = 0, word = chars("abcdefghijklmnop"); i < V8_STRINGS; i++)
		word = add(V8_STRING_SLICED, 15 - i, word, SMI(1));
	same_text(read_text(word), "ijklmnop");
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "V8 walker: two slices",		joined },
		{ "V8 walker: what follows a slice",	followed },
		{ "V8 walker: limits",			limits },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
