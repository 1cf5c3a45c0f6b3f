// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "tap.h"

/* A test that takes longer hangs. */
#define MAX_SECONDS	120

/* One loop may fail thousands of times: the first few tell enough. */
#define MAX_SAID	10

static unsigned int failed;
static u64 random_state;

static bool speaks(void)
{
	return failed++ < MAX_SAID;
}

bool tap_check(bool holds, const char *file, int line, const char *what)
{
	if (!holds && speaks())
		printf("# %s:%d: %s\n", file, line, what);
	return holds;
}

bool tap_same(u64 got, u64 want, const char *file, int line, const char *what)
{
	if (got != want && speaks())
		printf("# %s:%d: %s is %#" PRIx64 ", not %#" PRIx64 "\n",
		       file, line, what, got, want);
	return got == want;
}

bool tap_same_text(const char *got, const char *want, const char *file, int line)
{
	bool equal = !strcmp(got, want);

	if (!equal && speaks())
		printf("# %s:%d: \"%s\"\n# should be \"%s\"\n", file, line, got, want);
	return equal;
}

void tap_seed(u64 seed)
{
	random_state = seed;
}

/* splitmix64 */
u64 tap_random(void)
{
	u64 z = random_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

int tap_run(const struct tap_test *tests, unsigned int nr)
{
	unsigned int i, bad = 0;

	/* What a crash leaves behind must name the tests before it. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("1..%u\n", nr);
	for (i = 0; i < nr; i++) {
		failed = 0;
		tap_seed(i);
		alarm(MAX_SECONDS);
		tests[i].run();
		alarm(0);
		printf("%sok %u - %s\n", failed ? "not " : "", i + 1, tests[i].name);
		bad += failed != 0;
	}
	return bad != 0;
}
