// SPDX-License-Identifier: GPL-2.0
/*
 * Events that a table of /dev/perf_unwind_rules is attached to: a user stack is walked
 * by the rules that the table has been taught.  Where these reach the outermost
 * frame the sample needs no stack dump; else the chain is the one that any event
 * has.
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
#include <linux/perf_unwind_rules.h>
#include <linux/security.h>

/* May a table be attached to an event with that attribute? */
static bool attr_fits(const struct perf_event_attr *attr)
{
	u64 need = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	u64 regs = arch_perf_unwind_regs();

	return (attr->sample_type & need) == need && (attr->sample_regs_user & regs) == regs &&
	       /* One has no user chain, the other only later one by frame pointers. */
	       !attr->exclude_callchain_user && !attr->defer_callchain;
}

/* Whoever opened a file may act for it: who it was passed on to may not. */
static bool same_opener(const struct file *a, const struct file *b)
{
	return uid_eq(a->f_cred->euid, b->f_cred->euid) &&
	       a->f_cred->user_ns == b->f_cred->user_ns;
}

/**
 * perf_unwind_attach - have an event's user stacks walked by a table's rules
 * @table: an open file of /dev/perf_unwind_rules: its private_data is a struct
 *	perf_unwind_table.  The event keeps it until it is freed.
 * @fd: of the event; those that inherit from it ask it for its table
 *
 * Context: task.
 *
 * Return: 0, or a negative error as the UAPI says.
 */
int perf_unwind_attach(struct file *table, int fd)
{
	struct file *file = perf_event_get(fd);
	struct perf_event *event;
	int err;

	if (IS_ERR(file))
		return PTR_ERR(file);
	event = file->private_data;
	err = security_perf_event_write(event);
	if (err)
		goto put;
	err = -EPERM;
	if (!same_opener(table, file))
		goto put;
	err = -EINVAL;
	if (!attr_fits(&event->attr))
		goto put;
	get_file(table);
	/* Pairs with event_table(); whoever comes first has it. */
	err = cmpxchg(&event->unwind_table, NULL, table) ? -EEXIST : 0;
	if (err)
		fput(table);
put:
	fput(file);
	return err;
}
EXPORT_SYMBOL_GPL(perf_unwind_attach);

/* An event is freed, and no sample of it is under way any more. */
void perf_unwind_free(struct perf_event *event)
{
	if (event->unwind_table)
		fput(event->unwind_table);
}

static struct perf_unwind_table *event_table(struct perf_event *event)
{
	struct perf_event *top = event->parent ?: event;
	/* Pairs with perf_unwind_attach(). */
	struct file *file = smp_load_acquire(&top->unwind_table);

	return file ? file->private_data : NULL;
}

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
		/* Not at each sample: other CPUs read it, too. */
		if (time_before(READ_ONCE(object->used), jiffies))
			WRITE_ONCE(object->used, jiffies);
		return rcu_dereference(object->rows);
	}
	return NULL;
}

/*
 * What a file mapping's rows are; NULL for none.  Between the lookup and here the
 * mapping may have gone.  If it has not, what was read of its file is so, and the
 * inode lives until the end of the RCU section.  The file need not: its memory stays
 * a file's, but any other's, or one's that has no inode yet.  So that is read before
 * the mappings are asked whether they changed, and the inode is looked into behind.
 */
static const struct perf_unwind_rows *file_rows(const struct perf_unwind_walk *walk,
						const struct vm_area_struct *vma)
{
	const struct file *file = READ_ONCE(vma->vm_file);
	struct perf_unwind_key key;
	const struct inode *inode;

	/*
	 * What can be written may hold other code than the file does, and so may
	 * what has pages of its own: it could be written to before.
	 */
	if (!file || (READ_ONCE(vma->vm_flags) & (VM_EXEC | VM_WRITE)) != VM_EXEC ||
	    READ_ONCE(vma->anon_vma))
		return NULL;
	inode = READ_ONCE(file->f_inode);
	if (mmap_lock_speculate_retry(walk->mm, walk->seq))
		return NULL;
	key = perf_unwind_inode_key(inode);
	return find_rows(walk->table, &key, inode);
}

/**
 * perf_unwind_find_mapping - make a walk look at the mapping of an address
 * @walk: under way
 * @ip: in user space
 *
 * A mapping's memory may be another's by now, but stays a mapping's; then what
 * is read is of no use, and perf_unwind_callchain_user() finds out at the end.
 *
 * Context: any, NMI too, under RCU.
 *
 * Return: false where there is none.
 */
bool perf_unwind_find_mapping(struct perf_unwind_walk *walk, unsigned long ip)
{
	struct vm_area_struct *vma = vma_lookup(walk->mm, ip);
	struct perf_unwind_key key;
	const void *image;

	walk->start = 0;
	walk->end = 0;
	walk->rows = NULL;
	if (!vma)
		return false;
	walk->start = READ_ONCE(vma->vm_start);
	walk->end = READ_ONCE(vma->vm_end);
	walk->offset = 0;
	if (READ_ONCE(vma->vm_file)) {
		walk->offset = (u64)READ_ONCE(vma->vm_pgoff) << PAGE_SHIFT;
		walk->rows = file_rows(walk, vma);
	} else {
		image = arch_perf_unwind_vdso_at(walk->mm, walk->start);
		key = perf_unwind_vdso_key(image);
		if (image)
			walk->rows = find_rows(walk->table, &key, NULL);
	}
	return ip >= walk->start && ip < walk->end;
}

/**
 * perf_unwind_find_stack - let a walk read the stack that a stack pointer is in
 * @walk: under way
 * @sp: in user space
 *
 * Rules name addresses anywhere near sp, and pointers that are on the stack.
 * What is in other mappings a stack dump would not show either.
 *
 * Context: any, NMI too, under RCU.
 *
 * Return: false where nothing is mapped.
 */
bool perf_unwind_find_stack(struct perf_unwind_walk *walk, unsigned long sp)
{
	struct vm_area_struct *vma = vma_lookup(walk->mm, sp);

	walk->stack = vma ? READ_ONCE(vma->vm_start) : 0;
	walk->stack_end = vma ? READ_ONCE(vma->vm_end) : 0;
	return vma;
}

static enum perf_unwind_end walk_by_rules(struct perf_unwind_walk *walk,
					  struct perf_callchain_entry_ctx *ctx,
					  struct pt_regs *regs)
{
	enum perf_unwind_end end;

	guard(rcu)();
	walk->rules = rcu_dereference(walk->table->rules);
	if (!walk->rules || !mmap_lock_speculate_try_begin(walk->mm, &walk->seq))
		return PERF_UNWIND_END_BUSY;
	end = arch_perf_unwind_walk(walk, ctx, regs);
	if (mmap_lock_speculate_retry(walk->mm, walk->seq))
		return PERF_UNWIND_END_BUSY;
	return end;
}

/**
 * perf_unwind_callchain_user - the user's part of the chain of an event with a table
 * @ctx: gets PERF_CONTEXT_USER_RULES, what there is to know about the walk,
 *	PERF_CONTEXT_USER, and the chain
 * @event: perf_unwind_has_table()
 * @regs: of user space
 *
 * Context: any, NMI too, with the mm of current loaded.
 */
void perf_unwind_callchain_user(struct perf_callchain_entry_ctx *ctx,
				struct perf_event *event, struct pt_regs *regs)
{
	struct perf_callchain_entry *entry = ctx->entry;
	struct perf_unwind_walk walk = {
		.table	= event_table(event),
		.mm	= current->mm,
	};
	enum perf_unwind_end end;
	u64 info, from;
	u32 nr;

	perf_callchain_store_context(ctx, PERF_CONTEXT_USER_RULES);
	info = entry->nr;
	perf_callchain_store_context(ctx, 0);
	perf_callchain_store_context(ctx, PERF_CONTEXT_USER);
	if (ctx->contexts_maxed)
		return;
	from = entry->nr;
	nr = ctx->nr;
	end = walk_by_rules(&walk, ctx, regs);
	if (end != PERF_UNWIND_END_OUTERMOST) {
		entry->nr = from;
		ctx->nr = nr;
		perf_callchain_user(ctx, regs);
	}
	entry->ip[info] = end | walk.innermost << 8 | (u64)min(walk.frames, 0xffffU) << 16;
}

/* Does the chain of an event with a table end at the outermost frame, by rules alone? */
bool perf_unwind_is_whole(const struct perf_callchain_entry *chain)
{
	u64 i;

	for (i = 0; i + 1 < chain->nr; i++) {
		if (chain->ip[i] == PERF_CONTEXT_USER_RULES)
			return PERF_UNWIND_INFO_END(chain->ip[i + 1]) ==
			       PERF_UNWIND_END_OUTERMOST;
	}
	return false;
}
