/* SPDX-License-Identifier: GPL-2.0 */
/* /dev/perf_hybrid: the stores of unwind rules. */
#ifndef _PERF_HYBRID_STORE_H
#define _PERF_HYBRID_STORE_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/perf_hybrid.h>
#include <linux/uidgid.h>

#define STORE_RULE_HASH_BITS	10
#define STORE_MAX_RULES		65535

/**
 * struct store_user - what the stores of one user hold
 * @node:	in the list of users
 * @uid:	which user
 * @stores:	open ones
 * @bytes:	of all stores
 */
struct store_user {
	struct list_head	node;
	kuid_t			uid;
	unsigned int		stores;
	atomic64_t		bytes;
};

/**
 * struct store - an open file
 * @base:	what samples read
 * @lock:	whoever changes it
 * @user:	who opened it
 * @taught:	the object of the update that is under way: all others may make room
 *		for it; NULL for none
 * @retired:	what was replaced, oldest first: a sample may read it yet
 * @retired_bytes: of it, part of what @stats says
 * @rule_next:	of each rule, the next one with the same hash; 0 for none
 * @rule_hash:	first rule with a hash; 0 for none
 * @stats:	see there
 */
struct store {
	struct perf_hybrid_store	base;
	struct mutex			lock; /* see above */
	struct store_user		*user;
	struct perf_hybrid_object	*taught;
	struct list_head		retired;
	size_t				retired_bytes;
	u16				*rule_next;
	u16				rule_hash[1 << STORE_RULE_HASH_BITS];
	struct perf_hybrid_stats	stats;
};

/**
 * struct store_update - rows to teach, as user space gave them
 * @start:	first offset that they are about
 * @end:	offset behind the last
 * @nr_rows:	at least 1
 * @rows:	their rules are those of the store already
 */
struct store_update {
	u32			start;
	u32			end;
	u32			nr_rows;
	struct perf_hybrid_row	*rows;
};

/**
 * struct store_subject - what an update is about
 * @key:	of the object
 * @inode:	that its mappings have; NULL for a vDSO
 * @file:	open, with a reference, for as long as the ioctl takes; NULL for a vDSO
 */
struct store_subject {
	struct perf_hybrid_key	key;
	const struct inode	*inode;
	struct file		*file;
};

/* store-limit.c */
struct store_user *store_user_get(kuid_t uid);
void store_user_put(struct store_user *user);
void *store_alloc(size_t bytes, gfp_t gfp);
size_t store_memory(size_t bytes);
s64 store_user_room(const struct store *store);
int store_charge_free(struct store *store, size_t bytes);
void store_uncharge(struct store *store, size_t bytes);
int store_charge_update(struct store *store, size_t bytes);
void store_uncharge_update(struct store *store, size_t bytes);
void store_retire(struct store *store, struct perf_hybrid_retired *what, size_t bytes);
void store_reap(struct store *store, bool all);
void store_free_retired(struct store *store);
u64 store_max_bytes(void);

/* store-rules.c */
int store_rules_init(struct store *store);
void store_rules_exit(struct store *store);
int store_rules_add(struct store *store, const struct perf_hybrid_rule *rules, u32 nr,
		    u16 *index);
void store_rules_forget(struct store *store);

/* store-rows.c */
size_t store_rows_size(u32 nr);
u32 store_rows_count(const struct perf_hybrid_rows *old, const struct store_update *update);
void store_rows_fill(struct perf_hybrid_rows *rows, u32 nr,
		     const struct perf_hybrid_rows *old, const struct store_update *update);

/* store.c */
struct store *store_new(void);
void store_delete(struct store *store);
int store_charge(struct store *store, size_t bytes);
int store_begin_update(struct store *store, const struct store_subject *subject, size_t bytes);
void store_end_update(struct store *store, size_t bytes);
int store_teach(struct store *store, const struct store_subject *subject,
		const struct store_update *update);
int store_forget(struct store *store, const struct perf_hybrid_key *key);
void store_forget_all(struct store *store);

#endif /* _PERF_HYBRID_STORE_H */
