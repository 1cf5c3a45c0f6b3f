// SPDX-License-Identifier: GPL-2.0
/*
 * Mappings that change while threads of the same process stand on them and are sampled:
 * stacks and code go, come again, change their protection, move, and wait for a
 * userfaultfd's handler; processes are forked, run another program and are killed.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../../perf_events/unwind_rules.h"
#include "fuzz.h"

#define FRAMES		0x40000000UL
#define FRAMES_SIZE	(16 * PAGE)
#define LATE		0x48000000UL
#define LATE_SIZE	(64 * PAGE)
#define CODE		0x50000000UL
#define NR_FILES	4

static uint64_t seed;
static int files[NR_FILES], late_fd;

/* Frames from the lowest address up, each of which points to the next. */
static void put_frames(unsigned long start, size_t size)
{
	unsigned long *frame = (void *)start, next = start + 64;

	for (; next + 16 <= start + size; frame = (void *)next, next += 64) {
		frame[0] = next;
		frame[1] = CODE + 32;
	}
}

/* Loops with these registers; nothing touches the stack meanwhile. */
static void spin(unsigned long bp, unsigned long sp, unsigned long times)
{
	asm volatile("mov %%rsp, %%r12\n\t"
		     "mov %%rbp, %%r13\n\t"
		     "mov %0, %%rbp\n\t"
		     "mov %1, %%rsp\n\t"
		     "1: dec %2\n\t"
		     "jnz 1b\n\t"
		     "mov %%r13, %%rbp\n\t"
		     "mov %%r12, %%rsp"
		     : : "a" (bp), "c" (sp), "d" (times)
		     : "r12", "r13", "memory", "cc");
}

/*
 * A signal cannot be delivered to a thread whose stack pointer leads nowhere, so all signals
 * are blocked in these threads; SIGKILL ends them.
 */
static void *stands_on_frames(void *unused)
{
	struct rng rng = { seed + 1 };

	for (;;) {
		unsigned long at = FRAMES + rng_below(&rng, FRAMES_SIZE) / 16 * 16;

		spin(at, at + 8 * rng_below(&rng, 4), 20000 + rng_below(&rng, 20000));
	}
	return unused;
}

static void *runs_code(void *unused)
{
	struct rng rng = { seed + 2 };
	unsigned int i;

	for (;;) {
		for (i = rng_below(&rng, 20000); i; i--)
			((void (*)(void))CODE)();
		/* Another one, mapped over it. */
		code_map(files[rng_below(&rng, NR_FILES)], PROT_READ | PROT_EXEC, (void *)CODE);
		if (one_in(&rng, 4)) {
			mprotect((void *)CODE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
			mprotect((void *)CODE, PAGE, PROT_READ | PROT_EXEC);
		}
		count(MAPPINGS, 1);
	}
	return unused;
}

static void *changes_frames(void *unused)
{
	struct rng rng = { seed + 3 };

	for (;;) {
		unsigned long from = rng_below(&rng, FRAMES_SIZE / PAGE) * PAGE;
		unsigned long size = PAGE * (1 + rng_below(&rng, (FRAMES_SIZE - from) / PAGE));
		char *at = (char *)FRAMES + from;

		switch (rng_below(&rng, 6)) {
		case 0:
			munmap(at, size);
			break;
		case 1:
			mprotect(at, size, PROT_NONE);
			break;
		case 2:
			mprotect(at, size, PROT_READ);
			break;
		case 3:
			madvise(at, size, MADV_DONTNEED);
			break;
		case 4:
			madvise(at, size, one_in(&rng, 2) ? MADV_COLD : MADV_PAGEOUT);
			break;
		case 5:
			mremap(at, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
			       (char *)FRAMES + FRAMES_SIZE);
			break;
		}
		usleep(rng_below(&rng, 300));
		if (mmap((void *)FRAMES, FRAMES_SIZE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			die("mmap");
		put_frames(FRAMES, FRAMES_SIZE);
		count(MAPPINGS, 2);
	}
	return unused;
}

/* Frames that come when the handler gets to it, and a walk must not wait for. */
static void *stands_on_late(void *unused)
{
	struct rng rng = { seed + 4 };

	for (;;) {
		unsigned long at = LATE + rng_below(&rng, LATE_SIZE) / 16 * 16;

		spin(at, at + 8, 20000);
		if (one_in(&rng, 4))
			put_frames(at / PAGE * PAGE, PAGE);
		if (one_in(&rng, 16))
			madvise((void *)LATE, LATE_SIZE, MADV_DONTNEED);
	}
	return unused;
}

static void *handles_late(void *unused)
{
	struct uffd_msg msg;

	while (read(late_fd, &msg, sizeof(msg)) == sizeof(msg)) {
		struct uffdio_zeropage zero = {
			.range = { .start = msg.arg.pagefault.address / PAGE * PAGE, .len = PAGE },
		};

		usleep(500);
		ioctl(late_fd, UFFDIO_ZEROPAGE, &zero);
	}
	return unused;
}

static void *forks(void *unused)
{
	struct rng rng = { seed + 5 };
	char *const argv[] = { "true", NULL };
	unsigned int what;
	pid_t pid;

	for (;;) {
		what = rng_below(&rng, 4);
		pid = fork();
		if (!pid) {
			if (what == 0)
				execv("/bin/true", argv);
			/* Whatever another thread had done to it. */
			if (mmap((void *)FRAMES, FRAMES_SIZE, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
				_exit(1);
			put_frames(FRAMES, FRAMES_SIZE);
			for (;;)
				spin(FRAMES, FRAMES + 8, 20000 * (what + 1));
		}
		usleep(rng_below(&rng, 20000));
		if (pid > 0) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
		}
	}
	return unused;
}

static void make_late(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range = { .start = LATE, .len = LATE_SIZE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	late_fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (mmap((void *)LATE, LATE_SIZE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED ||
	    late_fd < 0 || ioctl(late_fd, UFFDIO_API, &api) ||
	    ioctl(late_fd, UFFDIO_REGISTER, &range))
		die("userfaultfd");
}

static void __attribute__((noreturn)) victim(int start)
{
	static void *(*const threads[])(void *) = {
		stands_on_frames, runs_code, changes_frames, stands_on_late, handles_late, forks,
	};
	pthread_t thread;
	sigset_t all;
	size_t i;
	char byte;

	for (i = 0; i < NR_FILES; i++)
		events_load_rules(files[i] = code_file(0));
	if (mmap((void *)FRAMES, FRAMES_SIZE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED ||
	    code_map(files[0], PROT_READ | PROT_EXEC, (void *)CODE) == MAP_FAILED)
		die("mmap");
	make_late();
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	if (read(start, &byte, 1) != 1)
		_exit(1);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		if (pthread_create(&thread, NULL, threads[i], NULL))
			die("pthread_create");
	for (;;)
		pause();
}

void job_mappings(struct rng *rng)
{
	const struct watched watched = {
		.code = { CODE, CODE + 16 }, .data = { FRAMES + 64, LATE + 64 },
	};
	unsigned long before = counts[MAPPINGS];
	double end = now() + JOB_SECONDS;
	struct events events;
	int start[2];
	pid_t pid;

	while (!is_over(end, MAPPINGS, before)) {
		seed = rng_next(rng);
		if (pipe(start))
			die("pipe");
		pid = fork();
		if (pid < 0)
			die("fork");
		if (!pid)
			victim(start[0]);
		events_open(&events, rng, pid, &watched);
		if (write(start[1], "", 1) != 1)
			die("write");
		while (!is_over(end, MAPPINGS, before) && !one_in(rng, 50) &&
		       waitpid(pid, NULL, WNOHANG) == 0) {
			usleep(20000);
			events_read(&events);
		}
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		events_close(&events, rng);
		close(start[0]);
		close(start[1]);
	}
}
