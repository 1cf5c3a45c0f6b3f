// SPDX-License-Identifier: GPL-2.0
/*
 * The ways that code can take from an address on: straight on, and where jumps lead.
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <asm/insn.h>
#include "flow.h"
#include "x86_frame_scan.h"

#define PAGE	4096

unsigned int hybrid_flow_fetch(const struct x86_frame_mem *mem, u64 addr, u8 *bytes,
			       unsigned int len)
{
	unsigned int first = min_t(u64, len, PAGE - addr % PAGE);

	if (mem->read(mem->ctx, addr, bytes, first))
		return 0;
	if (first < len && !mem->read(mem->ctx, addr + first, bytes + first, len - first))
		return len;
	return first;
}

bool hybrid_decode_insn(const struct x86_frame_mem *mem, u64 addr, struct insn *insn)
{
	u8 bytes[MAX_INSN_SIZE];
	unsigned int len = hybrid_flow_fetch(mem, addr, bytes, sizeof(bytes));

	return len && !insn_decode(insn, bytes, len, mem->is_64bit ? INSN_MODE_64 : INSN_MODE_32);
}

static u64 add_offset(const struct hybrid_flow *flow, u64 addr, s32 offset)
{
	addr += offset;
	return flow->mem->is_64bit ? addr : (u32)addr;
}

static void follow_later(struct hybrid_flow *flow, u64 addr)
{
	if (flow->nr_todo == HYBRID_FLOW_TODO)
		flow->unknown = true;
	else
		flow->todo[flow->nr_todo++] = addr;
}

static bool was_followed(const struct hybrid_flow *flow, u64 addr)
{
	unsigned int i;

	for (i = 0; i < flow->nr_blocks; i++) {
		if (addr - flow->blocks[i].start < flow->blocks[i].end - flow->blocks[i].start)
			return true;
	}
	return false;
}

static bool is_indirect_jump(struct hybrid_flow *flow, const struct insn *insn, u64 next)
{
	if (X86_MODRM_REG(insn->modrm.value) != 4 && X86_MODRM_REG(insn->modrm.value) != 5)
		return false;
	flow->indirect = true;
	/* Relative to rip: as in a PLT. */
	if (flow->mem->is_64bit && !X86_MODRM_MOD(insn->modrm.value) &&
	    X86_MODRM_RM(insn->modrm.value) == 5)
		flow->slot = add_offset(flow, next, insn->displacement.value);
	return true;
}

/* jmp, ret, hlt and the like. */
static bool ends_block(struct hybrid_flow *flow, const struct insn *insn, u64 next)
{
	u8 op = insn->opcode.bytes[0], second = insn->opcode.bytes[1];

	switch (op) {
	case 0xe9: case 0xeb:
		follow_later(flow, add_offset(flow, next, insn->immediate.value));
		return true;
	case 0xc2: case 0xc3: case 0xca: case 0xcb: case 0xcf: case 0xf4: case 0xcc:
		return true;
	case 0x70 ... 0x7f: case 0xe0 ... 0xe3:
		follow_later(flow, add_offset(flow, next, insn->immediate.value));
		return false;
	case 0xff:
		return is_indirect_jump(flow, insn, next);
	case 0x0f:
		if (second >= 0x80 && second <= 0x8f)
			follow_later(flow, add_offset(flow, next, insn->immediate.value));
		return second == 0x0b || second == 0xb9 || second == 0xff;
	default:
		return false;
	}
}

/* Straight code; true where what is looked for is found. */
static bool follow(struct hybrid_flow *flow, u64 addr)
{
	enum hybrid_flow_step step = HYBRID_FLOW_ON;
	struct hybrid_flow_block *block;
	struct insn insn;

	if (flow->nr_blocks == HYBRID_FLOW_BLOCKS) {
		flow->unknown = true;
		return false;
	}
	flow->start = addr;
	/* Counts only once it has an end. */
	block = &flow->blocks[flow->nr_blocks];
	block->start = addr;
	while (step == HYBRID_FLOW_ON && !was_followed(flow, addr)) {
		if (flow->insns++ == flow->max_insns ||
		    !hybrid_decode_insn(flow->mem, addr, &insn)) {
			flow->unknown = true;
			break;
		}
		step = flow->visit(flow, &insn, addr);
		addr += insn.length;
		/* A VEX or EVEX prefix is none of a jump. */
		if (step == HYBRID_FLOW_ON && !insn.vex_prefix.nbytes &&
		    ends_block(flow, &insn, addr))
			step = HYBRID_FLOW_END;
	}
	block->end = addr;
	flow->nr_blocks++;
	return step == HYBRID_FLOW_FOUND;
}

/* What is nearest before what is looked for: mostly nothing else has to be decoded then. */
static u64 next_todo(struct hybrid_flow *flow)
{
	unsigned int i, best = flow->nr_todo - 1;
	u64 addr;

	for (i = flow->nr_todo; i--;) {
		if (flow->near - flow->todo[i] < flow->near - flow->todo[best])
			best = i;
	}
	addr = flow->todo[best];
	flow->todo[best] = flow->todo[--flow->nr_todo];
	return addr;
}

bool hybrid_flow_from(struct hybrid_flow *flow, u64 addr)
{
	follow_later(flow, addr);
	while (flow->nr_todo) {
		addr = next_todo(flow);
		if (!was_followed(flow, addr) && follow(flow, addr))
			return true;
		if (flow->insns > flow->max_insns)
			break;
	}
	return false;
}

bool hybrid_is_call(const struct x86_code *code)
{
	return code->map == X86_MAP_ONE &&
	       (code->op == 0xe8 || (code->op == 0xff && X86_MODRM_REG(code->modrm) == 2));
}
