// SPDX-License-Identifier: GPL-2.0
/*
 * CPython's line tables, strings and code objects; the process is the test's own.
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../hybrid/bpf_skel/python-text.h"
#include "code-object.h"
#include "line-table.h"
#include "own-memory.h"
#include "tap.h"
#include "unicode.h"

#define PY_3_9	0x030902f0
#define PY_3_10	0x030a02f0
#define PY_3_11	0x030b02f0
#define PY_3_12	0x030c02f0
#define PY_3_13	0x030d05f0

static struct python_layout layout;

/* What there must be for the table of versions to fit; in words. */
static u64 runtime[8], interp[16], thread[32], code_type[8];

static int read_file(struct python_layout *found, u32 version, u64 code_size)
{
	const struct python_file file = {
		.runtime = (u64)runtime, .code_type = (u64)code_type, .version = version,
	};

	code_type[4] = code_size;
	hybrid_memory_forget(own.memory);
	return python_layout__read(found, &own.pm, &file);
}

static int read_version(struct python_layout *found, u32 version, u64 code_size)
{
	bool is_old = version < PY_3_11, is_3_12 = version == PY_3_12;

	memset(runtime, 0, sizeof(runtime));
	memset(interp, 0, sizeof(interp));
	runtime[is_old ? 4 : 5] = (u64)interp;
	interp[is_old ? 1 : is_3_12 ? 9 : 2] = (u64)thread;
	thread[2] = (u64)interp;
	return read_file(found, version, code_size);
}

static void begin(void)
{
	own_begin();
	check(!read_version(&layout, PY_3_11, 184));
}

static void end(void)
{
	own_end();
}

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

/* An object of 3.11's str. */
struct text {
	u64	head[2];
	u64	length;
	u64	hash;
	u32	state;
	u32	unused;
	u64	wstr;
	u8	bytes[2048];
};

static void set_text(struct text *text, const void *chars, u64 length, unsigned int width,
		     bool is_ascii)
{
	memset(text, 0, sizeof(*text));
	text->length = length;
	text->state = width << 2 | 1 << 5 | (is_ascii ? 1 << 6 : 0);
	memcpy(text->bytes + (is_ascii ? 0 : 24), chars, length * width);
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

/* What of a code object is read, where 3.11 has it; and its line table. */
static struct {
	u64	words[24];
	u64	table[8];
	u64	type;
} code;

static struct text name, file;
static struct python_codes codes;
static struct hybrid_names *names;

/* @name_at: where the code object has the address of its name. */
static u64 word_of(unsigned int file_at, unsigned int name_at, unsigned int table_at)
{
	const struct text *text = (const struct text *)code.words[file_at / 8];
	const struct hybrid_python_string string = { .length = text->length };
	u64 identity = hybrid_python_identity((u64)text, code.words[name_at / 8],
					      code.words[table_at / 8], &string, NULL);

	return (u64)&code | HYBRID_WALK_FUNCTION_MARK(identity);
}

static u64 function_word(void)
{
	return word_of(112, 128, 136);
}

static u64 ip_of(u64 position)
{
	return python_codes__ip(&codes, names, function_word(), position);
}

static void begin_code(void)
{
	begin();
	memset(&code, 0, sizeof(code));
	memset(&codes, 0, sizeof(codes));
	set_text(&name, "f", 1, 1, true);
	set_text(&file, "a.py", 4, 1, true);
	code.words[1] = (u64)&code.type;
	code.words[2] = 6;
	code.words[72 / 8] = 7;
	code.words[112 / 8] = (u64)&file;
	code.words[128 / 8] = (u64)&name;
	code.words[136 / 8] = (u64)code.table;
	code.table[2] = 2;
	memcpy(&code.table[4], "\x85\x12", 2);
	codes.pm = &own.pm;
	codes.layout = &layout;
	codes.type = (u64)&code.type;
	names = hybrid_names__new(HYBRID_RUNTIME_PYTHON);
}

static void end_code(void)
{
	python_codes__exit(&codes);
	hybrid_names__delete(names);
	end();
}

static void code_objects(void)
{
	u64 first = (u64)&code + 184, start, size, ip;

	begin_code();
	ip = ip_of(first + 4);
	check(ip);
	check(!strcmp(hybrid_names__get(names, 0, &start, &size), "py::f:a.py"));
	same(ip, hybrid_names_ip(start + hybrid_names__start(names), 6, 2));
	/* Before the first instruction, and behind the last one. */
	same(ip_of(first - 2), hybrid_names_ip(start + hybrid_names__start(names), 6, 0));
	same(ip_of(first + 400), hybrid_names_ip(start + hybrid_names__start(names), 6, 0));
	same(hybrid_names__nr(names), 1);
	end_code();
}

/* What is no code object, or another one than the sample's. */
static void no_code_objects(void)
{
	u64 first = (u64)&code + 184, was, ip;

	begin_code();
	was = function_word();
	check(!python_codes__ip(&codes, names, 8, first));
	code.words[1]++;
	check(!ip_of(first));
	code.words[1]--;
	hybrid_memory_forget(own.memory);
	check(!python_codes__ip(&codes, names, was ^ 1ULL << 50, first));
	ip = ip_of(first);
	check(ip);
	/* Its memory is another one's now, but not that of samples before. */
	hybrid_memory_forget(own.memory);
	code.words[128 / 8] = (u64)&file;
	code.words[112 / 8] = (u64)&name;
	same(hybrid_names__nr(names), 1);
	check(ip_of(first));
	same(python_codes__ip(&codes, names, was, first), ip);
	same(hybrid_names__nr(names), 2);
	check(python_codes__unknown(&codes, names));
	end_code();
}

/* 3.9's: its instructions are another object, and a frame has an offset in them, and its line. */
static void older_code_objects(void)
{
	static u64 bytes[6];
	u64 start, size, at;

	begin_code();
	check(!read_version(&layout, PY_3_9, 176));
	code.words[40 / 8] = 7;
	code.words[48 / 8] = (u64)bytes;
	code.words[104 / 8] = (u64)&file;
	code.words[112 / 8] = (u64)&name;
	code.words[120 / 8] = (u64)code.table;
	bytes[2] = 12;
	at = word_of(104, 112, 120);
	check(python_codes__ip(&codes, names, at, 9ULL << 32 | 4));
	check(!strcmp(hybrid_names__get(names, 0, &start, &size), "py::f:a.py"));
	start += hybrid_names__start(names);
	same(python_codes__ip(&codes, names, at, 9ULL << 32 | 4), hybrid_names_ip(start, 6, 2));
	same(python_codes__ip(&codes, names, at, 0xffffffff), hybrid_names_ip(start, 6, 0));
	/* 3.10's counts instructions. */
	check(!read_version(&layout, PY_3_10, 176));
	same(python_codes__ip(&codes, names, at, 4), hybrid_names_ip(start, 6, 4));
	end_code();
}

/* However many there are: what is known stays so when the process has gone. */
static void many_code_objects(void)
{
	struct python_codes copy = { .pm = &own.pm, .layout = &layout };
	static struct text more[3000];
	u64 first = (u64)&code + 184, ips[ARRAY_SIZE(more)], words[ARRAY_SIZE(more)];
	unsigned int i;

	begin_code();
	copy.type = codes.type;
	for (i = 0; i < ARRAY_SIZE(more); i++) {
		set_text(&more[i], &i, 3, 1, false);
		more[i].bytes[24] |= 1;
		code.words[128 / 8] = (u64)&more[i];
		words[i] = function_word();
		hybrid_memory_forget(own.memory);
		ips[i] = ip_of(first);
		check(ips[i]);
	}
	code.words[1] = 0;
	hybrid_memory_forget(own.memory);
	python_codes__inherit(&copy, &codes);
	for (i = 0; i < ARRAY_SIZE(more); i++) {
		same(python_codes__ip(&codes, names, words[i], first), ips[i]);
		same(python_codes__ip(&copy, names, words[i], first), ips[i]);
	}
	python_codes__exit(&copy);
	end_code();
}

/* What a copy of a process has not any more its parent may have. Here another one has it. */
static void parents_code_objects(void)
{
	u64 first = (u64)&code + 184;
	pid_t other;

	begin_code();
	other = fork();
	if (!other) {
		pause();
		_exit(0);
	}
	code.words[1] = 0;
	hybrid_memory_forget(own.memory);
	check(!ip_of(first));
	codes.parent = (struct hybrid_process_memory) {
		.memory = own.memory, .objects = &own.ps.objects, .pid = other,
	};
	check(ip_of(first));
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	end_code();
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
		{ "code objects",				code_objects },
		{ "what is no code object, or another one",	no_code_objects },
		{ "code objects before 3.11",			older_code_objects },
		{ "many code objects, and a copy of them",	many_code_objects },
		{ "code objects of the parent",			parents_code_objects },
		{ "versions that say it",			versions },
		{ "versions of the table",			versions_of_the_table },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
