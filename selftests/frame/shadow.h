/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHADOW_H
#define _SHADOW_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/user.h>

#include "../../kmod/frame/x86_frame.h"

#define SHADOW_MAX	65536
#define SHADOW_INSNS	16384

/* Of a 32-bit program under a 64-bit kernel: arch/x86/include/asm/segment.h. */
#define SHADOW_USER32_CS	0x23

/**
 * struct shadow_call - a call that the program is in
 * @ra:		its return address
 * @slot:	where that stands on the stack
 * @entry:	the instruction that the call led to, behind a linkage table
 */
struct shadow_call {
	unsigned long	ra;
	unsigned long	slot;
	unsigned long	entry;
};

/**
 * struct shadow_insn - what is known of the instruction at an address
 * @ip:		the address
 * @call_length: of a call, its length, else 0
 * @is_linkage:	a jump through memory at a fixed place, as in a procedure linkage table
 */
struct shadow_insn {
	unsigned long	ip;
	int		call_length;
	bool		is_linkage;
};

/**
 * struct shadow - a program that is single-stepped, and the calls that it is in
 * @pid:	the process
 * @mem:	its code
 * @word:	bytes of a stack slot
 * @calls:	the outermost first
 * @depth:	number of @calls
 * @insns:	instructions that ran, by address
 */
struct shadow {
	pid_t			pid;
	struct x86_frame_mem	mem;
	unsigned int		word;
	struct shadow_call	calls[SHADOW_MAX];
	unsigned int		depth;
	struct shadow_insn	insns[SHADOW_INSNS];
};

/**
 * shadow_start - run a program up to its first instruction, its output thrown away
 * @s:		out
 * @argv:	the program and its arguments
 * @regs:	out: its registers
 *
 * Returns: false where it can't be run
 */
bool shadow_start(struct shadow *s, char **argv, struct user_regs_struct *regs);

/**
 * shadow_to_entry - run the dynamic linker, up to the program's own first instruction
 * @s:		from shadow_start(): in no call, before and behind
 * @regs:	out: its registers there
 *
 * Returns: false where the program has ended
 */
bool shadow_to_entry(struct shadow *s, struct user_regs_struct *regs);

/**
 * shadow_read - memory of the program
 * @ctx:	the struct shadow
 * @addr:	where
 * @dst:	where to
 * @len:	bytes
 *
 * Returns: 0, or anything else where a byte can't be read
 */
int shadow_read(void *ctx, unsigned long addr, void *dst, unsigned int len);

/* The word at an address, 0 where it can't be read. */
unsigned long shadow_word(struct shadow *s, unsigned long addr);

/**
 * shadow_step - run one instruction
 * @s:		the program
 * @regs:	its registers; those behind the instruction
 * @sig:	a signal to be delivered before it, 0 for none; the one that is pending
 *
 * Returns: false where the program has ended
 */
bool shadow_step(struct shadow *s, struct user_regs_struct *regs, int *sig);

#endif
