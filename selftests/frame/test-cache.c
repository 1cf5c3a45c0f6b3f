// SPDX-License-Identifier: GPL-2.0
/*
 * The analysis says for how many bytes from ip on its rule holds, and the cache
 * gives it there.  So at each instruction of these bytes it is compared with
 * what the analysis says there itself, over whole binaries.
 *
 * usage: test-cache [-s STRIDE] FILE...
 */
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <asm/insn.h>

#include "elf-image.h"
#include "../../kmod/frame/x86_frame.h"

/* One in so many boundaries starts a run. */
static unsigned int stride = 16;
static unsigned long nr_same, nr_unknown, nr_differ;

static bool is_same(const struct x86_frame_rule *a,
		    const struct x86_frame_rule *b)
{
	return a->cfa_off == b->cfa_off && a->ra_off == b->ra_off &&
	       a->fp_off == b->fp_off && a->use_fp == b->use_fp;
}

/* The length of the instruction at @p, 1 for what is none. */
static unsigned int length(const u8 *p, unsigned int len, bool is_64bit)
{
	struct insn insn;

	if (insn_decode(&insn, p, len, is_64bit ? INSN_MODE_64 : INSN_MODE_32))
		return 1;
	return insn.length;
}

/* The instructions that the rule at @ip is kept for. */
static void check_run(struct elf_image *image, unsigned long ip)
{
	struct x86_frame_mem mem = { elf_image_read, image, image->is_64bit, false };
	struct x86_frame_rule rule, there;
	struct x86_frame_work work;
	enum x86_frame_kind kind;
	unsigned long at, end;
	u8 code[MAX_INSN_SIZE];

	kind = x86_frame_analyze(&mem, ip, &rule, &work);
	if (kind == X86_FRAME_UNKNOWN || kind == X86_FRAME_SIGNAL)
		return;
	end = ip + work.run;
	for (at = ip;;) {
		if (elf_image_read(image, at, code, sizeof(code)))
			return;
		at += length(code, sizeof(code), image->is_64bit);
		if (at >= end)
			return;
		kind = x86_frame_analyze(&mem, at, &there, &work);
		if (kind == X86_FRAME_UNKNOWN) {
			nr_unknown++;
		} else if (is_same(&rule, &there)) {
			nr_same++;
		} else if (nr_differ++ < 20) {
			printf("# from %#lx: %s%+d bp at %d; ", ip,
			       rule.use_fp ? "bp" : "sp", rule.cfa_off,
			       rule.fp_off);
			printf("at %#lx: %s%+d bp at %d\n", at,
			       there.use_fp ? "bp" : "sp", there.cfa_off,
			       there.fp_off);
		}
	}
}

static int check_file(const char *path)
{
	struct elf_image image;
	unsigned int nr = 0;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	const u8 *p;
	u64 off;

	if (elf_image_open(&image, path))
		return -1;
	while ((scn = elf_image_next_code(&image, scn, &shdr))) {
		p = image.bytes + (shdr.sh_addr - image.base);
		for (off = 0; off + MAX_INSN_SIZE <= shdr.sh_size;
		     off += length(p + off, MAX_INSN_SIZE, image.is_64bit))
			if (++nr % stride == 0)
				check_run(&image, shdr.sh_addr + off);
	}
	elf_image_close(&image);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long all;
	int c;

	while ((c = getopt(argc, argv, "s:")) >= 0) {
		if (c != 's')
			return 2;
		stride = atoi(optarg) ?: 1;
	}
	for (; optind < argc; optind++)
		if (check_file(argv[optind]))
			return 2;
	all = nr_same + nr_unknown + nr_differ;
	printf("# %lu instructions of runs: %lu same, %lu unknown alone, %lu differ\n",
	       all, nr_same, nr_unknown, nr_differ);
	return nr_differ > all / 10000 || !nr_same;
}
