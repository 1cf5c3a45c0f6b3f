// SPDX-License-Identifier: GPL-2.0
/*
 * The objects of a table.  Samples read their rows under RCU, in NMI.  Loading rows
 * publishes a new array of rows and frees the old one after a grace period.
 */
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/stat.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>

#include "table.h"

/* If more replaced memory than this waits for a grace period, a load waits, too. */
#define UNWIND_TABLE_MAX_RETIRED	(4 << 20)

static struct perf_unwind_rows *rows_of(const struct unwind_table *table,
					const struct perf_unwind_object *object)
{
	return rcu_dereference_protected(object->rows, lockdep_is_held(&table->lock));
}

static size_t rows_memory(u32 nr)
{
	return unwind_table_memory(unwind_table_rows_size(nr));
}

static size_t object_size(const struct unwind_table *table,
			  const struct perf_unwind_object *object)
{
	const struct perf_unwind_rows *rows = rows_of(table, object);

	return unwind_table_memory(sizeof(*object)) + (rows ? rows_memory(rows->nr) : 0);
}

static struct perf_unwind_object *find(struct unwind_table *table,
				       const struct perf_unwind_key *key)
{
	struct perf_unwind_object *object;

	hash_for_each_possible(table->base.objects, object, node, perf_unwind_hash_key(key)) {
		if (perf_unwind_same_key(&object->key, key))
			return object;
	}
	return NULL;
}

static void remove(struct unwind_table *table, struct perf_unwind_object *object)
{
	struct perf_unwind_rows *rows = rows_of(table, object);

	table->stats.objects--;
	hash_del_rcu(&object->node);
	if (table->loading == object)
		table->loading = NULL;
	if (rows) {
		table->stats.rows -= rows->nr;
		unwind_table_retire(table, &rows->retired, rows_memory(rows->nr));
	}
	unwind_table_retire(table, &object->retired, unwind_table_memory(sizeof(*object)));
}

/* Returns the one that was not looked up for longer. */
static struct perf_unwind_object *colder(struct perf_unwind_object *a,
					 struct perf_unwind_object *b)
{
	return !a || time_before(READ_ONCE(b->used), READ_ONCE(a->used)) ? b : a;
}

/* Removes, of the objects with this hash, the one that was not looked up for longest. */
static void evict_from(struct unwind_table *table, unsigned long hash)
{
	struct perf_unwind_object *object, *coldest = NULL;

	hash_for_each_possible(table->base.objects, object, node, hash) {
		if (object != table->loading)
			coldest = colder(coldest, object);
	}
	if (!coldest)
		return;
	remove(table, coldest);
	table->stats.evicted++;
}

/* Removes the object that was not looked up for longest; false if there is none. */
static bool evict(struct unwind_table *table)
{
	struct perf_unwind_object *object, *coldest = NULL;
	int bucket;

	hash_for_each(table->base.objects, bucket, object, node) {
		if (object != table->loading)
			coldest = colder(coldest, object);
	}
	if (!coldest)
		return false;
	remove(table, coldest);
	table->stats.evicted++;
	return true;
}

/* Memory of the table, without replaced memory that waits for a grace period. */
static u64 live_bytes(const struct unwind_table *table)
{
	return table->stats.bytes - table->retired_bytes;
}

/* Would @bytes fit if all other objects were removed?  Returns 0, -EFBIG or -EDQUOT. */
static int can_fit(struct unwind_table *table, size_t bytes)
{
	struct perf_unwind_object *object;
	u64 others = 0;
	int bucket;

	hash_for_each(table->base.objects, bucket, object, node) {
		if (object != table->loading)
			others += object_size(table, object);
	}
	if (live_bytes(table) - others + bytes > unwind_table_max_bytes())
		return -EFBIG;
	if (unwind_table_user_room(table) + (s64)(table->retired_bytes + others) < (s64)bytes)
		return -EDQUOT;
	return 0;
}

/*
 * Removes objects of this table, least recently used first, until @bytes fit into the
 * limits of the table and of its user.  Waits until the removed memory is freed.
 *
 * Returns 0; -EFBIG or -EDQUOT if that would not be enough: then no object was removed.
 */
static int make_room(struct unwind_table *table, size_t bytes)
{
	int err = can_fit(table, bytes);

	if (err)
		return err;
	while (live_bytes(table) + bytes > unwind_table_max_bytes() ||
	       unwind_table_user_room(table) + (s64)table->retired_bytes < (s64)bytes) {
		if (!evict(table))
			break;
	}
	unwind_table_reap(table, true);
	return 0;
}

/**
 * unwind_table_charge - charge memory to a table, and make room for it
 * @table: locked, or not in use yet
 * @bytes: size of the memory
 *
 * Removes objects if need be, least recently used first, but not the one that rows are
 * being loaded for.
 *
 * Return: 0; -EFBIG if the table's limit is too low, -EDQUOT if the user's is.  Then no
 *	object was removed.
 */
int unwind_table_charge(struct unwind_table *table, size_t bytes)
{
	int err = unwind_table_charge_free(table, bytes);

	if (err)
		err = make_room(table, bytes) ?: unwind_table_charge_free(table, bytes);
	return err;
}

static void read_ctime(struct perf_unwind_object *object,
		       const struct unwind_table_subject *subject)
{
	struct kstat stat;

	/* After a query of the ctime, the next change of the file gives it another one. */
	vfs_getattr_nosec(&subject->file->f_path, &stat, STATX_CTIME, 0);
	/* Writers of the file hold no lock that could be taken here. */
	object->sec = data_race(inode_get_ctime_sec(subject->inode));
	/* If it changed in between, the rows are not current, and have to be loaded again. */
	object->nsec = data_race(inode_get_ctime_nsec(subject->inode));
}

/*
 * Does the next change of the file give it another ctime, whenever it comes?  A ctime in the
 * future was set by a server's clock, or before the clock was set back.
 */
static bool read_settled_ctime(struct perf_unwind_object *object,
			       const struct unwind_table_subject *subject)
{
	struct timespec64 before, after, ctime;

	ktime_get_coarse_real_ts64(&before);
	read_ctime(object, subject);
	ktime_get_coarse_real_ts64(&after);
	before = timestamp_truncate(before, subject->inode);
	after = timestamp_truncate(after, subject->inode);
	ctime = (struct timespec64) { .tv_sec = object->sec, .tv_nsec = object->nsec };
	return timespec64_compare(&ctime, &before) < 0 || timespec64_compare(&ctime, &after) > 0;
}

/*
 * Without multigrain timestamps (Documentation/filesystems/multigrain-ts.rst) a ctime is
 * no finer than a tick, and on some file systems (ext2, and ext4 with small inodes) than a
 * second.  If the file was changed in the current tick or second, wait for the next one.
 *
 * Return: whether the file's next change is visible.
 */
static bool set_ctime(struct perf_unwind_object *object, const struct unwind_table_subject *subject)
{
	if (read_settled_ctime(object, subject))
		return true;
	schedule_timeout_killable(nsecs_to_jiffies(subject->inode->i_sb->s_time_gran) + 2);
	return read_settled_ctime(object, subject);
}

static struct perf_unwind_object *add(struct unwind_table *table,
				      const struct unwind_table_subject *subject)
{
	unsigned long hash = perf_unwind_hash_key(&subject->key);
	struct perf_unwind_object *object, *other;
	unsigned int probes = 0;
	int err;

	err = unwind_table_charge(table, unwind_table_memory(sizeof(*object)));
	if (err)
		return ERR_PTR(err);
	object = kzalloc_obj(*object, GFP_KERNEL_ACCOUNT);
	if (!object) {
		unwind_table_uncharge(table, unwind_table_memory(sizeof(*object)));
		return ERR_PTR(-ENOMEM);
	}
	object->key = subject->key;
	object->used = jiffies;
	if (subject->inode) {
		/*
		 * After set_ctime(), because who maps the file for writing from now on
		 * changes the ctime.  If somebody has mapped it for writing already, or goes
		 * on to change it, no sample may use the rows.  This is no error: an error
		 * would show what other users do.
		 */
		if (!set_ctime(object, subject) ||
		    !perf_unwind_is_current(object, subject->inode))
			object->nsec = -1;
	}
	hash_add_rcu(table->base.objects, &object->node, hash);
	table->stats.objects++;
	table->loading = object;

	/* Samples compare no more objects than this. */
	hash_for_each_possible(table->base.objects, other, node, hash)
		probes++;
	if (probes > PERF_UNWIND_MAX_PROBES)
		evict_from(table, hash);
	return object;
}

/* @nr: number of rows after the update, at least 1 */
static int replace_rows(struct unwind_table *table, struct perf_unwind_object *object,
			const struct unwind_table_update *update, u32 nr)
{
	struct perf_unwind_rows *old = rows_of(table, object), *new;
	int err;

	err = unwind_table_charge(table, rows_memory(nr));
	if (err)
		return err;
	new = unwind_table_alloc(unwind_table_rows_size(nr), GFP_KERNEL_ACCOUNT);
	if (!new) {
		unwind_table_uncharge(table, rows_memory(nr));
		return -ENOMEM;
	}
	unwind_table_rows_fill(new, nr, old, update);
	rcu_assign_pointer(object->rows, new);
	table->stats.rows += nr;
	if (old) {
		table->stats.rows -= old->nr;
		unwind_table_retire(table, &old->retired, rows_memory(old->nr));
	}
	return 0;
}

/**
 * unwind_table_begin_update - charge the copy of an update while it is in use
 * @table: locked
 * @subject: object of the update; it is not removed to make room
 * @bytes: size of the copy; charged to the user, not to the table
 *
 * Return: 0: the caller calls unwind_table_end_update(); or -EFBIG or -EDQUOT.
 */
int unwind_table_begin_update(struct unwind_table *table,
			      const struct unwind_table_subject *subject, size_t bytes)
{
	int err;

	table->loading = find(table, &subject->key);
	err = unwind_table_charge_update(table, bytes);
	if (err && !make_room(table, bytes))
		err = unwind_table_charge_update(table, bytes);
	if (err)
		table->loading = NULL;
	return err;
}

void unwind_table_end_update(struct unwind_table *table, size_t bytes)
{
	table->loading = NULL;
	unwind_table_uncharge_update(table, bytes);
}

/**
 * unwind_table_load - load rows of an object
 * @table: locked, between unwind_table_begin_update() and unwind_table_end_update()
 * @subject: the object
 * @update: valid rows that refer to rules of the table
 *
 * Return: 0, -EFBIG, -EDQUOT or -ENOMEM.
 */
int unwind_table_load(struct unwind_table *table, const struct unwind_table_subject *subject,
		      const struct unwind_table_update *update)
{
	struct perf_unwind_object *object = table->loading;
	bool is_new = false;
	u32 nr;
	int err;

	unwind_table_reap(table, table->retired_bytes > UNWIND_TABLE_MAX_RETIRED);
	if (object && !perf_unwind_is_current(object, subject->inode)) {
		remove(table, object);
		object = NULL;
	}
	nr = unwind_table_rows_count(object ? rows_of(table, object) : NULL, update);
	if (!nr) {
		if (object)
			remove(table, object);
		table->stats.loads++;
		return 0;
	}
	if (!object) {
		object = add(table, subject);
		if (IS_ERR(object))
			return PTR_ERR(object);
		is_new = true;
	}
	err = replace_rows(table, object, update, nr);
	if (err && is_new)
		remove(table, object);
	if (!err)
		table->stats.loads++;
	return err;
}

/* Removes an object.  Return: 0, or -ENOENT. */
int unwind_table_unload(struct unwind_table *table, const struct perf_unwind_key *key)
{
	struct perf_unwind_object *object = find(table, key);

	if (!object)
		return -ENOENT;
	remove(table, object);
	unwind_table_reap(table, true);
	return 0;
}

/* Removes all objects; the rules stay. */
void unwind_table_remove_all(struct unwind_table *table)
{
	struct perf_unwind_object *object;
	struct hlist_node *next;
	int bucket;

	hash_for_each_safe(table->base.objects, bucket, next, object, node)
		remove(table, object);
}
