// SPDX-License-Identifier: GPL-2.0
/* /dev/perf_hybrid: see uapi/linux/perf_hybrid.h. */
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

#include "store.h"

static int device_open(struct inode *inode, struct file *file)
{
	struct store *store = store_new();

	if (IS_ERR(store))
		return PTR_ERR(store);
	file->private_data = &store->base;
	return 0;
}

static struct store *store_of(struct file *file)
{
	return container_of((struct perf_hybrid_store *)file->private_data, struct store, base);
}

static int device_release(struct inode *inode, struct file *file)
{
	store_delete(store_of(file));
	return 0;
}

/**
 * subject_get - what an ioctl is about
 * @fd: of the file
 * @flags: a vDSO's
 * @subject: out: subject_put() it
 *
 * Return: 0, -EBADF or -EINVAL.
 */
static int subject_get(int fd, u32 flags, struct store_subject *subject)
{
	const void *image;
	struct file *file;

	*subject = (struct store_subject) {};
	if (flags) {
		image = fd == -1 ? arch_perf_hybrid_vdso(flags) : NULL;
		subject->key = perf_hybrid_vdso_key(image);
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
	/* On an overlay, what is mapped is the file below. */
	subject->inode = d_real_inode(file_dentry(file));
	subject->key = perf_hybrid_inode_key(subject->inode);
	return 0;
}

static void subject_put(const struct store_subject *subject)
{
	if (subject->file)
		fput(subject->file);
}

static bool rule_is_valid(const struct perf_hybrid_rule *rule)
{
	return rule->kind < PERF_HYBRID_NR_KINDS && rule->base < PERF_HYBRID_NR_BASES &&
	       rule->bp < PERF_HYBRID_NR_BPS &&
	       (rule->kind == PERF_HYBRID_DEREF || !rule->deref_off);
}

static bool rows_are_valid(const struct store_update *update, u32 nr_rules)
{
	u32 i;

	for (i = 0; i < update->nr_rows; i++) {
		const struct perf_hybrid_row *row = &update->rows[i];

		if (row->offset < update->start || row->offset >= update->end ||
		    row->rule >= nr_rules || row->__reserved ||
		    (i && row->offset <= row[-1].offset))
			return false;
	}
	return true;
}

/* Charged to the memory cgroup, as it is the caller who says how much it is. */
static void *copy_array(u64 from, u32 nr, size_t size)
{
	void *array = store_alloc(nr * size, GFP_KERNEL_ACCOUNT);

	if (!array)
		return ERR_PTR(-ENOMEM);
	if (copy_from_user(array, u64_to_user_ptr(from), nr * size)) {
		kvfree(array);
		return ERR_PTR(-EFAULT);
	}
	return array;
}

/* Replaces the caller's rule numbers by the store's. */
static int add_rules(struct store *store, const struct perf_hybrid_teach *teach,
		     struct store_update *update)
{
	struct perf_hybrid_rule *rules __free(kvfree) = NULL;
	u16 *index __free(kvfree) = NULL;
	u32 i, rule;
	int err;

	rules = copy_array(teach->rules, teach->nr_rules, sizeof(*rules));
	if (IS_ERR(rules))
		return PTR_ERR(no_free_ptr(rules));
	for (i = 0; i < teach->nr_rules; i++) {
		if (!rule_is_valid(&rules[i]))
			return -EINVAL;
	}
	if (!rows_are_valid(update, teach->nr_rules))
		return -EINVAL;
	index = store_alloc(teach->nr_rules * sizeof(*index), GFP_KERNEL_ACCOUNT);
	if (!index)
		return -ENOMEM;
	err = store_rules_add(store, rules, teach->nr_rules, index);
	if (err)
		return err;
	for (i = 0; i < update->nr_rows; i++) {
		rule = array_index_nospec(update->rows[i].rule, teach->nr_rules);
		update->rows[i].rule = index[rule];
	}
	return 0;
}

static int teach_object(struct store *store, const struct perf_hybrid_teach *teach,
			const struct store_subject *subject)
{
	struct perf_hybrid_row *rows __free(kvfree) = NULL;
	struct store_update update = {
		.start		= teach->start,
		.end		= teach->end,
		.nr_rows	= teach->nr_rows,
	};
	int err;

	rows = copy_array(teach->rows, teach->nr_rows, sizeof(*rows));
	if (IS_ERR(rows))
		return PTR_ERR(no_free_ptr(rows));
	update.rows = rows;
	err = add_rules(store, teach, &update);
	return err ?: store_teach(store, subject, &update);
}

/* What is copied counts before it is, and a store has one update at a time. */
static int teach_charged(struct store *store, const struct perf_hybrid_teach *teach,
			 const struct store_subject *subject)
{
	size_t bytes = store_memory(teach->nr_rows * sizeof(struct perf_hybrid_row)) +
		       store_memory(teach->nr_rules * sizeof(struct perf_hybrid_rule)) +
		       store_memory(teach->nr_rules * sizeof(u16));
	int err;

	if (mutex_lock_interruptible(&store->lock))
		return -EINTR;
	err = store_begin_update(store, subject, bytes);
	if (!err) {
		err = teach_object(store, teach, subject);
		store_end_update(store, bytes);
	}
	mutex_unlock(&store->lock);
	return err;
}

static long ioctl_teach(struct store *store, void __user *arg)
{
	struct perf_hybrid_teach teach;
	struct store_subject subject;
	int err;

	if (copy_from_user(&teach, arg, sizeof(teach)))
		return -EFAULT;
	if (teach.start >= teach.end || !teach.nr_rows || !teach.nr_rules ||
	    teach.nr_rules > STORE_MAX_RULES)
		return -EINVAL;
	if (teach.nr_rows > PERF_HYBRID_MAX_ROWS)
		return -E2BIG;
	err = subject_get(teach.fd, teach.flags, &subject);
	if (err)
		return err;
	err = teach_charged(store, &teach, &subject);
	subject_put(&subject);
	return err;
}

static long ioctl_forget(struct store *store, void __user *arg)
{
	struct perf_hybrid_forget forget;
	struct store_subject subject = {};
	bool all;
	long err;

	if (copy_from_user(&forget, arg, sizeof(forget)))
		return -EFAULT;
	all = forget.fd == -1 && !forget.flags;
	err = all ? 0 : subject_get(forget.fd, forget.flags, &subject);
	if (err)
		return err;
	if (mutex_lock_interruptible(&store->lock)) {
		err = -EINTR;
	} else {
		if (all)
			store_forget_all(store);
		else
			err = store_forget(store, &subject.key);
		mutex_unlock(&store->lock);
	}
	subject_put(&subject);
	return err;
}

static long ioctl_attach(struct file *file, void __user *arg)
{
	struct perf_hybrid_attach attach;

	if (copy_from_user(&attach, arg, sizeof(attach)))
		return -EFAULT;
	return attach.flags ? -EINVAL : perf_hybrid_attach(file, attach.fd);
}

static long ioctl_stats(struct store *store, void __user *arg)
{
	struct perf_hybrid_stats stats;

	if (mutex_lock_interruptible(&store->lock))
		return -EINTR;
	store_reap(store, false);
	stats = store->stats;
	mutex_unlock(&store->lock);
	stats.max_bytes = store_max_bytes();
	return copy_to_user(arg, &stats, sizeof(stats)) ? -EFAULT : 0;
}

static long device_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	switch (cmd) {
	case PERF_HYBRID_TEACH:
		return ioctl_teach(store_of(file), (void __user *)arg);
	case PERF_HYBRID_FORGET:
		return ioctl_forget(store_of(file), (void __user *)arg);
	case PERF_HYBRID_ATTACH:
		return ioctl_attach(file, (void __user *)arg);
	case PERF_HYBRID_STATS:
		return ioctl_stats(store_of(file), (void __user *)arg);
	default:
		return -ENOTTY;
	}
}

/* Without the lock: an update may wait for memory of whoever teaches. */
static void device_show_fdinfo(struct seq_file *m, struct file *file)
{
	/* What an update changes meanwhile may be shown as before it, or as behind it. */
	struct perf_hybrid_stats stats = data_race(store_of(file)->stats);

	seq_printf(m, "hybrid-objects:\t%u\n", stats.objects);
	seq_printf(m, "hybrid-rows:\t%llu\n", stats.rows);
	seq_printf(m, "hybrid-bytes:\t%llu\n", stats.bytes);
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

/* A store acts on events of its opener alone: anyone may have one. */
static struct miscdevice device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "perf_hybrid",
	.fops	= &device_fops,
	.mode	= 0666,
};

module_misc_device(device);
MODULE_DESCRIPTION("Unwind rules for user call chains");
MODULE_LICENSE("GPL");
