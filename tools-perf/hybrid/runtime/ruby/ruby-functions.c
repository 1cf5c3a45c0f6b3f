// SPDX-License-Identifier: GPL-2.0
/*
 * Functions of CRuby: name, file and lines of methods and blocks, and the names of methods in C.
 */
#include <stdio.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include "../../rules/clock.h"
#include "insn-lines.h"
#include "method-name.h"
#include "ruby-functions.h"

/* Words of code that are believed. */
#define MAX_SIZE	0x100000U

/* ns */
#define CHECK_AFTER	1000000000ULL

static u64 word_at(struct ruby_functions *functions, u64 addr)
{
	return hybrid_process_word(functions->pm, addr);
}

/* Of code, or of a method's entry. It is done once a second: each read takes two system calls. */
static bool read_words(struct ruby_functions *functions, u64 addr, u64 *words)
{
	u64 object[RUBY_OBJECT / sizeof(u64)], body[(RUBY_LABEL - RUBY_PATH) / sizeof(u64) + 1];

	if (!addr || addr & 7 ||
	    hybrid_process_memory_read(functions->pm, addr, object, sizeof(object)))
		return false;
	words[0] = object[RUBY_OWN / sizeof(u64)];
	if (ruby_is_type(*object, RUBY_ENTRY)) {
		words[1] = hybrid_process_word(functions->pm, words[0] + RUBY_ID);
		words[2] = object[RUBY_OWNER / sizeof(u64)];
		return words[0] && words[1];
	}
	if (!ruby_is_type(*object, RUBY_CODE) ||
	    hybrid_process_memory_read(functions->pm, words[0] + RUBY_PATH, body, sizeof(body)))
		return false;
	words[1] = body[ARRAY_SIZE(body) - 1];
	words[2] = body[0];
	return words[0] && words[1];
}

static bool is_same(struct ruby_functions *functions, struct ruby_function *known)
{
	u64 time = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE), words[3];

	if (time - known->checked < CHECK_AFTER)
		return true;
	known->checked = time;
	/* What can't be read now, or not any more, has the mark still. */
	return !read_words(functions, known->addr, words) ||
	       !memcmp(words, known->words, sizeof(words));
}

/* A string, or the path and the real path, which eval has none of. */
static bool read_path(struct ruby_functions *functions, u64 path, char *out)
{
	struct hybrid_process_memory *pm = functions->pm;

	return ruby_text(pm, functions->layout, path, out) ||
	       ruby_text(pm, functions->layout, ruby_element(pm, path, 1), out) ||
	       ruby_text(pm, functions->layout, ruby_element(pm, path, 0), out);
}

/* The name of a method, with the class, or of a part of it. */
static bool read_name(struct ruby_functions *functions, u64 addr, u64 body, char *name)
{
	bool has_symbols = ruby_symbols__find(&functions->symbols, functions->pm);

	if (has_symbols && ruby_is(functions->pm, addr, RUBY_ENTRY) &&
	    ruby_entry_name(functions->pm, functions->layout, &functions->symbols, addr, name))
		return true;
	return body && ruby_text(functions->pm, functions->layout,
				 word_at(functions, body + RUBY_LABEL), name);
}

/* Apart: what is read takes 40 KiB of stack, and nearly all code is known. @body: of the code */
static noinline bool read_code(struct ruby_functions *functions, struct hybrid_names *names,
			       u64 body, struct ruby_function *known)
{
	char file[RUBY_TEXT], name[RUBY_NAME], text[RUBY_NAME + RUBY_TEXT + 8];
	struct hybrid_name_line lines[HYBRID_NAMES_LINES];
	struct hybrid_function function = { .name = text, .file = file, .lines = lines };
	u32 size = word_at(functions, body + RUBY_SIZE);

	if (!read_name(functions, known->addr, body, name) ||
	    !read_path(functions, word_at(functions, body + RUBY_PATH), file))
		return false;
	snprintf(text, sizeof(text), "rb::%s:%s", name, file);
	known->encoded = word_at(functions, body + RUBY_ENCODED);
	known->size = size && size < MAX_SIZE ? size : 1;
	function.size = known->size;
	function.nr_lines = ruby_lines(functions->pm, body + functions->layout->insns,
				       known->size, lines, HYBRID_NAMES_LINES);
	known->function = hybrid_names__function(names, &functions->quota, &function);
	return known->encoded && known->function;
}

static noinline bool read_method_in_c(struct ruby_functions *functions,
				      struct hybrid_names *names, struct ruby_function *known)
{
	char name[RUBY_NAME], text[RUBY_NAME + 8];
	struct hybrid_function function = { .name = text, .size = 1 };

	if (!read_name(functions, known->addr, 0, name))
		return false;
	snprintf(text, sizeof(text), "rb::%s", name);
	known->encoded = 0;
	known->size = 1;
	known->function = hybrid_names__function(names, &functions->quota, &function);
	return known->function;
}

/* The code that is at an address, or that the method's entry has there; 0: there is none. */
static u64 code_at(struct ruby_functions *functions, u64 addr)
{
	u64 definition = word_at(functions, addr + RUBY_OWN);

	if (ruby_is(functions->pm, addr, RUBY_ENTRY))
		addr = word_at(functions, definition) & RUBY_METHOD_TYPE ? 0 :
			word_at(functions, definition + RUBY_METHOD_CODE);
	return ruby_is(functions->pm, addr, RUBY_CODE) ? addr : 0;
}

static bool has_mark(const struct ruby_function *known, u64 function)
{
	return !((HYBRID_WALK_FUNCTION_MARK(known->words[0]) ^ function) >> 48);
}

/* What can't be read does not take the place of what is known. */
static bool look_up(struct ruby_functions *functions, struct hybrid_names *names, u64 addr,
		    bool is_code, struct ruby_function *known)
{
	struct ruby_function found = {
		.addr = addr, .checked = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE),
	};
	u64 code = is_code ? code_at(functions, addr) : 0;

	if (!read_words(functions, addr, found.words) || (is_code && !code) ||
	    !(is_code ? read_code(functions, names, word_at(functions, code + RUBY_OWN), &found) :
			read_method_in_c(functions, names, &found)))
		return false;
	*known = found;
	/* The name may lack its class: until there are symbols it is read again. */
	if (!functions->symbols.ids)
		known->addr = 0;
	return true;
}

u64 ruby_functions__ip(struct ruby_functions *functions, struct hybrid_names *names, u64 function,
		       u64 position)
{
	u64 addr = function & HYBRID_WALK_FUNCTION_ADDR, index;
	struct ruby_function *known = &functions->known[hash_64(addr, RUBY_FUNCTIONS_BITS)];

	if ((known->addr != addr || !known->encoded != !position || !has_mark(known, function) ||
	     !is_same(functions, known)) && !look_up(functions, names, addr, position, known))
		return 0;
	if (!has_mark(known, function))
		return 0;
	/* The position is behind the instruction, or before the first one. */
	index = (position - known->encoded) / sizeof(u64);
	return hybrid_names_ip(known->function, known->size,
			       index && index <= known->size ? index - 1 : 0);
}

u64 ruby_functions__unknown(struct ruby_functions *functions, struct hybrid_names *names)
{
	const struct hybrid_function function = { .name = "rb::[unknown]", .size = 1 };
	u64 start = hybrid_names__function(names, &functions->quota, &function);

	return start ? hybrid_names_ip(start, function.size, 0) : 0;
}

u64 ruby_functions__label(struct ruby_functions *functions, u64 function)
{
	u64 code = code_at(functions, function & HYBRID_WALK_FUNCTION_ADDR), body;

	if (!code)
		return 0;
	body = word_at(functions, code + RUBY_OWN);
	return word_at(functions, word_at(functions, body + RUBY_ENCODED));
}
