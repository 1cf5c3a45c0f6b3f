// SPDX-License-Identifier: GPL-2.0
/*
 * The exact states of the first series alone: what its patches have, in the place of the whole
 * analysis. "make bench-first" links oracle 2 with it.
 */
#define x86_frame_look		first_look
#define x86_frame_call_before	first_call_before
#define x86_frame_sigreturn	first_sigreturn
#define x86_frame_in_sigreturn	first_in_sigreturn

#include "x86_frame.c"

int __wrap_x86_frame_analyze(const struct x86_frame_mem *mem, unsigned long ip,
			     struct unwind_user_frame *rule, void *work);

/* The kinds of both are the same but for signals, which the oracle takes like unknown ones. */
int __wrap_x86_frame_analyze(const struct x86_frame_mem *mem, unsigned long ip,
			     struct unwind_user_frame *rule, void *work)
{
	enum x86_frame_kind kind = first_look(mem, ip, rule);

	return kind == X86_FRAME_SIGNAL ? X86_FRAME_UNKNOWN : kind;
}
