// SPDX-License-Identifier: GPL-2.0
/*
 * Functions of JavaScript: V8 has a SharedFunctionInfo for each in the source, and a JSFunction for
 * each closure of it, src/objects/shared-function-info.tq and js-function.tq.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include "../../rules/clock.h"
#include "v8-function.h"
#include "v8-positions.h"

/* Bytes of a table of positions that are read. */
#define MAX_TABLE	16384

/* src/objects/scope-info.h: kScopeInfoMaxInlinedLocalNamesSize. */
#define MAX_NAMED_LOCALS	75
#define MAX_LOCALS		4096

/* Words of a ScopeInfo behind its locals, that are looked through. */
#define SCOPE_WORDS	10

/* src/objects/scope-info.tq: from 12.8 on the positions are at a fixed place, before the locals. */
#define VERSION_POSITIONS_FIRST	(12 << 8 | 8)
#define POSITIONS_INDEX		3

/* ns */
#define CHECK_AFTER	1000000000ULL

/**
 * struct scope - what a ScopeInfo says of a function
 * @name: in UTF-8; empty: it has none
 * @start: its first character; negative: unknown
 * @end: behind its last one
 */
struct scope {
	char	name[V8_TEXT];
	s32	start;
	s32	end;
};

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

static void put_range(struct scope *scope, u64 start, u64 end)
{
	scope->start = v8_smi(start);
	scope->end = v8_smi(end);
}

/*
 * The name, or the one that V8 has inferred, is the first string behind the locals that is not
 * empty; the first two integers that may be a range are the positions, in versions before 12.8.
 */
static void read_scope(const struct v8_heap *heap, u64 addr, struct scope *scope)
{
	const struct v8_layout *layout = heap->layout;
	bool is_first = layout->version >= VERSION_POSITIONS_FIRST;
	u64 words[SCOPE_WORDS] = {}, nr, at = addr + 8;
	unsigned int i;

	nr = v8_word(heap, at + 8 * layout->scope_nr_locals);
	if (!v8_is_smi(nr) || v8_smi(nr) < 0 || v8_smi(nr) > MAX_LOCALS)
		return;
	if (is_first)
		put_range(scope, v8_word(heap, at + 8 * POSITIONS_INDEX),
			  v8_word(heap, at + 8 * (POSITIONS_INDEX + 1)));
	nr = v8_smi(nr);
	at += 8 * (layout->scope_first_vars + (nr < MAX_NAMED_LOCALS ? nr : 1) + nr);
	if (hybrid_process_memory_read(heap->pm, at, words, sizeof(words)))
		return;
	for (i = 0; i < SCOPE_WORDS; i++) {
		if (!scope->name[0] && v8_string__text(heap, words[i], scope->name))
			continue;
		if (is_first || !i || !v8_is_smi(words[i]) || !v8_is_smi(words[i - 1]) ||
		    v8_smi(words[i - 1]) < 0 || v8_smi(words[i - 1]) >= v8_smi(words[i]))
			continue;
		put_range(scope, words[i - 1], words[i]);
		return;
	}
}

static void read_name(const struct v8_heap *heap, u64 word, struct scope *scope)
{
	u16 type;
	u64 addr = v8_object(heap, word, &type);

	scope->name[0] = 0;
	scope->start = -1;
	scope->end = -1;
	if (addr && type == heap->layout->type_scope_info)
		read_scope(heap, addr, scope);
	else if (addr && type < heap->layout->first_nonstring)
		v8_string__text(heap, word, scope->name);
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
		line = v8_script__line(script, v8_position_char(position.source));
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

static void forget(struct v8_function *known)
{
	free(known->lines);
	memset(known, 0, sizeof(*known));
}

/* V8's own name of a function, as --perf-basic-prof shows it, but for what has compiled it. */
static noinline bool read_function(struct v8_functions *functions, struct hybrid_names *names,
				   struct v8_function *known)
{
	const struct v8_heap *heap = &functions->heap;
	char text[2 * V8_TEXT + 32];
	struct hybrid_name_line lines[HYBRID_NAMES_LINES];
	struct hybrid_function function = { .name = text, .lines = lines };
	const struct v8_script *script = NULL;
	struct scope scope;
	u64 addr;
	u32 last;
	u16 type;

	read_name(heap, known->words[1], &scope);
	addr = v8_object(heap, known->words[0], &type);
	if (addr && type == heap->layout->type_script)
		script = v8_script__get(&functions->scripts, heap, addr);
	known->first = script ? v8_script__line(script, scope.start) : 0;
	last = script ? v8_script__line(script, scope.end) : 0;
	known->nr = known->first && last >= known->first ?
		    min(last - known->first + 1, (u32)HYBRID_NAMES_LINES) : 1;
	snprintf(text, sizeof(text), "js::%s", scope.name[0] ? scope.name : "(anonymous)");
	if (script && script->file[0]) {
		function.file = script->file;
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " %s:%u", script->file,
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
	if (known->function && known->first)
		read_lines(heap, known, script);
	return known->function;
}

static bool look_up(struct v8_functions *functions, struct hybrid_names *names, u64 addr,
		    struct v8_function *known)
{
	forget(known);
	known->addr = addr;
	if (read_words(&functions->heap, addr, known->words, &known->mark) &&
	    read_function(functions, names, known))
		return true;
	known->addr = 0;
	return false;
}

const struct v8_function *v8_functions__get(struct v8_functions *functions,
					    struct hybrid_names *names, u64 function, u64 position)
{
	u64 addr = function & HYBRID_WALK_FUNCTION_ADDR;
	u32 mark = HYBRID_WALK_NATIVE_MARK_OF(function, position);
	struct v8_function *known = &functions->known[hash_64(addr, V8_FUNCTIONS_BITS)];

	if ((known->addr != addr || known->mark != mark || !is_same(&functions->heap, known)) &&
	    !look_up(functions, names, addr, known))
		return NULL;
	return known->mark == mark ? known : NULL;
}

const struct v8_function *v8_functions__at(struct v8_functions *functions,
					   struct hybrid_names *names, u64 addr)
{
	struct v8_function *known = &functions->known[hash_64(addr, V8_FUNCTIONS_BITS)];

	if (known->addr == addr && is_same(&functions->heap, known))
		return known;
	return look_up(functions, names, addr, known) ? known : NULL;
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
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(functions->known); i++)
		forget(&functions->known[i]);
	v8_scripts__exit(&functions->scripts);
}
