// SPDX-License-Identifier: GPL-2.0
/*
 * A uprobe at a nop is a call of code that the kernel has mapped into the process, from
 * Linux 6.18 on: a system call takes less time than a trap. Only the process itself can
 * read that code, as its mapping is VM_IO; so what it does is said here.
 */
#include "../rules/rows.h"
#include "uprobe.h"

/*
 * uprobe_trampoline_entry of arch/x86/kernel/uprobes.c: push %rcx; push %r11; push %rax;
 * mov $__NR_uprobe, %rax; syscall; pop %rax; pop %r11; pop %rcx; ret. How many words are
 * on the stack at an instruction; where none begins, -1.
 */
static int pushed_at(u64 offset)
{
	static const signed char pushed[] = {
		0, 1, -1, 2, 3, -1, -1, -1, -1, -1, -1, 3, -1, 3, 2, -1, 1, 0,
	};

	return offset < sizeof(pushed) ? pushed[offset] : -1;
}

enum hybrid_stop hybrid_step_uprobe(struct hybrid_walk *w, struct hybrid_caller *caller)
{
	struct hybrid_unwind *u = w->u;
	u64 ip = u->frames[u->nr - 1].ret, at, left;
	const struct hybrid_mapping *mapping = hybrid_space_find(u->space, ip);
	int pushed;

	if (!mapping || !mapping->is_uprobes || u->abi->word != 8)
		return HYBRID_STOP_NO_CFI;
	pushed = pushed_at(ip - mapping->start);
	if (pushed < 0)
		return HYBRID_STOP_NO_CFI;
	at = u->sp + pushed * 8;
	if (hybrid_walk_word(u, at, &caller->ip))
		return hybrid_walk_unreadable(u, at);
	mapping = hybrid_space_find(u->space, caller->ip - 1);
	if (!mapping || !hybrid_object_is_uprobe(mapping, caller->ip, &left))
		return HYBRID_STOP_NO_CFI;
	caller->cfa = at + 8 + left;
	caller->bp = u->bp;
	caller->bp_known = u->bp_known;
	return HYBRID_STOP_NR;
}
