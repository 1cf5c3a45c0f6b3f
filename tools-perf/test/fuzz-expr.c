// SPDX-License-Identifier: GPL-2.0
/*
 * DWARF expressions of any operations, over registers and memory that may or
 * may not be there.
 *
 * Input: one byte of flags, then for each operation one byte of atom and, by
 * its top bits, 1, 2 or 8 bytes for each of its numbers.
 */
#include <stdlib.h>
#include <string.h>
#include "expr.h"
#include "fuzz.h"

#define MAX_OPS	64

struct input {
	const u8	*data;
	size_t		 size;
};

static u64 take(struct input *in, size_t bytes)
{
	u64 value = 0;

	if (bytes > in->size)
		bytes = in->size;
	memcpy(&value, in->data, bytes);
	in->data += bytes;
	in->size -= bytes;
	return value;
}

/* A jump is two bytes, signed; the rest as libdw would give it. */
static u64 take_number(struct input *in)
{
	u8 kind = take(in, 1);

	if (kind < 0x80)
		return kind;
	if (kind < 0xc0)
		return (s16)take(in, 2);
	return take(in, 8);
}

static int read_memory(void *arg, u64 addr, unsigned int size, u64 *value)
{
	u64 limit = *(u64 *)arg;

	if (!size || size > 8)
		abort();
	if (addr >= limit)
		return -1;
	*value = addr * 0x9e3779b97f4a7c15ULL >> (64 - size * 8);
	return 0;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };
	u8 flags = take(&in, 1);
	u64 limit = flags & 2 ? ~0ULL : 0x10000, result;
	struct hybrid_regs regs = { .known = flags & 4 ? 0x1ffff : 0x100c0 };
	struct hybrid_expr_ctx ctx = {
		.regs = &regs, .cfa = 0x7ffc0000, .word = flags & 1 ? 4 : 8,
		.read = read_memory, .arg = &limit,
	};
	Dwarf_Op *ops;
	size_t nr = 0, i;
	u64 offset = 0;

	for (i = 0; i < HYBRID_MAX_REGS; i++)
		regs.value[i] = i * 0x1001;
	/* Of the very size, so that reading behind them is seen. */
	ops = calloc(MAX_OPS, sizeof(*ops));
	while (ops && in.size && nr < MAX_OPS) {
		ops[nr].atom = take(&in, 1);
		ops[nr].number = take_number(&in);
		ops[nr].number2 = take_number(&in);
		ops[nr].offset = offset;
		offset += 1 + ops[nr].number % 4;
		nr++;
	}
	ops = nr ? realloc(ops, nr * sizeof(*ops)) : ops;
	if (ops && !hybrid_expr_eval(ops, nr, &ctx, &result) && ctx.word == 4 && result >> 32 &&
	    ops[nr - 1].atom != 0x06)
		abort();
	free(ops);
	return 0;
}
