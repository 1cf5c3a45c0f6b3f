/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RULE_H
#define __PERF_HYBRID_RULE_H

#include <stdbool.h>
#include <linux/types.h>

/*
 * DWARF register numbers: psABI x86-64 figure 3.36, psABI i386 table 2.14.
 * The return address is a column of its own, as .eh_frame numbers it.
 */
enum {
	HYBRID_X86_64_BX	= 3,
	HYBRID_X86_64_BP	= 6,
	HYBRID_X86_64_SP	= 7,
	HYBRID_X86_64_IP	= 16,
	HYBRID_X86_64_NR	= 17,

	HYBRID_I386_SP		= 4,
	HYBRID_I386_BP		= 5,
	HYBRID_I386_IP		= 8,
	HYBRID_I386_NR		= 9,

	HYBRID_MAX_REGS		= HYBRID_X86_64_NR,
};

struct hybrid_arch;

/**
 * struct hybrid_abi - what user ABIs differ in
 * @word: bytes of a stack slot
 * @nr: DWARF registers, the return address included
 * @sp: DWARF number of the stack pointer
 * @bp: DWARF number of the frame pointer
 * @ip: DWARF number of the return address column
 * @arch: what is asked of its code
 */
struct hybrid_abi {
	u8	word;
	u8	nr;
	u8	sp;
	u8	bp;
	u8	ip;

	const struct hybrid_arch *arch;
};

/**
 * typedef hybrid_abi_fn - find the ABI of an ELF file
 * @machine: e_machine of its header
 *
 * Return: the ABI, or NULL if the unwinder does not know the architecture.
 */
typedef const struct hybrid_abi *(*hybrid_abi_fn)(unsigned int machine);

enum hybrid_rule_kind {
	HYBRID_RULE_NONE,	/* no CFI covers the address */
	HYBRID_RULE_CFA,	/* CFA = base + cfa_off */
	HYBRID_RULE_DEREF,	/* CFA = *(base + cfa_off) + deref_off: realigned frames */
	/*
	 * CFA = *(bp + cfa_off), bp saved at bp, the return address behind it: frames that keep
	 * their caller's stack pointer, as those of HotSpot's interpreter. The function is at
	 * bp - deref_off, where in it at bp + bp_off; of the innermost frame that is in r13.
	 */
	HYBRID_RULE_SAVED_SP,
	HYBRID_RULE_FULL,	/* needs all registers: hybrid_full_row */
	HYBRID_RULE_OUTERMOST,	/* the return address is undefined */
	HYBRID_RULE_SIGRETURN,	/* registers in the struct ucontext at sp */
	/*
	 * The caller is on another stack, which no sample has. HYBRID_BP_SAME: it waits,
	 * and bp is of a frame on its stack. deref_off: enum hybrid_switch.
	 */
	HYBRID_RULE_SWITCHED,
};

/* What is on this stack of the one that waits. */
enum hybrid_switch {
	HYBRID_SWITCH_ONLY,	/* nothing */
	HYBRID_SWITCH_DEPTH,	/* at sp + cfa_off, how many bytes of it are in use */
	HYBRID_SWITCH_GROWS,	/* below sp, who called the function that needs a larger one */
};

enum hybrid_rule_base {
	HYBRID_BASE_SP,
	HYBRID_BASE_BP,
	/* With the DWARF number of a register added: of the innermost frame only. */
	HYBRID_BASE_REG,
};

enum hybrid_rule_bp {
	HYBRID_BP_SAME,		/* this frame has not touched it */
	HYBRID_BP_AT_CFA,	/* saved at CFA + bp_off */
	HYBRID_BP_AT_BP,	/* saved at bp + bp_off: realigned frames */
	HYBRID_BP_UNDEFINED,
};

/**
 * struct hybrid_rule - how to find the caller from one range of addresses
 *
 * Only ip, sp and bp are followed from frame to frame, as nearly every row
 * needs no more; the rows that do are HYBRID_RULE_FULL.
 *
 * @kind: enum hybrid_rule_kind
 * @base: enum hybrid_rule_base
 * @signal: a signal frame (augmentation 'S'): its caller was interrupted,
 *	so that the return address is not behind a call
 * @bp: enum hybrid_rule_bp
 * @deref_off: bytes, see @kind; of HYBRID_RULE_SAVED_SP from the function to bp
 * @cfa_off: bytes, see @kind
 * @ra_off: bytes from the CFA to the return address
 * @bp_off: bytes, see @bp
 */
struct hybrid_rule {
	u8	kind;
	u8	base : 7;
	u8	signal : 1;
	u8	bp;
	u8	deref_off;
	s32	cfa_off;
	s32	ra_off;
	s32	bp_off;
};

/**
 * hybrid_rule_frame_pointer - the rule of a frame that bp points to
 * @word: bytes of a stack slot
 *
 * The word at bp is the caller's bp, the next one the return address (psABI x86-64 3.2.2).
 */
static inline struct hybrid_rule hybrid_rule_frame_pointer(u8 word)
{
	return (struct hybrid_rule) {
		.kind	 = HYBRID_RULE_CFA,
		.base	 = HYBRID_BASE_BP,
		.bp	 = HYBRID_BP_AT_CFA,
		.cfa_off = 2 * word,
		.ra_off	 = -word,
		.bp_off	 = -2 * word,
	};
}

#define HYBRID_CODE_RULES	128

/* Of a byte: it fills up the code, and never runs. */
#define HYBRID_CODE_UNUSED	0xff

/**
 * struct hybrid_code_rules - the rules of a piece of code
 * @start: address of its first byte
 * @size: bytes
 * @at: for each byte the number of the rule of its instruction, from 1 on; 0: none is known;
 *	HYBRID_CODE_UNUSED; owned
 * @rules: that differ
 * @nr: number of @rules
 */
struct hybrid_code_rules {
	u64			 start;
	u32			 size;
	u8			*at;
	struct hybrid_rule	 rules[HYBRID_CODE_RULES];
	unsigned int		 nr;
};

#endif /* __PERF_HYBRID_RULE_H */
