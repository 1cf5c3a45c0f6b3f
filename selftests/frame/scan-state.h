/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tests of the search share: code, and the state of a search. It includes the sources of the
 * search.
 */
#ifndef _SCAN_STATE_H
#define _SCAN_STATE_H

#include "../../kmod/frame/x86_frame_path.c"
#include "../../kmod/frame/x86_frame_scan.c"

#include <stdio.h>
#include <stdlib.h>

#include "report.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define CODE			0x401000UL

static u8 code[4 * 4096];
static unsigned int nr_reads;

static inline int read_code(void *ctx, unsigned long addr, void *dst, unsigned int len)
{
	nr_reads++;
	if (addr - CODE >= sizeof(code) || sizeof(code) - (addr - CODE) < len)
		return -1;
	memcpy(dst, code + (addr - CODE), len);
	return 0;
}

static struct x86_frame_mem mem = { read_code, NULL, true, false };
static struct x86_frame_work work;
static struct x86_scan scan;

static inline void begin(void)
{
	memset(code, 0xf4, sizeof(code));
	memset(&work, 0, sizeof(work));
	mem.is_64bit = true;
	mem.any_bp = false;
	work.limit = X86_FRAME_INSNS;
	scan = (struct x86_scan) { .mem = &mem, .ip = CODE, .work = &work };
}

#endif /* _SCAN_STATE_H */
