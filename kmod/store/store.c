// SPDX-License-Identifier: GPL-2.0
/*
 * The objects of a store.  Samples read them under RCU, in NMI: what is taught
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

#include "store.h"

/* What was replaced and waits for its end may grow to this before an update waits. */
#define STORE_MAX_RETIRED	(4 << 20)

static struct perf_hybrid_rows *rows_of(const struct perf_hybrid_object *object)
{
	return rcu_dereference_protected(object->rows, 1);
}

static size_t rows_memory(u32 nr)
{
	return store_memory(store_rows_size(nr));
}

static size_t object_size(const struct perf_hybrid_object *object)
{
	const struct perf_hybrid_rows *rows = rows_of(object);

	return store_memory(sizeof(*object)) + (rows ? rows_memory(rows->nr) : 0);
}

static struct perf_hybrid_object *find(struct store *store, const struct perf_hybrid_key *key)
{
	struct perf_hybrid_object *object;

	hash_for_each_possible(store->base.objects, object, node, perf_hybrid_hash_key(key)) {
		if (perf_hybrid_same_key(&object->key, key))
			return object;
	}
	return NULL;
}

static void remove(struct store *store, struct perf_hybrid_object *object)
{
	struct perf_hybrid_rows *rows = rows_of(object);

	store->stats.objects--;
	hash_del_rcu(&object->node);
	if (store->taught == object)
		store->taught = NULL;
	if (rows) {
		store->stats.rows -= rows->nr;
		store_retire(store, &rows->retired, rows_memory(rows->nr));
	}
	store_retire(store, &object->retired, store_memory(sizeof(*object)));
}

static struct perf_hybrid_object *colder(struct perf_hybrid_object *a,
					 struct perf_hybrid_object *b)
{
	return !a || time_before(READ_ONCE(b->used), READ_ONCE(a->used)) ? b : a;
}

/* Of those with that hash, the one that was not asked for longest makes room. */
static void evict_from(struct store *store, unsigned long hash)
{
	struct perf_hybrid_object *object, *coldest = NULL;

	hash_for_each_possible(store->base.objects, object, node, hash) {
		if (object != store->taught)
			coldest = colder(coldest, object);
	}
	if (!coldest)
		return;
	remove(store, coldest);
	store->stats.evicted++;
}

/* Makes room by the object that was not asked for longest; false for none. */
static bool evict(struct store *store)
{
	struct perf_hybrid_object *object, *coldest = NULL;
	int bucket;

	hash_for_each(store->base.objects, bucket, object, node) {
		if (object != store->taught)
			coldest = colder(coldest, object);
	}
	if (!coldest)
		return false;
	remove(store, coldest);
	store->stats.evicted++;
	return true;
}

/* What it holds when all that was retired is freed. */
static u64 live_bytes(const struct store *store)
{
	return store->stats.bytes - store->retired_bytes;
}

/* Would it fit, if all other objects went?  0, -EFBIG or -EDQUOT. */
static int can_fit(struct store *store, size_t bytes)
{
	struct perf_hybrid_object *object;
	u64 others = 0;
	int bucket;

	hash_for_each(store->base.objects, bucket, object, node) {
		if (object != store->taught)
			others += object_size(object);
	}
	if (live_bytes(store) - others + bytes > store_max_bytes())
		return -EFBIG;
	if (store_user_room(store) + (s64)(store->retired_bytes + others) < (s64)bytes)
		return -EDQUOT;
	return 0;
}

/*
 * Forgets objects that were not asked for longest, until there is room for @bytes, in the
 * store and in what its user may have. What other stores of the user have stays. Waits
 * until what was forgotten is freed.
 *
 * Returns 0, -EFBIG or -EDQUOT: nothing was forgotten then, as that would not do.
 */
static int make_room(struct store *store, size_t bytes)
{
	int err = can_fit(store, bytes);

	if (err)
		return err;
	while (live_bytes(store) + bytes > store_max_bytes() ||
	       store_user_room(store) + (s64)store->retired_bytes < (s64)bytes) {
		if (!evict(store))
			break;
	}
	store_reap(store, true);
	return 0;
}

/**
 * store_charge - account for memory that a store is about to have, and make room for it
 * @store: locked, or not in use yet
 * @bytes: how much
 *
 * Objects that were not asked for longest make room, but not the one that is taught.
 *
 * Return: 0; -EFBIG beyond the store's limit, -EDQUOT beyond the user's: nothing was
 *	forgotten then.
 */
int store_charge(struct store *store, size_t bytes)
{
	int err = store_charge_free(store, bytes);

	if (err)
		err = make_room(store, bytes) ?: store_charge_free(store, bytes);
	return err;
}

static void read_ctime(struct perf_hybrid_object *object, const struct store_subject *subject)
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
static void set_ctime(struct perf_hybrid_object *object, const struct store_subject *subject)
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

static struct perf_hybrid_object *add(struct store *store, const struct store_subject *subject)
{
	unsigned long hash = perf_hybrid_hash_key(&subject->key);
	struct perf_hybrid_object *object, *other;
	unsigned int probes = 0;
	int err;

	err = store_charge(store, store_memory(sizeof(*object)));
	if (err)
		return ERR_PTR(err);
	object = kzalloc_obj(*object, GFP_KERNEL_ACCOUNT);
	if (!object) {
		store_uncharge(store, store_memory(sizeof(*object)));
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
		if (!perf_hybrid_is_current(object, subject->inode))
			object->nsec = -1;
	}
	hash_add_rcu(store->base.objects, &object->node, hash);
	store->stats.objects++;
	store->taught = object;

	/* A sample would not look any further. */
	hash_for_each_possible(store->base.objects, other, node, hash)
		probes++;
	if (probes > PERF_HYBRID_MAX_PROBES)
		evict_from(store, hash);
	return object;
}

/* @nr: rows that it will have, at least 1 */
static int replace_rows(struct store *store, struct perf_hybrid_object *object,
			const struct store_update *update, u32 nr)
{
	struct perf_hybrid_rows *old = rows_of(object), *new;
	int err;

	err = store_charge(store, rows_memory(nr));
	if (err)
		return err;
	new = store_alloc(store_rows_size(nr), GFP_KERNEL_ACCOUNT);
	if (!new) {
		store_uncharge(store, rows_memory(nr));
		return -ENOMEM;
	}
	store_rows_fill(new, nr, old, update);
	rcu_assign_pointer(object->rows, new);
	store->stats.rows += nr;
	if (old) {
		store->stats.rows -= old->nr;
		store_retire(store, &old->retired, rows_memory(old->nr));
	}
	return 0;
}

/**
 * store_begin_update - account for what is copied of an update, for as long as it takes
 * @store: locked
 * @subject: what the update is about: other objects make room, this one does not
 * @bytes: of the copy; they count for the user alone
 *
 * Return: 0, -EFBIG or -EDQUOT; else store_end_update() it.
 */
int store_begin_update(struct store *store, const struct store_subject *subject, size_t bytes)
{
	int err;

	store->taught = find(store, &subject->key);
	err = store_charge_update(store, bytes);
	if (err && !make_room(store, bytes))
		err = store_charge_update(store, bytes);
	if (err)
		store->taught = NULL;
	return err;
}

void store_end_update(struct store *store, size_t bytes)
{
	store->taught = NULL;
	store_uncharge_update(store, bytes);
}

/**
 * store_teach - have rows of an object in a store
 * @store: locked, between store_begin_update() and store_end_update()
 * @subject: the object
 * @update: checked, with the store's rules
 *
 * Return: 0, -EFBIG, -EDQUOT or -ENOMEM.
 */
int store_teach(struct store *store, const struct store_subject *subject,
		const struct store_update *update)
{
	struct perf_hybrid_object *object = store->taught;
	bool is_new = false;
	u32 nr;
	int err;

	store_reap(store, store->retired_bytes > STORE_MAX_RETIRED);
	if (object && !perf_hybrid_is_current(object, subject->inode)) {
		remove(store, object);
		object = NULL;
	}
	nr = store_rows_count(object ? rows_of(object) : NULL, update);
	if (!nr) {
		if (object)
			remove(store, object);
		store->stats.taught++;
		return 0;
	}
	if (!object) {
		object = add(store, subject);
		if (IS_ERR(object))
			return PTR_ERR(object);
		is_new = true;
	}
	err = replace_rows(store, object, update, nr);
	if (err && is_new)
		remove(store, object);
	if (!err)
		store->stats.taught++;
	return err;
}

/* Return: 0, or -ENOENT. */
int store_forget(struct store *store, const struct perf_hybrid_key *key)
{
	struct perf_hybrid_object *object = find(store, key);

	if (!object)
		return -ENOENT;
	remove(store, object);
	store_reap(store, true);
	return 0;
}

static void remove_all(struct store *store)
{
	struct perf_hybrid_object *object;
	struct hlist_node *next;
	int bucket;

	hash_for_each_safe(store->base.objects, bucket, next, object, node)
		remove(store, object);
}

void store_forget_all(struct store *store)
{
	remove_all(store);
	store_reap(store, true);
	/* Nor has any sample a row that names a rule. */
	synchronize_rcu();
	store_rules_forget(store);
}

/* A store of current's; an error pointer where there is no memory for it. */
struct store *store_new(void)
{
	struct store *store = store_alloc(sizeof(*store), GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	int err = -ENOMEM;

	if (!store)
		return ERR_PTR(-ENOMEM);
	hash_init(store->base.objects);
	INIT_LIST_HEAD(&store->retired);
	mutex_init(&store->lock);
	store->user = store_user_get(current_euid());
	if (!store->user)
		goto free;
	err = store_charge_free(store, store_memory(sizeof(*store)));
	if (err)
		goto put_user;
	err = store_rules_init(store);
	if (!err)
		return store;
	store_uncharge(store, store_memory(sizeof(*store)));
put_user:
	store_user_put(store->user);
free:
	kvfree(store);
	return ERR_PTR(err);
}

/*
 * No event has it any more, and those that had it were freed after a grace period: no
 * sample reads what is in it.  Not to wait here matters: where an event was the last
 * to have it, it is one worker of the whole system that closes the file.
 */
void store_delete(struct store *store)
{
	remove_all(store);
	store_rules_exit(store);
	store_free_retired(store);
	store_uncharge(store, store_memory(sizeof(*store)));
	store_user_put(store->user);
	mutex_destroy(&store->lock);
	kvfree(store);
}
