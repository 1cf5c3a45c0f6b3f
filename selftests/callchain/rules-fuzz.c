// SPDX-License-Identifier: GPL-2.0
/*
 * Updates that lie, mappings that come and go, tables and events that are closed
 * in any order, for a kernel that walks stacks by what is loaded meanwhile.
 *
 * usage: rules-fuzz SECONDS [SEED]
 *
 * Prints how many samples there were, how many of them had the whole chain, and
 * how many were longer than can be.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "../perf_events/unwind_rules.h"

#define MAX_STACK	127
#define NR_FILES	8
#define NR_EVENTS	2

static bool stop;
static unsigned int first_seed = 1;
static int files[NR_FILES], table;
static struct perf_event_mmap_page *rings[NR_EVENTS];
static unsigned long nr_samples, nr_whole, nr_over, nr_updates;

static bool stopped(void)
{
	return __atomic_load_n(&stop, __ATOMIC_RELAXED);
}

static void run(const char *code)
{
	((void (*)(void))code)();
}

static void clock_attr(struct perf_event_attr *attr)
{
	software_attr(attr, PERF_COUNT_SW_CPU_CLOCK);
	attr->sample_period = 100000;
	attr->exclude_kernel = 0;
	attr->inherit = 1;
	attr->sample_max_stack = MAX_STACK;
}

/* Numbers that are near to what works, and some that are not. */
static int some_offset(unsigned int *seed)
{
	unsigned int x = rand_r(seed);

	return x % 8 ? 8 * (int)(x / 8 % 16) - 16 : (int)rand_r(seed) * 2;
}

static void random_update(unsigned int *seed)
{
	struct perf_unwind_rule rules[8] = {};
	struct perf_unwind_row rows[256] = {};
	unsigned int nr_rows = 1 + rand_r(seed) % 256, i;
	__u32 start = rand_r(seed) % 8192, offset = start;

	for (i = 0; i < 8; i++) {
		rules[i].kind = rand_r(seed) % (PERF_UNWIND_OUTERMOST + 1 +
						(rand_r(seed) % 16 == 0));
		rules[i].base = rand_r(seed) % (PERF_UNWIND_BASE_FP + 1);
		rules[i].fp = rand_r(seed) % (PERF_UNWIND_FP_UNDEFINED + 1);
		rules[i].deref_off = rules[i].kind == PERF_UNWIND_DEREF ? rand_r(seed) : 0;
		rules[i].cfa_off = some_offset(seed);
		rules[i].ra_off = rand_r(seed) % 2 ? -8 : some_offset(seed);
		rules[i].fp_off = some_offset(seed);
		rules[i].ra = rand_r(seed) % 64 == 0;
	}
	for (i = 0; i < nr_rows; i++) {
		rows[i].offset = offset;
		rows[i].rule = rand_r(seed) % 8;
		offset += 1 + rand_r(seed) % 64;
	}
	nr_updates += !load_rules(table, files[rand_r(seed) % NR_FILES], start,
				  rand_r(seed) % 4 ? offset : ~0U, rows, nr_rows, rules, 8);
}

static void *loader(void *unused)
{
	unsigned int seed = first_seed;

	while (!stopped()) {
		struct perf_unwind_unload unload = { .size = sizeof(unload), .fd = -1 };
		struct perf_unwind_stats stats = { .size = sizeof(stats) };
		unsigned int what = rand_r(&seed) % 64;

		if (what == 0)
			ioctl(table, PERF_UNWIND_UNLOAD, &unload);
		unload.fd = files[what % NR_FILES];
		if (what < 4)
			ioctl(table, PERF_UNWIND_UNLOAD, &unload);
		else if (what < 8)
			ioctl(table, PERF_UNWIND_STATS, &stats);
		else if (what < 24)
			load_code(table, files[what % NR_FILES], 0);
		else
			random_update(&seed);
	}
	return unused;
}

/* Runs code here and there; files change, other files take their place. */
static void *mapper(void *unused)
{
	unsigned int seed = first_seed + 1, i;
	char *code = code_map(files[0], PROT_READ | PROT_EXEC, NULL);

	while (!stopped() && code != MAP_FAILED) {
		for (i = 0; i < 20000; i++)
			run(code);
		if (rand_r(&seed) % 4 == 0 &&
		    pwrite(files[rand_r(&seed) % NR_FILES], "", 1, 4000) != 1)
			perror("pwrite");
		code = code_map(files[rand_r(&seed) % NR_FILES],
				rand_r(&seed) % 8 ? PROT_READ | PROT_EXEC :
				PROT_READ | PROT_WRITE | PROT_EXEC, code);
	}
	return unused;
}

static void *forker(void *unused)
{
	unsigned int i;
	char *code;
	pid_t pid;

	while (!stopped()) {
		pid = fork();
		if (!pid) {
			code = code_map(files[1], PROT_READ | PROT_EXEC, NULL);
			for (i = 0; i < 20000 && code != MAP_FAILED; i++)
				run(code);
			_exit(0);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
	return unused;
}

/* Stores and events of its own, which go in any order. */
static void *opener(void *unused)
{
	unsigned int seed = first_seed + 2;
	struct perf_event_attr attr;
	int mine, event;

	clock_attr(&attr);
	while (!stopped()) {
		mine = unwind_table_open();
		event = event_open(&attr, -1);
		attach(rand_r(&seed) % 2 ? mine : table, event);
		load_code(mine, files[rand_r(&seed) % NR_FILES], 0);
		if (rand_r(&seed) % 2) {
			close(mine);
			usleep(rand_r(&seed) % 2000);
			close(event);
		} else {
			close(event);
			close(mine);
		}
	}
	return unused;
}

static void count(const struct perf_event_header *header)
{
	const __u64 *words = (const void *)(header + 1);
	struct sample sample;

	if (header->type != PERF_RECORD_SAMPLE)
		return;
	parse(header, &sample);
	nr_samples++;
	nr_whole += PERF_UNWIND_INFO_END(sample.info) == PERF_UNWIND_END_OUTERMOST;
	/* And the marks: PERF_CONTEXT_USER_RULES, its word, PERF_CONTEXT_USER. */
	nr_over += words[1] > MAX_STACK + 3;
}

static void read_ring(struct perf_event_mmap_page *ring)
{
	static char copy[65536] __attribute__((aligned(8)));
	__u64 head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE), i;
	__u64 tail = ring->data_tail, mask = ring->data_size - 1;
	const char *data = (const char *)ring + ring->data_offset;

	while (tail < head) {
		const struct perf_event_header *header = (const void *)(data + (tail & mask));

		for (i = 0; i < header->size; i++)
			copy[i] = data[(tail + i) & mask];
		count((const void *)copy);
		tail += header->size;
	}
	__atomic_store_n(&ring->data_tail, head, __ATOMIC_RELEASE);
}

static bool open_event(int i)
{
	struct perf_event_attr attr;
	int fd;

	clock_attr(&attr);
	/* With inherit, a ring is for one CPU. */
	fd = event_open(&attr, i);
	if (fd < 0 || attach(table, fd))
		return false;
	rings[i] = ring_map(fd);
	return rings[i] != MAP_FAILED;
}

int main(int argc, char **argv)
{
	static void *(*const jobs[])(void *) = { loader, mapper, forker, opener };
	int seconds = argc > 1 ? atoi(argv[1]) : 10, nr_events, event, i;
	pthread_t thread[4];

	if (argc > 2)
		first_seed = atoi(argv[2]);
	table = unwind_table_open();
	for (i = 0; i < NR_FILES; i++)
		files[i] = code_file(0);
	nr_events = sysconf(_SC_NPROCESSORS_ONLN) < NR_EVENTS ? 1 : NR_EVENTS;
	for (i = 0; i < nr_events; i++) {
		if (!open_event(i)) {
			perror("rules-fuzz: can't open an event");
			return 2;
		}
	}
	for (i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, jobs[i], NULL);
	for (i = 0; i < seconds * 100; i++) {
		usleep(10000);
		for (event = 0; event < nr_events; event++)
			read_ring(rings[event]);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	printf("%lu %lu %lu %lu\n", nr_samples, nr_whole, nr_over, nr_updates);
	return 0;
}
