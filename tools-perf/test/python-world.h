/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A process that runs CPython, which is the test's own. Included by one file of a test.
 */
#ifndef __HYBRID_TEST_PYTHON_WORLD_H
#define __HYBRID_TEST_PYTHON_WORLD_H

#include <string.h>
#include "layout.h"
#include "own-memory.h"
#include "tap.h"

#define PY_3_9	0x030902f0
#define PY_3_10	0x030a02f0
#define PY_3_11	0x030b02f0
#define PY_3_12	0x030c02f0
#define PY_3_13	0x030d05f0

static struct python_layout layout;

/* What there must be for the table of versions to fit; in words. */
static u64 runtime[8], interp[16], thread[32], code_type[8];

static int read_file(struct python_layout *found, u32 version, u64 code_size)
{
	const struct python_file file = {
		.runtime = (u64)runtime, .code_type = (u64)code_type, .version = version,
	};

	code_type[4] = code_size;
	hybrid_memory_forget(own.memory);
	return python_layout__read(found, &own.pm, &file);
}

static int read_version(struct python_layout *found, u32 version, u64 code_size)
{
	bool is_old = version < PY_3_11, is_3_12 = version == PY_3_12;

	memset(runtime, 0, sizeof(runtime));
	memset(interp, 0, sizeof(interp));
	runtime[is_old ? 4 : 5] = (u64)interp;
	interp[is_old ? 1 : is_3_12 ? 9 : 2] = (u64)thread;
	thread[2] = (u64)interp;
	return read_file(found, version, code_size);
}

static void begin(void)
{
	own_begin();
	check(!read_version(&layout, PY_3_11, 184));
}

static void end(void)
{
	own_end();
}

/* An object of 3.11's str. */
struct text {
	u64	head[2];
	u64	length;
	u64	hash;
	u32	state;
	u32	unused;
	u64	wstr;
	u8	bytes[2048];
};

static void set_text(struct text *text, const void *chars, u64 length, unsigned int width,
		     bool is_ascii)
{
	memset(text, 0, sizeof(*text));
	text->length = length;
	text->state = width << 2 | 1 << 5 | (is_ascii ? 1 << 6 : 0);
	memcpy(text->bytes + (is_ascii ? 0 : 24), chars, length * width);
}

#endif /* __HYBRID_TEST_PYTHON_WORLD_H */
