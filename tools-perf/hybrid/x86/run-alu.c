// SPDX-License-Identifier: GPL-2.0
/*
 * Arithmetic and conditions: Intel SDM, volume 1, 3.4.3 and appendix B.1.
 */
#include <linux/kernel.h>
#include "run-alu.h"

static u64 sign_of(unsigned int size)
{
	return 1ULL << (size * 8 - 1);
}

static void put_flag(struct hybrid_run_state *state, enum hybrid_run_flag flag, bool set)
{
	state->flags_known |= flag;
	state->flags = (state->flags & ~flag) | (set ? flag : 0);
}

/* Those that the result alone says. */
static void put_result_flags(struct hybrid_run_state *state, u64 result, unsigned int size)
{
	put_flag(state, HYBRID_RUN_ZF, !result);
	put_flag(state, HYBRID_RUN_SF, result & sign_of(size));
	put_flag(state, HYBRID_RUN_PF, !(__builtin_popcount(result & 0xff) & 1));
}

static u64 add(struct hybrid_run_state *state, u64 a, u64 b, unsigned int size)
{
	u64 result = (a + b) & hybrid_run_mask(size);

	put_flag(state, HYBRID_RUN_CF, result < a);
	put_flag(state, HYBRID_RUN_OF, (a ^ result) & (b ^ result) & sign_of(size));
	return result;
}

static u64 subtract(struct hybrid_run_state *state, u64 a, u64 b, unsigned int size)
{
	u64 result = (a - b) & hybrid_run_mask(size);

	put_flag(state, HYBRID_RUN_CF, a < b);
	put_flag(state, HYBRID_RUN_OF, (a ^ b) & (a ^ result) & sign_of(size));
	return result;
}

static u64 logic(struct hybrid_run_state *state, u64 result)
{
	put_flag(state, HYBRID_RUN_CF, false);
	put_flag(state, HYBRID_RUN_OF, false);
	return result;
}

struct hybrid_run_value hybrid_run_alu(struct hybrid_run_state *state, enum hybrid_run_op op,
				       struct hybrid_run_value a, struct hybrid_run_value b,
				       unsigned int size)
{
	struct hybrid_run_value result = { .known = a.known && b.known };

	a.value &= hybrid_run_mask(size);
	b.value &= hybrid_run_mask(size);
	state->flags_known = 0;
	if (!result.known)
		return result;
	switch (op) {
	case HYBRID_RUN_ADD:
		result.value = add(state, a.value, b.value, size);
		break;
	case HYBRID_RUN_SUB:
	case HYBRID_RUN_CMP:
		result.value = subtract(state, a.value, b.value, size);
		break;
	case HYBRID_RUN_OR:
		result.value = logic(state, a.value | b.value);
		break;
	case HYBRID_RUN_AND:
		result.value = logic(state, a.value & b.value);
		break;
	case HYBRID_RUN_XOR:
		result.value = logic(state, a.value ^ b.value);
		break;
	case HYBRID_RUN_ADC:
	case HYBRID_RUN_SBB:
	default:
		result.known = false;
		return result;
	}
	put_result_flags(state, result.value, size);
	return result;
}

struct hybrid_run_value hybrid_run_inc(struct hybrid_run_state *state,
				       struct hybrid_run_value a, int by, unsigned int size)
{
	const struct hybrid_run_value one = { .value = 1, .known = true };
	u8 known = state->flags_known & HYBRID_RUN_CF, carry = state->flags & HYBRID_RUN_CF;
	struct hybrid_run_value result;

	result = hybrid_run_alu(state, by > 0 ? HYBRID_RUN_ADD : HYBRID_RUN_SUB, a, one, size);
	state->flags_known = (state->flags_known & ~HYBRID_RUN_CF) | known;
	state->flags = (state->flags & ~HYBRID_RUN_CF) | carry;
	return result;
}

struct hybrid_run_value hybrid_run_shift(struct hybrid_run_state *state, unsigned int op,
					 struct hybrid_run_value a,
					 struct hybrid_run_value count, unsigned int size)
{
	struct hybrid_run_value result = { .known = a.known && count.known };
	unsigned int by = count.value & (size == 8 ? 63 : 31);
	u64 value = a.value & hybrid_run_mask(size);

	/* A shift by 0 leaves the flags, others may set them all. */
	state->flags_known = 0;
	if (by >= size * 8)
		result.known = false;
	if (!result.known)
		return result;
	switch (op) {
	case HYBRID_RUN_SHL:
		result.value = value << by & hybrid_run_mask(size);
		break;
	case HYBRID_RUN_SHR:
		result.value = value >> by;
		break;
	case HYBRID_RUN_SAR:
		if (value & sign_of(size))
			value |= ~hybrid_run_mask(size);
		result.value = (u64)((s64)value >> by) & hybrid_run_mask(size);
		break;
	default:
		result.known = false;
		break;
	}
	return result;
}

static bool is_set(const struct hybrid_run_state *state, enum hybrid_run_flag flag)
{
	return state->flags & flag;
}

int hybrid_run_condition(const struct hybrid_run_state *state, u8 opcode)
{
	static const u8 needs[] = {
		HYBRID_RUN_OF, HYBRID_RUN_CF, HYBRID_RUN_ZF, HYBRID_RUN_CF | HYBRID_RUN_ZF,
		HYBRID_RUN_SF, HYBRID_RUN_PF, HYBRID_RUN_SF | HYBRID_RUN_OF,
		HYBRID_RUN_SF | HYBRID_RUN_OF | HYBRID_RUN_ZF,
	};
	unsigned int which = opcode >> 1 & 7;
	bool holds;

	if (needs[which] & ~state->flags_known)
		return -1;
	if (which < 6) {
		holds = state->flags & needs[which];
	} else {
		holds = is_set(state, HYBRID_RUN_SF) != is_set(state, HYBRID_RUN_OF);
		if (which == 7)
			holds = holds || is_set(state, HYBRID_RUN_ZF);
	}
	return holds != (opcode & 1);
}
