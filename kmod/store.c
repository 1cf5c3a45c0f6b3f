// SPDX-License-Identifier: GPL-2.0
/*
 * The objects of a store.  Samples read them under RCU, in NMI: what is taught
 * becomes a new array of rows in place of the old one.
 */
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/stat.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>

#include "store.h"

static struct perf_hybrid_rows *rows_of(const struct perf_hybrid_object *object)
{
	return rcu_dereference_protected(object->rows, 1);
}

static size_t object_size(const struct perf_hybrid_object *object)
{
	const struct perf_hybrid_rows *rows = rows_of(object);

	return sizeof(*object) + (rows ? store_rows_size(rows->nr) : 0);
}

static struct perf_hybrid_object *find(struct store *store, const void *key)
{
	struct perf_hybrid_object *object;

	hash_for_each_possible(store->base.objects, object, node, (unsigned long)key) {
		if (object->key == key)
			return object;
	}
	return NULL;
}

static void object_free(struct rcu_head *head)
{
	struct perf_hybrid_object *object = container_of(head, struct perf_hybrid_object, rcu);

	if (object->file)
		fput(object->file);
	kvfree(rcu_access_pointer(object->rows));
	kfree(object);
}

static void remove(struct store *store, struct perf_hybrid_object *object)
{
	const struct perf_hybrid_rows *rows = rows_of(object);

	store_uncharge(store, object_size(object));
	store->stats.objects--;
	store->stats.rows -= rows ? rows->nr : 0;
	hash_del_rcu(&object->node);
	call_rcu(&object->rcu, object_free);
}

/* Makes room by the object that was not asked for longest; false for none. */
static bool evict(struct store *store, const struct perf_hybrid_object *but)
{
	struct perf_hybrid_object *object, *coldest = NULL;
	int bucket;

	hash_for_each(store->base.objects, bucket, object, node) {
		if (object != but && (!coldest || time_before(READ_ONCE(object->used),
							      READ_ONCE(coldest->used))))
			coldest = object;
	}
	if (!coldest)
		return false;
	remove(store, coldest);
	store->stats.evicted++;
	return true;
}

/* Would it fit, if all other objects went? */
static bool can_fit(struct store *store, size_t bytes, const struct perf_hybrid_object *but)
{
	u64 rest = store->stats.bytes;
	struct perf_hybrid_object *object;
	int bucket;

	hash_for_each(store->base.objects, bucket, object, node) {
		if (object != but)
			rest -= object_size(object);
	}
	return rest + bytes <= store_max_bytes();
}

static int charge(struct store *store, size_t bytes, const struct perf_hybrid_object *but)
{
	int err = store_charge(store, bytes);

	if (err == -EFBIG && !can_fit(store, bytes, but))
		return err;
	while (err == -EFBIG && evict(store, but))
		err = store_charge(store, bytes);
	return err;
}

static void read_ctime(struct perf_hybrid_object *object)
{
	const struct inode *inode = object->key;
	struct kstat stat;

	/* Once it was asked for, the next change makes it another. */
	vfs_getattr_nosec(&object->file->f_path, &stat, STATX_CTIME, 0);
	object->ctime.tv_sec = inode_get_ctime_sec(inode);
	object->ctime.tv_nsec = inode_get_ctime_nsec(inode);
}

/*
 * But not where a time stamp is no finer than a tick, as without multigrain ones
 * (Documentation/filesystems/multigrain-ts.rst): a file that was changed in this
 * tick has to be older, so that its next change shows.
 */
static void set_ctime(struct perf_hybrid_object *object)
{
	struct timespec64 tick;

	read_ctime(object);
	ktime_get_coarse_real_ts64(&tick);
	if (timespec64_compare(&object->ctime, &tick) < 0)
		return;
	schedule_timeout_uninterruptible(2);
	read_ctime(object);
}

static struct perf_hybrid_object *add(struct store *store, const void *key,
				      struct file *file)
{
	struct perf_hybrid_object *object, *other;
	unsigned int probes = 0;
	int err;

	err = charge(store, sizeof(*object), NULL);
	if (err)
		return ERR_PTR(err);
	object = kzalloc_obj(*object, GFP_KERNEL_ACCOUNT);
	if (!object) {
		store_uncharge(store, sizeof(*object));
		return ERR_PTR(-ENOMEM);
	}
	object->key = key;
	object->used = jiffies;
	if (file) {
		object->file = get_file(file);
		set_ctime(object);
	}
	hash_add_rcu(store->base.objects, &object->node, (unsigned long)key);
	store->stats.objects++;

	/* A sample would not look any further. */
	hash_for_each_possible(store->base.objects, other, node, (unsigned long)key)
		probes++;
	if (probes > PERF_HYBRID_MAX_PROBES)
		evict(store, object);
	return object;
}

/* @nr: rows that it will have, at least 1 */
static int replace_rows(struct store *store, struct perf_hybrid_object *object,
			const struct store_lesson *lesson, u32 nr)
{
	struct perf_hybrid_rows *old = rows_of(object), *new;
	int err;

	err = charge(store, store_rows_size(nr), object);
	if (err)
		return err;
	new = kvmalloc(store_rows_size(nr), GFP_KERNEL_ACCOUNT);
	if (!new) {
		store_uncharge(store, store_rows_size(nr));
		return -ENOMEM;
	}
	store_rows_fill(new, nr, old, lesson);
	rcu_assign_pointer(object->rows, new);
	store->stats.rows += nr;
	if (old) {
		store->stats.rows -= old->nr;
		store_uncharge(store, store_rows_size(old->nr));
		kvfree_rcu(old, rcu);
	}
	return 0;
}

/**
 * store_teach - have rows of an object in a store
 * @store: locked
 * @key: the inode that its mappings have, or a vDSO's image
 * @file: that keeps the inode, NULL for a vDSO
 * @lesson: checked, with the store's rules
 *
 * Return: 0, -EFBIG, -EDQUOT, -ENOMEM or -ETXTBSY.
 */
int store_teach(struct store *store, const void *key, struct file *file,
		const struct store_lesson *lesson)
{
	struct perf_hybrid_object *object = find(store, key);
	bool is_new = false;
	u32 nr;
	int err;

	if (object && !perf_hybrid_is_current(object)) {
		remove(store, object);
		object = NULL;
	}
	nr = store_rows_count(object ? rows_of(object) : NULL, lesson);
	if (!nr) {
		if (object)
			remove(store, object);
		store->stats.taught++;
		return 0;
	}
	if (!object) {
		object = add(store, key, file);
		if (IS_ERR(object))
			return PTR_ERR(object);
		is_new = true;
	}
	/* In this order: who maps it for writing from now on changes the ctime. */
	err = is_new && !perf_hybrid_is_current(object) ? -ETXTBSY :
	      replace_rows(store, object, lesson, nr);
	if (err && is_new)
		remove(store, object);
	if (!err)
		store->stats.taught++;
	return err;
}

/* Return: 0, or -ENOENT. */
int store_forget(struct store *store, const void *key)
{
	struct perf_hybrid_object *object = find(store, key);

	if (!object)
		return -ENOENT;
	remove(store, object);
	return 0;
}

void store_forget_all(struct store *store)
{
	struct perf_hybrid_object *object;
	struct hlist_node *next;
	int bucket;

	hash_for_each_safe(store->base.objects, bucket, next, object, node)
		remove(store, object);
	/* Then no sample has a row that names a rule. */
	synchronize_rcu();
	store_rules_forget(store);
}

/* A store of current's; an error pointer where there is no memory for it. */
struct store *store_new(void)
{
	struct store *store = kzalloc(sizeof(*store), GFP_KERNEL_ACCOUNT);
	int err = -ENOMEM;

	if (!store)
		return ERR_PTR(-ENOMEM);
	hash_init(store->base.objects);
	mutex_init(&store->lock);
	store->user = store_user_get(current_euid());
	if (!store->user)
		goto free;
	err = store_charge(store, sizeof(*store));
	if (err)
		goto put_user;
	err = store_rules_init(store);
	if (!err)
		return store;
	store_uncharge(store, sizeof(*store));
put_user:
	store_user_put(store->user);
free:
	kfree(store);
	return ERR_PTR(err);
}

/* No event has it any more. */
void store_delete(struct store *store)
{
	store_forget_all(store);
	store_rules_exit(store);
	store_uncharge(store, sizeof(*store));
	store_user_put(store->user);
	mutex_destroy(&store->lock);
	kfree(store);
}
