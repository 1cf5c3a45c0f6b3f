/* SPDX-License-Identifier: GPL-2.0 */
/* The state of a walk, for kernels without kernel/unwind, and for the module. */
#ifndef _LINUX_UNWIND_USER_STATE_H
#define _LINUX_UNWIND_USER_STATE_H

#include <linux/types.h>

struct unwind_user_state {
	unsigned long	ip;
	unsigned long	sp;
	unsigned long	fp;
	unsigned int	ws;
	u16		spent;		/* part of X86_FRAME_INSNS that searches used */
	u8		nr_code;	/* steps by code that were tried */
	u8		failed;		/* reads that failed */
	bool		ask_code;	/* the next step may be by code */
	bool		topmost;
	bool		in_task;	/* not in NMI: may sleep */
};

#endif /* _LINUX_UNWIND_USER_STATE_H */
