// SPDX-License-Identifier: GPL-2.0
/*
 * Code objects of CPython: name, file and lines of functions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include "python-walk.h"
#include "../../rules/clock.h"
#include "code-object.h"
#include "line-table.h"
#include "unicode.h"

/* Bytes of an instruction, and how many of them are believed. */
#define UNIT		2
#define MAX_UNITS	0x100000U

/* ns */
#define CHECK_AFTER	1000000000ULL

static u64 code_word(struct python_codes *codes, u64 addr)
{
	return hybrid_process_word(codes->pm, addr);
}

/* The strings and the table that it refers to, and where it begins. */
static bool read_words(struct python_codes *codes, u64 code, u64 *words)
{
	const struct python_layout *layout = codes->layout;

	if (code_word(codes, code + layout->type) != codes->type)
		return false;
	words[0] = code_word(codes, code + layout->filename);
	words[1] = code_word(codes, code + layout->qualname);
	words[2] = code_word(codes, code + layout->linetable);
	words[3] = code_word(codes, code + layout->firstlineno);
	return words[0] && words[1];
}

static bool is_same_code(struct python_codes *codes, struct python_code *known)
{
	u64 time = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE), words[4];

	if (known->is_told || time - known->checked < CHECK_AFTER)
		return true;
	known->checked = time;
	/* What can't be read now, or not any more, has the mark still. */
	return !read_words(codes, known->key & HYBRID_WALK_FUNCTION_ADDR, words) ||
	       !memcmp(words, known->words, sizeof(words));
}

/*
 * Objects/codeobject.c: the size of a code object is that of its instructions. Before 3.11 they
 * are an object of their own.
 */
static u32 nr_units(const struct python_layout *layout, u64 size)
{
	if (layout->lasti)
		size /= UNIT;
	return size && size < MAX_UNITS ? size : 1;
}

static u64 size_of(struct python_codes *codes, u64 code)
{
	if (codes->layout->lasti)
		code = code_word(codes, code + codes->layout->code);
	return code_word(codes, code + PYTHON_SIZE(codes->layout));
}

static unsigned int read_lines(struct python_codes *codes, const struct python_code *known,
			       struct hybrid_name_line *lines)
{
	u64 size = code_word(codes, known->words[2] + PYTHON_SIZE(codes->layout));
	u8 bytes[HYBRID_WALK_TABLE];

	if (!known->words[2] || !size)
		return 0;
	size = min_t(u64, size, sizeof(bytes));
	if (hybrid_process_memory_read(codes->pm, known->words[2] + codes->layout->bytes, bytes,
				       size))
		return 0;
	return python_lines(codes->layout->lines, bytes, size, known->words[3], lines,
			    HYBRID_NAMES_LINES);
}

/* As CPython names them for perf, Python/perf_trampoline.c. @lines: of @function. */
static bool add_function(struct python_codes *codes, struct hybrid_names *names,
			 struct python_code *known, const char *file, const char *name,
			 const struct hybrid_name_line *lines, unsigned int nr_lines)
{
	char text[2 * PYTHON_TEXT + 8];
	struct hybrid_function function = {
		.name = text, .file = file, .size = known->size, .lines = lines,
		.nr_lines = nr_lines,
	};

	snprintf(text, sizeof(text), "py::%s:%s", name, file);
	known->function = hybrid_names__function(names, &codes->quota, &function);
	known->checked = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE);
	return known->function;
}

/* Apart: what is read takes 50 KiB of stack, and nearly all code objects are known. */
static noinline bool read_code(struct python_codes *codes, struct hybrid_names *names,
			       struct python_code *known)
{
	struct hybrid_name_line lines[HYBRID_NAMES_LINES];
	char file[PYTHON_TEXT], name[PYTHON_TEXT];

	if (!python_text(codes->pm, codes->layout, known->words[0], file) ||
	    !python_text(codes->pm, codes->layout, known->words[1], name))
		return false;
	known->size = nr_units(codes->layout,
			       size_of(codes, known->key & HYBRID_WALK_FUNCTION_ADDR));
	return add_function(codes, names, known, file, name, lines,
			    read_lines(codes, known, lines));
}

/* As BPF does it; 0: it can't be read. */
static u64 identity_of(struct python_codes *codes, const u64 *words)
{
	const struct hybrid_walk_python_code *py = &codes->layout->walk.code;
	__u64 tail[HYBRID_PYTHON_TAIL / sizeof(u64)] = {};
	struct hybrid_python_string string;
	u64 end;

	if (hybrid_process_memory_read(codes->pm, words[0] + py->length, &string, sizeof(string)))
		return 0;
	end = words[0] + hybrid_python_text_at(py, string.state) +
	      string.length * hybrid_python_width(py, string.state);
	if (string.hash == HYBRID_PYTHON_NO_HASH &&
	    hybrid_process_memory_read(codes->pm, end - sizeof(tail), tail, sizeof(tail)))
		return 0;
	return hybrid_python_identity(words[0], words[1], words[2], &string, tail);
}

static bool has_mark(struct python_codes *codes, const struct python_code *found)
{
	return HYBRID_WALK_FUNCTION_MARK(identity_of(codes, found->words)) ==
	       (found->key & ~HYBRID_WALK_FUNCTION_ADDR);
}

static struct python_code *keep_code(struct python_codes *codes, const struct python_code *found)
{
	codes->known.size = sizeof(*found);
	return hybrid_key_table__put(&codes->known, found);
}

static struct python_code *look_up_in_one(struct python_codes *codes, struct hybrid_names *names,
					  u64 key)
{
	struct python_code found = { .key = key };

	if (!read_words(codes, key & HYBRID_WALK_FUNCTION_ADDR, found.words) ||
	    !has_mark(codes, &found) || !read_code(codes, names, &found))
		return NULL;
	return keep_code(codes, &found);
}

static struct python_code *look_up_code(struct python_codes *codes, struct hybrid_names *names,
					u64 key)
{
	struct hybrid_process_memory *pm = codes->pm;
	struct python_code *found = look_up_in_one(codes, names, key);

	if (found || !codes->parent.pid)
		return found;
	codes->parent.space = pm->space;
	codes->pm = &codes->parent;
	found = look_up_in_one(codes, names, key);
	codes->pm = pm;
	return found;
}

/* Three pieces that the record has after its head. */
static bool take_pieces(const struct hybrid_walk_text *text, size_t size, const u8 **pieces)
{
	size_t at = offsetof(struct hybrid_walk_text, bytes);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(text->sizes); i++) {
		pieces[i] = (const u8 *)text + at;
		at += text->sizes[i];
	}
	return at <= size;
}

static noinline void take_text(struct python_codes *codes, struct hybrid_names *names,
			       const struct hybrid_walk_text *text, const u8 **pieces)
{
	struct python_code found = { .key = text->function, .is_told = true };
	struct hybrid_name_line lines[HYBRID_NAMES_LINES];
	char file[PYTHON_TEXT], name[PYTHON_TEXT];
	unsigned int nr;

	found.size = nr_units(codes->layout, text->size);
	if (text->type != codes->type ||
	    !python_decode(codes->layout, text->states[0], pieces[0], text->sizes[0], file) ||
	    !python_decode(codes->layout, text->states[1], pieces[1], text->sizes[1], name))
		return;
	nr = python_lines(codes->layout->lines, pieces[2], text->sizes[2], text->line, lines,
			  HYBRID_NAMES_LINES);
	if (add_function(codes, names, &found, file, name, lines, nr))
		keep_code(codes, &found);
}

void python_codes__text(struct python_codes *codes, struct hybrid_names *names, const void *raw,
			size_t size)
{
	struct hybrid_walk_text text;
	const u8 *pieces[3];

	size = min(size, sizeof(text));
	if (size < offsetof(struct hybrid_walk_text, bytes))
		return;
	memcpy(&text, raw, size);
	if (take_pieces(&text, size, pieces))
		take_text(codes, names, &text, pieces);
}

/* Which instruction? */
static u64 index_of(const struct python_layout *layout, u64 code, u64 position)
{
	s32 lasti = position;

	if (layout->lasti)
		return lasti < 0 ? 0 : (u64)lasti * layout->lasti / UNIT;
	return (position - (code + layout->code)) / UNIT;
}

u64 python_codes__ip(struct python_codes *codes, struct hybrid_names *names, u64 function,
		     u64 position)
{
	u64 key = function & ~HYBRID_WALK_RUN_ENDS, index;
	struct python_code *known = hybrid_key_table__find(&codes->known, key);

	if (!known || !is_same_code(codes, known))
		known = look_up_code(codes, names, key);
	if (!known)
		return 0;
	/* Before its first instruction, too: 3.11 has the one before the next. */
	index = index_of(codes->layout, key & HYBRID_WALK_FUNCTION_ADDR, position);
	return hybrid_names_ip(known->function, known->size, index < known->size ? index : 0);
}

void python_codes__inherit(struct python_codes *codes, const struct python_codes *parent)
{
	codes->parent = (struct hybrid_process_memory) {
		.memory = codes->pm->memory, .objects = codes->pm->objects,
		.pid = parent->pm->pid,
	};
	hybrid_key_table__copy(&codes->known, &parent->known);
}

void python_codes__exit(struct python_codes *codes)
{
	hybrid_process_memory_exit(&codes->parent);
	hybrid_key_table__exit(&codes->known);
}
