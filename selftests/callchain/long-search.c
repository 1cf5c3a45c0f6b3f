// SPDX-License-Identifier: GPL-2.0
/*
 * Runs code whose callers take as long to search for as a search may last, always at other
 * addresses, so that no cache has them.
 *
 * usage: long-search SECONDS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/mman.h>

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))
#define FUNCTION_SIZE	16384
#define NR_FUNCTIONS	1024
/* Rounds of two instructions: longer than from one sample to the next one. */
#define ROUNDS		30000

/* Code that is searched and never runs, repeated. */
static const struct {
	uint8_t	len;
	uint8_t	bytes[14];
} tiles[] = {
	/* Prefixes and VEX: for the decoder of all instructions */
	{ 14, { 0x36, 0x66, 0x3e, 0x65, 0x64, 0x2e, 0xf2,
		0x64, 0x67, 0x26, 0x64, 0xc5, 0x91, 0x76 } },
	/* je, jmp to the next instruction */
	{ 2, { 0x74, 0x00 } },
	{ 2, { 0xeb, 0x00 } },
	/* je far ahead: another path */
	{ 6, { 0x0f, 0x84, 0x00, 0x02, 0x00, 0x00 } },
	/* call of the next instruction: does it return? */
	{ 5, { 0xe8, 0x00, 0x00, 0x00, 0x00 } },
	/* mov %rsp, 0(%rsp) with a displacement and an index of 32 bits */
	{ 8, { 0x48, 0x89, 0xa4, 0x24, 0x00, 0x00, 0x00, 0x00 } },
	/* nop */
	{ 1, { 0x90 } },
};

/*
 * Spins, then leaves by a conditional jump, which is always taken, and a jump by a register,
 * which no search can follow. So the search goes on in what follows.
 */
static void make_function(uint8_t *at, unsigned int tile)
{
	static const uint8_t leave[] = { 0x58, 0xff, 0xe0 };	/* pop %rax; jmp *%rax */
	/* 1: dec %ecx; jnz 1b; jz leave */
	static const uint8_t loop[] = { 0xff, 0xc9, 0x75, 0xfc, 0x0f, 0x84 };
	uint8_t *end = at + FUNCTION_SIZE - sizeof(leave);
	const uint32_t rounds = ROUNDS;
	int32_t far;

	*at++ = 0xb9;	/* mov $ROUNDS, %ecx */
	memcpy(at, &rounds, sizeof(rounds));
	at += sizeof(rounds);
	memcpy(at, loop, sizeof(loop));
	at += sizeof(loop);
	far = end - at - sizeof(far);
	memcpy(at, &far, sizeof(far));
	at += sizeof(far);
	memset(at, 0x90, end - at);
	for (; end - at >= tiles[tile].len; at += tiles[tile].len)
		memcpy(at, tiles[tile].bytes, tiles[tile].len);
	memcpy(end, leave, sizeof(leave));
}

static void run(const uint8_t *function)
{
	asm volatile("call *%0" : : "r" (function) : "rax", "rcx", "memory", "cc");
}

int main(int argc, char **argv)
{
	int seconds = argc > 1 ? atoi(argv[1]) : 0;
	uint8_t *code;
	unsigned int i;
	time_t end;

	code = mmap(NULL, NR_FUNCTIONS * FUNCTION_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (seconds < 1 || code == MAP_FAILED) {
		fprintf(stderr, "usage: long-search SECONDS\n");
		return 2;
	}
	for (i = 0; i < NR_FUNCTIONS; i++)
		make_function(code + i * FUNCTION_SIZE, i % ARRAY_SIZE(tiles));
	for (i = 0, end = time(NULL) + seconds; time(NULL) < end; i++)
		run(code + i % NR_FUNCTIONS * FUNCTION_SIZE);
	return 0;
}
