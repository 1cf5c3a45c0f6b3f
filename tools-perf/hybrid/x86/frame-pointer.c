// SPDX-License-Identifier: GPL-2.0
/*
 * Shows by the code of a function that bp is its frame pointer.
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <asm/insn.h>
#include "flow.h"
#include "frame-pointer.h"
#include "x86_frame_scan.h"

#define MAX_INSNS	4096

/* The function returns within so many instructions after it leaves its frame. */
#define MAX_TO_RETURN	16

/**
 * struct search - for the end of the frame
 * @path: sp and bp in the block that is followed
 * @run: of hybrid_has_frame_pointer()
 * @straight: no jump was followed yet
 * @begins: straight code makes the frame
 * @loaded: the block has a mov (%rbp),%rbp
 * @dropped: and an add to sp after it
 */
struct search {
	struct x86_path	path;
	u64		run;
	bool		straight;
	bool		begins;
	bool		loaded;
	bool		dropped;
};

static bool is_indirect_jump(const struct insn *insn)
{
	return insn->opcode.bytes[0] == 0xff && X86_MODRM_REG(insn->modrm.value) == 4;
}

/* Is it a return or a jump? If decoded data looks like a leave, none follows soon. */
static bool ends_function(const struct insn *insn)
{
	switch (insn->opcode.bytes[0]) {
	case 0xc2: case 0xc3: case 0xe9: case 0xeb:
		return true;
	default:
		return is_indirect_jump(insn);
	}
}

/*
 * lea -8(%r10),%rsp: gcc's functions that align the stack have only a copy of their return
 * address in the frame.
 */
static bool is_realigned(const struct insn *insn)
{
	return insn->opcode.bytes[0] == 0x8d && X86_MODRM_REG(insn->modrm.value) == X86_REG_SP &&
	       !X86_REX_R(insn->rex_prefix.value) && insn->displacement.value < 0;
}

static bool returns_soon(const struct x86_frame_mem *mem, u64 addr)
{
	struct insn insn;
	unsigned int i;

	for (i = 0; i < MAX_TO_RETURN && hybrid_decode_insn(mem, addr, &insn); i++) {
		if (insn.vex_prefix.nbytes || is_realigned(&insn))
			return false;
		if (ends_function(&insn))
			return true;
		addr += insn.length;
	}
	return false;
}

/* Only those to general registers do: moves, conversions to integers, masks, and BMI's. */
bool hybrid_vex_sets_bp(struct insn *insn)
{
	u8 op = insn->opcode.bytes[0];

	if (insn_vex_m_bits(insn) != 1 && op >= 0xf0)
		return true;
	switch (op) {
	case 0x14 ... 0x17: case 0x2c: case 0x2d: case 0x50: case 0x78: case 0x79: case 0x7e:
	case 0x93: case 0xc5: case 0xd7:
		return X86_MODRM_REG(insn->modrm.value) == X86_REG_BP ||
		       X86_MODRM_RM(insn->modrm.value) == X86_REG_BP;
	default:
		return false;
	}
}

static bool step(struct search *search, const struct hybrid_flow *flow, u64 addr,
		 unsigned int len, bool *pops_bp)
{
	u8 bytes[MAX_INSN_SIZE];
	struct x86_code code;
	struct insn insn;
	s32 target;

	*pops_bp = false;
	if (hybrid_flow_fetch(flow->mem, addr, bytes, len) < len ||
	    insn_decode(&insn, bytes, len, flow->mem->is_64bit ? INSN_MODE_64 : INSN_MODE_32))
		return false;
	if (insn.vex_prefix.nbytes)
		return !hybrid_vex_sets_bp(&insn);
	if (!x86_frame_decode(&insn, bytes, len, flow->mem->is_64bit, &code))
		return false;
	*pops_bp = code.map == X86_MAP_ONE && (code.op == 0xc9 || code.op == 0x5d);
	x86_frame_step(&code, &search->path, &target);
	return true;
}

/* add $N,%rsp */
static bool drops_frame(const struct insn *insn)
{
	u8 op = insn->opcode.bytes[0];

	return (op == 0x81 || op == 0x83) && X86_MODRM_MOD(insn->modrm.value) == 3 &&
	       !X86_MODRM_REG(insn->modrm.value) &&
	       X86_MODRM_RM(insn->modrm.value) == X86_REG_SP &&
	       !X86_REX_B(insn->rex_prefix.value) && insn->immediate.value > 0;
}

/*
 * V8's builtins leave by mov (%rbp),%rbp; ... add $N,%rsp; ... jmp *%rcx. A function that follows
 * a linked list by mov (%rbp),%rbp has to restore bp by a pop before it jumps to another one.
 */
static enum hybrid_flow_step find_jump(struct search *search, const struct insn *insn)
{
	if (search->dropped && is_indirect_jump(insn))
		return HYBRID_FLOW_FOUND;
	search->dropped = search->dropped || drops_frame(insn);
	return HYBRID_FLOW_ON;
}

/* mov %rsp,%rbp */
static bool makes_frame(const struct insn *insn)
{
	u8 op = insn->opcode.bytes[0], modrm = insn->modrm.value;

	if (X86_MODRM_MOD(modrm) != 3 || (insn->rex_prefix.value & 7))
		return false;
	return (op == 0x89 && X86_MODRM_REG(modrm) == X86_REG_SP &&
		X86_MODRM_RM(modrm) == X86_REG_BP) ||
	       (op == 0x8b && X86_MODRM_REG(modrm) == X86_REG_BP &&
		X86_MODRM_RM(modrm) == X86_REG_SP);
}

static bool is_loaded(const struct x86_path *path)
{
	return path->bp_kind == X86_BP_LOADED && path->bp_base == X86_BASE_BP && !path->bp;
}

/* Only what bp holds at the beginning is known of each block. */
static enum hybrid_flow_step find_end(struct hybrid_flow *flow, const struct insn *insn, u64 addr)
{
	struct search *search = flow->arg;
	struct x86_path *path = &search->path;
	bool pops_bp;

	if (addr == flow->start) {
		search->straight = !flow->nr_blocks;
		search->loaded = false;
		search->dropped = false;
		*path = (struct x86_path) { .sp_base = X86_BASE_NONE };
	}
	if (!step(search, flow, addr, insn->length, &pops_bp))
		return HYBRID_FLOW_END;
	if (pops_bp && is_loaded(path) && !search->loaded)
		return returns_soon(flow->mem, addr + insn->length) ? HYBRID_FLOW_FOUND :
								      HYBRID_FLOW_END;
	if (search->loaded && is_loaded(path))
		return find_jump(search, insn);
	search->loaded = is_loaded(path);
	if (search->loaded)
		return HYBRID_FLOW_ON;
	/* mov %rsp,%rbp: what a branch before it leads to need not have a frame like it. */
	search->begins = search->straight && makes_frame(insn);
	if (search->begins)
		return HYBRID_FLOW_FOUND;
	if (path->bp_kind != X86_BP_SAME)
		return HYBRID_FLOW_END;
	if (search->straight)
		search->run = addr + insn->length - flow->start;
	return HYBRID_FLOW_ON;
}

bool hybrid_has_frame_pointer(const struct x86_frame_mem *mem, u64 ip, u64 *run,
			      unsigned int *took)
{
	struct search search = {};
	struct hybrid_flow flow = {
		.mem = mem, .max_insns = MAX_INSNS, .visit = find_end, .arg = &search,
	};
	bool found = hybrid_flow_from(&flow, ip);

	*took = flow.insns;
	*run = search.run ?: 1;
	return found && !search.begins;
}
