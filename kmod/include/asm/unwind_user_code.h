/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walking user stacks: the frames that frame pointers do not show.
 */
#ifndef _ASM_X86_UNWIND_USER_CODE_H
#define _ASM_X86_UNWIND_USER_CODE_H

#include <linux/unwind_user_types.h>

/*
 * How many steps by code a walk makes. Each may take an analysis, and a program can have as many
 * such frames as a chain is long.
 */
#define UNWIND_USER_CODE_MAX	8
/*
 * After so many failed reads a walk makes no more steps by code. A read that fails takes as long
 * as many reads that succeed.
 */
#define UNWIND_USER_FAILED_MAX	12
/*
 * Searches on a CPU use up a credit, counted like X86_FRAME_INSNS. Each walk adds
 * UNWIND_USER_CREDIT_WALK to it, up to UNWIND_USER_CREDIT_MAX. If any credit is left, a search may
 * take the rest of its walk's budget. Below 0 walks do not search; they still use the cache and
 * the exact states. Programs usually need less, because the cache has the places that were
 * sampled before.
 */
#define UNWIND_USER_CREDIT_WALK	160
#define UNWIND_USER_CREDIT_MAX	8192
/*
 * Time of one unit of the credit, in ns, for the kernel's throttle. In the costliest code that is
 * known a unit takes 115 instructions, which took 10 ns in user space.
 */
#define UNWIND_USER_SEARCH_NS	50

#ifdef CONFIG_X86_UNWIND_USER_CODE

#include <linux/jump_label.h>

DECLARE_STATIC_KEY_TRUE(unwind_user_code_enabled);

int unwind_user_code_prepare(void);
void unwind_user_code_release(void);
bool __unwind_user_code_next(struct unwind_user_state *state);
bool unwind_user_at_trampoline(struct unwind_user_state *state, unsigned long ip);

/* sysctl kernel.unwind_user_code */
static __always_inline bool unwind_user_code_is_on(void)
{
	return static_branch_likely(&unwind_user_code_enabled);
}

/**
 * unwind_user_code_next - step to the caller if frame pointers would skip it
 * @state: the frame. Without a step only ask_code and the counts in arch change. After a step of
 *	his own, the caller of this function clears topmost, and sets ask_code to
 *	unwind_user_code_is_trampoline().
 *
 * Steps from an interrupted instruction whose function has no frame yet, or no frame any more,
 * from callers without a frame, and from a signal trampoline to what the signal interrupted. It
 * leaves all other steps to its caller.
 *
 * Context: any, NMI too, with the mm of current loaded. Never faults.
 *
 * Return: true if the step was made. Then ip, sp and fp are those of the caller. If a signal
 *	interrupted it, topmost is true, and ip may be any instruction.
 */
static __always_inline bool unwind_user_code_next(struct unwind_user_state *state)
{
	return (state->topmost || state->ask_code) && unwind_user_code_is_on() &&
	       __unwind_user_code_next(state);
}

/**
 * unwind_user_code_is_trampoline - may a signal handler return there?
 * @code: the first four bytes at a return address
 * @ws: size of a word of the task, in bytes
 *
 * Called for almost every frame; rarely true.
 *
 * Return: false if it is no signal trampoline.
 */
static __always_inline bool unwind_user_code_is_trampoline(u32 code, unsigned int ws)
{
	if (ws == sizeof(u64))
		return code == 0x0fc0c748 ||	/* mov $15,%rax */
		       code == 0x00000fb8;	/* mov $15,%eax */
	return code == 0x0077b858 ||		/* pop %eax; mov $119,%eax */
	       code == 0x0000adb8;		/* mov $173,%eax */
}

#else /* !CONFIG_X86_UNWIND_USER_CODE */

static inline int unwind_user_code_prepare(void)
{
	return 0;
}

static inline void unwind_user_code_release(void)
{
}

static inline bool unwind_user_code_next(struct unwind_user_state *state)
{
	return false;
}

static inline bool unwind_user_at_trampoline(struct unwind_user_state *state, unsigned long ip)
{
	return false;
}

static inline bool unwind_user_code_is_on(void)
{
	return false;
}

static inline bool unwind_user_code_is_trampoline(u32 code, unsigned int ws)
{
	return false;
}

#endif /* !CONFIG_X86_UNWIND_USER_CODE */

#endif /* _ASM_X86_UNWIND_USER_CODE_H */
