// SPDX-License-Identifier: GPL-2.0
/*
 * Replays the addresses of samples, for callgrind to count what the analysis
 * costs: valgrind --tool=callgrind --toggle-collect=measured
 *
 * Standard input: lines "FILE+0xOFFSET", as perf script -F ip,dso,dsoff has
 * them in brackets.  What can't be opened as ELF file is left out.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/compiler.h>

#include "elf-image.h"
#include "../../kmod/frame/x86_frame_cache.h"

#define FILES_MAX	64
#define SAMPLES_MAX	65536

struct file {
	char			path[1024];
	struct elf_image	image;
	bool			ok;
};

struct sample {
	struct file		*file;
	struct x86_frame_mem	mem;
	unsigned long		ip;
};

static struct sample samples[SAMPLES_MAX];
static unsigned int insns[SAMPLES_MAX];
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

/* What callgrind counts: nothing but the analysis, one sample after another. */
noinline void measured(const struct sample *sample, unsigned long nr, bool cached)
{
	struct x86_frame_rule rule;

	for (; nr--; sample++) {
		if (cached)
			x86_frame_analyze_cached(&cache, sample->file - files,
						 &sample->mem, sample->ip, &rule);
		else
			x86_frame_analyze(&sample->mem, sample->ip, &rule,
					  &cache.work);
	}
}

static const char * const names[X86_FRAME_NR] = {
	"unknown", "entry", "prologue", "epilogue", "ret", "plt",
	"scan-sp", "scan-bp", "scan-mem", "scan-reg", "signal"
};

static int by_size(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a, y = *(const unsigned int *)b;

	return (x > y) - (x < y);
}

/*
 * Do the bytes around ip give another caller than the frame pointer? In these states bp is the
 * frame pointer of the caller. At leave, and at pop %rbp before ret, it is the function's own.
 */
static bool has_other_caller(const struct sample *s)
{
	struct x86_frame_rule rule;

	switch (x86_frame_look(&s->mem, s->ip, &rule)) {
	case X86_FRAME_ENTRY:
	case X86_FRAME_PROLOGUE:
	case X86_FRAME_RET:
	case X86_FRAME_PLT:
		return true;
	default:
		return false;
	}
}

/* Instructions decoded: the mean, and what one in a hundred reaches. */
static void report(unsigned long nr)
{
	unsigned long kinds[X86_FRAME_NR] = { 0 }, sum = 0, hits = 0, other = 0, i;
	struct x86_frame_rule rule;
	int k;

	memset(&cache, 0, sizeof(cache));
	for (i = 0; i < nr; i++) {
		const struct sample *s = &samples[i];

		cache.work.insns = UINT16_MAX;
		k = x86_frame_analyze_cached(&cache, s->file - files, &s->mem,
					     s->ip, &rule);
		hits += cache.work.insns == UINT16_MAX;
		kinds[k]++;
		other += has_other_caller(s);
		x86_frame_analyze(&s->mem, s->ip, &rule, &cache.work);
		insns[i] = cache.work.insns;
		sum += insns[i];
	}
	qsort(insns, nr, sizeof(*insns), by_size);
	printf("samples %lu hits %.1f%% decoded mean %.1f median %u p99 %u max %u",
	       nr, 100.0 * hits / nr, (double)sum / nr, insns[nr / 2],
	       insns[nr * 99 / 100], insns[nr - 1]);
	for (k = 0; k < X86_FRAME_NR; k++)
		printf(" %s %lu", names[k], kinds[k]);
	printf(" another caller by exact states %.1f%%\n", 100.0 * other / nr);
}

/* The sample that a line names; false where there is none. */
static bool parse(const char *text, struct sample *s)
{
	char line[1024], *plus;

	snprintf(line, sizeof(line), "%s", text);
	plus = strrchr(line, '+');
	if (!plus)
		return false;
	*plus = 0;
	s->file = file_of(line);
	if (!s->file || !s->file->ok)
		return false;
	s->ip = elf_image_address(&s->file->image, strtoul(plus + 1, NULL, 16));
	s->mem.read = elf_image_read;
	s->mem.ctx = &s->file->image;
	s->mem.is_64bit = s->file->image.is_64bit;
	return true;
}

/* Is it a sample with an exact state, or one that takes long? */
static bool is_picked(const struct sample *s, bool exact, unsigned int least)
{
	struct x86_frame_rule rule;
	int kind = x86_frame_analyze(&s->mem, s->ip, &rule, &cache.work);

	/* An entry can also be what a scan that found nothing ends with. */
	if (exact && (kind == X86_FRAME_UNKNOWN || cache.work.insns))
		return false;
	return cache.work.insns >= least;
}

static const char usage[] =
	"usage: replay [-c] [-x] [-t NUMBER] [-p] <LINES\n"
	"  -c  with the cache\n"
	"  -p  print the lines that the other options pick, and do nothing else\n"
	"  -t  those that take this many decoded instructions or more\n"
	"  -x  those with an exact state\n";

int main(int argc, char **argv)
{
	bool cached = false, pick = false, exact = false;
	unsigned int least = 0;
	unsigned long nr = 0;
	char line[1024];
	int c;

	while ((c = getopt(argc, argv, "cpt:x")) >= 0) {
		if (c == 'c') {
			cached = true;
		} else if (c == 'p') {
			pick = true;
		} else if (c == 't') {
			least = atoi(optarg);
		} else if (c == 'x') {
			exact = true;
		} else {
			fputs(usage, stderr);
			return 2;
		}
	}
	while (nr < SAMPLES_MAX && fgets(line, sizeof(line), stdin)) {
		if (!parse(line, &samples[nr]))
			continue;
		if (!pick)
			nr++;
		else if (is_picked(&samples[nr], exact, least))
			fputs(line, stdout);
	}
	measured(samples, nr, cached);
	if (nr)
		report(nr);
	return !nr && !pick;
}
