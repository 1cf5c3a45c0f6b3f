// SPDX-License-Identifier: GPL-2.0
/*
 * How long does the kernel take for a user call chain? A breakpoint event
 * samples at one instruction, with and without a chain; the difference is the
 * chain's. In a VM that counts instructions (QEMU's -icount shift=0) one
 * nanosecond is one instruction.
 *
 * usage: cost FRAMES [rules|deferred]
 *
 * With "rules" the chain goes by rules that this program loads, among as many
 * rows as libc has. With "deferred" it is taken when the task returns to user
 * space, and has a record of its own.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <linux/perf_unwind_rules.h>
#include <asm/perf_regs.h>

#define ROUNDS		2000
#define RING_PAGES	1024
#define NR_ROWS		32768
#define CALLED		__attribute__((noinline, noclone))

/* The linker's: where the file is mapped to, and the section with main(). */
extern const char __executable_start[], __start_outermost[], __stop_outermost[];

/* Counted in assembler, so that no call becomes a jump and nothing is left out. */
static int sum;

/* For the array the compiler sets up a frame before the label. */
CALLED int leaf(int x)
{
	char bytes[64];

	bytes[x & 1] = 1;
	asm volatile("" : "+m" (bytes));
	asm volatile("at: nop");
	return sum + bytes[0];
}

static unsigned long address_of_at(void)
{
	unsigned long address;

	asm("lea at(%%rip), %0" : "=r" (address));
	return address;
}

CALLED int deep(int frames)
{
	int r = frames > 1 ? deep(frames - 1) : leaf(frames);

	asm volatile("incl %0" : "+m" (sum));
	return r + 1;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void die(const char *what)
{
	perror(what);
	exit(2);
}

/*
 * This program has frame pointers, linked to a fixed address: one rule is right
 * everywhere, and two that say it in different words make each row another.
 */
static int loaded_table(void)
{
	static const struct perf_unwind_rule rules[] = {
		{ .kind = PERF_UNWIND_CFA, .base = PERF_UNWIND_BASE_FP, .cfa_off = 16,
		  .ra_off = -8, .fp = PERF_UNWIND_FP_AT_CFA, .fp_off = -16 },
		{ .kind = PERF_UNWIND_CFA, .base = PERF_UNWIND_BASE_FP, .cfa_off = 16,
		  .ra_off = -8, .fp = PERF_UNWIND_FP_AT_FP },
		{ .kind = PERF_UNWIND_OUTERMOST },
	};
	static struct perf_unwind_row rows[NR_ROWS];
	struct perf_unwind_load load = {
		.size		= sizeof(load),
		.fd		= open("/proc/self/exe", O_RDONLY),
		.end	= 2 * NR_ROWS,
		.rows	= (unsigned long)rows,
		.rules	= (unsigned long)rules,
		.nr_rows = NR_ROWS,
		.nr_rules = 3,
		.row_size = sizeof(*rows),
		.rule_size = sizeof(*rules),
	};
	int table = open("/dev/perf_unwind_rules", O_RDWR);
	unsigned long outermost = __start_outermost - __executable_start;
	unsigned long outermost_end = __stop_outermost - __executable_start;
	unsigned int i;

	for (i = 0; i < NR_ROWS; i++) {
		rows[i].offset = 2 * i;
		rows[i].rule = i & 1;
		if (2 * i >= outermost && 2 * i < outermost_end)
			rows[i].rule = 2;
	}
	if (table < 0 || ioctl(table, PERF_UNWIND_LOAD, &load))
		die("/dev/perf_unwind_rules");
	return table;
}

static void attach_table(int event)
{
	struct perf_unwind_attach attach = { .size = sizeof(attach), .fd = event };

	if (ioctl(loaded_table(), PERF_UNWIND_ATTACH, &attach))
		die("PERF_UNWIND_ATTACH");
}

static int compare(const void *a, const void *b)
{
	double difference = *(const double *)a - *(const double *)b;

	return (difference > 0) - (difference < 0);
}

/* Nanoseconds a round. */
static double run(unsigned long sample_type, int frames, bool rules, bool deferred)
{
	static double took[ROUNDS];
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_BREAKPOINT,
		.size		= sizeof(attr),
		.bp_type	= HW_BREAKPOINT_X,
		.bp_addr	= address_of_at(),
		.bp_len		= sizeof(long),
		.sample_period	= 1,
		.sample_type	= sample_type,
		.exclude_kernel	= 1,
		.exclude_callchain_kernel = 1,
	};
	size_t size = (RING_PAGES + 1) * sysconf(_SC_PAGESIZE);
	double start;
	void *ring;
	int fd, i;

	if (rules) {
		attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr.sample_stack_user = 65528;
		attr.unwind_rules = 1;
		attr.sample_regs_user = 1ULL << PERF_REG_X86_IP | 1ULL << PERF_REG_X86_SP |
					1ULL << PERF_REG_X86_BP;
	}
	attr.defer_callchain = deferred;
	attr.defer_output = deferred;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	if (fd < 0)
		die("perf_event_open");
	if (rules && (sample_type & PERF_SAMPLE_CALLCHAIN))
		attach_table(fd);
	/* Read-only: overwritten, and so never full. */
	ring = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED)
		die("mmap");
	for (i = 0; i < 20; i++)
		deep(frames);
	for (i = 0; i < ROUNDS; i++) {
		start = now();
		deep(frames);
		took[i] = now() - start;
	}
	munmap(ring, size);
	close(fd);
	/* In some of them the kernel did other things, too. */
	qsort(took, ROUNDS, sizeof(*took), compare);
	return took[ROUNDS / 2];
}

__attribute__((section("outermost")))
int main(int argc, char **argv)
{
	/* deep()s, leaf(), main() and libc's two before it. */
	int frames = argc > 1 ? atoi(argv[1]) - 3 : 0;
	bool rules = argc > 2 && !strcmp(argv[2], "rules");
	bool deferred = argc > 2 && !strcmp(argv[2], "deferred");
	double without, with;

	if (frames < 1) {
		fprintf(stderr, "usage: cost FRAMES [rules|deferred] (at least 4)\n");
		return 2;
	}
	without = run(PERF_SAMPLE_IP, frames, rules, false);
	with = run(PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN, frames, rules, deferred);
	printf("%.0f\n", with - without);
	return 0;
}
