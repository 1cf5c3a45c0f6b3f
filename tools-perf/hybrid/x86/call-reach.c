// SPDX-License-Identifier: GPL-2.0
/*
 * From a call to what runs below it: a return address that was found by anything
 * else than CFI is true only if the call before it could lead there.
 */
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <asm/insn.h>
#include "../rules/relocation.h"
#include "call-reach.h"
#include "flow.h"
#include "x86_frame.h"

/* From a call's target. */
#define MAX_INSNS	2048

/* Of a function in which a call is looked for. */
#define MAX_SITE_INSNS	16384
/* Relocations that are looked at for a word. */
#define MAX_RELOCATIONS	0x100000

/* Of a direct call: e8 and a displacement of 32 bits. */
#define DIRECT_CALL	5

/* The longest call: ff, ModRM, SIB, displacement; a prefix may stand before it. */
#define LONGEST_CALL	7

static bool is_indirect_call(const struct insn *insn)
{
	return insn->opcode.nbytes == 1 && insn->opcode.bytes[0] == 0xff &&
	       (X86_MODRM_REG(insn->modrm.value) == 2 || X86_MODRM_REG(insn->modrm.value) == 3);
}

/* Can an indirect call be in these LONGEST_CALL bytes: has one its opcode and ModRM byte? */
static bool may_be_indirect(const u8 *bytes)
{
	unsigned int i;

	for (i = 0; i + 1 < LONGEST_CALL; i++) {
		if (bytes[i] == 0xff && (X86_MODRM_REG(bytes[i + 1]) & 6) == 2)
			return true;
	}
	return false;
}

/* May another call than a direct one end at @ret? Then the e8 says nothing. */
static bool indirect_before(const struct x86_frame_mem *mem, u64 ret)
{
	u8 bytes[LONGEST_CALL];
	struct insn insn;
	unsigned int len;

	if (hybrid_flow_fetch(mem, ret - sizeof(bytes), bytes, sizeof(bytes)) == sizeof(bytes) &&
	    !may_be_indirect(bytes))
		return false;
	for (len = 2; len <= LONGEST_CALL; len++) {
		if (hybrid_decode_insn(mem, ret - len, &insn) && insn.length == len &&
		    is_indirect_call(&insn))
			return true;
	}
	return false;
}

/*
 * Is it a call, and a return behind it? CFI of the callee may leave that call out: the frame
 * outside of the callee's is then that of the caller's caller. libgcc's __morestack() has such CFI;
 * code of -fsplit-stack calls it so.
 */
static bool is_tail_call(const struct x86_frame_mem *mem, const struct insn *insn, u64 addr)
{
	u8 next;

	return insn->opcode.nbytes == 1 && insn->opcode.bytes[0] == 0xe8 &&
	       hybrid_flow_fetch(mem, addr + insn->length, &next, 1) && next == 0xc3;
}

static enum hybrid_flow_step is_callee(struct hybrid_flow *flow, const struct insn *insn,
				       u64 addr)
{
	if (flow->near && flow->near - addr < insn->length)
		return HYBRID_FLOW_FOUND;
	if (is_tail_call(flow->mem, insn, addr))
		flow->unknown = true;
	return HYBRID_FLOW_ON;
}

enum hybrid_reach hybrid_target_reaches(const struct x86_frame_mem *mem, u64 target, u64 callee,
					u64 *slot)
{
	struct hybrid_flow flow = {
		.mem = mem, .near = callee, .max_insns = MAX_INSNS, .visit = is_callee,
	};

	*slot = 0;
	/* As nearly all calls lead. */
	if (callee && target == callee)
		return HYBRID_REACH_THERE;
	if (hybrid_flow_from(&flow, target))
		return HYBRID_REACH_THERE;
	if (flow.unknown)
		return HYBRID_REACH_FAR;
	if (!flow.indirect)
		return HYBRID_REACH_NOT;
	/* All that a PLT's entry does is to jump. */
	if (flow.insns > 3)
		return HYBRID_REACH_FAR;
	*slot = flow.slot;
	return HYBRID_REACH_INDIRECT;
}

static bool is_direct(const struct x86_frame_mem *mem, u64 ret, u64 *target)
{
	u8 bytes[DIRECT_CALL];
	s32 offset;

	if (hybrid_flow_fetch(mem, ret - DIRECT_CALL, bytes, sizeof(bytes)) < sizeof(bytes) ||
	    bytes[0] != 0xe8 || indirect_before(mem, ret))
		return false;
	memcpy(&offset, bytes + 1, sizeof(offset));
	*target = mem->is_64bit ? ret + offset : (u32)(ret + offset);
	return true;
}

enum hybrid_reach hybrid_call_reaches(const struct x86_frame_mem *mem, u64 ret, u64 callee,
				      u64 *slot)
{
	u64 target;
	u8 last;

	*slot = 0;
	/* The file may have been changed, or cut off. */
	if (!hybrid_flow_fetch(mem, ret - 1, &last, 1))
		return HYBRID_REACH_MAYBE;
	if (!x86_frame_call_before(mem, ret))
		return HYBRID_REACH_NOT;
	if (!is_direct(mem, ret, &target))
		return HYBRID_REACH_INDIRECT;
	return hybrid_target_reaches(mem, target, callee, slot);
}

u64 hybrid_call_target(const struct x86_frame_mem *mem, u64 ret)
{
	u64 target;

	return is_direct(mem, ret, &target) ? target : 0;
}

/* lea N(%rip) of @given, or of a word that holds it: what Go has for a function. */
static bool takes(const struct hybrid_object *object, const struct insn *insn, u64 next, u64 given)
{
	u64 addr = next + insn->displacement.value, word;

	if (!given || insn->opcode.bytes[0] != 0x8d || object->cfi.abi->word != sizeof(word) ||
	    X86_MODRM_MOD(insn->modrm.value) || X86_MODRM_RM(insn->modrm.value) != 5)
		return false;
	return addr == given ||
	       (hybrid_relocation_word(object, addr, MAX_RELOCATIONS, &word) && word == given);
}

u64 hybrid_call_site(const struct x86_frame_mem *mem, const struct hybrid_object *object,
		     u64 start, u64 end, u64 target, u64 given)
{
	unsigned int i, nr = 0, nr_given = 0;
	u64 found = 0, found_given = 0;
	bool taken = false;
	struct insn insn;

	for (i = 0; start < end; i++) {
		if (i == MAX_SITE_INSNS || !hybrid_decode_insn(mem, start, &insn))
			return 0;
		start += insn.length;
		taken = taken || takes(object, &insn, start, given);
		if (insn.opcode.bytes[0] != 0xe8 || insn.length != DIRECT_CALL)
			continue;
		if (start + insn.immediate.value == target) {
			found = start;
			nr++;
			found_given = taken ? start : found_given;
			nr_given += taken;
		}
		taken = false;
	}
	if (nr == 1)
		return found;
	return nr_given == 1 ? found_given : 0;
}
