// SPDX-License-Identifier: GPL-2.0
/*
 * Return addresses that nobody returns to.
 *
 * A library of fibers puts some address on a new stack, where the fiber's first function finds
 * its return address: that of abort(), of a helper, 0. CFI leads there as to any caller, and the
 * function before that address is no caller: the chain ends before it.
 */
#include <linux/kernel.h>
#include "../rules/function.h"
#include "../rules/rows.h"
#include "called.h"
#include "call-check.h"
#include "walk.h"

/* Of callees in one line it is enough to know one. */
#define LINE_BITS	6

/* There is no code to look at after the last instruction of a segment. */
static bool is_behind_call(const struct hybrid_mapping *mapping, u64 ret)
{
	u64 vaddr;

	return !mapping->object || mapping->object->state != HYBRID_OBJECT_READY ||
	       !hybrid_object_vaddr(mapping->object, ret - mapping->start + mapping->pgoff,
				    &vaddr) ||
	       hybrid_object_is_return(mapping, ret);
}

/* Does the CFI say that no frame is outside of the one that calls before @ret? */
static const struct hybrid_row *outermost_row(struct hybrid_unwinder *unwinder,
					      const struct hybrid_unwind *u, u64 ret)
{
	struct hybrid_object *object;
	struct hybrid_row *row;
	bool mapped;

	row = hybrid_unwind_row(unwinder, u->space, ret - 1, &mapped, &object);
	return row && row->rule.kind == HYBRID_RULE_OUTERMOST ? row : NULL;
}

/*
 * Go's scheduler makes the outermost frame of a goroutine by hand: its return address is
 * that of runtime.goexit() and one byte, after an instruction that does nothing.
 */
static bool is_made_up(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u,
		       const struct hybrid_mapping *mapping, u64 ret)
{
	const struct hybrid_row *row = outermost_row(unwinder, u, ret);
	u64 vaddr;

	return row && mapping->object &&
	       hybrid_object_vaddr(mapping->object, ret - 1 - mapping->start + mapping->pgoff,
				   &vaddr) &&
	       vaddr == row->start;
}

/* Is @ret the start of a function, and the call before it one that leads elsewhere? */
static bool is_other_call(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u,
			  const struct hybrid_mapping *mapping, unsigned int i)
{
	u64 ret = u->frames[i].ret;

	return mapping->object && !outermost_row(unwinder, u, ret) &&
	       hybrid_function_start(mapping, ret) == ret &&
	       hybrid_check_call(unwinder, u->space, u->pid, u->abi, ret, u->frames[i - 1].ip) <=
	       HYBRID_REACH_ELSEWHERE;
}

bool hybrid_called_frame(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u,
			 unsigned int i, bool is_last, struct hybrid_object **object)
{
	const struct hybrid_frame *frame = &u->frames[i];
	const struct hybrid_mapping *mapping;
	bool called;

	/* That of a signal's handler, and what the signal interrupted. */
	if (frame->ip == frame->ret)
		return true;
	mapping = hybrid_space_find(u->space, frame->ret);
	if (!mapping)
		return true;
	called = hybrid_space_is_entry(u->space, mapping, frame->ret) ||
		is_behind_call(mapping, frame->ret);
	if (is_last)
		called = called ? !is_other_call(unwinder, u, mapping, i) :
				  is_made_up(unwinder, u, mapping, frame->ret);
	if (!called)
		*object = mapping->object;
	return called;
}

unsigned int hybrid_called_frames(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u)
{
	struct hybrid_object *object;
	unsigned int nr = u->nr;

	if (u->stop == HYBRID_STOP_OUTERMOST && u->rule.kind == HYBRID_RULE_OUTERMOST)
		return nr;
	while (nr > 1 && !hybrid_called_frame(unwinder, u, nr - 1, true, &object))
		nr--;
	return nr;
}

static struct hybrid_called_pair *pair_of(struct hybrid_unwinder *unwinder, u64 gen, u64 callee,
					  u64 ret)
{
	return &unwinder->called[hash_64(ret + (callee >> LINE_BITS) + gen, HYBRID_CALLED_BITS)];
}

/*
 * Is @pair about that call? "Called" holds for each address in the callee's line of 64 bytes, "not
 * called" for one address: another function may begin in the line.
 */
static bool is_of(const struct hybrid_called_pair *pair, u64 gen, u64 callee, u64 ret)
{
	unsigned int bits = pair->is_called ? LINE_BITS : 0;

	return pair->ret == ret && pair->callee >> bits == callee >> bits && pair->gen == gen;
}

bool hybrid_is_called_pair(struct hybrid_unwinder *unwinder, const struct hybrid_space *space,
			   u64 callee, u64 ret)
{
	const struct hybrid_called_pair *pair = pair_of(unwinder, space->gen, callee, ret);

	return pair->is_called && is_of(pair, space->gen, callee, ret);
}

/* Does an FDE cover @ip? Then the file was read, and a call's target is a function. */
static bool has_functions(const struct hybrid_mapping *mapping, u64 ip)
{
	return mapping && mapping->object && mapping->object->state == HYBRID_OBJECT_READY &&
		hybrid_function_start(mapping, ip);
}

/*
 * Is the return address of frame @i of @u one that code has written to the stack, without a call?
 * Then no call leads to the function before it. Go's asmcgocall() writes the address of
 * systemstack_switch() for its goroutine.
 */
static bool is_written(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u,
		       unsigned int i)
{
	struct hybrid_object *object;

	return i && !hybrid_called_frame(unwinder, u, i, false, &object);
}

/*
 * Returns whether the code shows that frame @i of @u did not call frame @i - 1. A frame that a
 * signal interrupted needs no call. @entry: the cache entry of the callee, or NULL.
 */
static bool is_refuted(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u,
		       unsigned int i, struct hybrid_cache_entry *entry)
{
	u64 callee = u->frames[i - 1].ip, ret = u->frames[i].ret, gen = u->space->gen;
	enum hybrid_reach reach = HYBRID_REACH_INDIRECT;
	const struct hybrid_mapping *mapping;
	struct hybrid_called_pair *pair;

	if (u->frames[i].ip == ret)
		return false;
	pair = pair_of(unwinder, gen, callee, ret);
	if (is_of(pair, gen, callee, ret)) {
		if (entry && pair->is_called)
			entry->called_by = ret;
		return !pair->is_called;
	}
	mapping = hybrid_space_find(u->space, ret - 1);
	/* Hand-written code also returns to addresses that it pushed: no call is before these. */
	if (has_functions(mapping, ret - 1) && is_behind_call(mapping, ret))
		reach = hybrid_leads_to(unwinder, u, ret, callee, HYBRID_REACH_ELSEWHERE);
	/*
	 * A function that goes to another stack makes its caller's frame there. Go's cgocallback()
	 * goes to the goroutine's stack, where the goroutine had called C.
	 */
	if (reach == HYBRID_REACH_NOT &&
	    (is_written(unwinder, u, i - 1) ||
	     hybrid_function_leaves_stack(hybrid_space_find(u->space, callee), callee)))
		reach = HYBRID_REACH_INDIRECT;
	unwinder->is_call_unsure |= reach == HYBRID_REACH_MAYBE;
	*pair = (struct hybrid_called_pair) {
		.gen		= reach == HYBRID_REACH_MAYBE ? 0 : gen,
		.callee		= callee,
		.ret		= ret,
		.is_called	= reach != HYBRID_REACH_NOT,
	};
	if (entry && pair->is_called && pair->gen)
		entry->called_by = ret;
	return !pair->is_called;
}

/* The first frame whose call is refuted; @u->nr: there is none. */
static unsigned int find_refuted(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u)
{
	struct hybrid_cache_entry *entry;
	u64 gen = u->space->gen;
	unsigned int i;

	for (i = 1; i < u->nr; i++) {
		entry = hybrid_cache_find(unwinder, gen, u->frames[i - 1].ip);
		/* Nearly all were met before. */
		if ((!entry || entry->called_by != u->frames[i].ret) &&
		    is_refuted(unwinder, u, i, entry))
			break;
	}
	return min(i, u->nr);
}

void hybrid_cut_refuted(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u)
{
	const struct hybrid_mapping *mapping;
	unsigned int nr;

	unwinder->is_call_unsure = false;
	nr = find_refuted(unwinder, u);
	if (nr == u->nr)
		return;
	mapping = hybrid_space_find(u->space, u->frames[nr - 1].ip);
	u->nr = nr;
	u->sure = min(u->sure, nr);
	u->stop = HYBRID_STOP_BAD_FRAME;
	u->is_refuted = true;
	u->failed_in = mapping ? mapping->object : NULL;
	u->rule.kind = HYBRID_RULE_NONE;
	u->sp = nr > 1 ? u->frames[nr - 2].cfa : u->regs.value[u->abi->sp];
	u->bp_known = false;
	u->fiber_end = 0;
}
