/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _X86_UNWIND_USER_CODE_H
#define _X86_UNWIND_USER_CODE_H

#include <linux/unwind_user_types.h>

#include "x86-frame.h"

bool unwind_user_code_interrupted(struct unwind_user_state *state,
				  enum x86_frame_sigreturn kind);
bool unwind_user_code_leave_signal(struct unwind_user_state *state);
bool unwind_user_code_exact(struct unwind_user_state *state);
bool unwind_user_code_is_return(struct unwind_user_state *state, unsigned long ra);
bool unwind_user_read_word(unsigned long addr, unsigned int ws, unsigned long *word);

#endif /* _X86_UNWIND_USER_CODE_H */
