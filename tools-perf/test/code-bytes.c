// SPDX-License-Identifier: GPL-2.0
/*
 * Code that a test puts together of bytes.
 */
#include <string.h>
#include "code-bytes.h"

u8 code[CODE_SIZE];

static int read_code(void *ctx, unsigned long addr, void *dst, unsigned int len)
{
	(void)ctx;
	if (addr < CODE_BASE || addr - CODE_BASE > CODE_SIZE - len)
		return -1;
	memcpy(dst, code + addr - CODE_BASE, len);
	return 0;
}

struct x86_frame_mem code_mem = { .read = read_code, .is_64bit = true };

void code_put(unsigned int at, const char *bytes, unsigned int len)
{
	memcpy(code + at, bytes, len);
}

void code_fill(u8 byte)
{
	memset(code, byte, sizeof(code));
}
