// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include "java-methods.h"
#include "tap.h"

const u8 java_pushed[JAVA_PUSHED_SIZE] = {
	0x89, 0x84, 0x24, 0x00, 0xf0, 0xff, 0xff,
	0x55, 0x48, 0x83, 0xec, 0x20,
	0x90, 0x90, 0x90, 0x90,
	0x48, 0x83, 0xc4, 0x20,
	0x5d,
	0x49, 0x3b, 0xa7, 0x08, 0x00, 0x00, 0x00,
	0x0f, 0x87, 0x00, 0x00, 0x00, 0x00,
	0xc3,
};

const u8 java_moved[JAVA_MOVED_SIZE] = {
	0x48, 0x83, 0xec, 0x28, 0x48, 0x89, 0x6c, 0x24, 0x20, 0x90, 0x90,
};

const u8 java_adapter[JAVA_ADAPTER_SIZE] = {
	0x48, 0x83, 0x7b, 0x48, 0x00, 0x58, 0x49, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20,
	0x48, 0x89, 0x04, 0x24, 0xff, 0xe1,
};

void java_add_outer(u64 to)
{
	u8 code[64];
	u64 at;
	s32 disp;

	memset(code, 0x90, sizeof(code));
	java_add(JAVA_OUTER, "nmethod", code, sizeof(code));
	at = java_code_at(JAVA_OUTER);
	disp = to - (at + JAVA_CALLED);
	code[JAVA_CALLED - 5] = 0xe8;
	memcpy(code + JAVA_CALLED - 4, &disp, sizeof(disp));
	memcpy((void *)at, code, sizeof(code));
}

u64 java_called(void)
{
	return java_code_at(JAVA_OUTER) + JAVA_CALLED;
}

void java_begin_method(const u8 *code, unsigned int size, s16 complete)
{
	java_begin();
	java_add(JAVA_INNER, "nmethod", code, size)->complete = complete;
	java_add_outer(java_code_at(JAVA_INNER));
}

void java_begin_interpreted(void)
{
	java_begin_method(java_pushed, sizeof(java_pushed), 12);
	java_add_interpreter(JAVA_INTERPRETER);
}

bool java_range_at(u64 ip, struct hybrid_runtime_range *range)
{
	java.frames[0] = (struct hybrid_frame) { .ip = ip, .ret = ip };
	java_pass();
	return hybrid_runtime_range(java.unwinder.runtimes, &java.u, 0, range);
}
