/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_TAIL_H
#define __PERF_HYBRID_TAIL_H

#include "call-history.h"
#include "unwind.h"

/**
 * struct hybrid_tail_entry - a call that a thread was seen to be in
 * @cfa: of the frame that was called
 * @caller: the frame that called it
 * @since: the thread's sample from which on it was not seen outside of the call, nor with
 *	another entry next
 * @seen: how many samples showed the next entry since then
 * @linked: the next entry is the call that the caller was in when this one was seen
 *	with it; false where frames between the two were never seen, or where this is
 *	the last
 */
struct hybrid_tail_entry {
	u64			cfa;
	struct hybrid_frame	caller;
	u64			since;
	unsigned int		seen;
	bool			linked;
};

/**
 * struct hybrid_tail - the calls that a thread was last seen to be in
 *
 * Samples show the inner part of a stack, as far as the dump reaches. What one
 * sample showed of the outer part may still stand when a later one, deeper in,
 * finds the same return address at the same place: see call-history.h.
 *
 * @room: for entries
 * @entries: at the end of @room, innermost first, so by rising cfa
 * @spare: for those that the next sample's are made of
 * @nr: of @entries
 * @alloc: entries that @room and @spare hold
 * @rooted: the last entry's caller is the outermost frame of the thread
 * @watched: a stack of the thread was deeper than its dump: @history is kept
 * @history: which of the entries may be followed
 */
struct hybrid_tail {
	struct hybrid_tail_entry	*room;
	struct hybrid_tail_entry	*entries;
	struct hybrid_tail_entry	*spare;
	unsigned int			 nr;
	unsigned int			 alloc;
	bool				 rooted;
	bool				 watched;
	struct hybrid_call_history	 history;
};

/**
 * hybrid_tail_learn - remember what a sample showed
 * @tail: of the sample's thread
 * @frames: of the sample, innermost first; none that another sample showed
 * @nr: number of @frames
 * @complete: the last of @frames is the outermost
 *
 * To be called for each sample of the thread, after it was joined: by their number
 * what was seen comes to be believed. Where memory is short nothing is remembered,
 * which costs no exactness.
 */
void hybrid_tail_learn(struct hybrid_tail *tail, const struct hybrid_frame *frames,
		       unsigned int nr, bool complete);

/* hybrid_tail_learn() of a sample whose frames have no CFA. */
static inline void hybrid_tail_pass(struct hybrid_tail *tail)
{
	tail->history.now++;
}

/**
 * hybrid_tail_join - the frames behind a call that was seen before
 * @tail: of the sample's thread
 * @callee: a frame whose CFA is known
 * @caller: the frame that it returns to; gains the CFA that it was seen with
 * @nr: out: how many callers of @caller are known and believed; 0 where the call
 *	was not seen before
 * @complete: out: the last of them is the outermost
 *
 * @tail is watched from now on. Return address and place must both agree, and the
 * place of @caller's own call where it is known: on a recursive stack the address
 * alone stands many times.
 *
 * Return: @nr entries, the caller of each being the next frame; valid until
 * @tail changes.
 */
const struct hybrid_tail_entry *hybrid_tail_join(struct hybrid_tail *tail,
						 const struct hybrid_frame *callee,
						 struct hybrid_frame *caller,
						 unsigned int *nr, bool *complete);

/**
 * hybrid_tail_root - the frames behind a return address into the thread's start
 * @tail: of the sample's thread
 * @callee: a frame; gains the CFA that it was seen with
 * @caller: the frame that it returns to; the same
 * @nr: out: how many callers of @caller are known, to the outermost; 0 where it
 *	is not one of them, or @callee's CFA is known to be another
 *
 * A frame pointer chain gives return addresses, not where they stand, and ends
 * in libc's start code, which has no frame pointers. That code runs once for
 * each thread, so that here, in the outermost three frames of a thread and only where
 * the return address stands on its stack once, it alone is enough. Whether it is that
 * code the caller has to see.
 *
 * Return: as hybrid_tail_join().
 */
const struct hybrid_tail_entry *hybrid_tail_root(const struct hybrid_tail *tail,
						 struct hybrid_frame *callee,
						 struct hybrid_frame *caller,
						 unsigned int *nr);

/**
 * hybrid_tail_follow - go on from where a sample ends
 * @unwinder: caches
 * @u: the unwound sample; gains the frames that its thread was seen to be in
 * @tail: of the sample's thread
 *
 * It goes on from the outermost call whose place is known; frames that the kernel's
 * chain added behind that must be among those that were seen.
 *
 * Return: whether it came to the outermost frame.
 */
bool hybrid_tail_follow(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u,
			struct hybrid_tail *tail);

void hybrid_tail_exit(struct hybrid_tail *tail);

#endif /* __PERF_HYBRID_TAIL_H */
