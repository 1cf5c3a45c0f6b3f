/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the table of unwind rules needs of the kernel, for a program: memory that is
 * counted as the kernel's allocators give it, and grace periods that end when the test
 * says so.  Included before all else, see test-table.c.
 */
#ifndef _STORE_KERNEL_H
#define _STORE_KERNEL_H

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/types.h>

/* libc has a function of that name. */
#define remove				remove_object

#define __rcu
#define U32_MAX				UINT_MAX
#define PAGE_SHIFT			12
#define PAGE_SIZE			(1UL << PAGE_SHIFT)
#define PAGE_ALIGN(bytes)		(((bytes) + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1))
#define struct_size_t(type, member, nr)	(sizeof(type) + (nr) * sizeof(((type *)0)->member[0]))
#define struct_size(p, member, nr)	(sizeof(*(p)) + (nr) * sizeof((p)->member[0]))
#define WARN_ON_ONCE(condition)		({ if (condition) abort(); })
#define data_race(expression)		(expression)
#define smp_store_release(p, value)	(*(p) = (value))

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

/* A grace period is over when somebody has waited for it, or for one that began later. */
unsigned long get_state_synchronize_rcu(void);
bool poll_state_synchronize_rcu(unsigned long grace);
void cond_synchronize_rcu(unsigned long grace);
#undef synchronize_rcu
void synchronize_rcu(void);
#define rcu_assign_pointer(p, value)	((p) = (value))
#define rcu_dereference_protected(p, c)	(p)
#define hash_add_rcu(table, node, key)	hash_add(table, node, key)
#define hash_del_rcu(node)		hash_del(node)

/* One task. */
struct mutex { int unused; };
#define DEFINE_MUTEX(name)		struct mutex name __maybe_unused
#define mutex_init(mutex)		((void)(mutex))
#define mutex_destroy(mutex)		((void)(mutex))
#define guard(kind)			guard_##kind
#define guard_mutex(mutex)		((void)(mutex))

typedef struct { s64 value; } atomic64_t;
#define atomic64_read(v)		((v)->value)
#define atomic64_add_return(n, v)	((v)->value += (n))
#define atomic64_sub(n, v)		((v)->value -= (n))

typedef struct { unsigned int value; } kuid_t;
#define current_euid()			((kuid_t) { 1000 })
#define uid_eq(a, b)			((a).value == (b).value)

/* Parameters can be set: param_NAME points to each. */
#define module_param(name, type, mode)	unsigned int *const param_##name = &(name)
#define MODULE_PARM_DESC(name, text)	struct module

extern unsigned long jiffies;
#define time_before(a, b)		((long)((a) - (b)) < 0)

/* A file that nobody has mapped for writing. */
typedef s64 time64_t;
struct timespec64 { time64_t tv_sec; long tv_nsec; };
struct super_block { dev_t s_dev; };
struct inode {
	unsigned long		i_ino;
	u32			i_generation;
	struct super_block	*i_sb;
	void			*i_mapping;
	time64_t		ctime;
};

struct path { int unused; };
struct kstat { int unused; };
struct file { struct path f_path; };
#define STATX_CTIME			0
#define vfs_getattr_nosec(path, stat, mask, flags)	((void)(path), (void)(stat))
#define inode_get_ctime_sec(inode)	((inode)->ctime)
#define inode_get_ctime_nsec(inode)	((void)(inode), 0L)
#define mapping_writably_mapped(mapping)	((void)(mapping), false)
#define ktime_get_coarse_real_ts64(ts)	(*(ts) = (struct timespec64) { .tv_sec = INT_MAX })
#define timespec64_compare(a, b)	((a)->tv_sec < (b)->tv_sec ? -1 : 1)
#define schedule_timeout_uninterruptible(ticks)	((void)(ticks))

/* How a sample finds a rule is wanted, too. */
#define CONFIG_HAVE_PERF_UNWIND_RULES
enum perf_unwind_innermost { PERF_UNWIND_INNERMOST_NONE };
enum perf_unwind_end { PERF_UNWIND_END_NONE };
struct mm_struct;
struct pt_regs;
struct perf_callchain_entry;
struct perf_callchain_entry_ctx;
struct perf_event {
	struct perf_event	*parent;
	struct file		*unwind_table;
};

#endif /* _STORE_KERNEL_H */
