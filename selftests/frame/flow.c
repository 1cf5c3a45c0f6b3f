// SPDX-License-Identifier: GPL-2.0
/*
 * Data flow of the stack depth through one function, from its first
 * instruction on: the oracle's own opinion, where .eh_frame has none (how far
 * sp is from the CFA while the CFA counts from bp) or a wrong one.
 */
#include <stdlib.h>
#include <string.h>

#include <asm/insn.h>

#include "flow.h"

struct state {
	s32	sp;
	s32	bp;
	s32	save;
	bool	bp_same;
	bool	from_entry;
};

static bool is_pad(const struct insn *insn, const u8 *p)
{
	u8 op = insn->opcode.bytes[0];

	if (insn->vex_prefix.nbytes)
		return false;
	if (op == 0x90 || op == 0xcc)
		return true;
	if (op == 0x0f && insn->opcode.bytes[1] == 0x1f)
		return true;
	/* 32-bit padding: lea 0(%esi),%esi, lea 0(%edi),%edi, mov %esi,%esi */
	if (!insn->x86_64 && op == 0x8d && !insn->displacement.value) {
		u8 m = insn->modrm.value;

		if (insn->displacement.nbytes &&
		    ((m & 0x3f) == 0x36 || (m & 0x3f) == 0x3f ||
		     (m & 0x3f) == 0x34))
			return true;
	}
	return !insn->x86_64 && insn->length == 2 && p[0] == 0x89 &&
	       (p[1] == 0xf6 || p[1] == 0xff);
}

static void classify(struct flow_insn *fi, const struct insn *insn,
		     const u8 *p)
{
	u8 op = insn->opcode.bytes[0], reg = X86_MODRM_REG(insn->modrm.value);
	s32 end = fi->off + fi->len;

	fi->target = FLOW_NONE;
	fi->is_pad = is_pad(insn, p);
	if (insn->vex_prefix.nbytes)
		return;
	if ((op & 0xf0) == 0x70 || (op >= 0xe0 && op <= 0xe3) || op == 0xe9 ||
	    op == 0xeb ||
	    (op == 0x0f && (insn->opcode.bytes[1] & 0xf0) == 0x80))
		fi->target = end + insn->immediate.value;
	fi->is_indirect = op == 0xff && reg == 4;
	fi->is_call = op == 0xe8 || (op == 0xff && reg == 2);
	fi->ends = op == 0xe9 || op == 0xeb || op == 0xc2 || op == 0xc3 ||
		   op == 0xcc || op == 0xf4 || op == 0xcf || op == 0xcb ||
		   (op == 0xff && (reg == 4 || reg == 5)) ||
		   (op == 0x0f && insn->opcode.bytes[1] == 0x0b);
}

/**
 * flow_decode - take a function apart, one instruction after the other
 *
 * Returns: 0, or -1 where memory is short.  Stops at what is no instruction.
 */
int flow_decode(struct flow *flow, const u8 *code, u32 size,
		bool is_64bit)
{
	u32 off, i, max = 64;
	struct insn insn;

	memset(flow, 0, sizeof(*flow));
	flow->code = code;
	flow->size = size;
	flow->is_64bit = is_64bit;
	flow->index = malloc((size + 1) * sizeof(*flow->index));
	flow->insns = malloc(max * sizeof(*flow->insns));
	if (!flow->index || !flow->insns)
		return -1;
	for (off = 0; off <= size; off++)
		flow->index[off] = -1;
	for (off = 0; off < size; off += insn.length) {
		if (insn_decode(&insn, code + off, size - off,
				is_64bit ? INSN_MODE_64 : INSN_MODE_32))
			break;
		if (flow->nr == max) {
			max *= 2;
			flow->insns = realloc(flow->insns,
					      max * sizeof(*flow->insns));
			if (!flow->insns)
				return -1;
		}
		memset(&flow->insns[flow->nr], 0, sizeof(*flow->insns));
		flow->insns[flow->nr].off = off;
		flow->insns[flow->nr].len = insn.length;
		classify(&flow->insns[flow->nr], &insn, code + off);
		flow->index[off] = flow->nr++;
	}
	for (i = 0; i < flow->nr; i++) {
		s32 t = flow->insns[i].target;

		if (t >= 0 && (u32)t < size && flow->index[t] >= 0)
			flow->insns[flow->index[t]].is_target = true;
	}
	for (i = 1; i < flow->nr; i++) {
		struct flow_insn *fi = &flow->insns[i];

		fi->unreachable = fi->is_pad && !fi->is_target &&
				  (fi[-1].ends || fi[-1].unreachable);
	}
	return 0;
}

static void merge(s32 *to, s32 from, bool *changed)
{
	if (*to != from && *to != FLOW_NONE) {
		*to = FLOW_NONE;
		*changed = true;
	}
}

/* Brings a state to an instruction; true where that changes something. */
static bool arrive(struct flow_insn *fi, const struct state *st)
{
	bool changed = false;

	if (!fi->reached) {
		fi->reached = true;
		fi->sp = st->sp;
		fi->bp = st->bp;
		fi->save = st->save;
		fi->bp_same = st->bp_same;
		fi->from_entry = st->from_entry;
		return true;
	}
	merge(&fi->sp, st->sp, &changed);
	merge(&fi->bp, st->bp, &changed);
	merge(&fi->save, st->save, &changed);
	if (fi->bp_same && !st->bp_same) {
		fi->bp_same = false;
		changed = true;
	}
	if (fi->from_entry && !st->from_entry) {
		fi->from_entry = false;
		changed = true;
	}
	return changed;
}

static s32 minus(s32 a, s32 b)
{
	return a == FLOW_NONE ? a : a - b;
}

/* Register numbers with their REX bits; REX2 is left out, no compiler here. */
static int rm_reg(const struct insn *insn)
{
	if (X86_MODRM_MOD(insn->modrm.value) != 3)
		return -1;
	return X86_MODRM_RM(insn->modrm.value) |
	       (X86_REX_B(insn->rex_prefix.value) ? 8 : 0);
}

static int reg_reg(const struct insn *insn)
{
	return X86_MODRM_REG(insn->modrm.value) |
	       (X86_REX_R(insn->rex_prefix.value) ? 8 : 0);
}

/* 4 or 5 where the memory operand counts from sp or bp alone. */
static int base_reg(const struct insn *insn)
{
	u8 modrm = insn->modrm.value, sib = insn->sib.value;
	int mod = X86_MODRM_MOD(modrm), rm = X86_MODRM_RM(modrm);

	if (mod == 3 || X86_REX_B(insn->rex_prefix.value))
		return -1;
	if (rm == 4 && !X86_REX_X(insn->rex_prefix.value) &&
	    X86_SIB_INDEX(sib) == 4)
		rm = X86_SIB_BASE(sib);
	else if (rm == 4)
		return -1;
	if (rm == 5 && !mod)
		return -1;
	return rm;
}

static s32 address(const struct insn *insn, const struct state *st)
{
	int reg = base_reg(insn);

	if (reg == 4)
		return minus(st->sp, insn->displacement.value);
	if (reg == 5)
		return minus(st->bp, insn->displacement.value);
	return FLOW_NONE;
}

static void write_bp(struct state *st, s32 value)
{
	st->bp = value;
	st->bp_same = false;
}

static void load_bp(struct state *st, s32 slot)
{
	st->bp = FLOW_NONE;
	st->bp_same = slot != FLOW_NONE && slot == st->save;
}

static void flow_push(struct state *st, int ws, bool bp)
{
	st->sp = minus(st->sp, -ws);
	if (bp && st->bp_same &&
	    (st->save == FLOW_NONE || st->save > st->sp))
		st->save = st->sp;
}

static void flow_pop(struct state *st, int ws, bool bp)
{
	if (bp)
		load_bp(st, st->sp);
	st->sp = minus(st->sp, ws);
}

static void flow_leave(struct state *st, int ws)
{
	st->sp = st->bp;
	flow_pop(st, ws, true);
}

static void flow_mov(const struct insn *insn, struct state *st, u8 op)
{
	int rm = rm_reg(insn), reg = reg_reg(insn);
	int dst = op == 0x89 ? rm : reg, src = op == 0x89 ? reg : rm;

	if (dst == 4)
		st->sp = src == 5 ? st->bp : FLOW_NONE;
	else if (dst == 5 && src == 4)
		write_bp(st, st->sp);
	else if (dst == 5 && src < 0)
		load_bp(st, address(insn, st));
	else if (dst == 5)
		write_bp(st, FLOW_NONE);
	else if (dst < 0 && src == 5 && st->bp_same &&
		 address(insn, st) != FLOW_NONE)
		st->save = address(insn, st);
}

static void flow_lea(const struct insn *insn, struct state *st)
{
	int reg = reg_reg(insn);

	if (reg == 5) {
		write_bp(st, address(insn, st));
	} else if (reg == 4) {
		int realign = insn->x86_64 ? 2 : 1;

		/* Behind lea -8(%r10),%rsp sp is at the return address again. */
		if (X86_MODRM_RM(insn->modrm.value) == realign &&
		    X86_MODRM_MOD(insn->modrm.value) == 1)
			st->sp = insn->x86_64 ? 8 : 4;
		else
			st->sp = address(insn, st);
	}
}

/* 81 and 83, and the operations between registers */
static void flow_alu(const struct insn *insn, struct state *st, u8 op)
{
	int rm = rm_reg(insn), what = X86_MODRM_REG(insn->modrm.value);

	if (op < 0x40) {
		int dst = op & 2 ? reg_reg(insn) : rm;

		if ((op & 7) > 3 || (op & 0x38) == 0x38)
			return;
		if (dst == 4)
			st->sp = FLOW_NONE;
		else if (dst == 5)
			write_bp(st, FLOW_NONE);
		return;
	}
	if (what == 7)
		return;
	if (rm == 4 && (what == 0 || what == 5))
		st->sp = minus(st->sp, what ? -insn->immediate.value :
					insn->immediate.value);
	else if (rm == 4)
		st->sp = FLOW_NONE;
	else if (rm == 5)
		write_bp(st, FLOW_NONE);
}

static bool is_realign_push(const struct insn *insn)
{
	return X86_MODRM_MOD(insn->modrm.value) == 1 &&
	       X86_MODRM_RM(insn->modrm.value) == (insn->x86_64 ? 2 : 1) &&
	       insn->displacement.value == (insn->x86_64 ? -8 : -4);
}

static void step(const struct insn *insn, struct state *st)
{
	u8 op = insn->opcode.bytes[0], low = op & 7;
	int ws = insn->x86_64 ? 8 : 4, what = X86_MODRM_REG(insn->modrm.value);

	if (insn->vex_prefix.nbytes)
		return;
	if (X86_REX_B(insn->rex_prefix.value))
		low |= 8;
	if (op >= 0x50 && op <= 0x57)
		flow_push(st, ws, low == 5);
	else if (op >= 0x58 && op <= 0x5f)
		flow_pop(st, ws, low == 5);
	else if (op == 0x68 || op == 0x6a || op == 0x9c)
		flow_push(st, ws, false);
	else if (op == 0x9d || op == 0x8f)
		flow_pop(st, ws, false);
	else if (op == 0xff && what == 6 && is_realign_push(insn))
		st->sp = ws;
	else if (op == 0xff && what == 6)
		flow_push(st, ws, false);
	else if (op == 0xe8 && !insn->immediate.value)
		flow_push(st, ws, false);
	else if (op == 0xc9)
		flow_leave(st, ws);
	else if (op == 0x89 || op == 0x8b)
		flow_mov(insn, st, op);
	else if (op == 0x8d)
		flow_lea(insn, st);
	else if (op == 0x81 || op == 0x83 || (op < 0x40 && op != 0x0f))
		flow_alu(insn, st, op);
	else if (op == 0xc8 ||
		 (op == 0x87 && (rm_reg(insn) == 4 || reg_reg(insn) == 4)))
		st->sp = FLOW_NONE;
	else if (low == 5 && ((op >= 0xb8 && op <= 0xbf)))
		write_bp(st, FLOW_NONE);
}

/**
 * flow_straight - CFA - sp, by the way straight on to a return
 *
 * Branches are not taken.  Returns: that, or FLOW_NONE where a call or a jump
 * stands before the return, or sp is set to something unknown.
 */
s32 flow_straight(const struct flow *flow, u32 nr)
{
	int ws = flow->is_64bit ? 8 : 4;
	struct state st = { .bp = FLOW_NONE, .save = FLOW_NONE };
	struct insn insn;

	for (; nr < flow->nr && st.sp != FLOW_NONE; nr++) {
		const struct flow_insn *fi = &flow->insns[nr];

		insn_decode(&insn, flow->code + fi->off, flow->size - fi->off,
			    flow->is_64bit ? INSN_MODE_64 : INSN_MODE_32);
		if (!insn.vex_prefix.nbytes &&
		    (insn.opcode.bytes[0] & 0xfe) == 0xc2)
			return ws - st.sp;
		if (fi->is_call || fi->ends)
			break;
		step(&insn, &st);
	}
	return FLOW_NONE;
}

/**
 * flow_seed - state at an instruction
 */
void flow_seed(struct flow *flow, u32 nr, s32 sp, s32 bp,
	       s32 save, bool from_entry)
{
	struct state st = {
		.sp = sp,
		.bp = bp,
		.save = save,
		.bp_same = from_entry,
		.from_entry = from_entry,
	};

	arrive(&flow->insns[nr], &st);
}

/**
 * flow_run - carry the seeded states through the function
 */
void flow_run(struct flow *flow)
{
	u32 *stack = malloc((flow->nr + 1) * sizeof(*stack)), top = 0, i;
	bool *queued = calloc(flow->nr + 1, 1);

	for (i = 0; i < flow->nr; i++)
		if (flow->insns[i].reached) {
			stack[top++] = i;
			queued[i] = true;
		}
	while (top) {
		struct flow_insn *fi = &flow->insns[i = stack[--top]];
		struct state st = {
			fi->sp, fi->bp, fi->save, fi->bp_same, fi->from_entry
		};
		s32 next[2] = { -1, -1 };
		struct insn insn;
		int k;

		queued[i] = false;
		insn_decode(&insn, flow->code + fi->off, flow->size - fi->off,
			    flow->is_64bit ? INSN_MODE_64 : INSN_MODE_32);
		step(&insn, &st);
		if (!fi->ends && i + 1 < flow->nr)
			next[0] = i + 1;
		if (fi->target >= 0 && (u32)fi->target < flow->size)
			next[1] = flow->index[fi->target];
		for (k = 0; k < 2; k++)
			if (next[k] >= 0 &&
			    arrive(&flow->insns[next[k]], &st) &&
			    !queued[next[k]]) {
				stack[top++] = next[k];
				queued[next[k]] = true;
			}
	}
	free(stack);
	free(queued);
}

void flow_free(struct flow *flow)
{
	free(flow->insns);
	free(flow->index);
}
