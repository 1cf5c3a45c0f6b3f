// SPDX-License-Identifier: GPL-2.0
/*
 * What do tables hold, as /proc/meminfo shows it? For a number of seconds rows are
 * loaded, replaced and evicted, objects are unloaded, and tables are closed and opened
 * again, within a limit of RLIMIT_MEMLOCK for all of them.
 *
 * usage: table-memory SECONDS KBYTES
 *
 * Prints in KiB: the most that was in use while tables were open beyond what was before;
 * the same once all are closed; and how many updates were taken, and how many evicted.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <sys/resource.h>

#include "../perf_events/unwind_rules.h"

#define PARAMETERS	"/sys/module/perf_unwind_rules/parameters/"
#define NOBODY		65534
#define NR_STORES	4
#define NR_FILES	16
#define NR_ROWS		60000

static struct perf_unwind_row rows[NR_ROWS];
static int files[NR_FILES], tables[NR_STORES];
static unsigned long updates, evicted;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static unsigned long get_parameter(const char *name)
{
	char path[128];
	unsigned long value;
	FILE *file;

	snprintf(path, sizeof(path), PARAMETERS "%s", name);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%lu", &value) != 1)
		die(path);
	fclose(file);
	return value;
}

static void set_parameter(const char *name, unsigned long value)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), PARAMETERS "%s", name);
	file = fopen(path, "w");
	if (!file || fprintf(file, "%lu\n", value) < 0 || fclose(file))
		die(path);
}

static long meminfo(const char *text, const char *name)
{
	const char *line = strstr(text, name);

	return line ? strtol(line + strlen(name), NULL, 10) : 0;
}

/*
 * All but what is free or would be at once: files that were read, above all. The file stays
 * open: what opening it takes KASAN keeps for long.
 */
static long in_use(void)
{
	static int file = -1;
	char text[8192];
	ssize_t len;

	if (file < 0)
		file = open("/proc/meminfo", O_RDONLY);
	len = pread(file, text, sizeof(text) - 1, 0);
	if (len <= 0)
		die("/proc/meminfo");
	text[len] = 0;
	return meminfo(text, "MemTotal:") - meminfo(text, "MemFree:") -
	       meminfo(text, "Buffers:") - meminfo(text, "\nCached:") -
	       meminfo(text, "SReclaimable:");
}

static void load_one(int table, int file, unsigned int *seed)
{
	static const struct perf_unwind_rule rules[] = { CFA_SP(8), CFA_SP(16) };
	unsigned int nr = NR_ROWS / 2 + rand_r(seed) % (NR_ROWS / 2), i;

	for (i = 0; i < nr; i++)
		rows[i] = (struct perf_unwind_row) { .offset = i, .rule = i & 1 };
	if (!load_rules(table, file, 0, nr, rows, nr, rules, 2))
		updates++;
	else if (errno != EDQUOT && errno != EFBIG)
		die("PERF_UNWIND_LOAD");
}

static void unload_one(int table, int file)
{
	struct perf_unwind_unload unload = { .size = sizeof(unload), .fd = file };

	if (ioctl(table, PERF_UNWIND_UNLOAD, &unload) && errno != ENOENT)
		die("PERF_UNWIND_UNLOAD");
}

static void close_store(int *table)
{
	struct perf_unwind_stats stats = { .size = sizeof(stats) };

	if (ioctl(*table, PERF_UNWIND_STATS, &stats))
		die("PERF_UNWIND_STATS");
	evicted += stats.evicted;
	close(*table);
	*table = -1;
}

static void one_step(unsigned int *seed)
{
	int *table = &tables[rand_r(seed) % NR_STORES];
	int file = files[rand_r(seed) % NR_FILES];
	unsigned int what = rand_r(seed) % 32;

	if (*table < 0)
		*table = unwind_table_open();
	if (*table < 0)
		die("/dev/perf_unwind_rules");
	if (!what)
		close_store(table);
	else if (what < 3)
		unload_one(*table, file);
	else
		load_one(*table, file, seed);
}

int main(int argc, char **argv)
{
	int seconds = argc > 1 ? atoi(argv[1]) : 0, i;
	unsigned long kbytes = argc > 2 ? strtoul(argv[2], NULL, 10) : 0, table_kbytes;
	const struct rlimit limit = { kbytes << 10, kbytes << 10 };
	long before, now, most = 0;
	unsigned int seed = 1;
	time_t end;

	if (seconds < 1 || !kbytes) {
		fprintf(stderr, "usage: table-memory SECONDS KBYTES\n");
		return 2;
	}
	table_kbytes = get_parameter("table_kbytes");
	/* So little that a few objects fill it. */
	set_parameter("table_kbytes", kbytes / 8);
	for (i = 0; i < NR_FILES; i++)
		files[i] = code_file(0);
	for (i = 0; i < NR_STORES; i++)
		tables[i] = -1;
	/* Root has no limit. */
	if (setrlimit(RLIMIT_MEMLOCK, &limit) || seteuid(NOBODY))
		die("RLIMIT_MEMLOCK");
	/* So that what this program itself needs is there. */
	for (i = 0; i < 64; i++)
		one_step(&seed);
	for (i = 0; i < NR_STORES; i++) {
		if (tables[i] >= 0)
			close_store(&tables[i]);
	}
	before = in_use();
	for (end = time(NULL) + seconds; time(NULL) <= end;) {
		one_step(&seed);
		now = in_use() - before;
		if (now > most)
			most = now;
	}
	for (i = 0; i < NR_STORES; i++) {
		if (tables[i] >= 0)
			close_store(&tables[i]);
	}
	now = in_use() - before;
	if (seteuid(0))
		die("seteuid");
	set_parameter("table_kbytes", table_kbytes);
	printf("%ld %ld %lu %lu\n", most, now, updates, evicted);
	return 0;
}
