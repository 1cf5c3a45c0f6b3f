// SPDX-License-Identifier: GPL-2.0
/*
 * Where functions that align their stack have their CFA.
 */
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <asm/insn.h>
#include "flow.h"
#include "insn-operand.h"
#include "realigned.h"
#include "x86_frame_scan.h"

#define MAX_INSNS	4096
/* From the end of the frame to where sp is loaded. */
#define MAX_TO_LOAD	8

/**
 * struct search - for the end of the frame
 * @sp: bytes from bp to sp, if @sp_known
 * @sp_known: it is
 * @loaded: bit for each register that was loaded from the frame in this block
 * @slots: from where: bytes from bp
 * @slot: where the CFA is
 * @found: @slot is valid
 */
struct search {
	s32	sp;
	bool	sp_known;
	u32	loaded;
	s32	slots[16];
	s32	slot;
	bool	found;
};

/* N(%rbp) */
static bool is_in_frame(const struct insn *insn)
{
	return hybrid_insn_rm(insn) == X86_REG_BP &&
	       (X86_MODRM_MOD(insn->modrm.value) == 1 || X86_MODRM_MOD(insn->modrm.value) == 2);
}

/* lea -8(%reg),%rsp: which register? -1: it is another instruction. */
static int loads_sp(const struct insn *insn)
{
	unsigned int rm = X86_MODRM_RM(insn->modrm.value);

	if (insn->vex_prefix.nbytes || insn->opcode.bytes[0] != 0x8d ||
	    hybrid_insn_reg(insn) != X86_REG_SP || X86_MODRM_MOD(insn->modrm.value) != 1 ||
	    rm == 4 || insn->displacement.value != -8)
		return -1;
	return hybrid_insn_rm(insn);
}

static void load(struct search *search, unsigned int reg, s32 slot)
{
	search->loaded |= 1U << reg;
	search->slots[reg] = slot;
}

static void pop(struct search *search, unsigned int reg)
{
	search->loaded &= ~(1U << reg);
	if (!search->sp_known)
		return;
	load(search, reg, search->sp);
	search->sp += 8;
}

/* What of the frame is in registers. */
static void step(struct search *search, const struct insn *insn)
{
	u8 op = insn->opcode.bytes[0];

	if (insn->vex_prefix.nbytes)
		return;
	if (op >= 0x58 && op <= 0x5f) {
		pop(search, hybrid_insn_opcode_reg(insn));
	} else if (op == 0x8b && is_in_frame(insn)) {
		load(search, hybrid_insn_reg(insn), insn->displacement.value);
	} else if (op == 0x8d && hybrid_insn_reg(insn) == X86_REG_SP) {
		search->sp_known = is_in_frame(insn);
		search->sp = insn->displacement.value;
	} else if (op == 0x8b || op == 0x8d) {
		search->loaded &= ~(1U << hybrid_insn_reg(insn));
	}
}

static bool is_leave(const struct insn *insn)
{
	u8 op = insn->opcode.bytes[0];

	return !insn->vex_prefix.nbytes &&
	       (op == 0xc9 || (op == 0x5d && !X86_REX_B(insn->rex_prefix.value)));
}

/* The frame ends at @addr: is sp loaded from a register that was in it? */
static void look_behind(struct search *search, const struct x86_frame_mem *mem, u64 addr)
{
	struct insn insn;
	unsigned int i;
	int reg;

	for (i = 0; i < MAX_TO_LOAD && hybrid_decode_insn(mem, addr, &insn); i++) {
		reg = loads_sp(&insn);
		if (reg >= 0) {
			search->found = search->loaded & 1U << reg;
			search->slot = search->slots[reg];
			return;
		}
		if (insn.opcode.bytes[0] == 0xc3)
			return;
		addr += insn.length;
	}
}

static enum hybrid_flow_step find_end(struct hybrid_flow *flow, const struct insn *insn, u64 addr)
{
	struct search *search = flow->arg;

	if (addr == flow->start)
		memset(search, 0, sizeof(*search));
	if (is_leave(insn)) {
		look_behind(search, flow->mem, addr + insn->length);
		return HYBRID_FLOW_FOUND;
	}
	step(search, insn);
	return HYBRID_FLOW_ON;
}

bool hybrid_realigned_rule(const struct x86_frame_mem *mem, u64 ip, struct hybrid_rule *rule,
			   unsigned int *took)
{
	struct search search = {};
	struct hybrid_flow flow = {
		.mem = mem, .max_insns = MAX_INSNS, .visit = find_end, .arg = &search,
	};

	*took = 0;
	if (!mem->is_64bit || rule->kind != HYBRID_RULE_CFA || rule->base != HYBRID_BASE_BP ||
	    rule->cfa_off != 16)
		return false;
	hybrid_flow_from(&flow, ip);
	*took = flow.insns;
	if (!search.found)
		return false;
	*rule = (struct hybrid_rule) {
		.kind	 = HYBRID_RULE_DEREF,
		.base	 = HYBRID_BASE_BP,
		.bp	 = HYBRID_BP_AT_BP,
		.cfa_off = search.slot,
		.ra_off	 = -8,
	};
	return true;
}
