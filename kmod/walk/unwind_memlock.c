// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of unwind tables counts towards RLIMIT_MEMLOCK, as a SysV segment that is locked
 * does: by ucounts.  So the users of a user namespace share the limit of the user who created
 * it, however many subordinate users he has.
 *
 * struct user_struct, by which perf counts its ring buffers, has no such limit: each
 * subordinate user may lock perf_event_mlock_kb for each CPU.  And a table would take memory
 * that the ring buffers of the same perf are meant to have.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/perf_unwind_rules.h>
#include <linux/sched/signal.h>
#include <linux/user_namespace.h>

/* Returns a reference to the counts of the current user, or NULL. */
struct ucounts *perf_unwind_user_get(void)
{
	return get_ucounts(current_ucounts());
}
EXPORT_SYMBOL_GPL(perf_unwind_user_get);

void perf_unwind_user_put(struct ucounts *user)
{
	put_ucounts(user);
}
EXPORT_SYMBOL_GPL(perf_unwind_user_put);

/**
 * perf_unwind_user_room - get how many more pages a user may lock
 * @user: returned by perf_unwind_user_get()
 *
 * Context: task; the limit and the capability are those of the caller.
 *
 * Return: number of pages, negative if too many are locked.
 */
long perf_unwind_user_room(struct ucounts *user)
{
	long max = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT, room = PERF_UNWIND_MAX_PAGES;
	struct ucounts *iter;

	if (ns_capable_noaudit(&init_user_ns, CAP_IPC_LOCK))
		return room;
	for (iter = user; iter; iter = iter->ns->ucounts) {
		room = min(room, max - get_rlimit_value(iter, UCOUNT_RLIMIT_MEMLOCK));
		max = get_userns_rlimit_max(iter->ns, UCOUNT_RLIMIT_MEMLOCK);
	}
	return room;
}
EXPORT_SYMBOL_GPL(perf_unwind_user_room);

/* Returns 0 or -EDQUOT. */
int perf_unwind_user_charge(struct ucounts *user, long pages)
{
	inc_rlimit_ucounts(user, UCOUNT_RLIMIT_MEMLOCK, pages);
	if (perf_unwind_user_room(user) >= 0)
		return 0;
	dec_rlimit_ucounts(user, UCOUNT_RLIMIT_MEMLOCK, pages);
	return -EDQUOT;
}
EXPORT_SYMBOL_GPL(perf_unwind_user_charge);

void perf_unwind_user_uncharge(struct ucounts *user, long pages)
{
	dec_rlimit_ucounts(user, UCOUNT_RLIMIT_MEMLOCK, pages);
}
EXPORT_SYMBOL_GPL(perf_unwind_user_uncharge);
