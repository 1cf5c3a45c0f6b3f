// SPDX-License-Identifier: GPL-2.0
/*
 * Records of functions of Perl, PHP and Ruby: each field, and each size that may be a lie.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "../hybrid/runtime/walk-interpreter.h"
#include "tap.h"
#include "told-text.h"

#define HEAD	offsetof(struct hybrid_walk_text, bytes)

static struct hybrid_told_text told;
static struct hybrid_walk_text text;

/* Reads @size bytes of the record. They end where memory ends, so that ASan sees who reads on. */
static bool read_part(size_t size)
{
	u8 *raw = malloc(size + 1);
	bool is_read;

	/* Not aligned. */
	memcpy(raw + 1, &text, size);
	memset(&told, 0xff, sizeof(told));
	is_read = hybrid_told_text_read(&told, raw + 1, size);
	free(raw);
	return is_read;
}

static void begin(u16 first, u16 second, u16 third)
{
	text = (struct hybrid_walk_text) {
		.function = 0x1111111111ULL, .type = 0x2222222222ULL, .size = 0x3333333333ULL,
		.line = 44, .states = { 55, 1 }, .sizes = { first, second, third },
	};
	memset(text.bytes, 'x', sizeof(text.bytes));
}

static void fields(void)
{
	begin(3, 0, 5);
	memcpy(text.bytes, "Eggspam", 8);
	check(read_part(HEAD + 8));
	same(told.function, 0x1111111111ULL);
	same(told.named, 0x2222222222ULL);
	same(told.label, 0x3333333333ULL);
	same(told.line, 44);
	same(told.size, 55);
	check(told.is_own);
	same_text(told.pieces[0], "Egg");
	same_text(told.pieces[1], "");
	/* It may have an end of its own. */
	same_text(told.pieces[2], "spam");
	text.states[1] = 0;
	check(read_part(HEAD + 8));
	check(!told.is_own);
}

/* Cut off anywhere; and each piece as long as it may be, and longer. */
static void sizes(void)
{
	size_t size;
	u16 length;

	begin(2, 3, 4);
	for (size = 0; size < HEAD + 12; size++)
		same(read_part(size), size >= HEAD + 9);
	begin(0, 0, 0);
	check(!read_part(HEAD - 1));
	check(read_part(HEAD));
	for (length = HYBRID_TOLD_TEXT - 2; length < HYBRID_TOLD_TEXT + 2; length++) {
		begin(1, length, 1);
		check(read_part(HEAD + length + 2));
		same(strlen(told.pieces[0]), 1);
		same(strlen(told.pieces[1]), min_t(size_t, length, HYBRID_TOLD_TEXT - 1));
		same(strlen(told.pieces[2]), 1);
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "told text: fields", fields },
		{ "told text: sizes", sizes },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
