// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that V8 has inlined: a frame of optimised code stands for several.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/hash.h>
#include "../walk-interpreter.h"
#include "v8-inlined.h"
#include "v8-nearest.h"

/* A pointer to an object that may be collected, include/v8-internal.h: kWeakHeapObjectTag. */
#define WEAK	2

/* src/objects/code-kind.h, of 10.2 to 13.6 */
#define REGEXP	3

static bool put_function(const struct v8_heap *heap, const struct v8_code *code,
			 const struct v8_translated *frame, struct v8_inlined *to)
{
	u16 type;

	if (frame->literal >= code->nr_literals)
		return false;
	to->shared = v8_object(heap, code->literals[frame->literal] & ~(u64)WEAK, &type);
	to->place = frame->bytecode < 0 || frame->bytecode >= HYBRID_WALK_NO_PLACE ?
		    HYBRID_WALK_NO_PLACE : (u32)frame->bytecode;
	return to->shared && type == heap->layout->type_shared;
}

static void read_functions(const struct v8_heap *heap, const struct v8_code *code, s64 exit,
			   struct v8_address *to)
{
	struct v8_translated frames[HYBRID_NAMES_OF_FRAME];
	unsigned int nr, i;

	if (exit < 0 || exit >= code->exits.nr)
		return;
	nr = v8_translation__frames(&code->translation, code->starts[exit], frames,
				    HYBRID_NAMES_OF_FRAME);
	to->list = nr ? calloc(nr, sizeof(*to->list)) : NULL;
	if (!to->list)
		return;
	for (i = 0; i < nr; i++) {
		/* The outermost one is the first in the description. */
		if (!put_function(heap, code, &frames[nr - 1 - i], &to->list[i]))
			return;
	}
	to->nr = nr;
}

static void look_up(struct v8_addresses *addresses, const struct v8_heap *heap,
		    const struct v8_code *code, struct v8_address *to)
{
	u32 at = to->ip - code->start;
	s64 exit;

	to->code = code - addresses->codes.known;
	to->serial = code->serial;
	to->shared = code->shared;
	to->is_interpreter = (s32)code->kind < heap->layout->code_kind_baseline;
	to->is_regexp = code->kind == REGEXP;
	if (!code->starts)
		return;
	exit = to->is_innermost ? v8_nearest(code, at) : v8_points__return(&code->points, at);
	if (exit < 0)
		exit = v8_points__nearest(&code->points, at);
	read_functions(heap, code, exit, to);
}

static void forget(struct v8_address *known)
{
	free(known->list);
	memset(known, 0, sizeof(*known));
}

const struct v8_address *v8_addresses__find(struct v8_addresses *addresses,
					    const struct v8_heap *heap, u64 from, u64 ip,
					    bool is_innermost)
{
	struct v8_address *known;
	struct v8_code *code;

	known = &addresses->known[hash_64(ip + is_innermost, V8_ADDRESSES_BITS)];
	code = &addresses->codes.known[known->code];
	if (known->ip == ip && known->is_innermost == is_innermost &&
	    known->serial == code->serial && v8_code__is_current(code, heap))
		return known;
	forget(known);
	code = v8_codes__find(&addresses->codes, heap, from, ip);
	if (!code)
		return NULL;
	known->ip = ip;
	known->is_innermost = is_innermost;
	look_up(addresses, heap, code, known);
	return known;
}

void v8_addresses__exit(struct v8_addresses *addresses)
{
	unsigned int i;

	for (i = 0; i < 1 << V8_ADDRESSES_BITS; i++)
		forget(&addresses->known[i]);
	v8_codes__exit(&addresses->codes);
}
