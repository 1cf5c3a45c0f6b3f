// SPDX-License-Identifier: GPL-2.0
/*
 * Events that a table of unwind rules is attached to: the user stack of a sample is
 * walked by the rules.  If they lead to the outermost frame, the sample needs no stack
 * dump.  Otherwise the callchain is the one that any event has.
 */
#include <linux/cred.h>
#include <linux/export.h>
#include <linux/file.h>
#include <linux/mmap_lock.h>
#include <linux/perf_unwind_rules.h>
#include <linux/security.h>

/* Can the samples of an event with this attribute be walked by rules? */
static bool attr_fits(const struct perf_event_attr *attr)
{
	u64 need = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	u64 regs = arch_perf_unwind_regs();

	return attr->unwind_rules && (attr->sample_type & need) == need &&
	       (attr->sample_regs_user & regs) == regs && attr->sample_stack_user &&
	       /* No user chain, or one that is taken later and by frame pointers. */
	       !attr->exclude_callchain_user && !attr->defer_callchain;
}

/* Only the opener may use a file descriptor; passing it on grants nothing. */
static bool same_opener(const struct file *a, const struct file *b)
{
	return uid_eq(a->f_cred->euid, b->f_cred->euid) &&
	       a->f_cred->user_ns == b->f_cred->user_ns;
}

/**
 * perf_unwind_attach - attach a table to an event
 * @table: an open file of /dev/perf_unwind_rules, whose private_data is a struct
 *	perf_unwind_table.  The event holds a reference until it is freed.
 * @fd: file descriptor of the event.  Events that inherit from it use its table.
 *
 * Context: task.
 *
 * Return: 0, or a negative error as the UAPI describes.
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
	/* Pairs with event_table().  An event has one table for its life. */
	err = cmpxchg(&event->unwind_table, NULL, table) ? -EEXIST : 0;
	if (err)
		fput(table);
put:
	fput(file);
	return err;
}
EXPORT_SYMBOL_GPL(perf_unwind_attach);

/* Called when @event is freed: none of its samples is in progress. */
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

/* What perf_output_sample_ustack() would copy, and no byte more: see perf_ustack_task_size(). */
static void set_stack(struct perf_unwind_walk *walk, const struct perf_event *event,
		      struct pt_regs *regs)
{
	unsigned long sp = user_stack_pointer(regs);

	walk->stack = sp;
	walk->stack_end = sp;
	if (sp < TASK_SIZE)
		walk->stack_end += min_t(u64, event->attr.sample_stack_user, TASK_SIZE - sp);
}

/**
 * perf_unwind_callchain_user - take the user callchain of an event with a table
 * @ctx: receives PERF_CONTEXT_USER_RULES, the word that describes the walk,
 *	PERF_CONTEXT_USER, and the addresses
 * @event: an event for which perf_unwind_has_table() is true
 * @regs: registers of user space
 *
 * Context: any, including NMI, with the mm of current loaded.
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
	set_stack(&walk, event, regs);
	end = walk_by_rules(&walk, ctx, regs);
	if (end != PERF_UNWIND_END_OUTERMOST) {
		entry->nr = from;
		ctx->nr = nr;
		perf_callchain_user(ctx, regs);
	}
	entry->ip[info] = end | walk.innermost << 8 | (u64)min(walk.frames, 0xffffU) << 16;
}

/* Did the rules lead to the outermost frame?  @chain is of an event with a table. */
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
