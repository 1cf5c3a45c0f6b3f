/* SPDX-License-Identifier: GPL-2.0 */
/* /dev/perf_unwind_rules: tables of unwind rules */
#ifndef _UNWIND_TABLE_H
#define _UNWIND_TABLE_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/perf_unwind_rules.h>
#include <linux/user_namespace.h>

#define UNWIND_TABLE_RULE_HASH_BITS	10
#define UNWIND_TABLE_MAX_RULES		65535

/**
 * struct unwind_table - an open file of /dev/perf_unwind_rules
 * @base:	the part that samples read
 * @lock:	held while the table is changed
 * @user:	counts of the user who opened it
 * @user_bytes:	what the user is charged for: @stats.bytes, and the copy of an update
 * @loading:	object of the update in progress, which is not removed to make room; NULL
 *		if there is none
 * @retired:	replaced memory that a sample may still read, oldest first
 * @retired_bytes: size of @retired; included in @stats.bytes
 * @rule_next:	for each rule, index of the next one with the same hash; 0 for none
 * @rule_hash:	for each hash value, index of the first rule; 0 for none
 * @stats:	the statistics that PERF_UNWIND_STATS returns
 */
struct unwind_table {
	struct perf_unwind_table	base;
	struct mutex			lock; /* see above */
	struct ucounts			*user;
	u64				user_bytes;
	struct perf_unwind_object	*loading;
	struct list_head		retired;
	size_t				retired_bytes;
	u16				*rule_next;
	u16				rule_hash[1 << UNWIND_TABLE_RULE_HASH_BITS];
	struct perf_unwind_stats	stats;
};

/**
 * struct unwind_table_update - rows to load
 * @start:	first offset of the range
 * @end:	end of the range, exclusive
 * @nr_rows:	at least 1
 * @rows:	the rows; they refer to rules of the table
 */
struct unwind_table_update {
	u32			start;
	u32			end;
	u32			nr_rows;
	struct perf_unwind_row	*rows;
};

/**
 * struct unwind_table_subject - the object of an ioctl
 * @key:	identifies the object
 * @inode:	the inode that mappings of the file have; NULL for a vDSO
 * @file:	the file, referenced until the end of the ioctl; NULL for a vDSO
 */
struct unwind_table_subject {
	struct perf_unwind_key	key;
	const struct inode	*inode;
	struct file		*file;
};

/* limit.c */
void *unwind_table_alloc(size_t bytes, gfp_t gfp);
size_t unwind_table_memory(size_t bytes);
s64 unwind_table_user_room(const struct unwind_table *table);
int unwind_table_charge_free(struct unwind_table *table, size_t bytes);
void unwind_table_uncharge(struct unwind_table *table, size_t bytes);
int unwind_table_charge_update(struct unwind_table *table, size_t bytes);
void unwind_table_uncharge_update(struct unwind_table *table, size_t bytes);
void unwind_table_retire(struct unwind_table *table, struct perf_unwind_retired *what,
			 size_t bytes);
void unwind_table_reap(struct unwind_table *table, bool all);
void unwind_table_free_retired(struct unwind_table *table);
u64 unwind_table_max_bytes(void);

/* rules.c */
int unwind_table_rules_init(struct unwind_table *table);
void unwind_table_rules_exit(struct unwind_table *table);
int unwind_table_rules_add(struct unwind_table *table, const struct perf_unwind_rule *rules,
			   u32 nr, u16 *index);
void unwind_table_rules_unload(struct unwind_table *table);

/* rows.c */
size_t unwind_table_rows_size(u32 nr);
u32 unwind_table_rows_count(const struct perf_unwind_rows *old,
			    const struct unwind_table_update *update);
void unwind_table_rows_fill(struct perf_unwind_rows *rows, u32 nr,
			    const struct perf_unwind_rows *old,
			    const struct unwind_table_update *update);

/* objects.c */
int unwind_table_charge(struct unwind_table *table, size_t bytes);
int unwind_table_begin_update(struct unwind_table *table,
			      const struct unwind_table_subject *subject, size_t bytes);
void unwind_table_end_update(struct unwind_table *table, size_t bytes);
int unwind_table_load(struct unwind_table *table, const struct unwind_table_subject *subject,
		      const struct unwind_table_update *update);
int unwind_table_unload(struct unwind_table *table, const struct perf_unwind_key *key);
void unwind_table_remove_all(struct unwind_table *table);

/* table.c */
struct unwind_table *unwind_table_new(void);
void unwind_table_delete(struct unwind_table *table);
void unwind_table_unload_all(struct unwind_table *table);

#endif /* _UNWIND_TABLE_H */
