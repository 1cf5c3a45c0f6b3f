// SPDX-License-Identifier: GPL-2.0
/* The names of a runtime's functions, and their synthetic addresses. */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <linux/kernel.h>
#include "../rules/keyed-hash.h"
#include "name-text.h"
#include "names-private.h"

/* A function as it is kept, before it is. */
struct wanted {
	const char		*name;
	size_t			 length;
	u32			 file;
	u32			 size;
	struct hybrid_name_line	*lines;
	u32			 nr_lines;
};

/*
 * Slots of a table of functions, or of source files, as a binary logarithm: three quarters of them
 * are more than HYBRID_NAMES_NR.
 */
#define NUMBERS_BITS	19

/**
 * struct language - what is said of a language's functions
 * @label: what their file is called
 * @dwarf: DW_LANG_*, or 0
 * @evaluator: hybrid_names__evaluator()
 */
struct language {
	const char	*label;
	u16		 dwarf;
	const char	*evaluator;
};

static const struct language languages[HYBRID_NR_LANGUAGES] = {
#define HYBRID_LANGUAGE(name, folder, ...)	[HYBRID_LANGUAGE_##name] = { __VA_ARGS__ },
#include "languages.h"
};

struct hybrid_names *hybrid_names__new(enum hybrid_language language)
{
	struct hybrid_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->language = language;
	if (getrandom(names->build_id, sizeof(names->build_id), 0) != sizeof(names->build_id)) {
		free(names);
		return NULL;
	}
	return names;
}

void hybrid_names__delete(struct hybrid_names *names)
{
	if (!names)
		return;
	hybrid_key_table__exit(&names->by_content);
	hybrid_key_table__exit(&names->by_file);
	free(names->entries);
	free(names->files);
	free(names->text);
	free(names->lines);
	free(names);
}

const char *hybrid_names__label(const struct hybrid_names *names)
{
	return languages[names->language].label;
}

u16 hybrid_names__dwarf(const struct hybrid_names *names)
{
	return languages[names->language].dwarf;
}

const char *hybrid_names__evaluator(enum hybrid_language language)
{
	return languages[language].evaluator;
}

u64 hybrid_names__start(const struct hybrid_names *names)
{
	return HYBRID_NAMES_START + names->language * HYBRID_NAMES_SIZE;
}

const u8 *hybrid_names__build_id(const struct hybrid_names *names)
{
	return names->build_id;
}

u32 hybrid_names__nr(const struct hybrid_names *names)
{
	return names->nr;
}

const char *hybrid_names__get(const struct hybrid_names *names, u32 number, u64 *start, u64 *size)
{
	const struct names_entry *entry = &names->entries[number];

	*start = entry->start;
	*size = 2 * (u64)entry->size;
	return names->text + entry->name;
}

/* Room for @more elements of @size bytes behind @nr of them. */
static int make_room(void *array, u32 nr, u32 more, u32 *room, size_t size)
{
	void **at = array;
	void *larger;
	u32 wanted;

	if (nr + more <= *room)
		return 0;
	wanted = max(nr + more, *room * 2);
	larger = realloc(*at, wanted * size);
	if (!larger)
		return -ENOMEM;
	*at = larger;
	*room = wanted;
	return 0;
}

/* Returns where in the text it is, or -ENOMEM. */
static s64 add_text(struct hybrid_names *names, const char *text, size_t length)
{
	u32 at = names->text_size;

	if (make_room(&names->text, at, length + 1, &names->text_room, 1))
		return -ENOMEM;
	memcpy(names->text + at, text, length + 1);
	names->text_size += length + 1;
	return at;
}

/* Its number; 0 if it has none. */
static u32 file_number(struct hybrid_names *names, struct hybrid_names_quota *quota,
		       const char *file)
{
	char text[HYBRID_NAME_MAX];
	size_t length;
	u32 number;
	u64 key;
	s64 at;

	if (!file || !*file)
		return 0;
	length = hybrid_name_text(text, sizeof(text), file);
	key = hybrid_hash_bytes(0, text, length) ?: 1;
	number = hybrid_key_table__number(&names->by_file, key);
	if (number && !strcmp(names->text + names->files[number - 1], text))
		return number;
	length += sizeof(*names->files);
	if (quota->bytes + length > HYBRID_NAMES_BYTES / HYBRID_NAMES_SHARE ||
	    names->text_size + length > HYBRID_NAMES_BYTES)
		return 0;
	quota->bytes += length;
	if (make_room(&names->files, names->nr_files, 1, &names->files_room,
		      sizeof(*names->files)))
		return 0;
	at = add_text(names, text, strlen(text));
	if (at < 0 || !hybrid_key_table__put_number(&names->by_file, NUMBERS_BITS, key,
						    names->nr_files + 1))
		return 0;
	names->files[names->nr_files++] = at;
	return names->nr_files;
}

static int by_index(const void *a, const void *b)
{
	const struct hybrid_name_line *left = a, *right = b;

	if (left->index != right->index)
		return left->index < right->index ? -1 : 1;
	return 0;
}

/* Sorted, each place once, and none behind the function's end. */
static void take_lines(struct wanted *wanted, const struct hybrid_function *function)
{
	u32 nr = min_t(u32, function->nr_lines, HYBRID_NAMES_LINES), i, kept = 0;

	wanted->nr_lines = 0;
	if (!nr)
		return;
	memcpy(wanted->lines, function->lines, nr * sizeof(*wanted->lines));
	qsort(wanted->lines, nr, sizeof(*wanted->lines), by_index);
	for (i = 0; i < nr; i++) {
		if (wanted->lines[i].index >= wanted->size)
			break;
		if (kept && wanted->lines[kept - 1].index == wanted->lines[i].index)
			continue;
		wanted->lines[kept++] = wanted->lines[i];
	}
	wanted->nr_lines = kept;
}

static bool is_wanted(const struct hybrid_names *names, u32 number, const struct wanted *wanted)
{
	const struct names_entry *entry = &names->entries[number - 1];

	return entry->file == wanted->file && entry->size == wanted->size &&
	       entry->nr_lines == wanted->nr_lines &&
	       !strcmp(names->text + entry->name, wanted->name) &&
	       (!wanted->nr_lines || !memcmp(names->lines + entry->line, wanted->lines,
					     wanted->nr_lines * sizeof(*wanted->lines)));
}

static u64 key_of_function(const struct wanted *wanted)
{
	u64 hash = hybrid_hash_bytes(0, wanted->name, wanted->length);

	hash = hybrid_hash_bytes(hash, &wanted->file, sizeof(wanted->file));
	hash = hybrid_hash_bytes(hash, &wanted->size, sizeof(wanted->size));
	return hybrid_hash_bytes(hash, wanted->lines,
				 wanted->nr_lines * sizeof(*wanted->lines)) ?: 1;
}

static size_t bytes_of(const struct wanted *wanted)
{
	return wanted->length + 1 + wanted->nr_lines * sizeof(*wanted->lines);
}

/* A free address stands between two functions. */
static u64 addresses_of(const struct wanted *wanted)
{
	return 2 * (u64)wanted->size + 2;
}

static bool is_over_bounds(const struct hybrid_names *names,
			   const struct hybrid_names_quota *quota, const struct wanted *wanted)
{
	size_t bytes = names->text_size + names->nr_lines * sizeof(*names->lines);

	return names->nr >= HYBRID_NAMES_NR ||
	       bytes + bytes_of(wanted) > HYBRID_NAMES_BYTES ||
	       names->used + addresses_of(wanted) > HYBRID_NAMES_SIZE ||
	       quota->functions >= HYBRID_NAMES_NR / HYBRID_NAMES_SHARE ||
	       quota->bytes + bytes_of(wanted) > HYBRID_NAMES_BYTES / HYBRID_NAMES_SHARE ||
	       quota->addresses + addresses_of(wanted) > HYBRID_NAMES_SIZE / HYBRID_NAMES_SHARE;
}

/* Its number; 0 if memory is short. */
static u32 add_function(struct hybrid_names *names, const struct wanted *wanted, u64 key)
{
	s64 name;

	if (make_room(&names->entries, names->nr, 1, &names->room, sizeof(*names->entries)) ||
	    make_room(&names->lines, names->nr_lines, wanted->nr_lines, &names->lines_room,
		      sizeof(*names->lines)))
		return 0;
	name = add_text(names, wanted->name, wanted->length);
	if (name < 0 || !hybrid_key_table__put_number(&names->by_content, NUMBERS_BITS, key,
						      names->nr + 1))
		return 0;
	names->entries[names->nr++] = (struct names_entry) {
		.name		= name,
		.file		= wanted->file,
		.start		= names->used,
		.size		= wanted->size,
		.line		= names->nr_lines,
		.nr_lines	= wanted->nr_lines,
	};
	if (wanted->nr_lines)
		memcpy(names->lines + names->nr_lines, wanted->lines,
		       wanted->nr_lines * sizeof(*wanted->lines));
	names->nr_lines += wanted->nr_lines;
	names->used += addresses_of(wanted);
	return names->nr;
}

u64 hybrid_names__function(struct hybrid_names *names, struct hybrid_names_quota *quota,
			   const struct hybrid_function *function)
{
	struct hybrid_name_line lines[HYBRID_NAMES_LINES];
	char name[HYBRID_NAME_MAX];
	struct wanted wanted = {
		.name	= name,
		.size	= clamp(function->size, 1U, HYBRID_NAMES_INDEXES),
		.lines	= lines,
	};
	u32 number;
	u64 key;

	wanted.length = hybrid_name_text(name, sizeof(name), function->name);
	wanted.file = file_number(names, quota, function->file);
	take_lines(&wanted, function);
	key = key_of_function(&wanted);
	number = hybrid_key_table__number(&names->by_content, key);
	if (number && !is_wanted(names, number, &wanted))
		number = 0;
	if (!number && !is_over_bounds(names, quota, &wanted)) {
		number = add_function(names, &wanted, key);
		quota->functions += !!number;
		quota->bytes += number ? bytes_of(&wanted) : 0;
		quota->addresses += number ? addresses_of(&wanted) : 0;
	}
	if (!number) {
		quota->refused++;
		return 0;
	}
	return hybrid_names__start(names) + names->entries[number - 1].start;
}
