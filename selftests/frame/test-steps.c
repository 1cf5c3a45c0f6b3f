// SPDX-License-Identifier: GPL-2.0
/*
 * Steps of the module's walk over code and a stack that are made for each test: while the
 * handler of a uprobe runs, without a cache, and in task context. Prints TAP.
 */
#include <stdio.h>

#include "../../kmod/frame/x86_frame_cache.h"
#include "../../kmod/module/hook.h"
#include "../../kmod/walk/unwind_user_code.h"
#include "report.h"
#include "walk-state.h"

#define PAGE		4096UL
#define CODE		0x400000UL
#define STACK		0x7ff000000000UL

/* Where callers return to: each has a call before it. */
#define FIRST		(CODE + 0x100)
#define SECOND		(CODE + 0x200)
#define WRONG		(CODE + 0x300)

unsigned long hook_counts[HOOK_NR];

static struct {
	u8		code[PAGE];
	u64		stack[PAGE / 8];
	bool		may_preempt;	/* at each read so far */
	unsigned int	reads;
	void		(*nmi)(void);	/* comes with the next read */
} memory;

int walk_read(void *dst, unsigned long addr, unsigned int len)
{
	void (*nmi)(void) = memory.nmi;

	memory.nmi = NULL;
	if (nmi)
		nmi();
	memory.reads++;
	if (walk_is_measured)
		walk_clock += walk_read_ns * len;
	if (walk_preempt_count)
		memory.may_preempt = false;
	if (addr >= CODE && addr + len <= CODE + sizeof(memory.code))
		memcpy(dst, memory.code + (addr - CODE), len);
	else if (addr >= STACK && addr + len <= STACK + sizeof(memory.stack))
		memcpy(dst, (u8 *)memory.stack + (addr - STACK), len);
	else
		return -EFAULT;
	return 0;
}

static void put(unsigned long at, const void *bytes, unsigned int len)
{
	memcpy(memory.code + (at - CODE), bytes, len);
}

static void begin(void)
{
	memset(&memory, 0, sizeof(memory));
	memset(memory.code, 0x90, sizeof(memory.code));
	memory.may_preempt = true;
	put(FIRST - 5, "\xe8\0\0\0\0\xc9\xc3", 7);
	put(SECOND - 5, "\xe8\0\0\0\0\xc9\xc3", 7);
	put(WRONG - 5, "\xe8\0\0\0\0\xc9\xc3", 7);
	mm.context.ctx_id++;
	walk_task.utask = NULL;
	walk_regs = (struct pt_regs) { .ip = CODE, .sp = STACK, .cs = __USER_CS };
}

static u64 chain[1 + 8];

/* One sample; returns the number of frames. */
static unsigned int sample(void)
{
	struct perf_callchain_entry_ctx entry = {
		.entry = (struct perf_callchain_entry *)chain, .max_stack = 8,
	};
	struct hook_walk walk;

	memset(chain, 0, sizeof(chain));
	hook_walk(&walk, &entry, &walk_regs);
	/* The kernel's own walk stores the last one. */
	if (entry.nr < entry.max_stack)
		chain[1 + entry.nr++] = walk.state.ip;
	return entry.nr;
}

/*
 * The probed instruction is a return. The caller goes on at a call, which has the first byte
 * of an optimized probe, and has 3 words on the stack.
 */
static void check_probe(u8 first)
{
	static struct arch_uprobe probe = { .insn = { 0xc3 } };
	static struct uprobe_task utask = { .auprobe = &probe };

	begin();
	put(CODE, &first, 1);
	put(FIRST, "\xe8\0\4\0\0\x48\x83\xc4\x18\xc3", 10);
	memory.stack[0] = FIRST;
	memory.stack[1] = WRONG;
	memory.stack[4] = SECOND;
	walk_task.utask = &utask;
	sample();
	report(chain[1] == CODE && chain[2] == FIRST,
	       "uprobe: the probed instruction is restored");
	report(chain[3] == SECOND, "uprobe: ... and no instruction of a caller");
}

/* The innermost frame of another walk: the handler runs at another address. */
static void check_other_ip(void)
{
	static struct arch_uprobe probe = { .insn = { 0xc3 } };
	static struct uprobe_task utask = { .auprobe = &probe };
	struct hook_walk walk = {
		.state = { .ip = FIRST, .sp = STACK, .ws = 8, .topmost = true },
	};

	begin();
	put(FIRST, "\xe8\0\4\0\0\x48\x83\xc4\x18\xc3", 10);
	memory.stack[0] = WRONG;
	memory.stack[3] = SECOND;
	walk_task.utask = &utask;
	report(unwind_user_code_next(&walk.state) && walk.state.ip == SECOND,
	       "uprobe: no instruction elsewhere is replaced");
}

/* Between push and mov: a look tells, where frame pointers show SECOND as the caller. */
static void make_prologue(void)
{
	begin();
	put(CODE + 0x10, "\x55\x48\x89\xe5\x5d\xc3", 6);
	walk_regs.ip = CODE + 0x11;
	walk_regs.bp = STACK + 16;
	memory.stack[0] = walk_regs.bp;
	memory.stack[1] = FIRST;
	memory.stack[3] = SECOND;
}

/* A leaf without a frame: it takes a search. */
static void make_leaf(void)
{
	begin();
	put(CODE + 0x10, "\x48\x01\xd8\x48\x83\xc4\x08\xc3", 8);
	walk_regs.ip = CODE + 0x10;
	walk_regs.bp = STACK + 16;
	memory.stack[1] = FIRST;
	memory.stack[3] = SECOND;
}

static bool shows_first(void)
{
	return chain[1] == walk_regs.ip && chain[2] == FIRST;
}

static bool nmi_shows_first, nmi_searches;

static void nmi(void)
{
	const struct pt_regs kept = walk_regs;
	u64 kept_chain[ARRAY_SIZE(chain)];

	memcpy(kept_chain, chain, sizeof(chain));

	make_prologue();
	sample();
	nmi_shows_first = shows_first();
	make_leaf();
	sample();
	nmi_searches = shows_first();
	make_leaf();
	walk_regs = kept;
	memcpy(chain, kept_chain, sizeof(chain));
}

static void check_without_cache(void)
{
	unwind_user_code_release();
	make_prologue();
	sample();
	report(shows_first(), "no cache: a look finds the caller");
	make_leaf();
	sample();
	report(chain[1] == walk_regs.ip && chain[2] == SECOND, "no cache: nothing is searched");
	unwind_user_code_prepare();
	make_leaf();
	sample();
	report(shows_first(), "a cache: a search finds the caller");

	make_leaf();
	memory.nmi = nmi;
	sample();
	report(nmi_shows_first, "an NMI within a walk: a look finds the caller");
	report(!nmi_searches, "an NMI within a walk: nothing is searched");
	report(shows_first(), "an NMI within a walk: ... which goes on");
	report(!walk_preempt_count, "preemption is enabled as often as it is disabled");
}

/* A search that takes far too long, as on a machine whose memory is very slow. */
static void take_long(void)
{
	walk_read_ns = 100000;
	make_leaf();
	sample();
	walk_read_ns = 0;
}

static void check_time(void)
{
	unsigned int i;

	take_long();
	report(shows_first(), "time: what is begun is brought to its end");
	sample();
	report(shows_first(), "time: ... and later found in the cache");
	make_leaf();
	sample();
	report(!shows_first(), "time: then nothing is searched");
	make_prologue();
	sample();
	report(shows_first(), "time: ... but a look finds the caller");
	walk_in_nmi = false;
	make_leaf();
	sample();
	report(shows_first(), "time: ... and outside NMI a search does");
	walk_in_nmi = true;
	make_leaf();
	for (i = 0; i < 1000; i++) {
		sample();
		if (shows_first())
			break;
	}
	printf("# %u samples later\n", i);
	report(i > 100 && i < 1000, "time: ... and later searches go on");
	/* Until that is of no account, for the tests that follow. */
	for (i = 0; i < 2000; i++)
		sample();
}

/* The first step of a deferred walk. */
static bool in_task_shows_first(void)
{
	struct hook_walk walk = {
		.state = {
			.ip = walk_regs.ip, .sp = walk_regs.sp, .fp = walk_regs.bp, .ws = 8,
			.topmost = true, .in_task = true,
		},
	};

	return unwind_user_code_next(&walk.state) && walk.state.ip == FIRST &&
	       !walk.state.arch.spent;
}

/* Frameless code, too long to search to its end. */
static void make_endless(void)
{
	unsigned int i;

	begin();
	for (i = 0; i + 10 <= PAGE; i += 10)
		put(CODE + i, "\x48\x8b\x44\x24\x08\x48\x01\xd8\x74\x00", 10);
	walk_regs.bp = STACK + 16;
	memory.stack[3] = SECOND;
}

/* Searches nothing any more on this CPU: all has been taken. */
static void take_all(void)
{
	unsigned int i;

	for (i = 0; i < 20; i++) {
		make_endless();
		sample();
	}
}

static void check_in_task(void)
{
	unwind_user_code_release();
	make_prologue();
	report(in_task_shows_first() && memory.may_preempt, "deferred: a look, preemptible");
	make_leaf();
	report(in_task_shows_first(), "deferred: a search needs no cache");
	report(memory.may_preempt, "deferred: ... and is preemptible");
	report(!walk_allocated, "deferred: ... and frees its memory");
	unwind_user_code_prepare();
	take_all();
	make_leaf();
	sample();
	report(!shows_first(), "other walks have used up what may be searched");
	report(in_task_shows_first(), "deferred: ... which is no bound there");
}

/* Frame pointers lead to any words: these are read without faults, as all else is. */
static void check_at_trampoline(void)
{
	struct unwind_user_state state = { .ws = 8, .in_task = true };

	begin();
	put(FIRST, "\x48\xc7\xc0\x0f\0\0\0\x0f\x05", 9);
	report(unwind_user_at_trampoline(&state, FIRST), "deferred: a trampoline");
	report(!unwind_user_at_trampoline(&state, SECOND), "deferred: ... and none");
	report(!unwind_user_at_trampoline(&state, CODE - 2) && state.arch.failed == 1,
	       "deferred: ... and what can't be read");
	state.arch.failed = UNWIND_USER_FAILED_MAX;
	memory.reads = 0;
	report(!unwind_user_at_trampoline(&state, FIRST) && !memory.reads,
	       "deferred: ... and is not, after as many reads that failed as a walk may have");
}

/* What the first event that wants chains costs a machine. */
static void check_memory(void)
{
	printf("# %zu bytes for each CPU\n", walk_kept_size);
	report(256 * walk_kept_size <= 4 << 20, "memory: at most 4 MiB for 256 CPUs");
	report(walk_kept_gfp == GFP_KERNEL, "memory: not charged to whoever opens the first event");
}

int main(void)
{
	if (unwind_user_code_prepare())
		return 2;
	check_memory();
	check_probe(INT3_INSN_OPCODE);
	check_probe(CALL_INSN_OPCODE);
	check_other_ip();
	check_without_cache();
	check_at_trampoline();
	check_time();
	check_in_task();
	printf("1..%d\n", nr_tests);
	return !!nr_failed;
}
