// SPDX-License-Identifier: GPL-2.0
/*
 * What can a program do to those who walk its stack?  The module's walk, as it is, over
 * code and stacks that are made to take long: random ones, and pages that can't be read
 * beside code that jumps into them.  Reads are counted, those that fail, what is searched,
 * and, of the worst walks and of honest ones, instructions, step by step.  And what does the
 * walk by loaded rules ask of the code, which it does without a budget?
 *
 * usage: test-walk [SAMPLES]
 *
 * Prints TAP.
 */
#include <stdio.h>

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../kmod/module/hook.h"
#include "../../kmod/frame/x86_frame_cache.h"
#include "../../kmod/walk/unwind_user_code.h"
#include "report.h"
#include "walk-state.h"

#define MAX_STACK	127
#define PAGE		4096UL
#define CODE_PAGES	8
#define CODE		0x400000UL
#define STACK		0x7ff000000000UL
#define STACK_PAGES	4
#define STACK_WORDS	(STACK_PAGES * PAGE / 8)

/* What a look and a step may read: at the end of a page, byte by byte. */
#define MAX_LOOK_READS	32

/* The rules' walk before it may have 3, and the frame behind the last one. */
#define MAX_FAILED	(16 - 3)

unsigned long hook_counts[HOOK_NR];

/* A process, and what is counted while it is looked at. */
static struct {
	u8		code[CODE_PAGES * PAGE];
	u64		stack[STACK_WORDS];
	unsigned int	missing;	/* a bit for each page of the code, then the stack's */
	unsigned int	reads;
	unsigned int	failed;
} memory;

static bool is_there(unsigned long addr, u8 **at)
{
	unsigned int page;

	if (addr >= CODE && addr < CODE + sizeof(memory.code)) {
		page = (addr - CODE) / PAGE;
		*at = memory.code + (addr - CODE);
	} else if (addr >= STACK && addr < STACK + sizeof(memory.stack)) {
		page = CODE_PAGES + (addr - STACK) / PAGE;
		*at = (u8 *)memory.stack + (addr - STACK);
	} else {
		return false;
	}
	return !(memory.missing & 1U << page);
}

int walk_read(void *dst, unsigned long addr, unsigned int len)
{
	u8 *first, *last;

	memory.reads++;
	if (walk_is_measured)
		walk_clock += walk_read_ns * len;
	if (!is_there(addr, &first) || !is_there(addr + len - 1, &last) ||
	    last - first != len - 1) {
		memory.failed++;
		return -EFAULT;
	}
	memcpy(dst, first, len);
	return 0;
}

static unsigned int seed;

static unsigned int below(unsigned int n)
{
	return rand_r(&seed) % n;
}

static struct hook_walk walk;
static struct perf_callchain_entry_ctx entry;
static u64 chain[1 + MAX_STACK];

/* One sample, of code that was seen before. */
static void sample_again(unsigned int max_stack)
{
	entry = (struct perf_callchain_entry_ctx) {
		.entry = (struct perf_callchain_entry *)chain, .max_stack = max_stack,
	};
	chain[0] = 0;
	memory.reads = 0;
	memory.failed = 0;
	hook_walk(&walk, &entry, &walk_regs);
}

/* One sample, of code that was never seen before. */
static void sample(void)
{
	mm.context.ctx_id++;
	sample_again(MAX_STACK);
}

static void put(unsigned int at, const void *bytes, unsigned int len)
{
	if (at + len <= sizeof(memory.code))
		memcpy(memory.code + at, bytes, len);
}

/* Walks at a return, which search nothing, until searches may take as much as they ever may. */
static void save_up(void)
{
	const struct pt_regs kept = walk_regs;
	unsigned int i, missing = memory.missing;
	u8 byte = memory.code[0];

	put(0, "\xc3", 1);
	memory.missing = 0;
	walk_regs.ip = CODE;
	for (i = 0; i < 2 * UNWIND_USER_CREDIT_MAX / UNWIND_USER_CREDIT_WALK; i++)
		sample_again(1);
	put(0, &byte, 1);
	memory.missing = missing;
	walk_regs = kept;
}

/* An address in the code, often near the end of a page. */
static unsigned long some_code(void)
{
	unsigned long page = CODE + below(CODE_PAGES) * PAGE;

	return page + (below(2) ? below(PAGE) : PAGE - 1 - below(32));
}

/* An instruction of those that a scan has most to do with; returns its length. */
static unsigned int some_insn(unsigned int at)
{
	static const u8 simple[][4] = {
		{ 0x90 }, { 0x55 }, { 0x5d }, { 0x53 }, { 0x5b }, { 0xc9 },
		{ 0x48, 0x89, 0xe5 }, { 0x48, 0x89, 0xd8 },
		{ 0x48, 0x83, 0xec, 0x18 }, { 0x48, 0x83, 0xc4, 0x18 },
		{ 0x48, 0x8d, 0x65, 0xf0 }, { 0x48, 0x89, 0x2c, 0x24 },
		{ 0x48, 0x8b, 0x2c, 0x24 }, { 0x0f, 0x1f, 0x40, 0x00 },
	};
	static const u8 length[] = { 1, 1, 1, 1, 1, 1, 3, 3, 4, 4, 4, 4, 4, 4 };
	u8 jump[6] = { 0x0f, 0x80 + below(16) };
	unsigned int i = below(24);
	s32 to = some_code() - (CODE + at);

	if (i < ARRAY_SIZE(length)) {
		put(at, simple[i], length[i]);
		return length[i];
	}
	if (i < 20) {
		to -= 6;
		memcpy(jump + 2, &to, 4);
		put(at, jump, 6);
		return 6;
	}
	to -= 5;
	jump[0] = i == 20 ? 0xe9 : 0xe8;
	memcpy(jump + 1, &to, 4);
	put(at, jump, 5);
	return 5;
}

/* Returns that may be believed, trampolines, and frames that lead anywhere. */
static void make_stack(void)
{
	static const u8 trampoline[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	unsigned int i;

	for (i = 0; i < STACK_WORDS; i++) {
		unsigned long ip = some_code();

		switch (below(4)) {
		case 0:
			memory.stack[i] = STACK + 8 * below(STACK_WORDS);
			break;
		case 1:
			put(ip - CODE, trampoline, sizeof(trampoline));
			memory.stack[i] = ip;
			break;
		case 2:
			memory.stack[i] = below(8) ? ip : (u64)rand_r(&seed) << 16;
			break;
		default:
			if (ip - CODE >= 5)
				put(ip - CODE - 5, "\xe8\0\0\0", 5);
			memory.stack[i] = ip;
		}
	}
}

/* Nothing but returns behind calls: each frame is one more that the code is asked of. */
static void make_returns(void)
{
	unsigned int i;

	memory.missing = 0;
	for (i = 0; i < sizeof(memory.code); i += 6)
		put(i, "\xe8\0\0\0\0\xc3", 6);
	for (i = 0; i < STACK_WORDS; i++)
		memory.stack[i] = CODE + 6 * below(sizeof(memory.code) / 6) + 5;
	walk_regs.ip = memory.stack[0];
	walk_regs.sp = STACK;
}

/* Every frame is its own caller. */
static void make_circles(void)
{
	unsigned int i;

	for (i = 0; i < STACK_WORDS; i += 2)
		memory.stack[i] = STACK + 8 * i;
	walk_regs.bp = STACK + 16 * below(STACK_WORDS / 2);
}

static void make_hostile(unsigned int number)
{
	unsigned int at;

	seed = number;
	memory.missing = 0;
	if (number % 4)
		memory.missing = below(1U << CODE_PAGES) & below(1U << CODE_PAGES);
	if (number % 8 == 7)
		memory.missing |= 1U << (CODE_PAGES + below(STACK_PAGES));
	for (at = 0; at < sizeof(memory.code);) {
		if (number % 16 == 15)
			memory.code[at++] = rand_r(&seed) >> 4;
		else
			at += some_insn(at);
	}
	make_stack();
	walk_regs.ip = some_code();
	memory.missing &= ~(1U << (walk_regs.ip - CODE) / PAGE);
	walk_regs.sp = STACK + 8 * below(STACK_WORDS / 2);
	walk_regs.bp = below(8) ? STACK + 8 * below(STACK_WORDS) : rand_r(&seed);
	walk_regs.cs = __USER_CS;
	if (number % 16 == 13)
		make_returns();
	if (number % 16 == 14)
		make_circles();
}

/*
 * 127 frames with frame pointers; the innermost function has none yet, and so many bytes
 * of code before its return. What is scanned is nothing but moves and branches onwards.
 */
static void make_honest(unsigned int bytes)
{
	unsigned int at, i;

	memory.missing = 0;
	/* Nothing is left of other code. */
	memset(memory.code, 0xcc, sizeof(memory.code));
	for (at = 0; at < bytes; at += 10)
		put(at, "\x48\x8b\x44\x24\x08\x48\x01\xd8\x74\x00", 10);
	put(at, "\xc3", 1);
	put(7 * PAGE, "\xe8\0\0\0", 5);
	for (i = 0; i < STACK_WORDS; i += 2) {
		memory.stack[i] = STACK + 8 * (i + 2);
		memory.stack[i + 1] = CODE + 7 * PAGE + 5;
	}
	memory.stack[1] = memory.stack[3];
	walk_regs = (struct pt_regs) {
		.ip = CODE, .sp = STACK + 8, .bp = STACK + 16, .cs = __USER_CS,
	};
}

/* Single steps of so many samples. */
static long instructions(void (*sample)(void), unsigned int nr)
{
	long steps = 0;
	int status;
	pid_t pid = fork();

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		while (nr--)
			sample();
		raise(SIGSTOP);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	do {
		steps++;
		if (ptrace(PTRACE_SINGLESTEP, pid, 0, 0))
			break;
		waitpid(pid, &status, 0);
	} while (WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return steps;
}

static void sample_known(void)
{
	sample_again(MAX_STACK);
}

static struct {
	unsigned int	failed, reads, spent, analyses, frames;
	unsigned int	worst;	/* the sample with most of the budget */
} most;

static void raise_to(unsigned int *most, unsigned int now)
{
	if (now > *most)
		*most = now;
}

static void look_for_worst(unsigned int samples)
{
	unsigned int i;

	for (i = 0; i < samples; i++) {
		make_hostile(i);
		save_up();
		sample();
		if (walk.state.arch.spent > most.spent)
			most.worst = i;
		raise_to(&most.spent, walk.state.arch.spent);
		raise_to(&most.failed, memory.failed);
		raise_to(&most.reads, memory.reads);
		raise_to(&most.analyses, walk.state.arch.nr_code);
		raise_to(&most.frames, entry.nr);
	}
}

/* One hostile sample after the other: what they search, all of them. */
static unsigned long search_on(unsigned int samples)
{
	unsigned long spent = 0;
	unsigned int i;

	for (i = 0; i < samples; i++) {
		make_hostile(i);
		sample();
		spent += walk.state.arch.spent;
	}
	return spent;
}

static void check_bounds(unsigned int samples)
{
	unsigned long spent;

	look_for_worst(samples);
	report(most.failed <= MAX_FAILED && most.failed >= UNWIND_USER_FAILED_MAX,
	       "walk: reads that fail");
	report(most.analyses == UNWIND_USER_CODE_MAX, "walk: analyses");
	/* What is begun within the budget is brought to its end. */
	report(most.spent >= X86_FRAME_INSNS && most.spent <= X86_FRAME_INSNS + X86_FRAME_INSNS / 8,
	       "walk: the budget");
	report(most.frames == MAX_STACK, "walk: frames");
	printf("# %u hostile samples: at most %u reads, %u that fail, ", samples, most.reads,
	       most.failed);
	printf("%u analyses, %u of the budget\n", most.analyses, most.spent);

	save_up();
	spent = search_on(samples);
	printf("# one after the other: %lu of the budget each\n", spent / samples);
	report(spent <= UNWIND_USER_CREDIT_MAX + most.spent +
	       (unsigned long)samples * UNWIND_USER_CREDIT_WALK &&
	       spent >= (unsigned long)samples * UNWIND_USER_CREDIT_WALK / 2,
	       "walk: what all searches take");
}

/* The mean of the last samples' searches, as perf_sample_event_took() makes it. */
#define SAMPLES_MEAN	128
/* Of what the kernel allows a sample by default, half. */
#define SEARCH_NS	1250

/*
 * Samples of large functions that were never seen before, on a machine so slow that the
 * budget alone lets searches take more than a sample is allowed in all. A search that is
 * begun is brought to its end.
 */
static void check_time(unsigned int samples)
{
	u64 began, sum = 0, mean = 0, most_mean = 0, longest = 0;
	unsigned int i;

	save_up();
	walk_read_ns = 20;
	for (i = 0; i < samples; i++) {
		make_honest(4000);
		began = walk_clock;
		sample();
		began = walk_clock - began;
		sum += began;
		if (began > longest)
			longest = began;
		mean += began - mean / SAMPLES_MEAN;
		if (mean > most_mean)
			most_mean = mean;
	}
	walk_read_ns = 0;
	printf("# time: searches took %llu ns a sample, the mean of the last at most %llu, ",
	       (unsigned long long)sum / samples, (unsigned long long)most_mean / SAMPLES_MEAN);
	printf("one sample %llu\n", (unsigned long long)longest);
	report(longest > 10 * SEARCH_NS && sum > (u64)samples * SEARCH_NS / 2,
	       "walk: searches take long");
	report(most_mean <= SEARCH_NS * SAMPLES_MEAN + longest,
	       "walk: ... and in the mean not too long");
	/* As long as no search was measured: for the tests that follow. */
	for (i = 0; i < 10 * SAMPLES_MEAN; i++)
		sample_again(1);
}

static void check_honest(void)
{
	save_up();
	make_honest(100);
	sample();
	report(entry.nr == MAX_STACK && chain[1] == CODE && !memory.failed,
	       "walk: an honest chain");
	make_honest(4000);
	sample();
	report(entry.nr == MAX_STACK && walk.state.arch.spent >= X86_FRAME_INSNS / 2,
	       "walk: with a large function");
}

/* Where no rule is known of ip, rules go on from what a look tells: it searches nothing. */
static bool look(void)
{
	struct hook_walk walk = {
		.state = {
			.ip = walk_regs.ip, .sp = walk_regs.sp, .fp = walk_regs.bp,
			.ws = sizeof(u64), .topmost = true,
		},
	};

	memory.reads = 0;
	return unwind_user_code_exact(&walk.state);
}

static void check_looks(unsigned int samples)
{
	unsigned int found = 0, reads = 0, i;
	bool honest;

	for (i = 0; i < samples; i++) {
		make_hostile(i);
		found += look();
		raise_to(&reads, memory.reads);
	}
	make_honest(4000);
	printf("# looks: %u of %u found a caller, at most %u reads; ", found, samples, reads);
	honest = look();
	printf("%u in a large function\n", memory.reads);
	report(memory.reads && memory.reads <= 6 && !honest,
	       "walk by rules: a large function is not searched");
	report(found && reads <= MAX_LOOK_READS, "walk by rules: reads of a look");
}

/*
 * A search through nothing but moves and branches takes most for what it counts as; and
 * the sample that has most to search, again and again until that is made up for.
 */
static void check_instructions(void)
{
	unsigned int nr = most.spent / UNWIND_USER_CREDIT_WALK + 1, spent;
	long honest, large, hostile;

	save_up();
	make_honest(4000);
	large = instructions(sample, 1);
	sample();
	spent = walk.state.arch.spent;
	honest = instructions(sample_known, 1);
	large = honest + (large - honest) * UNWIND_USER_CREDIT_WALK / spent;
	/* What was saved up is gone then. */
	search_on(1000);
	make_hostile(most.worst);
	hostile = instructions(sample, nr) / nr;
	printf("# instructions: 127 frames %ld, with what may be searched %ld, ", honest, large);
	printf("the worst sample %ld\n", hostile);
	report(honest > 10000 && large > honest && large <= 3 * honest && hostile <= 3 * honest,
	       "walk: at most 3 times as long as an honest one");
}

int main(int argc, char **argv)
{
	unsigned int samples = argc > 1 ? atoi(argv[1]) : 5000;

	setvbuf(stdout, NULL, _IONBF, 0);
	if (unwind_user_code_prepare())
		return 2;
	check_bounds(samples);
	check_time(samples);
	check_honest();
	check_looks(samples);
	check_instructions();
	printf("1..%d\n", nr_tests);
	return !!nr_failed;
}
