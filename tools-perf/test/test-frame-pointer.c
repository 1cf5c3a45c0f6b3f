// SPDX-License-Identifier: GPL-2.0
/*
 * Does code show that bp points to its frame? Code made up of bytes.
 */
#include "code-bytes.h"
#include "frame-pointer.h"
#include "tap.h"

/* The function from the beginning on, int3 behind it: does bp point to the frame at @at? */
#define SHOWS(at, bytes) ({						\
	code_fill(0xcc);						\
	CODE_PUT(0, bytes);						\
	shows(at);							\
})

static u64 run;
static unsigned int took;

static bool shows(u64 at)
{
	return hybrid_has_frame_pointer(&code_mem, CODE_BASE + at, &run, &took);
}

static void frames(void)
{
	/* leave; ret */
	check(SHOWS(0, "\x90\xc9\xc3"));
	/* mov %rbp,%rsp; pop %rbp; ret $16 */
	check(SHOWS(0, "\x90\x48\x89\xec\x5d\xc2\x10\x00"));
	/* lea -16(%rbp),%rsp; pop %rbx; pop %r12; pop %rbp; ret */
	check(SHOWS(0, "\x48\x8d\x65\xf0\x5b\x41\x5c\x5d\xc3"));
	/* vaddsd %xmm1,%xmm0,%xmm0; leave; ret */
	check(SHOWS(0, "\xc5\xfb\x58\xc1\xc9\xc3"));
	/* call *%rcx; test %eax,%eax; je over int3; int3; leave; ret */
	check(SHOWS(0, "\xff\xd1\x85\xc0\x74\x01\xcc\xc9\xc3"));
}

/* What looks like mov %rsp,%rbp, and is another one: of memory, or of other registers. */
static void no_prologues(void)
{
	/* mov %rsp,(%rbp); leave; ret */
	check(SHOWS(0, "\x48\x89\x65\x00\xc9\xc3"));
	/* mov %rsp,%r13; leave; ret */
	check(SHOWS(0, "\x49\x89\xe5\xc9\xc3"));
	/* mov %rbp,%rsp by its other code: the frame ends */
	check(SHOWS(0, "\x48\x8b\xe5\x5d\xc3"));
	/* mov %rsp,%rbp by both; mov %r12,%rbp: there is a frame only behind the first two */
	check(!SHOWS(0, "\x48\x89\xe5\xc9\xc3"));
	check(!SHOWS(0, "\x48\x8b\xec\xc9\xc3"));
	check(!SHOWS(0, "\x4c\x89\xe5\xc9\xc3"));
}

/* V8's builtins drop their frame by add $N,%rsp, and by nothing like that. */
static void no_drops(void)
{
	/* add $0x50,%rsp; add $0x150,%rsp */
	check(SHOWS(0, "\x48\x8b\x6d\x00\x48\x83\xc4\x50\xff\xe1"));
	check(SHOWS(0, "\x48\x8b\x6d\x00\x48\x81\xc4\x50\x01\x00\x00\xff\xe1"));
	/* add $0x50,%rcx; add $0x50,%r12; sub $0x50,%rsp; add $-0x50,%rsp */
	check(!SHOWS(0, "\x48\x8b\x6d\x00\x48\x83\xc1\x50\xff\xe1"));
	check(!SHOWS(0, "\x48\x8b\x6d\x00\x49\x83\xc4\x50\xff\xe1"));
	check(!SHOWS(0, "\x48\x8b\x6d\x00\x48\x83\xec\x50\xff\xe1"));
	check(!SHOWS(0, "\x48\x8b\x6d\x00\x48\x83\xc4\xb0\xff\xe1"));
	/* addq $0x50,0x10(%rsp); mov %rsp,%rsp */
	check(!SHOWS(0, "\x48\x8b\x6d\x00\x48\x83\x44\x24\x10\x50\xff\xe1"));
	check(!SHOWS(0, "\x48\x8b\x6d\x00\x48\x89\xe4\xff\xe1"));
}

/* How V8's functions return: by as many words as they were given. */
static void v8(void)
{
	/* leave; pop %rcx; add %rbx,%rsp; push %rcx; ret */
	check(SHOWS(0, "\x90\xc9\x59\x48\x01\xdc\x51\xc3"));
	/* leave; pop %rcx; lea 8(%r15),%rsp; push %rcx; ret */
	check(SHOWS(0, "\x90\xc9\x59\x49\x8d\x67\x08\x51\xc3"));
	/* mov (%rbp),%rbp; mov %r11,%r12; add $0x50,%rsp; jmp *%rcx */
	check(SHOWS(0, "\x90\x48\x8b\x6d\x00\x4d\x89\xdc\x48\x83\xc4\x50\xff\xe1"));
}

static void no_frames(void)
{
	/* add $8,%rsp; ret: what bp holds is not said */
	check(!SHOWS(0, "\x90\x48\x83\xc4\x08\xc3"));
	/* vmovd %xmm0,%ebp; leave; ret */
	check(!SHOWS(0, "\xc5\xf9\x7e\xc5\xc9\xc3"));
	/* pop %rbp; ret: saved at sp */
	check(!SHOWS(0, "\x90\x5d\xc3"));
	/* push %rbp; mov %rsp,%rbp; leave; ret: bp is still the caller's */
	check(!SHOWS(0, "\x55\x48\x89\xe5\xc9\xc3"));
	check(SHOWS(4, "\x55\x48\x89\xe5\xc9\xc3"));
	/* test; jne; push %rbp; mov %rsp,%rbp; leave; ret: where it jumps to there is a frame */
	check(!SHOWS(0, "\x85\xc0\x75\x06\x55\x48\x89\xe5\xc9\xc3\xc9\xc3"));
	check(SHOWS(10, "\x85\xc0\x75\x06\x55\x48\x89\xe5\xc9\xc3\xc9\xc3"));
	/* xor %ebp,%ebp; leave; ret */
	check(!SHOWS(0, "\x31\xed\xc9\xc3"));
	/* mov (%rbp),%rbp; test %rbp,%rbp; jne back; add $8,%rsp; pop %rbp; ret: a list */
	check(!SHOWS(0, "\x48\x8b\x6d\x00\x48\x85\xed\x75\xf7\x48\x83\xc4\x08\x5d\xc3"));
	/* A list, and then a table of jumps */
	check(!SHOWS(0, "\x48\x8b\x6d\x00\x48\x85\xed\x75\xf7\xff\xe1"));
	/* leave; lea -8(%r10),%rsp; ret: gcc's, where the stack was aligned */
	check(!SHOWS(0, "\x90\xc9\x49\x8d\x62\xf8\xc3"));
	/* A byte like that of leave, in data behind a call that does not return */
	check(!SHOWS(0, "\xff\xd1\xc9\x00\x00\x00\x00\x00\x00"));
}

/* What comes behind a call, and behind jumps, is the same function. */
static void ways(void)
{
	/* jmp over; ...; over: leave; ret */
	check(SHOWS(0, "\xeb\x02\xcc\xcc\xc9\xc3"));
	/* One way sets bp, the other one leaves */
	check(SHOWS(0, "\x74\x04\xc9\xc3\xcc\xcc\x31\xed\xc3"));
	/* jmp *%rcx: what follows is not known */
	check(!SHOWS(0, "\xff\xe1\xc9\xc3"));
}

static void straight(void)
{
	/* nop; nop; je; nop; leave; ret: up to leave */
	check(SHOWS(0, "\x90\x90\x74\x00\x90\xc9\xc3"));
	same(run, 5);
	check(SHOWS(0, "\x90\xff\xd1\x90\xc9\xc3"));
	same(run, 4);
	/* At leave itself */
	check(SHOWS(0, "\xc9\xc3"));
	same(run, 1);
}

/* Large functions are followed to their end, and what has none is given up. */
static void bounded(void)
{
	unsigned int i;

	code_fill(0x90);
	CODE_PUT(4000, "\xc9\xc3");
	check(shows(0));
	same(took, 4001);
	code_fill(0x90);
	CODE_PUT(8000, "\xc9\xc3");
	check(!shows(0));
	check(took >= 4096 && took <= 4097);
	/* A jump with each instruction, to the next one. */
	for (i = 0; i < CODE_SIZE; i += 2)
		CODE_PUT(i, "\x74\x00");
	check(!shows(0));
	/* The first way that is followed goes round. */
	code_fill(0xcc);
	CODE_PUT(0, "\xeb\xfe");
	check(!shows(0));
}

static void random_code(void)
{
	unsigned int round, i;

	for (round = 0; round < 20; round++) {
		for (i = 0; i < CODE_SIZE; i++)
			code[i] = tap_random();
		for (i = 0; i < 200; i++) {
			shows(tap_random() % (2 * CODE_SIZE));
			check(run && run <= 4096 * 15);
		}
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "frame pointer: functions that leave a frame", frames },
		{ "frame pointer: no prologues", no_prologues },
		{ "frame pointer: V8's", v8 },
		{ "frame pointer: what drops no frame", no_drops },
		{ "frame pointer: functions that show none", no_frames },
		{ "frame pointer: jumps and calls", ways },
		{ "frame pointer: the straight code that it is true of", straight },
		{ "frame pointer: no more than is bounded", bounded },
		{ "frame pointer: random code", random_code },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
