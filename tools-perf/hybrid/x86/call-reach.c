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
#include "x86-frame.h"

#define PAGE		4096
#define MAX_INSNS	2048
#define MAX_BLOCKS	256
#define MAX_TODO	64

/* Of a function in which a call is looked for. */
#define MAX_SITE_INSNS	16384
/* Relocations that are looked at for a word. */
#define MAX_RELOCATIONS	0x100000

/* Of a direct call: e8 and a displacement of 32 bits. */
#define DIRECT_CALL	5

/* The longest call: ff, ModRM, SIB, displacement; a prefix may stand before it. */
#define LONGEST_CALL	7

struct block {
	u64	start;
	u64	end;
};

/**
 * struct flow - what can be reached from a call's target without a further call
 * @mem: reads the code
 * @callee: what is looked for
 * @insns: instructions decoded so far
 * @todo: addresses still to be followed
 * @nr_todo: of @todo
 * @blocks: straight code that was followed
 * @nr_blocks: of @blocks
 * @indirect: a jump through a register or memory was met
 * @slot: what a jump from memory at a constant address reads; 0: none was met
 * @unknown: something could not be read, decoded or remembered
 */
struct flow {
	const struct x86_frame_mem	*mem;
	u64				 callee;
	unsigned int			 insns;
	u64				 todo[MAX_TODO];
	unsigned int			 nr_todo;
	struct block			 blocks[MAX_BLOCKS];
	unsigned int			 nr_blocks;
	bool				 indirect;
	u64				 slot;
	bool				 unknown;
};

/* Bytes from @addr on, no read across a page: see struct x86_frame_mem. */
static unsigned int fetch(const struct x86_frame_mem *mem, u64 addr, u8 *bytes, unsigned int len)
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
	unsigned int len = fetch(mem, addr, bytes, sizeof(bytes));

	return len && !insn_decode(insn, bytes, len, mem->is_64bit ? INSN_MODE_64 : INSN_MODE_32);
}

static bool is_indirect_call(const struct insn *insn)
{
	return insn->opcode.nbytes == 1 && insn->opcode.bytes[0] == 0xff &&
	       (X86_MODRM_REG(insn->modrm.value) == 2 || X86_MODRM_REG(insn->modrm.value) == 3);
}

/* May another call than a direct one end at @ret? Then the e8 says nothing. */
static bool indirect_before(const struct x86_frame_mem *mem, u64 ret)
{
	struct insn insn;
	unsigned int len;

	for (len = 2; len <= LONGEST_CALL; len++) {
		if (hybrid_decode_insn(mem, ret - len, &insn) && insn.length == len &&
		    is_indirect_call(&insn))
			return true;
	}
	return false;
}

static u64 add_offset(const struct flow *f, u64 addr, s32 offset)
{
	addr += offset;
	return f->mem->is_64bit ? addr : (u32)addr;
}

static void follow_later(struct flow *f, u64 addr)
{
	if (f->nr_todo == MAX_TODO)
		f->unknown = true;
	else
		f->todo[f->nr_todo++] = addr;
}

static bool was_followed(const struct flow *f, u64 addr)
{
	unsigned int i;

	for (i = 0; i < f->nr_blocks; i++) {
		if (addr - f->blocks[i].start < f->blocks[i].end - f->blocks[i].start)
			return true;
	}
	return false;
}

/* jmp, ret, hlt and the like; calls are stepped over, as they mostly return. */
static bool ends_block(struct flow *f, const struct insn *insn, u64 next)
{
	u8 op = insn->opcode.bytes[0], second = insn->opcode.bytes[1];

	switch (op) {
	case 0xe9: case 0xeb:
		follow_later(f, add_offset(f, next, insn->immediate.value));
		return true;
	case 0xc2: case 0xc3: case 0xca: case 0xcb: case 0xcf: case 0xf4: case 0xcc:
		return true;
	case 0x70 ... 0x7f: case 0xe0 ... 0xe3:
		follow_later(f, add_offset(f, next, insn->immediate.value));
		return false;
	case 0xff:
		if (X86_MODRM_REG(insn->modrm.value) != 4 && X86_MODRM_REG(insn->modrm.value) != 5)
			return false;
		f->indirect = true;
		/* Relative to rip: as in a PLT. */
		if (f->mem->is_64bit && !X86_MODRM_MOD(insn->modrm.value) &&
		    X86_MODRM_RM(insn->modrm.value) == 5)
			f->slot = add_offset(f, next, insn->displacement.value);
		return true;
	case 0x0f:
		if (second >= 0x80 && second <= 0x8f)
			follow_later(f, add_offset(f, next, insn->immediate.value));
		return second == 0x0b || second == 0xb9 || second == 0xff;
	default:
		return false;
	}
}

/* Straight code from @addr on; true where it comes to the callee. */
static bool follow(struct flow *f, u64 addr)
{
	struct block *block;
	struct insn insn;
	bool ends = false;

	if (f->nr_blocks == MAX_BLOCKS) {
		f->unknown = true;
		return false;
	}
	/* Counts only once it has an end. */
	block = &f->blocks[f->nr_blocks];
	block->start = addr;
	while (!ends && !was_followed(f, addr)) {
		if (f->insns++ == MAX_INSNS || !hybrid_decode_insn(f->mem, addr, &insn)) {
			f->unknown = true;
			break;
		}
		if (f->callee && f->callee - addr < insn.length)
			return true;
		addr += insn.length;
		/* A VEX or EVEX prefix is none of a jump. */
		ends = !insn.vex_prefix.nbytes && ends_block(f, &insn, addr);
	}
	block->end = addr;
	f->nr_blocks++;
	return false;
}

/* What is nearest before the callee comes first: mostly nothing else has to be decoded then. */
static u64 next_todo(struct flow *f)
{
	unsigned int i, best = f->nr_todo - 1;
	u64 addr;

	for (i = f->nr_todo; i--;) {
		if (f->callee - f->todo[i] < f->callee - f->todo[best])
			best = i;
	}
	addr = f->todo[best];
	f->todo[best] = f->todo[--f->nr_todo];
	return addr;
}

static enum hybrid_reach explore(struct flow *f, u64 target)
{
	follow_later(f, target);
	while (f->nr_todo) {
		u64 addr = next_todo(f);

		if (!was_followed(f, addr) && follow(f, addr))
			return HYBRID_REACH_THERE;
		if (f->insns > MAX_INSNS)
			break;
	}
	if (f->unknown)
		return HYBRID_REACH_FAR;
	/* All that a PLT's entry does is to jump. */
	if (f->indirect)
		return f->insns <= 3 ? HYBRID_REACH_INDIRECT : HYBRID_REACH_FAR;
	return HYBRID_REACH_NOT;
}

enum hybrid_reach hybrid_target_reaches(const struct x86_frame_mem *mem, u64 target, u64 callee,
					u64 *slot)
{
	struct flow f = { .mem = mem, .callee = callee };
	enum hybrid_reach leads = explore(&f, target);

	*slot = leads == HYBRID_REACH_INDIRECT ? f.slot : 0;
	return leads;
}

static bool is_direct(const struct x86_frame_mem *mem, u64 ret, u64 *target)
{
	u8 bytes[DIRECT_CALL];
	s32 offset;

	if (fetch(mem, ret - DIRECT_CALL, bytes, sizeof(bytes)) < sizeof(bytes) ||
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

	*slot = 0;

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
