/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __HYBRID_TEST_INSN_TRIAL_H
#define __HYBRID_TEST_INSN_TRIAL_H

/*
 * Instructions of random operands, and what the processor does with them.
 */
#include <stdbool.h>
#include <linux/types.h>
#include <asm/insn.h>

/* Memory operands are in so many words. */
#define TRIAL_WORDS	128
#define TRIAL_REGS	16
#define TRIAL_ALL	((1U << TRIAL_REGS) - 1)

#define TRIAL_NR_FLAGS	5
#define TRIAL_FLAGS	((1U << TRIAL_NR_FLAGS) - 1)

extern u64 *const trial_words;

/* Of the processor, in the order of enum hybrid_run_flag: CF, PF, ZF, SF, OF. */
extern const u32 trial_flag_bits[TRIAL_NR_FLAGS];

struct native {
	u64	regs[TRIAL_REGS];
	u64	flags;
};

/* What is known afterwards, if all was known before. */
enum trial_knows {
	MAYBE,		/* the instruction may end the way, too */
	SOME,		/* it is not said */
	MOST,		/* registers and memory, if the operand has 4 bytes or more */
	ALL_BUT_FLAGS,	/* registers and memory */
	FLAGS,		/* all */
};

/**
 * struct trial_op - an instruction
 * @op: the opcode
 * @two: it follows 0f
 * @modrm: a ModRM byte follows, with one of the values of ModRM.reg that have a bit here
 * @imm: bytes of a constant. -4: as many as the operand has, 4 at most; -8: 8 at most
 * @knows: what is known afterwards
 * @is_byte: the operand has one byte
 * @prefix: before it
 * @map: 0f 38 or 0f 3a is before it
 * @vex: number of VEX's map, if it has such a prefix
 */
struct trial_op {
	u8		op;
	bool		two;
	u8		modrm;
	s8		imm;
	enum trial_knows	knows;
	bool		is_byte;
	u8		prefix;
	u8		map;
	u8		vex;
};

/**
 * struct trial - one that is made, and the state that it begins in
 * @bytes: the instruction
 * @len: of @bytes
 * @operand: offset of ModRM
 * @rest: offset behind the operand
 * @insn: as it is decoded
 * @begin: registers and flags
 * @known: registers that are known, a bit for each
 * @flags_known: of enum hybrid_run_flag
 * @at: address of the operand in memory; 0: it has none
 */
struct trial {
	u8		bytes[32];
	unsigned int	len;
	unsigned int	operand;
	unsigned int	rest;
	struct insn	insn;
	struct native	begin;
	u32		known;
	u8		flags_known;
	u64		at;
};

/* Returns false if nothing can be run, and fails the test then. */
bool trial_prepare(void);

/**
 * trial_make - make an instruction, registers, flags and memory
 * @t: out
 * @op: what it is
 * @is_general: it may have the prefix of operands of 2 bytes
 *
 * Return: false if it is none that can be run: its operand is not in trial_words.
 */
bool trial_make(struct trial *t, const struct trial_op *op, bool is_general);

/**
 * trial_run - run it on the processor
 * @t: the instruction
 * @native: out: registers and flags afterwards
 *
 * Return: false if the processor does not have it, or the operand is not aligned as it must be.
 */
bool trial_run(const struct trial *t, struct native *native);

#endif /* __HYBRID_TEST_INSN_TRIAL_H */
