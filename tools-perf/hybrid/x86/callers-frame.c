// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that make the frame of their caller.
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <asm/insn.h>
#include "callers-frame.h"
#include "flow.h"
#include "x86_frame_scan.h"

/* From where the function is entered to where the frame is made. */
#define MAX_INSNS	48
#define MAX_TODO	4

/* Of a function that has its frame made, before the call. */
#define MAX_BEFORE	4

/**
 * struct place - where a way goes on
 * @addr: of the next instruction
 * @path: sp and bp there, from where they were at the beginning
 */
struct place {
	u64		addr;
	struct x86_path	path;
};

/* Has the last instruction made such a frame? */
static bool has_frame(const struct x86_path *path)
{
	return path->bp_kind == X86_BP_VALUE && path->bp_base == X86_BASE_SP && path->bp >= 0;
}

/* One instruction; false: the way ends. */
static bool step(const struct x86_frame_mem *mem, struct place *place, struct place *todo,
		 unsigned int *nr_todo)
{
	u8 bytes[MAX_INSN_SIZE];
	struct x86_code code;
	enum x86_step step;
	struct insn insn;
	s32 target = 0;

	if (!hybrid_decode_insn(mem, place->addr, &insn) ||
	    hybrid_flow_fetch(mem, place->addr, bytes, insn.length) < insn.length)
		return false;
	place->addr += insn.length;
	if (insn.vex_prefix.nbytes)
		return true;
	if (!x86_frame_decode(&insn, bytes, insn.length, mem->is_64bit, &code) ||
	    hybrid_is_call(&code))
		return false;
	step = x86_frame_step(&code, &place->path, &target);
	if (place->path.sp_base != X86_BASE_SP)
		return false;
	if (step == X86_STEP_BRANCH && *nr_todo < MAX_TODO)
		todo[(*nr_todo)++] = (struct place) { place->addr + target, place->path };
	return step == X86_STEP_NEXT || step == X86_STEP_BRANCH;
}

bool hybrid_makes_callers_frame(const struct x86_frame_mem *mem, u64 ip, unsigned int *took)
{
	struct place place, todo[MAX_TODO] = {
		{ ip, { .sp_base = X86_BASE_SP, .bp_kind = X86_BP_SAME } },
	};
	unsigned int nr_todo = 1;

	*took = 0;
	while (nr_todo) {
		place = todo[--nr_todo];
		while (*took < MAX_INSNS && step(mem, &place, todo, &nr_todo)) {
			*took += 1;
			if (has_frame(&place.path))
				return true;
		}
	}
	return false;
}

bool hybrid_calls_for_frame(const struct x86_frame_mem *mem, u64 addr)
{
	unsigned int took;
	struct insn insn;

	return mem->is_64bit && hybrid_decode_insn(mem, addr, &insn) &&
	       !insn.vex_prefix.nbytes && insn.opcode.bytes[0] == 0xe8 &&
	       hybrid_makes_callers_frame(mem, addr + insn.length + insn.immediate.value, &took);
}

bool hybrid_is_before_frame(const struct x86_frame_mem *mem, u64 ip)
{
	struct place place = { ip, { .sp_base = X86_BASE_SP, .bp_kind = X86_BP_SAME } };
	unsigned int i, nr_todo = MAX_TODO;

	for (i = 0; i < MAX_BEFORE; i++) {
		if (hybrid_calls_for_frame(mem, place.addr))
			return true;
		if (!step(mem, &place, NULL, &nr_todo) || place.path.sp ||
		    place.path.bp_kind != X86_BP_SAME)
			return false;
	}
	return false;
}
