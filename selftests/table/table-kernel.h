/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the table of unwind rules needs of the kernel, for a program: memory that is
 * counted as the kernel's allocators give it, grace periods that end when the test
 * says so, files, and user memory.  Included before all else, see test-table.c.  One file
 * of each program includes table-state.h, too.
 */
#ifndef _STORE_KERNEL_H
#define _STORE_KERNEL_H

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/hashtable.h>
#include <linux/kconfig.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/types.h>

/* libc has a function of that name. */
#define remove				remove_object

#define __rcu
#define __user
#define U32_MAX				UINT_MAX
#define PAGE_SHIFT			12
#define PAGE_SIZE			(1UL << PAGE_SHIFT)
#define PAGE_ALIGN(bytes)		(((bytes) + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1))
#define struct_size_t(type, member, nr)	(sizeof(type) + (nr) * sizeof(((type *)0)->member[0]))
#define struct_size(p, member, nr)	(sizeof(*(p)) + (nr) * sizeof((p)->member[0]))
#define WARN_ON_ONCE(condition)		({ if (condition) abort(); })
#define data_race(expression)		(expression)
#define smp_store_release(p, value)	(*(p) = (value))
#define smp_load_acquire(p)		(*(p))
#undef cmpxchg
#define cmpxchg(p, old, new) ({						\
	typeof(*(p)) before_ = *(p);						\
	if (before_ == (old))							\
		*(p) = (new);							\
	before_;								\
})

/* mm/slab: all sizes are those of a machine with SLUB and pages of 4 KiB. */
#define KMALLOC_MAX_CACHE_SIZE		(2 * PAGE_SIZE)
#define GFP_KERNEL_ACCOUNT		1
#define __GFP_ZERO			2

#define array_index_nospec(index, size)	(index)

size_t kmalloc_size_roundup(size_t bytes);
void *kmalloc(size_t bytes, gfp_t gfp);
void *__vmalloc(size_t bytes, gfp_t gfp);
void kvfree(const void *memory);
#define kfree(memory)			kvfree(memory)
#define kzalloc(bytes, gfp)		kmalloc(bytes, (gfp) | __GFP_ZERO)
#define kzalloc_obj(object, gfp)	kzalloc(sizeof(object), gfp)
#define __free(function)		__attribute__((cleanup(free_by_##function)))
static inline void free_by_kvfree(void *p)
{
	void *memory = *(void **)p;

	if (!IS_ERR_OR_NULL(memory))
		kvfree(memory);
}

#define no_free_ptr(p) ({ typeof(p) p_ = (p); (p) = NULL; p_; })

/* A grace period is over when somebody has waited for it, or for one that began later. */
unsigned long get_state_synchronize_rcu(void);
bool poll_state_synchronize_rcu(unsigned long grace);
void cond_synchronize_rcu(unsigned long grace);
#undef synchronize_rcu
void synchronize_rcu(void);
#define rcu_assign_pointer(p, value)	((p) = (value))
#define rcu_dereference_protected(p, c)	({ if (!(c)) abort(); (p); })
#define rcu_dereference(p)		(p)
#define guard_rcu()			((void)0)
#define hash_for_each_possible_rcu	hash_for_each_possible
#define hash_add_rcu(table, node, key)	hash_add(table, node, key)
#define hash_del_rcu(node)		hash_del(node)

/* One task: nobody has a mutex when it locks it, and nobody when it is destroyed. */
struct mutex { bool locked; };
extern bool table_interrupted;
static inline int mutex_lock_interruptible(struct mutex *mutex)
{
	if (table_interrupted)
		return -EINTR;
	if (mutex->locked)
		abort();
	mutex->locked = true;
	return 0;
}

static inline void mutex_lock(struct mutex *mutex)
{
	if (mutex->locked)
		abort();
	mutex->locked = true;
}

/* Tests of single functions take no lock. */
extern bool table_takes_locks;
#define lockdep_is_held(mutex)		((mutex)->locked || !table_takes_locks)

static inline void mutex_unlock(struct mutex *mutex)
{
	if (!mutex->locked)
		abort();
	mutex->locked = false;
}

#define DEFINE_MUTEX(name)		struct mutex name __maybe_unused
#define mutex_init(mutex)		((mutex)->locked = false)
#define mutex_destroy(mutex)		({ if ((mutex)->locked) abort(); })
#define guard(kind)			guard_##kind
#define guard_mutex(mutex)		((void)(mutex))

typedef struct { unsigned int value; } kuid_t;
#define uid_eq(a, b)			((a).value == (b).value)

/* Users and their namespaces, and what they have locked. */
struct ucounts {
	struct user_namespace	*ns;
	long			locked;
	int			refs;
};

struct user_namespace {
	struct ucounts		*ucounts;
	long			max;
};

extern struct user_namespace init_user_ns;
extern struct ucounts *table_current;
extern bool table_capable;
#define S64_MAX				LLONG_MAX
#undef RLIMIT_MEMLOCK
#define RLIMIT_MEMLOCK			8
#define CAP_IPC_LOCK			14
#define UCOUNT_RLIMIT_MEMLOCK		0
unsigned long rlimit(unsigned int limit);
#define current_ucounts()		table_current
#define ns_capable_noaudit(ns, cap)	((void)(ns), table_capable)
#define get_rlimit_value(user, type)	((user)->locked)
#define get_userns_rlimit_max(ns, type)	((ns)->max)
static inline struct ucounts *get_ucounts(struct ucounts *user)
{
	user->refs++;
	return user;
}

static inline void put_ucounts(struct ucounts *user)
{
	if (--user->refs < 0 || (!user->refs && user->locked))
		abort();
}

static inline void inc_rlimit_ucounts(struct ucounts *user, int type, long pages)
{
	for (; user; user = user->ns->ucounts)
		user->locked += pages;
}

static inline void dec_rlimit_ucounts(struct ucounts *user, int type, long pages)
{
	for (; user; user = user->ns->ucounts) {
		user->locked -= pages;
		if (user->locked < 0)
			abort();
	}
}

/* Parameters can be set: param_NAME points to each. */
#define module_param(name, type, mode)	unsigned int *const param_##name = &(name)
#define MODULE_PARM_DESC(name, text)	struct module

extern unsigned long jiffies;
#define time_before(a, b)		((long)((a) - (b)) < 0)

/* Files, and the clock that their ctime is of. */
typedef s64 time64_t;
typedef unsigned short umode_t;
struct timespec64 { time64_t tv_sec; long tv_nsec; };
struct super_block { dev_t s_dev; u32 s_time_gran; };
struct inode {
	unsigned long		i_ino;
	u32			i_generation;
	struct super_block	*i_sb;
	struct inode		*i_mapping;
	umode_t			i_mode;
	time64_t		ctime;
	long			ctime_nsec;
	bool			mapped_writable;
	bool			no_writeback;
};

struct cred {
	kuid_t			euid;
	struct user_namespace	*user_ns;
};

#define FMODE_READ			1
struct path { int unused; };
struct kstat { int unused; };
struct file {
	struct path		f_path;
	struct inode		*f_inode;
	struct inode		*real_inode;	/* on overlayfs */
	const struct cred	*f_cred;
	void			*private_data;
	unsigned int		f_mode;
	int			refs;
};

#define file_inode(file)		((file)->f_inode)
#define file_dentry(file)		(file)
#define d_real_inode(file)		((file)->real_inode ?: (file)->f_inode)
struct file *fget(int fd);
#define get_file(file)			((void)(file)->refs++)
static inline void fput(struct file *file)
{
	if (--file->refs < 0)
		abort();
}

#define STATX_CTIME			0
extern struct timespec64 table_now;
extern unsigned int table_queries, table_naps;
/* How long the last wait was, in ticks, and what happens to files meanwhile. */
extern long table_napped;
extern void (*table_nap)(void);
#define vfs_getattr_nosec(path, stat, mask, flags)	\
	((void)(path), (void)(stat), table_queries++)
#define inode_get_ctime_sec(inode)	((inode)->ctime)
#define inode_get_ctime_nsec(inode)	((inode)->ctime_nsec)
#define mapping_writably_mapped(mapping)	((mapping) && (mapping)->mapped_writable)
#define mapping_can_writeback(mapping)		(!(mapping) || !(mapping)->no_writeback)
#define ktime_get_coarse_real_ts64(ts)	(*(ts) = table_now)
static inline int timespec64_compare(const struct timespec64 *a, const struct timespec64 *b)
{
	if (a->tv_sec != b->tv_sec)
		return a->tv_sec < b->tv_sec ? -1 : 1;
	return a->tv_nsec < b->tv_nsec ? -1 : a->tv_nsec > b->tv_nsec;
}

/* A tick is a millisecond. */
static inline unsigned long nsecs_to_jiffies(u64 ns)
{
	return ns / 1000000;
}

static inline struct timespec64 timestamp_truncate(struct timespec64 t, const struct inode *inode)
{
	u32 gran = inode->i_sb->s_time_gran ?: 1;

	t.tv_nsec -= t.tv_nsec % gran;
	return t;
}

static inline void schedule_timeout_killable(long ticks)
{
	table_naps++;
	table_napped = ticks;
	if (table_nap)
		table_nap();
}

/* User memory is the program's own: table_copy() fails when the test says so. */
bool table_copy(void *dst, const void *src, size_t size);
#define get_user(x, p)			(table_copy(&(x), p, sizeof(*(p))) ? 0 : -EFAULT)
#define copy_from_user(to, from, size)	(table_copy(to, from, size) ? 0 : (size))
#define copy_to_user(to, from, size)	(table_copy(to, from, size) ? 0 : (size))
#define u64_to_user_ptr(value)		((void *)(uintptr_t)(value))
static inline unsigned long clear_user(void *to, size_t size)
{
	static const char zeroes[4096];

	return copy_to_user(to, zeroes, size);
}

static inline int copy_struct_from_user(void *dst, size_t known, const void *src, size_t size)
{
	size_t i, both = known < size ? known : size;
	u8 byte;

	for (i = both; i < size; i++) {
		if (get_user(byte, (const u8 *)src + i))
			return -EFAULT;
		if (byte)
			return -E2BIG;
	}
	memset((u8 *)dst + both, 0, known - both);
	return copy_from_user(dst, src, both) ? -EFAULT : 0;
}

#define cond_resched()			((void)0)

/* The device: registered are what test-device.c calls. */
struct seq_file { char text[256]; };
#define seq_printf(m, ...) \
	snprintf((m)->text + strlen((m)->text), sizeof((m)->text) - strlen((m)->text), __VA_ARGS__)
struct file_operations {
	void	*owner;
	int	(*open)(struct inode *inode, struct file *file);
	int	(*release)(struct inode *inode, struct file *file);
	long	(*unlocked_ioctl)(struct file *file, unsigned int cmd, unsigned long arg);
	long	(*compat_ioctl)(struct file *file, unsigned int cmd, unsigned long arg);
	void	*llseek;
	void	(*show_fdinfo)(struct seq_file *m, struct file *file);
};

struct miscdevice {
	int				minor;
	const char			*name;
	const struct file_operations	*fops;
	umode_t				mode;
};

#define MISC_DYNAMIC_MINOR		255
#undef THIS_MODULE
#define THIS_MODULE			NULL
#define noop_llseek			NULL
#define compat_ptr_ioctl		NULL
#define module_misc_device(device)	const struct miscdevice *const table_device = &(device)
extern const struct miscdevice *const table_device;
#undef MODULE_DESCRIPTION
#define MODULE_DESCRIPTION(text)	struct module
#undef MODULE_LICENSE
#define MODULE_LICENSE(text)		struct module

/* How a sample finds a rule is wanted, too. */
#define CONFIG_HAVE_PERF_UNWIND_RULES
#include <linux/perf_event.h>
#define TASK_SIZE			0x7ffffffff000UL

struct pt_regs;
unsigned long user_stack_pointer(struct pt_regs *regs);
struct perf_callchain_entry;
struct perf_callchain_entry_ctx;
struct perf_event {
	struct perf_event_attr	attr;
	struct perf_event	*parent;
	struct file		*unwind_table;
};

struct file *perf_event_get(unsigned int fd);
extern int table_security;
#define security_perf_event_write(event)	((void)(event), table_security)

/* An address space, which may change at any time. */
#define VM_WRITE			0x2UL
#define VM_EXEC				0x4UL
struct mm_struct;
struct vm_area_struct {
	unsigned long	vm_start, vm_end, vm_flags, vm_pgoff;
	struct file	*vm_file;
	void		*anon_vma;
	const void	*vm_private_data;
};

#define vma_is_special_mapping(vma, what)	((vma)->vm_private_data == (what))

struct vm_area_struct *vma_lookup(struct mm_struct *mm, unsigned long addr);
bool mmap_lock_speculate_try_begin(struct mm_struct *mm, unsigned int *seq);
bool mmap_lock_speculate_retry(struct mm_struct *mm, unsigned int seq);

#endif /* _STORE_KERNEL_H */
