// SPDX-License-Identifier: GPL-2.0
/*
 * How many names of functions there may be: what just fits, and what does not; and no memory.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "names-private.h"
#include "short-memory.h"
#include "tap.h"

/* One process may use these. */
#define FUNCTIONS	(HYBRID_NAMES_NR / HYBRID_NAMES_SHARE)
#define BYTES		(HYBRID_NAMES_BYTES / HYBRID_NAMES_SHARE)
#define ADDRESSES	(HYBRID_NAMES_SIZE / HYBRID_NAMES_SHARE)

/* What the function takes. */
#define NAME		"name"
#define FILE_NAME	"file"
#define PLACES		10
#define NAME_BYTES	(sizeof(NAME) + 2 * sizeof(struct hybrid_name_line))
#define FILE_BYTES	(strlen(FILE_NAME) + sizeof(u32))

static const struct hybrid_name_line lines[] = { { 0, 5 }, { 3, 6 } };

static struct hybrid_names *names;
static struct hybrid_names_quota quota;

/* Random bytes that there are, at most. */
static size_t random_bytes = 256;

/* Linked in place of the C library's. */
ssize_t getrandom(void *buffer, size_t length, unsigned int flags __maybe_unused)
{
	length = min(length, random_bytes);
	memset(buffer, 1, length);
	return length;
}

static void begin(void)
{
	memset(&quota, 0, sizeof(quota));
	names = hybrid_names__new(HYBRID_LANGUAGE_PHP);
	check(names);
}

static bool is_added(const char *file)
{
	const struct hybrid_function function = {
		.name = NAME, .file = file, .size = PLACES, .lines = lines,
		.nr_lines = ARRAY_SIZE(lines),
	};

	return hybrid_names__function(names, &quota, &function);
}

/* What a process has, with what is left of its share. */
static void shares(void)
{
	unsigned int over;

	for (over = 0; over < 2; over++) {
		begin();
		quota.functions = FUNCTIONS - 1 + over;
		same(is_added(NULL), !over);
		same(quota.functions, FUNCTIONS);
		same(quota.refused, over);
		hybrid_names__delete(names);
		begin();
		quota.bytes = BYTES - NAME_BYTES + over;
		same(is_added(NULL), !over);
		same(quota.bytes, over ? BYTES - NAME_BYTES + over : BYTES);
		hybrid_names__delete(names);
		begin();
		quota.addresses = ADDRESSES - 2 * PLACES - 2 + over;
		same(is_added(NULL), !over);
		same(quota.addresses, over ? ADDRESSES - 2 * PLACES - 1 : ADDRESSES);
		same(names->nr, !over);
		hybrid_names__delete(names);
	}
}

/* The same of all processes. */
static void in_all(void)
{
	unsigned int over;

	for (over = 0; over < 2; over++) {
		begin();
		names->nr = HYBRID_NAMES_NR - 1 + over;
		same(is_added(NULL), !over);
		same(names->nr, HYBRID_NAMES_NR);
		hybrid_names__delete(names);
		begin();
		names->text_size = HYBRID_NAMES_BYTES - NAME_BYTES + over;
		same(is_added(NULL), !over);
		hybrid_names__delete(names);
		begin();
		names->nr_lines = HYBRID_NAMES_BYTES / sizeof(*lines) - ARRAY_SIZE(lines) - 1;
		names->text_size = sizeof(*lines) - sizeof(NAME) + over;
		same(is_added(NULL), !over);
		hybrid_names__delete(names);
		begin();
		names->used = HYBRID_NAMES_SIZE - 2 * PLACES - 2 + over;
		same(is_added(NULL), !over);
		hybrid_names__delete(names);
	}
}

/* A function whose file's name does not fit has none; the name takes room once. */
static void files(void)
{
	unsigned int over;

	for (over = 0; over < 2; over++) {
		begin();
		quota.bytes = BYTES - FILE_BYTES + over;
		check(!is_added(FILE_NAME));
		same(names->nr_files, !over);
		quota.bytes = 0;
		check(is_added(FILE_NAME));
		same(names->nr_files, 1);
		same(names->entries[0].file, 1);
		same(quota.bytes, NAME_BYTES + (over ? FILE_BYTES : 0));
		hybrid_names__delete(names);
		begin();
		names->text_size = HYBRID_NAMES_BYTES - FILE_BYTES + over;
		check(!is_added(FILE_NAME));
		same(names->nr_files, !over);
		hybrid_names__delete(names);
	}
	begin();
	check(is_added("") && is_added(NULL));
	same(names->nr_files, 0);
	same(names->nr, 1);
	hybrid_names__delete(names);
}

/* The last place of a function has the line that is listed for it, a place behind it has none. */
static void last_line(void)
{
	static const struct hybrid_name_line ends[] = {
		{ PLACES, 7 }, { PLACES - 1, 6 }, { ~0U, 8 }, { 0, 5 },
	};
	const struct hybrid_function function = {
		.name = NAME, .size = PLACES, .lines = ends, .nr_lines = ARRAY_SIZE(ends),
	};

	begin();
	check(hybrid_names__function(names, &quota, &function));
	same(names->nr_lines, 2);
	same(names->lines[0].line, 5);
	same(names->lines[1].index, PLACES - 1);
	same(names->lines[1].line, 6);
	hybrid_names__delete(names);
}

/* Whatever there is no memory for: the function is refused, or has no file, and is there later. */
static void no_memory(void)
{
	unsigned int nr, is_short = 1, refused = 0;
	bool added;

	short_memory_begin(0);
	check(!hybrid_names__new(HYBRID_LANGUAGE_PHP));
	check(short_memory_end());
	for (nr = 0; is_short; nr++) {
		begin();
		short_memory_begin(nr);
		added = is_added(FILE_NAME);
		is_short = short_memory_end();
		check(added || is_short);
		same(quota.refused, !added);
		same(quota.functions, added);
		same(names->nr, added);
		refused += !added;
		check(is_added(FILE_NAME));
		same(names->entries[names->nr - 1].file, 1);
		hybrid_names__delete(names);
	}
	/* An entry, its lines, its text and the table: each is refused. */
	check(refused >= 3);
}

/* A file without a build-id of its own would be taken for another one. */
static void no_build_id(void)
{
	random_bytes = HYBRID_NAMES_BUILD_ID - 1;
	check(!hybrid_names__new(HYBRID_LANGUAGE_PHP));
	random_bytes++;
	begin();
	same(hybrid_names__build_id(names)[HYBRID_NAMES_BUILD_ID - 1], 1);
	hybrid_names__delete(names);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "names: shares of a process", shares },
		{ "names: what all may have", in_all },
		{ "names: files", files },
		{ "names: a function's last line", last_line },
		{ "names: no memory", no_memory },
		{ "names: no random build-id", no_build_id },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
