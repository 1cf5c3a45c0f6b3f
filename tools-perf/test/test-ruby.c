// SPDX-License-Identifier: GPL-2.0
/*
 * CRuby's strings, arrays, lines, code and methods in C; the process is the test's own.
 */
#include <string.h>
#include "insn-lines.h"
#include "method-name.h"
#include "own-memory.h"
#include "ruby-functions.h"
#include "tap.h"

#define APART	0x2000

static const struct ruby_layout *layout;

static void begin(const char *version)
{
	own_begin();
	layout = ruby_layout__find(version);
	check(layout);
}

static void end(void)
{
	own_end();
}

static void versions(void)
{
	check(ruby_layout__find("3.1.2") && ruby_layout__find("3.3.8"));
	same(ruby_layout__find("3.1.7")->walk.frame_size, 64);
	same(ruby_layout__find("3.3.0")->walk.frame_size, 56);
	check(!ruby_layout__find("3.2.3") && !ruby_layout__find("3.10.0"));
	check(!ruby_layout__find("") && !ruby_layout__find("3"));
}

/* An object of 3.1's String: in itself, and elsewhere. */
static void set_text(u64 *text, const char *chars)
{
	size_t length = strlen(chars);

	memset(text, 0, 5 * sizeof(*text));
	text[0] = RUBY_STRING | length << 14;
	memcpy(text + 2, chars, length);
}

static void set_long(u64 *text, const char *chars, u64 length)
{
	memset(text, 0, 5 * sizeof(*text));
	text[0] = RUBY_STRING | APART;
	text[2] = length;
	text[3] = (u64)chars;
}

static void strings(void)
{
	static char many[400];
	static u64 text[5];
	char out[RUBY_TEXT];

	begin("3.1.2");
	set_text(text, "spam");
	check(ruby_text(&own.pm, layout, (u64)text, out) && !strcmp(out, "spam"));
	set_long(text, "spam and eggs", 8);
	check(ruby_text(&own.pm, layout, (u64)text, out) && !strcmp(out, "spam and"));
	memset(many, 'x', sizeof(many));
	set_long(text, many, ~0ULL);
	check(ruby_text(&own.pm, layout, (u64)text, out));
	same(strlen(out), RUBY_TEXT - 1);
	end();
	begin("3.3.8");
	text[0] = RUBY_STRING;
	text[2] = 3;
	memcpy(text + 3, "eggs", 4);
	check(ruby_text(&own.pm, layout, (u64)text, out) && !strcmp(out, "egg"));
	end();
}

static void no_strings(void)
{
	static u64 text[5];
	char out[RUBY_TEXT];

	begin("3.1.2");
	check(!ruby_text(&own.pm, layout, 0, out));
	check(!ruby_text(&own.pm, layout, 8, out));
	set_text(text, "");
	check(!ruby_text(&own.pm, layout, (u64)text, out));
	set_text(text, "spam");
	check(!ruby_text(&own.pm, layout, (u64)text + 1, out));
	text[0] = RUBY_ARRAY;
	check(!ruby_text(&own.pm, layout, (u64)text, out));
	set_long(text, (char *)8, 4);
	check(!ruby_text(&own.pm, layout, (u64)text, out));
	end();
}

static void arrays(void)
{
	static u64 array[5], elements[3] = { 7, 8, 9 };

	begin("3.1.2");
	array[0] = RUBY_ARRAY | 0x2000 | 2 << 15;
	array[2] = 5;
	array[3] = 6;
	array[4] = 7;
	same(ruby_element(&own.pm, (u64)array, 1), 6);
	same(ruby_element(&own.pm, (u64)array, 2), 0);
	array[0] = RUBY_ARRAY;
	array[2] = 3;
	array[4] = (u64)elements;
	hybrid_memory_forget(own.memory);
	same(ruby_element(&own.pm, (u64)array, 2), 9);
	same(ruby_element(&own.pm, (u64)array, 3), 0);
	array[2] = ~0ULL;
	hybrid_memory_forget(own.memory);
	same(ruby_element(&own.pm, (u64)array, 1ULL << 60), 0);
	end();
}

/* struct iseq_insn_info of CRuby, with entries at 0, 2, 53, 54, 120 and 700. */
static struct {
	u64	entries;
	u64	positions;
	u64	nr;
	u64	table;
} insns;

static const u32 positions[] = { 0, 2, 53, 54, 120, 700 };
static u32 entries[ARRAY_SIZE(positions)][3];
static u64 table[6 + 2 * 10];

/* As succ_index_table_create() does. */
static void set_table(void)
{
	unsigned int i, r = 0, at;

	memset(table, 0, sizeof(table));
	for (i = 0; i < 54; i++) {
		if (positions[r] == i)
			r++;
		table[i / 9] |= (u64)r << i % 9 * 7;
	}
	for (; r < ARRAY_SIZE(positions); r++) {
		at = positions[r] - 54;
		table[6 + at / 512 * 10 + 2 + at % 512 / 64] |= 1ULL << at % 64;
	}
	for (i = 0; i < ARRAY_SIZE(positions); i++)
		entries[i][0] = 10 + i;
	entries[4][0] = entries[3][0];
	insns.entries = (u64)entries;
	insns.nr = ARRAY_SIZE(positions);
	insns.table = (u64)table;
}

static void lines(void)
{
	static const struct hybrid_name_line expected[] = {
		{ 0, 10 }, { 2, 11 }, { 53, 12 }, { 54, 13 }, { 700, 15 },
	};
	struct hybrid_name_line out[8];
	unsigned int i;

	begin("3.1.2");
	set_table();
	same(ruby_lines(&own.pm, (u64)&insns, 800, out, 8), ARRAY_SIZE(expected));
	for (i = 0; i < ARRAY_SIZE(expected); i++) {
		same(out[i].index, expected[i].index);
		same(out[i].line, expected[i].line);
	}
	same(ruby_lines(&own.pm, (u64)&insns, 800, out, 2), 2);
	same(ruby_lines(&own.pm, (u64)&insns, 54, out, 8), 3);
	insns.nr = 2;
	hybrid_memory_forget(own.memory);
	same(ruby_lines(&own.pm, (u64)&insns, 800, out, 8), 2);
	insns.table = 0;
	hybrid_memory_forget(own.memory);
	same(ruby_lines(&own.pm, (u64)&insns, 800, out, 8), 0);
	same(ruby_lines(&own.pm, 8, ~0U, out, 8), 0);
	end();
}

/* Code, of 3.1. */
static struct code {
	u64	object[5];
	u64	body[40];
	u64	label[5];
	u64	words[8];
} method;

static u64 path[5];
static struct ruby_functions functions;
static struct hybrid_names *names;

static void begin_code(void)
{
	begin("3.1.2");
	set_long(path, "/a.rb", 5);
	memset(&method, 0, sizeof(method));
	method.object[0] = RUBY_CODE;
	method.object[2] = (u64)method.body;
	method.body[0] = 8ULL << 32;
	method.body[1] = (u64)method.words;
	method.body[8] = (u64)path;
	method.body[10] = (u64)method.label;
	set_text(method.label, "block in spam");
	memset(&functions, 0, sizeof(functions));
	functions.pm = &own.pm;
	functions.layout = layout;
	functions.symbols.table = 8;
	functions.symbols.ids = 8;
	names = hybrid_names__new(HYBRID_LANGUAGE_RUBY);
}

static void end_code(void)
{
	ruby_functions__exit(&functions);
	hybrid_names__delete(names);
	end();
}

/* What BPF writes of an object. */
static u64 word_of(const u64 *object)
{
	const u64 *own = (const u64 *)object[2], *words = &object[3];

	if (object[0] == RUBY_CODE)
		words = &own[RUBY_PATH / sizeof(u64)];
	return (u64)object |
	       HYBRID_WALK_FUNCTION_MARK(hybrid_ruby_identity(object[2], words[0], words[1]));
}

static u64 function_word(const struct code *code)
{
	return word_of(code->object);
}

static void forget(void)
{
	hybrid_memory_forget(own.memory);
	ruby_functions__exit(&functions);
}

static u64 ip_of(u64 position)
{
	return ruby_functions__ip(&functions, names, function_word(&method), position);
}

static void code(void)
{
	u64 first = (u64)method.words, start, size, was;

	begin_code();
	check(ip_of(first + 16));
	check(!strcmp(hybrid_names__get(names, 0, &start, &size), "rb::block in spam:/a.rb"));
	start += hybrid_names__start(names);
	/* The position is behind the instruction. */
	same(ip_of(first + 16), hybrid_names_ip(start, 8, 1));
	same(ip_of(first), hybrid_names_ip(start, 8, 0));
	same(ip_of(first + 400), hybrid_names_ip(start, 8, 0));
	same(hybrid_names__nr(names), 1);
	/* What is no code, or another one; it does not take the place of what is known. */
	was = function_word(&method);
	check(!ruby_functions__ip(&functions, names, 8, first));
	check(!ruby_functions__ip(&functions, names, was ^ 1ULL << 50, first));
	check(!ruby_functions__ip(&functions, names, was, 0));
	same(ip_of(first), hybrid_names_ip(start, 8, 0));
	/* What was read of it is in the mark: it is not read again. */
	method.body[9] = 8;
	hybrid_memory_forget(own.memory);
	same(ruby_functions__ip(&functions, names, was, first), hybrid_names_ip(start, 8, 0));
	ruby_functions__exit(&functions);
	check(!ruby_functions__ip(&functions, names, was, first));
	check(ip_of(first));
	method.object[0] = RUBY_STRING;
	forget();
	check(!ip_of(first));
	end_code();
}

/* A method in C: entry, definition, class, its variables, and the table of names. */
static struct {
	u64	entry[5];
	u64	definition[5];
	u64	class[5];
	u64	more[2];
	u64	variables[7];
	u64	entries[2][3];
	u64	ids[5];
	u64	id_arrays[1];
	u64	array[5];
	u64	elements[1024];
	u64	each[5];
	u64	classpath[5];
	u64	array_name[5];
} c;

static void set_entry(void)
{
	memset(&c, 0, sizeof(c));
	c.entry[0] = RUBY_ENTRY;
	c.entry[2] = (u64)c.definition;
	c.entry[4] = (u64)c.class;
	c.definition[4] = 300 << 4;
	c.class[0] = RUBY_CLASS;
	c.class[3] = (u64)c.more;
	c.more[1] = (u64)c.variables;
	c.variables[4] = 0;
	c.variables[5] = 2;
	c.variables[6] = (u64)c.entries;
	c.entries[1][1] = 301 << 4;
	c.entries[1][2] = (u64)c.array_name;
	c.ids[0] = RUBY_ARRAY;
	c.ids[2] = 1;
	c.ids[4] = (u64)c.id_arrays;
	c.id_arrays[0] = (u64)c.array;
	c.array[0] = RUBY_ARRAY;
	c.array[2] = ARRAY_SIZE(c.elements);
	c.array[4] = (u64)c.elements;
	c.elements[600] = (u64)c.each;
	c.elements[602] = (u64)c.classpath;
	set_text(c.each, "each");
	set_text(c.classpath, "__classpath__");
	set_text(c.array_name, "Array");
	functions.symbols.ids = (u64)c.ids;
}

static void methods_in_c(void)
{
	u64 start, size, function;

	begin_code();
	set_entry();
	function = word_of(c.entry);
	check(ruby_functions__ip(&functions, names, function, 0));
	check(!strcmp(hybrid_names__get(names, 0, &start, &size), "rb::Array#each"));
	/* No class, and no name. */
	c.variables[5] = ~0ULL;
	c.entries[1][1] = 0;
	forget();
	check(ruby_functions__ip(&functions, names, function, 0));
	check(!strcmp(hybrid_names__get(names, 1, &start, &size), "rb::each"));
	c.definition[4] = ~0ULL;
	forget();
	check(!ruby_functions__ip(&functions, names, function, 0));
	end_code();
}

/* The entry of a method in Ruby leads to its code; the position tells it from one in C. */
static void methods_in_ruby(void)
{
	u64 start, size, function;

	begin_code();
	set_entry();
	function = word_of(c.entry);
	c.definition[1] = (u64)&method;
	method.words[0] = 0x1234;
	check(ruby_functions__ip(&functions, names, function, (u64)method.words + 16));
	check(!strcmp(hybrid_names__get(names, 0, &start, &size), "rb::Array#each:/a.rb"));
	same(size, 16);
	same(ruby_functions__label(&functions, function), 0x1234);
	same(ruby_functions__label(&functions, function_word(&method)), 0x1234);
	/* It is one in C. */
	c.definition[0] = 1;
	forget();
	check(!ruby_functions__ip(&functions, names, function, (u64)method.words + 16));
	check(ruby_functions__ip(&functions, names, function, 0));
	same(ruby_functions__label(&functions, function), 0);
	/* Without symbols it has no class, and is read again. It needs them once. */
	c.definition[0] = 0;
	functions.symbols.ids = 0;
	forget();
	check(ruby_functions__ip(&functions, names, function, (u64)method.words + 16));
	check(!strcmp(hybrid_names__get(names, 2, &start, &size), "rb::block in spam:/a.rb"));
	functions.symbols.ids = (u64)c.ids;
	ruby_functions__ip(&functions, names, function, (u64)method.words + 16);
	same(hybrid_names__nr(names), 3);
	same(ruby_functions__ip(&functions, names, function, (u64)method.words + 16),
	     hybrid_names__start(names) + 3);
	end_code();
}

/* What BPF has told needs no process; its lines do. */
static void texts(void)
{
	struct hybrid_told_text told = {
		.function = 0x8000 | 5ULL << 48, .named = 0x9000, .size = 8, .line = 2 * 7 + 1,
		.pieces = { "Spam", "eggs", "/a.rb" },
	};
	u64 start, size;

	begin_code();
	ruby_functions__text(&functions, names, &told);
	same(ruby_functions__ip(&functions, names, told.function | HYBRID_WALK_RUN_ENDS, 0x9010),
	     hybrid_names__start(names) + 3);
	check(!strcmp(hybrid_names__get(names, 0, &start, &size), "rb::Spam#eggs:/a.rb"));
	same(size, 16);
	check(!ruby_functions__ip(&functions, names, told.function, 0));
	check(!ruby_functions__ip(&functions, names, told.function ^ 1ULL << 50, 0x9010));
	/* A method in C, of the class itself; and a block. */
	told = (struct hybrid_told_text) {
		.function = 0xa000, .is_own = true, .pieces = { "Spam", "ham" },
	};
	ruby_functions__text(&functions, names, &told);
	check(ruby_functions__ip(&functions, names, 0xa000, 0));
	check(!strcmp(hybrid_names__get(names, 1, &start, &size), "rb::Spam.ham"));
	told = (struct hybrid_told_text) {
		.function = 0xb000, .named = 0xc000, .pieces = { "", "block in ham", "(eval)" },
	};
	ruby_functions__text(&functions, names, &told);
	check(ruby_functions__ip(&functions, names, 0xb000, 0xc008));
	check(!strcmp(hybrid_names__get(names, 2, &start, &size), "rb::block in ham:(eval)"));
	/* Without a name it is none. */
	told.function = 0xd000;
	told.pieces[1][0] = 0;
	ruby_functions__text(&functions, names, &told);
	check(!ruby_functions__ip(&functions, names, 0xd000, 0xc008));
	/* BPF could not read the class. */
	set_entry();
	told = (struct hybrid_told_text) {
		.function = word_of(c.entry), .pieces = { "", "each" },
	};
	ruby_functions__text(&functions, names, &told);
	check(ruby_functions__ip(&functions, names, told.function, 0));
	check(!strcmp(hybrid_names__get(names, 3, &start, &size), "rb::Array#each"));
	end_code();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "versions",					versions },
		{ "strings",					strings },
		{ "what is no string",				no_strings },
		{ "arrays",					arrays },
		{ "lines of code",				lines },
		{ "code, and what is none or another one",	code },
		{ "methods in C",				methods_in_c },
		{ "methods in Ruby",				methods_in_ruby },
		{ "what BPF has told",				texts },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
