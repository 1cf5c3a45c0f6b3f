// SPDX-License-Identifier: GPL-2.0
/* The rows of an object: what it had, and what it is taught, made into one. */
#include <linux/overflow.h>

#include "table.h"

/* Rows come by ascending offset; one that says nothing new is left out. */
struct row_writer {
	struct perf_unwind_rows	*rows;	/* NULL: only count */
	u32			nr;
	u16			last;
};

static void put_row(struct row_writer *writer, u32 offset, u16 rule)
{
	if (rule == writer->last)
		return;
	if (writer->rows) {
		writer->rows->offset[writer->nr] = offset;
		writer->rows->rule[writer->nr] = rule;
	}
	writer->nr++;
	writer->last = rule;
}

static void put_rows(struct row_writer *writer, const struct perf_unwind_rows *old,
		     const struct unwind_table_update *update)
{
	u16 behind = 0;
	u32 at = 0, i;

	for (; old && at < old->nr && old->offset[at] < update->start; at++) {
		put_row(writer, old->offset[at], old->rule[at]);
		behind = old->rule[at];
	}
	/* Nothing is known from @start to the first row. */
	if (update->rows[0].offset > update->start)
		put_row(writer, update->start, 0);
	for (i = 0; i < update->nr_rows; i++)
		put_row(writer, update->rows[i].offset, update->rows[i].rule);

	/* What the old rows say at @end goes on there. */
	for (; old && at < old->nr && old->offset[at] <= update->end; at++)
		behind = old->rule[at];
	put_row(writer, update->end, behind);
	for (; old && at < old->nr; at++)
		put_row(writer, old->offset[at], old->rule[at]);
}

/* Blocks that @nr rows may have, at most; two, so that no shift is by 32. */
static u32 max_blocks(u32 nr)
{
	return nr / 4 + 2;
}

/* Bytes of @nr rows: 7 for each. */
size_t unwind_table_rows_size(u32 nr)
{
	return struct_size_t(struct perf_unwind_rows, offset, nr) +
	       max_blocks(nr) * sizeof(u32) + nr * sizeof(u16);
}

static void fill_blocks(struct perf_unwind_rows *rows)
{
	u32 first = rows->offset[0], span = rows->offset[rows->nr - 1] - first;
	u32 block, row = 0;

	rows->shift = 0;
	while (span >> rows->shift >= max_blocks(rows->nr))
		rows->shift++;
	rows->nr_blocks = (span >> rows->shift) + 1;
	for (block = 0; block < rows->nr_blocks; block++) {
		while (row + 1 < rows->nr &&
		       rows->offset[row + 1] - first <= block << rows->shift)
			row++;
		rows->block[block] = row;
	}
}

/**
 * unwind_table_rows_count - rows that an object will have
 * @old: those it has, may be NULL
 * @update: taught now
 *
 * Return: their number; 0 where nothing is known of it then.
 */
u32 unwind_table_rows_count(const struct perf_unwind_rows *old, const struct unwind_table_update *update)
{
	struct row_writer writer = {};

	put_rows(&writer, old, update);
	return writer.nr;
}

/**
 * unwind_table_rows_fill - write the rows that an object will have
 * @rows: out: of unwind_table_rows_size(@nr) bytes
 * @nr: what unwind_table_rows_count() says, at least 1
 * @old: those it has, may be NULL
 * @update: taught now
 */
void unwind_table_rows_fill(struct perf_unwind_rows *rows, u32 nr,
			    const struct perf_unwind_rows *old, const struct unwind_table_update *update)
{
	struct row_writer writer = { .rows = rows };

	rows->nr = nr;
	rows->block = &rows->offset[nr];
	rows->rule = (u16 *)&rows->block[max_blocks(nr)];
	put_rows(&writer, old, update);
	fill_blocks(rows);
}
