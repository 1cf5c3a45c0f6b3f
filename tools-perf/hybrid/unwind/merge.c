// SPDX-License-Identifier: GPL-2.0
/*
 * The merge at PERF_CONTEXT_USER.
 */
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include "call-check.h"
#include "called.h"
#include "follow-bp.h"
#include "kernel-chain.h"
#include "live-stack.h"
#include "merge.h"
#include "stack-switch.h"
#include "uretprobe.h"

/* The words of the kernel's part, and where the user part begins. */
static void begin(struct hybrid_merge *m)
{
	m->nr = min(m->kernel->nr_kernel, m->max);
	if (m->nr)
		memcpy(m->out, m->kernel->kernel, m->nr * sizeof(*m->out));
	if ((m->kernel->has_user || m->unwind) && m->nr < m->max)
		m->out[m->nr++] = PERF_CONTEXT_USER;
}

/*
 * Walks the frame pointers as the kernel did, as far as the dump reaches, and
 * checks that both saw the same, @i being where in @kernel's user part that chain begins.
 * Returns the index of the first return address that stands behind the dump and
 * sets @fp to the frame pointer it stands above; 0 where the two do not agree.
 */
static unsigned int leave_dump(const struct hybrid_unwind *u,
			       const struct hybrid_kernel_chain *kernel, unsigned int i, u64 *fp)
{
	u8 word = u->abi->word;
	u64 next, ret;

	*fp = u->regs.value[u->abi->bp];
	while (!hybrid_unwind_read(u, *fp, word, &next) &&
	       !hybrid_unwind_read(u, *fp + word, word, &ret)) {
		if (i >= kernel->nr_user || next <= *fp ||
		    (kernel->user[i] != ret && !hybrid_uretprobe_is_trampoline(ret)))
			return 0;
		i++;
		*fp = next;
	}
	return i < kernel->nr_user && *fp >= u->dump_start + u->dump_size ? i : 0;
}

/*
 * The same, with and without the word at sp that the kernel puts first for a
 * uprobe at a function's entry. In a recursion both may fit: then neither is
 * taken.
 */
static unsigned int join_kernel(const struct hybrid_merge *m, u64 *fp)
{
	const struct hybrid_kernel_chain *kernel = m->kernel;
	const struct hybrid_unwind *u = m->unwind;
	unsigned int plain = leave_dump(u, kernel, 1, fp), probed;
	u64 word, probed_fp;

	if (!m->at_probe || kernel->nr_user < 2 ||
	    hybrid_unwind_read(u, u->dump_start, u->abi->word, &word) || kernel->user[1] != word)
		return plain;
	probed = leave_dump(u, kernel, 2, &probed_fp);
	if (!probed)
		return plain;
	*fp = probed_fp;
	return plain ? 0 : probed;
}

/*
 * Goes on by the kernel's frame pointer chain, while it and the CFI agree that
 * there is a frame pointer: another function's caller would be lost. Returns
 * true where it came to the outermost frame.
 */
static bool follow_kernel(struct hybrid_unwinder *unwinder, const struct hybrid_merge *m)
{
	const struct hybrid_kernel_chain *kernel = m->kernel;
	struct hybrid_unwind *u = m->unwind;
	struct hybrid_object *object;
	struct hybrid_row *row;
	bool mapped, by_cfi = u->rule.kind != HYBRID_RULE_NONE;
	unsigned int i;
	u64 fp;

	i = join_kernel(m, &fp);
	if (!i || !u->bp_known || u->bp != fp || !hybrid_is_bp_frame(u, &u->rule))
		return false;

	u->frames[u->nr - 1].cfa = fp + 2 * u->abi->word;
	for (; i < kernel->nr_user; i++) {
		row = hybrid_unwind_row(unwinder, u->space, kernel->user[i] - 1,
					&mapped, &object);
		if (!mapped || !hybrid_add_caller(unwinder, u, kernel->user[i], by_cfi))
			return false;
		by_cfi = row && row->rule.kind != HYBRID_RULE_NONE;
		u->failed_in = object;
		if (!row)
			continue;
		if (row->rule.kind == HYBRID_RULE_OUTERMOST)
			return true;
		if (!hybrid_is_bp_frame(u, &row->rule))
			return false;
	}
	return false;
}

/*
 * The kernel copies up to a page that is not there, the BPF program leaves it out. Where the
 * stack goes on within what was to be copied, a larger dump lacks it, too.
 */
static bool is_in_memory(const struct hybrid_unwind *u)
{
	if (u->missing - u->dump_start < u->dump_size)
		return false;
	return u->dump_size >= u->dump_room || u->missing - u->dump_start >= u->dump_room;
}

static enum hybrid_outcome judge(const struct hybrid_unwind *u, bool stitched)
{
	bool guessed = u->sure < u->nr;

	if (stitched)
		return HYBRID_STITCHED;
	switch (u->stop) {
	case HYBRID_STOP_OUTERMOST:
		return guessed ? HYBRID_GUESSED : HYBRID_COMPLETE;
	case HYBRID_STOP_DUMP_END:
		return is_in_memory(u) ? HYBRID_TRUNCATED : HYBRID_NOT_IN_MEMORY;
	case HYBRID_STOP_LIMIT:
		return HYBRID_TRUNCATED;
	case HYBRID_STOP_NO_MAP:
		return HYBRID_NO_MAP;
	case HYBRID_STOP_NO_CFI:
		return HYBRID_NO_CFI;
	case HYBRID_STOP_UNREAD:
		return HYBRID_UNREAD;
	case HYBRID_STOP_BAD_FRAME:
	case HYBRID_STOP_NR:
	default:
		return HYBRID_BAD_CFI;
	}
}

static void add_entry(struct hybrid_merge *m, u64 ip)
{
	if (m->nr < m->max)
		m->out[m->nr++] = ip;
}

static void add_mark(struct hybrid_merge *m, enum hybrid_synthetic mark)
{
	/* It says more than the frame that there is no room for. */
	if (m->nr == m->max && m->nr)
		m->nr--;
	add_entry(m, hybrid_synthetic_ip(mark));
	m->marked = true;
}

/*
 * No dump: the kernel's frame pointers, at the addresses that unwound chains have, as
 * far as one call can have led to the other. Functions without a frame are left out.
 */
static enum hybrid_outcome copy_user(struct hybrid_unwinder *unwinder, struct hybrid_merge *m)
{
	const struct hybrid_kernel_chain *kernel = m->kernel;
	unsigned int i;
	u64 callee;

	if (!kernel->has_user)
		return HYBRID_COMPLETE;
	if (kernel->nr_user)
		add_entry(m, kernel->user[0]);
	if (hybrid_kernel_chain_is_whole(kernel)) {
		for (i = 1; i < kernel->nr_user; i++)
			add_entry(m, kernel->user[i] - 1);
		return HYBRID_COMPLETE;
	}
	for (i = 1; i < kernel->nr_user && m->space; i++) {
		callee = m->out[m->nr - 1];
		if (hybrid_check_call(unwinder, m->space, m->pid, m->abi, kernel->user[i], callee) <
		    HYBRID_REACH_MAYBE)
			break;
		if (i == 1)
			add_mark(m, HYBRID_SYNTHETIC_GUESSED);
		add_entry(m, hybrid_caller_ip(unwinder, m->space, kernel->user[i]));
	}
	add_mark(m, HYBRID_SYNTHETIC_CUT_OFF);
	return HYBRID_FP_ONLY;
}

/* Are the frames known to the outermost, with its place? */
static bool is_rooted(const struct hybrid_unwind *u)
{
	return u->stop == HYBRID_STOP_OUTERMOST && u->nr > 1 && u->frames[u->nr - 2].cfa;
}

/*
 * Of the frames of a sample, those that are written. Of a walk in the kernel that came to the
 * end hybrid_kernel_walk_frames() has looked at each frame, or the kernel has.
 */
static unsigned int count_frames(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u,
				 bool stitched)
{
	if (stitched || (u->stop == HYBRID_STOP_OUTERMOST && !u->dump_size))
		return u->nr;
	return hybrid_called_frames(unwinder, u);
}

/* Goes on where the dump ended. Returns true where it came to the outermost frame. */
static bool go_on(struct hybrid_unwinder *unwinder, struct hybrid_merge *m)
{
	struct hybrid_unwind *u = m->unwind;
	unsigned int nr = u->nr;

	if (hybrid_follow_links(unwinder, u, &m->links))
		return true;
	if (u->nr == nr && follow_kernel(unwinder, m))
		return true;
	/* What the register holds is no frame pointer, but where the kernel's chain agrees. */
	if (u->rule.kind == HYBRID_RULE_NONE && !u->by_code && u->nr == nr)
		u->stop = HYBRID_STOP_NO_CFI;
	if (m->tail && hybrid_tail_follow(unwinder, u, m->tail))
		return true;
	return u->nr == nr && u->rule.kind != HYBRID_RULE_NONE &&
	       hybrid_live_stack_follow(unwinder, u);
}

/* Is there room for the frames, and for a mark before those that are guessed? */
static bool has_room(const struct hybrid_merge *m, unsigned int nr_frames)
{
	return nr_frames + (m->unwind->sure < nr_frames) <= m->max - m->nr;
}

/* @nr_frames: of those of the sample; an outer one has called nobody. */
static void add_frames(struct hybrid_merge *m, unsigned int nr_frames, enum hybrid_outcome outcome)
{
	const struct hybrid_unwind *u = m->unwind;
	unsigned int sure = min(u->sure, nr_frames);
	unsigned int i, nr = min(sure, m->max - m->nr);

	for (i = 0; i < nr; i++)
		m->out[m->nr + i] = u->frames[i].ip;
	m->nr += nr;
	if (sure < nr_frames)
		add_mark(m, HYBRID_SYNTHETIC_GUESSED);
	for (i = sure; i < nr_frames; i++)
		add_entry(m, u->frames[i].ip);
	if (outcome > HYBRID_GUESSED)
		add_mark(m, HYBRID_SYNTHETIC_CUT_OFF);
}

enum hybrid_outcome hybrid_merge(struct hybrid_unwinder *unwinder, struct hybrid_merge *m)
{
	struct hybrid_unwind *u = m->unwind;
	enum hybrid_outcome outcome;
	unsigned int unwound, nr_frames;
	bool stitched = false;

	m->marked = false;
	begin(m);
	if (!u)
		return copy_user(unwinder, m);

	unwound = u->sure;
	if (u->stop == HYBRID_STOP_DUMP_END)
		stitched = go_on(unwinder, m);
	else if (u->stop == HYBRID_STOP_BAD_FRAME && u->rule.kind == HYBRID_RULE_SWITCHED)
		stitched = hybrid_stack_switch_follow(unwinder, u, m->kernel->user,
						      m->kernel->nr_user);
	nr_frames = count_frames(unwinder, u, stitched);
	unwound = min(unwound, nr_frames);
	if (m->tail)
		hybrid_tail_learn(m->tail, u->frames, unwound,
				  unwound == u->nr && is_rooted(u));
	outcome = judge(u, stitched);
	/* What the walk took for the end of the stack was above a frame that is none. */
	if (nr_frames < u->nr && outcome <= HYBRID_GUESSED)
		outcome = HYBRID_BAD_CFI;
	/* There was no stack to read: that is not the fault of where the walk ended. */
	if (!u->dump_size && u->stop != HYBRID_STOP_LIMIT && outcome > HYBRID_FP_ONLY)
		outcome = HYBRID_FP_ONLY;
	/* What has no room is not in the chain: it does not come to the outermost frame. */
	if (outcome <= HYBRID_GUESSED && !has_room(m, nr_frames))
		outcome = HYBRID_TRUNCATED;
	add_frames(m, nr_frames, outcome);
	return outcome;
}
