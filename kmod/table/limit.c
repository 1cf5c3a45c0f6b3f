// SPDX-License-Identifier: GPL-2.0
/* Limits on the memory of each table, and of all tables of a user */
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "table.h"

static unsigned int table_kbytes = 64 << 10;
module_param(table_kbytes, uint, 0644);
MODULE_PARM_DESC(table_kbytes, "limit of a table, in KiB");

static unsigned int user_kbytes = 256 << 10;
module_param(user_kbytes, uint, 0644);
MODULE_PARM_DESC(user_kbytes, "limit of all tables of a user, in KiB");

static LIST_HEAD(users);
static DEFINE_MUTEX(users_lock);

u64 unwind_table_max_bytes(void)
{
	return (u64)READ_ONCE(table_kbytes) << 10;
}

/* Returns NULL without memory. */
struct unwind_table_user *unwind_table_user_get(kuid_t uid)
{
	struct unwind_table_user *user;

	guard(mutex)(&users_lock);
	list_for_each_entry(user, &users, node) {
		if (uid_eq(user->uid, uid)) {
			user->tables++;
			return user;
		}
	}
	user = kzalloc(sizeof(*user), GFP_KERNEL_ACCOUNT);
	if (!user)
		return NULL;
	user->uid = uid;
	user->tables = 1;
	list_add(&user->node, &users);
	return user;
}

void unwind_table_user_put(struct unwind_table_user *user)
{
	guard(mutex)(&users_lock);
	if (--user->tables)
		return;
	WARN_ON_ONCE(atomic64_read(&user->bytes));
	list_del(&user->node);
	kfree(user);
}

/**
 * unwind_table_alloc - allocate memory for a table or an update
 * @bytes: its size
 * @gfp: GFP_KERNEL_ACCOUNT, with __GFP_ZERO if it is to be zeroed
 *
 * Memory that is larger than any slab object comes in single pages: rounding it up to a
 * power of two could double it.
 *
 * Return: memory to be freed by kvfree(), or NULL.
 */
void *unwind_table_alloc(size_t bytes, gfp_t gfp)
{
	return bytes <= KMALLOC_MAX_CACHE_SIZE ? kmalloc(bytes, gfp) : __vmalloc(bytes, gfp);
}

/* Returns the memory that unwind_table_alloc() uses for @bytes, which is charged. */
size_t unwind_table_memory(size_t bytes)
{
	return bytes <= KMALLOC_MAX_CACHE_SIZE ? kmalloc_size_roundup(bytes) : PAGE_ALIGN(bytes);
}

/* Returns how much more the user's tables may hold; negative if they hold too much. */
s64 unwind_table_user_room(const struct unwind_table *table)
{
	return ((s64)READ_ONCE(user_kbytes) << 10) - atomic64_read(&table->user->bytes);
}

static int charge_user(struct unwind_table_user *user, size_t bytes)
{
	u64 max = (u64)READ_ONCE(user_kbytes) << 10;

	if (atomic64_add_return(bytes, &user->bytes) <= max)
		return 0;
	atomic64_sub(bytes, &user->bytes);
	return -EDQUOT;
}

/**
 * unwind_table_charge_free - charge memory to a table that has room for it
 * @table: locked, or not in use yet
 * @bytes: size of the memory
 *
 * Removes no objects to make room: see unwind_table_charge().
 *
 * Return: 0; -EFBIG beyond the table's limit, -EDQUOT beyond the user's.
 */
int unwind_table_charge_free(struct unwind_table *table, size_t bytes)
{
	int err;

	if (table->stats.bytes + bytes > unwind_table_max_bytes())
		return -EFBIG;
	err = charge_user(table->user, bytes);
	if (!err)
		table->stats.bytes += bytes;
	return err;
}

void unwind_table_uncharge(struct unwind_table *table, size_t bytes)
{
	table->stats.bytes -= bytes;
	atomic64_sub(bytes, &table->user->bytes);
}

/* Charges the copy of an update, to the user alone.  Returns 0 or -EDQUOT. */
int unwind_table_charge_update(struct unwind_table *table, size_t bytes)
{
	return charge_user(table->user, bytes);
}

void unwind_table_uncharge_update(struct unwind_table *table, size_t bytes)
{
	atomic64_sub(bytes, &table->user->bytes);
}

/**
 * unwind_table_retire - free memory after a grace period
 * @table: locked; the memory is charged until it is freed
 * @what: head of the memory, which new samples do not find any more
 * @bytes: size of the memory
 */
void unwind_table_retire(struct unwind_table *table, struct perf_unwind_retired *what,
			 size_t bytes)
{
	what->bytes = bytes;
	what->grace = get_state_synchronize_rcu();
	list_add_tail(&what->node, &table->retired);
	table->retired_bytes += bytes;
}

static void free_retired(struct unwind_table *table, struct perf_unwind_retired *what)
{
	list_del(&what->node);
	table->retired_bytes -= what->bytes;
	unwind_table_uncharge(table, what->bytes);
	kvfree(what);
}

/**
 * unwind_table_reap - free retired memory
 * @table: locked
 * @all: free all of it, and wait for grace periods
 */
void unwind_table_reap(struct unwind_table *table, bool all)
{
	struct perf_unwind_retired *what, *next;

	list_for_each_entry_safe(what, next, &table->retired, node) {
		if (all)
			cond_synchronize_rcu(what->grace);
		else if (!poll_state_synchronize_rcu(what->grace))
			break;
		free_retired(table, what);
	}
}

/**
 * unwind_table_free_retired - free all retired memory without waiting
 * @table: no longer in use by anybody, nor by a sample
 */
void unwind_table_free_retired(struct unwind_table *table)
{
	struct perf_unwind_retired *what, *next;

	list_for_each_entry_safe(what, next, &table->retired, node)
		free_retired(table, what);
}
