// SPDX-License-Identifier: GPL-2.0
/*
 * Functions of PHP: name, class, file and lines.
 */
#include <stdio.h>
#include <string.h>
#include <linux/kernel.h>
#include "php-code.h"

/* Instructions that are read at once. */
#define AT_ONCE		32

bool php_text(struct hybrid_process_memory *pm, u64 string, char *out)
{
	u64 length = string ? hybrid_process_word(pm, string + PHP_STRING_LENGTH) : 0;

	length = min_t(u64, length, PHP_TEXT - 1);
	if (!length || hybrid_process_memory_read(pm, string + PHP_STRING_BYTES, out, length))
		return false;
	out[length] = 0;
	return *out;
}

const char *php_name(struct hybrid_process_memory *pm, const struct php_name *of, char *out)
{
	char name[PHP_TEXT], class[PHP_TEXT] = "", file[PHP_TEXT] = "";
	int at;

	if (!php_text(pm, of->name, name) || (of->file && !php_text(pm, of->file, file)))
		return NULL;
	if (of->class && strncmp(name, PHP_CLOSURE, strlen(PHP_CLOSURE)) &&
	    !php_text(pm, of->class, class))
		return NULL;
	at = snprintf(out, PHP_NAME, "php::%s%s%s%s", class, *class ? "::" : "", name,
		      *file ? ":" : "");
	snprintf(out + at, PHP_NAME - at, "%s", file);
	return out + at;
}

unsigned int php_lines(struct hybrid_process_memory *pm, u64 opcodes, u32 nr,
		       struct hybrid_name_line *lines, unsigned int max)
{
	u8 ops[AT_ONCE * PHP_OP];
	unsigned int nr_lines = 0;
	u32 i, line;

	for (i = 0; i < nr; i++) {
		if (!(i % AT_ONCE) &&
		    hybrid_process_memory_read(pm, opcodes + (u64)i * PHP_OP, ops,
					       min_t(u32, nr - i, AT_ONCE) * PHP_OP))
			break;
		memcpy(&line, ops + i % AT_ONCE * PHP_OP + PHP_OP_LINE, sizeof(line));
		if (nr_lines && lines[nr_lines - 1].line == line)
			continue;
		if (nr_lines == max)
			break;
		lines[nr_lines].index = i;
		lines[nr_lines++].line = line;
	}
	return nr_lines;
}
