// SPDX-License-Identifier: GPL-2.0
/*
 * Which functions an instruction of optimised code is in: those of the place that is reached next.
 */
#include <string.h>
#include <linux/kernel.h>
#include "../../rules/arch.h"
#include "v8-nearest.h"

#define MAX_INSNS	512

/**
 * struct search - for a place that is known
 * @bytes: the code, for those who read it
 * @code: in which it is
 * @at: offset of the instruction that was sampled
 * @end: offset at which the loop ends that is looked through; 0: none is
 * @loop: out: offset at which the loop begins that @at is in; @end is set then, too
 * @exit: out: what was found; negative: nothing
 */
struct search {
	struct hybrid_code	 bytes;
	const struct v8_code	*code;
	u32			 at;
	u32			 end;
	u32			 loop;
	s64			 exit;
};

static int read_instructions(void *bytes, unsigned long addr, void *dst, unsigned int len)
{
	const struct v8_code *code = container_of(bytes, struct search, bytes)->code;

	if (addr >= code->size || len > code->size - addr)
		return -1;
	memcpy(dst, code->instructions + addr, len);
	return 0;
}

static enum hybrid_flow_step look_at_insn(void *arg, enum hybrid_way way, u64 addr, u64 next,
					  u64 to)
{
	struct search *search = arg;

	if (search->end && addr == search->end)
		return HYBRID_FLOW_END;
	if (way == HYBRID_WAY_JUMP || way == HYBRID_WAY_BRANCH) {
		search->exit = v8_exits__at(&search->code->exits, to);
		/* Code that goes on behind a loop is not that of the loop. */
		if (search->exit < 0 && !search->end && way == HYBRID_WAY_BRANCH &&
		    to <= search->at && addr >= search->at) {
			search->loop = to;
			search->end = next;
			return HYBRID_FLOW_FOUND;
		}
	} else if (way == HYBRID_WAY_CALL) {
		search->exit = v8_points__return(&search->code->points, next);
	}
	return search->exit < 0 ? HYBRID_FLOW_ON : HYBRID_FLOW_FOUND;
}

static bool find_exit(struct search *search, u32 from)
{
	const struct hybrid_follow ways = {
		.near = search->at, .max_insns = MAX_INSNS, .visit = look_at_insn, .arg = search,
	};

	return hybrid_abi_64.arch->follow(&search->bytes, &ways, from) && search->exit >= 0;
}

s64 v8_nearest(const struct v8_code *code, u32 at)
{
	struct search search = {
		.bytes = { .read = read_instructions, .word = sizeof(u64) }, .code = code, .at = at,
		.exit = -1,
	};

	if (!code->instructions || at >= code->size)
		return -1;
	if (find_exit(&search, at))
		return search.exit;
	/* The loop is gone through from the sampled instruction on, then from its beginning. */
	if (search.end && (find_exit(&search, at) || find_exit(&search, search.loop)))
		return search.exit;
	return -1;
}
