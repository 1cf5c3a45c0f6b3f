// SPDX-License-Identifier: GPL-2.0
/*
 * Functions of Perl: name, file and lines of subs, of files that are loaded, and of what is
 * evaluated.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include "../../rules/clock.h"
#include "../../rules/keyed-hash.h"
#include "perl-functions.h"

/* Lines of one function; what has more of them is several. */
#define LINES		256
#define MAX_LINE	0x1000000U

/* ns */
#define CHECK_AFTER	1000000000ULL

/* What keys have in their lowest bits; those of statements of subs have 0. */
#define KEY_OF_CODE	1
#define KEY_OF_FILE	2
#define KEY_OF_SUB	4

/*
 * Returns the address of the function's first byte; 0: no room. @first: line that the function
 * begins at; what has none is known by its file alone.
 */
static u64 put_function(struct perl_functions *functions, struct hybrid_names *names,
			const char *name, const char *file, u32 first)
{
	struct hybrid_name_line lines[LINES];
	char text[PERL_NAME + PERL_TEXT + 8];
	struct hybrid_function function = {
		.name = text, .file = *file ? file : NULL, .size = LINES, .lines = lines,
		.nr_lines = LINES,
	};
	unsigned int i;

	for (i = 0; i < LINES; i++)
		lines[i] = (struct hybrid_name_line) { .index = i, .line = first + i };
	snprintf(text, sizeof(text), *file ? "pl::%s:%s" : "pl::%s", name, file);
	return hybrid_names__function(names, &functions->quota, &function);
}

static u64 put_name(struct perl_functions *functions, struct hybrid_names *names,
		    const char *name, const char *file, u32 first, u32 line)
{
	u64 start;

	if (line < first || line > MAX_LINE)
		line = first;
	first += (line - first) / LINES * LINES;
	start = put_function(functions, names, name, file, first);
	return start ? hybrid_names_ip(start, LINES, line - first) : 0;
}

static struct perl_place *find_place(struct perl_functions *functions, u64 key)
{
	return hybrid_key_table__find(&functions->known, key);
}

static void keep_place(struct perl_functions *functions, const struct perl_place *place)
{
	functions->known.size = sizeof(*place);
	if (place->ip)
		hybrid_key_table__put(&functions->known, place);
}

/* Which is compiled, has its name here alone; the file of the program is that of its statement. */
static noinline u64 read_code(struct perl_functions *functions, struct hybrid_names *names,
			      const struct perl_frame *frame, u64 key)
{
	static const char *const kinds[] = { "(program)", "(eval)", "(require)" };
	u64 what = (frame->function & HYBRID_WALK_FUNCTION_ADDR) / HYBRID_WALK_PERL_PROGRAM;
	u64 statement = frame->position & HYBRID_WALK_FUNCTION_ADDR;
	u32 line = HYBRID_WALK_PERL_LINE(frame->position);
	struct perl_place place = { .key = key };
	char file[PERL_TEXT] = "";

	if (!what || what > ARRAY_SIZE(kinds))
		return 0;
	if (frame->text)
		snprintf(file, sizeof(file), "%s", frame->text);
	else if (what == 1 && !perl_statement__file(functions->pm, statement,
						    functions->nextstate, file))
		snprintf(file, sizeof(file), "%s", functions->program);
	if (what == 1 && !*file)
		return 0;
	if (!line)
		line = perl_statement__line(functions->pm, statement, functions->nextstate);
	place.ip = put_name(functions, names, kinds[what - 1], file, 1, line);
	keep_place(functions, &place);
	return place.ip;
}

/*
 * A block in code, and the program, have no line of their own in the record: it is read. A string
 * is evaluated at another place each time.
 */
static u64 key_of_code(const struct perl_frame *frame)
{
	u64 what = frame->function & HYBRID_WALK_FUNCTION_ADDR, position = frame->position;

	if (what == HYBRID_WALK_PERL_EVAL && HYBRID_WALK_PERL_LINE(position))
		position &= ~HYBRID_WALK_FUNCTION_ADDR;
	if (!frame->text)
		return ((position & ~(u64)KEY_OF_FILE) ^ what << 42) | KEY_OF_CODE;
	return hybrid_hash_string(frame->text) << 32 |
	       HYBRID_WALK_PERL_LINE(frame->position) << 3 | KEY_OF_FILE;
}

static u64 mark_of(u64 key)
{
	return key & ~(HYBRID_WALK_FUNCTION_ADDR | 7);
}

/* Compares what has its name with the process, once a second. Another one has no address yet. */
static bool is_same_sub(struct perl_functions *functions, struct perl_place *known)
{
	u64 time = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE);
	struct perl_sub sub;
	bool is_read;

	if (!known->ip || time - known->checked < CHECK_AFTER)
		return known->ip;
	known->checked = time;
	hybrid_memory_look_again(functions->pm->memory, true);
	is_read = perl_sub__read(functions->pm, known->sub, &sub);
	hybrid_memory_look_again(functions->pm->memory, false);
	/* A closure that is gone may be another one now, or no sub: its code has the mark still. */
	if (is_read && HYBRID_WALK_FUNCTION_MARK(sub.root) == mark_of(known->key) &&
	    sub.named != known->named)
		known->ip = 0;
	return known->ip;
}

/* A statement's sub may be another one now, with the same code. */
static bool is_known(struct perl_functions *functions, const struct perl_place *place)
{
	struct perl_place *sub = place->sub ? find_place(functions, place->sub) : NULL;

	return !place->sub ||
	       (sub && sub->named == place->named && is_same_sub(functions, sub));
}

/* Adds the name of the part of a sub that a line is in. */
static u64 name_sub(struct perl_functions *functions, struct hybrid_names *names,
		    const struct perl_sub *sub, u32 first, u32 line)
{
	char name[PERL_NAME], file[PERL_TEXT] = "";

	if (!perl_sub__name(functions->pm, sub, name))
		return 0;
	if (sub->file && hybrid_process_memory_string(functions->pm, sub->file, file))
		*file = 0;
	perl_file_text(file);
	return put_name(functions, names, name, file, first, line);
}

/* Apart: what is read takes much of the stack, and nearly all subs are known. */
static noinline struct perl_place *read_sub(struct perl_functions *functions,
					    struct hybrid_names *names, u64 key)
{
	struct perl_place known = {
		.key = key, .sub = key & HYBRID_WALK_FUNCTION_ADDR,
		.checked = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE),
	};
	struct perl_sub sub;

	if (!perl_sub__read(functions->pm, known.sub, &sub) ||
	    HYBRID_WALK_FUNCTION_MARK(sub.root) != mark_of(key))
		return NULL;
	known.first = perl_sub__line(functions->pm, &sub, functions->nextstate) ?: 1;
	known.named = sub.named;
	known.ip = name_sub(functions, names, &sub, known.first, known.first);
	/* The first line's address is that of the first byte, and 1. */
	known.ip -= !!known.ip;
	keep_place(functions, &known);
	return known.ip ? find_place(functions, key) : NULL;
}

/* Of a long sub: what is behind its first lines has names, and entries, of its own. */
static u64 ip_of_line(struct perl_functions *functions, struct hybrid_names *names,
		      const struct perl_place *known, u32 line)
{
	struct perl_place part = { .sub = known->key, .named = known->named }, *kept;
	struct perl_sub sub;
	u32 number;

	if (line < known->first || line > MAX_LINE)
		line = known->first;
	number = (line - known->first) / LINES;
	part.first = known->first + number * LINES;
	if (!number)
		return hybrid_names_ip(known->ip, LINES, line - part.first);
	part.key = (known->key ^ (u64)number << 20) | KEY_OF_SUB | KEY_OF_CODE;
	kept = find_place(functions, part.key);
	if (kept && kept->sub == part.sub && kept->named == part.named && kept->first == part.first)
		return hybrid_names_ip(kept->ip, LINES, line - part.first);
	if (!perl_sub__read(functions->pm, known->sub, &sub) ||
	    HYBRID_WALK_FUNCTION_MARK(sub.root) != mark_of(known->key))
		return 0;
	part.ip = name_sub(functions, names, &sub, part.first, part.first);
	if (!part.ip)
		return 0;
	part.ip--;
	keep_place(functions, &part);
	return hybrid_names_ip(part.ip, LINES, line - part.first);
}

/* A statement that is not known yet. */
static u64 read_place(struct perl_functions *functions, struct hybrid_names *names,
		      const struct perl_frame *frame, u64 key)
{
	u64 sub = (frame->function & HYBRID_WALK_FUNCTION_ADDR) | mark_of(key) | KEY_OF_SUB;
	struct perl_place *known = find_place(functions, sub), place = { .key = key, .sub = sub };

	if (!known || !is_same_sub(functions, known))
		known = read_sub(functions, names, sub);
	if (!known)
		return 0;
	place.named = known->named;
	place.ip = ip_of_line(functions, names, known,
			      perl_statement__line(functions->pm,
						   frame->position & HYBRID_WALK_FUNCTION_ADDR,
						   functions->nextstate));
	keep_place(functions, &place);
	return place.ip;
}

/*
 * Closures come and go. Their code stays, and has statements: these say the package and the file.
 */
static noinline u64 read_closure(struct perl_functions *functions, struct hybrid_names *names,
				 const struct perl_frame *frame, u64 key)
{
	struct hybrid_process_memory *pm = functions->pm;
	u64 root = frame->function & HYBRID_WALK_FUNCTION_ADDR, nextstate = functions->nextstate;
	u64 statement = frame->position & HYBRID_WALK_FUNCTION_ADDR, first;
	/* Those of other threads are copies of it. */
	u64 packages = hybrid_process_word(pm, functions->interpreter) + functions->packages;
	char package[PERL_TEXT], name[PERL_NAME], file[PERL_TEXT];
	struct perl_place place = { .key = key };

	first = perl_root__statement(pm, root, nextstate) ?: statement;
	if (!perl_statement__package(pm, first, packages, package) ||
	    !perl_statement__file(pm, first, nextstate, file))
		return 0;
	perl_file_text(file);
	snprintf(name, sizeof(name), "%s::__ANON__", package);
	place.ip = put_name(functions, names, name, file,
			    perl_statement__line(pm, first, nextstate),
			    perl_statement__line(pm, statement, nextstate));
	keep_place(functions, &place);
	return place.ip;
}

/* Subs that are named BEGIN are gone as soon as they have run. */
static noinline u64 read_begin(struct perl_functions *functions, struct hybrid_names *names,
			       const struct perl_frame *frame)
{
	return put_name(functions, names, "BEGIN", frame->file, 1,
			    HYBRID_WALK_PERL_LINE(frame->position));
}

static u64 key_of_sub(const struct perl_frame *frame)
{
	return ((frame->position & HYBRID_WALK_FUNCTION_ADDR) ?:
		(frame->function & HYBRID_WALK_FUNCTION_ADDR)) | mark_of(frame->function);
}

static u64 key_of_told(u64 function)
{
	u64 key = (function & HYBRID_WALK_FUNCTION_ADDR) | mark_of(function) | KEY_OF_SUB;

	return function & HYBRID_WALK_PERL_ANONYMOUS ? key | KEY_OF_FILE : key;
}

/* A closure whose code can't be read any more; its lines are not known. */
static u64 told_closure(struct perl_functions *functions, u64 function)
{
	const struct perl_place *known = find_place(functions, key_of_told(function));

	return known && known->ip ? hybrid_names_ip(known->ip, LINES, 0) : 0;
}

u64 perl_functions__ip(struct perl_functions *functions, struct hybrid_names *names,
		       const struct perl_frame *frame)
{
	bool is_code = frame->function & HYBRID_WALK_PERL_CODE, is_sub;
	struct perl_place *known;
	u64 key, ip;

	is_sub = (frame->function & HYBRID_WALK_FUNCTION_ADDR) > HYBRID_WALK_PERL_FILE;
	key = is_sub ? key_of_sub(frame) : key_of_code(frame);
	known = find_place(functions, key);
	if (known && is_known(functions, known))
		return known->ip;
	if (!is_sub)
		return read_code(functions, names, frame, key);
	if (frame->function & HYBRID_WALK_PERL_ANONYMOUS)
		return read_closure(functions, names, frame, key) ?:
		       told_closure(functions, frame->function);
	ip = read_place(functions, names, frame, key);
	return ip || !is_code ? ip : read_begin(functions, names, frame);
}

void perl_functions__text(struct perl_functions *functions, struct hybrid_names *names,
			  struct hybrid_told_text *told)
{
	struct perl_place place = {
		.key = key_of_told(told->function), .named = told->named, .first = told->line ?: 1,
		.sub = told->function & HYBRID_WALK_FUNCTION_ADDR,
		.checked = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE),
	};
	const struct perl_place *known = find_place(functions, place.key);
	char name[PERL_NAME];

	if (told->function & HYBRID_WALK_PERL_CODE)
		snprintf(functions->program, sizeof(functions->program), "%s", told->pieces[2]);
	if ((known && known->ip && known->named == place.named) || !*told->pieces[1])
		return;
	snprintf(name, sizeof(name), "%s%s%s", told->pieces[0], *told->pieces[0] ? "::" : "",
		 told->pieces[1]);
	perl_file_text(told->pieces[2]);
	place.ip = put_name(functions, names, name, told->pieces[2], place.first, place.first);
	place.ip -= !!place.ip;
	keep_place(functions, &place);
}

void perl_functions__exit(struct perl_functions *functions)
{
	hybrid_key_table__exit(&functions->known);
}
