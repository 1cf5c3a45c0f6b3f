// SPDX-License-Identifier: GPL-2.0
/* What stores may hold: each one, and all of a user. */
#include <linux/moduleparam.h>
#include <linux/slab.h>

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
 * store_charge - account for memory that a store is about to have
 * @store: locked, or not in use yet
 * @bytes: how much
 *
 * Return: 0; -EFBIG beyond the store's limit, -EDQUOT beyond the user's.
 */
int store_charge(struct store *store, size_t bytes)
{
	u64 max_user = (u64)READ_ONCE(user_kbytes) << 10;

	if (store->stats.bytes + bytes > store_max_bytes())
		return -EFBIG;
	if (atomic64_add_return(bytes, &store->user->bytes) > max_user) {
		atomic64_sub(bytes, &store->user->bytes);
		return -EDQUOT;
	}
	store->stats.bytes += bytes;
	return 0;
}

void store_uncharge(struct store *store, size_t bytes)
{
	store->stats.bytes -= bytes;
	atomic64_sub(bytes, &store->user->bytes);
}
