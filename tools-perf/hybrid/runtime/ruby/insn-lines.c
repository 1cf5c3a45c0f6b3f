// SPDX-License-Identifier: GPL-2.0
/*
 * Line tables of CRuby: entries with a line each, and a table that has the entry of each position.
 * Of the first positions it has the number of the entries up to there, nine in a word. Of the
 * others it has a bit for each entry's position, in blocks.
 */
#include <linux/kernel.h>
#include "insn-lines.h"
#include "ruby-object.h"

#define FIRST		54
#define IN_WORD		9
#define NUMBER_BITS	7
#define NUMBER		0x7f

/* struct succ_dict_block, and its bits. */
#define BLOCK		512
#define BLOCK_WORDS	10
#define BITS_AT		2

/* struct iseq_insn_info_entry: line, node, events: numbers of 32 bits. */
#define ENTRY_WORDS	3

/* Entries that are read at once. */
#define NR_READ		64U

/**
 * struct reader - goes through a table
 * @pm: the process
 * @entries: address of the entries
 * @nr_entries: number of @entries
 * @entry: index of the next entry
 * @lines: out
 * @nr: number of @lines
 * @max: room in @lines
 * @read: entries from @entry & -NR_READ on
 */
struct reader {
	struct hybrid_process_memory	*pm;
	u64				 entries;
	u32				 nr_entries;
	u32				 entry;
	struct hybrid_name_line		*lines;
	unsigned int			 nr;
	unsigned int			 max;
	u32				 read[NR_READ][ENTRY_WORDS];
};

/* Returns false at the end. */
static bool read_line(struct reader *r, u32 *line)
{
	u32 at = r->entry % NR_READ, nr;

	if (r->entry >= r->nr_entries)
		return false;
	nr = min(r->nr_entries - r->entry, NR_READ);
	if (!at && hybrid_process_memory_read(r->pm, r->entries + (u64)r->entry * sizeof(*r->read),
					      r->read, nr * sizeof(*r->read)))
		return false;
	*line = r->read[at][0];
	r->entry++;
	return true;
}

/* The next entry is that of a position. Returns false at the end. */
static bool put_line(struct reader *r, u32 position)
{
	u32 line;

	if (r->nr == r->max || !read_line(r, &line))
		return false;
	if (r->nr && r->lines[r->nr - 1].line == line)
		return true;
	r->lines[r->nr].index = position;
	r->lines[r->nr++].line = line;
	return true;
}

/* The number says how many entries there are up to a position: one more than before, or not. */
static bool read_first(struct reader *r, u64 table, u32 size)
{
	u64 words[FIRST / IN_WORD];
	u32 position, number;

	size = min_t(u32, size, FIRST);
	if (hybrid_process_memory_read(r->pm, table, words,
				       DIV_ROUND_UP(size, IN_WORD) * sizeof(*words)))
		return false;
	for (position = 0; position < size; position++) {
		number = words[position / IN_WORD] >> position % IN_WORD * NUMBER_BITS & NUMBER;
		if (number > r->entry && !put_line(r, position))
			return false;
	}
	return true;
}

static bool read_block(struct reader *r, u64 block, u32 from, u32 size)
{
	u64 words[BLOCK_WORDS];
	u32 i;

	if (hybrid_process_memory_read(r->pm, block, words, sizeof(words)))
		return false;
	for (i = 0; i < BLOCK && from + i < size; i++) {
		if (words[BITS_AT + i / 64] >> i % 64 & 1 && !put_line(r, from + i))
			return false;
	}
	return true;
}

unsigned int ruby_lines(struct hybrid_process_memory *pm, u64 insns, u32 size,
			struct hybrid_name_line *lines, unsigned int max)
{
	struct reader r = { .pm = pm, .lines = lines, .max = max };
	u64 words[4], table, block;
	u32 from;

	/* The entries, their positions, the number of both, and the table. */
	if (hybrid_process_memory_read(pm, insns, words, sizeof(words)))
		return 0;
	r.entries = words[0];
	r.nr_entries = words[2];
	table = words[3];
	if (!table || !r.entries || !read_first(&r, table, size))
		return r.nr;
	block = table + FIRST / IN_WORD * sizeof(u64);
	for (from = FIRST; from < size; from += BLOCK, block += BLOCK_WORDS * sizeof(u64)) {
		if (!read_block(&r, block, from, size))
			break;
	}
	return r.nr;
}
