// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that are run on to their return: code made up of bytes.
 */
#include <string.h>
#include "code-bytes.h"
#include "run-on.h"
#include "tap.h"

/* Where the code is, in its first bytes; and the stack. */
#define ENTRY	0x1000
#define STACK	0x7ffc0000ULL
#define WORDS	32

enum { AX, CX, DX, BX, SP, BP, SI, DI, R8, R9, R10, R11, R12, R13, R14, R15 };

static u64 stack[WORDS];
static struct hybrid_run run;

static int read_stack(void *arg, u64 addr, u64 *value)
{
	u64 offset = addr - STACK;

	if (arg != stack || offset > sizeof(stack) - 8)
		return -1;
	memcpy(value, (u8 *)stack + offset, 8);
	return 0;
}

static void set(unsigned int reg, u64 value)
{
	run.regs[reg].value = value;
	run.regs[reg].known = true;
}

/* The word @i of the stack has the value @i + 1000. sp is at the first one. */
static void begin(unsigned int at)
{
	unsigned int i;

	for (i = 0; i < WORDS; i++)
		stack[i] = 1000 + i;
	memset(&run, 0, sizeof(run));
	run.mem = &code_mem;
	run.ip = CODE_BASE + ENTRY + at;
	run.stack = (struct hybrid_run_stack) {
		.read = read_stack, .arg = stack, .start = STACK, .end = STACK + sizeof(stack),
	};
	set(SP, STACK);
	set(BP, STACK + 20 * 8);
}

/* int3 is around the code. */
#define BEGIN(at, bytes) ({ code_fill(0xcc); CODE_PUT(ENTRY, bytes); begin(at); })

static void expect(int line, u64 ret, u64 sp, u64 bp)
{
	bool found = hybrid_run_on(&run);

	tap_check(found, __FILE__, line, "runs on");
	if (!found)
		return;
	tap_same(run.ret, ret, __FILE__, line, "return address");
	tap_same(run.sp, sp, __FILE__, line, "sp");
	tap_check(run.bp.known, __FILE__, line, "bp known");
	tap_same(run.bp.value, bp, __FILE__, line, "bp");
}

#define EXPECT(ret, sp_word, bp) expect(__LINE__, ret, STACK + 8 * (sp_word), bp)

/* As V8's Builtins_BaselineLeaveFrame: mov %rbp,%rsp; pop %rbp; pop %r8; lea; push %r8; ret */
static void leaves_arguments(void)
{
	BEGIN(0, "\x48\x89\xec\x5d\x41\x58\x48\x8d\x24\xdc\x41\x50\xc3");
	set(BX, 3);
	EXPECT(1021, 25, 1020);
	begin(3);
	set(BX, 3);
	EXPECT(1001, 5, 1000);
	/* The return address is in r8. */
	begin(6);
	set(BX, 3);
	set(R8, 77);
	EXPECT(77, 3, STACK + 160);
	/* How many arguments there are is not known: nor is sp then. */
	begin(6);
	set(R8, 77);
	check(!hybrid_run_on(&run));
}

/*
 * As Builtins_ResumeGeneratorTrampoline: pop %rax; mov 0x47(%rdx),%rbx; again: dec %rcx; jl over;
 * push 0xf(%rbx,%rcx,8); jmp again; over: push 0x27(%rdx); push %rax; jmp *%rcx
 */
static void passes_arguments(void)
{
	BEGIN(0, "\x58\x48\x8b\x5a\x47\x48\xff\xc9\x7c\x06\xff\x74\xcb\x0f\xeb\xf5\xff\x72\x27"
	      "\x50\xff\xe1");
	set(CX, 5);
	EXPECT(1000, -5, STACK + 160);
	check(!run.sp_known);
	begin(5);
	set(AX, 78);
	set(CX, 2);
	EXPECT(78, -3, STACK + 160);
	/* How often is not known: both ways are tried. */
	begin(5);
	set(AX, 78);
	check(hybrid_run_on(&run) && run.ret == 78);
	/* So often that it has no room. */
	begin(5);
	set(AX, 78);
	set(CX, 1U << 30);
	check(!hybrid_run_on(&run));
}

/*
 * As Builtins_CallVarargs: mov %rsp,%r8; lea 0(,%rcx,8),%r10; sub %r10,%rsp; xor %r12d,%r12d;
 * jmp test; copy: mov (%r8,%r12,8),%r10; mov %r10,(%rsp,%r12,8); inc %r12; test: cmp %rax,%r12;
 * jle copy; jmp *%rcx
 */
#define COPIES	"\x49\x89\xe0\x4c\x8d\x14\xcd\x00\x00\x00\x00\x4c\x29\xd4\x45\x31\xe4\xeb\x0b" \
		"\x4f\x8b\x14\xe0\x4e\x89\x14\xe4\x49\xff\xc4\x49\x39\xc4\x7e\xf0\xff\xe1"

static void copies_arguments(void)
{
	unsigned int at;

	for (at = 0; at < 2; at++) {
		BEGIN(at ? 3 : 0, COPIES);
		set(CX, 4);
		set(AX, 2);
		set(R8, STACK);
		EXPECT(1000, -3, STACK + 160);
	}
	/* In the first turn: the return address is where sp was. */
	begin(19);
	set(SP, STACK);
	set(R8, STACK + 32);
	set(R12, 0);
	set(AX, 2);
	EXPECT(1004, 1, STACK + 160);
	/* In the second one it was copied already. */
	begin(19);
	set(R8, STACK + 32);
	set(R12, 1);
	set(AX, 2);
	EXPECT(1000, 1, STACK + 160);
	/*
	 * What is copied decides on a branch in the loop, and is not known: again:
	 * cmp $7,(%rbx,%r9,8); jne over; nop; over: inc %r9d; cmp %ecx,%r9d; jne again; ret
	 */
	BEGIN(0, "\x4a\x83\x3c\xcb\x07\x75\x01\x90\x41\xff\xc1\x41\x39\xc9\x75\xf0\xc3");
	set(CX, 9);
	set(R9, 0);
	EXPECT(1000, 1, STACK + 160);
	/* Where in the stack it writes is not known. */
	begin(23);
	set(R8, STACK + 32);
	set(AX, 2);
	check(!hybrid_run_on(&run));
}

/*
 * As Builtins_BaselineOutOfLinePrologue: pop %r15; push %rbp; mov %rsp,%rbp; push %rsi; push %r15;
 * ret
 */
static void makes_frame(void)
{
	BEGIN(0, "\x41\x5f\x55\x48\x89\xe5\x56\x41\x57\xc3");
	EXPECT(1000, -1, STACK);
	check(run.makes_frame);
	begin(2);
	set(SP, STACK + 8);
	set(R15, 79);
	EXPECT(79, -1, STACK);
	check(run.makes_frame);
	/* Here it has made it. */
	begin(6);
	set(BP, STACK);
	set(R15, 79);
	EXPECT(79, -1, STACK);
	check(!run.makes_frame);
	/* pop %r15; push %rsi; mov %rsp,%rbp; push %r15; ret: there is no bp of a caller */
	BEGIN(0, "\x41\x5f\x56\x48\x89\xe5\x41\x57\xc3");
	set(SI, 77);
	EXPECT(1000, 0, STACK);
	check(!run.makes_frame);
	/* push %rbp; mov %rsp,%rbp; leave; ret: a frame of its own */
	BEGIN(0, "\x55\x48\x89\xe5\xc9\xc3");
	EXPECT(1000, 1, STACK + 160);
	check(!run.makes_frame);
}

static void calls_and_jumps(void)
{
	/* call; leave; ret $16 */
	BEGIN(0, "\xe8\x00\x01\x00\x00\xc9\xc2\x10\x00");
	EXPECT(1021, 24, 1020);
	/* call; ret: the callee may have taken arguments off the stack. */
	BEGIN(0, "\xe8\x00\x01\x00\x00\xc3");
	check(!hybrid_run_on(&run));
	/* add $8,%rsp; push %rcx; ret: goes to another function, of which nothing is known. */
	BEGIN(0, "\x48\x83\xc4\x08\x51\xc3");
	EXPECT(1001, 2, STACK + 160);
	check(!run.sp_known);
	/* test %rdi,%rdi; je over; int3; over: ret */
	BEGIN(0, "\x48\x85\xff\x74\x01\xcc\xc3");
	EXPECT(1000, 1, STACK + 160);
	/* The same with a condition that is known: it does not return. */
	begin(0);
	set(DI, 1);
	check(!hybrid_run_on(&run));
	/* jmp *(%rax,%rcx,8): by a table */
	BEGIN(0, "\xff\x24\xc8");
	check(!hybrid_run_on(&run));
	/* for ever */
	BEGIN(0, "\xeb\xfe");
	check(!hybrid_run_on(&run));
	/* A return address that the way has written over: movl $0,(%rsp); ret */
	BEGIN(0, "\xc7\x04\x24\x00\x00\x00\x00\xc3");
	check(!hybrid_run_on(&run) || run.ret != 1000);
}

/* Arithmetic and conditions: the word that is pushed shows the result. */
static void values(void)
{
	/* mov $-2,%eax; sar %eax; push %rax; ret */
	BEGIN(0, "\xb8\xfe\xff\xff\xff\xd1\xf8\x50\xc3");
	check(hybrid_run_on(&run) && run.ret == 0xffffffff);
	/* movabs; bswap is not computed */
	BEGIN(0, "\x48\xb8\x08\x07\x06\x05\x04\x03\x02\x01\x50\xc3");
	check(hybrid_run_on(&run) && run.ret == 0x0102030405060708ULL);
	/* mov $5,%al in an unknown register */
	BEGIN(0, "\xb0\x05\x50\xc3");
	check(hybrid_run_on(&run) && run.ret == 1000);
	/* xor %eax,%eax; sub $1,%rax; cmp $0,%eax; jl over; int3; over: push %rax; ret */
	BEGIN(0, "\x31\xc0\x48\x83\xe8\x01\x83\xf8\x00\x7c\x01\xcc\x50\xc3");
	check(hybrid_run_on(&run) && run.ret == ~0ULL);
	/* movzbl (%rsp),%eax; shl $4,%rax; movslq %eax,%rax; push %rax; ret */
	BEGIN(0, "\x0f\xb6\x04\x24\x48\xc1\xe0\x04\x48\x63\xc0\x50\xc3");
	check(hybrid_run_on(&run) && run.ret == (1000 & 0xff) << 4);
	/* cmp $7,%rcx; cmove %rdx,%rax; push %rax; ret */
	BEGIN(0, "\x48\x83\xf9\x07\x48\x0f\x44\xc2\x50\xc3");
	set(CX, 7);
	set(DX, 80);
	check(hybrid_run_on(&run) && run.ret == 80);
	/* vmovdqu %ymm0,-8(%rsp); mov -8(%rsp),%rax; push %rax; ret: it is not known */
	BEGIN(0, "\xc5\xfe\x7f\x44\x24\xf8\x48\x8b\x44\x24\xf8\x50\xc3");
	check(!hybrid_run_on(&run));
	/* vmovq %xmm0,%rbp; ret */
	BEGIN(0, "\xc4\xe1\xf9\x7e\xc5\xc3");
	check(hybrid_run_on(&run) && run.ret == 1000 && !run.bp.known);
}

/* Whatever the bytes are, the search ends, and writes only to its own memory. */
static void random_code(void)
{
	unsigned int round, i;

	code_fill(0xcc);
	for (round = 0; round < 20000; round++) {
		for (i = 0; i < 64; i++)
			code[ENTRY + i] = tap_random();
		begin(0);
		for (i = 0; i < HYBRID_RUN_REGS; i++) {
			if (tap_random() & 1)
				set(i, tap_random() % 3 ? tap_random() : STACK + i * 8);
		}
		hybrid_run_on(&run);
	}
	check(true);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "leaves with the arguments",			leaves_arguments },
		{ "a return address in a register",		passes_arguments },
		{ "a return address that is copied",		copies_arguments },
		{ "makes the frame of its caller",		makes_frame },
		{ "calls and jumps",				calls_and_jumps },
		{ "values",					values },
		{ "code of random bytes",			random_code },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
