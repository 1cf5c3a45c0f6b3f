// SPDX-License-Identifier: GPL-2.0
/* A table of unwind rules, from open() to the last fput(). */
#include <linux/err.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "table.h"

/* Removes all objects and all rules. */
void unwind_table_unload_all(struct unwind_table *table)
{
	unwind_table_remove_all(table);
	unwind_table_reap(table, true);
	/* From now on no sample has a row that refers to a rule. */
	synchronize_rcu();
	unwind_table_rules_unload(table);
}

/* Returns an empty table of the current user, or an error pointer. */
struct unwind_table *unwind_table_new(void)
{
	struct unwind_table *table;
	int err = -ENOMEM;

	table = unwind_table_alloc(sizeof(*table), GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!table)
		return ERR_PTR(-ENOMEM);
	hash_init(table->base.objects);
	INIT_LIST_HEAD(&table->retired);
	mutex_init(&table->lock);
	table->user = perf_unwind_user_get();
	if (!table->user)
		goto free;
	err = unwind_table_charge_free(table, unwind_table_memory(sizeof(*table)));
	if (err)
		goto put_user;
	mutex_lock(&table->lock);
	err = unwind_table_rules_init(table);
	mutex_unlock(&table->lock);
	if (!err)
		return table;
	unwind_table_uncharge(table, unwind_table_memory(sizeof(*table)));
put_user:
	perf_unwind_user_put(table->user);
free:
	kvfree(table);
	return ERR_PTR(err);
}

/*
 * All events that had the table were freed after a grace period, so no sample reads it.
 * Do not wait here: if an event held the last reference, a worker that all of the system
 * shares calls this.
 */
void unwind_table_delete(struct unwind_table *table)
{
	mutex_lock(&table->lock);
	unwind_table_remove_all(table);
	unwind_table_rules_exit(table);
	mutex_unlock(&table->lock);
	unwind_table_free_retired(table);
	unwind_table_uncharge(table, unwind_table_memory(sizeof(*table)));
	perf_unwind_user_put(table->user);
	mutex_destroy(&table->lock);
	kvfree(table);
}
