// SPDX-License-Identifier: GPL-2.0
/*
 * Limits on the memory of each table, by a parameter of the module, and of all tables of a user,
 * by RLIMIT_MEMLOCK
 */
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "table.h"

static unsigned int table_kbytes = 64 << 10;
module_param(table_kbytes, uint, 0644);
MODULE_PARM_DESC(table_kbytes, "limit of a table, in KiB");

u64 unwind_table_max_bytes(void)
{
	return (u64)READ_ONCE(table_kbytes) << 10;
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

static unsigned long pages_of(u64 bytes)
{
	return PAGE_ALIGN(bytes) >> PAGE_SHIFT;
}

/* Returns how many more bytes the user's tables may hold; negative if they hold too much. */
s64 unwind_table_user_room(const struct unwind_table *table)
{
	return ((s64)perf_unwind_user_room(table->user) << PAGE_SHIFT) +
	       (PAGE_ALIGN(table->user_bytes) - table->user_bytes);
}

/* Counts are of whole pages, for the sum of all that a table has charged. */
static int charge_user(struct unwind_table *table, size_t bytes)
{
	u64 before = table->user_bytes, after = before + bytes;
	int err = 0;

	if (pages_of(after) > pages_of(before))
		err = perf_unwind_user_charge(table->user, pages_of(after) - pages_of(before));
	if (!err)
		table->user_bytes = after;
	return err;
}

static void uncharge_user(struct unwind_table *table, size_t bytes)
{
	u64 before = table->user_bytes, after = before - bytes;

	table->user_bytes = after;
	if (pages_of(after) < pages_of(before))
		perf_unwind_user_uncharge(table->user, pages_of(before) - pages_of(after));
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
	err = charge_user(table, bytes);
	if (!err)
		table->stats.bytes += bytes;
	return err;
}

void unwind_table_uncharge(struct unwind_table *table, size_t bytes)
{
	table->stats.bytes -= bytes;
	uncharge_user(table, bytes);
}

/* Charges the copy of an update, to the user alone.  Returns 0 or -EDQUOT. */
int unwind_table_charge_update(struct unwind_table *table, size_t bytes)
{
	return charge_user(table, bytes);
}

void unwind_table_uncharge_update(struct unwind_table *table, size_t bytes)
{
	uncharge_user(table, bytes);
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
