// SPDX-License-Identifier: GPL-2.0
/*
 * The ways that code can take from an address on: straight on, and where jumps lead.
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <asm/insn.h>
#include "flow.h"
#include "x86_frame_scan.h"

#define PAGE		4096
#define MAX_BLOCKS	512
#define MAX_TODO	256
#define WINDOW		64

/**
 * struct hybrid_flow_ways - where a flow has been and is to go
 * @window: code at @window_at
 * @window_at: its address
 * @window_len: bytes of it that could be read
 * @todo: addresses still to be followed
 * @nr_todo: of @todo
 * @blocks: straight code that was followed; struct hybrid_flow has their number
 *
 * It has 10 KiB, so it is not cleared: what counts is.
 */
struct hybrid_flow_ways {
	u8		window[WINDOW];
	u64		window_at;
	unsigned int	window_len;
	u64		todo[MAX_TODO];
	unsigned int	nr_todo;
	struct {
		u64	start;
		u64	end;
	} blocks[MAX_BLOCKS];
};

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

static bool decode_bytes(const struct x86_frame_mem *mem, const u8 *bytes, unsigned int len,
			 struct insn *insn)
{
	return len && !insn_decode(insn, bytes, len, mem->is_64bit ? INSN_MODE_64 : INSN_MODE_32);
}

bool hybrid_decode_insn(const struct x86_frame_mem *mem, u64 addr, struct insn *insn)
{
	u8 bytes[MAX_INSN_SIZE];
	unsigned int len = hybrid_flow_fetch(mem, addr, bytes, sizeof(bytes));

	return decode_bytes(mem, bytes, len, insn);
}

/* The same, of code that is followed: one read serves several instructions. */
static bool decode(const struct hybrid_flow *flow, u64 addr, struct insn *insn)
{
	struct hybrid_flow_ways *ways = flow->ways;
	u64 at = addr - ways->window_at;

	if (at >= ways->window_len || ways->window_len - at < MAX_INSN_SIZE) {
		ways->window_at = addr;
		ways->window_len = hybrid_flow_fetch(flow->mem, addr, ways->window, WINDOW);
		/* A process's code may end within the window: then not a byte of it is read. */
		if (ways->window_len < MAX_INSN_SIZE)
			ways->window_len = hybrid_flow_fetch(flow->mem, addr, ways->window,
							     MAX_INSN_SIZE);
		at = 0;
	}
	return decode_bytes(flow->mem, ways->window + at,
			    min_t(u64, ways->window_len - at, MAX_INSN_SIZE), insn);
}

static u64 add_offset(const struct hybrid_flow *flow, u64 addr, s32 offset)
{
	addr += offset;
	return flow->mem->is_64bit ? addr : (u32)addr;
}

static void follow_later(struct hybrid_flow *flow, u64 addr)
{
	struct hybrid_flow_ways *ways = flow->ways;

	if (ways->nr_todo == MAX_TODO)
		flow->unknown = true;
	else
		ways->todo[ways->nr_todo++] = addr;
}

/* Bytes from @addr to the next code that was followed; 0: @addr was. */
static u64 before_followed(const struct hybrid_flow *flow, u64 addr)
{
	u64 start, end, nearest = ~0ULL;
	unsigned int i;

	for (i = 0; i < flow->nr_blocks; i++) {
		start = flow->ways->blocks[i].start;
		end = flow->ways->blocks[i].end;
		if (addr - start < end - start)
			return 0;
		nearest = min(nearest, start - addr);
	}
	return nearest;
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
	u64 left = before_followed(flow, addr);
	struct insn insn;

	if (flow->nr_blocks == MAX_BLOCKS) {
		flow->unknown = true;
		return false;
	}
	flow->start = addr;
	while (step == HYBRID_FLOW_ON && left) {
		if (flow->insns++ == flow->max_insns ||
		    !decode(flow, addr, &insn)) {
			flow->unknown = true;
			break;
		}
		step = flow->visit(flow, &insn, addr);
		addr += insn.length;
		left = left > insn.length ? left - insn.length : before_followed(flow, addr);
		/* A VEX or EVEX prefix is none of a jump. */
		if (step == HYBRID_FLOW_ON && !insn.vex_prefix.nbytes &&
		    ends_block(flow, &insn, addr))
			step = HYBRID_FLOW_END;
	}
	if (addr != flow->start) {
		flow->ways->blocks[flow->nr_blocks].start = flow->start;
		flow->ways->blocks[flow->nr_blocks++].end = addr;
	}
	return step == HYBRID_FLOW_FOUND;
}

/* What is nearest before what is looked for: mostly nothing else has to be decoded then. */
static u64 next_todo(const struct hybrid_flow *flow)
{
	struct hybrid_flow_ways *ways = flow->ways;
	unsigned int i, best = ways->nr_todo - 1;
	u64 addr;

	for (i = ways->nr_todo; i--;) {
		if (flow->near - ways->todo[i] < flow->near - ways->todo[best])
			best = i;
	}
	addr = ways->todo[best];
	ways->todo[best] = ways->todo[--ways->nr_todo];
	return addr;
}

bool hybrid_flow_from(struct hybrid_flow *flow, u64 addr)
{
	struct hybrid_flow_ways ways;
	bool found = false;

	ways.nr_todo = 0;
	ways.window_len = 0;
	flow->ways = &ways;
	follow_later(flow, addr);
	while (!found && ways.nr_todo && flow->insns <= flow->max_insns)
		found = follow(flow, next_todo(flow));
	flow->ways = NULL;
	return found;
}

bool hybrid_is_call(const struct x86_code *code)
{
	return code->map == X86_MAP_ONE &&
	       (code->op == 0xe8 || (code->op == 0xff && X86_MODRM_REG(code->modrm) == 2));
}
