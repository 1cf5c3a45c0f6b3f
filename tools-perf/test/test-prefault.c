// SPDX-License-Identifier: GPL-2.0
/*
 * Pages that are made to be there, of a process that is this one.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/userfaultfd.h>
#include "tap.h"
#include "prefault.h"
#include "short-memory.h"

/* The kernel's own headers, which are those of these tests, name some system calls only. */
#ifndef SYS_userfaultfd
#define SYS_userfaultfd	323
#endif

#define PAGE	4096UL
#define PAGES	32

static struct hybrid_prefault *touch;
static u8 *pages;

static void begin(void)
{
	touch = hybrid_prefault_new();
	pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(touch && pages != MAP_FAILED);
}

static void end(void)
{
	hybrid_prefault_delete(touch);
	munmap(pages, PAGES * PAGE);
}

static bool is_there(unsigned int page)
{
	unsigned char there = 0;

	check(!mincore(pages + page * PAGE, PAGE, &there));
	return there & 1;
}

/* A thread does it: within a minute, however busy the machine is. */
static bool comes(unsigned int page)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	unsigned int i;

	for (i = 0; i < 60000 && !is_there(page); i++)
		nanosleep(&nap, NULL);
	return is_there(page);
}

static void touched(void)
{
	begin();
	pages[0] = 1;
	check(!is_there(2));
	check(hybrid_prefault_pages(touch, getpid(), (u64)pages + 2 * PAGE + 4000,
				    (u64)pages + 4 * PAGE));
	check(comes(4) && is_there(2) && is_there(3));
	check(!is_there(1) && !is_there(5));
	same(pages[3 * PAGE], 0);
	/* As before, it is the process's own. */
	pages[3 * PAGE] = 5;
	same(pages[2 * PAGE], 0);
	end();
}

static void refused(void)
{
	u64 start = (u64)pages;

	begin();
	check(!hybrid_prefault_pages(NULL, getpid(), start, start));
	check(!hybrid_prefault_pages(touch, 0, start, start));
	check(!hybrid_prefault_pages(touch, getpid(), start + PAGE, start));
	check(!hybrid_prefault_pages(touch, getpid(), start, start + 17 * PAGE));
	check(!hybrid_prefault_pages(touch, getpid(), 0, ~0ULL));
	end();
	hybrid_prefault_delete(NULL);
	short_memory_begin(0);
	check(!hybrid_prefault_new());
	check(short_memory_end());
}

/* What is not mapped, and a process that is gone, keep nobody from what comes then. */
static void gone(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	begin();
	check(hybrid_prefault_pages(touch, pid, (u64)pages, (u64)pages));
	munmap(pages + 8 * PAGE, PAGE);
	check(hybrid_prefault_pages(touch, getpid(), (u64)pages + 8 * PAGE, (u64)pages + 9 * PAGE));
	check(hybrid_prefault_pages(touch, getpid(), ~0ULL - PAGE, ~0ULL));
	check(hybrid_prefault_pages(touch, getpid(), (u64)pages + 7 * PAGE, (u64)pages + 7 * PAGE));
	check(comes(7));
	check(!is_there(9));
	end();
}

/* Of the mapping that sp is in, and of no other, as far as a dump may reach. */
static void stack(void)
{
	u64 sp;

	begin();
	sp = (u64)pages + 20 * PAGE + 8;
	check(!mprotect(pages, 6 * PAGE, PROT_NONE));
	check(!mprotect(pages + 30 * PAGE, 2 * PAGE, PROT_READ));
	check(hybrid_prefault_stack(touch, getpid(), sp));
	check(comes(29));
	check(is_there(6) && is_there(19) && is_there(20));
	check(!is_there(5) && !is_there(30));
	/* What is not written to is no stack. */
	check(hybrid_prefault_stack(touch, getpid(), (u64)pages + 31 * PAGE));
	check(hybrid_prefault_pages(touch, getpid(), (u64)pages, (u64)pages));
	check(comes(0));
	check(!is_there(30) && !is_there(31));
	check(!hybrid_prefault_stack(NULL, getpid(), sp));
	check(!hybrid_prefault_stack(touch, 0, sp));
	check(!hybrid_prefault_stack(touch, getpid(), 0));
	check(!hybrid_prefault_stack(touch, getpid(), ~0ULL));
	end();
}

/* Pages that the process itself is to bring, and never does. */
static int never_come(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range = { (u64)pages, PAGES * PAGE }, .mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd >= 0 && !ioctl(fd, UFFDIO_API, &api) && !ioctl(fd, UFFDIO_REGISTER, &range))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Who asks, and who ends, does not wait for them: else this test does not end. */
static void stuck(void)
{
	unsigned int i;
	int fd;

	begin();
	fd = never_come();
	/* More than may wait; where the kernel refuses such pages they come at once. */
	for (i = 0; i < 200; i++)
		hybrid_prefault_pages(touch, getpid(), (u64)pages + i % 16 * PAGE,
				      (u64)pages + (i % 16 + i / 16) * PAGE);
	hybrid_prefault_delete(touch);
	if (fd >= 0)
		close(fd);
	munmap(pages, PAGES * PAGE);
}

/* The same is asked for once, so that there is room for others. */
static void asked_again(void)
{
	unsigned int i;
	int fd;

	begin();
	fd = never_come();
	check(hybrid_prefault_pages(touch, getpid(), (u64)pages, (u64)pages));
	for (i = 0; i < 200; i++)
		check(hybrid_prefault_pages(touch, getpid(), (u64)pages + PAGE, (u64)pages + PAGE));
	hybrid_prefault_delete(touch);
	if (fd >= 0)
		close(fd);
	munmap(pages, PAGES * PAGE);
}

/* A file may be on a file system that does not answer. */
static void of_file(void)
{
	u8 *mapped, there = 1;
	int fd;

	begin();
	fd = memfd_create("test", MFD_CLOEXEC);
	check(!ftruncate(fd, PAGES * PAGE));
	mapped = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	check(hybrid_prefault_pages(touch, getpid(), (u64)mapped, (u64)mapped));
	check(hybrid_prefault_pages(touch, getpid(), (u64)pages, (u64)pages));
	/* One after the other. */
	check(comes(0));
	check(!mincore(mapped, PAGE, &there) && !(there & 1));
	munmap(mapped, PAGES * PAGE);
	close(fd);
	end();
}

/* The edges of what is done: pages, and where a stack may be. */
static void edges(void)
{
	const u64 reach = 16 * PAGE;
	u64 start;

	begin();
	start = (u64)pages;
	check(hybrid_prefault_pages(touch, getpid(), start, start + 16 * PAGE + PAGE - 1));
	check(!hybrid_prefault_pages(touch, getpid(), start + PAGE - 1, start + 17 * PAGE));
	check(hybrid_prefault_pages(touch, getpid(), start + 20 * PAGE, start + 20 * PAGE));
	check(!hybrid_prefault_pages(touch, getpid(), start + 20 * PAGE + 1, start + 20 * PAGE));
	check(!hybrid_prefault_pages(touch, -1, start, start));
	check(comes(16) && comes(20));
	check(!is_there(17));
	check(hybrid_prefault_stack(touch, getpid(), reach));
	check(!hybrid_prefault_stack(touch, getpid(), reach - 1));
	check(hybrid_prefault_stack(touch, getpid(), -2 * reach));
	check(!hybrid_prefault_stack(touch, getpid(), -2 * reach + 1));
	check(!hybrid_prefault_stack(touch, -1, start));
	end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "touch: the edges of what is done", edges },
		{ "touch: pages come, and no others", touched },
		{ "touch: what is not done", refused },
		{ "touch: a thread's stack", stack },
		{ "touch: nothing there", gone },
		{ "touch: a file's page", of_file },
		{ "touch: what waits", asked_again },
		{ "touch: a page that never comes", stuck },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
