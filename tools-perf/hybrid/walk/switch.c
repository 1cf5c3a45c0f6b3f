// SPDX-License-Identifier: GPL-2.0
/*
 * From a stack of the system's to the goroutine's that waits for what runs on it.
 *
 * Go's runtime calls C, and what needs a large stack of its own code, on another stack:
 * by asmcgocall() and systemstack(). These leave the frame pointer on the goroutine's
 * stack, so that the kernel, which follows it wherever it leads, has seen that stack's
 * frames when the sample was taken. Up to Go 1.20 they have no frame, and the kernel's
 * chain lacks their caller: it is the function that was called where the chain goes on,
 * and where in it, the only call that it has to what made the switch.
 */
#include "../rules/fde.h"
#include "../rules/rows.h"
#include "confirm.h"
#include "switch.h"

/* src/runtime/stack.go: sizes are powers of two, of this at least. */
#define GO_STACK_ALIGN	2048

/* What is asked of a file about an address of a process. */
struct place {
	const struct hybrid_mapping	*mapping;
	struct hybrid_object		*object;
	u64				 vaddr;
};

static bool find_place(struct hybrid_unwinder *unwinder, struct hybrid_space *space, u64 ip,
		       struct place *place, struct hybrid_row **row)
{
	bool mapped;

	*row = hybrid_unwind_row(unwinder, space, ip, &mapped, &place->object);
	place->mapping = mapped ? hybrid_space_find(space, ip) : NULL;
	return *row && place->mapping && place->mapping->object == place->object &&
	       hybrid_object_use(place->mapping) &&
	       hybrid_object_vaddr(place->object, ip - place->mapping->start +
				   place->mapping->pgoff, &place->vaddr);
}

/*
 * Where in the kernel's chain the return address of the frame is that bp belongs to; 0
 * where the kernel has not seen that, or it is on the same stack.
 */
static unsigned int find_user(const struct hybrid_unwind *u, const u64 *user, unsigned int nr_user)
{
	u64 fp = u->regs.value[u->abi->bp], next, ret;
	unsigned int i = 1;

	if (!u->bp_known || !(u->regs.known & (1U << u->abi->bp)) || u->abi->word != 8)
		return 0;
	while (fp != u->bp) {
		if (hybrid_unwind_read(u, fp, 8, &next) || hybrid_unwind_read(u, fp + 8, 8, &ret) ||
		    i >= nr_user || user[i] != ret)
			return 0;
		/* Up the stack, or off it. */
		if (next <= fp && next != u->bp)
			return 0;
		fp = next;
		i++;
	}
	return i < nr_user && hybrid_unwind_read(u, fp, 8, &next) ? i : 0;
}

/*
 * asmcgocall() has noted how many bytes were on the goroutine's stack when it began, at
 * @sp there: that tells where the stack ends.
 */
static bool is_depth(const struct hybrid_unwind *u, u64 sp)
{
	u64 depth;

	if (!u->rule.deref_off)
		return true;
	return !hybrid_unwind_read(u, u->sp + u->rule.cfa_off, 8, &depth) &&
	       (sp + depth) % GO_STACK_ALIGN == 0;
}

/* Does the function have a frame, of which bp is the base, at the call that it is in? */
static bool has_frame(const struct hybrid_row *row)
{
	return row->rule.kind == HYBRID_RULE_CFA && row->rule.bp == HYBRID_BP_AT_CFA &&
	       row->rule.bp_off == -16;
}

static bool add(struct hybrid_unwind *u, u64 ret)
{
	if (u->nr == u->max_frames)
		return false;
	u->frames[u->nr++] = (struct hybrid_frame) { .ip = ret - 1, .ret = ret };
	u->sure++;
	return true;
}

/* The only call in the function at @target to what made the switch. */
static u64 find_site(const struct place *from, u64 target, u64 switches)
{
	struct hybrid_fde caller;

	if (!target || !hybrid_pclntab_around(from->object, target, &caller) ||
	    caller.start != target)
		return 0;
	return from->object->cfi.abi->arch->call_site(from->object, caller.start, caller.end,
						      switches);
}

/*
 * @ret is the return address of the frame that bp belongs to. From Go 1.21 on that is
 * the one of what made the switch: then no other is to be found.
 */
static bool add_caller(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u, u64 ret)
{
	u64 ip = u->frames[u->nr - 1].ip, target, site;
	struct hybrid_fde switches;
	struct place from, to;
	struct hybrid_row *row;

	if (!find_place(unwinder, u->space, ip, &from, &row) ||
	    !hybrid_pclntab_around(from.object, from.vaddr, &switches) ||
	    !find_place(unwinder, u->space, ret - 1, &to, &row) || to.object != from.object)
		return false;
	target = to.object->cfi.abi->arch->call_target(to.object, to.vaddr + 1);
	if (target == switches.start)
		return is_depth(u, u->bp);
	site = find_site(&from, target, switches.start);
	if (!site)
		return false;
	/* Both are code of one file, and that is mapped as a whole. */
	site += ip - from.vaddr;
	if (!find_place(unwinder, u->space, site - 1, &to, &row) || !has_frame(row))
		return false;
	/* The frame's CFA, without the frame and the return address to it. */
	return is_depth(u, u->bp - row->rule.bp_off - row->rule.cfa_off - 8) && add(u, site);
}

/* Could the call before @ret have led to the last frame, or is it where a goroutine begins? */
static bool is_caller(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u, u64 ret,
		      bool outermost)
{
	return outermost || hybrid_confirm(unwinder, u->space, u->pid, u->abi, ret,
					   u->frames[u->nr - 1].ip) >= HYBRID_LEADS_INDIRECT;
}

bool hybrid_switch_follow(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u,
			  const u64 *user, unsigned int nr_user)
{
	unsigned int i = find_user(u, user, nr_user);
	struct hybrid_object *object;
	struct hybrid_row *row;
	bool mapped, outermost;

	if (u->rule.bp != HYBRID_BP_SAME || u->sure < u->nr || !i ||
	    !add_caller(unwinder, u, user[i]))
		return false;
	for (; i < nr_user; i++) {
		row = hybrid_unwind_row(unwinder, u->space, user[i] - 1, &mapped, &object);
		outermost = row && row->rule.kind == HYBRID_RULE_OUTERMOST;
		if (!row || !is_caller(unwinder, u, user[i], outermost) || !add(u, user[i]))
			return false;
		if (outermost)
			return true;
		if (!has_frame(row))
			return false;
	}
	return false;
}
