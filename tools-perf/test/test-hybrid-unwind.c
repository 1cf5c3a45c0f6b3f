// SPDX-License-Identifier: GPL-2.0
/*
 * The core by its public header alone: a program with neither perf nor perf's headers.
 */
#include <errno.h>
#include <string.h>
#include <linux/perf_event.h>
#include <linux/kernel.h>
#include "hybrid-unwind.h"
#include "elf-file.h"
#include "tap.h"

#define PID	100
#define TID	101
#define BIAS	0x7f0000000000ULL
#define STACK	0x7ffc00010000ULL

/* bp, sp and ip, as perf_event_attr::sample_regs_user numbers them. */
#define REGS	0x1c0

static struct hybrid_core *core;
static unsigned int nr_found;
static u64 regs[3], stack[8], chain[32];

static u64 at(const char *label)
{
	return BIAS + elf_file_symbol("frames.so", label);
}

static int map(struct hybrid_mapping *mapping, const struct hybrid_ident *ident, bool exec,
	       void *arg)
{
	const struct hybrid_core_map map = {
		.start = mapping->start, .end = mapping->end, .pgoff = mapping->pgoff,
		.file = ident,
	};
	const pid_t *pid = arg;

	return exec ? hybrid_core_map(core, *pid, &map) : 0;
}

static void start(const struct hybrid_core_ops *ops)
{
	pid_t pid = PID;

	core = hybrid_core_new(ops, NULL);
	if (!ops)
		elf_file_each_map("frames.so", BIAS, map, &pid);
	nr_found = 0;
}

/* leaf() < pushed() < bpframe() < outer(), in the kernel's words but for the last three. */
static void sample(pid_t tid, struct hybrid_sample *s)
{
	const u64 words[] = {
		at("pushed_ret"), 0, 0, 0, at("bpframe_ret"), 0, at("outer_ret"),
	};
	static u64 kernel[] = { PERF_CONTEXT_USER, 0 };

	memcpy(stack, words, sizeof(words));
	regs[0] = STACK + 40;
	regs[1] = STACK;
	regs[2] = at("leaf_at");
	kernel[1] = regs[2];
	*s = (struct hybrid_sample) {
		.pid = PID, .tid = tid, .regs_abi = PERF_SAMPLE_REGS_ABI_64, .regs_mask = REGS,
		.regs = regs, .stack = stack, .stack_size = sizeof(words),
		.max_frames = 16, .chain = chain, .max = ARRAY_SIZE(chain),
	};
	hybrid_kernel_chain_parse(kernel, ARRAY_SIZE(kernel), &s->kernel);
}

static void check_whole(pid_t tid)
{
	static const char * const labels[] = { "pushed_ret", "bpframe_ret", "outer_ret" };
	struct hybrid_sample s;
	unsigned int i;

	sample(tid, &s);
	same(hybrid_core_callchain(core, &s), 0);
	check(s.by_regs);
	same(s.outcome, HYBRID_COMPLETE);
	same(s.nr, 5);
	same(chain[0], PERF_CONTEXT_USER);
	same(chain[1], at("leaf_at"));
	for (i = 0; i < ARRAY_SIZE(labels); i++)
		same(chain[2 + i], at(labels[i]) - 1);
	check(!hybrid_core_failed_in(core, &s));
}

static void unwinds(void)
{
	start(NULL);
	check_whole(PID);
	hybrid_core_delete(core);
}

static void cut_off(void)
{
	struct hybrid_sample s;

	start(NULL);
	sample(PID, &s);
	s.stack_size = 16;
	same(hybrid_core_callchain(core, &s), 0);
	check(s.by_regs);
	same(s.outcome, HYBRID_TRUNCATED);
	check(strstr(hybrid_core_failed_in(core, &s), "frames.so"));
	/* What is no sample of a process that is known is the kernel's. */
	sample(PID, &s);
	s.pid = PID + 1;
	s.tid = PID + 1;
	same(hybrid_core_callchain(core, &s), 0);
	check(!s.by_regs);
	same(s.outcome, HYBRID_FP_ONLY);
	hybrid_core_delete(core);
}

static void registers(void)
{
	struct hybrid_sample s;

	start(NULL);
	check(hybrid_core_is_enough(PERF_SAMPLE_REGS_ABI_64, REGS));
	check(!hybrid_core_is_enough(PERF_SAMPLE_REGS_ABI_64, 0x100));
	sample(PID, &s);
	s.regs_mask = 0x100;
	same(hybrid_core_callchain(core, &s), 0);
	check(!s.by_regs);
	same(s.outcome, HYBRID_FP_ONLY);
	check_whole(PID);
	hybrid_core_delete(core);
}

/* Threads come and go, and a process that runs another program has nothing mapped. */
static void tasks(void)
{
	struct hybrid_sample s;

	start(NULL);
	same(hybrid_core_fork(core, PID, PID, PID), 0);
	same(hybrid_core_fork(core, PID, TID, PID), 0);
	check_whole(TID);
	hybrid_core_exit(core, TID);
	check_whole(PID);
	same(hybrid_core_exec(core, PID), 0);
	sample(PID, &s);
	same(hybrid_core_callchain(core, &s), 0);
	check(s.by_regs);
	same(s.outcome, HYBRID_NO_MAP);
	hybrid_core_forget(core);
	same(hybrid_core_nr_threads(core), 0);
	hybrid_core_delete(core);
}

/*
 * A process that vfork() has made, and that execve() has taken its address space from: its parent
 * writes to the stack. In the kernel alone a frame counts only if a call leads to what runs.
 */
static void overwritten(void)
{
	u64 kernel[] = { PERF_CONTEXT_KERNEL, 0x10, PERF_CONTEXT_USER, 0 };
	unsigned int forked, in_kernel;
	struct hybrid_sample s;

	for (forked = 0; forked < 2; forked++) {
		for (in_kernel = 0; in_kernel < 3; in_kernel++) {
			start(NULL);
			hybrid_core_set_forked(core, PID, forked);
			sample(PID, &s);
			/* No call stands there. */
			regs[2] = at("bpframe_entry");
			stack[0] = at("leaf_at") + 1;
			stack[1] = at("outer_ret");
			kernel[3] = regs[2];
			s.cpumode = in_kernel == 1 ? PERF_RECORD_MISC_KERNEL :
						     PERF_RECORD_MISC_USER;
			/* Of a precise event the address is the user's. */
			if (in_kernel == 2)
				hybrid_kernel_chain_parse(kernel, ARRAY_SIZE(kernel), &s.kernel);
			same(hybrid_core_callchain(core, &s), 0);
			same(s.outcome == HYBRID_COMPLETE, !forked || !in_kernel);
			same(s.nr, 4 - (forked && in_kernel) + 2 * (in_kernel == 2));
			same(s.is_marked, s.outcome != HYBRID_COMPLETE);
			hybrid_core_delete(core);
		}
	}
}

/* Samples of several events: each has registers of its own. */
static void masks(void)
{
	u64 more[4], rounds[] = { REGS, REGS | 1, REGS | 2, REGS | 4, REGS | 8, REGS };
	struct hybrid_sample s;
	unsigned int i;

	start(NULL);
	for (i = 0; i < 3 * ARRAY_SIZE(rounds); i++) {
		sample(PID, &s);
		s.regs_mask = rounds[i % ARRAY_SIZE(rounds)];
		/* One more register stands before them. */
		more[0] = 0xdead;
		memcpy(more + 1, regs, sizeof(regs));
		if (s.regs_mask != REGS)
			s.regs = more;
		same(hybrid_core_sp(core, s.regs_abi, s.regs_mask, s.regs), STACK);
		same(hybrid_core_callchain(core, &s), 0);
		same(s.outcome, HYBRID_COMPLETE);
		same(s.nr, 5);
	}
	same(hybrid_core_sp(core, s.regs_abi, REGS, NULL), 0);
	same(hybrid_core_sp(core, s.regs_abi, 0x100, regs), 0);
	hybrid_core_delete(core);
}

static void find_map(struct hybrid_core *in, pid_t pid, u64 ip, void *arg)
{
	check(in == core && ip && arg == &nr_found);
	nr_found++;
	elf_file_each_map("frames.so", BIAS, map, &pid);
}

/* Mappings are asked for, once for each state of the process. */
static void on_demand(void)
{
	static const struct hybrid_core_ops ops = {
		.open = elf_file_open, .find_map = find_map,
	};
	unsigned int i;

	start(&ops);
	hybrid_core_set_arg(core, &nr_found);
	for (i = 0; i < 4; i++) {
		same(hybrid_core_maps_of(core, PID, PID, 1 + i / 2), !(i % 2));
		check_whole(PID);
		same(nr_found, 1 + i / 2);
	}
	hybrid_core_delete(core);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "core: a whole chain", unwinds },
		{ "core: chains that end early", cut_off },
		{ "core: registers", registers },
		{ "core: tasks", tasks },
		{ "core: stacks that a parent may have written to", overwritten },
		{ "core: registers of several events", masks },
		{ "core: mappings on demand", on_demand },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
