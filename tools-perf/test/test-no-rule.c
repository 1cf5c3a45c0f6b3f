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

/* Only the ten most frequent are printed. */
static void lines(void)
{
	char want[1024];
	unsigned int i, at = 0;

	for (i = 1; i <= 11; i++)
		count(i, "/a", i);
	for (i = 11; i >= 2; i--)
		at += sprintf(want + at, "hybrid: %8u no rule at %#x of /a\n", i, i);
	expect(want);
	hybrid_no_rules_exit(&rules);
}

/* Who takes the place of the rarest has counted no more for that, but is as hard to replace. */
static void replaced(void)
{
	unsigned int i;

	for (i = 0; i < HYBRID_NO_RULES; i++)
		count(i == 5 ? 2 : i == HYBRID_NO_RULES - 1 ? 1 : 3, i % 2 ? "/a" : NULL, i);
	same(rules.nr, HYBRID_NO_RULES);
	count(1, "/new", 1000);
	same(rules.nr, HYBRID_NO_RULES);
	same(rules.entries[HYBRID_NO_RULES - 1].at, 1000);
	same(rules.entries[HYBRID_NO_RULES - 1].before, 1);
	same(rules.entries[HYBRID_NO_RULES - 1].count, 2);
	/* Two are the rarest now: the first of them. */
	count(1, NULL, 1001);
	same(rules.entries[5].at, 1001);
	same(rules.entries[5].count - rules.entries[5].before, 1);
	check(!rules.entries[5].path);
	/* The first entry may be the rarest, too. */
	for (i = 1; i < HYBRID_NO_RULES; i++)
		rules.entries[i].count = 100;
	count(1, "/first", 1002);
	same(rules.entries[0].at, 1002);
	rules.entries[0].count = 100;
	rules.entries[1].count = 1;
	count(1, "/second", 1003);
	same(rules.entries[1].at, 1003);
	hybrid_no_rules_exit(&rules);
	same(rules.nr, 0);
}

/* Two bytes of UTF-8 that are shown as they are: no control character, no mark of direction. */
static bool is_letter(unsigned int byte, unsigned int next)
{
	unsigned int letter = (byte & 0x1f) << 6 | (next & 0x3f);

	return byte >= 0xc2 && byte <= 0xdf && next >= 0x80 && next <= 0xbf && letter >= 0xa0 &&
	       letter != 0x61c;
}

static bool is_ascii(unsigned int byte)
{
	return byte >= ' ' && byte < 0x7f;
}

/* What a terminal would obey, or is not UTF-8, is written as numbers, and nothing else. */
static void names(void)
{
	unsigned int byte, next;
	char name[8] = {}, want[64];

	for (byte = 1; byte < 256; byte++) {
		for (next = 0; next < 256; next = next ? next + 1 : 0x7e) {
			bool letter = is_letter(byte, next);
			int at = sprintf(want, "hybrid:        1 no rule at 0x1 of ");

			name[0] = byte;
			name[1] = next;
			at += sprintf(want + at, letter || is_ascii(byte) ? "%c" : "\\x%02x", byte);
			letter |= is_ascii(next);
			if (next)
				at += sprintf(want + at, letter ? "%c" : "\\x%02x", next);
			sprintf(want + at, "\n");
			count(1, name, 1);
			expect(want);
			hybrid_no_rules_exit(&rules);
		}
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "no rule: what is printed", print },
		{ "no rule: many addresses", many },
		{ "no rule: as many lines as there may be", lines },
		{ "no rule: an address takes the place of another", replaced },
		{ "no rule: names that terminals obey", names },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
