// SPDX-License-Identifier: GPL-2.0
/* The rows of an object: old rows and loaded ones, merged into a new array */
#include <linux/overflow.h>

#include "table.h"

/* Writes rows by ascending offset; leaves out a row with the rule of the row before it. */
struct row_writer {
	struct perf_unwind_rows	*rows;	/* NULL: only count them */
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
	/* No rule holds from @start to the first row. */
	if (update->rows[0].offset > update->start)
		put_row(writer, update->start, 0);
	for (i = 0; i < update->nr_rows; i++)
		put_row(writer, update->rows[i].offset, update->rows[i].rule);

	/* From @end on the old rule holds again. */
	for (; old && at < old->nr && old->offset[at] <= update->end; at++)
		behind = old->rule[at];
	put_row(writer, update->end, behind);
	for (; old && at < old->nr; at++)
		put_row(writer, old->offset[at], old->rule[at]);
}

/* Most blocks of @nr rows; at least two, so that no shift is by 32. */
static u32 max_blocks(u32 nr)
{
	return nr / 4 + 2;
}

/* Size of an array of @nr rows: 7 bytes for each row. */
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
 * unwind_table_rows_count - count the rows of an object after an update
 * @old: its rows now, or NULL
 * @update: the update
 *
 * Return: the number of rows; 0 if no rule holds anywhere.
 */
u32 unwind_table_rows_count(const struct perf_unwind_rows *old,
			    const struct unwind_table_update *update)
{
	struct row_writer writer = {};

	put_rows(&writer, old, update);
	return writer.nr;
}

/**
 * unwind_table_rows_fill - write the rows of an object after an update
 * @rows: out: array of unwind_table_rows_size(@nr) bytes
 * @nr: result of unwind_table_rows_count(), at least 1
 * @old: its rows now, or NULL
 * @update: the update
 */
void unwind_table_rows_fill(struct perf_unwind_rows *rows, u32 nr,
			    const struct perf_unwind_rows *old,
			    const struct unwind_table_update *update)
{
	struct row_writer writer = { .rows = rows };

	rows->nr = nr;
	/* Not &offset[nr]: these are no offsets. */
	rows->block = (void *)rows + struct_size(rows, offset, nr);
	rows->rule = (u16 *)&rows->block[max_blocks(nr)];
	put_rows(&writer, old, update);
	fill_blocks(rows);
}
