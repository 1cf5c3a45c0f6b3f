// SPDX-License-Identifier: GPL-2.0
/*
 * Code objects of CPython that BPF has read: the records that it writes of them.
 */
#include <string.h>
#include "../hybrid/runtime/walk-interpreter.h"
#include "code-object.h"
#include "own-memory.h"
#include "tap.h"

#define TYPE	0x5000
#define CODE	0x7f0012345670ULL
#define FIRST	(CODE + 184)

/* How 3.11 stores a string: bytes of a character, that these follow its head, and ASCII. */
#define STATE(width, is_ascii)	((width) << 2 | 1 << 5 | ((is_ascii) ? 1 << 6 : 0))

static const struct python_layout layout = {
	.walk.code.kind = 2, .type = 8, .code = 184, .kind = 2,
};

static struct hybrid_walk_text text;
static struct python_codes codes;
static struct hybrid_names *names;
static size_t used;

static void put(unsigned int i, const void *bytes, size_t size)
{
	memcpy(text.bytes + used, bytes, size);
	text.sizes[i] = size;
	used += size;
}

/* Line 7 is that of 6 instructions. */
static void make(u64 mark, const char *file, const char *name)
{
	memset(&text, 0, sizeof(text));
	text.function = CODE | mark << 48;
	text.type = TYPE;
	text.size = 6;
	text.line = 7;
	text.states[0] = STATE(1, true);
	text.states[1] = STATE(1, true);
	used = 0;
	put(0, file, strlen(file));
	put(1, name, strlen(name));
	put(2, "\x85\x00", 2);
}

static void take(void)
{
	python_codes__text(&codes, names, &text, offsetof(struct hybrid_walk_text, bytes) + used);
}

static u64 ip_of(u64 mark, u64 position)
{
	return python_codes__ip(&codes, names, CODE | mark << 48, position);
}

static const char *last_name(void)
{
	u64 start, size;

	return hybrid_names__get(names, hybrid_names__nr(names) - 1, &start, &size);
}

static void begin(void)
{
	own_begin();
	memset(&codes, 0, sizeof(codes));
	codes.pm = &own.pm;
	codes.layout = &layout;
	codes.type = TYPE;
	names = hybrid_names__new(HYBRID_LANGUAGE_PYTHON);
}

static void end(void)
{
	python_codes__exit(&codes);
	hybrid_names__delete(names);
	own_end();
}

/* Nothing of the process is read: there is no such memory in it. */
static void names_of_the_record(void)
{
	u64 start, size, ip;

	begin();
	check(!ip_of(1, FIRST));
	make(1, "a.py", "f");
	take();
	check(!strcmp(hybrid_names__get(names, 0, &start, &size), "py::f:a.py"));
	ip = ip_of(1, FIRST + 4);
	same(ip, hybrid_names_ip(start + hybrid_names__start(names), 6, 2));
	same(size, 12);
	/* Other code has its address now. Samples of each have its name. */
	make(2, "b.py", "<module>");
	take();
	check(!strcmp(last_name(), "py::<module>:b.py"));
	check(ip_of(2, FIRST) != ip);
	same(ip_of(1, FIRST + 4), ip);
	check(!ip_of(3, FIRST));
	end();
}

/* What a process is told it has, after its copies were made. */
static void names_of_a_copy(void)
{
	struct python_codes copy = { .pm = &own.pm, .layout = &layout, .type = TYPE };
	u64 ip;

	begin();
	make(1, "a.py", "f");
	take();
	ip = ip_of(1, FIRST);
	python_codes__inherit(&copy, &codes);
	same(python_codes__ip(&copy, names, CODE | 1ULL << 48, FIRST), ip);
	make(1, "a.py", "g");
	python_codes__text(&copy, names, &text, offsetof(struct hybrid_walk_text, bytes) + used);
	check(python_codes__ip(&copy, names, CODE | 1ULL << 48, FIRST) != ip);
	same(ip_of(1, FIRST), ip);
	python_codes__exit(&copy);
	end();
}

/* Code that the program has made of text. */
static void no_file(void)
{
	begin();
	make(1, "", "<module>");
	take();
	check(!strcmp(last_name(), "py::<module>:"));
	check(ip_of(1, FIRST));
	end();
}

static void wide_strings(void)
{
	static const u16 two[] = { 0x20ac, 'x' };
	static const u32 four[] = { 0x1f40d };

	begin();
	make(1, "", "");
	text.states[0] = STATE(2, false);
	text.states[1] = STATE(4, false);
	used = 0;
	put(0, two, sizeof(two));
	put(1, four, sizeof(four));
	put(2, "", 0);
	take();
	check(!strcmp(last_name(), "py::\xf0\x9f\x90\x8d:\xe2\x82\xacx"));
	/* Without a line table, too. */
	check(ip_of(1, FIRST));
	end();
}

/* Not a code object; sizes beyond the record; strings that are none. */
static void lies(void)
{
	begin();
	make(1, "a.py", "f");
	text.type++;
	take();
	make(1, "a.py", "f");
	text.sizes[2] = 0xffff;
	take();
	make(1, "a.py", "f");
	text.states[1] = STATE(3, false);
	take();
	make(1, "a.py", "f");
	text.states[1] = STATE(2, true);
	take();
	make(1, "a.py", "f");
	python_codes__text(&codes, names, &text, offsetof(struct hybrid_walk_text, bytes) - 1);
	python_codes__text(&codes, names, &text, offsetof(struct hybrid_walk_text, bytes) + 3);
	same(hybrid_names__nr(names), 0);
	check(!ip_of(1, FIRST));
	make(1, "a.py", "f");
	text.size = ~0ULL;
	take();
	same(hybrid_names__nr(names), 1);
	end();
}

static void random_records(void)
{
	unsigned int round, i;
	u64 *words = (u64 *)&text;

	begin();
	for (round = 0; round < 2000; round++) {
		make(round, "a.py", "f");
		for (i = 0; i < 8; i++)
			words[tap_random() % 32] ^= tap_random();
		text.type = TYPE;
		python_codes__text(&codes, names, &text, tap_random() % sizeof(text));
	}
	check(hybrid_names__nr(names) <= 2000);
	end();
}

/* Modules of one size have the same addresses and lengths; nobody has hashed the file's name. */
static void identities(void)
{
	struct hybrid_python_string string = { .length = 4, .hash = HYBRID_PYTHON_NO_HASH };
	__u64 tail[4] = { 1, 2, 3, 4 };
	u64 first, second;

	first = hybrid_python_identity(8, 16, 24, &string, tail);
	check(first & HYBRID_PYTHON_IS);
	tail[3]++;
	second = hybrid_python_identity(8, 16, 24, &string, tail);
	check(first != second);
	check(HYBRID_WALK_FUNCTION_MARK(first) != HYBRID_WALK_FUNCTION_MARK(second));
	string.hash = 5;
	first = hybrid_python_identity(8, 16, 24, &string, tail);
	tail[3]++;
	same(hybrid_python_identity(8, 16, 24, &string, tail), first);
	check(hybrid_python_identity(16, 8, 24, &string, tail) != first);
	check(hybrid_python_identity(8, 16, 32, &string, tail) != first);
	string.length++;
	check(hybrid_python_identity(8, 16, 24, &string, tail) != first);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "names without the process's memory",		names_of_the_record },
		{ "names of a copy of a process",		names_of_a_copy },
		{ "no name of a file",				no_file },
		{ "strings that are not ASCII",			wide_strings },
		{ "records that lie",				lies },
		{ "random records",				random_records },
		{ "identities of code objects",			identities },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
