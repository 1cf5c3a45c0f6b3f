// SPDX-License-Identifier: GPL-2.0
/*
 * Do searches make the kernel take fewer samples?  The walk's steps as the kernel has them, and
 * from kernel/events/core.c what measures samples, and what the series adds to it: throttle.inc
 * has these functions, see the Makefile.  Each sample is in code that was never seen before,
 * and is given the time that it would take.
 *
 * Prints TAP.
 */
#include <stdio.h>

#include "../../kmod/frame/x86_frame_cache.h"
#include "../../kmod/walk/unwind_user_code.h"
#include "report.h"
#include "walk-state.h"

#define PAGE		4096UL
#define CODE		0x400000UL
#define STACK		0x7ff000000000UL
#define SAMPLES		20000

/* What a sample takes without a search. */
#define SAMPLE_NS	1000

/* What the functions of core.c use. */
#define NSEC_PER_SEC	1000000000L
#define HZ		250
#define TICK_NSEC	(NSEC_PER_SEC / HZ)
#define DEFAULT_NS	2500
static int perf_sample_allowed_ns = DEFAULT_NS;
static int sysctl_perf_cpu_time_max_percent = 25;
static int sysctl_perf_event_sample_rate;
static u64 perf_sample_period_ns, running_sample_length;
static u32 max_samples_per_tick;
static u64 __report_avg, __report_allowed;
static unsigned int nr_lowered;
#define early_printk(...)		do { } while (0)
static int perf_duration_work;

static bool irq_work_queue(int *work)
{
	nr_lowered++;
	return work == &perf_duration_work;
}

#include "throttle.inc"

static struct {
	u8	code[2 * PAGE];
	u64	stack[PAGE / 8];
} memory;

int walk_read(void *dst, unsigned long addr, unsigned int len)
{
	if (addr >= CODE && addr + len <= CODE + sizeof(memory.code))
		memcpy(dst, memory.code + (addr - CODE), len);
	else if (addr >= STACK && addr + len <= STACK + sizeof(memory.stack))
		memcpy(dst, (u8 *)memory.stack + (addr - STACK), len);
	else
		return -EFAULT;
	return 0;
}

/* A frameless function of so many bytes, and the place of its only call. */
static void make_code(unsigned int bytes)
{
	unsigned int at;

	memset(&memory, 0x90, sizeof(memory));
	for (at = 0; at < bytes; at += 10)
		memcpy(memory.code + at, "\x48\x8b\x44\x24\x08\x48\x01\xd8\x74\x00", 10);
	memory.code[at] = 0xc3;
	memcpy(memory.code + sizeof(memory.code) - 8, "\xe8\0\0\0", 5);
	memory.stack[0] = CODE + sizeof(memory.code) - 3;
}

/* Returns what was searched; @found: the caller was found. */
static unsigned int sample(bool *found)
{
	struct unwind_user_state state = {
		.ip = CODE, .sp = STACK, .fp = STACK + 64, .ws = 8, .topmost = true,
	};

	mm.context.ctx_id++;
	*found = unwind_user_code_next(&state);
	return state.arch.spent;
}

static struct {
	unsigned int	found, most;
	u64		searched, most_mean;
} result;

/* Samples in functions of so many bytes, where what counts as an instruction takes @ns. */
static void run(unsigned int bytes, unsigned int sample_ns, unsigned int ns)
{
	unsigned int i, spent;
	bool found;

	memset(&result, 0, sizeof(result));
	nr_lowered = 0;
	running_sample_length = 0;
	if (perf_sample_allowed_ns)
		perf_sample_allowed_ns = DEFAULT_NS;
	make_code(bytes);
	for (i = 0; i < SAMPLES; i++) {
		spent = sample(&found);
		result.found += found;
		result.searched += spent;
		if (spent > result.most)
			result.most = spent;
		perf_sample_event_took(sample_ns + spent * ns);
		if (running_sample_length > result.most_mean)
			result.most_mean = running_sample_length;
	}
	printf("# %u ns each, %u bytes: %.1f %% found, %llu searched in the mean, ", ns, bytes,
	       100.0 * result.found / SAMPLES, (unsigned long long)result.searched / SAMPLES);
	printf("samples of %llu ns at most\n",
	       (unsigned long long)result.most_mean / NR_ACCUMULATED_SAMPLES);
}

int main(void)
{
	if (unwind_user_code_prepare())
		return 2;
	run(50, SAMPLE_NS, 12);
	report(!nr_lowered && result.found == SAMPLES, "throttle: small functions are searched");
	run(200, SAMPLE_NS, 12);
	report(!nr_lowered, "throttle: large functions");
	report(result.found > SAMPLES / 100, "throttle: ... of which some are searched");
	run(4000, SAMPLE_NS, 12);
	report(!nr_lowered, "throttle: as much as a walk may search");
	run(4000, SAMPLE_NS, 35);
	report(!nr_lowered, "throttle: ... on a slow machine");
	run(200, DEFAULT_NS * 24 / 25, 12);
	report(!nr_lowered && result.found < SAMPLES / 100,
	       "throttle: samples near what is allowed search nothing");
	walk_in_nmi = false;
	run(200, DEFAULT_NS * 24 / 25, 12);
	report(result.found > SAMPLES / 100, "throttle: ... but where nothing is measured");
	/* With preemption off a search is no longer there than in NMI. */
	run(4000, SAMPLE_NS, 12);
	report(result.most >= X86_FRAME_INSNS / 2 &&
	       result.most <= X86_FRAME_INSNS + X86_FRAME_INSNS / 8,
	       "throttle: ... within the budget of a walk");
	report(result.searched <= SAMPLES * (u64)UNWIND_USER_CREDIT_WALK + UNWIND_USER_CREDIT_MAX +
	       result.most, "throttle: ... and of all walks");
	walk_in_nmi = true;
	perf_sample_allowed_ns = 0;
	run(200, DEFAULT_NS * 24 / 25, 12);
	report(result.found > SAMPLES / 100, "throttle: ... or nothing is throttled");
	perf_sample_allowed_ns = DEFAULT_NS;
	run(200, DEFAULT_NS * 2, 12);
	report(nr_lowered, "throttle: samples that take too long themselves are");
	printf("1..%d\n", nr_tests);
	return !!nr_failed;
}
