// SPDX-License-Identifier: GPL-2.0
/*
 * Which functions an instruction of optimised code is in: those of the place that is reached next.
 */
#include <string.h>
#include <linux/kernel.h>
#include "../../x86/flow.h"
#include "v8-nearest.h"
#include "x86_frame.h"
#include <asm/insn.h>

#define MAX_INSNS	512

/**
 * struct search - for a place that is known
 * @code: in which it is
 * @at: offset of the instruction that was sampled
 * @end: offset at which the loop ends that is looked through; 0: none is
 * @loop: out: offset at which the loop begins that @at is in; @end is set then, too
 * @exit: out: what was found; negative: nothing
 */
struct search {
	const struct v8_code	*code;
	u32			 at;
	u32			 end;
	u32			 loop;
	s64			 exit;
};

static int read_code(void *ctx, unsigned long addr, void *dst, unsigned int len)
{
	const struct v8_code *code = ctx;

	if (addr >= code->size || len > code->size - addr)
		return -1;
	memcpy(dst, code->instructions + addr, len);
	return 0;
}

static bool is_conditional(const struct insn *insn)
{
	u8 op = insn->opcode.bytes[0];

	return (op >= 0x70 && op <= 0x7f) ||
	       (op == 0x0f && (insn->opcode.bytes[1] & 0xf0) == 0x80);
}

static bool is_jump(const struct insn *insn)
{
	u8 op = insn->opcode.bytes[0];

	return !insn->vex_prefix.nbytes && (op == 0xe9 || op == 0xeb || is_conditional(insn));
}

static bool is_call(const struct insn *insn)
{
	u8 op = insn->opcode.bytes[0];

	return op == 0xe8 || (op == 0xff && X86_MODRM_REG(insn->modrm.value) == 2);
}

static enum hybrid_flow_step visit(struct hybrid_flow *flow, const struct insn *insn, u64 addr)
{
	struct search *search = flow->arg;
	u64 next = addr + insn->length, to = next + (s64)insn->immediate.value;

	if (search->end && addr == search->end)
		return HYBRID_FLOW_END;
	if (is_jump(insn)) {
		search->exit = v8_exits__at(&search->code->exits, to);
		/* Code that goes on behind a loop is not that of the loop. */
		if (search->exit < 0 && !search->end && is_conditional(insn) &&
		    to <= search->at && addr >= search->at) {
			search->loop = to;
			search->end = next;
			return HYBRID_FLOW_FOUND;
		}
	} else if (is_call(insn)) {
		search->exit = v8_points__return(&search->code->points, next);
	}
	return search->exit < 0 ? HYBRID_FLOW_ON : HYBRID_FLOW_FOUND;
}

static bool follow(struct search *search, u32 from)
{
	const struct x86_frame_mem mem = {
		.read = read_code, .ctx = (void *)search->code, .is_64bit = true,
	};
	struct hybrid_flow flow = {
		.mem = &mem, .near = search->at, .max_insns = MAX_INSNS, .visit = visit,
		.arg = search,
	};

	return hybrid_flow_from(&flow, from) && search->exit >= 0;
}

s64 v8_nearest(const struct v8_code *code, u32 at)
{
	struct search search = { .code = code, .at = at, .exit = -1 };

	if (!code->instructions || at >= code->size)
		return -1;
	if (follow(&search, at))
		return search.exit;
	/* The loop is gone through from the sampled instruction on, then from its beginning. */
	if (search.end && (follow(&search, at) || follow(&search, search.loop)))
		return search.exit;
	return -1;
}
