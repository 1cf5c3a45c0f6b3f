// SPDX-License-Identifier: GPL-2.0
/*
 * What one instruction does to the rule for its caller.
 */
#include <string.h>
#include <linux/kernel.h>
#include <asm/insn.h>
#include "flow.h"
#include "insn-effect.h"
#include "insn-operand.h"
#include "x86_frame.h"
#include "x86_frame_scan.h"

/* Instructions of a function that are looked at for one that sets sp. */
#define MAX_SETS_SP	512

/* Instructions of a row that are looked at for those that move sp. */
#define MAX_SP_MOVES	16384

/* And for one that saves the frame pointer. */
#define MAX_SAVES_BP	8

/* Instructions from a call on by which a function returns. */
#define MAX_RETURNS	32

static enum hybrid_effect group5(const struct insn *insn)
{
	switch (X86_MODRM_REG(insn->modrm.value)) {
	case 2: case 3:
		return HYBRID_EFFECT_CALL;
	case 4: case 5:
		return HYBRID_EFFECT_SAME;
	default:
		return HYBRID_EFFECT_NEXT;
	}
}

static enum hybrid_effect two_byte(u8 op)
{
	switch (op) {
	case 0x05: case 0x34: case 0x80 ... 0x8f:
		return HYBRID_EFFECT_SAME;
	default:
		return HYBRID_EFFECT_NEXT;
	}
}

static enum hybrid_effect one_byte(const struct insn *insn, u8 op)
{
	switch (op) {
	case 0x0f:
		return two_byte(insn->opcode.bytes[1]);
	case 0x70 ... 0x7f: case 0xe0 ... 0xe3: case 0xe9: case 0xeb: case 0xcc: case 0xcd:
		return HYBRID_EFFECT_SAME;
	case 0xe8: case 0x9a:
		return HYBRID_EFFECT_CALL;
	case 0xc2: case 0xc3: case 0xca: case 0xcb: case 0xcf:
		return HYBRID_EFFECT_RETURN;
	case 0xff:
		return group5(insn);
	default:
		return HYBRID_EFFECT_NEXT;
	}
}

static bool is_jmp(const struct insn *insn)
{
	u8 op = insn->opcode.bytes[0];

	return !insn->vex_prefix.nbytes && (op == 0xe9 || op == 0xeb);
}

/* The opcodes that follow a VEX prefix are others. */
static bool is_jcc(const struct insn *insn)
{
	const u8 *op = insn->opcode.bytes;

	if (insn->vex_prefix.nbytes)
		return false;
	return insn->opcode.nbytes > 1 ? op[0] == 0x0f && (op[1] & 0xf0) == 0x80 :
					 (op[0] & 0xf0) == 0x70;
}

/* Intel SDM, volume 2: jmp and jcc of 8 and 32 bits. */
u64 hybrid_insn_jump(const struct x86_frame_mem *mem, u64 ip, u64 *next)
{
	struct insn insn;

	*next = 0;
	if (!hybrid_decode_insn(mem, ip, &insn))
		return 0;
	*next = ip + insn.length;
	return is_jmp(&insn) || is_jcc(&insn) ? *next + insn.immediate.value : 0;
}

enum hybrid_effect hybrid_insn_effect(const struct x86_frame_mem *mem, u64 ip, u64 *next)
{
	struct insn insn;

	*next = ip;
	if (!hybrid_decode_insn(mem, ip, &insn))
		return HYBRID_EFFECT_SAME;
	*next = ip + insn.length;
	return insn.vex_prefix.nbytes ? HYBRID_EFFECT_NEXT : one_byte(&insn, insn.opcode.bytes[0]);
}

bool hybrid_returns(const struct x86_frame_mem *mem, u64 ip)
{
	struct insn insn;
	unsigned int i;

	for (i = 0; i < MAX_RETURNS && hybrid_decode_insn(mem, ip, &insn); i++) {
		ip += insn.length;
		if (is_jmp(&insn)) {
			ip += insn.immediate.value;
			continue;
		}
		if (insn.vex_prefix.nbytes || is_jcc(&insn))
			continue;
		switch (one_byte(&insn, insn.opcode.bytes[0])) {
		case HYBRID_EFFECT_NEXT:
			break;
		case HYBRID_EFFECT_RETURN:
			return true;
		default:
			return false;
		}
	}
	return false;
}

static bool is_reg_sp(const struct insn *insn)
{
	return hybrid_insn_reg(insn) == X86_REG_SP;
}

static bool is_rm_sp(const struct insn *insn)
{
	return hybrid_insn_is_register(insn) && hybrid_insn_rm(insn) == X86_REG_SP;
}

/* mov, lea, xchg, and, pop %rsp, leave. What adds a constant is in tables of distances. */
static bool is_set(const struct insn *insn)
{
	if (insn->vex_prefix.nbytes)
		return false;
	switch (insn->opcode.bytes[0]) {
	case 0x89:
		return is_rm_sp(insn);
	case 0x8b: case 0x8d:
		return is_reg_sp(insn);
	case 0x87:
		return is_reg_sp(insn) || is_rm_sp(insn);
	case 0x81: case 0x83:
		return is_rm_sp(insn) && X86_MODRM_REG(insn->modrm.value) == 4;
	case 0x5c:
		return hybrid_insn_opcode_reg(insn) == X86_REG_SP;
	case 0xc9:
		return true;
	default:
		return false;
	}
}

/*
 * Is sp set to what neither the frame pointer nor sp itself leads to? By mov or lea from another
 * register or memory, xchg, pop %rsp.
 */
static bool is_left(const struct insn *insn)
{
	unsigned int from = hybrid_insn_rm(insn);

	if (!is_set(insn))
		return false;
	switch (insn->opcode.bytes[0]) {
	case 0x89:
		return hybrid_insn_reg(insn) != X86_REG_BP;
	case 0x8b: case 0x8d:
		return from != X86_REG_BP && from != X86_REG_SP;
	case 0x87: case 0x5c:
		return true;
	default:
		return false;
	}
}

/* The first instruction of that kind, or that can't be read; @end: there is none. */
static u64 find_insn(const struct x86_frame_mem *mem, u64 start, u64 end,
		     bool (*is_kind)(const struct insn *insn))
{
	struct insn insn;
	unsigned int i;

	for (i = 0; i < MAX_SETS_SP && start < end; i++, start += insn.length) {
		if (!hybrid_decode_insn(mem, start, &insn) || is_kind(&insn))
			return start;
	}
	return min(start, end);
}

u64 hybrid_sets_sp(const struct x86_frame_mem *mem, u64 start, u64 end)
{
	return find_insn(mem, start, end, is_set);
}

bool hybrid_leaves_stack(const struct x86_frame_mem *mem, u64 start, u64 end)
{
	return find_insn(mem, start, end, is_left) < end;
}

/* More targets of calls and branches are not kept. */
#define MAX_PLACES	128

/**
 * struct sp_place - where sp is at an address of a row's code
 * @at: the address
 * @sp: words that sp has moved by since the path began
 * @is_called: the path began with a call, so that sp pointed to the return address; false: sp was
 *	where the row says
 */
struct sp_place {
	u64	at;
	s16	sp;
	bool	is_called;
};

/**
 * struct sp_places - addresses to which the code of a row calls or branches
 * @place: of each
 * @nr: number of @place
 */
struct sp_places {
	struct sp_place	place[MAX_PLACES];
	unsigned int	nr;
};

static const struct sp_place *find_place(const struct sp_places *places, u64 at)
{
	unsigned int i;

	for (i = 0; i < places->nr; i++) {
		if (places->place[i].at == at)
			return &places->place[i];
	}
	return NULL;
}

static void add_place(struct sp_places *places, const struct sp_place *place)
{
	if (places->nr < MAX_PLACES && !find_place(places, place->at))
		places->place[places->nr++] = *place;
}

/*
 * Adds the subroutines that the row's code calls in the row. A call of the next instruction is not
 * one of them: the code pops the return address there.
 */
static void add_subroutines(struct sp_places *places, const struct x86_frame_mem *mem, u64 start,
			    u64 end)
{
	struct sp_place place = { .is_called = true };
	struct insn insn;
	unsigned int i;
	u64 at = start;

	for (i = 0; i < MAX_SP_MOVES && at < end && hybrid_decode_insn(mem, at, &insn); i++) {
		at += insn.length;
		place.at = at + insn.immediate.value;
		if (!insn.vex_prefix.nbytes && insn.opcode.bytes[0] == 0xe8 && place.at != at &&
		    place.at >= start && place.at < end)
			add_place(places, &place);
	}
}

/**
 * struct sp_state - where sp is as the code of a row is followed
 * @path: of the straight code; its @sp as in struct sp_place
 * @is_called: as in struct sp_place
 */
struct sp_state {
	struct x86_path	path;
	bool		is_called;
};

/*
 * Follows sp through the instruction at @at, and sets @at to the next one. False if the instruction
 * can't be read.
 */
static bool follow_sp(const struct x86_frame_mem *mem, u64 *at, struct sp_state *state,
		      struct sp_places *places)
{
	static const struct sp_state begin = { .path.sp_base = X86_BASE_SP };
	u8 bytes[MAX_INSN_SIZE];
	struct x86_code code;
	enum x86_step step;
	struct insn insn;
	s32 target;

	if (!hybrid_decode_insn(mem, *at, &insn) ||
	    hybrid_flow_fetch(mem, *at, bytes, insn.length) < insn.length)
		return false;
	*at += insn.length;
	if (!x86_frame_decode(&insn, bytes, insn.length, true, &code))
		return false;
	if (hybrid_is_call(&code))
		return true;
	step = x86_frame_step(&code, &state->path, &target);
	if (step == X86_STEP_BRANCH && state->path.sp_base == X86_BASE_SP &&
	    (state->is_called || state->path.sp))
		add_place(places, &(struct sp_place) {
			.at		= *at + insn.immediate.value,
			.sp		= state->path.sp,
			.is_called	= state->is_called,
		});
	if (step != X86_STEP_NEXT && step != X86_STEP_BRANCH)
		*state = begin;
	return true;
}

static bool is_sp_moved(const struct sp_state *state, s64 pushed)
{
	s64 down = -(s64)state->path.sp * (s64)sizeof(u64);

	return state->path.sp_base != X86_BASE_SP ||
	       (down != pushed && (down || state->is_called));
}

bool hybrid_sp_is_moved(const struct x86_frame_mem *mem, u64 start, u64 vaddr, u64 end, s64 pushed,
			u64 *from, u64 *to)
{
	struct sp_state state = { .path.sp_base = X86_BASE_SP };
	struct sp_places places = {};
	const struct sp_place *place;
	bool is_moved = false;
	unsigned int i;
	u64 at = start;

	*from = start;
	*to = end;
	add_subroutines(&places, mem, start, end);
	for (i = 0; i < MAX_SP_MOVES && at < end; i++) {
		place = find_place(&places, at);
		if (place)
			state = (struct sp_state) {
				.path = { .sp_base = X86_BASE_SP, .sp = place->sp },
				.is_called = place->is_called,
			};
		if (is_sp_moved(&state, pushed) != is_moved) {
			if (vaddr < at) {
				*to = at;
				return is_moved;
			}
			*from = at;
			is_moved = !is_moved;
		}
		if (!follow_sp(mem, &at, &state, &places))
			return false;
	}
	return is_moved && at >= end;
}

/* mov %rbp,N(%rsp) */
static bool is_save(const struct insn *insn)
{
	return insn->opcode.bytes[0] == 0x89 && insn->rex_prefix.nbytes &&
	       X86_REX_W(insn->rex_prefix.value) && hybrid_insn_reg(insn) == X86_REG_BP &&
	       X86_MODRM_MOD(insn->modrm.value) % 3 && hybrid_insn_rm(insn) == X86_REG_SP &&
	       insn->sib.value == 0x24;
}

/* push %rbp; mov %rsp,%rbp */
static bool is_pushed(const struct x86_frame_mem *mem, u64 start, u64 end)
{
	static const u8 prologue[] = { 0x55, 0x48, 0x89, 0xe5 };
	u8 code[sizeof(prologue)];

	return end - start >= sizeof(code) && !mem->read(mem->ctx, start, code, sizeof(code)) &&
	       !memcmp(code, prologue, sizeof(code));
}

bool hybrid_saves_bp(const struct x86_frame_mem *mem, u64 start, u64 end, s32 off)
{
	struct insn insn;
	unsigned int i;

	/* From Go 1.21 on, before it makes room for the rest of the frame. */
	if (is_pushed(mem, start, end))
		return true;
	for (i = 0; i < MAX_SAVES_BP && start < end; i++, start += insn.length) {
		if (!hybrid_decode_insn(mem, start, &insn))
			return false;
		if (insn.vex_prefix.nbytes)
			continue;
		if (is_save(&insn))
			return insn.displacement.value == off;
		if (one_byte(&insn, insn.opcode.bytes[0]) != HYBRID_EFFECT_NEXT)
			return false;
	}
	return false;
}
