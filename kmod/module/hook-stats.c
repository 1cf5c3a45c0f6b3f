// SPDX-License-Identifier: GPL-2.0
/* perf_hybrid: how often the hook did what, as the parameter "statistics". */
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/sysfs.h>

#include "hook.h"

DEFINE_PER_CPU(unsigned long [HOOK_NR], hook_counts);

static const char * const hook_count_names[HOOK_NR] = {
	[HOOK_SAMPLES]				= "samples",
	[HOOK_STANDS]				= "standing",
	[HOOK_UNKNOWN]				= "unknown",
	[HOOK_UNREADABLE]			= "unreadable",
	[HOOK_SIGNAL]				= "restored_signal",
	[HOOK_KINDS + X86_FRAME_ENTRY]		= "restored_entry",
	[HOOK_KINDS + X86_FRAME_PROLOGUE]	= "restored_prologue",
	[HOOK_KINDS + X86_FRAME_EPILOGUE]	= "restored_epilogue",
	[HOOK_KINDS + X86_FRAME_RET]		= "restored_ret",
	[HOOK_KINDS + X86_FRAME_PLT]		= "restored_plt",
	[HOOK_KINDS + X86_FRAME_SCAN_SP]	= "restored_scan_sp",
	[HOOK_KINDS + X86_FRAME_SCAN_BP]	= "restored_scan_bp",
	[HOOK_KINDS + X86_FRAME_SCAN_MEM]	= "restored_scan_mem",
	[HOOK_KINDS + X86_FRAME_SCAN_REG]	= "restored_scan_reg",
};

static unsigned long sum(unsigned int what)
{
	unsigned long total = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		total += per_cpu(hook_counts, cpu)[what];
	return total;
}

static int statistics_get(char *buffer, const struct kernel_param *kp)
{
	unsigned int what;
	int len = 0;

	for (what = 0; what < HOOK_NR; what++) {
		if (hook_count_names[what])
			len += sysfs_emit_at(buffer, len, "%s %lu\n",
					     hook_count_names[what], sum(what));
	}
	return len;
}

static const struct kernel_param_ops statistics_ops = {
	.get = statistics_get,
};

module_param_cb(statistics, &statistics_ops, NULL, 0444);
MODULE_PARM_DESC(statistics, "samples seen, and frames restored by what told of them (read-only)");
