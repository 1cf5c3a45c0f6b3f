// SPDX-License-Identifier: GPL-2.0
/*
 * Functions of CRuby: name, file and lines of methods and blocks, and the names of methods in C.
 */
#include <stdio.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include "insn-lines.h"
#include "method-name.h"
#include "ruby-functions.h"

/* Words of code that are believed. */
#define MAX_SIZE	0x100000U

/**
 * struct ruby_text - how a function is named
 * @name: with the class
 * @file: empty: it has none
 */
struct ruby_text {
	char	name[RUBY_NAME];
	char	file[RUBY_TEXT];
};

static u64 word_at(struct ruby_functions *functions, u64 addr)
{
	return hybrid_process_word(functions->pm, addr);
}

/* As ruby_identity() of BPF reads them. Returns false if there is neither code nor a method. */
static bool read_words(struct ruby_functions *functions, u64 addr, u64 *words)
{
	if (!addr || addr & 7 ||
	    hybrid_process_memory_read(functions->pm, addr, words, RUBY_WORDS * sizeof(*words)))
		return false;
	return ruby_is_type(*words, RUBY_ENTRY) ||
	       (ruby_is_type(*words, RUBY_CODE) &&
		!hybrid_process_memory_read(functions->pm, words[2] + RUBY_PATH, &words[3],
					    2 * sizeof(*words)));
}

/* The object that was sampled, if it is still there. @words: out: of it */
static u64 find_object(struct ruby_functions *functions, u64 key, u64 *words)
{
	u64 addr = key & HYBRID_WALK_FUNCTION_ADDR, identity;

	if (!read_words(functions, addr, words))
		return 0;
	identity = hybrid_ruby_identity(words[2], words[3], words[4]);
	return (addr | HYBRID_WALK_FUNCTION_MARK(identity)) == key ? addr : 0;
}

/* What the code is made of that an object is, or that the method has; 0: it is one in C. */
static u64 body_of(struct ruby_functions *functions, const u64 *words)
{
	u64 code;

	if (!ruby_is_type(*words, RUBY_ENTRY))
		return words[2];
	if (word_at(functions, words[2]) & RUBY_METHOD_TYPE)
		return 0;
	code = word_at(functions, words[2] + RUBY_METHOD_CODE);
	return ruby_is(functions->pm, code, RUBY_CODE) ? word_at(functions, code + RUBY_OWN) : 0;
}

/* A string, or the path and the real path, which eval has none of. */
static bool read_path(struct ruby_functions *functions, u64 path, char *out)
{
	struct hybrid_process_memory *pm = functions->pm;

	return ruby_text(pm, functions->layout, path, out) ||
	       ruby_text(pm, functions->layout, ruby_element(pm, path, 1), out) ||
	       ruby_text(pm, functions->layout, ruby_element(pm, path, 0), out);
}

/* The name of a method, with the class. @words: of its entry, or of code */
static bool read_method(struct ruby_functions *functions, u64 addr, const u64 *words, char *name)
{
	return ruby_is_type(*words, RUBY_ENTRY) &&
	       ruby_symbols__find(&functions->symbols, functions->pm) &&
	       ruby_entry_name(functions->pm, functions->layout, &functions->symbols, addr, name);
}

/*
 * Adds a function to the names. Apart: the lines take 32 KiB of stack, and nearly all code is
 * known.
 * @body: of the code; 0: it can't be read. @line: the first one, if it can't
 */
static noinline bool add_name(struct ruby_functions *functions, struct hybrid_names *names,
			      struct ruby_function *found, const struct ruby_text *of, u64 body,
			      u32 line)
{
	char text[RUBY_NAME + RUBY_TEXT + 8];
	struct hybrid_name_line lines[HYBRID_NAMES_LINES];
	struct hybrid_function function = { .name = text, .lines = lines };

	snprintf(text, sizeof(text), "rb::%s%s%s", of->name, *of->file ? ":" : "", of->file);
	found->size = found->size && found->size < MAX_SIZE ? found->size : 1;
	function.file = *of->file ? of->file : NULL;
	function.size = found->size;
	if (body)
		function.nr_lines = ruby_lines(functions->pm, body + functions->layout->insns,
					       found->size, lines, HYBRID_NAMES_LINES);
	if (!function.nr_lines && line) {
		lines[0] = (struct hybrid_name_line) { .line = line };
		function.nr_lines = 1;
	}
	found->function = hybrid_names__function(names, &functions->quota, &function);
	return found->function;
}

static void keep_object(struct ruby_functions *functions, const struct ruby_function *found)
{
	functions->known.size = sizeof(*found);
	hybrid_key_table__put(&functions->known, found);
}

/* What BPF could not tell: it is read from the process. */
static noinline bool read_object(struct ruby_functions *functions, struct hybrid_names *names,
				 struct ruby_function *found)
{
	struct ruby_text of = { .file = "" };
	u64 words[RUBY_WORDS], addr, body;
	bool has_name;

	addr = find_object(functions, found->key, words);
	if (!addr)
		return false;
	body = body_of(functions, words);
	has_name = read_method(functions, addr, words, of.name) ||
		   (body && ruby_text(functions->pm, functions->layout,
				      word_at(functions, body + RUBY_LABEL), of.name));
	if (!has_name ||
	    (body && !read_path(functions, word_at(functions, body + RUBY_PATH), of.file)))
		return false;
	if (body) {
		found->encoded = word_at(functions, body + RUBY_ENCODED);
		found->size = word_at(functions, body) >> 32;
	}
	if (!add_name(functions, names, found, &of, body, 0))
		return false;
	/* The name may lack its class: until there are symbols it is read again. */
	if (functions->symbols.ids || !functions->symbols.table)
		keep_object(functions, found);
	return true;
}

u64 ruby_functions__ip(struct ruby_functions *functions, struct hybrid_names *names, u64 function,
		       u64 position)
{
	struct ruby_function read = { .key = function & ~HYBRID_WALK_RUN_ENDS };
	const struct ruby_function *known = hybrid_key_table__find(&functions->known, read.key);
	u64 index;

	if (!known && read_object(functions, names, &read))
		known = &read;
	if (!known || !known->encoded != !position)
		return 0;
	/* The position is behind the instruction, or before the first one. */
	index = (position - known->encoded) / sizeof(u64);
	return hybrid_names_ip(known->function, known->size,
			       index && index <= known->size ? index - 1 : 0);
}

void ruby_functions__text(struct ruby_functions *functions, struct hybrid_names *names,
			  const struct hybrid_told_text *told)
{
	const char *class = told->pieces[0], *label = told->pieces[1];
	struct ruby_function found = {
		.key = told->function & ~HYBRID_WALK_RUN_ENDS, .encoded = told->named,
		.size = told->size,
	};
	u64 words[RUBY_WORDS], addr, body;
	struct ruby_text of;

	if (!(found.key & HYBRID_WALK_FUNCTION_ADDR) || !*label ||
	    hybrid_key_table__find(&functions->known, found.key))
		return;
	addr = find_object(functions, found.key, words);
	body = addr && found.encoded ? body_of(functions, words) : 0;
	if (*class || !addr || !read_method(functions, addr, words, of.name))
		snprintf(of.name, sizeof(of.name), "%s%s%s", class,
			 !*class ? "" : told->is_own ? "." : "#", label);
	snprintf(of.file, sizeof(of.file), "%s", told->pieces[2]);
	if (add_name(functions, names, &found, &of, body,
		     told->line >> functions->layout->line_shift))
		keep_object(functions, &found);
}

u64 ruby_functions__label(struct ruby_functions *functions, u64 function)
{
	u64 words[RUBY_WORDS], body;

	if (!read_words(functions, function & HYBRID_WALK_FUNCTION_ADDR, words))
		return 0;
	body = body_of(functions, words);
	return body ? word_at(functions, word_at(functions, body + RUBY_ENCODED)) : 0;
}

void ruby_functions__exit(struct ruby_functions *functions)
{
	hybrid_key_table__exit(&functions->known);
}
