// SPDX-License-Identifier: GPL-2.0
/* /dev/perf_hybrid: see uapi/linux/perf_hybrid.h. */
#include <linux/cleanup.h>
#include <linux/compat.h>
#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
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
 * object_key - what mappings of an object have
 * @fd: of the file
 * @flags: a vDSO's
 * @file: out: with a reference; NULL for a vDSO
 *
 * Return: the key, or an error pointer.
 */
static const void *object_key(int fd, u32 flags, struct file **file)
{
	const void *image;
	int err;

	*file = NULL;
	if (flags) {
		image = fd == -1 ? arch_perf_hybrid_vdso(flags) : NULL;
		return image ?: ERR_PTR(-EINVAL);
	}
	*file = fget(fd);
	if (!*file)
		return ERR_PTR(-EBADF);
	err = !((*file)->f_mode & FMODE_READ) ? -EBADF :
	      !S_ISREG(file_inode(*file)->i_mode) ? -EINVAL : 0;
	if (err) {
		fput(*file);
		return ERR_PTR(err);
	}
	/* On an overlay, what is mapped is the file below. */
	return d_real_inode(file_dentry(*file));
}

static bool rule_is_valid(const struct perf_hybrid_rule *rule)
{
	return rule->kind < PERF_HYBRID_NR_KINDS && rule->base < PERF_HYBRID_NR_BASES &&
	       rule->bp < PERF_HYBRID_NR_BPS &&
	       (rule->kind == PERF_HYBRID_DEREF || !rule->deref_off);
}

static bool rows_are_valid(const struct store_lesson *lesson, u32 nr_rules)
{
	u32 i;

	for (i = 0; i < lesson->nr_rows; i++) {
		const struct perf_hybrid_row *row = &lesson->rows[i];

		if (row->offset < lesson->start || row->offset >= lesson->end ||
		    row->rule >= nr_rules || row->__reserved ||
		    (i && row->offset <= row[-1].offset))
			return false;
	}
	return true;
}

/* Replaces the caller's rule numbers by the store's. */
static int add_rules(struct store *store, const struct perf_hybrid_teach *teach,
		     struct store_lesson *lesson)
{
	struct perf_hybrid_rule *rules __free(kvfree) = NULL;
	u16 *index __free(kvfree) = NULL;
	u32 i;
	int err;

	rules = vmemdup_array_user(u64_to_user_ptr(teach->rules), teach->nr_rules,
				   sizeof(*rules));
	if (IS_ERR(rules))
		return PTR_ERR(no_free_ptr(rules));
	for (i = 0; i < teach->nr_rules; i++) {
		if (!rule_is_valid(&rules[i]))
			return -EINVAL;
	}
	if (!rows_are_valid(lesson, teach->nr_rules))
		return -EINVAL;
	index = kvmalloc_array(teach->nr_rules, sizeof(*index), GFP_KERNEL);
	if (!index)
		return -ENOMEM;
	err = store_rules_add(store, rules, teach->nr_rules, index);
	if (err)
		return err;
	for (i = 0; i < lesson->nr_rows; i++)
		lesson->rows[i].rule = index[lesson->rows[i].rule];
	return 0;
}

static int teach_object(struct store *store, const struct perf_hybrid_teach *teach,
			const void *key, struct file *file)
{
	struct perf_hybrid_row *rows __free(kvfree) = NULL;
	struct store_lesson lesson = {
		.start		= teach->start,
		.end		= teach->end,
		.nr_rows	= teach->nr_rows,
	};
	int err;

	rows = vmemdup_array_user(u64_to_user_ptr(teach->rows), teach->nr_rows, sizeof(*rows));
	if (IS_ERR(rows))
		return PTR_ERR(no_free_ptr(rows));
	lesson.rows = rows;
	if (mutex_lock_interruptible(&store->lock))
		return -EINTR;
	err = add_rules(store, teach, &lesson);
	if (!err)
		err = store_teach(store, key, file, &lesson);
	mutex_unlock(&store->lock);
	return err;
}

static long ioctl_teach(struct store *store, void __user *arg)
{
	struct perf_hybrid_teach teach;
	struct file *file;
	const void *key;
	int err;

	if (copy_from_user(&teach, arg, sizeof(teach)))
		return -EFAULT;
	if (teach.start >= teach.end || !teach.nr_rows || !teach.nr_rules ||
	    teach.nr_rules > STORE_MAX_RULES)
		return -EINVAL;
	if (teach.nr_rows > store_max_bytes() / (sizeof(u32) + sizeof(u16)))
		return -EFBIG;
	key = object_key(teach.fd, teach.flags, &file);
	if (IS_ERR(key))
		return PTR_ERR(key);
	err = teach_object(store, &teach, key, file);
	if (file)
		fput(file);
	return err;
}

static long ioctl_forget(struct store *store, void __user *arg)
{
	struct perf_hybrid_forget forget;
	struct file *file = NULL;
	const void *key = NULL;
	long err = 0;

	if (copy_from_user(&forget, arg, sizeof(forget)))
		return -EFAULT;
	if (forget.fd != -1 || forget.flags) {
		key = object_key(forget.fd, forget.flags, &file);
		if (IS_ERR(key))
			return PTR_ERR(key);
	}
	if (mutex_lock_interruptible(&store->lock)) {
		err = -EINTR;
	} else {
		if (key)
			err = store_forget(store, key);
		else
			store_forget_all(store);
		mutex_unlock(&store->lock);
	}
	if (file)
		fput(file);
	return err;
}

static long ioctl_stats(struct store *store, void __user *arg)
{
	struct perf_hybrid_stats stats;

	if (mutex_lock_interruptible(&store->lock))
		return -EINTR;
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
	case PERF_HYBRID_STATS:
		return ioctl_stats(store_of(file), (void __user *)arg);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations device_fops = {
	.owner		= THIS_MODULE,
	.open		= device_open,
	.release	= device_release,
	.unlocked_ioctl	= device_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.llseek		= noop_llseek,
};

/* A store acts on events of its opener alone: anyone may have one. */
static struct miscdevice device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "perf_hybrid",
	.fops	= &device_fops,
	.mode	= 0666,
};

static int __init device_init(void)
{
	int err = perf_hybrid_register(&device_fops);

	if (err)
		return err;
	err = misc_register(&device);
	if (err)
		perf_hybrid_unregister();
	return err;
}

static void __exit device_exit(void)
{
	misc_deregister(&device);
	perf_hybrid_unregister();
	/* object_free() is ours. */
	rcu_barrier();
}

module_init(device_init);
module_exit(device_exit);
MODULE_DESCRIPTION("Unwind rules for user call chains");
MODULE_LICENSE("GPL");
