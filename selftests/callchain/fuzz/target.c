// SPDX-License-Identifier: GPL-2.0
/*
 * A program whose instructions probes.c puts probes on: functions with and without frame
 * pointers, signals, jumps by a table, frames that are realigned, calls without return.
 * It runs until it is killed; a probe may make it crash.
 */
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define CALLED	__attribute__((noinline, noclone))
#define WITHOUT	__attribute__((optimize("omit-frame-pointer")))
#define WITH	__attribute__((optimize("no-omit-frame-pointer")))
/* Where the kernel may put a call in place of a breakpoint. */
#define NOP5	".byte 0x0f, 0x1f, 0x44, 0x00, 0x00"

static int sum;
static jmp_buf back;

CALLED WITHOUT static void leaf(int i)
{
	asm volatile(NOP5);
	sum += i;
	asm volatile("" : "+m" (sum));
}

CALLED WITH static void framed(int i)
{
	asm volatile(NOP5);
	leaf(i);
	sum++;
}

CALLED WITHOUT static void recursive(int i)
{
	if (i)
		recursive(i - 1);
	framed(i);
}

CALLED WITHOUT static int by_table(int i)
{
	switch (i) {
	case 0:
		leaf(1);
		return 3;
	case 1:
		framed(2);
		return 5;
	case 2:
		sum *= 3;
		return 1;
	case 3:
		sum ^= 5;
		return 7;
	case 4:
		recursive(2);
		return 9;
	case 5:
		sum -= 8;
		return 4;
	default:
		return 0;
	}
}

CALLED WITHOUT static void realigned(int i)
{
	char line[64] __attribute__((aligned(64)));
	char *more = alloca(16 + i % 64);

	memset(line, i, sizeof(line));
	memset(more, i, 16);
	leaf(line[3] + more[2]);
	asm volatile("" : : "r" (line), "r" (more) : "memory");
}

CALLED WITHOUT __attribute__((noreturn)) static void jumps(int i)
{
	leaf(i);
	longjmp(back, 1);
}

static int compare(const void *a, const void *b)
{
	leaf(*(const int *)a);
	return *(const int *)a - *(const int *)b;
}

static void handler(int sig)
{
	framed(sig);
}

int main(void)
{
	static int round;
	int numbers[16], i;

	signal(SIGUSR1, handler);
	for (round = 0; ; round++) {
		for (i = 0; i < 16; i++)
			numbers[i] = (i * 7 + round) % 16;
		qsort(numbers, 16, sizeof(numbers[0]), compare);
		recursive(5);
		sum += by_table(round % 7);
		realigned(round);
		if (!setjmp(back))
			jumps(round);
		raise(SIGUSR1);
	}
}
