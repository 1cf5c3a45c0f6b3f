// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "no-rule.h"
#include "print-name.h"

#define MAX_LINES	10U

static bool is_at(const struct hybrid_no_rule *entry, const char *path, u64 at)
{
	if (entry->at != at || !path != !entry->path)
		return false;
	return !path || !strcmp(path, entry->path);
}

/* The place for a new address: an unused one, or that of the rarest. */
static struct hybrid_no_rule *take_entry(struct hybrid_no_rules *rules)
{
	struct hybrid_no_rule *rarest = rules->entries;
	unsigned int i;

	if (rules->nr < HYBRID_NO_RULES)
		return &rules->entries[rules->nr++];
	for (i = 1; i < rules->nr; i++) {
		if (rules->entries[i].count < rarest->count)
			rarest = &rules->entries[i];
	}
	free(rarest->path);
	return rarest;
}

void hybrid_no_rules_count(struct hybrid_no_rules *rules, const char *path, u64 at)
{
	struct hybrid_no_rule *entry;
	unsigned int i;

	for (i = 0; i < rules->nr; i++) {
		if (is_at(&rules->entries[i], path, at)) {
			rules->entries[i].count++;
			return;
		}
	}
	entry = take_entry(rules);
	entry->path = path ? strdup(path) : NULL;
	entry->at = at;
	entry->before = entry->count;
	entry->count++;
}

static int compare(const void *pa, const void *pb)
{
	const struct hybrid_no_rule *a = pa, *b = pb;

	u64 na = a->count - a->before, nb = b->count - b->before;

	return na < nb ? 1 : na > nb ? -1 : 0;
}

void hybrid_no_rules_print(struct hybrid_no_rules *rules, FILE *out)
{
	unsigned int i;

	qsort(rules->entries, rules->nr, sizeof(rules->entries[0]), compare);
	for (i = 0; i < min(rules->nr, MAX_LINES); i++) {
		const struct hybrid_no_rule *entry = &rules->entries[i];

		fprintf(out, "hybrid: %8" PRIu64 " no rule at %#" PRIx64 " of ",
			entry->count - entry->before, entry->at);
		hybrid_print_name(out, entry->path ?: "memory that no file backs");
		fprintf(out, "\n");
	}
}

void hybrid_no_rules_exit(struct hybrid_no_rules *rules)
{
	unsigned int i;

	for (i = 0; i < rules->nr; i++)
		free(rules->entries[i].path);
	memset(rules, 0, sizeof(*rules));
}
