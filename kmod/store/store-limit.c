// SPDX-License-Identifier: GPL-2.0
/* What stores may hold: each one, and all of a user. */
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "store.h"

static unsigned int store_kbytes = 64 << 10;
module_param(store_kbytes, uint, 0644);
MODULE_PARM_DESC(store_kbytes, "what a store may hold, in KiB");

static unsigned int user_kbytes = 256 << 10;
module_param(user_kbytes, uint, 0644);
MODULE_PARM_DESC(user_kbytes, "what all stores of a user may hold, in KiB");

static LIST_HEAD(users);
static DEFINE_MUTEX(users_lock);

u64 store_max_bytes(void)
{
	return (u64)READ_ONCE(store_kbytes) << 10;
}

/* Returns NULL where memory is short. */
struct store_user *store_user_get(kuid_t uid)
{
	struct store_user *user;

	guard(mutex)(&users_lock);
	list_for_each_entry(user, &users, node) {
		if (uid_eq(user->uid, uid)) {
			user->stores++;
			return user;
		}
	}
	user = kzalloc(sizeof(*user), GFP_KERNEL_ACCOUNT);
	if (!user)
		return NULL;
	user->uid = uid;
	user->stores = 1;
	list_add(&user->node, &users);
	return user;
}

void store_user_put(struct store_user *user)
{
	guard(mutex)(&users_lock);
	if (--user->stores)
		return;
	WARN_ON_ONCE(atomic64_read(&user->bytes));
	list_del(&user->node);
	kfree(user);
}

/**
 * store_alloc - memory for a store, or for an update
 * @bytes: of it
 * @gfp: GFP_KERNEL_ACCOUNT, and __GFP_ZERO if need be
 *
 * Beyond a slab's largest object in single pages: a power of two of them could be
 * twice of what is needed.
 *
 * Return: what kvfree() takes, or NULL.
 */
void *store_alloc(size_t bytes, gfp_t gfp)
{
	return bytes <= KMALLOC_MAX_CACHE_SIZE ? kmalloc(bytes, gfp) : __vmalloc(bytes, gfp);
}

/* What store_alloc() takes for @bytes: this is charged. */
size_t store_memory(size_t bytes)
{
	return bytes <= KMALLOC_MAX_CACHE_SIZE ? kmalloc_size_roundup(bytes) : PAGE_ALIGN(bytes);
}

/* What all stores of the user may hold beyond what they do; less than 0: too much. */
s64 store_user_room(const struct store *store)
{
	return ((s64)READ_ONCE(user_kbytes) << 10) - atomic64_read(&store->user->bytes);
}

static int charge_user(struct store_user *user, size_t bytes)
{
	u64 max = (u64)READ_ONCE(user_kbytes) << 10;

	if (atomic64_add_return(bytes, &user->bytes) <= max)
		return 0;
	atomic64_sub(bytes, &user->bytes);
	return -EDQUOT;
}

/**
 * store_charge_free - account for memory that a store is about to have
 * @store: locked, or not in use yet
 * @bytes: how much
 *
 * It makes no room: see store_charge().
 *
 * Return: 0; -EFBIG beyond the store's limit, -EDQUOT beyond the user's.
 */
int store_charge_free(struct store *store, size_t bytes)
{
	int err;

	if (store->stats.bytes + bytes > store_max_bytes())
		return -EFBIG;
	err = charge_user(store->user, bytes);
	if (!err)
		store->stats.bytes += bytes;
	return err;
}

void store_uncharge(struct store *store, size_t bytes)
{
	store->stats.bytes -= bytes;
	atomic64_sub(bytes, &store->user->bytes);
}

/* For as long as an ioctl takes: it counts for the user alone.  0 or -EDQUOT. */
int store_charge_update(struct store *store, size_t bytes)
{
	return charge_user(store->user, bytes);
}

void store_uncharge_update(struct store *store, size_t bytes)
{
	atomic64_sub(bytes, &store->user->bytes);
}

/**
 * store_retire - free something when no sample can read it any more
 * @store: locked; the charge stays until then
 * @what: no sample finds it any more; it begins what kvfree() takes
 * @bytes: that are charged for it
 */
void store_retire(struct store *store, struct perf_hybrid_retired *what, size_t bytes)
{
	what->bytes = bytes;
	what->grace = get_state_synchronize_rcu();
	list_add_tail(&what->node, &store->retired);
	store->retired_bytes += bytes;
}

static void free_retired(struct store *store, struct perf_hybrid_retired *what)
{
	list_del(&what->node);
	store->retired_bytes -= what->bytes;
	store_uncharge(store, what->bytes);
	kvfree(what);
}

/**
 * store_reap - free what was retired
 * @store: locked
 * @all: wait for what a sample may read yet
 */
void store_reap(struct store *store, bool all)
{
	struct perf_hybrid_retired *what, *next;

	list_for_each_entry_safe(what, next, &store->retired, node) {
		if (all)
			cond_synchronize_rcu(what->grace);
		else if (!poll_state_synchronize_rcu(what->grace))
			break;
		free_retired(store, what);
	}
}

/**
 * store_free_retired - free what was retired, at once
 * @store: in use by nobody else, and by no sample that is under way
 */
void store_free_retired(struct store *store)
{
	struct perf_hybrid_retired *what, *next;

	list_for_each_entry_safe(what, next, &store->retired, node)
		free_retired(store, what);
}
