// SPDX-License-Identifier: GPL-2.0
/* Walking user stacks: from a signal handler to what the signal interrupted. */
#include <linux/kernel.h>
#include <linux/uaccess.h>
#include <asm/ptrace.h>
#include <asm/segment.h>
#include <asm/sigframe.h>

#include "unwind_user_code.h"

static bool interrupted_64(struct unwind_user_state *state)
{
	struct rt_sigframe __user *frame;
	struct sigcontext __user *sc;
	u64 ip, sp, fp;
	u16 cs;

	/* The handler's return took the address of the trampoline. */
	frame = (void __user *)(state->sp - sizeof(frame->pretcode));
	sc = &frame->uc.uc_mcontext;
	if (!unwind_user_read(state, &ip, (unsigned long)&sc->ip, sizeof(ip)) ||
	    !unwind_user_read(state, &sp, (unsigned long)&sc->sp, sizeof(sp)) ||
	    !unwind_user_read(state, &fp, (unsigned long)&sc->bp, sizeof(fp)) ||
	    !unwind_user_read(state, &cs, (unsigned long)&sc->cs, sizeof(cs)))
		return false;
	/* The rest of the walk is in 64-bit mode. */
	if (cs != __USER_CS)
		return false;
	state->ip = ip;
	state->sp = sp;
	state->fp = fp;
	return true;
}

#ifdef CONFIG_IA32_EMULATION
static bool interrupted_32(struct unwind_user_state *state,
			   const struct sigcontext_32 __user *sc)
{
	u32 ip, sp, fp, cs;

	if (!unwind_user_read(state, &ip, (unsigned long)&sc->ip, sizeof(ip)) ||
	    !unwind_user_read(state, &sp, (unsigned long)&sc->sp, sizeof(sp)) ||
	    !unwind_user_read(state, &fp, (unsigned long)&sc->bp, sizeof(fp)) ||
	    !unwind_user_read(state, &cs, (unsigned long)&sc->cs, sizeof(cs)))
		return false;
	if ((u16)cs != __USER32_CS)
		return false;
	state->ip = ip;
	state->sp = sp;
	state->fp = fp;
	return true;
}
#endif

/**
 * unwind_user_code_interrupted - leave a signal frame
 * @state:	at the first instruction of the trampoline that the handler
 *		returns to; changed only if the registers can be read
 * @kind:	which trampoline
 *
 * Context: any, NMI too. Never faults.
 *
 * Return: true if @state has the registers of what the signal interrupted.
 */
bool unwind_user_code_interrupted(struct unwind_user_state *state,
				  enum x86_frame_sigreturn kind)
{
#ifdef CONFIG_IA32_EMULATION
	struct rt_sigframe_ia32 __user *rt_frame;
	struct sigframe_ia32 __user *frame;
#endif

	switch (kind) {
	case X86_SIGRETURN_64:
		return interrupted_64(state);
#ifdef CONFIG_IA32_EMULATION
	case X86_SIGRETURN_32:
		frame = (void __user *)(state->sp - sizeof(frame->pretcode));
		return interrupted_32(state, &frame->sc);
	case X86_SIGRETURN_RT_32:
		rt_frame = (void __user *)(state->sp - sizeof(rt_frame->pretcode));
		return interrupted_32(state, &rt_frame->uc.uc_mcontext);
#endif
	default:
		return false;
	}
}
