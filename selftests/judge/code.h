/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SELFTESTS_JUDGE_CODE_H
#define SELFTESTS_JUDGE_CODE_H

#include "object.h"

/**
 * struct call - the call in front of a return address
 * @ret: the return address
 * @known: it is one that says where it goes: @target or @name
 * @target: an address of the same file
 * @name: a function that the loader finds, or NULL
 */
struct call {
	u64		ret;
	bool		known;
	u64		target;
	const char	*name;
};

/**
 * code_call - the call in front of a return address
 * @object: the file
 * @ret: the address
 * @call: what is found
 *
 * Returns: false where there is none.
 */
bool code_call(struct object *object, u64 ret, struct call *call);

/*
 * May a fiber begin with the function at @addr? True if the function never returns, its file does
 * not export it, and no direct call in the file leads to it.
 */
bool code_may_begin_stack(struct object *object, u64 addr);

/**
 * struct reach - the instructions that control comes to from one on, through jumps
 *	and branches, and past calls
 * @from: the first of them
 * @next: in the list of the object's
 * @starts: their addresses, rising
 * @sizes: of each, in bytes
 * @nr: their number
 * @names: functions of other files that it jumps to
 * @nr_names: of @names
 * @open: it goes on to where the code does not tell
 */
struct reach {
	u64		from;
	struct reach	*next;
	u64		*starts;
	u8		*sizes;
	size_t		nr;
	const char	**names;
	size_t		nr_names;
	bool		open;
};

/* Worked out when first asked for. */
const struct reach *code_reach(struct object *object, u64 from);

/* Does it hold the instruction with this byte, or one of the same function? */
bool code_reaches(const struct object *object, const struct reach *reach, u64 addr);

#endif
