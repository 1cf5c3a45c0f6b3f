// SPDX-License-Identifier: GPL-2.0
/*
 * perf_hybrid: the walk of a user stack, in front of the kernel's own.
 *
 * It follows frame pointers as perf_callchain_user() does, and asks the code
 * where that would lose a caller: at the innermost frame, and behind the
 * trampoline of a signal handler. All frames but the last go into the chain;
 * from the last one the kernel goes on, which stores it, and finds its frame as
 * unreadable as the walk did. So a chain that gains nothing is what it was.
 */
#include <linux/perf_event.h>
#include <linux/uaccess.h>
#include <asm/ptrace.h>
#include <asm/segment.h>

#include "hook.h"
#define CREATE_TRACE_POINTS
#include "perf_hybrid_trace.h"

/* Puts @nr frames more into the chain, which are there already. */
static void chain_grow(struct perf_callchain_entry_ctx *entry, unsigned int nr)
{
	entry->entry->nr += nr;
	entry->nr += nr;
}

/*
 * Follows frame pointers to the end, or to what may be a signal handler's
 * trampoline: then true is returned, and that is the frame in @walk. A tight
 * loop, as it runs for each frame of each sample.
 */
static __always_inline bool walk_fp(struct hook_walk *walk, unsigned int ws)
{
	struct perf_callchain_entry_ctx *entry = walk->entry;
	unsigned long ip = walk->state.ip, fp = walk->state.fp, next_fp, next_ip;
	u64 *first = entry->entry->ip + entry->entry->nr, *chain = first;
	u64 *room = chain + (entry->max_stack - entry->nr);
	const unsigned long limit = TASK_SIZE_MAX;
	const u32 __user *insn;
	bool trampoline = false;
	u32 code;

	__uaccess_begin();
	while (chain < room) {
		/*
		 * Masked and not compared: a mispredicted branch would load from any address,
		 * and the loaded word is the next address. A barrier would be needed for each
		 * frame, and takes longer.
		 */
		fp = (unsigned long)perf_hybrid_mask((const void __user *)fp, limit);
		if (ws == sizeof(u64)) {
			unsafe_get_user(next_fp, (const u64 __user *)fp, end);
			unsafe_get_user(next_ip, (const u64 __user *)(fp + ws), end);
		} else {
			unsafe_get_user(next_fp, (const u32 __user *)fp, end);
			unsafe_get_user(next_ip, (const u32 __user *)(fp + ws), end);
		}
		*chain++ = ip;
		ip = next_ip;
		if (likely(walk->state.arch.failed < UNWIND_USER_FAILED_MAX)) {
			insn = perf_hybrid_mask((const void __user *)ip, limit);
			unsafe_get_user(code, insn, unreadable);
			if (unlikely(unwind_user_code_is_trampoline(code, ws))) {
				trampoline = true;
				break;
			}
		}
		fp = next_fp;
		continue;
unreadable:
		walk->state.arch.failed++;
		fp = next_fp;
	}
end:
	__uaccess_end();
	chain_grow(entry, chain - first);
	walk->state.ip = ip;
	if (!trampoline) {
		walk->state.fp = fp;
		return false;
	}
	walk->state.sp = fp + 2 * ws;
	walk->state.fp = next_fp;
	walk->state.topmost = false;
	walk->state.ask_code = true;
	return true;
}

static void count_not_restored(const struct hook_walk *walk)
{
	u8 byte;

	if (walk->kind != X86_FRAME_UNKNOWN)
		hook_count(HOOK_STANDS);
	else if (hook_read_user(&byte, (const void __user *)walk->state.ip, 1))
		hook_count(HOOK_UNREADABLE);
	else
		hook_count(HOOK_UNKNOWN);
}

/* All steps that the code tells of. Returns whether there was one. */
static bool walk_code(struct hook_walk *walk)
{
	struct perf_callchain_entry_ctx *entry = walk->entry;
	unsigned long ip;
	bool found = false;

	while (entry->nr < entry->max_stack) {
		ip = walk->state.ip;
		walk->kind = X86_FRAME_UNKNOWN;
		if (!unwind_user_code_next(&walk->state))
			break;
		found = true;
		perf_callchain_store(entry, ip);
		hook_count(walk->kind == X86_FRAME_UNKNOWN ? HOOK_SIGNAL :
			   HOOK_KINDS + walk->kind);
	}
	return found;
}

/* The first step, which alone is counted where there is none. */
static bool walk_innermost(struct hook_walk *walk)
{
	struct perf_callchain_entry_ctx *entry = walk->entry;
	unsigned long ip = walk->state.ip;
	u32 before = entry->nr;
	enum x86_frame_kind kind;
	unsigned long ra;

	hook_count(HOOK_SAMPLES);
	if (!unwind_user_code_next(&walk->state)) {
		count_not_restored(walk);
		return false;
	}
	ra = walk->state.ip;
	kind = walk->kind;
	perf_callchain_store(entry, ip);
	hook_count(kind == X86_FRAME_UNKNOWN ? HOOK_SIGNAL : HOOK_KINDS + kind);
	walk_code(walk);
	trace_innermost(ip, kind, ra, before, entry->nr);
	return true;
}

/*
 * A uprobe's handler asks at an instruction that the code says nothing of: the
 * kernel has a guess of its own for a function's entry.
 */
static bool left_to_guess(void)
{
#ifdef HAVE_UTASK_AUPROBE
	return current->utask && current->utask->auprobe;
#else
	return false;
#endif
}

/**
 * hook_walk - walk the user stack of current
 * @walk:	to walk with; its state is the outermost frame afterwards
 * @entry:	gets all frames but that one
 * @regs:	current's, with flat segments
 *
 * Context: any, NMI too, with page faults disabled and the mm of current loaded.
 *
 * Return: true if the kernel is to go on at @walk's state; false: at @regs,
 *	nothing is in the chain yet.
 */
bool hook_walk(struct hook_walk *walk, struct perf_callchain_entry_ctx *entry,
	       struct pt_regs *regs)
{
	bool restored, more;

	if (entry->contexts_maxed || entry->nr >= entry->max_stack)
		return false;
	walk->entry = entry;
	walk->kind = X86_FRAME_UNKNOWN;
	walk->state = (struct unwind_user_state){
		.ip		= regs->ip,
		.sp		= regs->sp,
		.fp		= regs->bp,
		.ws		= regs->cs == __USER_CS ? sizeof(u64) : sizeof(u32),
		.topmost	= true,
	};

	hook_begin_sample();
	restored = walk_innermost(walk);
	if (!restored && left_to_guess())
		return false;
	do {
		more = walk->state.ws == sizeof(u64) ? walk_fp(walk, sizeof(u64)) :
						       walk_fp(walk, sizeof(u32));
		if (more)
			walk_code(walk);
	} while (more);
	return true;
}
