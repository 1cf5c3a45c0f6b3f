// SPDX-License-Identifier: GPL-2.0
/*
 * What bpf_get_stack() and bpf_get_stackid() give a BPF program of an event that a table
 * of /dev/perf_unwind_rules is attached to: the same as of an event without one, whatever is
 * skipped. The two words that such a chain has in front of the user's part are no frames.
 *
 * The event is page faults, of user space and of the kernel, at one place. A line in TAP for
 * each.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <linux/perf_event.h>
#include <linux/perf_unwind_rules.h>
#include <asm/perf_regs.h>

#include "bpf-program.h"

#define CALLED		__attribute__((noinline, noclone))
#define MAX_DEPTH	32
#define MAX_SKIP	4

/* @stack: what bpf_get_stack() returned, @id: bpf_get_stackid(), @ips: of the first. */
struct result {
	int64_t		stack;
	int64_t		id;
	uint64_t	ips[MAX_DEPTH];
};

enum source { IN_USER, IN_KERNEL };

static int event, zeroes, results, stacks;
static char *page;
static int sum;

/* The fault is at the one place between the two ioctls, in assembler. */
CALLED void leaf(enum source source)
{
	long ret = SYS_read;

	madvise(page, 4096, MADV_DONTNEED);
	ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
	if (source == IN_USER)
		asm volatile("movb $1, (%0)" : : "r" (page) : "memory");
	else
		asm volatile("syscall"
			     : "+a" (ret) : "D" (zeroes), "S" (page), "d" (1)
			     : "rcx", "r11", "memory");
	ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
}

CALLED void caller(enum source source)
{
	leaf(source);
	asm volatile("incl %0" : "+m" (sum));
}

CALLED void outer(enum source source)
{
	caller(source);
	asm volatile("incl %0" : "+m" (sum));
}

/* Both, with the same flags, into the one element of the map. */
static int load(unsigned int flags)
{
	/* BPF_IMM and BPF_K are 0, as BPF_LD and BPF_ADD are. */
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 6, .src_reg = 1 },
		{ .code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = 10, .off = -4 },
		{ .code = BPF_LD | BPF_DW, .dst_reg = 1,
		  .src_reg = BPF_PSEUDO_MAP_FD, .imm = results },
		{},
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 2, .src_reg = 10 },
		{ .code = BPF_ALU64 | BPF_ADD, .dst_reg = 2, .imm = -4 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_map_lookup_elem },
		{ .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = 0, .off = 14 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 7, .src_reg = 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 1, .src_reg = 6 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 2, .src_reg = 7 },
		{ .code = BPF_ALU64 | BPF_ADD, .dst_reg = 2,
		  .imm = offsetof(struct result, ips) },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3, .imm = MAX_DEPTH * 8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 4, .imm = flags },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_stack },
		{ .code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = 7, .src_reg = 0,
		  .off = offsetof(struct result, stack) },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 1, .src_reg = 6 },
		{ .code = BPF_LD | BPF_DW, .dst_reg = 2,
		  .src_reg = BPF_PSEUDO_MAP_FD, .imm = stacks },
		{},
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3, .imm = flags },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_stackid },
		{ .code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = 7, .src_reg = 0,
		  .off = offsetof(struct result, id) },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return load_insns(BPF_PROG_TYPE_PERF_EVENT, insns, ARRAY_SIZE(insns));
}

static int open_event(void)
{
	struct perf_event_attr attr = {
		.size			= sizeof(attr),
		.type			= PERF_TYPE_SOFTWARE,
		.config			= PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period		= 1,
		.sample_type		= PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
					  PERF_SAMPLE_STACK_USER,
		.sample_regs_user	= 1ULL << PERF_REG_X86_IP | 1ULL << PERF_REG_X86_SP |
					  1ULL << PERF_REG_X86_BP,
		.sample_stack_user	= 1024,
		.unwind_rules		= 1,
		.disabled		= 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		die("perf_event_open");
	return fd;
}

static void attach_store(int table)
{
	struct perf_unwind_attach attach = { .size = sizeof(attach), .fd = event };

	if (ioctl(table, PERF_UNWIND_ATTACH, &attach))
		die("PERF_UNWIND_ATTACH");
}

static bool map_read(int map, unsigned int key, void *value)
{
	union bpf_attr attr = {
		.map_fd	= map,
		.key	= (unsigned long)&key,
		.value	= (unsigned long)value,
	};

	return !bpf(BPF_MAP_LOOKUP_ELEM, &attr);
}

/* One fault; @table: -1 for none; @by_id: what the map of stacks has of it. */
static void run(enum source source, int table, unsigned int flags, struct result *result,
		uint64_t *by_id)
{
	static const struct result none = { .stack = -1, .id = -1 };
	unsigned int key = 0;
	union bpf_attr attr = {
		.map_fd	= results,
		.key	= (unsigned long)&key,
		.value	= (unsigned long)&none,
	};
	int program;

	/* A new one: what hashes to a place that is taken is not kept. */
	stacks = make_map(BPF_MAP_TYPE_STACK_TRACE, MAX_DEPTH * 8, 1);
	program = load(flags);
	if (bpf(BPF_MAP_UPDATE_ELEM, &attr))
		die("BPF_MAP_UPDATE_ELEM");
	event = open_event();
	if (table >= 0)
		attach_store(table);
	if (ioctl(event, PERF_EVENT_IOC_SET_BPF, program))
		die("PERF_EVENT_IOC_SET_BPF");
	outer(source);
	close(event);
	close(program);
	memset(by_id, 0, MAX_DEPTH * sizeof(*by_id));
	if (!map_read(results, 0, result))
		die("BPF_MAP_LOOKUP_ELEM");
	if (result->id >= 0)
		map_read(stacks, result->id, by_id);
	close(stacks);
}

static bool is_user_chain(const struct result *result, unsigned int skip)
{
	unsigned long ip = result->ips[1];

	return skip || (result->ips[0] == PERF_CONTEXT_USER && ip > (unsigned long)leaf &&
			ip < (unsigned long)leaf + 256);
}

static void print_both(const struct result *result, uint64_t by_id[][MAX_DEPTH])
{
	unsigned int i;

	for (i = 0; i < MAX_DEPTH && (result[0].ips[i] || result[1].ips[i]); i++)
		printf("# %16llx %16llx, by id %16llx %16llx\n",
		       (unsigned long long)result[0].ips[i], (unsigned long long)result[1].ips[i],
		       (unsigned long long)by_id[0][i], (unsigned long long)by_id[1][i]);
}

static bool compare(enum source source, int table, unsigned int flags)
{
	static struct result result[2];
	static uint64_t by_id[2][MAX_DEPTH];
	const int tables[] = { -1, table };
	unsigned int skip = flags & BPF_F_SKIP_FIELD_MASK, i;
	bool right;

	/*
	 * From one place, so that all callers are the same: the compiler makes no copy of
	 * the call for each of the two.
	 */
	for (i = 0; i < 2; i++) {
		asm volatile("" : "+r" (i) : : "memory");
		run(source, tables[i], flags, &result[i], by_id[i]);
	}
	right = result[0].stack > 8 && result[0].id >= 0 && result[1].id >= 0 &&
		result[1].stack == result[0].stack &&
		!memcmp(result[1].ips, result[0].ips, result[0].stack) &&
		!memcmp(by_id[1], by_id[0], sizeof(by_id[0])) &&
		!memcmp(by_id[1], result[1].ips, result[0].stack) &&
		(!(flags & BPF_F_USER_STACK) || is_user_chain(&result[1], skip));
	if (!right)
		print_both(result, by_id);
	printf("%sok - %s, the %s's part, %u skipped: %lld bytes without a table, %lld with\n",
	       right ? "" : "not ", source == IN_USER ? "a fault in user space" :
	       "a fault in the kernel", flags & BPF_F_USER_STACK ? "user" : "kernel", skip,
	       (long long)result[0].stack, (long long)result[1].stack);
	return right;
}

int main(void)
{
	int table = open("/dev/perf_unwind_rules", O_RDWR), wrong = 0;
	unsigned int skip;

	zeroes = open("/dev/zero", O_RDONLY);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (table < 0 || zeroes < 0 || page == MAP_FAILED)
		die("/dev/perf_unwind_rules");
	results = make_map(BPF_MAP_TYPE_ARRAY, sizeof(struct result), 1);
	for (skip = 0; skip < MAX_SKIP; skip++) {
		wrong += !compare(IN_USER, table, BPF_F_USER_STACK | skip);
		wrong += !compare(IN_KERNEL, table, BPF_F_USER_STACK | skip);
		wrong += !compare(IN_KERNEL, table, skip);
	}
	return wrong ? 1 : 0;
}
