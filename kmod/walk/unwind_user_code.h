/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _X86_UNWIND_USER_CODE_H
#define _X86_UNWIND_USER_CODE_H

#include <linux/unwind_user_types.h>

#include <linux/uaccess.h>
#include <asm/unwind_user_code.h>

#include "x86_frame.h"

/*
 * Reads code and stack; frames by frame pointers are read elsewhere.
 * Context: any, NMI too.  Never faults.  False if it can't be read, or if too many reads of this
 * walk have failed.
 */
static inline bool unwind_user_read(struct unwind_user_state *state, void *dst,
				    unsigned long addr, unsigned int len)
{
	if (state->arch.failed >= UNWIND_USER_FAILED_MAX)
		return false;
	/* Masked and not only compared: no load of another address runs speculatively. */
	if (!copy_from_user_nofault(dst, mask_user_address((const void __user *)addr), len))
		return true;
	state->arch.failed++;
	return false;
}

bool unwind_user_code_interrupted(struct unwind_user_state *state,
				  enum x86_frame_sigreturn kind);
bool unwind_user_code_leave_signal(struct unwind_user_state *state);
bool unwind_user_code_exact(struct unwind_user_state *state);
bool unwind_user_code_is_return(struct unwind_user_state *state, unsigned long ra);
bool unwind_user_read_word(struct unwind_user_state *state, unsigned long addr,
			   unsigned int ws, unsigned long *word);

#endif /* _X86_UNWIND_USER_CODE_H */
