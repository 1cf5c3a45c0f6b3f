// SPDX-License-Identifier: GPL-2.0
/*
 * The account of all samples, and how it reads.
 */
#include <stdlib.h>
#include <string.h>
#include "short-memory.h"
#include "stats.h"
#include "tap.h"

static struct hybrid_stats stats;
static u16 record_size = 200;
static struct hybrid_object libc = { .ident = { .path = "/lib/libc.so.6" } };
static struct hybrid_object broken = {
	.ident = { .path = "/opt/broken" }, .why = "not an ELF file",
};

static char *printed(void (*print)(FILE *out))
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		exit(2);
	print(out);
	fclose(out);
	return text;
}

static void print_line(FILE *out)
{
	hybrid_stats_print(&stats, false, out);
}

static void print_all(FILE *out)
{
	hybrid_stats_print(&stats, true, out);
}

static void print_failures(FILE *out)
{
	hybrid_stats_print_failures(&stats, out);
}

static void expect(void (*print)(FILE *out), const char *want)
{
	char *text = printed(print);

	same_text(text, want);
	free(text);
}

static void count(enum hybrid_outcome outcome, unsigned int times,
		  const struct hybrid_object *failed_in)
{
	while (times--) {
		hybrid_stats_read(&stats, record_size);
		hybrid_stats_count(&stats, outcome, failed_in);
	}
}

static void closing_line(void)
{
	count(HYBRID_COMPLETE, 981, &libc);
	count(HYBRID_STITCHED, 1, &libc);
	count(HYBRID_FP_ONLY, 2, NULL);
	count(HYBRID_TRUNCATED, 3, &libc);
	count(HYBRID_NO_MAP, 4, NULL);
	count(HYBRID_NO_CFI, 5, &broken);
	count(HYBRID_BAD_CFI, 1, &libc);
	stats.read += 3;
	stats.shed = 3;
	stats.bad = 1;
	stats.lost = 9;
	stats.dump_bytes = 3 << 20;
	stats.file_bytes = 1 << 19;
	expect(print_line,
	       "[ perf record: hybrid: 1000 samples: complete 981 (98.10 %), stitched 1, frame pointer only 2, truncated 3, no map 4, no CFI 5, bad CFI 1, shed 3; lost 9; 3.000 MB of stack unwound, 0.500 MB of samples written ]\n");
	hybrid_stats_exit(&stats);
}

#define HUNDRED \
	"[ perf record: hybrid: 100 samples: complete 100 (100.00 %); 0.000 MB of stack unwound, 0.000 MB of samples written ]\n"

/* Five in a hundred are worth a line; more than the kernel gives is not asked for. */
static void deeper_stacks(void)
{
	unsigned int i;

	count(HYBRID_COMPLETE, 100, &libc);
	for (i = 0; i < 4; i++)
		hybrid_stats_deeper(&stats, 8192);
	expect(print_line, HUNDRED);
	hybrid_stats_deeper(&stats, 4096);
	expect(print_line, HUNDRED
	       "[ perf record: 5 % of the stacks are deeper than 8192 bytes: --call-graph hybrid,32768 shows more of them ]\n");
	hybrid_stats_deeper(&stats, 32768);
	expect(print_line, HUNDRED
	       "[ perf record: 6 % of the stacks are deeper than 32768 bytes: --call-graph hybrid,65528 shows more of them ]\n");
	hybrid_stats_exit(&stats);
}

static u64 now;

static void print_live(FILE *out)
{
	hybrid_stats_live(&stats, now, out);
}

/* A line a second, of that second; the first call only starts the clock. */
static void live(void)
{
	now = 5000000000;
	count(HYBRID_COMPLETE, 90, &libc);
	expect(print_live, "");
	count(HYBRID_STITCHED, 5, &libc);
	count(HYBRID_TRUNCATED, 2, &libc);
	count(HYBRID_NO_CFI, 1, &broken);
	stats.read += 2;
	stats.shed = 2;
	now += 999999999;
	expect(print_live, "");
	now++;
	expect(print_live,
	       "hybrid:    1 s: 100 samples: 90.00 % complete, 5.00 % stitched, 3.00 % others, 2.00 % shed; so far 90.00 % complete\n");
	expect(print_live, "");
	now += 1100000000;
	expect(print_live, "hybrid:    2 s: no samples\n");
	count(HYBRID_COMPLETE, 300, &libc);
	now += 1100000000;
	expect(print_live,
	       "hybrid:    3 s: 300 samples: 100.00 % complete, 0.00 % stitched, 0.00 % others, 0.00 % shed; so far 97.50 % complete\n");
	hybrid_stats_exit(&stats);
}

static void no_samples(void)
{
	expect(print_line,
	       "[ perf record: hybrid: 0 samples: complete 0; 0.000 MB of stack unwound, 0.000 MB of samples written ]\n");
	expect(print_all,
	       "[ perf record: hybrid: 0 samples: complete 0, stitched 0, guessed 0, frame pointer only 0, truncated 0, not in memory 0, no map 0, no CFI 0, bad CFI 0, not read 0, shed 0; lost 0; 0.000 MB of stack unwound, 0.000 MB of samples written ]\n");
	expect(print_failures, "");
	hybrid_stats_exit(&stats);
}

static void failures(void)
{
	count(HYBRID_COMPLETE, 100, &libc);
	count(HYBRID_STITCHED, 100, &libc);
	count(HYBRID_FP_ONLY, 100, &libc);
	count(HYBRID_TRUNCATED, 3, &libc);
	count(HYBRID_NO_CFI, 50, &broken);
	count(HYBRID_BAD_CFI, 7, &libc);
	count(HYBRID_NO_MAP, 20, NULL);
	count(HYBRID_TRUNCATED, 9, &libc);
	stats.shed_dumps = 4;
	stats.bad = 2;
	expect(print_failures,
	       "hybrid: 4 stack dumps shed: perf could not keep up\n"
	       "hybrid: 2 samples left out: their sizes lie\n"
	       "hybrid:       50 no CFI in /opt/broken: not an ELF file\n"
	       "hybrid:       20 no map in memory that no file backs\n"
	       "hybrid:       12 truncated in /lib/libc.so.6\n"
	       "hybrid:        7 bad CFI in /lib/libc.so.6\n");
	hybrid_stats_exit(&stats);
}

/* A path is any bytes; a terminal obeys some of them. */
static void hostile_names(void)
{
	static const struct hybrid_object hostile = {
		.ident.path = "/\x1b[2J\nhybrid: \xc2\x9b\x7f\xc3\xa9",
	};

	count(HYBRID_NO_CFI, 3, &hostile);
	expect(print_failures,
	       "hybrid:        3 no CFI in /\\x1b[2J\\x0ahybrid: \\xc2\\x9b\\x7f\xc3\xa9\n");
	hybrid_stats_exit(&stats);
}

/* Kernel threads have no stack that could be dumped: shares are of the others. */
static void kernel_threads(void)
{
	unsigned int i;

	stats.loaded = true;
	for (i = 1; i <= 7; i++) {
		record_size = 100;
		count(HYBRID_COMPLETE, 1, &libc);
		if (i >= 6 || i == 1)
			hybrid_stats_no_stack(&stats);
		else
			hybrid_stats_walk(&stats, i == 5 ? PERF_UNWIND_END_NO_RULE :
							   PERF_UNWIND_END_OUTERMOST);
	}
	expect(print_line,
	       "[ perf record: hybrid: 7 samples: complete 7 (100.00 %); 0.000 MB of stack unwound, 0.000 MB of samples written; without dump 3 (75.00 % of those with a user stack), loaded 0 rows of 0 objects, 0.000 MB in the kernel ]\n");
	expect(print_failures,
	       "hybrid:        1 with dump: no rule\n"
	       "hybrid: samples 1 to 1: 0.00 % without dump, 100 bytes each in the ring\n"
	       "hybrid: samples 2 to 3: 100.00 % without dump, 100 bytes each in the ring\n"
	       "hybrid: samples 4 to 7: 50.00 % without dump, 100 bytes each in the ring\n");
	hybrid_stats_exit(&stats);
}

/* A walker in the kernel: the rules it had, and how soon. */
static void with_store(void)
{
	unsigned int i;

	stats.loaded = true;
	for (i = 1; i <= 9; i++) {
		record_size = i > 2 ? 200 : 9000;
		count(HYBRID_COMPLETE, 1, &libc);
		hybrid_stats_walk(&stats, i > 2 ? PERF_UNWIND_END_OUTERMOST | 5 << 16 :
						  PERF_UNWIND_END_NO_RULE | i << 16);
	}
	hybrid_stats_read(&stats, 500);
	stats.outcomes[HYBRID_COMPLETE]++;
	stats.store.rows = 1234;
	stats.store.objects = 5;
	stats.store.bytes = 3 << 19;
	same(hybrid_stats_ring_bytes(&stats), (2 * 9000 + 7 * 200 + 500) / 10);
	expect(print_line,
	       "[ perf record: hybrid: 10 samples: complete 10 (100.00 %); 0.000 MB of stack unwound, 0.000 MB of samples written; without dump 7 (70.00 %), loaded 1234 rows of 5 objects, 1.500 MB in the kernel ]\n");
	expect(print_failures,
	       "hybrid:        2 with dump: no rule\n"
	       "hybrid: samples 1 to 1: 0.00 % without dump, 9000 bytes each in the ring\n"
	       "hybrid: samples 2 to 3: 50.00 % without dump, 4600 bytes each in the ring\n"
	       "hybrid: samples 4 to 7: 100.00 % without dump, 200 bytes each in the ring\n"
	       "hybrid: samples 8 to 10: 66.67 % without dump, 300 bytes each in the ring\n");
	hybrid_stats_exit(&stats);

	stats.loaded = true;
	stats.store.evicted = 2;
	expect(print_line,
	       "[ perf record: hybrid: 0 samples: complete 0; 0.000 MB of stack unwound, 0.000 MB of samples written; without dump 0, loaded 0 rows of 0 objects, 0.000 MB in the kernel, evicted 2 ]\n");
	expect(print_failures, "");
	hybrid_stats_exit(&stats);
}

/* Every sample is in the line once, whatever came. */
static void adds_up(void)
{
	unsigned int i, objects = 0;
	u64 sum = 0, failed = 0;
	char path[32], *text, *line;
	struct hybrid_object object = { .ident = { .path = path } };

	for (i = 0; i < 20000; i++) {
		enum hybrid_outcome outcome = tap_random() % HYBRID_NR_OUTCOMES;

		snprintf(path, sizeof(path), "/lib/%u", (unsigned int)(tap_random() % 20));
		count(outcome, 1, tap_random() % 8 ? &object : NULL);
		failed += outcome > HYBRID_FP_ONLY;
	}
	for (i = 0; i < HYBRID_NR_OUTCOMES; i++)
		sum += stats.outcomes[i];
	same(sum, stats.read);

	/* The objects' shares are all failures, most first. */
	text = printed(print_failures);
	sum = 0;
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		unsigned long nr = 0;

		check(sscanf(line, "hybrid: %lu", &nr) == 1);
		sum += nr;
		objects++;
	}
	free(text);
	same(sum, failed);
	check(objects > 4 * 20);
	hybrid_stats_exit(&stats);
}

/* More objects than are kept apart: their samples are still told. */
static void many_objects(void)
{
	struct hybrid_object object = {};
	char path[32], *text, *line;
	unsigned int i;
	u64 sum = 0;

	object.ident.path = path;
	for (i = 0; i < 1000; i++) {
		snprintf(path, sizeof(path), "/lib/%u", i);
		count(HYBRID_NO_CFI, 1, &object);
	}
	same(stats.outcomes[HYBRID_NO_CFI], 1000);
	text = printed(print_failures);
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		unsigned long nr = 0;

		check(sscanf(line, "hybrid: %lu", &nr) == 1);
		sum += nr;
	}
	free(text);
	same(sum, 1000);
	check(stats.nr_failures <= 257);
	hybrid_stats_exit(&stats);
}

/* At most 250 objects are kept apart for all outcomes; each outcome's others are one more. */
static void most_objects(void)
{
	struct hybrid_object object = {};
	char path[32], *text;
	unsigned int i;

	object.ident.path = path;
	for (i = 0; i < 250; i++) {
		sprintf(path, "/lib/%u", i);
		count(HYBRID_NO_CFI, 1, &object);
	}
	same(stats.nr_failures, 250);
	/* One that is known is still found. */
	count(HYBRID_NO_CFI, 1, &object);
	same(stats.nr_failures, 250);
	sprintf(path, "/lib/more");
	count(HYBRID_NO_CFI, 2, &object);
	count(HYBRID_BAD_CFI, 1, &object);
	sprintf(path, "/lib/even-more");
	count(HYBRID_NO_CFI, 3, &object);
	same(stats.nr_failures, 252);
	text = printed(print_failures);
	check(!strncmp(text, "hybrid:        5 no CFI in other objects\n"
		       "hybrid:        2 no CFI in /lib/249\n", 70));
	check(strstr(text, "hybrid:        1 bad CFI in other objects\n"));
	free(text);
	hybrid_stats_exit(&stats);
	same(stats.nr_failures, 0);
}

/* Memory is short for an object: its failures are not told, and the next ones are. */
static void short_of_memory(void)
{
	unsigned int nr;

	for (nr = 0; nr < 2; nr++) {
		short_memory_begin(nr);
		count(HYBRID_NO_CFI, 1, &libc);
		check(short_memory_end());
		same(stats.nr_failures, 0);
		same(stats.outcomes[HYBRID_NO_CFI], 1);
		count(HYBRID_NO_CFI, 1, &libc);
		same(stats.nr_failures, 1);
		expect(print_failures, "hybrid:        1 no CFI in /lib/libc.so.6\n");
		hybrid_stats_exit(&stats);
	}
}

/* Why the last sample failed is told, and none of samples that did not. */
static void reasons(void)
{
	count(HYBRID_FP_ONLY, 5, &broken);
	same(stats.nr_failures, 0);
	count(HYBRID_TRUNCATED, 1, NULL);
	count(HYBRID_NOT_IN_MEMORY, 2, &broken);
	broken.why = NULL;
	count(HYBRID_NOT_IN_MEMORY, 1, &broken);
	broken.why = "not an ELF file";
	expect(print_failures,
	       "hybrid:        3 not in memory in /opt/broken\n"
	       "hybrid:        1 truncated in memory that no file backs\n");
	hybrid_stats_exit(&stats);
}

/* A sample that was taken back, and is read once more. */
static void unread(void)
{
	unsigned int i;

	same(hybrid_stats_ring_bytes(&stats), 0);
	for (i = 1; i <= 64; i++) {
		hybrid_stats_read(&stats, 100);
		hybrid_stats_read(&stats, 7);
		hybrid_stats_unread(&stats, 7);
		same(stats.read, i);
		same(hybrid_stats_ring_bytes(&stats), 100);
	}
	for (i = 0; i < 6; i++)
		same(stats.ring_bytes[i], 100 << i);
	same(stats.ring_bytes[6], 100);
	hybrid_stats_exit(&stats);
}

/* Each end of a walk has its line; one that is not known has none. */
static void ends(void)
{
	unsigned int end;

	stats.loaded = true;
	hybrid_stats_read(&stats, 8);
	for (end = 0; end < 256; end++) {
		if (end != PERF_UNWIND_END_OUTERMOST)
			hybrid_stats_walk(&stats, end);
	}
	for (end = 0; end <= PERF_UNWIND_END_BUSY; end++)
		same(stats.ends[end], end != PERF_UNWIND_END_OUTERMOST);
	same(stats.without_dump, 0);
	hybrid_no_rules_count(&stats.no_rules, "/opt/a", 0x10);
	expect(print_failures,
	       "hybrid:        1 with dump: not begun\n"
	       "hybrid:        1 with dump: no rule\n"
	       "hybrid:        1 with dump: no call before the return address\n"
	       "hybrid:        1 with dump: stack not readable\n"
	       "hybrid:        1 with dump: too many frames\n"
	       "hybrid:        1 with dump: mappings changing\n"
	       "hybrid:        1 no rule at 0x10 of /opt/a\n"
	       "hybrid: samples 1 to 1: 0.00 % without dump, 8 bytes each in the ring\n");
	hybrid_stats_exit(&stats);
}

/* What is zero is only printed if all is asked for. */
static void others(void)
{
	count(HYBRID_COMPLETE, 2, &libc);
	stats.dropped = 3;
	stats.over_time = 4;
	stats.shed_dumps = 1;
	stats.dump_bytes = 1 << 19;
	stats.file_bytes = 3 << 20;
	expect(print_line,
	       "[ perf record: hybrid: 2 samples: complete 2 (100.00 %); lost to other BPF programs 3; not walked 4 (walks take too much of a task's time); 0.500 MB of stack unwound, 3.000 MB of samples written ]\n");
	expect(print_failures, "hybrid: 1 stack dumps shed: perf could not keep up\n");
	hybrid_stats_exit(&stats);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "stats: the closing line", closing_line },
		{ "stats: stacks deeper than their dumps", deeper_stacks },
		{ "stats: the line of each second", live },
		{ "stats: a recording without samples", no_samples },
		{ "stats: the objects behind the failures", failures },
		{ "stats: names that terminals obey", hostile_names },
		{ "stats: a walker in the kernel", with_store },
		{ "stats: kernel threads have no stack", kernel_threads },
		{ "stats: all samples are accounted for", adds_up },
		{ "stats: very many objects", many_objects },
		{ "stats: as many objects as are kept apart", most_objects },
		{ "stats: memory is short", short_of_memory },
		{ "stats: why samples failed", reasons },
		{ "stats: samples that are taken back", unread },
		{ "stats: why walks ended", ends },
		{ "stats: what is printed if it is there", others },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
