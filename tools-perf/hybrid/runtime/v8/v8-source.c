// SPDX-License-Identifier: GPL-2.0
/*
 * Sources of JavaScript that are in files.
 */
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include "../../rules/rows.h"
#include "../../rules/symbol.h"
#include "v8-source.h"

#define CHUNK		16384

/* What modules are called by: lib/internal/url.js, pathToFileURL() of Node.js. */
#define URL		"file://"

/* lib/internal/modules/cjs/loader.js: a mark of the encoding is no part of the source. */
#define BOM		"\xef\xbb\xbf"

/* What the process has, or a constant of V8's file. @bias: what is added to its addresses. */
static bool read_chars(struct hybrid_process_memory *pm, const struct hybrid_mapping *file,
		       u64 bias, u64 at, void *out, size_t size)
{
	return !hybrid_process_memory_read(pm, at, out, size) ||
	       (file && hybrid_object_bytes(file->object, at - bias, out, size));
}

static bool read_mapped(struct hybrid_process_memory *pm, const struct hybrid_mapping *file,
			const struct hybrid_walk_v8_source *source, struct v8_lines *lines)
{
	u32 left = source->length, some, width = source->width;
	u64 at = source->chars, bias = 0;
	u8 chars[CHUNK];

	if (!at || (width != 1 && width != 2))
		return false;
	if (file && !hybrid_mapping_bias(file, &bias))
		file = NULL;
	while (left) {
		some = min_t(u32, left, CHUNK / width);
		if (!read_chars(pm, file, bias, at, chars, some * width) ||
		    !v8_lines__put(lines, chars, some, width))
			return false;
		at += some * width;
		left -= some;
	}
	return true;
}

/* V8 counts in UTF-16: of UTF-8 the first byte of a character is one, and of four bytes two. */
static u32 count_chars(const u8 *bytes, u32 nr)
{
	u32 i, out = 0;

	for (i = 0; i < nr; i++) {
		if ((bytes[i] & 0xc0) == 0x80)
			continue;
		out += bytes[i] >= 0xf0 ? 2 : 1;
	}
	return out;
}

/* Lines of a chunk of UTF-8. */
static bool put_utf8(struct v8_lines *lines, const u8 *bytes, u32 nr)
{
	const u8 *newline;
	u32 at = 0, end;

	while (at < nr) {
		newline = memchr(bytes + at, '\n', nr - at);
		end = newline ? newline - bytes : nr;
		lines->length += count_chars(bytes + at, end - at);
		at = end;
		if (newline && !v8_lines__put(lines, newline, 1, 1))
			return false;
		at += !!newline;
	}
	return true;
}

static bool read_utf8(int fd, struct v8_lines *lines)
{
	u8 bytes[CHUNK];
	off_t at = 0;
	ssize_t got;
	u32 skip;

	while ((got = pread(fd, bytes, sizeof(bytes), at)) > 0) {
		skip = !at && got >= 3 && !memcmp(bytes, BOM, 3) ? 3 : 0;
		if (!put_utf8(lines, bytes + skip, got - skip) || lines->length > V8_MAX_SOURCE)
			return false;
		at += got;
	}
	return !got;
}

static int hex(char c)
{
	const char *digits = "0123456789abcdef", *found = c ? strchr(digits, c | 0x20) : NULL;

	return found ? found - digits : -1;
}

/* Returns false if it is no file's. */
static bool path_of(const char *name, char *path)
{
	bool is_url = !strncmp(name, URL, strlen(URL));
	int high, low;

	if (is_url)
		name += strlen(URL);
	if (*name != '/')
		return false;
	for (; *name; name++) {
		high = is_url && *name == '%' ? hex(name[1]) : -1;
		low = high >= 0 ? hex(name[2]) : -1;
		*path++ = low >= 0 ? high << 4 | low : *name;
		name += low >= 0 ? 2 : 0;
	}
	*path = 0;
	return true;
}

/* As files of code are opened: perf waits for no file system. */
static int open_path(struct hybrid_process_memory *pm, char *path)
{
	struct hybrid_ident ident = { .path = path };
	struct hybrid_mapping mapping = {
		.pid = pm->pid, .is_moved = true,
		.object = hybrid_object_get(pm->objects, &ident),
	};
	int fd;

	if (!mapping.object)
		return -1;
	fd = pm->objects->open(&mapping);
	/* Of a program that is copied not all is there. */
	if (fd >= 0 && mapping.object->is_copy) {
		close(fd);
		fd = -1;
	}
	hybrid_object_put(mapping.object);
	return fd;
}

static bool read_file(struct hybrid_process_memory *pm, const struct v8_told *told,
		      struct v8_lines *lines)
{
	char path[V8_TEXT];
	bool is_read;
	int fd;

	if (!path_of(told->file, path))
		return false;
	fd = open_path(pm, path);
	if (fd < 0)
		return false;
	is_read = read_utf8(fd, lines);
	close(fd);
	return is_read;
}

bool v8_source__lines(struct hybrid_process_memory *pm, const struct hybrid_mapping *file,
		      const struct v8_told *told, struct v8_lines *lines)
{
	bool is_read;

	if (!told->source.length || told->source.length > V8_MAX_SOURCE)
		return false;
	is_read = told->source.chars ? read_mapped(pm, file, &told->source, lines) :
				       read_file(pm, told, lines);
	if (is_read && lines->length == told->source.length) {
		v8_lines__end(lines);
		return true;
	}
	v8_lines__free(lines);
	return false;
}
