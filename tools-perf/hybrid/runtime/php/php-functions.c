// SPDX-License-Identifier: GPL-2.0
/*
 * The functions of a process that runs PHP: each is read once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include "../../rules/clock.h"
#include "php-code.h"
#include "php-functions.h"

/* Instructions that are believed. */
#define MAX_SIZE	0x100000U

/* Functions that one makes when it runs. */
#define MAX_CLOSURES	64U

/* Words of a function from the address of its instructions to that of its file. */
#define MAX_REST	16

/* Lines of a file that are told of its outermost code. */
#define FILE_LINES	2048

/* Functions of one process, as a binary logarithm. What is more begins anew. */
#define MOST_BITS	14

/* A mark has bits 4 to 19 of an address of instructions. */
#define CODE_ALIGN	0xfULL
#define CODE_STEP	0x100000ULL

/* ns */
#define CHECK_AFTER	1000000000ULL

enum { NAME, CLASS, CODE, FILE_NAME };

static u64 mark_of(const struct php_function *known)
{
	return HYBRID_WALK_FUNCTION_MARK(known->words[known->is_internal ? NAME : CODE]);
}

/* Returns false if nothing is there. Of what a function has as little as can be is read. */
static bool read_words(struct php_functions *functions, u64 addr, struct php_function *found)
{
	const struct hybrid_walk_php *walk = &functions->layout->walk;
	u64 head[3], rest[MAX_REST], nr = (walk->file - walk->code) / sizeof(u64) + 1;

	if (hybrid_process_memory_read(functions->pm, addr, head, sizeof(head)))
		return false;
	found->is_internal = (u8)head[0] == PHP_INTERNAL;
	found->words[NAME] = head[PHP_FUNCTION_NAME / sizeof(u64)];
	found->words[CLASS] = head[PHP_FUNCTION_SCOPE / sizeof(u64)];
	found->words[CODE] = 0;
	found->words[FILE_NAME] = 0;
	if (found->is_internal || !found->words[NAME])
		return found->words[NAME];
	if (nr > MAX_REST || hybrid_process_memory_read(functions->pm, addr + walk->code, rest,
							nr * sizeof(u64)))
		return false;
	found->words[CODE] = rest[0];
	found->words[FILE_NAME] = rest[nr - 1];
	return true;
}

/* Is it the function that was sampled? */
static bool is_there(struct php_functions *functions, struct php_function *found)
{
	return read_words(functions, found->key & HYBRID_WALK_FUNCTION_ADDR, found) &&
	       mark_of(found) == (found->key & ~HYBRID_WALK_FUNCTION_ADDR);
}

static bool is_same_function(struct php_functions *functions, struct php_function *known)
{
	u64 time = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE);
	struct php_function now = { .key = known->key };

	if (known->is_told || time - known->checked < CHECK_AFTER)
		return true;
	known->checked = time;
	/* What can't be read now, or not any more, has the mark still. */
	return !known->is_alike &&
	       (!is_there(functions, &now) || !memcmp(now.words, known->words, sizeof(now.words)));
}

/*
 * Apart: what is read takes 40 KiB of stack, and nearly all functions are known. @addr: of the
 * function, of which @known has what read_words() has read.
 */
static noinline bool read_function(struct php_functions *functions, struct hybrid_names *names,
				   u64 addr, struct php_function *known)
{
	struct hybrid_name_line lines[HYBRID_NAMES_LINES];
	const u64 *words = known->words;
	const struct php_name of = {
		.name = words[NAME], .file = words[FILE_NAME],
		.class = words[CLASS] ?
			hybrid_process_word(functions->pm, words[CLASS] + PHP_CLASS_NAME) : 0,
	};
	struct hybrid_function function = { .lines = lines };
	char text[PHP_NAME];

	if (!known->is_internal && !of.file)
		return false;
	function.file = php_name(functions->pm, &of, text);
	if (!function.file)
		return false;
	function.name = text;
	known->size = 1;
	if (known->is_internal) {
		function.file = NULL;
	} else {
		known->size = hybrid_process_word(functions->pm, addr + functions->layout->last);
		if (!known->size || known->size >= MAX_SIZE)
			return false;
		function.nr_lines = php_lines(functions->pm, words[CODE], known->size, lines,
					      HYBRID_NAMES_LINES);
	}
	function.size = known->size;
	known->function = hybrid_names__function(names, &functions->quota, &function);
	known->checked = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE);
	return known->function;
}

/* Where a function with these instructions was found; its mark has these bits of the address. */
struct php_place {
	u64	code;
	u64	key;
};

static struct php_function *find_function(const struct php_functions *functions, u64 key)
{
	return hybrid_key_table__find(&functions->known, key);
}

/* The first one that has these instructions, unless it is gone: closures go, functions stay. */
static void keep_place(struct php_functions *functions, const struct php_function *found)
{
	const struct php_place place = {
		.code = found->words[CODE] & ~CODE_ALIGN, .key = found->key,
	};
	const struct php_place *kept = hybrid_key_table__find(&functions->places, place.code);
	struct php_function first = { .key = kept ? kept->key : 0 };

	if (kept && find_function(functions, first.key) && is_there(functions, &first))
		return;
	functions->places.size = sizeof(place);
	functions->places.most_bits = MOST_BITS;
	hybrid_key_table__put(&functions->places, &place);
}

static struct php_function *keep_function(struct php_functions *functions,
					  const struct php_function *found)
{
	if (!found->is_internal && !found->is_alike)
		keep_place(functions, found);
	functions->known.size = sizeof(*found);
	functions->known.most_bits = MOST_BITS;
	return hybrid_key_table__put(&functions->known, found);
}

static bool is_of(const struct php_function *known, u64 position)
{
	u64 away = position - known->words[CODE];

	return !(away % PHP_OP) && away / PHP_OP < known->size;
}

/* Does the function that has its instructions from @code on have the one at @position, too? */
static bool is_alike(struct php_functions *functions, u64 code, u64 position,
		     struct php_function *found)
{
	const struct php_place *place = hybrid_key_table__find(&functions->places, code);
	struct php_function *known = place ? find_function(functions, place->key) : NULL, now = {};

	if (!known || known->is_internal || known->is_alike || !is_of(known, position))
		return false;
	now.key = known->key;
	if (!is_there(functions, &now))
		return false;
	now = *known;
	now.key = found->key;
	now.is_alike = true;
	now.checked = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE);
	*found = now;
	return true;
}

/*
 * One that has the instruction at @position; its mark tells, too: that has bits 4 to 19 of the
 * address of the first one.
 */
static bool find_alike(struct php_functions *functions, u64 position, struct php_function *found)
{
	u64 code = position - ((position & ~CODE_ALIGN) - (found->key >> 48 << 4)) % CODE_STEP;
	unsigned int i;

	code &= ~CODE_ALIGN;
	for (i = 0; i < MAX_SIZE * PHP_OP / CODE_STEP && code; i++) {
		if (is_alike(functions, code, position, found))
			return true;
		code -= min_t(u64, code, CODE_STEP);
	}
	return false;
}

/* Those that a function makes when it runs: as they are before they have a class. */
static void read_closures(struct php_functions *functions, struct hybrid_names *names, u64 addr,
			  const struct php_function *maker)
{
	const struct php_layout *layout = functions->layout;
	u64 all = hybrid_process_word(functions->pm, addr + layout->closures), closure;
	u32 nr = hybrid_process_word(functions->pm, addr + layout->nr_closures), i;
	struct php_function found;

	nr = min(nr, MAX_CLOSURES);
	for (i = 0; i < nr; i++) {
		closure = hybrid_process_word(functions->pm, all + i * sizeof(u64));
		memset(&found, 0, sizeof(found));
		if (!closure || closure & ~HYBRID_WALK_FUNCTION_ADDR ||
		    !read_words(functions, closure, &found) || found.is_internal)
			continue;
		found.key = closure | mark_of(&found);
		found.words[CLASS] = found.words[CLASS] ?: maker->words[CLASS];
		if (read_function(functions, names, closure, &found))
			keep_function(functions, &found);
	}
}

static struct php_function *look_up_function(struct php_functions *functions,
					     struct hybrid_names *names, u64 key, u64 position)
{
	struct php_function found = { .key = key };
	u64 addr = key & HYBRID_WALK_FUNCTION_ADDR;

	if (!is_there(functions, &found))
		return find_alike(functions, position, &found) ?
			keep_function(functions, &found) : NULL;
	if (!read_function(functions, names, addr, &found))
		return NULL;
	if (!found.is_internal)
		read_closures(functions, names, addr, &found);
	return keep_function(functions, &found);
}

u64 php_functions__ip(struct php_functions *functions, struct hybrid_names *names, u64 function,
		      u64 position)
{
	u64 key = function & ~HYBRID_WALK_RUN_ENDS;
	struct php_function *known = find_function(functions, key);

	if (!known || !is_same_function(functions, known))
		known = look_up_function(functions, names, key, position);
	if (!known)
		return 0;
	return hybrid_names_ip(known->function, known->size,
			       !known->is_internal && is_of(known, position) ?
			       (position - known->words[CODE]) / PHP_OP : 0);
}

/* Of place 0 no line is told; of each other one that of its number. */
static noinline u64 add_file(struct php_functions *functions, struct hybrid_names *names,
			     const char *file)
{
	struct hybrid_name_line lines[FILE_LINES];
	char text[PHP_NAME];
	const struct hybrid_function function = {
		.name = text, .file = file, .size = FILE_LINES + 1, .lines = lines,
		.nr_lines = FILE_LINES,
	};
	u32 i;

	for (i = 0; i < FILE_LINES; i++)
		lines[i] = (struct hybrid_name_line) { .index = i + 1, .line = i + 1 };
	snprintf(text, sizeof(text), "php::{main}:%s", file);
	return hybrid_names__function(names, &functions->quota, &function);
}

static struct php_function *keep_file(struct php_functions *functions,
				      struct hybrid_names *names, u64 key, const char *file)
{
	struct php_function found = {
		.key = key, .checked = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE),
	};

	found.function = add_file(functions, names, file);
	return found.function ? keep_function(functions, &found) : NULL;
}

static struct php_function *look_up_file(struct php_functions *functions,
					 struct hybrid_names *names, u64 key)
{
	u64 string = key & HYBRID_WALK_FUNCTION_ADDR;
	u64 hash = hybrid_process_word(functions->pm, string + PHP_STRING_HASH);
	char file[PHP_TEXT];

	if (((HYBRID_WALK_FUNCTION_MARK(hash) ^ key) >> 48) ||
	    !php_text(functions->pm, string, file))
		return NULL;
	return keep_file(functions, names, key, file);
}

u64 php_functions__file_ip(struct php_functions *functions, struct hybrid_names *names, u64 file,
			   u64 line)
{
	u64 key = file & ~HYBRID_WALK_RUN_ENDS;
	struct php_function *known = find_function(functions, key);

	/* The hash is in the key: the same one is the same name. */
	if (!known)
		known = look_up_file(functions, names, key);
	if (!known)
		return 0;
	return hybrid_names_ip(known->function, FILE_LINES + 1, line <= FILE_LINES ? line : 0);
}

/* The process has not, or not any more, what BPF has read. */
static noinline void keep_told(struct php_functions *functions, struct hybrid_names *names,
			       const struct hybrid_told_text *told)
{
	struct php_function found = {
		.key = told->function & ~HYBRID_WALK_RUN_ENDS, .size = 1,
		.is_internal = true, .is_told = true,
	};
	const char *class = told->pieces[0], *name = told->pieces[1], *file = told->pieces[2];
	const struct hybrid_name_line line = { .line = told->line };
	struct hybrid_function function = { .size = 1, .file = *file ? file : NULL };
	char text[PHP_NAME];

	if (!strncmp(name, PHP_CLOSURE, strlen(PHP_CLOSURE)))
		class = "";
	snprintf(text, sizeof(text), "php::%s%s%s%s%s", class, *class ? "::" : "", name,
		 *file ? ":" : "", file);
	function.name = text;
	function.lines = &line;
	function.nr_lines = !!told->line;
	found.function = hybrid_names__function(names, &functions->quota, &function);
	if (found.function)
		keep_function(functions, &found);
}

void php_functions__text(struct php_functions *functions, struct hybrid_names *names,
			 const struct hybrid_told_text *told)
{
	u64 key = told->function & ~HYBRID_WALK_RUN_ENDS;
	const struct php_function *known = find_function(functions, key);

	if (!(key & HYBRID_WALK_FUNCTION_ADDR) || (known && !known->is_told))
		return;
	if (key & HYBRID_WALK_PHP_FILE) {
		if (*told->pieces[2])
			keep_file(functions, names, key, told->pieces[2]);
	} else if (!look_up_function(functions, names, key, 0) && *told->pieces[1]) {
		keep_told(functions, names, told);
	}
}

void php_functions__inherit(struct php_functions *functions, const struct php_functions *parent)
{
	hybrid_key_table__copy(&functions->known, &parent->known);
	hybrid_key_table__copy(&functions->places, &parent->places);
}

void php_functions__exit(struct php_functions *functions)
{
	hybrid_key_table__exit(&functions->known);
	hybrid_key_table__exit(&functions->places);
}
