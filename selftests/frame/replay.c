// SPDX-License-Identifier: GPL-2.0
/*
 * Replays the addresses of samples, for callgrind to count what the analysis
 * costs: valgrind --tool=callgrind --toggle-collect=measured
 *
 * Standard input: lines "FILE+0xOFFSET", as perf script -F ip,dso,dsoff has
 * them in brackets.  What can't be opened as ELF file is left out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/compiler.h>

#include "elf-image.h"
#include "../../kmod/x86-frame-cache.h"

#define FILES_MAX	64

struct file {
	char			path[1024];
	struct elf_image	image;
	bool			ok;
};

static struct file files[FILES_MAX];
static unsigned int nr_files;
static struct x86_frame_cache cache;

static struct file *file_of(const char *path)
{
	unsigned int i;

	for (i = 0; i < nr_files; i++)
		if (!strcmp(files[i].path, path))
			return &files[i];
	if (nr_files == FILES_MAX)
		return NULL;
	snprintf(files[i].path, sizeof(files[i].path), "%s", path);
	files[i].ok = !elf_image_open(&files[i].image, path);
	return &files[nr_files++];
}

noinline enum x86_frame_kind
measured(bool cached, unsigned int space, const struct x86_frame_mem *mem,
	 unsigned long ip, struct x86_frame_rule *rule)
{
	if (cached)
		return x86_frame_analyze_cached(&cache, space, mem, ip, rule);
	return x86_frame_analyze_work(mem, ip, rule, &cache.work);
}

static bool is_hit(unsigned int space, unsigned long ip)
{
	int i;

	for (i = 0; i < X86_FRAME_CACHE_SIZE; i++)
		if (cache.entries[i].used && cache.entries[i].ip == ip &&
		    cache.entries[i].space == space)
			return true;
	return false;
}

static const char * const names[X86_FRAME_NR] = {
	"unknown", "entry", "prologue", "epilogue", "ret", "plt",
	"scan-sp", "scan-bp"
};

static const char usage[] =
	"usage: replay [-c] [-k KIND] <LINES\n"
	"  -c  with the cache\n"
	"  -k  only addresses that this kind of rule is found for; -1: exact states\n";

int main(int argc, char **argv)
{
	unsigned long ip, samples = 0, hits = 0, kinds[X86_FRAME_NR] = { 0 };
	struct x86_frame_work work;
	bool cached = false;
	int c, only = -2, k;
	char line[1024];

	while ((c = getopt(argc, argv, "ck:")) >= 0) {
		if (c == 'c') {
			cached = true;
		} else if (c == 'k') {
			only = atoi(optarg);
		} else {
			fputs(usage, stderr);
			return 2;
		}
	}
	while (fgets(line, sizeof(line), stdin)) {
		char *plus = strrchr(line, '+');
		struct x86_frame_mem mem = { elf_image_read, NULL, true };
		struct x86_frame_rule rule;
		struct file *file;

		if (!plus)
			continue;
		*plus = 0;
		ip = strtoul(plus + 1, NULL, 16);
		file = file_of(line);
		if (!file || !file->ok)
			continue;
		mem.ctx = &file->image;
		mem.is_64bit = file->image.is_64bit;
		k = x86_frame_analyze_work(&mem, ip, &rule, &work);
		if (only >= 0 && k != only)
			continue;
		if (only == -1 && (k == X86_FRAME_UNKNOWN || k >= X86_FRAME_SCAN_SP))
			continue;
		samples++;
		kinds[k]++;
		hits += is_hit(file - files, ip);
		measured(cached, file - files, &mem, ip, &rule);
	}
	printf("samples %lu hits %.1f%%", samples,
	       samples ? 100.0 * hits / samples : 0);
	for (k = 0; k < X86_FRAME_NR; k++)
		printf(" %s %lu", names[k], kinds[k]);
	printf("\n");
	return !samples;
}
