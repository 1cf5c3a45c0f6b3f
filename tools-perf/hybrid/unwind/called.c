// SPDX-License-Identifier: GPL-2.0
/*
 * Return addresses that nobody returns to.
 *
 * A library of fibers puts some address on a new stack, where the fiber's first function finds
 * its return address: that of abort(), of a helper, 0. CFI leads there as to any caller, and the
 * function before that address is no caller: the chain ends before it.
 */
#include "../rules/function.h"
#include "../rules/rows.h"
#include "called.h"
#include "call-check.h"

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
