// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include "print-name.h"
#include "stats.h"

/* Enough to tell; what comes later counts together. */
#define MAX_FAILURES	250
#define OTHERS		"other objects"

/* Of the samples, this many in a hundred are worth a larger dump. */
#define MANY_DEEPER	5

/* The kernel's limit: a record has 64 KiB at most. */
#define MAX_DUMP	65528U

struct hybrid_failure {
	char			*path;
	const char		*why;
	enum hybrid_outcome	 outcome;
	u64			 count;
};

static const char * const outcome_names[HYBRID_NR_OUTCOMES] = {
	[HYBRID_COMPLETE]	= "complete",
	[HYBRID_STITCHED]	= "stitched",
	[HYBRID_GUESSED]	= "guessed",
	[HYBRID_FP_ONLY]	= "frame pointer only",
	[HYBRID_TRUNCATED]	= "truncated",
	[HYBRID_NOT_IN_MEMORY]	= "not in memory",
	[HYBRID_NO_MAP]		= "no map",
	[HYBRID_NO_CFI]		= "no CFI",
	[HYBRID_BAD_CFI]	= "bad CFI",
	[HYBRID_UNREAD]		= "not read",
};

static struct hybrid_failure *find_failure(struct hybrid_stats *stats,
					   enum hybrid_outcome outcome, const char *path)
{
	struct hybrid_failure *failure;
	size_t i;

	for (i = 0; i < stats->nr_failures; i++) {
		failure = &stats->failures[i];
		if (failure->outcome == outcome && !strcmp(failure->path, path))
			return failure;
	}
	if (stats->nr_failures >= MAX_FAILURES && strcmp(path, OTHERS))
		return find_failure(stats, outcome, OTHERS);
	if (stats->nr_failures == stats->alloc_failures) {
		size_t alloc = stats->alloc_failures * 2 + 16;

		failure = realloc(stats->failures, alloc * sizeof(*failure));
		if (!failure)
			return NULL;
		stats->failures = failure;
		stats->alloc_failures = alloc;
	}
	failure = &stats->failures[stats->nr_failures];
	memset(failure, 0, sizeof(*failure));
	failure->outcome = outcome;
	failure->path = strdup(path);
	if (!failure->path)
		return NULL;
	stats->nr_failures++;
	return failure;
}

void hybrid_stats_failure(struct hybrid_stats *stats, enum hybrid_outcome outcome,
			  const struct hybrid_object *failed_in)
{
	struct hybrid_failure *failure;

	if (outcome <= HYBRID_FP_ONLY)
		return;
	failure = find_failure(stats, outcome,
			       failed_in ? failed_in->ident.path : "memory that no file backs");
	if (!failure)
		return;
	failure->count++;
	failure->why = failed_in ? failed_in->why : NULL;
}

void hybrid_stats_outcome(struct hybrid_stats *stats, enum hybrid_outcome outcome)
{
	stats->outcomes[outcome]++;
}

void hybrid_stats_count(struct hybrid_stats *stats, enum hybrid_outcome outcome,
			const struct hybrid_object *failed_in)
{
	hybrid_stats_outcome(stats, outcome);
	hybrid_stats_failure(stats, outcome, failed_in);
}

static unsigned int last_bit(u64 value)
{
	return 63 - __builtin_clzll(value);
}

void hybrid_stats_read(struct hybrid_stats *stats, u16 size)
{
	stats->read++;
	stats->ring_bytes[last_bit(stats->read)] += size;
}

void hybrid_stats_unread(struct hybrid_stats *stats, u16 size)
{
	stats->ring_bytes[last_bit(stats->read)] -= size;
	stats->read--;
}

u64 hybrid_stats_ring_bytes(const struct hybrid_stats *stats)
{
	u64 sum = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(stats->ring_bytes); i++)
		sum += stats->ring_bytes[i];
	return stats->read ? sum / stats->read : 0;
}

void hybrid_stats_deeper(struct hybrid_stats *stats, u32 size)
{
	stats->deeper++;
	stats->deeper_than = max(stats->deeper_than, size);
}

void hybrid_stats_walk(struct hybrid_stats *stats, u64 info)
{
	u64 end = PERF_UNWIND_INFO_END(info);

	if (end <= PERF_UNWIND_END_BUSY)
		stats->ends[end]++;
	if (end != PERF_UNWIND_END_OUTERMOST)
		return;
	stats->without_dump++;
	stats->first[last_bit(stats->read)]++;
}

void hybrid_stats_no_stack(struct hybrid_stats *stats)
{
	stats->no_stack[last_bit(stats->read)]++;
}

static double percent(u64 part, u64 whole)
{
	return 100.0 * part / whole;
}

static void print_live(const struct hybrid_live *was, const struct hybrid_live *is, FILE *out)
{
	u64 read = is->read - was->read;
	u64 complete = is->complete - was->complete;
	u64 stitched = is->stitched - was->stitched;
	u64 shed = is->shed - was->shed;

	fprintf(out, "hybrid: %4" PRIu64 " s: ", (is->last - is->start) / NSEC_PER_SEC);
	if (!read) {
		fprintf(out, "no samples\n");
		return;
	}
	fprintf(out, "%" PRIu64 " samples: %.2f %% complete, %.2f %% stitched, ",
		read, percent(complete, read), percent(stitched, read));
	fprintf(out, "%.2f %% others, %.2f %% shed; so far %.2f %% complete\n",
		percent(read - complete - stitched - shed, read), percent(shed, read),
		percent(is->complete, is->read));
}

void hybrid_stats_live(struct hybrid_stats *stats, u64 now, FILE *out)
{
	struct hybrid_live is = {
		.start		= stats->live.start ?: now,
		.last		= now,
		.read		= stats->read,
		.complete	= stats->outcomes[HYBRID_COMPLETE],
		.stitched	= stats->outcomes[HYBRID_STITCHED],
		.shed		= stats->shed,
	};

	if (!stats->live.start) {
		stats->live.start = now;
		stats->live.last = now;
	}
	if (now - stats->live.last < NSEC_PER_SEC)
		return;
	print_live(&stats->live, &is, out);
	stats->live = is;
}

static void print_store(const struct hybrid_stats *stats, FILE *out)
{
	u64 nr = stats->read;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(stats->no_stack); i++)
		nr -= stats->no_stack[i];
	fprintf(out, "; without dump %" PRIu64, stats->without_dump);
	if (nr)
		fprintf(out, " (%.2f %%%s)", percent(stats->without_dump, nr),
			nr < stats->read ? " of those with a user stack" : "");
	fprintf(out, ", loaded %" PRIu64 " rows of %u objects, %.3f MB in the kernel",
		(u64)stats->store.rows, stats->store.objects,
		stats->store.bytes / 1024.0 / 1024.0);
	if (stats->store.evicted)
		fprintf(out, ", evicted %" PRIu64, (u64)stats->store.evicted);
}

static void print_deeper(const struct hybrid_stats *stats, FILE *out)
{
	u32 more = min(4 * stats->deeper_than, MAX_DUMP);

	if (!stats->deeper || stats->deeper * 100 < stats->read * MANY_DEEPER)
		return;
	fprintf(out, "[ perf record: %.0f %% of the stacks are deeper than %u bytes: ",
		percent(stats->deeper, stats->read), stats->deeper_than);
	fprintf(out, "--call-graph hybrid,%u shows more of them ]\n", more);
}

void hybrid_stats_print(const struct hybrid_stats *stats, bool all, FILE *out)
{
	u64 outcome;
	int i;

	fprintf(out, "[ perf record: hybrid: %" PRIu64 " samples:", stats->read);
	for (i = 0; i < HYBRID_NR_OUTCOMES; i++) {
		outcome = stats->outcomes[i];
		if (!outcome && !all && i != HYBRID_COMPLETE)
			continue;
		fprintf(out, "%s %s %" PRIu64, i ? "," : "", outcome_names[i], outcome);
		if (i == HYBRID_COMPLETE && stats->read)
			fprintf(out, " (%.2f %%)", percent(outcome, stats->read));
	}
	if (stats->shed || all)
		fprintf(out, ", shed %" PRIu64, stats->shed);
	if (stats->lost || all)
		fprintf(out, "; lost %" PRIu64, stats->lost);
	if (stats->dropped)
		fprintf(out, "; lost to other BPF programs %" PRIu64, stats->dropped);
	if (stats->over_time)
		fprintf(out, "; not walked %" PRIu64 " (walks take too much of a task's time)",
			stats->over_time);
	fprintf(out, "; %.3f MB of stack unwound, %.3f MB of samples written",
		stats->dump_bytes / 1024.0 / 1024.0, stats->file_bytes / 1024.0 / 1024.0);
	if (stats->loaded)
		print_store(stats, out);
	fprintf(out, " ]\n");
	print_deeper(stats, out);
}

static int compare_failures(const void *pa, const void *pb)
{
	const struct hybrid_failure *a = pa, *b = pb;

	return a->count < b->count ? 1 : a->count > b->count ? -1 : 0;
}

static const char * const end_names[] = {
	[PERF_UNWIND_END_NONE]		= "not begun",
	[PERF_UNWIND_END_NO_RULE]	= "no rule",
	[PERF_UNWIND_END_NOT_RETURN]	= "no call before the return address",
	[PERF_UNWIND_END_UNREADABLE]	= "stack not readable",
	[PERF_UNWIND_END_LIMIT]		= "too many frames",
	[PERF_UNWIND_END_BUSY]		= "mappings changing",
};

/* Each line is about as many samples as all before it. */
static void print_walks(struct hybrid_stats *stats, FILE *out)
{
	unsigned int end, bit;
	u64 from, to, nr;

	for (end = 0; end < ARRAY_SIZE(end_names); end++) {
		if (end_names[end] && stats->ends[end])
			fprintf(out, "hybrid: %8" PRIu64 " with dump: %s\n", stats->ends[end],
				end_names[end]);
	}

	hybrid_no_rules_print(&stats->no_rules, out);
	for (from = 1; from && from <= stats->read; from *= 2) {
		to = min(2 * from - 1, stats->read);
		bit = last_bit(from);
		nr = to - from + 1 - stats->no_stack[bit];
		fprintf(out, "hybrid: samples %" PRIu64 " to %" PRIu64 ": %.2f %% without dump, ",
			from, to, nr ? percent(stats->first[bit], nr) : 0.0);
		fprintf(out, "%" PRIu64 " bytes each in the ring\n",
			stats->ring_bytes[bit] / (to - from + 1));
	}
}

void hybrid_stats_print_failures(struct hybrid_stats *stats, FILE *out)
{
	size_t i;

	if (stats->loaded)
		print_walks(stats, out);

	if (stats->shed_dumps)
		fprintf(out, "hybrid: %" PRIu64 " stack dumps shed: perf could not keep up\n",
			stats->shed_dumps);
	if (stats->bad)
		fprintf(out, "hybrid: %" PRIu64 " samples left out: their sizes lie\n",
			stats->bad);
	if (!stats->nr_failures)
		return;
	qsort(stats->failures, stats->nr_failures, sizeof(*stats->failures), compare_failures);
	for (i = 0; i < stats->nr_failures; i++) {
		const struct hybrid_failure *failure = &stats->failures[i];

		fprintf(out, "hybrid: %8" PRIu64 " %s in ", failure->count,
			outcome_names[failure->outcome]);
		hybrid_print_name(out, failure->path);
		fprintf(out, "%s%s\n", failure->why ? ": " : "",
			failure->why ? failure->why : "");
	}
}

void hybrid_stats_exit(struct hybrid_stats *stats)
{
	size_t i;

	for (i = 0; i < stats->nr_failures; i++)
		free(stats->failures[i].path);
	free(stats->failures);
	hybrid_no_rules_exit(&stats->no_rules);
	memset(stats, 0, sizeof(*stats));
}
