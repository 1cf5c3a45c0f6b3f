/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_NO_RULE_H
#define __PERF_HYBRID_NO_RULE_H

#include <stdio.h>
#include <linux/types.h>

#define HYBRID_NO_RULES	64

/**
 * struct hybrid_no_rule - an address at which walks in the kernel ended without a rule
 * @path: of its file; NULL: memory that no file backs
 * @at: offset in the file, or address
 * @count: walks, and @before
 * @before: walks of the addresses whose place this one has taken
 */
struct hybrid_no_rule {
	char	*path;
	u64	 at;
	u64	 count;
	u64	 before;
};

/**
 * struct hybrid_no_rules - the most frequent of such addresses
 * @entries: in no order
 * @nr: of @entries
 */
struct hybrid_no_rules {
	struct hybrid_no_rule	entries[HYBRID_NO_RULES];
	unsigned int		nr;
};

/**
 * hybrid_no_rules_count - account for one walk
 * @rules: a new address takes the place of the rarest one if there is no other place
 * @path: of the file; NULL: memory that no file backs
 * @at: offset in the file, or address
 */
void hybrid_no_rules_count(struct hybrid_no_rules *rules, const char *path, u64 at);

/**
 * hybrid_no_rules_print - one line for each of the ten most frequent addresses
 * @rules: sorted here
 * @out: stream
 */
void hybrid_no_rules_print(struct hybrid_no_rules *rules, FILE *out);

void hybrid_no_rules_exit(struct hybrid_no_rules *rules);

#endif /* __PERF_HYBRID_NO_RULE_H */
