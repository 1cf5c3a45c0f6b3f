// SPDX-License-Identifier: GPL-2.0
/*
 * The instructions around an address that have the same frame pointer. Code made up of bytes.
 */
#include "code-bytes.h"
#include "frame-around.h"
#include "tap.h"

/* Where the function begins: more code than is looked at is before it. */
#define START	1024

static u64 begins[2 * HYBRID_AROUND / 64];

/* The function @bytes among bytes of @fill: what is around its byte @ip? */
static void look(u8 fill, const char *bytes, unsigned int len, unsigned int ip)
{
	code_fill(fill);
	code_put(START, bytes, len);
	hybrid_frame_around(&code_mem, CODE_BASE + START + ip, begins);
	/* The address itself always. */
	check(begins[HYBRID_AROUND / 64] & 1);
}

#define LOOK(fill, bytes, ip) look(fill, bytes, sizeof(bytes) - 1, ip)

/* Is byte @at of the function marked, where byte @ip was looked around? */
static bool is_marked(unsigned int at, unsigned int ip)
{
	unsigned int bit = HYBRID_AROUND + at - ip;

	return begins[bit / 64] >> bit % 64 & 1;
}

static void expect(int line, unsigned int ip, unsigned int nr, const char *want)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		tap_same(is_marked(i, ip), want[i] == 'x', __FILE__, line, "byte");
}

#define EXPECT(ip, want) expect(__LINE__, ip, sizeof(want) - 1, want)

/* push %rbp; mov %rsp,%rbp; push %rcx; call; nop; pop %rcx; leave; ret */
#define FRAMED "\x55\x48\x89\xe5\x51\xe8\x00\x00\x00\x00\x90\x59\xc9\xc3"

static void function(void)
{
	static const unsigned int from[] = { 4, 5, 10, 11, 12 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(from); i++) {
		LOOK(0xcc, FRAMED, from[i]);
		EXPECT(from[i], "____xx____xxx_");
		check(!is_marked(13, from[i]));
		check(!is_marked(0, from[i]));
		check(!is_marked(1, from[i]));
	}
}

/* nop; mov %rbx,%rbp; nop: what bp holds is another frame, or none. */
static void changed(void)
{
	LOOK(0xcc, "\x90\x90\x48\x89\xdd\x90\x90\xc9\xc3", 5);
	EXPECT(5, "_____xxx_");
	LOOK(0xcc, "\x90\x90\x48\x89\xdd\x90\x90\xc9\xc3", 0);
	EXPECT(0, "xxx______");
}

/* vaddsd sets no general register, vmovd may. */
static void vectors(void)
{
	LOOK(0xcc, "\x90\xc5\xfb\x58\xc1\x90\xc9", 5);
	EXPECT(5, "xx___xx");
	LOOK(0xcc, "\x90\xc5\xf9\x7e\xc5\x90\xc9", 5);
	/* Bytes in it are no instruction of the function. */
	check(!is_marked(0, 5) && !is_marked(1, 5) && is_marked(6, 5));
}

/* nop; jmp; nop: nothing goes on from the one to the other. */
static void jumps(void)
{
	LOOK(0xcc, "\x90\xeb\x00\x90\x90\xc9\xc3", 3);
	EXPECT(3, "___xxx_");
	LOOK(0xcc, "\x90\xeb\x00\x90\x90\xc9\xc3", 0);
	EXPECT(0, "xx_____");
	/* After a call that does not return another function begins: push %rbp; or before that. */
	LOOK(0xcc, "\x90\xe8\x00\x00\x00\x00\x55\x48\x89\xe5\x90\xc9\xc3", 0);
	EXPECT(0, "xx___________");
	LOOK(0xcc, "\x90\xff\xd0\x90\x85\xc0\x55\x48\x89\xe5\x90\xc9\xc3", 0);
	EXPECT(0, "xx___________");
}

/* No more than so many bytes, and none of an instruction that can't be read. */
static void bounds(void)
{
	unsigned int i;

	LOOK(0x90, "\x90", 0);
	for (i = 0; i < ARRAY_SIZE(begins); i++)
		same(begins[i], ~0ULL);
	code_fill(0x90);
	hybrid_frame_around(&code_mem, CODE_BASE + 1, begins);
	same(begins[HYBRID_AROUND / 64 - 1], 1ULL << 63);
	hybrid_frame_around(&code_mem, CODE_BASE + CODE_SIZE - 1, begins);
	same(begins[HYBRID_AROUND / 64], 1);
	hybrid_frame_around(&code_mem, CODE_BASE + CODE_SIZE, begins);
	same(begins[HYBRID_AROUND / 64], 1);
}

/*
 * As what V8's baseline compiler makes: mov $24,%ebx; call; push %rax; nop; leave; ret, and a
 * function that makes the frame of its caller: pop %r15; push %rbp; mov %rsp,%rbp; push %r15; ret
 */
static void frame_by_call(void)
{
	static const char made[] = "\xbb\x18\x00\x00\x00\xe8\xf6\x00\x00\x00\x50\x90\xc9\xc3";

	code_fill(0xcc);
	CODE_PUT(START, made);
	CODE_PUT(START + 256, "\x41\x5f\x55\x48\x89\xe5\x41\x57\xc3");
	hybrid_frame_around(&code_mem, CODE_BASE + START + 11, begins);
	EXPECT(11, "__________xxx_");
	/* Another function is called: push %rbp is before the call. */
	CODE_PUT(START + 256, "\x55\x48\x89\xe5\xc9\xc3\x90\x90\x90");
	hybrid_frame_around(&code_mem, CODE_BASE + START + 11, begins);
	EXPECT(11, "x____x____xxx_");
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "frame around: a function", function },
		{ "frame around: where bp changes", changed },
		{ "frame around: vector instructions", vectors },
		{ "frame around: jumps", jumps },
		{ "frame around: bounds", bounds },
		{ "a frame that a call makes",		frame_by_call },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
