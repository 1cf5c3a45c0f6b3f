// SPDX-License-Identifier: GPL-2.0
/*
 * CPython's line tables, strings and versions; the process is the test's own.
 */
#include <string.h>
#include "line-table.h"
#include "python-world.h"
#include "unicode.h"

static unsigned int locations(const void *table, size_t size, struct hybrid_name_line *out,
			      unsigned int max)
{
	return python_lines(PYTHON_LINES_LOCATIONS, table, size, 10, out, max);
}

/* co_linetable of lines 10, 11, none, 13, 9 and 300; as _PyCode_InitAddressRange() reads them. */
static void lines(void)
{
	static const u8 table[] = {
		0x80, 0x12,			/* short: 1 instruction, the first line */
		0x80 | 11 << 3 | 1, 1, 2,	/* one line more: 2 instructions */
		0x80 | 15 << 3,			/* none */
		0x80 | 12 << 3, 1, 2,		/* two lines more */
		0x80 | 13 << 3 | 7, 9,		/* 4 lines less, no columns: 8 instructions */
		0x80 | 14 << 3, 0x46, 9, 0, 1, 1, /* 291 lines more */
	};
	static const struct hybrid_name_line expected[] = {
		{ 0, 10 }, { 1, 11 }, { 4, 13 }, { 5, 9 }, { 13, 300 },
	};
	struct hybrid_name_line out[8];
	unsigned int i;

	same(locations(table, sizeof(table), out, 8), ARRAY_SIZE(expected));
	for (i = 0; i < ARRAY_SIZE(expected); i++) {
		same(out[i].index, expected[i].index);
		same(out[i].line, expected[i].line);
	}
	same(locations(table, sizeof(table), out, 2), 2);
	/* What is cut off, or is no table, ends it. */
	same(locations(table, sizeof(table) - 1, out, 8), ARRAY_SIZE(expected) - 1);
	same(locations("\x10", 1, out, 8), 0);
}

static void same_lines(enum python_line_format format, const void *table, size_t size,
		       const struct hybrid_name_line *expected, unsigned int nr)
{
	struct hybrid_name_line out[8];
	unsigned int i;

	same(python_lines(format, table, size, 10, out, 8), nr);
	for (i = 0; i < nr; i++) {
		same(out[i].index, expected[i].index);
		same(out[i].line, expected[i].line);
	}
	same(python_lines(format, table, size, 10, out, 1), 1);
}

/* Of 3.10: from line 10 two instructions, one without a line, one of 9, none of 12, one of 300. */
static void older_lines(void)
{
	static const u8 ranges[] = {
		4, 0, 2, -128, 2, -1, 0, 3, 0, 127, 0, 127, 2, 34,
	};
	static const u8 steps[] = { 4, 1, 2, -2, 0, 127, 0, 127, 255, 0, 1, 1 };
	static const struct hybrid_name_line of_ranges[] = { { 0, 10 }, { 3, 9 }, { 4, 300 } };
	static const struct hybrid_name_line of_steps[] = {
		{ 0, 10 }, { 2, 11 }, { 3, 263 }, { 131, 264 },
	};

	same_lines(PYTHON_LINES_RANGES, ranges, sizeof(ranges), of_ranges,
		   ARRAY_SIZE(of_ranges));
	same_lines(PYTHON_LINES_STEPS, steps, sizeof(steps), of_steps, ARRAY_SIZE(of_steps));
	same_lines(PYTHON_LINES_STEPS, steps, 3, of_steps, 2);
}

static void random_lines(void)
{
	struct hybrid_name_line out[16];
	u8 table[64];
	unsigned int round, i;

	for (round = 0; round < 20000; round++) {
		for (i = 0; i < sizeof(table); i++)
			table[i] = tap_random();
		check(python_lines(round % 3, table, tap_random() % sizeof(table), 1, out, 16) <=
		      16);
	}
}

static void strings(void)
{
	static const u16 two[] = { 0x20ac, 'x', 0x7ff };
	static const u32 four[] = { 0x1f40d, 0x110000, 'y' };
	static struct text text;
	char out[PYTHON_TEXT];

	begin();
	set_text(&text, "spam", 4, 1, true);
	check(python_text(&own.pm, &layout, (u64)&text, out) && !strcmp(out, "spam"));
	set_text(&text, "\xe9g", 2, 1, false);
	check(python_text(&own.pm, &layout, (u64)&text, out) && !strcmp(out, "\xc3\xa9g"));
	set_text(&text, two, 3, 2, false);
	check(python_text(&own.pm, &layout, (u64)&text, out) &&
	      !strcmp(out, "\xe2\x82\xacx\xdf\xbf"));
	set_text(&text, four, 3, 4, false);
	check(python_text(&own.pm, &layout, (u64)&text, out) &&
	      !strcmp(out, "\xf0\x9f\x90\x8d?y"));
	set_text(&text, "", 0, 1, true);
	check(python_text(&own.pm, &layout, (u64)&text, out) && !*out);
	/* A longer one is cut off, between characters. */
	set_text(&text, two, 3, 2, false);
	for (text.length = 0; text.length < 900; text.length++)
		memcpy(text.bytes + 24 + 2 * text.length, two, 2);
	check(python_text(&own.pm, &layout, (u64)&text, out));
	same(strlen(out), 510);
	end();
}

static void no_strings(void)
{
	static struct text text;
	char out[PYTHON_TEXT];

	begin();
	set_text(&text, "spam", 4, 1, true);
	check(!python_text(&own.pm, &layout, 0, out));
	check(!python_text(&own.pm, &layout, 8, out));
	text.state &= ~(1U << 5);
	check(!python_text(&own.pm, &layout, (u64)&text, out));
	set_text(&text, "spam and eggs", 4, 3, false);
	check(!python_text(&own.pm, &layout, (u64)&text, out));
	set_text(&text, "", 0, 3, true);
	check(!python_text(&own.pm, &layout, (u64)&text, out));
	set_text(&text, "spam", 4, 1, true);
	text.length = ~0ULL;
	check(python_text(&own.pm, &layout, (u64)&text, out) && !strcmp(out, "spam"));
	end();
}

static int read_offsets(struct python_layout *found, const u64 *offsets, u32 version)
{
	const struct python_file file = { .runtime = (u64)offsets, .version = version };

	hybrid_memory_forget(own.memory);
	return python_layout__read(found, &own.pm, &file);
}

static void versions(void)
{
	static u64 offsets[128];
	struct python_layout found;

	begin();
	check(read_offsets(&found, offsets, 0x03070000));
	check(read_offsets(&found, offsets, PY_3_13));
	memcpy(offsets, "xdebugpy", 8);
	check(read_offsets(&found, offsets, PY_3_13));
	offsets[1] = PY_3_13;
	check(read_offsets(&found, offsets, PY_3_13));
	offsets[544 / 8] = 32;
	offsets[552 / 8] = 16;
	check(!read_offsets(&found, offsets, PY_3_13));
	check(read_offsets(&found, offsets, 0x030e0000));
	offsets[264 / 8] = 70;
	offsets[280 / 8] = 112;
	offsets[296 / 8] = 128;
	offsets[304 / 8] = 136;
	check(!read_offsets(&found, offsets, PY_3_13));
	same(found.walk.code.file, 112);
	same(found.walk.code.name, 2);
	/* co_flags; and co_code is no object of its own any more. */
	same(found.walk.code.flags, 48);
	same(found.walk.code.code, 0);
	/* What BPF reads at once must be together. */
	offsets[304 / 8] = 144;
	check(read_offsets(&found, offsets, PY_3_13));
	offsets[304 / 8] = 136;
	offsets[544 / 8] = 40;
	check(read_offsets(&found, offsets, PY_3_13));
	offsets[544 / 8] = 32;
	check(!read_offsets(&found, offsets, PY_3_13));
	same(found.walk.kind, 70);
	same(found.walk.mark, 128);
	same(found.walk.frame_size, 78);
	offsets[296 / 8] = 1ULL << 40;
	check(read_offsets(&found, offsets, PY_3_13));
	end();
}

/* Those of the table, and processes that don't fit it. */
static void versions_of_the_table(void)
{
	struct python_layout found;

	begin();
	check(!read_version(&found, PY_3_9, 176));
	same(found.walk.position, 104);
	check(!read_version(&found, PY_3_10, 176));
	same(found.walk.position, 96);
	check(!read_version(&found, PY_3_12, 192));
	same(found.walk.kind, 70);
	check(read_version(&found, PY_3_9, 184));
	check(read_version(&found, PY_3_11, 192));
	check(read_version(&found, PY_3_12, 184));
	/* One that has just begun, and one whose thread is another interpreter's. */
	memset(runtime, 0, sizeof(runtime));
	check(!read_file(&found, PY_3_12, 192));
	check(read_file(&found, PY_3_12, 184));
	runtime[5] = (u64)interp;
	thread[2] = (u64)thread;
	check(read_file(&found, PY_3_12, 192));
	end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "lines of a code object",			lines },
		{ "lines before 3.11",				older_lines },
		{ "random line tables",				random_lines },
		{ "strings",					strings },
		{ "what is no string",				no_strings },
		{ "versions that say it",			versions },
		{ "versions of the table",			versions_of_the_table },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
