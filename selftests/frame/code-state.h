/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tests of the walk by code share: code, a stack, and a state of a walk. It includes the
 * source, so that a test can call each function alone: with the kernel's steps or, with -DMODULE,
 * the module's. Each test is built both ways.
 */
#ifndef _CODE_STATE_H
#define _CODE_STATE_H

#include <stddef.h>

#include "../../kmod/module/hook.h"
#ifdef MODULE
#include "../../kmod/module/hook-code.c"
unsigned long hook_counts[HOOK_NR];
#else
#include "../../kmod/walk/unwind_user_code.c"
static u64 time_left = U64_MAX;
u64 perf_sample_time_left(void)
{
	return time_left;
}

static unsigned long uretprobe_trampoline;
unsigned long uprobe_get_trampoline_vaddr(void)
{
	return uretprobe_trampoline;
}

void proc_do_static_key(void)
{
}
#endif
#include "report.h"
#include "user-memory.h"
#include "walk-state.h"

#define CODE		0x400000UL
#define STACK		0x7ff00000UL	/* below 2 GiB, for 32-bit code */
#define WORDS		8

/* Return address @i: a call is before it, and a return at it. */
#define RETURN(i)	(CODE + 0x800 + 16 * (i))
/* No return address: there is no call before it. */
#define PLAIN(i)	(RETURN(i) + 2)
/* Signal trampolines. */
#define TRAMPOLINE(i)	(CODE + 0x400 + 16 * (i))
static const char *const trampolines[] = {
	[X86_SIGRETURN_64]	= "\x48\xc7\xc0\x0f\0\0\0\x0f\x05",
	[X86_SIGRETURN_32]	= "\x58\xb8\x77\0\0\0\xcd\x80",
	[X86_SIGRETURN_RT_32]	= "\xb8\xad\0\0\0\xcd\x80",
};

/* The module finds the walk that a state is part of. */
static struct hook_walk walk;
static struct unwind_user_state *const state = &walk.state;

static inline void begin(unsigned int ws)
{
	unsigned int i;

	user_reset();
	user_map(0, CODE, 4096, 0x90);
	for (i = 0; i < 2 * WORDS; i++)
		user_put(RETURN(i) - 5, "\xe8\0\0\0\0\xc3", 6);
	for (i = X86_SIGRETURN_64; i <= X86_SIGRETURN_RT_32; i++)
		user_put(TRAMPOLINE(i), trampolines[i], i == X86_SIGRETURN_64 ? 9 :
			 i == X86_SIGRETURN_32 ? 8 : 7);
	user_map(1, STACK, WORDS * ws, 0);
	walk_task.utask = NULL;
	walk_regs = (struct pt_regs) { .cs = ws == 8 ? __USER_CS : __USER32_CS };
	mm.context.ctx_id++;
	*state = (struct unwind_user_state) { .ws = ws, .ip = CODE, .sp = STACK };
}

static inline bool same(const struct unwind_user_state *a, const struct unwind_user_state *b)
{
	return a->ip == b->ip && a->sp == b->sp && a->fp == b->fp && a->topmost == b->topmost;
}

#endif /* _CODE_STATE_H */
