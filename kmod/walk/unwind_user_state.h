/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What kernels without kernel/unwind have of linux/unwind_user_types.h.  The
 * module has it from here, too: where a kernel has its own struct, that one lacks
 * members.
 */
#ifndef _LINUX_UNWIND_USER_STATE_H
#define _LINUX_UNWIND_USER_STATE_H

#include <linux/types.h>

struct unwind_user_state {
	unsigned long	ip;
	unsigned long	sp;
	unsigned long	fp;
	unsigned int	ws;
	u16		spent;
	u8		nr_code;
	u8		failed;
	bool		ask_code;
	bool		topmost;
	bool		in_task;
};

#endif /* _LINUX_UNWIND_USER_STATE_H */
