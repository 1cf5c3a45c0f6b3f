// SPDX-License-Identifier: GPL-2.0
/*
 * Code objects of CPython: name, file and lines of functions.
 */
#include <stdio.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include "../../rules/clock.h"
#include "code-object.h"
#include "line-table.h"
#include "unicode.h"

/* Bytes of an instruction, and how many of them are believed. */
#define UNIT		2
#define MAX_UNITS	0x100000U

/* Bytes of a line table that are read. */
#define MAX_TABLE	16384

/* ns */
#define CHECK_AFTER	1000000000ULL

static u64 word_at(struct python_codes *codes, u64 addr)
{
	u64 word;

	return hybrid_process_memory_read(codes->pm, addr, &word, sizeof(word)) ? 0 : word;
}

/* The strings and the table that it refers to, and where it begins. */
static bool read_words(struct python_codes *codes, u64 code, u64 *words)
{
	const struct python_layout *layout = codes->layout;

	if (word_at(codes, code + layout->type) != codes->type)
		return false;
	words[0] = word_at(codes, code + layout->filename);
	words[1] = word_at(codes, code + layout->qualname);
	words[2] = word_at(codes, code + layout->linetable);
	words[3] = word_at(codes, code + layout->firstlineno);
	return words[0] && words[1];
}

static bool is_same(struct python_codes *codes, struct python_code *known)
{
	u64 time = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE), words[4];

	if (time - known->checked < CHECK_AFTER)
		return true;
	known->checked = time;
	/* What can't be read now, or not any more, has the mark still. */
	return !read_words(codes, known->addr, words) ||
	       !memcmp(words, known->words, sizeof(words));
}

/* Objects/codeobject.c: the size of a code object is that of its instructions. */
static u32 nr_units(struct python_codes *codes, u64 code)
{
	u64 size = word_at(codes, code + PYTHON_SIZE(codes->layout));

	return size && size < MAX_UNITS ? size : 1;
}

static unsigned int read_lines(struct python_codes *codes, const struct python_code *known,
			       struct hybrid_name_line *lines)
{
	u64 size = word_at(codes, known->words[2] + PYTHON_SIZE(codes->layout));
	u8 bytes[MAX_TABLE];

	if (!known->words[2] || !size)
		return 0;
	size = min_t(u64, size, sizeof(bytes));
	if (hybrid_process_memory_read(codes->pm, known->words[2] + codes->layout->bytes, bytes,
				       size))
		return 0;
	return python_lines(bytes, size, known->words[3], lines, HYBRID_NAMES_LINES);
}

/*
 * As CPython names them for perf, Python/perf_trampoline.c. Apart: what is read takes 50 KiB of
 * stack, and nearly all code objects are known.
 */
static noinline bool read_code(struct python_codes *codes, struct hybrid_names *names,
			       struct python_code *known)
{
	char file[PYTHON_TEXT], name[PYTHON_TEXT], text[2 * PYTHON_TEXT + 8];
	struct hybrid_name_line lines[HYBRID_NAMES_LINES];
	struct hybrid_function function = { .name = text, .file = file, .lines = lines };

	if (!python_text(codes->pm, codes->layout, known->words[0], file) ||
	    !python_text(codes->pm, codes->layout, known->words[1], name))
		return false;
	snprintf(text, sizeof(text), "py::%s:%s", name, file);
	known->size = nr_units(codes, known->addr);
	function.size = known->size;
	function.nr_lines = read_lines(codes, known, lines);
	known->function = hybrid_names__function(names, &codes->quota, &function);
	known->checked = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE);
	return known->function;
}

static bool has_mark(const struct python_code *known, u64 function)
{
	return !((HYBRID_WALK_FUNCTION_MARK(known->words[1]) ^ function) >> 48);
}

static bool look_up(struct python_codes *codes, struct hybrid_names *names, u64 code,
		    struct python_code *known)
{
	known->addr = read_words(codes, code, known->words) ? code : 0;
	if (known->addr && !read_code(codes, names, known))
		known->addr = 0;
	return known->addr;
}

u64 python_codes__ip(struct python_codes *codes, struct hybrid_names *names, u64 function,
		     u64 position)
{
	u64 code = function & HYBRID_WALK_FUNCTION_ADDR, index;
	struct python_code *known = &codes->known[hash_64(code, PYTHON_CODES_BITS)];

	if ((known->addr != code || !has_mark(known, function) || !is_same(codes, known)) &&
	    !look_up(codes, names, code, known))
		return 0;
	if (!has_mark(known, function))
		return 0;
	/* Before its first instruction, too: 3.11 has the one before the next. */
	index = position - (code + codes->layout->code);
	return hybrid_names_ip(known->function, known->size,
			       index < (u64)known->size * UNIT ? index / UNIT : 0);
}

u64 python_codes__unknown(struct python_codes *codes, struct hybrid_names *names)
{
	const struct hybrid_function function = { .name = "py::[unknown]", .size = 1 };
	u64 start = hybrid_names__function(names, &codes->quota, &function);

	return start ? hybrid_names_ip(start, function.size, 0) : 0;
}
