// SPDX-License-Identifier: GPL-2.0
/*
 * How far the frame of one address of JIT code reaches.
 */
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <asm/insn.h>
#include "callers-frame.h"
#include "flow.h"
#include "frame-around.h"
#include "frame-pointer.h"
#include "x86_frame_scan.h"

/* What an instruction does to straight code. */
enum effect {
	STRAIGHT,
	CALLS,		/* goes on, if the call returns */
	LAST_ONE,	/* it is the last one that has the frame */
	NOT_FRAMED,	/* it has no frame itself */
};

static enum effect effect_of(const struct insn *insn, struct x86_code *code)
{
	struct x86_path path = { .sp_base = X86_BASE_NONE };
	s32 target;

	switch (insn->opcode.bytes[0]) {
	case 0xc2: case 0xc3: case 0x55:
		return NOT_FRAMED;
	case 0xe9: case 0xeb: case 0xcc: case 0xf4:
		return LAST_ONE;
	case 0xe8:
		return CALLS;
	case 0xff:
		if (X86_MODRM_REG(insn->modrm.value) == 2)
			return CALLS;
		if (X86_MODRM_REG(insn->modrm.value) == 4)
			return LAST_ONE;
		break;
	case 0x0f:
		if (insn->opcode.bytes[1] == 0x0b)
			return LAST_ONE;
		break;
	default:
		break;
	}
	x86_frame_step(code, &path, &target);
	return path.bp_kind == X86_BP_SAME ? STRAIGHT : LAST_ONE;
}

/* The instruction at @addr; 0 bytes if it can't be read. */
static unsigned int decode(const struct x86_frame_mem *mem, u64 addr, enum effect *effect)
{
	u8 bytes[MAX_INSN_SIZE];
	struct x86_code code;
	struct insn insn;

	if (!hybrid_decode_insn(mem, addr, &insn))
		return 0;
	*effect = STRAIGHT;
	if (insn.vex_prefix.nbytes)
		return hybrid_vex_sets_bp(&insn) ? 0 : insn.length;
	if (hybrid_flow_fetch(mem, addr, bytes, insn.length) < insn.length ||
	    !x86_frame_decode(&insn, bytes, insn.length, mem->is_64bit, &code))
		return 0;
	*effect = effect_of(&insn, &code);
	return insn.length;
}

static void mark(u64 *begins, u64 at)
{
	begins[at / 64] |= 1ULL << at % 64;
}

/*
 * After a call that does not return stand other calls, data, and the beginning of another function
 * that has no frame yet. So the code after a call has to show the frame by itself.
 */
static bool goes_on(const struct x86_frame_mem *mem, u64 addr, enum effect effect)
{
	unsigned int took;
	u64 run;

	return effect == STRAIGHT ||
	       (effect == CALLS && hybrid_has_frame_pointer(mem, addr, &run, &took));
}

static void look_ahead(const struct x86_frame_mem *mem, u64 ip, u64 *begins)
{
	enum effect effect;
	unsigned int len;
	u64 addr = ip;

	do {
		len = decode(mem, addr, &effect);
		if (!len || effect == NOT_FRAMED)
			return;
		mark(begins, addr - ip + HYBRID_AROUND);
		addr += len;
	} while (addr - ip < HYBRID_AROUND && goes_on(mem, addr, effect));
}

/*
 * Straight code from @addr on: does it come to @ip? Else @next is where to try next: after what
 * stands between, or, where an instruction reaches beyond @ip, at the next byte.
 */
static bool comes_to(const struct x86_frame_mem *mem, u64 addr, u64 ip, u64 *begins, u64 *next)
{
	u64 start = ip - HYBRID_AROUND, from = addr;
	enum effect effect;
	unsigned int len;

	while (addr < ip) {
		len = decode(mem, addr, &effect);
		if (!len || (effect != STRAIGHT && effect != CALLS)) {
			*next = addr + (len ?: 1);
			return false;
		}
		mark(begins, addr - start);
		/* What is before it, and the call, have no frame yet. */
		if (effect == CALLS && hybrid_calls_for_frame(mem, addr))
			memset(begins, 0, 2 * HYBRID_AROUND / 8);
		addr += len;
	}
	*next = from + 1;
	return addr == ip;
}

static void look_back(const struct x86_frame_mem *mem, u64 ip, u64 *begins)
{
	u64 found[2 * HYBRID_AROUND / 64], addr = ip - HYBRID_AROUND;
	unsigned int i;

	while (addr < ip) {
		memset(found, 0, sizeof(found));
		if (!comes_to(mem, addr, ip, found, &addr))
			continue;
		for (i = 0; i < ARRAY_SIZE(found); i++)
			begins[i] |= found[i];
		return;
	}
}

void hybrid_frame_around(const struct x86_frame_mem *mem, u64 ip,
			 u64 begins[2 * HYBRID_AROUND / 64])
{
	memset(begins, 0, 2 * HYBRID_AROUND / 8);
	mark(begins, HYBRID_AROUND);
	look_ahead(mem, ip, begins);
	look_back(mem, ip, begins);
}
