// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzes the analysis: any code, any ip, any page missing.  Built with
 * libFuzzer, or with -DSTANDALONE to run files, as a check of the corpus.
 *
 * Input: a byte of flags (1: 64-bit, 2: the second page is missing, 4: the
 * first page is missing), two bytes of offset of ip, then the code.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../kmod/frame/x86_frame_cache.h"

#define BASE		0x7ffff000UL
#define PAGES		2
#define PAGE		4096UL
/*
 * What the documentation promises: a read of the scan takes 2 units of the budget, one
 * that fails 128. The last read may exceed the budget. 12 more reads are made before
 * and after the scan. A read over two pages counts as two.
 */
#define READ_COST	2
#define FAILED_COST	128
#define MAX_READS	(2 * X86_FRAME_INSNS / READ_COST + 12)
#define MAX_FAILED	(X86_FRAME_INSNS / FAILED_COST + 6)

struct memory {
	unsigned char	bytes[PAGES * PAGE];
	unsigned int	missing;
	unsigned int	reads;
	unsigned int	failed;
};

static struct memory memory;
static struct x86_frame_cache cache;

static int fuzz_read(void *ctx, unsigned long addr, void *dst, unsigned int len)
{
	struct memory *m = ctx;
	unsigned long off = addr - BASE;

	m->reads++;
	m->failed++;
	if (off >= PAGES * PAGE || PAGES * PAGE - off < len)
		return -1;
	if (m->missing & 1U << off / PAGE ||
	    m->missing & 1U << (off + len - 1) / PAGE)
		return -1;
	m->failed--;
	memcpy(dst, m->bytes + off, len);
	return 0;
}

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static void check_rule(enum x86_frame_kind kind, const struct x86_frame_rule *r,
		       int ws)
{
	check(kind < X86_FRAME_NR, "kind");
	if (kind == X86_FRAME_UNKNOWN || kind == X86_FRAME_SIGNAL)
		return;
	check(r->ra_off == -ws, "return address not under the CFA");
	check(r->cfa_off % ws == 0 && r->fp_off % ws == 0, "alignment");
	check(r->use_fp || kind == X86_FRAME_SCAN_REG || r->cfa_off >= ws, "CFA under sp");
	check(kind != X86_FRAME_SCAN_REG || r->reg < 16, "register");
	check(kind != X86_FRAME_SCAN_MEM || r->mem_off % ws == 0, "alignment of the slot");
	check(r->cfa_off < 1 << 30 && r->cfa_off > -(1 << 20), "CFA far off");
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct x86_frame_rule rule, again;
	struct x86_frame_mem mem = { fuzz_read, &memory, false, false };
	enum x86_frame_kind kind, cached;
	unsigned long ip;

	if (size < 4)
		return 0;
	mem.is_64bit = data[0] & 1;
	memory.missing = data[0] >> 1 & 3;
	ip = BASE + (data[1] | data[2] << 8) % (PAGES * PAGE);
	data += 3;
	size -= 3;
	/* The code is all around ip, so that jumps find some. */
	for (size_t at = 0; at < PAGES * PAGE; at += size)
		memcpy(memory.bytes + at, data,
		       size < PAGES * PAGE - at ? size : PAGES * PAGE - at);

	memory.reads = 0;
	memory.failed = 0;
	kind = x86_frame_analyze(&mem, ip, &rule, &cache.work);
	check(memory.reads <= MAX_READS, "too many reads");
	check(memory.failed <= MAX_FAILED, "too many reads that fail");
	check_rule(kind, &rule, mem.is_64bit ? 8 : 4);

	memset(&cache, 0, sizeof(cache));
	for (int i = 0; i < 2; i++) {
		cached = x86_frame_analyze_cached(&cache, 1, &mem, ip, &again);
		check(cached == kind, "cache: kind");
		if (kind != X86_FRAME_UNKNOWN)
			check(again.cfa_off == rule.cfa_off &&
			      again.fp_off == rule.fp_off &&
			      again.use_fp == rule.use_fp, "cache: rule");
	}
	mem.any_bp = true;
	kind = x86_frame_analyze(&mem, ip, &rule, &cache.work);
	check_rule(kind, &rule, mem.is_64bit ? 8 : 4);
	check(kind == X86_FRAME_UNKNOWN || !rule.fp_lost || kind == X86_FRAME_SCAN_SP,
	      "a bp that is lost");
	x86_frame_call_before(&mem, ip);
	x86_frame_sigreturn(&mem, ip);
	/* A look that finds nothing else finds trampolines, but for one that ends with a page. */
	kind = x86_frame_look(&mem, ip, &rule);
	if ((kind == X86_FRAME_UNKNOWN || kind == X86_FRAME_SIGNAL) && ip % PAGE >= 2)
		check((kind == X86_FRAME_SIGNAL) == !!x86_frame_in_sigreturn(&mem, ip),
		      "a signal trampoline");
	return 0;
}

#ifdef STANDALONE
int main(int argc, char **argv)
{
	static unsigned char data[1 << 16];
	size_t size;
	FILE *f;

	for (int i = 1; i < argc; i++) {
		f = fopen(argv[i], "rb");
		if (!f)
			return 2;
		size = fread(data, 1, sizeof(data), f);
		fclose(f);
		LLVMFuzzerTestOneInput(data, size);
	}
	printf("%d inputs\n", argc - 1);
	return 0;
}
#endif
