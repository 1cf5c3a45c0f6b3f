// SPDX-License-Identifier: GPL-2.0
/*
 * Where optimised code can go on in the interpreter: after calls, and where it jumps to an exit. V8
 * knows the functions of such places.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "v8-points.h"

/* src/codegen/safepoint-table.h: SafepointTable, and maglev-safepoint-table.h. */
#define HEADER		8
#define HEADER_MAGLEV	16

/* src/deoptimizer/x64/deoptimizer-x64.cc: kEagerDeoptExitSize, a call. */
#define EXIT_SIZE	4

/**
 * struct entry - of the table
 * @pc: where the call returns to
 * @exit: of the code, for that; negative: none
 * @trampoline: where it returns to if the code is no longer valid; negative: nowhere
 */
struct entry {
	u32	pc;
	s64	exit;
	s64	trampoline;
};

static bool put(struct v8_points *points, u32 at, u32 exit)
{
	unsigned int room = points->room ? 2 * points->room : 64;
	struct v8_point *more;

	if (points->nr == V8_POINTS)
		return true;
	if (points->nr == points->room) {
		more = realloc(points->list, room * sizeof(*more));
		if (!more)
			return false;
		points->list = more;
		points->room = room;
	}
	points->list[points->nr++] = (struct v8_point) {
		.at = at, .exit = exit,
	};
	return true;
}

static u32 read_u32(const u8 *bytes)
{
	u32 word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

static u32 read_bytes(const u8 **bytes, unsigned int nr)
{
	u32 word = 0;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (i < sizeof(word))
			word |= (u32)(*bytes)[i] << (8 * i);
	}
	*bytes += nr;
	return word;
}

/* The words for "none" are -1, and all are one more in the table. */
static struct entry read_entry(const u8 *bytes, unsigned int pc_size, unsigned int exit_size)
{
	struct entry entry;

	entry.pc = read_bytes(&bytes, pc_size);
	entry.exit = (s64)read_bytes(&bytes, exit_size) - 1;
	entry.trampoline = (s64)read_bytes(&bytes, pc_size) - 1;
	return entry;
}

/**
 * struct table - where the table has what
 * @at: of the number of entries, which the sizes of their parts follow
 * @entries: of the first entry
 * @nr: number of entries
 * @pc_size: bytes of an address
 * @exit_size: of the number of an exit
 * @size: of an entry
 */
struct table {
	u32	at;
	u32	entries;
	u32	nr;
	u32	pc_size;
	u32	exit_size;
	u32	size;
};

/* Since 13 the table begins with the number of words in the frame; Maglev's has lost one, then. */
static bool read_header(struct table *table, const struct v8_safepoints *from,
			const struct v8_exits *exits, bool is_new)
{
	u32 sizes;

	table->at = is_new ? 4 : 0;
	table->entries = from->is_maglev ? HEADER_MAGLEV : table->at + HEADER;
	if (from->size < table->entries)
		return false;
	table->nr = read_u32(from->bytes + table->at);
	sizes = read_u32(from->bytes + table->at + 4);
	/* Without this bit no call has an exit. */
	if (!(sizes & 1)) {
		table->nr = 0;
		return exits->nr == exits->nr_eager;
	}
	table->pc_size = sizes >> 4 & 7;
	table->exit_size = sizes >> 7 & 7;
	table->size = 2 * table->pc_size + table->exit_size + (sizes >> 1 & 7) + from->is_maglev;
	return table->pc_size && table->nr <= (from->size - table->entries) / table->size;
}

static bool put_returns(struct v8_points *points, const struct v8_safepoints *from,
			const struct v8_exits *exits, u32 code_size, bool is_new)
{
	struct entry entry;
	struct table table;
	u32 i;

	points->nr = 0;
	if (!read_header(&table, from, exits, is_new))
		return false;
	for (i = 0; i < table.nr; i++) {
		entry = read_entry(from->bytes + table.entries + i * table.size, table.pc_size,
				   table.exit_size);
		if (entry.exit < 0)
			continue;
		if (entry.exit >= exits->nr || entry.pc > code_size ||
		    !put(points, entry.pc, entry.exit))
			return false;
		if (entry.trampoline >= 0 && !put(points, entry.trampoline, entry.exit))
			return false;
	}
	return true;
}

static int compare(const void *one, const void *other)
{
	const struct v8_point *a = one, *b = other;

	return a->at < b->at ? -1 : a->at > b->at;
}

/* Index of the first point at @at or behind it. */
static unsigned int find(const struct v8_points *points, u32 at)
{
	unsigned int low = 0, high = points->nr, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (points->list[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool v8_points__read(struct v8_points *points, const struct v8_safepoints *safepoints,
		     const struct v8_exits *exits, u32 size)
{
	if (!put_returns(points, safepoints, exits, size, safepoints->is_new) &&
	    !put_returns(points, safepoints, exits, size, !safepoints->is_new))
		return false;
	if (points->nr)
		qsort(points->list, points->nr, sizeof(*points->list), compare);
	return true;
}

s64 v8_points__return(const struct v8_points *points, u32 at)
{
	unsigned int i = find(points, at);

	return i < points->nr && points->list[i].at == at ? (s64)points->list[i].exit : -1;
}

s64 v8_points__nearest(const struct v8_points *points, u32 at)
{
	unsigned int i = find(points, at);

	if (i == points->nr || (i && at - points->list[i - 1].at < points->list[i].at - at)) {
		if (!i)
			return -1;
		i--;
	}
	return points->list[i].exit;
}

s64 v8_exits__at(const struct v8_exits *exits, u32 at)
{
	u32 number = (at - exits->start) / EXIT_SIZE;

	if (at < exits->start || number >= exits->nr_eager || (at - exits->start) % EXIT_SIZE)
		return -1;
	return number;
}

void v8_points__free(struct v8_points *points)
{
	free(points->list);
	memset(points, 0, sizeof(*points));
}
