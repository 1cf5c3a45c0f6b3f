// SPDX-License-Identifier: GPL-2.0
/*
 * Steps of the module's walk while the handler of a uprobe runs, over code and a stack that
 * are made for each test. Prints TAP.
 */
#include <stdio.h>

#include "../../kmod/module/hook.h"
#include "../../kmod/walk/unwind-user-code.h"

#define PAGE		4096UL
#define CODE		0x400000UL
#define STACK		0x7ff000000000UL

/* Where callers return to: each has a call before it. */
#define FIRST		(CODE + 0x100)
#define SECOND		(CODE + 0x200)
#define WRONG		(CODE + 0x300)

static struct mm_struct mm;
struct task_struct walk_task = { .mm = &mm };
unsigned long hook_counts[HOOK_NR];
struct pt_regs walk_regs;

static struct {
	u8		code[PAGE];
	u64		stack[PAGE / 8];
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

static void put(unsigned long at, const void *bytes, unsigned int len)
{
	memcpy(memory.code + (at - CODE), bytes, len);
}

static void begin(void)
{
	memset(&memory, 0, sizeof(memory));
	memset(memory.code, 0x90, sizeof(memory.code));
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

static int nr_tests, nr_failed;

static void report(bool ok, const char *name)
{
	nr_tests++;
	nr_failed += !ok;
	printf("%sok %d - %s\n", ok ? "" : "not ", nr_tests, name);
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

int main(void)
{
	if (unwind_user_code_prepare())
		return 2;
	check_probe(INT3_INSN_OPCODE);
	check_probe(CALL_INSN_OPCODE);
	check_other_ip();
	printf("1..%d\n", nr_tests);
	return !!nr_failed;
}
