// SPDX-License-Identifier: GPL-2.0
/*
 * A livepatch of the function that perf_hybrid hooks: a walk by frame pointers
 * of 64-bit tasks, which says by a last entry of its own that it was there.
 */
#include <linux/livepatch.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/uaccess.h>

/* "patched", as an address that no task can have. */
#define SIGN	0x64656863746170UL

static void patched_callchain_user(struct perf_callchain_entry_ctx *entry,
				   struct pt_regs *regs)
{
	unsigned long frame[2], fp = regs->bp;

	perf_callchain_store(entry, regs->ip);
	while (entry->nr < entry->max_stack &&
	       !copy_from_user_nofault(frame, (const void __user *)fp, sizeof(frame))) {
		perf_callchain_store(entry, frame[1]);
		fp = frame[0];
	}
	perf_callchain_store(entry, SIGN);
}

static struct klp_func funcs[] = {
	{
		.old_name = "perf_callchain_user",
		.new_func = patched_callchain_user,
	}, { }
};

static struct klp_object objs[] = {
	{ .funcs = funcs }, { }
};

static struct klp_patch patch = {
	.mod	= THIS_MODULE,
	.objs	= objs,
};

static int __init livepatch_init(void)
{
	return klp_enable_patch(&patch);
}

static void __exit livepatch_exit(void)
{
}

module_init(livepatch_init);
module_exit(livepatch_exit);
MODULE_DESCRIPTION("A livepatch of perf_callchain_user(), for a test");
MODULE_LICENSE("GPL");
MODULE_INFO(livepatch, "Y");
