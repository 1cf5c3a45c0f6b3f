// SPDX-License-Identifier: GPL-2.0
/*
 * Functions of V8 that BPF has read: its records of them, when the process has ended.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "elf-made.h"
#include "own-memory.h"
#include "space.h"
#include "tap.h"
#include "v8-function.h"
#include "v8-source.h"

/* Nothing is there. */
#define SHARED		0x1234567890ULL
#define MARK		0x234567

static const struct v8_layout layout = { .first_nonstring = 128, .type_shared = 262 };
static struct v8_functions functions;
static struct hybrid_names *names;
static struct hybrid_walk_text text;
static struct hybrid_walk_v8_source source;
static size_t used;
static char path[64];
/* V8's own file; NULL: it is not known. */
static const struct hybrid_mapping *own_file;

static void begin(void)
{
	own_begin();
	memset(&functions, 0, sizeof(functions));
	functions.heap = (struct v8_heap) { .pm = &own.pm, .layout = &layout };
	names = hybrid_names__new(HYBRID_LANGUAGE_V8);
}

static void end(void)
{
	hybrid_names__delete(names);
	v8_functions__exit(&functions);
	own_end();
}

static void put(unsigned int piece, const void *chars, size_t size, unsigned int width)
{
	u16 head = HYBRID_V8_PART(size, width);

	memcpy(text.bytes + used, &head, sizeof(head));
	memcpy(text.bytes + used + sizeof(head), chars, size);
	used += sizeof(head) + size;
	text.sizes[piece] += sizeof(head) + size;
}

/* The function has the characters from @start to @last. */
static void make(u64 shared, u32 mark, const char *name, const char *file, s32 start, s32 last)
{
	memset(&text, 0, sizeof(text));
	text.function = shared;
	text.type = 0x1001;
	text.size = 0x2001;
	text.line = start;
	text.states[0] = last;
	text.states[1] = mark;
	memcpy(text.bytes, &source, sizeof(source));
	text.sizes[0] = sizeof(source);
	used = sizeof(source);
	if (*name)
		put(1, name, strlen(name), 1);
	if (*file)
		put(2, file, strlen(file), 1);
}

static void take(void)
{
	v8_functions__text(&functions, names, own_file, &text,
			   offsetof(struct hybrid_walk_text, bytes) + used);
}

static const struct v8_function *get(u64 shared, u32 mark)
{
	return v8_functions__get(&functions, names, HYBRID_WALK_NATIVE_FUNCTION(shared, (u64)mark),
				 HYBRID_WALK_NATIVE_POSITION(0, 0, (u64)mark, 0));
}

static const char *last_name(void)
{
	u64 start, size;

	return hybrid_names__nr(names) ?
	       hybrid_names__get(names, hybrid_names__nr(names) - 1, &start, &size) : "";
}

static void make_file(const char *bytes)
{
	int fd;

	snprintf(path, sizeof(path), "/tmp/v8 text.XXXXXX");
	fd = mkstemp(path);
	check(write(fd, bytes, strlen(bytes)) == (ssize_t)strlen(bytes));
	close(fd);
}

/* The name, the mark, and what has another one at the same address. */
static void name(void)
{
	static const u16 wide[] = { 'o', 0x20ac };

	begin();
	make(SHARED, MARK, "sp", "", 5, 9);
	put(1, wide, sizeof(wide), 2);
	take();
	check(!strcmp(last_name(), "js::spo\u20ac"));
	check(get(SHARED, MARK));
	check(!get(SHARED, MARK + 1));
	check(!get(SHARED + 8, MARK));
	check(v8_functions__at(&functions, names, SHARED));
	make(SHARED, MARK + 1, "egg", "node:egg", 5, 9);
	take();
	check(!strcmp(last_name(), "js::egg node:egg"));
	check(get(SHARED, MARK + 1));
	check(!get(SHARED, MARK));
	make(SHARED, MARK + 2, "", "", -1, -1);
	take();
	check(!strcmp(last_name(), "js::(anonymous)"));
	/* What has no place in its script. */
	make(SHARED, MARK + 3, "get", "x.js", -1, -1);
	take();
	check(!strcmp(last_name(), "js::get x.js:0"));
	end();
}

static void expect_line(const char *file, s32 start, const char *line)
{
	static u32 mark;
	char expected[256];

	make(SHARED, ++mark, "f", file, start, start + 1);
	take();
	snprintf(expected, sizeof(expected), "js::f %s%s", file, line);
	check(!strcmp(last_name(), expected));
}

/* Of 23 UTF-16 characters in five lines. */
static void file_lines(void)
{
	char url[80];

	make_file("\xef\xbb\xbf// \u00e9\u20ac\U0001f600\nspam()\n\negg()\n3");
	begin();
	source = (struct hybrid_walk_v8_source) { .length = 23, .width = 2 };
	expect_line(path, 7, ":1");
	expect_line(path, 8, ":2");
	expect_line(path, 15, ":3");
	expect_line(path, 16, ":4");
	expect_line(path, 23, ":5");
	expect_line(path, 24, "");
	/* The same, by another name, and what is called so but has changed. */
	snprintf(url, sizeof(url), "file:///tmp/v8%%20%s", strchr(path, ' ') + 1);
	expect_line(url, 8, ":2");
	source.length = 24;
	expect_line(url, 8, "");
	/* No file, and no path. */
	unlink(path);
	source.length = 23;
	expect_line("/tmp", 8, "");
	expect_line("file://srv", 8, "");
	expect_line("/tmp/%", 8, "");
	expect_line("file:///tmp/%", 8, "");
	expect_line("../a.js", 8, "");
	end();
	source = (struct hybrid_walk_v8_source) {};
}

/* Characters that are in no object, of a script of V8's own. */
static void mapped_lines(void)
{
	static const u16 wide[] = { '\n', 0x20ac, '\n' };
	static const char chars[] = "one\ntwo\n";

	begin();
	source = (struct hybrid_walk_v8_source) { .chars = (u64)chars, .length = 8, .width = 1 };
	expect_line("node:a", 3, ":1");
	expect_line("node:a", 4, ":2");
	source = (struct hybrid_walk_v8_source) { .chars = (u64)wide, .length = 3, .width = 2 };
	expect_line("node:b", 1, ":2");
	source.chars = 0x1000;
	expect_line("node:c", 1, "");
	source.width = 3;
	source.chars = (u64)chars;
	expect_line("node:d", 1, "");
	source.width = 1;
	source.length = ~0U;
	expect_line("node:e", 1, "");
	end();
	source = (struct hybrid_walk_v8_source) {};
}

/* A script of V8's own, in memory that is gone: V8's file has it. */
static void lines_of_file(void)
{
	static const char chars[] = "one\ntwo\n";
	const u64 bias = 0x7e0000000000ULL, vaddr = 0x10000;
	struct hybrid_mapping mapping = {};
	const struct hybrid_segment *seg;
	struct elf_made elf;

	elf_made_begin(&elf);
	elf_made_loaded(&elf, ".text", SHF_EXECINSTR, vaddr, chars, sizeof(chars));
	mapping.object = elf_made_object(&elf);
	seg = &mapping.object->segments[0];
	mapping.start = bias + seg->vaddr;
	mapping.end = mapping.start + seg->size;
	mapping.pgoff = seg->offset;
	begin();
	source = (struct hybrid_walk_v8_source) {
		.chars = bias + vaddr, .length = 8, .width = 1,
	};
	expect_line("node:a", 4, "");
	own_file = &mapping;
	expect_line("node:b", 4, ":2");
	/* As it is not mapped, and behind its end. */
	source.chars = vaddr;
	expect_line("node:c", 4, "");
	source.chars = bias + vaddr + sizeof(chars) - 7;
	expect_line("node:d", 4, "");
	/* The mapping has nothing of the segment. */
	mapping.pgoff += 0x100000;
	source.chars = bias + vaddr;
	expect_line("node:e", 4, "");
	own_file = NULL;
	end();
	elf_made_close(mapping.object);
	source = (struct hybrid_walk_v8_source) {};
}

/* BPF does not tell them again: as many as it remembers in most processes. */
static void many(void)
{
	unsigned int i, nr = 0;
	char called[16];

	begin();
	for (i = 1; i <= 8192; i++) {
		snprintf(called, sizeof(called), "f%u", i);
		make(64 * i, i, called, "", 0, 1);
		take();
	}
	for (i = 1; i <= 8192; i++)
		nr += !!get(64 * i, i);
	same(nr, 8192);
	/* What is more begins anew. */
	for (; i <= 20000; i++) {
		make(64 * i, i, "g", "", 0, 1);
		take();
		if (!get(64 * i, i))
			check(false);
	}
	end();
}

/* Records that are too short for what they say, and of random bytes. */
static void lies(void)
{
	size_t size, head = offsetof(struct hybrid_walk_text, bytes);
	unsigned int round, i;
	u32 nr;

	begin();
	make(SHARED, MARK, "spam", "egg.js", 5, 9);
	for (size = 0; size < head + used; size++)
		v8_functions__text(&functions, names, NULL, &text, size);
	same(hybrid_names__nr(names), 0);
	make(SHARED, MARK, "spam", "egg.js", 5, 9);
	text.sizes[0]--;
	take();
	make(0, MARK, "spam", "egg.js", 5, 9);
	take();
	same(hybrid_names__nr(names), 0);
	/* A part that is longer than its piece, and control characters. */
	make(SHARED, MARK, "spam\x1b[2J\n", "", 5, 9);
	text.bytes[sizeof(source)] += 2;
	take();
	check(!strcmp(last_name(), "js::(anonymous)"));
	make(SHARED, MARK + 1, "spam\x1b[2J\n", "", 5, 9);
	take();
	check(!strchr(last_name(), '\n') && !strchr(last_name(), 0x1b));
	nr = hybrid_names__nr(names);
	for (round = 0; round < 20000; round++) {
		make(SHARED + 8 * round, round, "spam", "egg.js", tap_random(), tap_random());
		for (i = 0; i < 4; i++)
			text.bytes[tap_random() % used] = tap_random();
		text.sizes[tap_random() % 3] = tap_random() % (2 * used);
		v8_functions__text(&functions, names, NULL, &text, head + tap_random() % used);
	}
	check(hybrid_names__nr(names) >= nr);
	end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "names, and another function at the place",	name },
		{ "lines of a source that is a file",		file_lines },
		{ "lines of a source in V8's file",		mapped_lines },
		{ "lines of a source that only the file has",	lines_of_file },
		{ "more functions than the table has at first",	many },
		{ "lying and random records",			lies },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
