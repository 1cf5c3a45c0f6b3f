// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the unwind rows for an address of current.
 *
 * Mappings are looked up in the mm itself, like uprobes do: under RCU, with mm_lock_seq to
 * detect changes.  So a rule is never used for a file that is not mapped there any more.
 */
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/perf_unwind_rules.h>

/* Returns the rows of a file or vDSO, or NULL.  @inode is NULL for a vDSO. */
static const struct perf_unwind_rows *find_rows(const struct perf_unwind_table *table,
						const struct perf_unwind_key *key,
						const struct inode *inode)
{
	struct perf_unwind_object *object;
	unsigned int probes = 0;

	hash_for_each_possible_rcu(table->objects, object, node, perf_unwind_hash_key(key)) {
		if (++probes > PERF_UNWIND_MAX_PROBES)
			break;
		if (!perf_unwind_same_key(&object->key, key))
			continue;
		if (!perf_unwind_is_current(object, inode))
			break;
		/* Once in a jiffy, because other CPUs read the cache line. */
		if (time_before(READ_ONCE(object->used), jiffies))
			WRITE_ONCE(object->used, jiffies);
		return rcu_dereference(object->rows);
	}
	return NULL;
}

/*
 * Does the mapping contain the code of its file or vDSO?  If it is writable, or has private
 * pages because it was writable or a debugger wrote to it, it may contain other code.
 */
static bool is_unwritten(const struct vm_area_struct *vma)
{
	return (READ_ONCE(vma->vm_flags) & (VM_EXEC | VM_WRITE)) == VM_EXEC &&
	       !READ_ONCE(vma->anon_vma);
}

/* Returns the rows for a mapping of a vDSO, or NULL. */
static const struct perf_unwind_rows *vdso_rows(const struct perf_unwind_walk *walk,
						const struct vm_area_struct *vma)
{
	const void *image = arch_perf_unwind_vdso_at(walk->mm, vma);
	struct perf_unwind_key key = perf_unwind_vdso_key(image);

	return image ? find_rows(walk->table, &key, NULL) : NULL;
}

/*
 * Returns the rows for a file mapping, or NULL.
 *
 * The mapping may have been removed since it was looked up.  As long as mm_lock_seq has
 * not changed, it was not: then @file was its file, and the inode lives until the end of
 * the RCU section.  The memory of @file may be another file's by now, or one's without an
 * inode yet.  So read f_inode first, check mm_lock_seq next, and dereference the inode
 * last.
 */
static const struct perf_unwind_rows *file_rows(const struct perf_unwind_walk *walk,
						const struct vm_area_struct *vma)
{
	const struct file *file = READ_ONCE(vma->vm_file);
	struct perf_unwind_key key;
	const struct inode *inode;

	if (!file)
		return NULL;
	inode = READ_ONCE(file->f_inode);
	if (mmap_lock_speculate_retry(walk->mm, walk->seq))
		return NULL;
	key = perf_unwind_inode_key(inode);
	return find_rows(walk->table, &key, inode);
}

/**
 * perf_unwind_find_mapping - look up the mapping of an address for a walk
 * @walk: state of the walk; its mapping and rows are replaced
 * @ip: address in user space
 *
 * The memory of a mapping may be reused for another mapping meanwhile.  The values that
 * are read then are useless, but perf_unwind_callchain_user() detects that at the end.
 *
 * Context: any, including NMI, under RCU.
 *
 * Return: false if there is no mapping.
 */
bool perf_unwind_find_mapping(struct perf_unwind_walk *walk, unsigned long ip)
{
	struct vm_area_struct *vma = vma_lookup(walk->mm, ip);

	walk->start = 0;
	walk->end = 0;
	walk->rows = NULL;
	if (!vma)
		return false;
	walk->start = READ_ONCE(vma->vm_start);
	walk->end = READ_ONCE(vma->vm_end);
	walk->offset = (u64)READ_ONCE(vma->vm_pgoff) << PAGE_SHIFT;
	if (is_unwritten(vma))
		walk->rows = vdso_rows(walk, vma) ?: file_rows(walk, vma);
	return ip >= walk->start && ip < walk->end;
}
