// SPDX-License-Identifier: GPL-2.0
/*
 * The FDEs of .eh_frame and .debug_frame, with the addresses that they are about.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/bits.h>
#include "arch.h"
#include "fde.h"
#include "object.h"
#include "section.h"

static int add(struct hybrid_fdes *fdes, const struct hybrid_fde *fde)
{
	struct hybrid_fde *more;
	size_t alloc = fdes->alloc * 2 + 64;

	if (fdes->nr == fdes->alloc) {
		if (!hybrid_file_take(fdes->user, HYBRID_FILE_MEMORY,
				      (alloc - fdes->alloc) * sizeof(*more)))
			return -EDQUOT;
		more = realloc(fdes->fdes, alloc * sizeof(*more));
		if (!more) {
			hybrid_file_give(fdes->user, HYBRID_FILE_MEMORY,
					 (alloc - fdes->alloc) * sizeof(*more));
			return -ENOMEM;
		}
		fdes->fdes = more;
		fdes->alloc = alloc;
	}
	fdes->fdes[fdes->nr++] = *fde;
	return 0;
}

/* No section of that name: no FDEs, and no error. */
static int read_section(Elf *elf, const char *name, u64 bias, struct hybrid_fdes *fdes)
{
	struct hybrid_section sec;
	Dwarf_Off off = 0, next;
	struct hybrid_fde fde;
	Dwarf_CFI_Entry entry;
	int err;

	if (!hybrid_section_open(&sec, elf, name))
		return 0;
	sec.bias = bias;
	for (; off < sec.data->d_size; off = next) {
		next = off;
		err = dwarf_next_cfi(sec.ident, sec.data, sec.is_eh, off, &next, &entry);
		if (err > 0 || next <= off)
			break;
		if (err || dwarf_cfi_cie_p(&entry) ||
		    !hybrid_section_range(&sec, &entry.fde, &fde))
			continue;
		err = add(fdes, &fde);
		if (err)
			return err;
	}
	return 0;
}

static int compare(const void *pa, const void *pb)
{
	const struct hybrid_fde *a = pa, *b = pb;

	return a->start < b->start ? -1 : a->start > b->start;
}

#define DIGIT_BITS	11
#define DIGITS		BIT(DIGIT_BITS)

/* From @from to @to by one digit of the distance to @first; what has the same keeps its order. */
static void sort_by_digit(const struct hybrid_fde *from, struct hybrid_fde *to, size_t nr,
			  u64 first, unsigned int shift)
{
	size_t at[DIGITS] = {}, before = 0, here, i;

	for (i = 0; i < nr; i++)
		at[(from[i].start - first) >> shift & (DIGITS - 1)]++;
	for (i = 0; i < DIGITS; i++) {
		here = at[i];
		at[i] = before;
		before += here;
	}
	for (i = 0; i < nr; i++)
		to[at[(from[i].start - first) >> shift & (DIGITS - 1)]++] = from[i];
}

/*
 * Chromium has a million, for which qsort() makes 20 passes. The addresses of a file differ in two
 * or three digits.
 */
static void sort_by_start(struct hybrid_fdes *fdes)
{
	struct hybrid_fde *spare = malloc(fdes->nr * sizeof(*spare));
	struct hybrid_fde *from = fdes->fdes, *to = spare;
	u64 first = ~0ULL, last = 0;
	unsigned int shift;
	size_t i;

	if (!spare) {
		qsort(fdes->fdes, fdes->nr, sizeof(*fdes->fdes), compare);
		return;
	}
	for (i = 0; i < fdes->nr; i++) {
		first = min(first, from[i].start);
		last = max(last, from[i].start);
	}
	for (shift = 0; shift < 64 && (last - first) >> shift; shift += DIGIT_BITS) {
		sort_by_digit(from, to, fdes->nr, first, shift);
		from = to;
		to = from == spare ? fdes->fdes : spare;
	}
	if (from == spare)
		memcpy(fdes->fdes, spare, fdes->nr * sizeof(*spare));
	free(spare);
}

/* In order, and where two overlap, the second without what the first has. */
static void sort(struct hybrid_fdes *fdes)
{
	size_t i, nr = 0;
	u64 end = 0;

	if (fdes->nr)
		sort_by_start(fdes);
	for (i = 0; i < fdes->nr; i++) {
		struct hybrid_fde fde = fdes->fdes[i];

		if (fde.start < end)
			fde.start = end;
		if (fde.start >= fde.end)
			continue;
		end = fde.end;
		fdes->fdes[nr++] = fde;
	}
	fdes->nr = nr;
}

/* Index of the first FDE that begins behind an address; @fdes->nr: none does. */
static size_t first_behind(const struct hybrid_fdes *fdes, u64 vaddr)
{
	size_t low = 0, high = fdes->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (fdes->fdes[mid].start <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Code at the entry that has no FDE, up to what has one, is taken for one. */
static int add_entry(struct hybrid_object *object, struct hybrid_fdes *fdes)
{
	u64 size = object->cfi.abi->arch->entry_size(object);
	struct hybrid_fde fde = { object->entry, object->entry + size }, gap;
	int err;

	if (!size || !hybrid_fdes_gap(fdes, fde.start, &gap))
		return 0;
	fde.end = min(fde.end, gap.end);
	err = add(fdes, &fde);
	sort(fdes);
	return err;
}

/* A Go program has its functions in a table. */
static int add_pclntab(struct hybrid_object *object, struct hybrid_fdes *fdes)
{
	struct hybrid_fde fde;
	int err = 0;
	u32 i;

	if (!hybrid_pclntab_find(object))
		return 0;
	for (i = 0; i < object->pclntab.nr && !err; i++) {
		if (hybrid_pclntab_function(object, i, &fde))
			err = add(fdes, &fde);
	}
	return err;
}

int hybrid_fdes_read(struct hybrid_object *object, struct hybrid_fdes *fdes)
{
	int err;

	memset(fdes, 0, sizeof(*fdes));
	fdes->user = object->user;
	err = read_section(hybrid_cfi_sections(&object->cfi), ".eh_frame", 0, fdes);
	if (object->cfi.is_refused)
		err = -EDQUOT;
	if (!err && object->cfi.debug)
		err = read_section(object->debug_elf, ".debug_frame", object->cfi.debug_bias, fdes);
	if (!err)
		err = add_pclntab(object, fdes);
	sort(fdes);
	if (!err)
		err = add_entry(object, fdes);
	if (err)
		hybrid_fdes_exit(fdes);
	return err;
}

const struct hybrid_fde *hybrid_fdes_find(const struct hybrid_fdes *fdes, u64 vaddr)
{
	size_t i = first_behind(fdes, vaddr);

	return i && vaddr < fdes->fdes[i - 1].end ? &fdes->fdes[i - 1] : NULL;
}

bool hybrid_fdes_gap(const struct hybrid_fdes *fdes, u64 vaddr, struct hybrid_fde *gap)
{
	size_t i = first_behind(fdes, vaddr);

	gap->start = i ? fdes->fdes[i - 1].end : 0;
	gap->end = i < fdes->nr ? fdes->fdes[i].start : ~0ULL;
	return gap->start <= vaddr;
}

void hybrid_fdes_exit(struct hybrid_fdes *fdes)
{
	hybrid_file_give(fdes->user, HYBRID_FILE_MEMORY, fdes->alloc * sizeof(*fdes->fdes));
	free(fdes->fdes);
	memset(fdes, 0, sizeof(*fdes));
}
