// SPDX-License-Identifier: GPL-2.0
/*
 * From a stack of the system's to the goroutine's that waits for what runs on it.
 *
 * Go's runtime calls C, and what needs a large stack of its own code, on another stack:
 * by asmcgocall() and systemstack(). These leave the frame pointer on the goroutine's
 * stack, so that the kernel, which follows it wherever it leads, has seen that stack's
 * frames when the sample was taken. Up to Go 1.20 they have no frame, and the kernel's
 * chain lacks their caller: it is the function that was called where the chain goes on,
 * and where in it, the only call that it has to what made the switch, or the only one that
 * hands over what runs now. It is the same with other functions without a frame, those of
 * the collector's write barriers among them.
 *
 * morestack() leaves the frame pointer, too; what the kernel's chain lacks then was copied
 * to the stack that it switched to.
 */
#include "../rules/arch.h"
#include "../rules/fde.h"
#include "../rules/rows.h"
#include "call-check.h"
#include "stack-switch.h"

/* src/runtime/stack.go: sizes are powers of two, of this at least. */
#define GO_STACK_ALIGN	2048

/* newstack()'s is 0x1b0 in Go 1.19: bytes below it that are looked at. */
#define NEWSTACK_FRAME	0x400

/* A frame is looked at, not copied: larger ones are left. */
#define GO_MAX_FRAME	0x10000

/* What is asked of a file about an address of a process. */
struct place {
	const struct hybrid_mapping	*mapping;
	struct hybrid_object		*object;
	struct hybrid_code		 code;
	u64				 vaddr;
};

static bool find_place(struct hybrid_unwinder *unwinder, struct hybrid_space *space, u64 ip,
		       struct place *place, struct hybrid_row **row)
{
	bool mapped;

	*row = hybrid_unwind_row(unwinder, space, ip, &mapped, &place->object);
	place->mapping = mapped ? hybrid_space_find(space, ip) : NULL;
	if (!*row || !place->mapping || place->mapping->object != place->object ||
	    !hybrid_object_use(place->mapping))
		return false;
	place->code = hybrid_object_code(place->object);
	return hybrid_object_vaddr(place->object, ip - place->mapping->start +
				   place->mapping->pgoff, &place->vaddr);
}

/*
 * Is the frame that bp belongs to on another stack? Go also allocates the runtime's stacks, so
 * that a goroutine's may stand right behind one and be in the dump, too.
 */
static bool is_elsewhere(const struct hybrid_unwind *u)
{
	u64 word;

	return hybrid_unwind_read(u, u->bp, 8, &word) ||
	       (u->bp > u->sp && u->bp / GO_STACK_ALIGN != u->sp / GO_STACK_ALIGN);
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
	return i < nr_user && is_elsewhere(u) ? i : 0;
}

/*
 * asmcgocall() has noted how many bytes were on the goroutine's stack when it began, at
 * @sp there: that tells where the stack ends.
 */
static bool is_depth(const struct hybrid_unwind *u, u64 sp)
{
	u64 depth;

	if (u->rule.deref_off != HYBRID_SWITCH_DEPTH)
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

/* No frame at all: bp is the caller's. */
static bool is_frameless(const struct hybrid_row *row)
{
	return row->rule.kind == HYBRID_RULE_CFA && row->rule.bp == HYBRID_BP_SAME &&
	       row->rule.base == HYBRID_BASE_SP && row->rule.cfa_off == 8;
}

static bool add(struct hybrid_unwind *u, u64 ret)
{
	if (u->nr == u->max_frames)
		return false;
	u->frames[u->nr++] = (struct hybrid_frame) { .ip = ret - 1, .ret = ret };
	u->sure++;
	return true;
}

/* Where the function begins that the last frame has called; 0: unknown. */
static u64 find_called(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u,
		       const struct place *last)
{
	struct hybrid_fde called;
	struct hybrid_row *row;
	struct place place;

	if (u->nr < 2 || !find_place(unwinder, u->space, u->frames[u->nr - 2].ip, &place, &row) ||
	    place.object != last->object ||
	    !hybrid_pclntab_around(place.object, place.vaddr, &called))
		return 0;
	return called.start;
}

/*
 * The call to @callee in the function that the call before @to leads to. A goroutine's
 * own function was called by nothing: what it has given to be called has its name.
 */
static u64 look_for_site(struct place *to, const struct hybrid_row *row, u64 callee,
			 u64 called)
{
	const struct hybrid_arch *arch = to->object->cfi.abi->arch;
	struct hybrid_fde caller;
	u64 target;

	if (row->rule.kind == HYBRID_RULE_OUTERMOST) {
		if (!called || !hybrid_pclntab_parent(to->object, called, &caller))
			return 0;
	} else {
		target = arch->call_target(&to->code, to->vaddr + 1);
		if (!target || !hybrid_pclntab_around(to->object, target, &caller) ||
		    caller.start != target)
			return 0;
	}
	return arch->call_site(&to->code, caller.start, caller.end, callee, called);
}

/* The same, once for many samples: a large function is decoded as a whole. */
static u64 find_site(struct place *to, const struct hybrid_row *row, u64 callee, u64 called)
{
	struct hybrid_site *known =
		&to->object->pclntab.sites[(to->vaddr + called / 32) % HYBRID_NR_SITES];

	if (known->ret != to->vaddr || known->callee != callee || known->called != called) {
		*known = (struct hybrid_site) { .ret = to->vaddr, .callee = callee,
						.called = called };
		known->site = look_for_site(to, row, callee, called);
	}
	return known->site;
}

/*
 * The last frame has none of its own, so that @ret is the return address of its caller's:
 * what called it stands between them. From Go 1.21 on what switches stacks has a frame, and
 * @ret is its own: then no other is to be found. @switched: that is the last frame.
 */
static bool add_caller(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u, u64 ret,
		       bool switched)
{
	u64 ip = u->frames[u->nr - 1].ip, site;
	struct hybrid_row *row, *at_site;
	struct hybrid_fde callee;
	struct place from, to;

	if (!find_place(unwinder, u->space, ip, &from, &row) ||
	    !hybrid_pclntab_around(from.object, from.vaddr, &callee) ||
	    !find_place(unwinder, u->space, ret - 1, &to, &row) || to.object != from.object)
		return false;
	if (to.object->cfi.abi->arch->call_target(&to.code, to.vaddr + 1) == callee.start)
		return switched && is_depth(u, u->bp);
	site = find_site(&to, row, callee.start, find_called(unwinder, u, &from));
	if (!site)
		return false;
	/* Both are code of one file, and that is mapped as a whole. */
	site += ip - from.vaddr;
	if (!find_place(unwinder, u->space, site - 1, &to, &at_site) || !has_frame(at_site))
		return false;
	/* The frame's CFA, without the frame and the return address to it. */
	return (!switched ||
		is_depth(u, u->bp - at_site->rule.bp_off - at_site->rule.cfa_off - 8)) &&
	       add(u, site);
}

/*
 * @sp, @ret: was morestack() called by a function that is called before @ret, with @sp
 * behind that return address? Then bp is still of the frame that @ret is in.
 */
static bool add_grown(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u, u64 sp, u64 ret)
{
	u64 ip = u->frames[u->nr - 1].ip, target, site;
	struct hybrid_fde grows, small, entry;
	const struct hybrid_arch *arch;
	struct place from, to;
	struct hybrid_row *row;

	if (!find_place(unwinder, u->space, ret - 1, &to, &row) || !has_frame(row) ||
	    sp + row->rule.cfa_off + row->rule.bp_off != u->bp ||
	    !find_place(unwinder, u->space, ip, &from, &row) || from.object != to.object ||
	    !hybrid_pclntab_around(from.object, from.vaddr, &grows))
		return false;
	arch = to.object->cfi.abi->arch;
	target = arch->call_target(&to.code, to.vaddr + 1);
	if (!target || !hybrid_pclntab_around(to.object, target, &small) || small.start != target)
		return false;
	site = arch->call_site(&to.code, small.start, small.end, grows.start, 0);
	/* Most call what stands behind it, and leads to it. */
	if (!site && hybrid_pclntab_around(to.object, grows.end, &entry))
		site = arch->call_site(&to.code, small.start, small.end, entry.start, 0);
	if (!site || arch->leads(&to.code, site, from.vaddr) != HYBRID_REACH_THERE)
		return false;
	return add(u, site + ip - from.vaddr) && add(u, ret);
}

/*
 * newstack(), which morestack() calls, begins by copying where it was called from: a struct
 * gobuf, of sp and pc, of the caller of the function that needs a larger stack
 * (src/runtime/stack.go).
 */
static bool find_grown(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u)
{
	u64 below, sp, ret;

	/* newstack() itself: it may not have copied it yet, and find what one before it left. */
	if (u->nr < 3)
		return false;
	for (below = 16; below <= NEWSTACK_FRAME; below += 8) {
		if (hybrid_unwind_read(u, u->sp - below, 8, &sp) ||
		    hybrid_unwind_read(u, u->sp - below + 8, 8, &ret))
			return false;
		/* Its frame pointer is the caller's, a little above. */
		if (u->bp - sp < GO_MAX_FRAME && add_grown(unwinder, u, sp, ret))
			return true;
	}
	return false;
}

/*
 * Could the call before @ret have led to the last frame? Go's table says where that one's
 * function begins; the way from there may be longer than what hybrid_check_call() follows.
 */
static bool is_caller(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u, u64 ret)
{
	u64 ip = u->frames[u->nr - 1].ip;
	struct hybrid_fde callee;
	struct place from, to;
	struct hybrid_row *row;

	if (find_place(unwinder, u->space, ip, &from, &row) &&
	    find_place(unwinder, u->space, ret - 1, &to, &row) && to.object == from.object &&
	    hybrid_pclntab_around(from.object, from.vaddr, &callee) &&
	    to.object->cfi.abi->arch->call_target(&to.code, to.vaddr + 1) == callee.start)
		return true;
	return hybrid_check_call(unwinder, u->space, u->pid, u->abi, ret, ip) >=
	       HYBRID_REACH_INDIRECT;
}

/* Goes on from @user, the return address of the frame that bp belongs to. */
static bool follow_user(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u,
			const u64 *user, unsigned int nr_user)
{
	struct hybrid_object *object;
	struct hybrid_row *row;
	bool mapped, outermost;
	unsigned int i;

	for (i = 0; i < nr_user; i++) {
		row = hybrid_unwind_row(unwinder, u->space, user[i] - 1, &mapped, &object);
		outermost = row && row->rule.kind == HYBRID_RULE_OUTERMOST;
		if (!row || !(outermost || is_caller(unwinder, u, user[i])) || !add(u, user[i]))
			return false;
		if (outermost)
			return true;
		if (has_frame(row))
			continue;
		if (!is_frameless(row) || i + 1 == nr_user ||
		    !add_caller(unwinder, u, user[i + 1], false))
			return false;
	}
	return false;
}

bool hybrid_stack_switch_follow(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u,
				const u64 *user, unsigned int nr_user)
{
	unsigned int i = find_user(u, user, nr_user);
	bool found;

	if (u->rule.bp != HYBRID_BP_SAME || u->sure < u->nr || !i)
		return false;
	if (u->rule.deref_off == HYBRID_SWITCH_GROWS)
		found = find_grown(unwinder, u);
	else
		found = add_caller(unwinder, u, user[i], true);
	return found && follow_user(unwinder, u, user + i, nr_user - i);
}
