// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "stats.h"

/* Enough to tell; what comes later counts together. */
#define MAX_FAILURES	250
#define OTHERS		"other objects"

struct hybrid_failure {
	char			*path;
	const char		*why;
	enum hybrid_outcome	 outcome;
	u64			 count;
};

static const char * const outcome_names[HYBRID_NR_OUTCOMES] = {
	[HYBRID_COMPLETE]	= "complete",
	[HYBRID_STITCHED]	= "stitched",
	[HYBRID_FP_ONLY]	= "frame pointer only",
	[HYBRID_TRUNCATED]	= "truncated",
	[HYBRID_NO_MAP]		= "no map",
	[HYBRID_NO_CFI]		= "no CFI",
	[HYBRID_BAD_CFI]	= "bad CFI",
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

void hybrid_stats_count(struct hybrid_stats *stats, enum hybrid_outcome outcome,
			const struct hybrid_object *culprit)
{
	struct hybrid_failure *failure;

	stats->outcomes[outcome]++;
	if (outcome <= HYBRID_FP_ONLY)
		return;
	failure = find_failure(stats, outcome,
			       culprit ? culprit->ident.path : "memory that no file backs");
	if (!failure)
		return;
	failure->count++;
	failure->why = culprit ? culprit->why : NULL;
}

void hybrid_stats_print(const struct hybrid_stats *stats, FILE *out)
{
	u64 outcome;
	int i;

	fprintf(out, "[ perf record: hybrid: %" PRIu64 " samples:", stats->read);
	for (i = 0; i < HYBRID_NR_OUTCOMES; i++) {
		outcome = stats->outcomes[i];
		fprintf(out, "%s %s %" PRIu64, i ? "," : "", outcome_names[i], outcome);
		if (i == HYBRID_COMPLETE && stats->read)
			fprintf(out, " (%.2f %%)", 100.0 * outcome / stats->read);
	}
	fprintf(out, ", shed %" PRIu64 "; lost %" PRIu64 "; ", stats->shed, stats->lost);
	fprintf(out, "%.3f MB of stack unwound, %.3f MB of samples written ]\n",
		stats->dump_bytes / 1024.0 / 1024.0, stats->file_bytes / 1024.0 / 1024.0);
}

static int compare_failures(const void *pa, const void *pb)
{
	const struct hybrid_failure *a = pa, *b = pb;

	return a->count < b->count ? 1 : a->count > b->count ? -1 : 0;
}

void hybrid_stats_print_failures(struct hybrid_stats *stats, FILE *out)
{
	size_t i;

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

		fprintf(out, "hybrid: %8" PRIu64 " %s in %s%s%s\n", failure->count,
			outcome_names[failure->outcome], failure->path,
			failure->why ? ": " : "", failure->why ? failure->why : "");
	}
}

void hybrid_stats_exit(struct hybrid_stats *stats)
{
	size_t i;

	for (i = 0; i < stats->nr_failures; i++)
		free(stats->failures[i].path);
	free(stats->failures);
	memset(stats, 0, sizeof(*stats));
}
