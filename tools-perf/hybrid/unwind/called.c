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

/* Frames of one function are seldom further from each other. */
#define NEAR		4096

/* Of callees in one line it is enough to know one. */
#define LINE_BITS	6

/* Refuted calls of a chain of which it is looked whether they come again. */
#define MAX_REFUTED	16

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
	       hybrid_check_call(unwinder, u->space, u->pid, u->abi, ret, u->frames[i - 1].ip) ==
	       HYBRID_REACH_NOT;
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

/* Returns the address of the function that holds @ip, or 0 if no CFI tells. */
static u64 function_at(const struct hybrid_unwind *u, u64 ip)
{
	const struct hybrid_mapping *mapping = hybrid_space_find(u->space, ip);

	return mapping && mapping->object && mapping->object->state == HYBRID_OBJECT_READY ?
		hybrid_function_start(mapping, ip) : 0;
}

static bool is_one_function(const struct hybrid_unwind *u, unsigned int i)
{
	u64 function = function_at(u, u->frames[i].ret - 1);

	return function && function == function_at(u, u->frames[i - 1].ip);
}

static struct hybrid_called_pair *pair_of(struct hybrid_unwinder *unwinder, u64 gen, u64 callee,
					  u64 ret)
{
	return &unwinder->called[hash_64(ret + (callee >> LINE_BITS) + gen, HYBRID_CALLED_BITS)];
}

static bool is_of(const struct hybrid_called_pair *pair, u64 gen, u64 callee, u64 ret)
{
	return pair->ret == ret && pair->callee >> LINE_BITS == callee >> LINE_BITS &&
	       pair->gen == gen;
}

bool hybrid_is_called_pair(struct hybrid_unwinder *unwinder, const struct hybrid_space *space,
			   u64 callee, u64 ret)
{
	const struct hybrid_called_pair *pair = pair_of(unwinder, space->gen, callee, ret);

	return pair->is_called && is_of(pair, space->gen, callee, ret);
}

/*
 * Does the code refute that frame @i of @u has called the one inside of it? @any: also if they
 * are two functions. What a signal has interrupted has called nothing.
 */
static bool is_refuted(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u,
		       unsigned int i, bool any)
{
	u64 callee = u->frames[i - 1].ip, ret = u->frames[i].ret, gen = u->space->gen;
	struct hybrid_called_pair *pair = pair_of(unwinder, gen, callee, ret);

	if (u->frames[i].ip == ret ||
	    (is_of(pair, gen, callee, ret) && (pair->is_called || !any)))
		return false;
	*pair = (struct hybrid_called_pair) { .gen = gen, .callee = callee, .ret = ret };
	if (any ? !function_at(u, ret - 1) : !is_one_function(u, i))
		return false;
	pair->is_called = hybrid_check_call(unwinder, u->space, u->pid, u->abi, ret, callee) !=
		HYBRID_REACH_NOT;
	/* Another address in the same line may be that of a function which was called. */
	pair->gen = pair->is_called ? gen : 0;
	return !pair->is_called;
}

/* Does the call of frame @i come again, or is it one of a function to itself? */
static bool comes_again(const struct hybrid_unwind *u, unsigned int i)
{
	unsigned int j;

	for (j = 1; j < u->nr; j++) {
		if (j != i && u->frames[j].ret == u->frames[i].ret &&
		    u->frames[j - 1].ret == u->frames[i - 1].ret)
			return true;
	}
	return is_one_function(u, i);
}

/* In a circle: the first frame whose call is refuted, and comes again; @u->nr: there is none. */
static unsigned int first_refuted(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u)
{
	unsigned int i, nr = 0;

	for (i = 1; i < u->nr && nr < MAX_REFUTED; i++) {
		if (!is_refuted(unwinder, u, i, true))
			continue;
		if (comes_again(u, i))
			return i;
		nr++;
	}
	return u->nr;
}

/* The same of all chains, as cheaply as can be: Brent's way to find a circle. */
static unsigned int find_refuted(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u)
{
	const struct hybrid_frame *frames = u->frames;
	unsigned int i;
	u64 again = 0;

	for (i = 1; i < u->nr; i++) {
		if (frames[i].ret == again)
			return first_refuted(unwinder, u);
		if (frames[i].ret - frames[i - 1].ip + NEAR < 2 * NEAR &&
		    is_refuted(unwinder, u, i, false))
			return i;
		if (!(i & (i - 1)))
			again = frames[i].ret;
	}
	return u->nr;
}

void hybrid_cut_refuted(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u)
{
	unsigned int nr = find_refuted(unwinder, u);
	const struct hybrid_mapping *mapping;

	if (nr == u->nr)
		return;
	mapping = hybrid_space_find(u->space, u->frames[nr - 1].ip);
	u->nr = nr;
	u->sure = min(u->sure, nr);
	u->stop = HYBRID_STOP_BAD_FRAME;
	u->failed_in = mapping ? mapping->object : NULL;
	u->rule.kind = HYBRID_RULE_NONE;
	u->sp = nr > 1 ? u->frames[nr - 2].cfa : u->regs.value[u->abi->sp];
	u->bp_known = false;
	u->fiber_end = 0;
}
