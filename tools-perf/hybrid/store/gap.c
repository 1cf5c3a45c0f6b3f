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
#define GAP_PAGE	((u64)4096)

/*
 * Instructions that may be looked at for one page: some paths to where a function returns
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

/* Notes that it is asked for; false: it was before, or is no page of the file. */
static bool take_page(struct hybrid_stored *stored, u64 vaddr)
{
	u64 offset, page;

	if (!hybrid_object_offset(stored->object, vaddr, &offset) || offset > UINT32_MAX)
		return false;
	page = offset / GAP_PAGE;
	if (page / LONG_BITS >= stored->nr_pages) {
		size_t nr = page / LONG_BITS + 1, i;
		unsigned long *pages = realloc(stored->pages, nr * sizeof(*pages));

		if (!pages)
			return false;
		for (i = stored->nr_pages; i < nr; i++)
			pages[i] = 0;
		stored->pages = pages;
		stored->nr_pages = nr;
	}
	if (stored->pages[page / LONG_BITS] >> page % LONG_BITS & 1)
		return false;
	stored->pages[page / LONG_BITS] |= 1UL << page % LONG_BITS;
	return true;
}

/*
 * Where the page begins within an instruction the first few are none. What is said of them
 * nobody asks for, or it is refuted as all that the code tells is.
 */
int hybrid_gap_page(struct hybrid_stored *stored, u64 vaddr, struct hybrid_batch *batch)
{
	const struct hybrid_object *object = stored->object;
	unsigned int looked = 0, took;
	u64 at, end, gap_start, gap_end;
	struct hybrid_rule rule;
	int err = 0;

	hybrid_batch_clear(batch);
	if (!find_gap(&stored->fdes, vaddr, &gap_start, &gap_end) || !take_page(stored, vaddr))
		return 0;
	at = max(gap_start, vaddr - vaddr % GAP_PAGE);
	gap_end = min(gap_end, vaddr - vaddr % GAP_PAGE + GAP_PAGE);
	while (!err && at < gap_end && looked < MAX_LOOKED) {
		if (object->cfi.abi->arch->rule_run(object, at, &rule, &end, &took))
			err = hybrid_batch_code(batch, object, at, min(end, gap_end), &rule);
		looked += took;
		at = end;
	}
	/* Two segments may have one page of the file. */
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
