// SPDX-License-Identifier: GPL-2.0
/*
 * From a call to what runs below it: code made up of bytes.
 */
#include <string.h>
#include "call-reach.h"
#include "code-bytes.h"
#include "tap.h"

static u64 slot;

/* All int3, but for what is put there. */
static void begin(void)
{
	code_fill(0xcc);
}

/* An opcode and the displacement from behind it to @to. */
static void put_rel32(unsigned int at, const char *opcode, unsigned int len, unsigned int to)
{
	s32 offset = to - (at + len + 4);

	code_put(at, opcode, len);
	memcpy(code + at + len, &offset, sizeof(offset));
}

#define CALL(at, to)	put_rel32(at, "\xe8", 1, to)
#define JMP(at, to)	put_rel32(at, "\xe9", 1, to)
#define JNE(at, to)	put_rel32(at, "\x0f\x85", 2, to)

/* The call is at 16, so that it returns to 21. */
static enum hybrid_reach asked(u64 callee)
{
	return hybrid_call_reaches(&code_mem, CODE_BASE + 21, callee ? CODE_BASE + callee : 0,
				   &slot);
}

static void direct(void)
{
	begin();
	CALL(16, 256);
	CODE_PUT(256, "\x55\x48\x89\xe5\x90\xc3");
	CODE_PUT(300, "\x90\xc3");
	same(asked(256), HYBRID_REACH_THERE);
	same(asked(260), HYBRID_REACH_THERE);
	/* Inside of an instruction, as a caller's frame is. */
	same(asked(258), HYBRID_REACH_THERE);
	/* Behind the return, and in another function. */
	same(asked(262), HYBRID_REACH_NOT);
	same(asked(300), HYBRID_REACH_NOT);
	same(asked(0), HYBRID_REACH_NOT);
	/* No call at all, or none that ends there. */
	same(hybrid_call_reaches(&code_mem, CODE_BASE + 22, CODE_BASE + 256, &slot),
	     HYBRID_REACH_NOT);
	same(hybrid_call_reaches(&code_mem, CODE_BASE + 300, CODE_BASE + 256, &slot),
	     HYBRID_REACH_NOT);
	/* The target can't be read. */
	CALL(16, 256 + (1 << 20));
	same(asked(256), HYBRID_REACH_FAR);
}

/* A call that goes by no slot has none, whatever the last one had. */
static void no_slot(void)
{
	begin();
	CALL(16, 256);
	CODE_PUT(256, "\x90\xc3");
	slot = 1;
	same(asked(256), HYBRID_REACH_THERE);
	same(slot, 0);
	slot = 1;
	same(hybrid_target_reaches(&code_mem, CODE_BASE + 256, CODE_BASE + 256, &slot),
	     HYBRID_REACH_THERE);
	same(slot, 0);
	slot = 1;
	same(hybrid_call_reaches(&code_mem, CODE_BASE + 22, CODE_BASE + 256, &slot),
	     HYBRID_REACH_NOT);
	same(slot, 0);
}

/* If the code before the return address can't be read the result is "maybe". */
static void unreadable(void)
{
	const unsigned long outside[] = { CODE_BASE, CODE_BASE + CODE_SIZE + 16, 16, 0 };
	unsigned int i;

	begin();
	for (i = 0; i < ARRAY_SIZE(outside); i++)
		same(hybrid_call_reaches(&code_mem, outside[i], CODE_BASE, &slot),
		     HYBRID_REACH_MAYBE);
	same(hybrid_call_reaches(&code_mem, CODE_BASE + 1, CODE_BASE, &slot), HYBRID_REACH_NOT);
}

static void branches(void)
{
	begin();
	CALL(16, 256);
	JNE(256, 512);
	JMP(262, 768);
	CODE_PUT(512, "\x74\x02\x90\xc3\x90\x90\xeb\xfc");
	CODE_PUT(768, "\xe2\xfe\x0f\x0b");
	same(asked(514), HYBRID_REACH_THERE);
	same(asked(516), HYBRID_REACH_THERE);
	same(asked(518), HYBRID_REACH_THERE);
	same(asked(768), HYBRID_REACH_THERE);
	same(asked(772), HYBRID_REACH_NOT);
	/* What is called on the way comes back. */
	CALL(512, 1024);
	CODE_PUT(517, "\x90\xc3");
	CODE_PUT(1024, "\x90\xc3");
	same(asked(517), HYBRID_REACH_THERE);
	same(asked(1024), HYBRID_REACH_NOT);
	/* Unless all that is left then is to return: its caller can leave the call out. */
	CODE_PUT(517, "\xc3");
	same(asked(1024), HYBRID_REACH_FAR);
	same(asked(1100), HYBRID_REACH_FAR);
	same(asked(517), HYBRID_REACH_THERE);
}

static void indirect(void)
{
	static const char * const calls[] = {
		"\xff\xd0", "\x41\xff\xd4", "\xff\x50\x08", "\xff\x54\x24\x08",
		"\xff\x15\x00\x01\x00\x00", "\xff\x94\xc8\x00\x01\x00\x00",
	};
	static const unsigned int lens[] = { 2, 3, 3, 4, 6, 7 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		begin();
		code_put(21 - lens[i], calls[i], lens[i]);
		same(asked(256), HYBRID_REACH_INDIRECT);
	}
	/* A direct call could end there, too: it shows nothing. */
	begin();
	CALL(16, 256);
	CODE_PUT(256, "\xc3");
	CODE_PUT(19, "\xff\xd0");
	same(asked(300), HYBRID_REACH_INDIRECT);
}

static void plt(void)
{
	begin();
	CALL(16, 256);
	CODE_PUT(256, "\xf3\x0f\x1e\xfa\xff\x25\x00\x10\x00\x00");
	same(asked(0), HYBRID_REACH_INDIRECT);
	same(slot, CODE_BASE + 266 + 0x1000);
	same(asked(512), HYBRID_REACH_INDIRECT);
	same(asked(260), HYBRID_REACH_THERE);
	/* A jump table may lead anywhere in its function; what does more than jump tells. */
	CODE_PUT(256, "\x90\x90\x90\x90\xff\x24\xc5\x00\x00\x00\x00");
	same(asked(512), HYBRID_REACH_FAR);
}

/* Code that never ends, and code with more branches than are remembered. */
static void bounded(void)
{
	unsigned int i;

	begin();
	CALL(16, 256);
	memset(code + 256, 0x90, CODE_SIZE - 256);
	same(asked(CODE_SIZE - 1), HYBRID_REACH_FAR);
	same(asked(300), HYBRID_REACH_THERE);

	begin();
	CALL(16, 256);
	for (i = 256; i + 6 < CODE_SIZE; i += 6)
		JNE(i, (i * 7) % (CODE_SIZE - 512) + 256);
	check(asked(20) != HYBRID_REACH_THERE);

	/* Jumps in a circle end. */
	begin();
	CALL(16, 256);
	JMP(256, 512);
	JMP(512, 256);
	same(asked(300), HYBRID_REACH_NOT);
}

/* More code than is followed stands on the way, but not before the callee. */
static void nearest_first(void)
{
	begin();
	CALL(16, 256);
	JNE(256, 4096);
	JNE(262, 512);
	CODE_PUT(268, "\x90\xc3");
	memset(code + 512, 0x90, 3000);
	CODE_PUT(4096, "\x90\x90\x90\xc3");
	same(asked(4098), HYBRID_REACH_THERE);
	same(asked(5000), HYBRID_REACH_FAR);
}

static void random_code(void)
{
	unsigned int round, i;

	for (round = 0; round < 200; round++) {
		for (i = 0; i < CODE_SIZE; i++)
			code[i] = tap_random();
		for (i = 0; i < 64; i++)
			check(hybrid_call_reaches(&code_mem,
						  CODE_BASE + tap_random() % (2 * CODE_SIZE),
						  CODE_BASE + tap_random() % CODE_SIZE, &slot) <=
			      HYBRID_REACH_THERE);
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "leads: a direct call", direct },
		{ "leads: no slot", no_slot },
		{ "leads: code that can't be read", unreadable },
		{ "leads: jumps on the way", branches },
		{ "leads: calls without a target", indirect },
		{ "leads: a PLT, a jump table", plt },
		{ "leads: no more than is bounded", bounded },
		{ "leads: what is nearest before the callee comes first", nearest_first },
		{ "leads: random code", random_code },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
