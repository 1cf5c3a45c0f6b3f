// SPDX-License-Identifier: GPL-2.0
/*
 * Functions of JavaScript: V8 has a SharedFunctionInfo for each in the source, and a JSFunction for
 * each closure of it, src/objects/shared-function-info.tq and js-function.tq.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include "../../rules/clock.h"
#include "v8-function.h"
#include "v8-positions.h"

/* Bytes of a table of positions that are read. */
#define MAX_TABLE	16384

/* Of the table: functions of one process. */
#define MOST_BITS	14

/* ns */
#define CHECK_AFTER	1000000000ULL

/*
 * A function that BPF has told may not be in what perf has read of the process: it is looked for
 * again after so many ns, and so often.
 */
#define TRY_AFTER	20000000ULL
#define MAX_TRIES	50

/* What shows that it is the same: its script, and its name or ScopeInfo. */
static bool read_words(const struct v8_heap *heap, u64 addr, u64 *words, u32 *mark)
{
	const struct v8_layout *layout = heap->layout;
	u16 type;

	if (v8_object(heap, addr + V8_TAG, &type) != addr || type != layout->type_shared)
		return false;
	words[0] = v8_word(heap, addr + layout->shared_script);
	words[1] = v8_word(heap, addr + layout->shared_name);
	*mark = HYBRID_WALK_NATIVE_MARK(v8_u32(heap, addr + layout->walk.mark), words[0]);
	return words[0];
}

static bool is_same(const struct v8_heap *heap, struct v8_function *known)
{
	u64 time = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE), words[2];
	u32 mark;

	if (time - known->checked < CHECK_AFTER)
		return true;
	known->checked = time;
	/* What can't be read now, or not any more, has the mark still. */
	return !read_words(heap, known->addr, words, &mark) ||
	       !memcmp(words, known->words, sizeof(words));
}

/* Its bytecode, which V8 drops when it was not used for long; 0: none. */
static u64 find_bytecode(const struct v8_heap *heap, u64 addr)
{
	u64 data = v8_word(heap, addr + heap->layout->shared_data);
	unsigned int hops;
	u16 type;

	/* src/objects/shared-function-info-inl.h: maybe that of the baseline compiler's code. */
	for (hops = 0; hops < 3; hops++) {
		addr = v8_object(heap, data, &type);
		if (!addr || type == heap->layout->type_bytecode_array)
			return addr;
		data = v8_word(heap, addr + (type == heap->layout->type_code ?
					     heap->layout->code_bytecode : 8));
	}
	return 0;
}

/* The table of its source positions; returns number of bytes. */
static unsigned int read_table(const struct v8_heap *heap, u64 bytecode, u8 *bytes)
{
	const struct v8_layout *layout = heap->layout;
	u64 word = v8_word(heap, bytecode + layout->bytecode_positions), table, size;
	u16 type;

	table = v8_object(heap, word, &type);
	if (!table || (type != layout->type_byte_array && type != layout->type_trusted_byte_array))
		return 0;
	size = v8_word(heap, table + layout->array_length);
	if (!v8_is_smi(size) || v8_smi(size) <= 0)
		return 0;
	size = min_t(u64, v8_smi(size), MAX_TABLE);
	return hybrid_process_memory_read(heap->pm, table + layout->array_data, bytes, size) ?
	       0 : size;
}

static noinline void read_lines(const struct v8_heap *heap, struct v8_function *known,
				const struct v8_script *script)
{
	struct hybrid_name_line lines[HYBRID_NAMES_LINES];
	u64 bytecode = find_bytecode(heap, known->addr);
	struct v8_position position;
	u8 bytes[MAX_TABLE];
	u32 nr = 0, line;

	if (!bytecode)
		return;
	v8_position__begin(&position, bytes, read_table(heap, bytecode, bytes));
	while (nr < HYBRID_NAMES_LINES && v8_position__next(&position)) {
		line = v8_lines__find(&script->lines, v8_position_char(position.source));
		if (!line || position.code < 0 || (nr && lines[nr - 1].line == line))
			continue;
		lines[nr].index = position.code;
		lines[nr++].line = line;
	}
	known->lines = nr ? malloc(nr * sizeof(*lines)) : NULL;
	if (!known->lines)
		return;
	memcpy(known->lines, lines, nr * sizeof(*lines));
	known->nr_lines = nr;
}

/*
 * V8's own name of a function, as --perf-basic-prof shows it, but for what has compiled it.
 * @script: NULL: it has none. Returns false if there is no room.
 */
static noinline bool add_function(struct v8_functions *functions, struct hybrid_names *names,
				  struct v8_function *known, const struct v8_scope *scope,
				  const struct v8_script *script)
{
	char text[2 * V8_TEXT + 32];
	struct hybrid_name_line lines[HYBRID_NAMES_LINES];
	struct hybrid_function function = { .name = text, .lines = lines };
	u32 last;

	known->first = script ? v8_lines__find(&script->lines, scope->start) : 0;
	last = script ? v8_lines__find(&script->lines, scope->end) : 0;
	known->nr = known->first && last >= known->first ?
		    min(last - known->first + 1, (u32)HYBRID_NAMES_LINES) : 1;
	snprintf(text, sizeof(text), "js::%s", scope->name[0] ? scope->name : "(anonymous)");
	if (script && script->file[0]) {
		function.file = script->file;
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " %s", script->file);
		/* If the source can't be read there is no line; of what has no place it is 0. */
		if (known->first || scope->start < 0)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), ":%u",
				 known->first);
	}
	function.size = known->nr;
	for (function.nr_lines = 0; known->first && function.nr_lines < known->nr;
	     function.nr_lines++) {
		lines[function.nr_lines].index = function.nr_lines;
		lines[function.nr_lines].line = known->first + function.nr_lines;
	}
	known->function = hybrid_names__function(names, &functions->quota, &function);
	known->checked = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE);
	return known->function;
}

static bool read_function(struct v8_functions *functions, struct hybrid_names *names,
			  struct v8_function *known)
{
	const struct v8_heap *heap = &functions->heap;
	const struct v8_script *script = NULL;
	struct v8_scope scope;
	u64 addr;
	u16 type;

	v8_scope__read(heap, known->words[1], &scope);
	addr = v8_object(heap, known->words[0], &type);
	if (addr && type == heap->layout->type_script)
		script = v8_script__get(&functions->scripts, heap, addr);
	if (!add_function(functions, names, known, &scope, script))
		return false;
	if (known->first)
		read_lines(heap, known, script);
	return true;
}

static struct v8_function *find(const struct v8_functions *functions, u64 addr)
{
	return addr ? hybrid_key_table__find(&functions->known, addr) : NULL;
}

static void drop(void *function)
{
	free(((struct v8_function *)function)->lines);
}

/* In place of what was at its address before. Owns what @found has. */
static struct v8_function *keep(struct v8_functions *functions, const struct v8_function *found)
{
	struct v8_function *kept;

	functions->known.size = sizeof(*found);
	functions->known.most_bits = MOST_BITS;
	functions->known.drop = drop;
	kept = hybrid_key_table__put(&functions->known, found);
	if (!kept)
		free(found->lines);
	return kept;
}

/* What the process has there. @mark: of what it has to be; NULL: of anything. */
static struct v8_function *look_up(struct v8_functions *functions, struct hybrid_names *names,
				   u64 addr, const u32 *mark)
{
	struct v8_function found = { .addr = addr };

	if (!addr || !read_words(&functions->heap, addr, found.words, &found.mark) ||
	    (mark && *mark != found.mark) || !read_function(functions, names, &found))
		return NULL;
	return keep(functions, &found);
}

bool v8_function__may_change(const struct v8_function *function)
{
	return function->is_told && function->tries < MAX_TRIES;
}

static bool is_tried_again(struct v8_function *known)
{
	u64 time = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE);

	if (!v8_function__may_change(known) || time - known->checked < TRY_AFTER)
		return false;
	known->checked = time;
	known->tries++;
	return true;
}

const struct v8_function *v8_functions__get(struct v8_functions *functions,
					    struct hybrid_names *names, u64 function, u64 position)
{
	u64 addr = function & HYBRID_WALK_FUNCTION_ADDR;
	u32 mark = HYBRID_WALK_NATIVE_MARK_OF(function, position);
	struct v8_function *known = find(functions, addr), *found;

	if (known && known->mark != mark)
		known = NULL;
	if (known && (known->is_told ? !is_tried_again(known) : is_same(&functions->heap, known)))
		return known;
	found = look_up(functions, names, addr, &mark);
	/* V8 may have moved it since. */
	return found ?: known;
}

const struct v8_function *v8_functions__at(struct v8_functions *functions,
					   struct hybrid_names *names, u64 addr)
{
	struct v8_function *known = find(functions, addr);

	if (known && is_same(&functions->heap, known))
		return known;
	return look_up(functions, names, addr, NULL);
}

/* The process has not, or not any more, what BPF has read. */
static noinline void keep_told(struct v8_functions *functions, struct hybrid_names *names,
			       const struct hybrid_mapping *file, const struct v8_told *told)
{
	struct v8_function found = {
		.addr = told->addr, .words = { told->words[0], told->words[1] },
		.mark = told->mark, .is_told = true,
	};

	if (add_function(functions, names, &found, &told->scope,
			 v8_script__told(&functions->scripts, functions->heap.pm, file, told)))
		keep(functions, &found);
}

void v8_functions__text(struct v8_functions *functions, struct hybrid_names *names,
			const struct hybrid_mapping *file, const void *text, size_t size)
{
	const struct v8_function *known;
	struct v8_told told;

	if (!v8_told__read(&told, text, size))
		return;
	known = find(functions, told.addr);
	if ((!known || known->mark != told.mark) &&
	    !look_up(functions, names, told.addr, &told.mark))
		keep_told(functions, names, file, &told);
}

u64 v8_function__ip(const struct v8_function *function, u32 place)
{
	u32 line = function->first, i;

	for (i = 0; place != HYBRID_WALK_NO_PLACE && i < function->nr_lines; i++) {
		if (function->lines[i].index > place)
			break;
		line = function->lines[i].line;
	}
	line = line >= function->first ? line - function->first : 0;
	return hybrid_names_ip(function->function, function->nr, line);
}

static u64 without_place(struct v8_functions *functions, struct hybrid_names *names,
			 const char *name)
{
	const struct hybrid_function function = { .name = name, .size = 1 };
	u64 start = hybrid_names__function(names, &functions->quota, &function);

	return start ? hybrid_names_ip(start, function.size, 0) : 0;
}

u64 v8_functions__unknown(struct v8_functions *functions, struct hybrid_names *names)
{
	return without_place(functions, names, "js::[unknown]");
}

u64 v8_functions__regexp(struct v8_functions *functions, struct hybrid_names *names)
{
	return without_place(functions, names, "js::[regular expression]");
}

void v8_functions__exit(struct v8_functions *functions)
{
	hybrid_key_table__exit(&functions->known);
	v8_scripts__exit(&functions->scripts);
}
