// SPDX-License-Identifier: GPL-2.0
/* /dev/perf_unwind_rules, see uapi/linux/perf_unwind_rules.h */
#include <linux/backing-dev.h>
#include <linux/cleanup.h>
#include <linux/compat.h>
#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "table.h"

static int device_open(struct inode *inode, struct file *file)
{
	struct unwind_table *table = unwind_table_new();

	if (IS_ERR(table))
		return PTR_ERR(table);
	file->private_data = &table->base;
	return 0;
}

static struct unwind_table *table_of(struct file *file)
{
	struct perf_unwind_table *base = file->private_data;

	return container_of(base, struct unwind_table, base);
}

static int device_release(struct inode *inode, struct file *file)
{
	unwind_table_delete(table_of(file));
	return 0;
}

/*
 * Copies the argument of an ioctl, which begins with its size.
 * @known: size that the kernel knows
 * @least: size of the first published version
 */
static int copy_argument(void *to, size_t known, size_t least, void __user *from)
{
	u32 size;

	if (get_user(size, (u32 __user *)from))
		return -EFAULT;
	if (size < least)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	return copy_struct_from_user(to, known, from, size);
}

/**
 * subject_get - find the object of an ioctl
 * @fd: of its file
 * @flags: 0, or the flag of a vDSO
 * @subject: out: the object, to be released by subject_put()
 *
 * Return: 0, -EBADF or -EINVAL.
 */
static int subject_get(int fd, u32 flags, struct unwind_table_subject *subject)
{
	const void *image;
	struct file *file;

	*subject = (struct unwind_table_subject) {};
	if (flags) {
		image = fd == -1 ? arch_perf_unwind_vdso(flags) : NULL;
		subject->key = perf_unwind_vdso_key(image);
		return image ? 0 : -EINVAL;
	}
	file = fget(fd);
	if (!file)
		return -EBADF;
	if (!(file->f_mode & FMODE_READ) || !S_ISREG(file_inode(file)->i_mode)) {
		int err = file->f_mode & FMODE_READ ? -EINVAL : -EBADF;

		fput(file);
		return err;
	}
	subject->file = file;
	/* Mappings of a file on overlayfs have the inode of the underlying file. */
	subject->inode = d_real_inode(file_dentry(file));
	subject->key = perf_unwind_inode_key(subject->inode);
	return 0;
}

static void subject_put(const struct unwind_table_subject *subject)
{
	if (subject->file)
		fput(subject->file);
}

/*
 * Does each change of the file change its ctime?  Not on file systems that never write pages
 * back, such as tmpfs: they do not see who writes to a shared mapping.
 */
static bool changes_are_visible(const struct unwind_table_subject *subject)
{
	return !subject->inode || mapping_can_writeback(subject->inode->i_mapping);
}

static bool rule_is_valid(const struct perf_unwind_rule *rule)
{
	return rule->kind <= PERF_UNWIND_OUTERMOST && rule->base <= PERF_UNWIND_BASE_FP &&
	       rule->fp <= PERF_UNWIND_FP_UNDEFINED &&
	       rule->ra <= PERF_UNWIND_RA_IN_REGISTER &&
	       (rule->ra == PERF_UNWIND_RA_AT_CFA || !rule->ra_off) &&
	       (rule->kind == PERF_UNWIND_DEREF || !rule->deref_off) &&
	       !rule->__reserved[0] && !rule->__reserved[1] && !rule->__reserved[2] &&
	       arch_perf_unwind_can_step(rule);
}

static bool rows_are_valid(const struct unwind_table_update *update, u32 nr_rules)
{
	u32 i;

	for (i = 0; i < update->nr_rows; i++) {
		const struct perf_unwind_row *row = &update->rows[i];

		if (row->offset < update->start || row->offset >= update->end ||
		    row->rule >= nr_rules || row->__reserved ||
		    (i && row->offset <= row[-1].offset))
			return false;
	}
	return true;
}

/* Copies elements that are @size bytes in user space, and @known bytes in the kernel. */
static int copy_elements(void *to, size_t known, u64 from, size_t size, u32 nr)
{
	int err = 0;
	u32 i;

	if (size == known)
		return copy_from_user(to, u64_to_user_ptr(from), nr * size) ? -EFAULT : 0;
	for (i = 0; i < nr && !err; i++) {
		err = copy_struct_from_user(to + i * known, known,
					    u64_to_user_ptr(from + i * size), size);
		cond_resched();
	}
	return err;
}

/* Charged to the memory cgroup, because the caller chooses the length. */
static void *copy_array(size_t known, u64 from, size_t size, u32 nr)
{
	void *array = unwind_table_alloc(nr * known, GFP_KERNEL_ACCOUNT);
	int err;

	if (!array)
		return ERR_PTR(-ENOMEM);
	err = copy_elements(array, known, from, size, nr);
	if (err) {
		kvfree(array);
		return ERR_PTR(err);
	}
	return array;
}

/* Adds the rules, and replaces the caller's rule indices by those of the table. */
static int add_rules(struct unwind_table *table, const struct perf_unwind_load *load,
		     struct unwind_table_update *update)
{
	struct perf_unwind_rule *rules __free(kvfree) = NULL;
	u16 *index __free(kvfree) = NULL;
	u32 i, rule;
	int err;

	rules = copy_array(sizeof(*rules), load->rules, load->rule_size, load->nr_rules);
	if (IS_ERR(rules))
		return PTR_ERR(no_free_ptr(rules));
	for (i = 0; i < load->nr_rules; i++) {
		if (!rule_is_valid(&rules[i]))
			return -EINVAL;
	}
	if (!rows_are_valid(update, load->nr_rules))
		return -EINVAL;
	index = unwind_table_alloc(load->nr_rules * sizeof(*index), GFP_KERNEL_ACCOUNT);
	if (!index)
		return -ENOMEM;
	err = unwind_table_rules_add(table, rules, load->nr_rules, index);
	if (err)
		return err;
	for (i = 0; i < update->nr_rows; i++) {
		rule = array_index_nospec(update->rows[i].rule, load->nr_rules);
		update->rows[i].rule = index[rule];
	}
	return 0;
}

static int load_object(struct unwind_table *table, const struct perf_unwind_load *load,
		       const struct unwind_table_subject *subject)
{
	struct perf_unwind_row *rows __free(kvfree) = NULL;
	struct unwind_table_update update = {
		.start		= load->start,
		.end		= load->end,
		.nr_rows	= load->nr_rows,
	};
	int err;

	rows = copy_array(sizeof(*rows), load->rows, load->row_size, load->nr_rows);
	if (IS_ERR(rows))
		return PTR_ERR(no_free_ptr(rows));
	update.rows = rows;
	err = add_rules(table, load, &update);
	return err ?: unwind_table_load(table, subject, &update);
}

/* Charges the copy of the update before it is made.  A table has one update at a time. */
static int load_charged(struct unwind_table *table, const struct perf_unwind_load *load,
			const struct unwind_table_subject *subject)
{
	size_t bytes = unwind_table_memory(load->nr_rows * sizeof(struct perf_unwind_row)) +
		       unwind_table_memory(load->nr_rules * sizeof(struct perf_unwind_rule)) +
		       unwind_table_memory(load->nr_rules * sizeof(u16));
	int err;

	if (mutex_lock_interruptible(&table->lock))
		return -EINTR;
	err = unwind_table_begin_update(table, subject, bytes);
	if (!err) {
		err = load_object(table, load, subject);
		unwind_table_end_update(table, bytes);
	}
	mutex_unlock(&table->lock);
	return err;
}

static long ioctl_load(struct unwind_table *table, void __user *arg)
{
	struct perf_unwind_load load;
	struct unwind_table_subject subject;
	int err;

	err = copy_argument(&load, sizeof(load), PERF_UNWIND_LOAD_SIZE_VER0, arg);
	if (err)
		return err;
	if (load.start >= load.end || !load.nr_rows || !load.nr_rules ||
	    load.nr_rules > UNWIND_TABLE_MAX_RULES ||
	    load.row_size < PERF_UNWIND_ROW_SIZE_VER0 ||
	    load.rule_size < PERF_UNWIND_RULE_SIZE_VER0)
		return -EINVAL;
	if (load.nr_rows > PERF_UNWIND_MAX_ROWS || load.row_size > PERF_UNWIND_MAX_SIZE ||
	    load.rule_size > PERF_UNWIND_MAX_SIZE)
		return -E2BIG;
	err = subject_get(load.fd, load.flags, &subject);
	if (err)
		return err;
	err = changes_are_visible(&subject) ? load_charged(table, &load, &subject) : -EOPNOTSUPP;
	subject_put(&subject);
	return err;
}

static long ioctl_unload(struct unwind_table *table, void __user *arg)
{
	struct perf_unwind_unload unload;
	struct unwind_table_subject subject = {};
	bool all;
	long err;

	err = copy_argument(&unload, sizeof(unload), PERF_UNWIND_UNLOAD_SIZE_VER0, arg);
	if (err)
		return err;
	if (unload.__reserved)
		return -EINVAL;
	all = unload.fd == -1 && !unload.flags;
	err = all ? 0 : subject_get(unload.fd, unload.flags, &subject);
	if (err)
		return err;
	if (mutex_lock_interruptible(&table->lock)) {
		err = -EINTR;
	} else {
		if (all)
			unwind_table_unload_all(table);
		else
			err = unwind_table_unload(table, &subject.key);
		mutex_unlock(&table->lock);
	}
	subject_put(&subject);
	return err;
}

static long ioctl_attach(struct file *file, void __user *arg)
{
	struct perf_unwind_attach attach;
	int err;

	err = copy_argument(&attach, sizeof(attach), PERF_UNWIND_ATTACH_SIZE_VER0, arg);
	if (err)
		return err;
	if (attach.flags || attach.__reserved)
		return -EINVAL;
	return perf_unwind_attach(file, attach.fd);
}

static long ioctl_stats(struct unwind_table *table, void __user *arg)
{
	struct perf_unwind_stats stats;
	u32 size;

	if (get_user(size, (u32 __user *)arg))
		return -EFAULT;
	if (size < PERF_UNWIND_STATS_SIZE_VER0)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	if (mutex_lock_interruptible(&table->lock))
		return -EINTR;
	unwind_table_reap(table, false);
	stats = table->stats;
	mutex_unlock(&table->lock);
	stats.size = sizeof(stats);
	stats.max_bytes = unwind_table_max_bytes();
	if (copy_to_user(arg, &stats, min_t(size_t, size, sizeof(stats))) ||
	    (size > sizeof(stats) && clear_user(arg + sizeof(stats), size - sizeof(stats))))
		return -EFAULT;
	return 0;
}

static long device_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	switch (cmd) {
	case PERF_UNWIND_LOAD:
		return ioctl_load(table_of(file), (void __user *)arg);
	case PERF_UNWIND_UNLOAD:
		return ioctl_unload(table_of(file), (void __user *)arg);
	case PERF_UNWIND_ATTACH:
		return ioctl_attach(file, (void __user *)arg);
	case PERF_UNWIND_STATS:
		return ioctl_stats(table_of(file), (void __user *)arg);
	default:
		return -ENOTTY;
	}
}

/* Does not take the lock: an update may hold it for long, waiting for memory. */
static void device_show_fdinfo(struct seq_file *m, struct file *file)
{
	/* A concurrent update may be visible in some of the numbers, and not in others. */
	struct perf_unwind_stats stats = data_race(table_of(file)->stats);

	seq_printf(m, "unwind-objects:\t%u\n", stats.objects);
	seq_printf(m, "unwind-rows:\t%llu\n", stats.rows);
	seq_printf(m, "unwind-bytes:\t%llu\n", stats.bytes);
}

static const struct file_operations device_fops = {
	.owner		= THIS_MODULE,
	.open		= device_open,
	.release	= device_release,
	.unlocked_ioctl	= device_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.llseek		= noop_llseek,
	.show_fdinfo	= device_show_fdinfo,
};

/*
 * Everybody may open a table: it can be attached to events of its opener only, and its memory
 * counts towards RLIMIT_MEMLOCK.
 */
static struct miscdevice device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "perf_unwind_rules",
	.fops	= &device_fops,
	.mode	= 0666,
};

module_misc_device(device);
MODULE_DESCRIPTION("Unwind rules for user call chains");
MODULE_LICENSE("GPL");
