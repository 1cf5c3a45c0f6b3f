// SPDX-License-Identifier: GPL-2.0
/*
 * The costliest search: how many instructions does one take in code that is written to make it
 * long? Random code is changed as long as that makes it costlier. What is counted then is a build
 * of the analysis that calls a function at each basic block (count-blocks.o, see the Makefile). The
 * costliest code is written to a file. For this code callgrind counts the instructions of the
 * analysis as it is (run-cost).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/compiler.h>
#include <linux/kernel.h>

#include "count-blocks.h"
#include "hostile-code.h"

/*
 * What a read takes in the kernel, besides the copying. One that fails takes a page fault, some
 * 1,000 ns.
 */
#define READ_INSNS	100
#define FAILED_INSNS	4000
/* Instructions of a basic block, roughly. */
#define BLOCK_INSNS	5

#define CHANGES		400
/* How many tiles have their instructions counted. */
#define WORST_MAX	16

static unsigned long blocks;
static struct x86_frame_cache cache;

void __sanitizer_cov_trace_pc(void)
{
	blocks++;
}

static unsigned long reads_cost(void)
{
	return hostile.reads * READ_INSNS + hostile.failed * FAILED_INSNS;
}

static void search(search_fn *fn, const struct tile *tile)
{
	struct x86_frame_mem mem = { .read = hostile_read, .is_64bit = tile->is_64bit };
	struct x86_frame_rule rule;
	static u64 space;

	hostile.reads = 0;
	hostile.failed = 0;
	cache.work.took = 0;
	fn(&cache, ++space, &mem, CODE, &rule);
}

/* Roughly what a search in the tile costs. */
static unsigned long guess(struct tile *tile)
{
	hostile_put_tile(tile);
	blocks = 0;
	search(counted_search, tile);
	return blocks * BLOCK_INSNS + reads_cost();
}

/* Callgrind counts the instructions here: one file for each call. */
noinline void measured(const struct tile *tile)
{
	search(x86_frame_search, tile);
}

/* The costliest tiles of all starts, and what they were guessed to cost. */
static struct {
	unsigned long	guessed;
	struct tile	tile;
} worst[WORST_MAX];

static void keep_worst(unsigned long guessed, const struct tile *tile)
{
	unsigned int i, least = 0;

	for (i = 1; i < WORST_MAX; i++)
		if (worst[i].guessed < worst[least].guessed)
			least = i;
	if (guessed <= worst[least].guessed)
		return;
	worst[least].guessed = guessed;
	worst[least].tile = *tile;
}

/* Changes random code as long as it becomes costlier. */
static void climb(void)
{
	unsigned int changes = CHANGES;
	struct tile best, tile;
	unsigned long most, now;

	hostile_make_tile(&best);
	most = guess(&best);
	while (changes--) {
		tile = best;
		do
			hostile_change(&tile);
		while (hostile_below(2));
		now = guess(&tile);
		if (now >= most) {
			most = now;
			best = tile;
		}
	}
	keep_worst(most, &best);
}

/* The shortest of some searches, in ns. */
static unsigned long shortest_time(const struct tile *tile)
{
	unsigned long ns, least = -1UL;
	struct timespec from, to;
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		clock_gettime(CLOCK_MONOTONIC, &from);
		measured(tile);
		clock_gettime(CLOCK_MONOTONIC, &to);
		ns = (to.tv_sec - from.tv_sec) * 1000000000UL + to.tv_nsec - from.tv_nsec;
		if (ns < least)
			least = ns;
	}
	return least;
}

/* Prints what one search in each tile of a file takes, as callgrind is not to count it. */
static int search_tiles(const char *path, bool timed)
{
	FILE *file = fopen(path, "rb");
	struct tile tile;

	if (!file)
		return 2;
	while (fread(&tile, sizeof(tile), 1, file) == 1) {
		hostile_put_tile(&tile);
		measured(&tile);
		printf("%lu instructions of reads, %u of the budget", reads_cost(),
		       cache.work.took);
		if (timed)
			printf(", %lu ns", shortest_time(&tile));
		printf(": ");
		hostile_print_tile(&tile);
	}
	fclose(file);
	return 0;
}

static int write_tiles(const char *path)
{
	FILE *file = fopen(path, "wb");
	unsigned int i;

	if (!file)
		return 2;
	for (i = 0; i < WORST_MAX; i++)
		if (worst[i].guessed)
			fwrite(&worst[i].tile, sizeof(worst[i].tile), 1, file);
	return fclose(file) ? 2 : 0;
}

static const char usage[] =
	"usage: test-cost [-n STARTS | -t SECONDS] [-s SEED] FILE\n"
	"       test-cost -r [-c] FILE\n"
	"  -c  with the time of each\n"
	"  -n  so many times from random code on\n"
	"  -r  search in the code that FILE has, and nothing else\n"
	"  -t  as often as that many seconds allow\n";

int main(int argc, char **argv)
{
	unsigned int starts = 60, seconds = 0, i;
	bool replay = false, timed = false;
	int c;

	hostile.seed = 1;
	while ((c = getopt(argc, argv, "cn:rs:t:")) >= 0) {
		if (c == 'c') {
			timed = true;
		} else if (c == 'n') {
			starts = atoi(optarg);
		} else if (c == 'r') {
			replay = true;
		} else if (c == 's') {
			hostile.seed = strtoul(optarg, NULL, 0);
		} else if (c == 't') {
			seconds = atoi(optarg);
		} else {
			fputs(usage, stderr);
			return 2;
		}
	}
	if (optind != argc - 1) {
		fputs(usage, stderr);
		return 2;
	}
	if (replay)
		return search_tiles(argv[optind], timed);
	for (i = 0; seconds ? clock() / CLOCKS_PER_SEC < seconds : i < starts; i++)
		climb();
	printf("%u starts\n", i);
	return write_tiles(argv[optind]);
}
