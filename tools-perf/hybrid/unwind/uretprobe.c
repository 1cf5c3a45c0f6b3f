// SPDX-License-Identifier: GPL-2.0
/*
 * Functions with a return probe return to a trampoline of the kernel's.
 */
#include "unwind.h"
#include "uretprobe.h"

/* What stands at a frame pointer; false where the dump ends. */
static bool read_frame(const struct hybrid_unwind *u, u64 fp, u64 *next, u64 *ret)
{
	u8 word = u->abi->word;

	return !hybrid_unwind_read(u, fp, word, next) &&
	       !hybrid_unwind_read(u, fp + word, word, ret);
}

/*
 * Is the chain, from @i on, what the frame pointers in the dump lead to, but for
 * what a return probe has replaced?
 */
static bool agrees(const struct hybrid_unwind *u, unsigned int i)
{
	u64 fp = u->regs.value[u->abi->bp], next, ret;

	while (read_frame(u, fp, &next, &ret)) {
		if (i >= u->nr_user ||
		    (u->user[i] != ret && !hybrid_uretprobe_is_trampoline(ret)))
			return false;
		if (next <= fp)
			break;
		fp = next;
		i++;
	}
	return true;
}

/*
 * Before the frames that it found by their frame pointers, the chain has the sampled
 * address, and maybe one more: the innermost caller, which the kernel found at sp
 * for a uprobe, or by the code. In a recursion both may fit.
 */
static void begin(struct hybrid_unwind *u)
{
	u->user_at = 1;
	u->user_fp = u->regs.value[u->abi->bp];
	u->user_plain = agrees(u, 1);
	u->user_one_more = u->nr > 1 && u->nr_user > 1 &&
			   u->user[1] == u->frames[1].ret && agrees(u, 2);
}

/* Entry @i of the chain, or the one behind that; @ret where that is not clear. */
static u64 entry(const struct hybrid_unwind *u, unsigned int i, u64 ret)
{
	if (u->user_plain && u->user_one_more && u->user[i] != u->user[i + 1])
		return ret;
	if (!u->user_plain && !u->user_one_more)
		return ret;
	return u->user[i + !u->user_plain];
}

u64 hybrid_uretprobe_return(struct hybrid_unwind *u, u64 at, u64 ret)
{
	u64 next, word;

	if (!u->user_at)
		begin(u);
	while (read_frame(u, u->user_fp, &next, &word)) {
		if (u->user_fp + u->abi->word >= at)
			return u->user_fp + u->abi->word == at ? entry(u, u->user_at, ret) : ret;
		if (next <= u->user_fp)
			break;
		u->user_fp = next;
		u->user_at++;
	}
	return ret;
}
