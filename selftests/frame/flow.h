/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _FLOW_H
#define _FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

/* An offset that is not known. */
#define FLOW_NONE	INT32_MIN

/**
 * struct flow_insn - one instruction of a function
 * @off:	offset from the start of the function
 * @len:	its bytes
 * @is_pad:	padding, if no control flow reaches it
 * @ends:	control flow does not go on behind it
 * @is_target:	a jump of the function goes here
 * @reached:	the state below is valid
 * @from_entry:	and follows from the function's first instruction
 * @unreachable: padding that control flow does not reach
 * @sp:		CFA - sp, or FLOW_NONE
 * @bp:		CFA - bp where bp is an address in the frame, or FLOW_NONE
 * @save:	CFA - address of the slot where bp was saved, or FLOW_NONE
 * @bp_same:	bp is what the caller had
 * @target:	offset of the jump's target, or FLOW_NONE
 */
struct flow_insn {
	u32	off;
	u8		len;
	bool		is_pad;
	bool		ends;
	bool		is_call;
	bool		is_indirect;
	bool		is_target;
	bool		reached;
	bool		from_entry;
	bool		unreachable;
	bool		bp_same;
	s32		sp;
	s32		bp;
	s32		save;
	s32		target;
};

/**
 * struct flow - a function
 * @code:	its bytes
 * @size:	their number
 * @is_64bit:	64-bit code
 * @insns:	its instructions
 * @nr:		their number
 * @index:	number of the instruction at an offset, -1 for none
 */
struct flow {
	const u8		*code;
	u32		size;
	bool			is_64bit;
	struct flow_insn	*insns;
	u32		nr;
	s32			*index;
};

int flow_decode(struct flow *flow, const u8 *code, u32 size,
		bool is_64bit);
void flow_seed(struct flow *flow, u32 nr, s32 sp, s32 bp,
	       s32 save, bool from_entry);
s32 flow_straight(const struct flow *flow, u32 nr);
void flow_run(struct flow *flow);
void flow_free(struct flow *flow);

#endif
