// SPDX-License-Identifier: GPL-2.0
/*
 * The outermost frame of a fiber.
 */
#include "../rules/rows.h"
#include "call-check.h"
#include "called.h"
#include "fiber.h"

/* Bytes above the last frame of a fiber in which no caller may be. */
#define TOP	1024

/*
 * Is a word, which the dump lacks, not in memory at all? A dump that is smaller than its room ends
 * where the kernel found no page.
 */
static bool is_absent(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u, u64 addr)
{
	u64 offset = addr - u->dump_start;

	if (offset < u->dump_size)
		return u->holes && hybrid_unwind_is_hole(u, offset);
	if (u->dump_size < u->dump_room && offset < u->dump_room)
		return true;
	return hybrid_memory_is_absent(unwinder->memory, u->space, u->pid, addr);
}

/* A stack does not go on in the next mapping, which perf could look at only later. */
static bool is_behind_mapping(const struct hybrid_unwind *u, u64 addr)
{
	return u->room_ends && addr - u->dump_start >= u->dump_room;
}

bool hybrid_is_stack_top(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u, u64 cfa)
{
	u8 size = u->abi->word;
	u64 addr, word;

	for (addr = cfa; addr - cfa < TOP && !is_behind_mapping(u, addr); addr += size) {
		if (hybrid_unwind_read(u, addr, size, &word) &&
		    hybrid_memory_read(unwinder->memory, u->space, u->pid, addr, size, &word)) {
			if (!is_absent(unwinder, u, addr))
				return false;
			/* The rest of the page is not there, either. */
			addr |= HYBRID_HOLE - size;
			continue;
		}
		if (word && hybrid_is_after_call(unwinder, u,
						 hybrid_space_find(u->space, word - 1), word))
			return false;
	}
	return true;
}

static void end_at(struct hybrid_unwind *u, unsigned int nr)
{
	u->nr = nr;
	u->sure = u->sure < nr ? u->sure : nr;
	u->stop = HYBRID_STOP_OUTERMOST;
	u->rule.kind = HYBRID_RULE_OUTERMOST;
	u->fiber_end = u->frames[nr - 1].cfa;
}

void hybrid_fiber_end(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u)
{
	struct hybrid_object *object;
	unsigned int i;
	u64 cfa;

	for (i = 1; i < u->nr; i++) {
		cfa = u->frames[i - 1].cfa;
		if (cfa && cfa % u->abi->word == 0 &&
		    !hybrid_called_frame(unwinder, u, i, true, &object) &&
		    hybrid_is_stack_top(unwinder, u, cfa)) {
			u->fiber_ret = u->frames[i].ret;
			end_at(u, i);
			return;
		}
	}
	/* The return address of the last frame is 0. */
	cfa = u->frames[u->nr - 1].cfa;
	if (u->stop == HYBRID_STOP_OUTERMOST && cfa)
		u->fiber_end = cfa;
}
