// SPDX-License-Identifier: GPL-2.0
/*
 * A program that makes it hard for who records it, until it is killed.
 *
 * usage: hostile KIND FROM FILE
 *
 * truncated: FILE, a copy of the library FROM, is mapped and run while it is cut to nothing
 *	and written again
 * faults: code is called from a stack whose pages userfaultfd never gives, but the first
 * threads: 4,000 of them, that begin and end
 * execs: processes that run the program anew, all the time
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NR_THREADS	4000
#define STACK_SIZE	(1 << 20)

static sigjmp_buf again;

static void *busy(void *arg)
{
	volatile unsigned long sum = 0;
	unsigned long i, n = (unsigned long)arg;

	for (i = 0; i < n; i++)
		sum += i;
	return NULL;
}

static int copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	static char buffer[1 << 20];
	ssize_t size = read(in, buffer, sizeof(buffer));
	int err = in < 0 || out < 0 || size <= 0 || write(out, buffer, size) != size;

	close(in);
	close(out);
	return err;
}

static void fault(int sig)
{
	siglongjmp(again, sig);
}

static int truncated(const char *from, const char *file)
{
	int (*entry)(int n);
	void *library;

	signal(SIGBUS, fault);
	if (copy(from, file))
		return 1;
	library = dlopen(file, RTLD_NOW);
	entry = library ? dlsym(library, "library_entry") : NULL;
	if (!entry)
		return 1;
	for (;;) {
		if (!sigsetjmp(again, 1))
			entry(20000);
		if (truncate(file, 0))
			return 1;
		if (!sigsetjmp(again, 1))
			entry(20000);
		if (copy(from, file))
			return 1;
	}
}

static int faults(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	pthread_attr_t attr;
	pthread_t thread;
	char *stack;
	int fd;

	stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack == MAP_FAILED)
		return 1;
	/* What a thread needs of it. */
	memset(stack + STACK_SIZE - 65536, 0, 65536);
	fd = syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	reg.range.start = (unsigned long)stack;
	reg.range.len = STACK_SIZE - 65536;
	if (fd >= 0 && !ioctl(fd, UFFDIO_API, &api))
		ioctl(fd, UFFDIO_REGISTER, &reg);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, STACK_SIZE);
	for (;;) {
		if (pthread_create(&thread, &attr, busy, (void *)100000000UL))
			return 1;
		pthread_join(thread, NULL);
	}
}

static int threads(void)
{
	static pthread_t all[NR_THREADS];
	pthread_attr_t attr;
	int i, nr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (;;) {
		for (nr = 0; nr < NR_THREADS; nr++) {
			if (pthread_create(&all[nr], &attr, busy, (void *)2000UL))
				break;
		}
		for (i = 0; i < nr; i++)
			pthread_join(all[i], NULL);
	}
	return 0;
}

static int execs(char **argv)
{
	char *const once[] = { argv[0], "once", NULL };

	for (;;) {
		if (!fork()) {
			execv("/proc/self/exe", once);
			_exit(1);
		}
		wait(NULL);
	}
}

int main(int argc, char **argv)
{
	if (argc == 2) {
		busy((void *)20000UL);
		return 0;
	}
	if (argc != 4)
		return 2;
	if (!strcmp(argv[1], "truncated"))
		return truncated(argv[2], argv[3]);
	if (!strcmp(argv[1], "faults"))
		return faults();
	if (!strcmp(argv[1], "threads"))
		return threads();
	return strcmp(argv[1], "execs") ? 2 : execs(argv);
}
