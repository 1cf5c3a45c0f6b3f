// SPDX-License-Identifier: GPL-2.0
/*
 * Code that no FDE covers: what it tells by itself of its callers, as the rows of a store.
 *
 * Each sample in such code would need its dump otherwise, and have no whole chain where the
 * stack is deeper than that.
 */
#include <errno.h>
#include <stdlib.h>
#include <limits.h>
#include <linux/kernel.h>
#include "gap.h"

/* As much code is looked at in one go. */
#define GAP_BLOCK	((u64)65536)

/*
 * Instructions that may be looked at for one block: some paths to where a function returns
 * are thousands long, and there is one to be found for each piece of straight code.
 */
#define MAX_LOOKED	1048576

#define LONG_BITS	(sizeof(unsigned long) * CHAR_BIT)

/* The addresses around @vaddr that no FDE has; false: one has it. */
static bool find_gap(const struct hybrid_fdes *fdes, u64 vaddr, u64 *start, u64 *end)
{
	size_t low = 0, high = fdes->nr, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (fdes->fdes[mid].start <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	*start = low ? fdes->fdes[low - 1].end : 0;
	*end = low < fdes->nr ? fdes->fdes[low].start : ~0ULL;
	return *start <= vaddr;
}

/* Notes that it is asked for; false: it was before, or is not in the file. */
static bool take_block(struct hybrid_stored *stored, u64 vaddr)
{
	u64 offset, block;

	if (!hybrid_object_offset(stored->object, vaddr, &offset) || offset > UINT32_MAX)
		return false;
	block = offset / GAP_BLOCK;
	if (block / LONG_BITS >= stored->nr_blocks) {
		size_t nr = block / LONG_BITS + 1, i;
		unsigned long *blocks = realloc(stored->blocks, nr * sizeof(*blocks));

		if (!blocks)
			return false;
		for (i = stored->nr_blocks; i < nr; i++)
			blocks[i] = 0;
		stored->blocks = blocks;
		stored->nr_blocks = nr;
	}
	if (stored->blocks[block / LONG_BITS] >> block % LONG_BITS & 1)
		return false;
	stored->blocks[block / LONG_BITS] |= 1UL << block % LONG_BITS;
	return true;
}

/*
 * Where the block begins within an instruction the first few are none. What is said of them
 * nobody asks for, or it is refuted as all that the code tells is.
 */
int hybrid_gap_around(struct hybrid_stored *stored, u64 vaddr, struct hybrid_batch *batch)
{
	const struct hybrid_object *object = stored->object;
	unsigned int looked = 0, took;
	u64 at, end, gap_start, gap_end;
	struct hybrid_rule rule;
	int err = 0;

	hybrid_batch_clear(batch);
	if (!find_gap(&stored->fdes, vaddr, &gap_start, &gap_end) || !take_block(stored, vaddr))
		return 0;
	at = max(gap_start, vaddr - vaddr % GAP_BLOCK);
	gap_end = min(gap_end, vaddr - vaddr % GAP_BLOCK + GAP_BLOCK);
	while (!err && at < gap_end && looked < MAX_LOOKED) {
		if (object->cfi.abi->arch->rule_run(object, at, &rule, &end, &took))
			err = hybrid_batch_code(batch, object, at, min(end, gap_end), &rule);
		looked += took;
		at = end;
	}
	/* Two segments may have one part of the file. */
	return err == -EAGAIN ? 0 : err;
}

int hybrid_gap_at(struct hybrid_stored *stored, u64 vaddr, u64 at, struct hybrid_batch *batch)
{
	const struct hybrid_object *object = stored->object;
	u64 end, gap_start, gap_end;
	struct hybrid_rule rule;
	unsigned int took;
	int err;

	hybrid_batch_clear(batch);
	if (!find_gap(&stored->fdes, vaddr, &gap_start, &gap_end) ||
	    !object->cfi.abi->arch->rule_run(object, at, &rule, &end, &took))
		return 0;
	err = hybrid_batch_code(batch, object, vaddr, min(end, gap_end), &rule);
	return err == -EAGAIN ? 0 : err;
}
