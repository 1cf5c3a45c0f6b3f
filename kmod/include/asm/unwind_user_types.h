/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_X86_UNWIND_USER_TYPES_H
#define _ASM_X86_UNWIND_USER_TYPES_H

#include <linux/types.h>

/**
 * struct arch_unwind_user_state - what a walk has used of its bounds
 * @spent:	part of X86_FRAME_INSNS that searches used
 * @nr_code:	steps by code that were tried
 * @failed:	reads that failed
 */
struct arch_unwind_user_state {
	u16	spent;
	u8	nr_code;
	u8	failed;
};

#endif /* _ASM_X86_UNWIND_USER_TYPES_H */
