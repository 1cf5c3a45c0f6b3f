// SPDX-License-Identifier: GPL-2.0
/*
 * V8's strings, tables of positions, scripts and functions; the process is the test's own.
 */
#include <stdio.h>
#include <string.h>
#include "own-memory.h"
#include "short-memory.h"
#include "tap.h"
#include "v8-function.h"
#include "v8-positions.h"

/* Types, as of V8 11.3. */
#define SEQ		8
#define SEQ_TWO_BYTE	0
#define CONS		41
#define SLICED		43
#define THIN		45
#define SCRIPT		167
#define BYTE_ARRAY	190
#define BYTECODE	191
#define SCOPE_INFO	261
#define SHARED		262

#define TAG(object)	((u64)(object) + V8_TAG)
#define SMI(number)	((u64)(number) << 32)

static struct v8_functions functions;
static u64 maps[512][2];

static const struct v8_layout layout = {
	.walk = { .mark = 52 }, .version = 11 << 8 | 3, .first_nonstring = 128, .one_byte = 8,
	.type_shared = SHARED, .type_scope_info = SCOPE_INFO, .type_script = SCRIPT,
	.type_bytecode_array = BYTECODE, .type_byte_array = BYTE_ARRAY, .type_code = 245,
	.map_instance_type = 12, .function_shared = 24, .shared_name = 16, .shared_data = 8,
	.shared_script = 32, .shared_flags = 48, .bytecode_positions = 32, .code_bytecode = 16,
	.script_name = 16, .script_source = 8, .string_length = 12, .string_chars = 16,
	.cons_first = 16, .cons_second = 24, .sliced_parent = 16, .sliced_offset = 24,
	.thin_actual = 16, .external_resource = 16, .array_length = 8, .array_data = 16,
	.scope_nr_locals = 2, .scope_first_vars = 3,
};

static void begin(void)
{
	own_begin();
	memset(&functions, 0, sizeof(functions));
	functions.heap = (struct v8_heap) { .pm = &own.pm, .layout = &layout };
}

static void end(void)
{
	v8_functions__exit(&functions);
	own_end();
}

/* Each object begins with its map, which has the type. */
static void set_type(u64 *object, u16 type)
{
	hybrid_memory_forget(own.memory);
	maps[type][1] = (u64)type << 32;
	object[0] = TAG(maps[type]);
}

static void set_text(u64 *object, const char *text)
{
	set_type(object, SEQ);
	object[1] = SMI(strlen(text));
	memcpy(object + 2, text, strlen(text));
}

static void set_two(u64 *object, u16 type, u32 length, u64 first, u64 second)
{
	set_type(object, type);
	object[1] = SMI(length);
	object[2] = first;
	object[3] = second;
}

static void strings(void)
{
	static u64 spam[4], egg[4], both[4], part[4], thin[4], wide[4];
	static const u16 chars[] = { 0xe9, 0, 0x20ac };
	char out[V8_TEXT];

	begin();
	set_text(spam, "spam");
	set_text(egg, " and egg");
	check(v8_string__text(&functions.heap, TAG(spam), out) && !strcmp(out, "spam"));
	set_two(both, CONS, 12, TAG(spam), TAG(egg));
	check(v8_string__text(&functions.heap, TAG(both), out) && !strcmp(out, "spam and egg"));
	set_two(part, SLICED, 7, TAG(both), SMI(2));
	check(v8_string__text(&functions.heap, TAG(part), out) && !strcmp(out, "am and "));
	set_two(thin, THIN, 7, TAG(part), 0);
	check(v8_string__text(&functions.heap, TAG(thin), out) && !strcmp(out, "am and "));
	set_type(wide, SEQ_TWO_BYTE);
	wide[1] = SMI(3);
	memcpy(wide + 2, chars, sizeof(chars));
	check(v8_string__text(&functions.heap, TAG(wide), out) && !strcmp(out, "\u00e9\u20ac"));
	/* No string, no pointer, no memory. */
	set_type(thin, SHARED);
	hybrid_memory_forget(own.memory);
	check(!v8_string__text(&functions.heap, TAG(thin), out));
	check(!v8_string__text(&functions.heap, SMI(3), out));
	check(!v8_string__text(&functions.heap, 0x1001, out));
	end();
}

/* Strings in circles, and of a length that is none. */
static void lies(void)
{
	static u64 circle[4], loop[4], many[12][4], slices[4], huge[4];
	char out[V8_TEXT];
	unsigned int i;

	begin();
	set_two(circle, CONS, 1000, TAG(circle), TAG(circle));
	check(!v8_string__text(&functions.heap, TAG(circle), out));
	set_two(loop, THIN, 1000, TAG(loop), 0);
	check(!v8_string__text(&functions.heap, TAG(loop), out));
	set_two(slices, SLICED, 1000, TAG(slices), SMI(1));
	check(!v8_string__text(&functions.heap, TAG(slices), out));
	set_text(many[0], "x");
	for (i = 1; i < ARRAY_SIZE(many); i++)
		set_two(many[i], CONS, 0xffffffff, TAG(many[i - 1]), TAG(many[i - 1]));
	check(!v8_string__text(&functions.heap, TAG(many[11]), out));
	/* Cut off, or not to be read. */
	set_text(huge, "x");
	huge[1] = SMI(0xffffffff);
	hybrid_memory_forget(own.memory);
	v8_string__text(&functions.heap, TAG(huge), out);
	check(strlen(out) < V8_TEXT);
	end();
}

static void positions(void)
{
	/* At 0, of character 9; 3 further, of 4; 200 further, a statement, of 104. */
	static const u8 table[] = { 2, 40, 6, 0x13, 0x91, 3, 0x90, 3 };
	struct v8_position position;
	unsigned int round, i;
	u8 bytes[64];

	v8_position__begin(&position, table, sizeof(table));
	check(v8_position__next(&position));
	same(position.code, 0);
	same(v8_position_char(position.source), 9);
	same(v8_position_inlined(position.source), -1);
	check(v8_position__next(&position));
	same(position.code, 3);
	same(v8_position_char(position.source), 4);
	check(v8_position__next(&position));
	same(position.code, 203);
	same(v8_position_char(position.source), 104);
	check(!v8_position__next(&position));
	for (round = 0; round < 20000; round++) {
		for (i = 0; i < sizeof(bytes); i++)
			bytes[i] = tap_random();
		v8_position__begin(&position, bytes, tap_random() % sizeof(bytes));
		for (i = 0; v8_position__next(&position); i++)
			;
		if (i > sizeof(bytes) / 2)
			check(false);
	}
}

/**
 * struct world - a function of a script
 * @source: of the script
 * @file: its name
 * @name: of the function
 */
struct world {
	u64	source[16];
	u64	file[4];
	u64	name[4];
	u64	script[16];
	u64	scope[16];
	u64	table[4];
	u64	bytecode[16];
	u64	shared[16];
};

static struct world world;

/* Of 30 characters in 5 lines, the function in the lines 2 to 4; its bytecode 3 is in line 3. */
static void set_world(void)
{
	static const u8 table[] = { 2, 56, 6, 28 };

	memset(&world, 0, sizeof(world));
	set_text(world.source, "// 1\nfunction() {\n\treturn 3;\n}\nend\n");
	set_text(world.file, "/srv/a.js");
	set_text(world.name, "spam");
	set_type(world.script, SCRIPT);
	world.script[1] = TAG(world.source);
	world.script[2] = TAG(world.file);
	set_type(world.scope, SCOPE_INFO);
	/* Flags, parameters, one local: its name, and what it is; the name; positions. */
	world.scope[3] = SMI(1);
	world.scope[4] = TAG(world.file);
	world.scope[5] = SMI(7);
	world.scope[6] = TAG(world.name);
	world.scope[7] = SMI(-1);
	world.scope[8] = SMI(13);
	world.scope[9] = SMI(30);
	set_type(world.table, BYTE_ARRAY);
	world.table[1] = SMI(sizeof(table));
	memcpy(world.table + 2, table, sizeof(table));
	set_type(world.bytecode, BYTECODE);
	world.bytecode[4] = TAG(world.table);
	set_type(world.shared, SHARED);
	world.shared[1] = TAG(world.bytecode);
	world.shared[2] = TAG(world.scope);
	world.shared[4] = TAG(world.script);
	world.shared[6] = SMI(77);
}

static const struct v8_function *get(struct hybrid_names *names, u32 mark)
{
	return v8_functions__get(&functions, names,
				 HYBRID_WALK_NATIVE_FUNCTION((u64)world.shared, (u64)mark),
				 HYBRID_WALK_NATIVE_POSITION(0, 0, (u64)mark, 0));
}

static u32 mark_now(void)
{
	return HYBRID_WALK_NATIVE_MARK(77, TAG(world.script));
}

/* How it is named now, and the lines of its bytecode that are known. */
static const char *name_now(u32 *nr_lines)
{
	static char text[64];
	struct hybrid_names *names = hybrid_names__new(HYBRID_LANGUAGE_V8);
	const struct v8_function *found;
	u64 start, size;

	v8_functions__exit(&functions);
	hybrid_memory_forget(own.memory);
	found = get(names, mark_now());
	check(found);
	*nr_lines = found ? found->nr_lines : 0;
	snprintf(text, sizeof(text), "%s", hybrid_names__get(names, 0, &start, &size));
	hybrid_names__delete(names);
	return text;
}

/* Without a table there are no lines of bytecode; without a place no line at all. */
static void no_lines(void)
{
	static const u64 sizes[] = { SMI(0), SMI(-1), SMI(4) | 1 };
	unsigned int i;
	u32 nr_lines;

	begin();
	set_world();
	same_text(name_now(&nr_lines), "js::spam /srv/a.js:2");
	check(nr_lines);
	/* What says that it has less than nothing, or does not say. */
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		world.table[1] = sizes[i];
		same_text(name_now(&nr_lines), "js::spam /srv/a.js:2");
		same(nr_lines, 0);
	}
	set_type(world.table, SCRIPT);
	same_text(name_now(&nr_lines), "js::spam /srv/a.js:2");
	same(nr_lines, 0);
	/* It is behind the end; or it has no place in the source. */
	world.scope[8] = SMI(1000);
	world.scope[9] = SMI(1001);
	same_text(name_now(&nr_lines), "js::spam /srv/a.js");
	world.scope[8] = SMI(-1);
	same_text(name_now(&nr_lines), "js::spam /srv/a.js:0");
	/* There are fewer than no local variables. */
	world.scope[2] = TAG(world.name);
	world.scope[3] = SMI(-1);
	same_text(name_now(&nr_lines), "js::(anonymous) /srv/a.js:0");
	end();
}

/* It is in the first line, or there is no memory for lines: the line is not 0. */
static void no_memory(void)
{
	const struct v8_function *found;
	struct hybrid_names *names;
	bool is_short = true;
	u64 start, size;
	unsigned int nr;

	begin();
	set_world();
	world.scope[8] = SMI(0);
	for (nr = 0; is_short; nr++) {
		names = hybrid_names__new(HYBRID_LANGUAGE_V8);
		v8_functions__exit(&functions);
		hybrid_memory_forget(own.memory);
		short_memory_begin(nr);
		found = get(names, mark_now());
		is_short = short_memory_end();
		check(!found || hybrid_names__nr(names));
		if (hybrid_names__nr(names))
			check(!strstr(hybrid_names__get(names, 0, &start, &size), ":0"));
		check(hybrid_names__nr(names) || is_short);
		hybrid_names__delete(names);
	}
	check(nr > 2);
	end();
}

static void function(void)
{
	struct hybrid_names *names = hybrid_names__new(HYBRID_LANGUAGE_V8);
	const struct v8_function *found;
	u64 start, size;

	begin();
	set_world();
	found = get(names, mark_now());
	check(found);
	if (!found)
		goto out;
	same(hybrid_names__nr(names), 1);
	check(!strcmp(hybrid_names__get(names, 0, &start, &size), "js::spam /srv/a.js:2"));
	same(found->first, 2);
	same(found->nr, 3);
	same(v8_function__ip(found, 0), hybrid_names_ip(found->function, 3, 0));
	same(v8_function__ip(found, 4), hybrid_names_ip(found->function, 3, 1));
	same(v8_function__ip(found, HYBRID_WALK_NO_PLACE), hybrid_names_ip(found->function, 3, 0));
	/* What has another mark is another one. */
	check(!get(names, mark_now() + 1));
	check(get(names, mark_now()));
	set_type(world.shared, SCRIPT);
	hybrid_memory_forget(own.memory);
	check(!get(names, mark_now() + 0x10000));
	check(v8_functions__unknown(&functions, names));
	check(v8_functions__regexp(&functions, names));
	check(!strcmp(hybrid_names__get(names, 2, &start, &size), "js::[regular expression]"));
out:
	hybrid_names__delete(names);
	end();
}

/* A ScopeInfo without a name: what is behind its end are words of another object. */
static void end_of_scope(void)
{
	struct hybrid_names *names = hybrid_names__new(HYBRID_LANGUAGE_V8);
	static u64 meta[2];
	u64 start, size;

	begin();
	set_world();
	/* The map of all maps. */
	meta[0] = TAG(meta);
	maps[SHARED][0] = TAG(meta);
	world.scope[6] = TAG(maps[SHARED]);
	world.scope[7] = TAG(world.name);
	check(get(names, mark_now()));
	check(!strcmp(hybrid_names__get(names, 0, &start, &size), "js::(anonymous) /srv/a.js:0"));
	maps[SHARED][0] = 0;
	hybrid_names__delete(names);
	end();
}

static void take_told(struct hybrid_names *names)
{
	static struct hybrid_walk_text text;

	text.function = (u64)world.shared;
	text.states[1] = mark_now();
	text.sizes[0] = sizeof(struct hybrid_walk_v8_source);
	v8_functions__text(&functions, names, NULL, &text,
			   offsetof(struct hybrid_walk_text, bytes) + text.sizes[0]);
}

/* It is not in what perf has read of the process; later it is. */
static void told_first(void)
{
	struct hybrid_names *names = hybrid_names__new(HYBRID_LANGUAGE_V8);
	const struct v8_function *found;
	struct v8_function *known;
	unsigned int i;

	begin();
	set_world();
	set_type(world.shared, SCRIPT);
	take_told(names);
	known = (struct v8_function *)get(names, mark_now());
	check(known && known->is_told && v8_function__may_change(known));
	if (!known)
		goto out;
	/* Not for ever. */
	for (i = 0; i < 100; i++) {
		known->checked = 0;
		same((u64)get(names, mark_now()), (u64)known);
	}
	check(known->is_told && !v8_function__may_change(known));
	set_type(world.shared, SHARED);
	hybrid_memory_forget(own.memory);
	known->checked = 0;
	known->tries = 0;
	found = get(names, mark_now());
	check(found && !found->is_told && found->nr_lines && !v8_function__may_change(found));
out:
	hybrid_names__delete(names);
	end();
}

/* What BPF has read of a function that is there: the process has more. */
static void told(void)
{
	struct hybrid_names *names = hybrid_names__new(HYBRID_LANGUAGE_V8);
	const struct v8_function *found;
	u64 start, size;

	begin();
	set_world();
	take_told(names);
	same(hybrid_names__nr(names), 1);
	check(!strcmp(hybrid_names__get(names, 0, &start, &size), "js::spam /srv/a.js:2"));
	found = get(names, mark_now());
	check(found && found->nr_lines);
	/* V8 moves it, and another one comes to its place: earlier samples are of this one. */
	if (found)
		((struct v8_function *)found)->checked = 0;
	world.shared[2] = TAG(world.name);
	world.shared[6] = SMI(78);
	hybrid_memory_forget(own.memory);
	check(get(names, HYBRID_WALK_NATIVE_MARK(77, TAG(world.script))) == found);
	same(hybrid_names__nr(names), 1);
	hybrid_names__delete(names);
	end();
}

/* Words of an object at random: no more than a name that is wrong. */
static void random_words(void)
{
	struct hybrid_names *names = hybrid_names__new(HYBRID_LANGUAGE_V8);
	u64 *words = (u64 *)&world;
	unsigned int round, i;

	begin();
	for (round = 0; round < 5000; round++) {
		hybrid_memory_forget(own.memory);
		set_world();
		world.shared[6] = SMI(round);
		for (i = 0; i < 4; i++)
			words[tap_random() % (sizeof(world) / 8)] =
				tap_random() & 1 ? tap_random() : TAG(&world.source[4 * i]);
		get(names, HYBRID_WALK_NATIVE_MARK(round, world.shared[4]));
	}
	check(hybrid_names__nr(names));
	hybrid_names__delete(names);
	end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "strings, and what is none",			strings },
		{ "strings in circles, and of lying lengths",	lies },
		{ "tables of positions, and random ones",	positions },
		{ "a function, and another one at its place",	function },
		{ "V8: functions without lines", no_lines },
		{ "V8: functions without memory", no_memory },
		{ "a ScopeInfo that ends",			end_of_scope },
		{ "a function that BPF has read, and moved",	told },
		{ "a function that BPF has read first",		told_first },
		{ "objects with words at random",		random_words },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
