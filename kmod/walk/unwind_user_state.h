/* SPDX-License-Identifier: GPL-2.0 */
/* The state of a walk, for kernels without kernel/unwind, and for the module. */
#ifndef _LINUX_UNWIND_USER_STATE_H
#define _LINUX_UNWIND_USER_STATE_H

#include <linux/types.h>
#include <asm/unwind_user_types.h>

struct unwind_user_state {
	unsigned long	ip;
	unsigned long	sp;
	unsigned long	fp;
	unsigned int	ws;
	bool		ask_code;	/* the next step may be by code */
	bool		topmost;
	bool		in_task;	/* not in NMI: may sleep */
	struct arch_unwind_user_state arch;
};

#endif /* _LINUX_UNWIND_USER_STATE_H */
