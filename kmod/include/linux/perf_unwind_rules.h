/* SPDX-License-Identifier: GPL-2.0 */
/*
 * User-supplied unwind rules, see uapi/linux/perf_unwind_rules.h.
 *
 * These are the data structures that a sample reads, under RCU.  The module
 * perf_unwind_rules fills them.  It never changes what a sample may read: it publishes
 * a new copy, and frees the old one after a grace period.
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
/* Most objects of one hash bucket that a sample compares. */
#define PERF_UNWIND_MAX_PROBES	16

/**
 * struct perf_unwind_retired - head of memory that is freed after a grace period
 * @node:	in the table's list of replaced memory
 * @grace:	cookie of the grace period
 * @bytes:	charged until it is freed
 */
struct perf_unwind_retired {
	struct list_head	node;
	unsigned long		grace;
	size_t			bytes;
};

/**
 * struct perf_unwind_rows - all rows of an object, immutable
 * @retired:	used when the rows are replaced
 * @nr:		number of rows, at least 1
 * @nr_blocks:	number of blocks of 1 << @shift bytes, from the first row to the last
 * @shift:	chosen so that a block has about four rows
 * @block:	for each block, index of the last row that begins at or before its start
 * @rule:	for each row, index into struct perf_unwind_rules
 * @offset:	for each row, where it begins in the file, ascending; the last row has no
 *		end
 */
struct perf_unwind_rows {
	struct perf_unwind_retired retired;
	u32		nr;
	u32		nr_blocks;
	u32		shift;
	u32		*block;
	u16		*rule;
	u32		offset[] __counted_by(nr);
};

/**
 * struct perf_unwind_rules - the different rules of a table
 * @retired:	used when the array is replaced by a larger one
 * @nr:		number of rules; it only grows while rows may refer to them
 * @max:	allocated length of @rule
 * @rule:	the rules; index 0 is PERF_UNWIND_UNKNOWN
 */
struct perf_unwind_rules {
	struct perf_unwind_retired	retired;
	u32				nr;
	u32				max;
	struct perf_unwind_rule		rule[] __counted_by(max);
};

/**
 * struct perf_unwind_key - identifies a file without a reference to it
 * @address:	of the inode in memory; for a vDSO, of its image.  Two files of a file system
 *		that has subvolumes can have all other members in common.
 * @ino:	inode number, because the memory of an inode is used again; 0 for a vDSO
 * @dev:	device of the file system; 0 for a vDSO
 * @generation:	inode generation, because inode numbers are used again
 *
 * If an inode leaves the inode cache and comes back, it may have another address.  Then the
 * table has no rows of it, and they have to be loaded again.
 */
struct perf_unwind_key {
	const void	*address;
	u64		ino;
	dev_t		dev;
	u32		generation;
};

/**
 * struct perf_unwind_object - a file that a table has rows for
 * @retired:	used when the object is removed
 * @node:	in the table's hash
 * @key:	identifies the file
 * @sec:	ctime of the inode when the rows were loaded, seconds
 * @nsec:	the same, nanoseconds; -1 if no sample may use the rows
 * @rows:	the rows
 * @used:	time of the last lookup, in jiffies
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
 * struct perf_unwind_table - private_data of an open file of /dev/perf_unwind_rules
 * @objects:	hashed by key
 * @rules:	rules of all objects
 */
struct perf_unwind_table {
	DECLARE_HASHTABLE(objects, PERF_UNWIND_HASH_BITS);
	struct perf_unwind_rules __rcu	*rules;
};

/**
 * struct perf_unwind_walk - state of one walk of current's user stack
 * @table:	table of the event
 * @rules:	rules that the rows of @table refer to
 * @mm:		address space of current
 * @seq:	mm_lock_seq of @mm at the start of the walk
 * @start:	start of the mapping that was looked up last
 * @end:	end of that mapping, exclusive
 * @offset:	file offset of @start
 * @rows:	rows of the file that is mapped there; NULL if there are none
 * @stack:	sp of the sample: rules read what a stack dump contains, and no other memory
 * @stack_end:	end of that, exclusive
 * @frames:	number of frames found by rules
 * @innermost:	how the innermost caller was found
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
		.address	= inode,
		.ino		= READ_ONCE(inode->i_ino),
		.dev		= READ_ONCE(inode->i_sb->s_dev),
		.generation	= READ_ONCE(inode->i_generation),
	};
}

/* @image: returned by arch_perf_unwind_vdso() */
static inline struct perf_unwind_key perf_unwind_vdso_key(const void *image)
{
	return (struct perf_unwind_key) { .address = image };
}

static inline bool perf_unwind_same_key(const struct perf_unwind_key *a,
					const struct perf_unwind_key *b)
{
	return a->address == b->address && a->ino == b->ino && a->dev == b->dev &&
	       a->generation == b->generation;
}

static inline unsigned long perf_unwind_hash_key(const struct perf_unwind_key *key)
{
	return (unsigned long)key->address;
}

/*
 * Is the file unchanged since its rows were loaded?  If anybody has mapped it for
 * writing, the answer is no: only the first write to a page changes the ctime.
 * @inode: NULL for a vDSO
 */
static inline bool perf_unwind_is_current(const struct perf_unwind_object *object,
					  const struct inode *inode)
{
	/* Writers of the file hold no lock that a sample could take. */
	return !inode || (data_race(object->sec == inode_get_ctime_sec(inode) &&
				    object->nsec == inode_get_ctime_nsec(inode)) &&
			  !mapping_writably_mapped(READ_ONCE(inode->i_mapping)));
}

#ifdef CONFIG_HAVE_PERF_UNWIND_RULES

/* Returned by perf_unwind_user_room() if there is no limit: in bytes no s64 overflows. */
#define PERF_UNWIND_MAX_PAGES	(S64_MAX >> (PAGE_SHIFT + 2))

struct ucounts *perf_unwind_user_get(void);
void perf_unwind_user_put(struct ucounts *user);
long perf_unwind_user_room(struct ucounts *user);
int perf_unwind_user_charge(struct ucounts *user, long pages);
void perf_unwind_user_uncharge(struct ucounts *user, long pages);

int perf_unwind_attach(struct file *table, int fd);
void perf_unwind_free(struct perf_event *event);
bool perf_unwind_is_whole(const struct perf_callchain_entry *chain);

/* Does the event have a table?  Inherited events use the table of their parent. */
static inline bool perf_unwind_has_table(const struct perf_event *event)
{
	return READ_ONCE((event->parent ?: event)->unwind_table);
}

void perf_unwind_callchain_user(struct perf_callchain_entry_ctx *ctx,
				struct perf_event *event, struct pt_regs *regs);
bool perf_unwind_find_mapping(struct perf_unwind_walk *walk, unsigned long ip);

/*
 * Returns the index of the last row that begins at or before @offset.  The caller has
 * checked that the first row does.
 */
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
	/* A binary search, if a block has many rows.  Most have about four. */
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
 * perf_unwind_find - look up the rule of an address
 * @walk: state of the walk
 * @ip: address in user space; for a caller, an address within its call instruction
 *
 * Inline, because it runs for each frame of each sample.
 *
 * Context: any, including NMI, under RCU.
 *
 * Return: the rule, valid until the end of the walk; NULL if there is none.
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

/* An architecture that selects HAVE_PERF_UNWIND_RULES provides these functions. */

/**
 * arch_perf_unwind_walk - walk the user stack by rules alone
 * @walk:	state of the walk; @frames and @innermost are set
 * @ctx:	receives the addresses, without PERF_CONTEXT_USER
 * @regs:	registers of user space
 *
 * Context: any, including NMI, under RCU.  Never faults.
 *
 * Return: why the walk ended.  The callchain is complete only if this is
 *	PERF_UNWIND_END_OUTERMOST.
 */
enum perf_unwind_end arch_perf_unwind_walk(struct perf_unwind_walk *walk,
					   struct perf_callchain_entry_ctx *ctx,
					   struct pt_regs *regs);
/* Returns the image that @vma of @mm shows, or NULL if @vma is no mapping of a vDSO. */
const void *arch_perf_unwind_vdso_at(const struct mm_struct *mm, const struct vm_area_struct *vma);
/* Returns the image for one of the flags PERF_UNWIND_VDSO_*, or NULL. */
const void *arch_perf_unwind_vdso(u32 flag);
/* Can arch_perf_unwind_walk() step by a rule whose members have valid values? */
bool arch_perf_unwind_can_step(const struct perf_unwind_rule *rule);
/* Returns the registers that a walk needs, as in perf_event_attr.sample_regs_user. */
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
