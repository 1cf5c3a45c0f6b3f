// SPDX-License-Identifier: GPL-2.0
/*
 * The loop that makes a large frame.
 */
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include "flow.h"
#include "probe-loop.h"
#include "x86_frame.h"

/* lea -N(%rsp),%r11, with N in the last four bytes. */
static const u8 lea[] = { 0x4c, 0x8d, 0x9c, 0x24 };
#define LEA_SIZE	8

/* sub $0x1000,%rsp; orq $0,(%rsp); cmp %r11,%rsp; jne to the first one */
static const u8 loop[] = {
	0x48, 0x81, 0xec, 0x00, 0x10, 0x00, 0x00, 0x48, 0x83, 0x0c, 0x24, 0x00,
	0x4c, 0x39, 0xdc, 0x75, 0xef,
};

/* Where its instructions begin. */
static const u8 begins[] = { 0, 7, 12, 15 };

static bool is_loop(const struct x86_frame_mem *mem, u64 addr)
{
	u8 code[sizeof(loop)];

	return hybrid_flow_fetch(mem, addr, code, sizeof(code)) == sizeof(code) &&
	       !memcmp(code, loop, sizeof(code));
}

bool hybrid_probe_loop(const struct x86_frame_mem *mem, u64 ip, u64 *end, s32 *from_sp)
{
	u8 code[LEA_SIZE];
	unsigned int i;
	u64 start;

	*from_sp = 0;
	if (!mem->is_64bit)
		return false;
	for (i = 0; i < ARRAY_SIZE(begins); i++) {
		start = ip - begins[i];
		if (is_loop(mem, start)) {
			*end = start + sizeof(loop);
			return true;
		}
	}
	*end = ip + LEA_SIZE + sizeof(loop);
	if (hybrid_flow_fetch(mem, ip, code, sizeof(code)) < sizeof(code) ||
	    memcmp(code, lea, sizeof(lea)) || !is_loop(mem, ip + LEA_SIZE))
		return false;
	memcpy(from_sp, code + sizeof(lea), sizeof(*from_sp));
	*from_sp = -*from_sp;
	return *from_sp > 0;
}
