// SPDX-License-Identifier: GPL-2.0
/*
 * How long does the kernel take for a user call chain? A breakpoint event
 * samples at one instruction, with and without a chain; the difference is the
 * chain's. In a VM that counts instructions (QEMU's -icount shift=0) one
 * nanosecond is one instruction.
 *
 * usage: cost FRAMES
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

#define ROUNDS		2000
#define RING_PAGES	1024
#define CALLED		__attribute__((noinline, noclone))

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

/* Nanoseconds a round. */
static double run(unsigned long sample_type, int frames)
{
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
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0), i;
	double start;
	void *ring;

	if (fd < 0) {
		perror("perf_event_open");
		exit(2);
	}
	/* Read-only: overwritten, and so never full. */
	ring = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
	for (i = 0; i < 20; i++)
		deep(frames);
	start = now();
	for (i = 0; i < ROUNDS; i++)
		deep(frames);
	start = now() - start;
	munmap(ring, size);
	close(fd);
	return start / ROUNDS;
}

int main(int argc, char **argv)
{
	/* deep()s, leaf(), main() and libc's two before it. */
	int frames = argc > 1 ? atoi(argv[1]) - 3 : 0;
	double without, with;

	if (frames < 1) {
		fprintf(stderr, "usage: cost FRAMES (at least 4)\n");
		return 2;
	}
	without = run(PERF_SAMPLE_IP, frames);
	with = run(PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN, frames);
	printf("%.0f\n", with - without);
	return 0;
}
