// SPDX-License-Identifier: GPL-2.0
/*
 * What an ordinary user can do to /dev/perf_unwind_rules and to the walk while others use them: one
 * thread for each, all of one process that is sampled, so that each disturbs the others.
 *
 * usage: rules-attack SECONDS [SEED]
 *
 * Prints how often each thread came round, and what the table says it holds at the end more
 * than at the beginning: 0 bytes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "../perf_events/unwind_rules.h"

#define NR_FILES	6
#define NOBODY		65534
#define MAX_ROWS	65536
#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))

static bool stop;
static unsigned int seed = 1;
/* Open all the time, and descriptors that come and go under who uses them. */
static int files[NR_FILES], table, shared_store = -1, shared_event = -1;
static unsigned long rounds[16];

static bool stopped(void)
{
	return __atomic_load_n(&stop, __ATOMIC_RELAXED);
}

static void die(const char *what)
{
	perror(what);
	exit(2);
}

/* As paranoid a system as there is lets anybody sample that. */
static int clock_event(void)
{
	struct perf_event_attr attr;

	software_attr(&attr, PERF_COUNT_SW_CPU_CLOCK);
	attr.sample_period = 100000;
	attr.inherit = 1;
	return event_open(&attr, -1);
}

static void run(const char *code, unsigned int times)
{
	while (times--)
		((void (*)(void))code)();
}

/* Both ends of an attachment are closed, or are another file, while the ioctl looks. */
static void attaches(unsigned int *x)
{
	attach(shared_store, shared_event);
	if (rand_r(x) % 4 == 0)
		load_code(shared_store, files[rand_r(x) % NR_FILES], 0);
}

static void closes(unsigned int *x)
{
	int *fd = rand_r(x) % 2 ? &shared_store : &shared_event;
	int new = fd == &shared_store ? unwind_table_open() : clock_event();

	if (new < 0)
		return;
	if (*fd < 0) {
		*fd = new;
		return;
	}
	/* Now and then a descriptor that is of the wrong kind, or closed. */
	if (rand_r(x) % 8 == 0)
		dup2(files[0], *fd);
	dup2(new, *fd);
	close(new);
}

/* A mapping goes under who stands in it, and its file's memory is another file's at once. */
static char *changing;

static void in_changing(unsigned int *x)
{
	run(changing, 1000 + rand_r(x) % 1000);
}

static void unmaps(unsigned int *x)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", files[rand_r(x) % NR_FILES]);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || code_map(fd, PROT_READ | PROT_EXEC, changing) == MAP_FAILED)
		die("mmap");
	/* The mapping alone has it: the next mmap() frees it. */
	close(fd);
	close(open("/", O_PATH | O_CLOEXEC));
}

/* A mapping moves, and is one that was written to. */
static void in_mapping(unsigned int *x)
{
	static char *code, *moved;

	if (!code)
		code = code_map(files[1], PROT_READ | PROT_EXEC, NULL);
	run(code, 2000);
	moved = mremap(code, 8192, 8192, MREMAP_MAYMOVE | MREMAP_FIXED,
		       mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	if (moved != MAP_FAILED)
		code = moved;
	if (rand_r(x) % 8 == 0) {
		mprotect(code, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
		mprotect(code, 8192, PROT_READ | PROT_EXEC);
	}
}

/* As many rows as there may be, over what is known, in pieces that do not fit together. */
static void loads(unsigned int *x)
{
	static const struct perf_unwind_rule rules[] = {
		CFA_SP(64), CFA_SP(8), { .kind = PERF_UNWIND_OUTERMOST },
	};
	unsigned int nr = rand_r(x) % 4 ? 1 + rand_r(x) % 4096 : MAX_ROWS, i;
	unsigned int step = 1 + rand_r(x) % 3, start = rand_r(x) % 4 * 1000;
	struct perf_unwind_row *rows = malloc(nr * sizeof(*rows));

	for (i = 0; i < nr; i++)
		rows[i] = (struct perf_unwind_row) { .offset = start + i * step, .rule = i % 3 };
	load_rules(table, files[rand_r(x) % NR_FILES], start,
		   rand_r(x) % 4 ? start + nr * step : -1U, rows, nr, rules, 3);
	free(rows);
}

/* Rows that go away, or change, while the kernel copies them. */
static char *torn;

static void loads_torn(unsigned int *x)
{
	static const struct perf_unwind_rule rules[] = { CFA_SP(64), CFA_SP(8) };

	load_rules(table, files[rand_r(x) % NR_FILES], 0, -1U, (void *)torn,
		   1 + rand_r(x) % MAX_ROWS, rules, 1 + rand_r(x) % 2);
}

static void tears(unsigned int *x)
{
	struct perf_unwind_row *rows = (void *)torn;
	unsigned int i, from = rand_r(x) % MAX_ROWS;

	/* As the last round may have left it. */
	mprotect(torn + 4096 * 64, 4096, PROT_READ | PROT_WRITE);
	for (i = from; i < MAX_ROWS && i < from + 8192; i++)
		rows[i] = (struct perf_unwind_row) { .offset = i + rand_r(x) % 2 };
	/* Eight pages at most, of those that there are. */
	madvise(torn + from % (MAX_ROWS - 4096) / 512 * 4096, 4096 * (1 + rand_r(x) % 8),
		MADV_DONTNEED);
	mprotect(torn + 4096 * 64, 4096, rand_r(x) % 2 ? PROT_NONE : PROT_READ | PROT_WRITE);
}

static void unloads(unsigned int *x)
{
	struct perf_unwind_unload unload = { .size = sizeof(unload), .fd = -1 };
	struct perf_unwind_stats stats = { .size = sizeof(stats) };

	if (rand_r(x) % 8)
		unload.fd = files[rand_r(x) % NR_FILES];
	ioctl(table, PERF_UNWIND_UNLOAD, &unload);
	ioctl(table, PERF_UNWIND_STATS, &stats);
	usleep(rand_r(x) % 20000);
}

/* A program is run; a child has an event of its own with the same table; or is killed. */
static void forks(unsigned int *x)
{
	char *const argv[] = { "true", NULL };
	unsigned int what = rand_r(x) % 3;
	pid_t pid = fork();

	if (!pid) {
		if (what == 0)
			execv("/bin/true", argv);
		if (what == 1)
			attach(table, clock_event());
		run(code_map(files[2], PROT_READ | PROT_EXEC, NULL), 5000);
		_exit(0);
	}
	if (pid > 0 && what == 2)
		kill(pid, SIGKILL);
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

/* A file that is written, cut short and mapped for writing while its code runs. */
static void writes(unsigned int *x)
{
	int fd = files[3 + rand_r(x) % 2];
	char *page;

	if (pwrite(fd, "", 1, 4090) != 1 || (rand_r(x) % 8 == 0 && ftruncate(fd, 4096)) ||
	    ftruncate(fd, 8192))
		die("write");
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED)
		munmap(page, 4096);
	usleep(100);
}

static void (*const jobs[])(unsigned int *x) = {
	attaches, closes, unmaps, in_changing, in_mapping, loads, loads_torn, tears, unloads,
	forks, writes,
};

#define NR_JOBS	ARRAY_SIZE(jobs)

static void *work(void *job)
{
	unsigned int i = (unsigned long)job, x = seed + i;

	while (!stopped()) {
		jobs[i](&x);
		rounds[i]++;
	}
	return NULL;
}

static void drop_privileges(void)
{
	if (geteuid())
		return;
	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY) ||
	    prctl(PR_SET_DUMPABLE, 1))
		die("setresuid");
}

static long long bytes_held(void)
{
	struct perf_unwind_unload all = { .size = sizeof(all), .fd = -1 };
	struct perf_unwind_stats stats = { .size = sizeof(stats) };

	if (ioctl(table, PERF_UNWIND_UNLOAD, &all) || ioctl(table, PERF_UNWIND_STATS, &stats))
		die("/dev/perf_unwind_rules");
	return stats.bytes;
}

int main(int argc, char **argv)
{
	int seconds = argc > 1 ? atoi(argv[1]) : 10, event;
	pthread_t threads[NR_JOBS];
	long long before;
	unsigned long i;

	if (argc > 2)
		seed = atoi(argv[2]);
	drop_privileges();
	for (i = 0; i < NR_FILES; i++)
		files[i] = code_file(0);
	torn = mmap(NULL, MAX_ROWS * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	changing = code_map(files[0], PROT_READ | PROT_EXEC, NULL);
	table = unwind_table_open();
	event = clock_event();
	if (table < 0 || event < 0 || torn == MAP_FAILED ||
	    changing == MAP_FAILED || attach(table, event))
		die("attach");
	before = bytes_held();
	for (i = 0; i < NR_JOBS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	sleep(seconds);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < NR_JOBS; i++) {
		pthread_join(threads[i], NULL);
		printf("%lu ", rounds[i]);
	}
	printf("%lld\n", bytes_held() - before);
	return 0;
}
