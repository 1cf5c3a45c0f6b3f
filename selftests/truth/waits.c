// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that wait, each in another way, for perf record --off-cpu: what is asked for is
 * where they sleep, 2,500 times a second in all, so that the rings have room for a dump of
 * each. usage: waits [SECONDS], 2 unless given.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "truth.h"

/* Both halves have the same; as mutex and condition variable zeroes will do. */
#ifdef HALF_A
#define SHARED
#else
#define SHARED extern
#endif

SHARED double deadline;
SHARED int data[2];
SHARED pthread_mutex_t lock;
SHARED pthread_mutex_t cond_lock;
SHARED pthread_cond_t cond;
SHARED int word;
SHARED int faults;
SHARED volatile char *page;

/* A system call without a frame: futex(word, FUTEX_WAIT, 0, timeout). */
void raw_futex(int *at, int op, int value, const struct timespec *timeout);

#ifdef HALF_A
TRUTH("raw_futex raw_wait asm");
asm(".pushsection .text\n\t"
    ".globl raw_futex\n\t"
    ".type raw_futex, @function\n"
    "raw_futex:\n\t"
    ".cfi_startproc\n\t"
    "mov %rcx, %r10\n\t"
    "mov $202, %eax\n\t"
    "syscall\n\t"
    "ret\n\t"
    ".cfi_endproc\n\t"
    ".size raw_futex, . - raw_futex\n\t"
    ".popsection");
#endif

__spin double clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/*
 * A thread that waits by NAME_wait(), which is called by NAME_mid() alone: names differ,
 * so that each function keeps one caller. How deep the stack is differs, too.
 */
#define WAITER(name, bytes, words)					\
FN_A(double, name##_now, (void), #name "_main libc")			\
{									\
	return clock_now();						\
}									\
									\
void name##_wait(void);							\
									\
FN_B(void, name##_mid, (void), #name "_top")				\
{									\
	char buf[bytes];						\
									\
	keep(buf);							\
	name##_wait();							\
	spin(20);							\
}									\
									\
FN_A(void, name##_top, (void), #name "_main")				\
{									\
	name##_mid();							\
	spin(10);							\
}									\
									\
FN_B(void *, name##_main, (void *arg), "@thread")			\
{									\
	while (name##_now() < deadline)					\
		name##_top();						\
	return NULL;							\
}									\
									\
FN_A(void, name##_wait, (void), #name "_mid" words)

WAITER(sleeping, 100, " libc")
{
	static const struct timespec span = { .tv_nsec = 4000000 };

	nanosleep(&span, NULL);
	spin(10);
}

WAITER(polling, 1000, " libc")
{
	poll(NULL, 0, 4);
	spin(10);
}

WAITER(reading, 3000, " libc")
{
	char c;

	if (read(data[0], &c, 1) != 1)
		spin(20);
	spin(10);
}

WAITER(writing, 40, " libc")
{
	usleep(4000);
	if (write(data[1], "x", 1) != 1)
		spin(20);
	spin(10);
}

WAITER(locking, 20, " libc")
{
	pthread_mutex_lock(&lock);
	usleep(1500);
	pthread_mutex_unlock(&lock);
	usleep(500);
	spin(10);
}

WAITER(contending, 5000, " libc")
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	usleep(1000);
	spin(10);
}

WAITER(signalled, 200, " libc")
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 4000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&cond_lock);
	pthread_cond_timedwait(&cond, &cond_lock, &until);
	pthread_mutex_unlock(&cond_lock);
	spin(10);
}

/* Its leaf is a system call without a frame. */
WAITER(raw, 80, "")
{
	static const struct timespec span = { .tv_nsec = 4000000 };

	raw_futex(&word, 0, 0, &span);
	spin(10);
}

/* Each touch is a page fault that sleeps until serve_faults() has a page. */
WAITER(faulting, 600, " libc")
{
	page[0]++;
	spin(10);
	madvise((void *)page, 4096, MADV_DONTNEED);
	spin(10);
}

FN_A(void, serve_fault, (const struct uffd_msg *msg), "serve_faults libc")
{
	static char zeroes[4096] __attribute__((aligned(4096)));
	struct uffdio_copy copy = {
		.dst	= msg->arg.pagefault.address & ~4095ULL,
		.src	= (unsigned long)zeroes,
		.len	= sizeof(zeroes),
	};

	usleep(3000);
	ioctl(faults, UFFDIO_COPY, &copy);
	spin(10);
}

FN_A(int, next_fault, (struct uffd_msg *msg), "serve_faults libc")
{
	return read(faults, msg, sizeof(*msg)) == sizeof(*msg);
}

FN_B(void *, serve_faults, (void *arg), "@thread")
{
	struct uffd_msg msg;

	while (next_fault(&msg))
		serve_fault(&msg);
	return NULL;
}

/* Where there may be such page faults; where not, nobody touches the page. */
FN_A(void, make_faults, (void), "main libc")
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	pthread_t id;

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	faults = syscall(SYS_userfaultfd, O_CLOEXEC);
	range.range.start = (unsigned long)page;
	range.range.len = 4096;
	if (faults < 0 || ioctl(faults, UFFDIO_API, &api) ||
	    ioctl(faults, UFFDIO_REGISTER, &range))
		return;
	pthread_create(&id, NULL, serve_faults, NULL);
	pthread_create(&id, NULL, faulting_main, NULL);
}

FN_B(void, start_waiters, (void), "main libc")
{
	static void *(*const mains[])(void *) = {
		sleeping_main, polling_main, reading_main, writing_main, locking_main,
		contending_main, signalled_main, raw_main,
	};
	pthread_t id;
	unsigned int i;

	if (pipe(data))
		abort();
	for (i = 0; i < sizeof(mains) / sizeof(mains[0]); i++)
		pthread_create(&id, NULL, mains[i], NULL);
}

FN_A(double, set_deadline, (const char *arg), "main libc")
{
	return clock_now() + (arg ? strtod(arg, NULL) : 2);
}

FN_B(void, wait_for_end, (void), "main libc")
{
	while (clock_now() < deadline)
		usleep(5000);
	spin(10);
}

FN_A(int, main, (int argc, char **argv), "@start")
{
	deadline = set_deadline(argc > 1 ? argv[1] : NULL);
	make_faults();
	start_waiters();
	wait_for_end();
	return 0;
}
