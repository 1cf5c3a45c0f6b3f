/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _X86_UNWIND_USER_CODE_H
#define _X86_UNWIND_USER_CODE_H

#include <linux/unwind_user_types.h>

#include "x86-frame.h"

bool unwind_user_code_interrupted(struct unwind_user_state *state,
				  enum x86_frame_sigreturn kind);

#endif /* _X86_UNWIND_USER_CODE_H */
