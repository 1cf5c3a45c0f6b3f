// SPDX-License-Identifier: GPL-2.0
/*
 * What one instruction does to the rule for its caller.
 */
#include <asm/insn.h>
#include "after.h"
#include "leads.h"
#include "x86-frame.h"

static enum hybrid_after group5(const struct insn *insn)
{
	switch (X86_MODRM_REG(insn->modrm.value)) {
	case 2: case 3:
		return HYBRID_AFTER_CALL;
	case 4: case 5:
		return HYBRID_AFTER_SAME;
	default:
		return HYBRID_AFTER_NEXT;
	}
}

static enum hybrid_after two_byte(u8 op)
{
	switch (op) {
	case 0x05: case 0x34: case 0x80 ... 0x8f:
		return HYBRID_AFTER_SAME;
	default:
		return HYBRID_AFTER_NEXT;
	}
}

static enum hybrid_after one_byte(const struct insn *insn, u8 op)
{
	switch (op) {
	case 0x0f:
		return two_byte(insn->opcode.bytes[1]);
	case 0x70 ... 0x7f: case 0xe0 ... 0xe3: case 0xe9: case 0xeb: case 0xcc: case 0xcd:
		return HYBRID_AFTER_SAME;
	case 0xe8: case 0x9a:
		return HYBRID_AFTER_CALL;
	case 0xc2: case 0xc3: case 0xca: case 0xcb: case 0xcf:
		return HYBRID_AFTER_RETURN;
	case 0xff:
		return group5(insn);
	default:
		return HYBRID_AFTER_NEXT;
	}
}

enum hybrid_after hybrid_after(const struct x86_frame_mem *mem, u64 ip, u64 *next)
{
	struct insn insn;

	*next = ip;
	if (!hybrid_leads_decode(mem, ip, &insn))
		return HYBRID_AFTER_SAME;
	*next = ip + insn.length;
	return insn.vex_prefix.nbytes ? HYBRID_AFTER_NEXT : one_byte(&insn, insn.opcode.bytes[0]);
}
