// SPDX-License-Identifier: GPL-2.0
/*
 * The objects of a table.  Samples read them under RCU, in NMI: what is taught
 * becomes a new array of rows in place of the old one.
 */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/stat.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>

#include "table.h"

/* What was replaced and waits for its end may grow to this before an update waits. */
#define UNWIND_TABLE_MAX_RETIRED	(4 << 20)

static struct perf_unwind_rows *rows_of(const struct perf_unwind_object *object)
{
	return rcu_dereference_protected(object->rows, 1);
}

static size_t rows_memory(u32 nr)
{
	return unwind_table_memory(unwind_table_rows_size(nr));
}

static size_t object_size(const struct perf_unwind_object *object)
{
	const struct perf_unwind_rows *rows = rows_of(object);

	return unwind_table_memory(sizeof(*object)) + (rows ? rows_memory(rows->nr) : 0);
}

static struct perf_unwind_object *find(struct unwind_table *table, const struct perf_unwind_key *key)
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
	struct perf_unwind_rows *rows = rows_of(object);

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

static struct perf_unwind_object *colder(struct perf_unwind_object *a,
					 struct perf_unwind_object *b)
{
	return !a || time_before(READ_ONCE(b->used), READ_ONCE(a->used)) ? b : a;
}

/* Of those with that hash, the one that was not asked for longest makes room. */
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

/* Makes room by the object that was not asked for longest; false for none. */
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

/* What it holds when all that was retired is freed. */
static u64 live_bytes(const struct unwind_table *table)
{
	return table->stats.bytes - table->retired_bytes;
}

/* Would it fit, if all other objects went?  0, -EFBIG or -EDQUOT. */
static int can_fit(struct unwind_table *table, size_t bytes)
{
	struct perf_unwind_object *object;
	u64 others = 0;
	int bucket;

	hash_for_each(table->base.objects, bucket, object, node) {
		if (object != table->loading)
			others += object_size(object);
	}
	if (live_bytes(table) - others + bytes > unwind_table_max_bytes())
		return -EFBIG;
	if (unwind_table_user_room(table) + (s64)(table->retired_bytes + others) < (s64)bytes)
		return -EDQUOT;
	return 0;
}

/*
 * Forgets objects that were not asked for longest, until there is room for @bytes, in the
 * table and in what its user may have. What other tables of the user have stays. Waits
 * until what was forgotten is freed.
 *
 * Returns 0, -EFBIG or -EDQUOT: nothing was forgotten then, as that would not do.
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
 * unwind_table_charge - account for memory that a table is about to have, and make room for it
 * @table: locked, or not in use yet
 * @bytes: how much
 *
 * Objects that were not asked for longest make room, but not the one that is taught.
 *
 * Return: 0; -EFBIG beyond the table's limit, -EDQUOT beyond the user's: nothing was
 *	forgotten then.
 */
int unwind_table_charge(struct unwind_table *table, size_t bytes)
{
	int err = unwind_table_charge_free(table, bytes);

	if (err)
		err = make_room(table, bytes) ?: unwind_table_charge_free(table, bytes);
	return err;
}

static void read_ctime(struct perf_unwind_object *object, const struct unwind_table_subject *subject)
{
	struct kstat stat;

	/* Once it was asked for, the next change makes it another. */
	vfs_getattr_nosec(&subject->file->f_path, &stat, STATX_CTIME, 0);
	/* Whoever writes to the file changes it without a lock that could be taken here. */
	object->sec = data_race(inode_get_ctime_sec(subject->inode));
	/* So it may be of a later moment: that is not current, and is taught anew. */
	object->nsec = data_race(inode_get_ctime_nsec(subject->inode));
}

/*
 * But not where a time stamp is no finer than a tick, as without multigrain ones
 * (Documentation/filesystems/multigrain-ts.rst): a file that was changed in this
 * tick has to be older, so that its next change shows.
 */
static void set_ctime(struct perf_unwind_object *object, const struct unwind_table_subject *subject)
{
	struct timespec64 tick, ctime;

	read_ctime(object, subject);
	ktime_get_coarse_real_ts64(&tick);
	ctime = (struct timespec64) { .tv_sec = object->sec, .tv_nsec = object->nsec };
	if (timespec64_compare(&ctime, &tick) < 0)
		return;
	schedule_timeout_uninterruptible(2);
	read_ctime(object, subject);
}

static struct perf_unwind_object *add(struct unwind_table *table, const struct unwind_table_subject *subject)
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
		set_ctime(object, subject);
		/*
		 * In this order: who maps it for writing from now on changes the
		 * ctime.  If somebody has, no sample uses what is taught of it; that
		 * is no error, which would tell of others.
		 */
		if (!perf_unwind_is_current(object, subject->inode))
			object->nsec = -1;
	}
	hash_add_rcu(table->base.objects, &object->node, hash);
	table->stats.objects++;
	table->loading = object;

	/* A sample would not look any further. */
	hash_for_each_possible(table->base.objects, other, node, hash)
		probes++;
	if (probes > PERF_UNWIND_MAX_PROBES)
		evict_from(table, hash);
	return object;
}

/* @nr: rows that it will have, at least 1 */
static int replace_rows(struct unwind_table *table, struct perf_unwind_object *object,
			const struct unwind_table_update *update, u32 nr)
{
	struct perf_unwind_rows *old = rows_of(object), *new;
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
 * unwind_table_begin_update - account for what is copied of an update, for as long as it takes
 * @table: locked
 * @subject: what the update is about: other objects make room, this one does not
 * @bytes: of the copy; they count for the user alone
 *
 * Return: 0, -EFBIG or -EDQUOT; else unwind_table_end_update() it.
 */
int unwind_table_begin_update(struct unwind_table *table, const struct unwind_table_subject *subject, size_t bytes)
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
 * unwind_table_load - have rows of an object in a table
 * @table: locked, between unwind_table_begin_update() and unwind_table_end_update()
 * @subject: the object
 * @update: checked, with the table's rules
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
	nr = unwind_table_rows_count(object ? rows_of(object) : NULL, update);
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

/* Return: 0, or -ENOENT. */
int unwind_table_unload(struct unwind_table *table, const struct perf_unwind_key *key)
{
	struct perf_unwind_object *object = find(table, key);

	if (!object)
		return -ENOENT;
	remove(table, object);
	unwind_table_reap(table, true);
	return 0;
}

static void remove_all(struct unwind_table *table)
{
	struct perf_unwind_object *object;
	struct hlist_node *next;
	int bucket;

	hash_for_each_safe(table->base.objects, bucket, next, object, node)
		remove(table, object);
}

void unwind_table_unload_all(struct unwind_table *table)
{
	remove_all(table);
	unwind_table_reap(table, true);
	/* Nor has any sample a row that names a rule. */
	synchronize_rcu();
	unwind_table_rules_unload(table);
}

/* A table of current's; an error pointer where there is no memory for it. */
struct unwind_table *unwind_table_new(void)
{
	struct unwind_table *table = unwind_table_alloc(sizeof(*table), GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	int err = -ENOMEM;

	if (!table)
		return ERR_PTR(-ENOMEM);
	hash_init(table->base.objects);
	INIT_LIST_HEAD(&table->retired);
	mutex_init(&table->lock);
	table->user = unwind_table_user_get(current_euid());
	if (!table->user)
		goto free;
	err = unwind_table_charge_free(table, unwind_table_memory(sizeof(*table)));
	if (err)
		goto put_user;
	err = unwind_table_rules_init(table);
	if (!err)
		return table;
	unwind_table_uncharge(table, unwind_table_memory(sizeof(*table)));
put_user:
	unwind_table_user_put(table->user);
free:
	kvfree(table);
	return ERR_PTR(err);
}

/*
 * No event has it any more, and those that had it were freed after a grace period: no
 * sample reads what is in it.  Not to wait here matters: where an event was the last
 * to have it, it is one worker of the whole system that closes the file.
 */
void unwind_table_delete(struct unwind_table *table)
{
	remove_all(table);
	unwind_table_rules_exit(table);
	unwind_table_free_retired(table);
	unwind_table_uncharge(table, unwind_table_memory(sizeof(*table)));
	unwind_table_user_put(table->user);
	mutex_destroy(&table->lock);
	kvfree(table);
}
