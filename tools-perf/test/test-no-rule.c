// SPDX-License-Identifier: GPL-2.0
/*
 * The addresses that walks in the kernel had no rule for, most frequent first.
 */
#include <stdlib.h>
#include <string.h>
#include "no-rule.h"
#include "tap.h"

static struct hybrid_no_rules rules;

static void expect(const char *want)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		exit(2);
	hybrid_no_rules_print(&rules, out);
	fclose(out);
	same_text(text, want);
	free(text);
}

static void count(unsigned int times, const char *path, u64 at)
{
	while (times--)
		hybrid_no_rules_count(&rules, path, at);
}

static void print(void)
{
	expect("");
	count(2, "/lib/libc.so.6", 0x1000);
	count(3, NULL, 0x1000);
	count(1, "/opt/b", 0x1000);
	count(4, "/lib/libc.so.6", 0x1001);
	expect("hybrid:        4 no rule at 0x1001 of /lib/libc.so.6\n"
	       "hybrid:        3 no rule at 0x1000 of memory that no file backs\n"
	       "hybrid:        2 no rule at 0x1000 of /lib/libc.so.6\n"
	       "hybrid:        1 no rule at 0x1000 of /opt/b\n");
	hybrid_no_rules_exit(&rules);
	expect("");
}

/* What is frequent stays among more addresses than there are places. */
static void many(void)
{
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		count(1, "/opt/rare", i);
		count(i % 10 ? 0 : 1, "/opt/frequent", 0x4711);
	}
	same(rules.nr, HYBRID_NO_RULES);
	for (i = 0; i < rules.nr && rules.entries[i].at != 0x4711; i++)
		;
	check(i < rules.nr && rules.entries[i].count - rules.entries[i].before > 80);
	hybrid_no_rules_exit(&rules);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "no rule: what is printed", print },
		{ "no rule: many addresses", many },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
