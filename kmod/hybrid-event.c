// SPDX-License-Identifier: GPL-2.0
/*
 * perf_event_attr.hybrid_callchain: a user stack is walked by the rules that
 * the event's store has been taught.  Where these reach the outermost frame the
 * sample needs no stack dump; else the chain is the one that any event has.
 *
 * Mappings are looked up in the mm itself, as uprobes do: under RCU, with
 * mm_lock_seq to tell whether they changed meanwhile.  So no rule is ever used
 * for what is not mapped any more, or not yet.
 */
#include <linux/cred.h>
#include <linux/export.h>
#include <linux/file.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/perf_hybrid.h>

/* Those of the module: what tells its files from others. */
static const struct file_operations *store_fops;
static DEFINE_MUTEX(store_fops_lock);

/**
 * perf_hybrid_register - announce the files that are stores
 * @fops: the private_data of a file that has them is a struct perf_hybrid_store;
 *	their owner can't go while an event has one
 *
 * Return: 0, or -EBUSY where another module did.
 */
int perf_hybrid_register(const struct file_operations *fops)
{
	guard(mutex)(&store_fops_lock);
	if (store_fops)
		return -EBUSY;
	store_fops = fops;
	return 0;
}
EXPORT_SYMBOL_GPL(perf_hybrid_register);

/* Once no file with these operations is open any more. */
void perf_hybrid_unregister(void)
{
	guard(mutex)(&store_fops_lock);
	store_fops = NULL;
}
EXPORT_SYMBOL_GPL(perf_hybrid_unregister);

/* May an event with that attribute be opened?  0, or the error to return. */
int perf_hybrid_check_attr(const struct perf_event_attr *attr)
{
	u64 need = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	u64 regs = arch_perf_hybrid_regs();

	if ((attr->sample_type & need) != need || (attr->sample_regs_user & regs) != regs)
		return -EINVAL;
	/* One has no user chain, the other only later one by frame pointers. */
	if (attr->exclude_callchain_user || attr->defer_callchain)
		return -EINVAL;
	return 0;
}

/* Whoever opened a file may act for it: who it was passed on to may not. */
static bool same_opener(const struct file *a, const struct file *b)
{
	return uid_eq(a->f_cred->euid, b->f_cred->euid) &&
	       a->f_cred->user_ns == b->f_cred->user_ns;
}

/**
 * perf_hybrid_set_store - PERF_EVENT_IOC_SET_HYBRID
 * @event: the event; those that inherit from it ask it for its store
 * @event_file: that the ioctl came through
 * @fd: of the store
 *
 * Context: task, with the mutex of the event's context.
 *
 * Return: 0, or a negative error as the UAPI says.
 */
int perf_hybrid_set_store(struct perf_event *event, const struct file *event_file, int fd)
{
	struct file *file;
	int err = 0;

	if (!event->attr.hybrid_callchain)
		return -EINVAL;
	file = fget(fd);
	if (!file)
		return -EBADF;
	mutex_lock(&store_fops_lock);
	if (!store_fops || file->f_op != store_fops)
		err = -EBADF;
	else if (!same_opener(file, event_file))
		err = -EPERM;
	else if (event->hybrid_store)
		err = -EEXIST;
	else
		/* Pairs with event_store(). */
		smp_store_release(&event->hybrid_store, file);
	mutex_unlock(&store_fops_lock);
	if (err)
		fput(file);
	return err;
}

/* An event is freed, and no sample of it is under way any more. */
void perf_hybrid_free(struct perf_event *event)
{
	if (event->hybrid_store)
		fput(event->hybrid_store);
}

static struct perf_hybrid_store *event_store(struct perf_event *event)
{
	struct perf_event *top = event->parent ?: event;
	/* Pairs with perf_hybrid_set_store(). */
	struct file *file = smp_load_acquire(&top->hybrid_store);

	return file ? file->private_data : NULL;
}

static const struct perf_hybrid_rows *find_rows(const struct perf_hybrid_store *store,
						const void *key)
{
	struct perf_hybrid_object *object;
	unsigned int probes = 0;

	hash_for_each_possible_rcu(store->objects, object, node, (unsigned long)key) {
		if (++probes > PERF_HYBRID_MAX_PROBES)
			break;
		if (object->key != key)
			continue;
		if (!perf_hybrid_is_current(object))
			break;
		/* Not at each sample: other CPUs read it, too. */
		if (time_before(READ_ONCE(object->used), jiffies))
			WRITE_ONCE(object->used, jiffies);
		return rcu_dereference(object->rows);
	}
	return NULL;
}

/**
 * perf_hybrid_find_mapping - make a walk look at the mapping of an address
 * @walk: under way
 * @ip: in user space
 *
 * A mapping's memory may be another's by now, but stays a mapping's; then what
 * is read is of no use, and perf_hybrid_callchain_user() finds out at the end.
 *
 * Context: any, NMI too, under RCU.
 *
 * Return: false where there is none.
 */
bool perf_hybrid_find_mapping(struct perf_hybrid_walk *walk, unsigned long ip)
{
	struct vm_area_struct *vma = vma_lookup(walk->mm, ip);
	const void *key = NULL;
	struct file *file;

	walk->start = 0;
	walk->end = 0;
	walk->rows = NULL;
	if (!vma)
		return false;
	walk->start = READ_ONCE(vma->vm_start);
	walk->end = READ_ONCE(vma->vm_end);
	file = READ_ONCE(vma->vm_file);
	if (!file) {
		walk->offset = 0;
		key = arch_perf_hybrid_vdso_at(walk->mm, walk->start);
	} else if ((READ_ONCE(vma->vm_flags) & (VM_EXEC | VM_WRITE)) == VM_EXEC) {
		/* What can be written may hold other code than the file does. */
		walk->offset = (u64)READ_ONCE(vma->vm_pgoff) << PAGE_SHIFT;
		key = READ_ONCE(file->f_inode);
	}
	if (key)
		walk->rows = find_rows(walk->store, key);
	return ip >= walk->start && ip < walk->end;
}

static enum perf_hybrid_end walk_by_rules(struct perf_hybrid_walk *walk,
					  struct perf_callchain_entry_ctx *ctx,
					  struct pt_regs *regs)
{
	enum perf_hybrid_end end;

	if (!walk->store)
		return PERF_HYBRID_END_NO_STORE;
	guard(rcu)();
	walk->rules = rcu_dereference(walk->store->rules);
	if (!walk->rules || !mmap_lock_speculate_try_begin(walk->mm, &walk->seq))
		return PERF_HYBRID_END_BUSY;
	end = arch_perf_hybrid_walk(walk, ctx, regs);
	if (mmap_lock_speculate_retry(walk->mm, walk->seq))
		return PERF_HYBRID_END_BUSY;
	return end;
}

/**
 * perf_hybrid_callchain_user - the user's part of a hybrid event's chain
 * @ctx: gets PERF_CONTEXT_USER_HYBRID, what there is to know about the walk,
 *	PERF_CONTEXT_USER, and the chain
 * @event: the event
 * @regs: of user space
 *
 * Context: any, NMI too, with the mm of current loaded.
 */
void perf_hybrid_callchain_user(struct perf_callchain_entry_ctx *ctx,
				struct perf_event *event, struct pt_regs *regs)
{
	struct perf_callchain_entry *entry = ctx->entry;
	struct perf_hybrid_walk walk = {
		.store	= event_store(event),
		.mm	= current->mm,
	};
	enum perf_hybrid_end end;
	u64 info, from;
	u32 nr;

	perf_callchain_store_context(ctx, PERF_CONTEXT_USER_HYBRID);
	info = entry->nr;
	perf_callchain_store_context(ctx, 0);
	perf_callchain_store_context(ctx, PERF_CONTEXT_USER);
	if (ctx->contexts_maxed)
		return;
	from = entry->nr;
	nr = ctx->nr;
	end = walk_by_rules(&walk, ctx, regs);
	if (end != PERF_HYBRID_END_OUTERMOST) {
		entry->nr = from;
		ctx->nr = nr;
		perf_callchain_user(ctx, regs);
	}
	entry->ip[info] = end | walk.innermost << 8 | (u64)min(walk.frames, 0xffffU) << 16;
}

/* Does a hybrid event's chain end at the outermost frame, by rules alone? */
bool perf_hybrid_is_whole(const struct perf_callchain_entry *chain)
{
	u64 i;

	for (i = 0; i + 1 < chain->nr; i++) {
		if (chain->ip[i] == PERF_CONTEXT_USER_HYBRID)
			return PERF_HYBRID_INFO_END(chain->ip[i + 1]) ==
			       PERF_HYBRID_END_OUTERMOST;
	}
	return false;
}
