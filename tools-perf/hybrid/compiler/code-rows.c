// SPDX-License-Identifier: GPL-2.0
/*
 * Code that no FDE covers: what it tells by itself of its callers, as the rows of a store.
 *
 * Each sample in such code would need its dump otherwise, and have no whole chain where the
 * stack is deeper than that.
 */
#include <errno.h>
#include <stdlib.h>
#include <linux/bitops.h>
#include <linux/kernel.h>
#include "code-rows.h"

/* As much code is looked at in one go. */
#define GAP_BLOCK	((u64)65536)

/*
 * Units (see X86_FRAME_INSNS) that the analyses of one block may take, about. Some paths to where
 * a function returns have thousands of instructions, and each piece of straight code needs one.
 */
#define MAX_LOOKED	1048576

/* Finds the block of the file and the place in it. Returns false if the address is in none. */
static bool find_block(const struct hybrid_stored *stored, u64 vaddr, u64 *block, u64 *in_block)
{
	u64 offset;

	if (!hybrid_object_offset(stored->object, vaddr, &offset) || offset > UINT32_MAX)
		return false;
	*block = offset / GAP_BLOCK;
	*in_block = offset % GAP_BLOCK;
	return true;
}

bool hybrid_code_rows_are_due(const struct hybrid_stored *stored, u64 vaddr)
{
	u64 block, in_block;

	return find_block(stored, vaddr, &block, &in_block) &&
	       (block / BITS_PER_LONG >= stored->nr_blocks || !test_bit(block, stored->blocks));
}

/* Notes that it is asked for; false: it was before, or is not in the file. */
static bool take_block(struct hybrid_stored *stored, u64 vaddr, u64 *in_block)
{
	u64 block;

	if (!find_block(stored, vaddr, &block, in_block))
		return false;
	if (block / BITS_PER_LONG >= stored->nr_blocks) {
		size_t nr = block / BITS_PER_LONG + 1, i;
		unsigned long *blocks = realloc(stored->blocks, nr * sizeof(*blocks));

		if (!blocks)
			return false;
		for (i = stored->nr_blocks; i < nr; i++)
			blocks[i] = 0;
		stored->blocks = blocks;
		stored->nr_blocks = nr;
	}
	if (test_bit(block, stored->blocks))
		return false;
	__set_bit(block, stored->blocks);
	return true;
}

/* How far the code from @at on has the same rule in @rules, or none; @end at most. */
static u64 end_of_rule(const struct hybrid_code_rules *rules, u64 at, u64 end)
{
	u8 number = rules->at[at - rules->start];

	while (at < end && rules->at[at - rules->start] == number)
		at++;
	return at;
}

/*
 * The rules of code that no way from the beginning of its function has come to. Where the block
 * begins within an instruction, the first addresses are of instructions that never run. No walk
 * asks for their rules; if one did, the call before the return address that it gave would not lead
 * there, and perf would refuse the chain.
 */
static int add_code(const struct hybrid_object *object, u64 at, u64 stop, unsigned int *looked,
		    struct hybrid_batch *batch)
{
	struct hybrid_code code = hybrid_object_code(object);
	struct hybrid_rule rule = {};
	unsigned int took;
	u64 end, offset;
	int err = 0;

	while (!err && at < stop && *looked < MAX_LOOKED) {
		/* Between segments there is no code, and a search that reads none is costly. */
		if (!hybrid_object_offset(object, at, &offset)) {
			at++;
			continue;
		}
		if (object->cfi.abi->arch->rule_run(&code, at, &rule, &end, &took))
			err = hybrid_batch_code(batch, object, at, min(end, stop), &rule);
		*looked += took;
		at = end;
	}
	return err;
}

int hybrid_code_rows_around(struct hybrid_stored *stored, u64 vaddr, struct hybrid_batch *batch)
{
	const struct hybrid_object *object = stored->object;
	struct hybrid_code code = hybrid_object_code(object);
	struct hybrid_code_rules *rules;
	unsigned int looked, number;
	struct hybrid_fde gap;
	u64 at, end, stop, in_block;
	int err = 0;

	hybrid_batch_clear(batch);
	if (!hybrid_fdes_gap(&stored->fdes, vaddr, &gap) || !take_block(stored, vaddr, &in_block))
		return 0;
	/* Of the file, as what is noted of it: its addresses may begin elsewhere in a block. */
	at = max(gap.start, vaddr - min(vaddr, in_block));
	end = min(gap.end, vaddr + (GAP_BLOCK - in_block));
	rules = calloc(1, sizeof(*rules));
	if (!rules)
		return -ENOMEM;
	rules->start = at;
	rules->size = end - at;
	looked = object->cfi.abi->arch->rules(&code, gap.start, rules);
	for (; rules->at && !err && at < end; at = stop) {
		number = rules->at[at - rules->start];
		stop = end_of_rule(rules, at, end);
		if (number == HYBRID_CODE_UNUSED)
			continue;
		if (number)
			err = hybrid_batch_code(batch, object, at, stop,
						&rules->rules[number - 1]);
		else
			err = add_code(object, at, stop, &looked, batch);
	}
	free(rules->at);
	free(rules);
	/* Two segments may have one part of the file. */
	return err == -EAGAIN ? 0 : err;
}

int hybrid_code_row_at(struct hybrid_stored *stored, u64 vaddr, u64 at, struct hybrid_batch *batch)
{
	const struct hybrid_object *object = stored->object;
	struct hybrid_code code = hybrid_object_code(object);
	struct hybrid_rule rule = {};
	struct hybrid_fde gap;
	unsigned int took;
	u64 end;
	int err;

	hybrid_batch_clear(batch);
	if (!hybrid_fdes_gap(&stored->fdes, vaddr, &gap) ||
	    !object->cfi.abi->arch->rule_run(&code, at, &rule, &end, &took))
		return 0;
	err = hybrid_batch_code(batch, object, vaddr, min(end, gap.end), &rule);
	return err == -EAGAIN ? 0 : err;
}
