// SPDX-License-Identifier: GPL-2.0
/*
 * Which characters of a name are shown: all of Unicode, and all short strings of bytes.
 */
#include <string.h>
#include "name-text.h"
#include "tap.h"
#include "utf8.h"

#define LAST	0x10ffffU

/* Bytes of a character; @size: how many, which may be more than are needed. */
static void put(unsigned char *out, u32 code, unsigned int size)
{
	static const unsigned char first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	unsigned int i;

	for (i = size; i-- > 1;) {
		out[i] = 0x80 | (code & 0x3f);
		code >>= 6;
	}
	out[0] = first[size] | code;
	out[size] = 0;
}

static unsigned int size_of(u32 code)
{
	return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

/* What moves a terminal's cursor, ends a line, or turns the text around. */
static bool is_shown(u32 code)
{
	static const u32 hidden[][2] = {
		{ 0, 0x1f }, { 0x7f, 0x9f }, { 0x61c, 0x61c }, { 0x200e, 0x200f },
		{ 0x2028, 0x202e }, { 0x2066, 0x2069 }, { 0xd800, 0xdfff }, { LAST + 1, ~0U },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hidden); i++) {
		if (code >= hidden[i][0] && code <= hidden[i][1])
			return false;
	}
	return true;
}

static void characters(void)
{
	unsigned char text[8];
	unsigned int size;
	u32 code, bad = 0;

	for (code = 0; code < 0x1fffff; code++) {
		size = size_of(code);
		put(text, code, size);
		bad += hybrid_name_shown((char *)text) != (is_shown(code) ? size : 0);
		/* Its last byte is missing; it has more bytes than it needs. */
		text[size - 1] = 0;
		bad += hybrid_name_shown((char *)text) != 0;
		for (size++; size <= 4; size++) {
			put(text, code, size);
			bad += hybrid_name_shown((char *)text) != 0;
		}
	}
	same(bad, 0);
}

/* All pairs of bytes. */
static void pairs(void)
{
	u32 bytes, code, bad = 0;
	unsigned char text[4] = {};
	unsigned int size;

	for (bytes = 0; bytes < 0x10000; bytes++) {
		text[0] = bytes >> 8;
		text[1] = bytes;
		size = hybrid_name_shown((char *)text);
		code = (text[0] & 0x1f) << 6 | (text[1] & 0x3f);
		if (text[0] < 0x80)
			bad += size != is_shown(text[0]);
		else if ((text[0] & 0xe0) == 0xc0 && (text[1] & 0xc0) == 0x80 && code >= 0x80)
			bad += size != (is_shown(code) ? 2 : 0);
		else
			bad += size != 0;
	}
	same(bad, 0);
}

/* Whatever the room, what is written ends in it, and is cut off between characters. */
static void rooms(void)
{
	static const char name[] = "a\u00e9\n\u20ac\xff\U0001f600b\u202e";
	static const char all[] = "a\u00e9\\x0a\u20ac\\xff\U0001f600b\\xe2\\x80\\xae";
	char out[64];
	size_t room, size, last = 0;

	for (room = 1; room < sizeof(out); room++) {
		memset(out, '!', sizeof(out));
		size = hybrid_name_text(out, room, name);
		check(size < room && !out[size]);
		same(out[room], '!');
		check(!memcmp(out, all, size));
		/* Room for the longest, and the end, is used. */
		check(size == sizeof(all) - 1 || room - size < 5);
		check(size >= last);
		last = size;
	}
	same(last, sizeof(all) - 1);
	same(hybrid_name_text(out, sizeof(out), ""), 1);
	same_text(out, "?");
}

/* All characters, into as much room as there may be. */
static void encoded(void)
{
	unsigned char want[8], got[8];
	unsigned int size, room;
	u32 code, bad = 0;

	for (code = 0; code <= LAST; code++) {
		size = size_of(code);
		put(want, code, size);
		for (room = 0; room <= 4; room++) {
			memset(got, '!', sizeof(got));
			bad += hybrid_utf8_put((char *)got, room, code) !=
			       (room < size ? 0 : size);
			bad += room >= size && memcmp(got, want, size);
			bad += got[room < size ? 0 : size] != '!';
		}
	}
	same(bad, 0);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "names: all characters", characters },
		{ "names: all characters that are written", encoded },
		{ "names: all pairs of bytes", pairs },
		{ "names: whatever the room", rooms },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
