/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walking user stacks: the frames that frame pointers do not show.
 */
#ifndef _ASM_X86_UNWIND_USER_CODE_H
#define _ASM_X86_UNWIND_USER_CODE_H

#include <linux/unwind_user_types.h>

/*
 * Frames looked for in code in one walk. The first sample in a place costs an
 * analysis for each, and the user can make up as many as a chain is long.
 */
#define UNWIND_USER_CODE_MAX	8
/*
 * Reads that may fail in one walk: each takes as long as many that do not. Then
 * code is not looked at any more.
 */
#define UNWIND_USER_FAILED_MAX	12
/*
 * What searches through code may take on a CPU, counted as in X86_FRAME_INSNS: each
 * walk brings so much, of which so much is kept. A search that finds any of it left
 * may take the rest of its walk's budget; those behind it are not made until that is
 * made up for, and walks have what the cache and a look tell. Programs need less: the
 * cache has what was sampled before.
 */
#define UNWIND_USER_CREDIT_WALK	80
#define UNWIND_USER_CREDIT_MAX	4096
/*
 * The time of one of these, in ns: 25 to 30 were measured on a processor of 2021, and what is
 * slower than this takes a sample's time from others.
 */
#define UNWIND_USER_SEARCH_NS	100

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
 * unwind_user_code_next - step to the caller where frame pointers would not
 * @state: the frame; without a step only @state->ask_code and what counts for the
 *	walk change: nr_code, spent and failed.
 *	A caller who makes a step of his own clears @state->topmost, and sets
 *	ask_code to unwind_user_code_is_trampoline().
 *
 * Makes the step out of an interrupted instruction whose frame does not stand,
 * on through callers that do without one, and the step out of a signal
 * handler's trampoline to what the signal interrupted. All others are left to
 * the caller.
 *
 * Context: any, NMI too, with the mm of current loaded. Never faults.
 *
 * Return: true if the step was made: ip, sp and fp are those of the caller, or
 *	of what a signal interrupted: then @state->topmost is true, and ip may be
 *	any instruction.
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
 * Nearly every frame is asked, and nearly none is.
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
