/* SPDX-License-Identifier: GPL-2.0 */
/*
 * User stacks walked by rules that user space has taught, for events that a table
 * of /dev/perf_unwind_rules is attached to; see uapi/linux/perf_unwind_rules.h.
 *
 * Here is what a sample reads.  Who fills it is the module perf_unwind_rules: it
 * replaces what it changes, and frees what it replaced after a grace period.
 */
#ifndef _LINUX_PERF_UNWIND_RULES_H
#define _LINUX_PERF_UNWIND_RULES_H

#include <linux/fs.h>
#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/nospec.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <uapi/linux/perf_unwind_rules.h>

#define PERF_UNWIND_HASH_BITS	10
/* Objects in one place of the hash that a sample looks at. */
#define PERF_UNWIND_MAX_PROBES	16

/**
 * struct perf_unwind_retired - first in what samples may still read once it is
 *	replaced
 * @node:	in the table's list
 * @grace:	the grace period to wait for
 * @bytes:	charged until then
 */
struct perf_unwind_retired {
	struct list_head	node;
	unsigned long		grace;
	size_t			bytes;
};

/**
 * struct perf_unwind_rows - all rows of an object; never changes
 * @retired:	for its end
 * @nr:		rows, at least 1
 * @nr_blocks:	stretches of 1 << @shift bytes, from the first row on to the last
 * @shift:	so that a block has some four rows
 * @block:	of each block, the last row that begins at its start or before
 * @rule:	of each row, index into struct perf_unwind_rules
 * @offset:	where each row begins, ascending; the last row has no end
 */
struct perf_unwind_rows {
	struct perf_unwind_retired retired;
	u32		nr;
	u32		nr_blocks;
	u32		shift;
	u32		*block;
	u16		*rule;
	u32		offset[];
};

/**
 * struct perf_unwind_rules - the rules of a table; one is only ever added
 * @retired:	for its end
 * @nr:		rules
 * @max:	room
 * @rule:	index 0 is PERF_UNWIND_UNKNOWN
 */
struct perf_unwind_rules {
	struct perf_unwind_retired	retired;
	u32				nr;
	u32				max;
	struct perf_unwind_rule		rule[];
};

/**
 * struct perf_unwind_key - which file it is, without a reference to it
 * @ino:	number of the inode; of a vDSO, the address of its image
 * @dev:	the file system's; 0 for a vDSO
 * @generation:	of the inode: its number may be another file's later
 */
struct perf_unwind_key {
	u64	ino;
	dev_t	dev;
	u32	generation;
};

/**
 * struct perf_unwind_object - what is known of one file
 * @retired:	for its end
 * @node:	in the table's hash
 * @key:	which file
 * @sec:	ctime of the inode when it was taught
 * @nsec:	the same; -1 where nothing may be used of it
 * @rows:	its rows
 * @used:	in jiffies: when a sample last asked
 */
struct perf_unwind_object {
	struct perf_unwind_retired	retired;
	struct hlist_node		node;
	struct perf_unwind_key		key;
	time64_t			sec;
	long				nsec;
	struct perf_unwind_rows __rcu	*rows;
	unsigned long			used;
};

/**
 * struct perf_unwind_table - an open file of /dev/perf_unwind_rules: its private_data
 * @objects:	by key
 * @rules:	of all objects
 */
struct perf_unwind_table {
	DECLARE_HASHTABLE(objects, PERF_UNWIND_HASH_BITS);
	struct perf_unwind_rules __rcu	*rules;
};

/**
 * struct perf_unwind_walk - one walk's view of the mappings of current
 * @table:	where the rows are
 * @rules:	those that rows name
 * @mm:		of current
 * @seq:	tells whether its mappings changed since
 * @start:	of the mapping that was looked up last
 * @end:	behind it
 * @offset:	in the file, of @start
 * @rows:	of what is mapped there, NULL for none
 * @stack:	the mapping that sp is in: nothing else is read for a rule
 * @stack_end:	behind it
 * @frames:	found by rules
 * @innermost:	enum perf_unwind_innermost
 */
struct perf_unwind_walk {
	const struct perf_unwind_table	*table;
	const struct perf_unwind_rules	*rules;
	struct mm_struct		*mm;
	unsigned int			seq;
	unsigned long			start;
	unsigned long			end;
	u64				offset;
	const struct perf_unwind_rows	*rows;
	unsigned long			stack;
	unsigned long			stack_end;
	unsigned int			frames;
	enum perf_unwind_innermost	innermost;
};

static inline struct perf_unwind_key perf_unwind_inode_key(const struct inode *inode)
{
	return (struct perf_unwind_key) {
		.ino		= READ_ONCE(inode->i_ino),
		.dev		= READ_ONCE(inode->i_sb->s_dev),
		.generation	= READ_ONCE(inode->i_generation),
	};
}

/* @image: of arch_perf_unwind_vdso() */
static inline struct perf_unwind_key perf_unwind_vdso_key(const void *image)
{
	return (struct perf_unwind_key) { .ino = (unsigned long)image };
}

static inline bool perf_unwind_same_key(const struct perf_unwind_key *a,
					const struct perf_unwind_key *b)
{
	return a->ino == b->ino && a->dev == b->dev && a->generation == b->generation;
}

static inline unsigned long perf_unwind_hash_key(const struct perf_unwind_key *key)
{
	return key->ino ^ (unsigned long)key->dev << 32;
}

/*
 * Was the file left alone since it was taught?  While it is mapped for writing
 * its ctime says nothing: only the first write to a page changes that.
 * @inode: NULL for a vDSO
 */
static inline bool perf_unwind_is_current(const struct perf_unwind_object *object,
					  const struct inode *inode)
{
	/* Whoever changes the file does so without a lock that a sample could take. */
	return !inode || (data_race(object->sec == inode_get_ctime_sec(inode) &&
				    object->nsec == inode_get_ctime_nsec(inode)) &&
			  !mapping_writably_mapped(READ_ONCE(inode->i_mapping)));
}

#ifdef CONFIG_HAVE_PERF_UNWIND_RULES

int perf_unwind_attach(struct file *table, int fd);
void perf_unwind_free(struct perf_event *event);
bool perf_unwind_is_whole(const struct perf_callchain_entry *chain);

/* Is the event's user stack walked by rules?  Those that inherit ask their parent. */
static inline bool perf_unwind_has_table(const struct perf_event *event)
{
	return READ_ONCE((event->parent ?: event)->unwind_table);
}

void perf_unwind_callchain_user(struct perf_callchain_entry_ctx *ctx,
				struct perf_event *event, struct pt_regs *regs);
bool perf_unwind_find_mapping(struct perf_unwind_walk *walk, unsigned long ip);
bool perf_unwind_find_stack(struct perf_unwind_walk *walk, unsigned long sp);

/* The last row that begins at @offset or before; the first one does. */
static __always_inline u32 perf_unwind_find_row(const struct perf_unwind_rows *rows,
						u64 offset)
{
	u64 block = (offset - rows->offset[0]) >> rows->shift;
	u32 low, high = rows->nr;

	if (block >= rows->nr_blocks)
		return rows->nr - 1;
	block = array_index_nospec(block, rows->nr_blocks);
	low = rows->block[block];
	if (block + 1 < rows->nr_blocks)
		high = rows->block[block + 1] + 1;
	/* By halves where a block has many; most have four, or so. */
	while (high - low > 8) {
		u32 middle = low + (high - low) / 2;

		if (rows->offset[middle] <= offset)
			low = middle;
		else
			high = middle;
	}
	while (low + 1 < high && rows->offset[low + 1] <= offset)
		low++;
	return low;
}

/**
 * perf_unwind_find - the rule for an address
 * @walk: under way
 * @ip: in user space; of a caller: in the call, not behind it
 *
 * Inline, as each frame of each sample asks.
 *
 * Context: any, NMI too, under RCU.
 *
 * Return: the rule, valid until the end of the walk; NULL for none.
 */
static __always_inline const struct perf_unwind_rule *
perf_unwind_find(struct perf_unwind_walk *walk, unsigned long ip)
{
	u32 index, nr;
	u64 offset;

	if (unlikely(ip < walk->start || ip >= walk->end) && !perf_unwind_find_mapping(walk, ip))
		return NULL;
	if (!walk->rows)
		return NULL;
	offset = walk->offset + (ip - walk->start);
	if (offset - walk->rows->offset[0] > U32_MAX)
		return NULL;
	index = walk->rows->rule[perf_unwind_find_row(walk->rows, offset)];
	nr = READ_ONCE(walk->rules->nr);
	if (index >= nr)
		return NULL;
	return &walk->rules->rule[array_index_nospec(index, nr)];
}

/* What an architecture that has HAVE_PERF_UNWIND_RULES provides. */

/**
 * arch_perf_unwind_walk - walk the user stack by rules alone
 * @walk:	begun; counts what it found
 * @ctx:	gets the chain, without PERF_CONTEXT_USER
 * @regs:	of user space
 *
 * Context: any, NMI too, under RCU.  Never faults.
 *
 * Return: why it ended; only PERF_UNWIND_END_OUTERMOST leaves a whole chain.
 */
enum perf_unwind_end arch_perf_unwind_walk(struct perf_unwind_walk *walk,
					   struct perf_callchain_entry_ctx *ctx,
					   struct pt_regs *regs);
/* The image of the vDSO that @mm has mapped from @start on, or NULL. */
const void *arch_perf_unwind_vdso_at(const struct mm_struct *mm, unsigned long start);
/* The image that is meant by one of PERF_UNWIND_VDSO_*, NULL if there is none. */
const void *arch_perf_unwind_vdso(u32 flag);
/* The registers that a walk begins with, as in perf_event_attr.sample_regs_user. */
u64 arch_perf_unwind_regs(void);

#else /* !CONFIG_HAVE_PERF_UNWIND_RULES */

static inline void perf_unwind_free(struct perf_event *event)
{
}

static inline bool perf_unwind_is_whole(const struct perf_callchain_entry *chain)
{
	return false;
}

static inline bool perf_unwind_has_table(const struct perf_event *event)
{
	return false;
}

static inline void perf_unwind_callchain_user(struct perf_callchain_entry_ctx *ctx,
					      struct perf_event *event,
					      struct pt_regs *regs)
{
}

#endif /* !CONFIG_HAVE_PERF_UNWIND_RULES */

#endif /* _LINUX_PERF_UNWIND_RULES_H */
