// SPDX-License-Identifier: GPL-2.0
/*
 * What instructions leave. Code made up of bytes.
 */
#include "code-bytes.h"
#include "insn-effect.h"
#include "tap.h"

/* Does the code return, int3 behind it? */
#define RETURNS(bytes) ({						\
	code_fill(0xcc);						\
	CODE_PUT(0, bytes);						\
	hybrid_returns(&code_mem, CODE_BASE);				\
})

static void returns(void)
{
	/* ret; ret $8 */
	check(RETURNS("\xc3"));
	check(RETURNS("\xc2\x08\x00"));
	/* add $328,%rsp; pop %rbx; pop %rbp; pop %r12; ret: CPython 3.10's evaluator */
	check(RETURNS("\x48\x81\xc4\x48\x01\x00\x00\x5b\x5d\x41\x5c\xc3"));
	/* jmp over int3; add $8,%rsp; ret: 3.8's */
	check(RETURNS("\xeb\x01\xcc\x48\x83\xc4\x08\xc3"));
	/* jmp back to ret */
	code_fill(0xcc);
	CODE_PUT(0, "\xc3");
	CODE_PUT(16, "\xe9\xeb\xff\xff\xff");
	check(hybrid_returns(&code_mem, CODE_BASE + 16));
	/* sub %fs:40,%rdx; jne to what does not return; vzeroupper; leave; ret */
	check(RETURNS("\x64\x48\x2b\x14\x25\x28\x00\x00\x00\x75\x10\xc5\xf8\x77\xc9\xc3"));
}

static void goes_on(void)
{
	/* call *%rax; ret */
	check(!RETURNS("\xff\xd0\xc3"));
	/* call; ret */
	check(!RETURNS("\xe8\x00\x00\x00\x00\xc3"));
	/* jmp *%rax; syscall */
	check(!RETURNS("\xff\xe0"));
	check(!RETURNS("\x0f\x05\xc3"));
	/* int3 */
	check(!RETURNS(""));
	/* nop, as many as there are; jmp to itself */
	code_fill(0x90);
	check(!hybrid_returns(&code_mem, CODE_BASE));
	check(!RETURNS("\xeb\xfe"));
	/* Code that can't be read. */
	check(!hybrid_returns(&code_mem, CODE_BASE + CODE_SIZE));
	CODE_PUT(CODE_SIZE - 1, "\x48");
	check(!hybrid_returns(&code_mem, CODE_BASE + CODE_SIZE - 1));
}

/* What hybrid_leaves_stack() returns for these instructions after two nops. */
#define LEAVES(bytes) ({						\
	code_fill(0x90);						\
	CODE_PUT(2, bytes);						\
	hybrid_leaves_stack(&code_mem, CODE_BASE, CODE_BASE + 1 + sizeof(bytes));	\
})

static void leaves(void)
{
	/* mov %rdi,%rsp, both ways; mov 0x38(%rsi),%rsp; lea -8(%r10),%rsp; xchg; pop %rsp */
	check(LEAVES("\x48\x89\xfc"));
	check(LEAVES("\x48\x8b\xe7"));
	check(LEAVES("\x48\x8b\x66\x38"));
	check(LEAVES("\x49\x8d\x62\xf8"));
	check(LEAVES("\x48\x87\xc4"));
	check(LEAVES("\x5c"));
	/* mov %rbp,%rsp; lea -40(%rbp),%rsp; lea 8(%rsp),%rsp; leave; and $-32,%rsp; sub, add */
	check(!LEAVES("\x48\x89\xec"));
	check(!LEAVES("\x48\x8d\x65\xd8"));
	check(!LEAVES("\x48\x8d\x64\x24\x08"));
	check(!LEAVES("\xc9"));
	check(!LEAVES("\x48\x83\xe4\xe0"));
	check(!LEAVES("\x48\x83\xec\x08\x48\x83\xc4\x08\xc3"));
	/* mov %rsp,%rdi */
	check(!LEAVES("\x48\x89\xe7"));
	/* Code that can't be read, and a function that is too long. */
	code_fill(0x90);
	check(hybrid_leaves_stack(&code_mem, CODE_BASE + CODE_SIZE - 2,
				  CODE_BASE + CODE_SIZE + 8));
	check(!hybrid_leaves_stack(&code_mem, CODE_BASE, CODE_BASE + 512));
	check(hybrid_leaves_stack(&code_mem, CODE_BASE, CODE_BASE + 513));
}

static void jumps(void)
{
	u64 next;

	code_fill(0xcc);
	/* jmp; jne; jne, near; vpor, whose opcode is that of jmp */
	CODE_PUT(0, "\xeb\x10\x75\x10\x0f\x85\x00\x01\x00\x00\xc5\xf9\xeb\xc1");
	same(hybrid_insn_jump(&code_mem, CODE_BASE, &next), CODE_BASE + 0x12);
	same(next, CODE_BASE + 2);
	same(hybrid_insn_jump(&code_mem, CODE_BASE + 2, &next), CODE_BASE + 0x14);
	same(hybrid_insn_jump(&code_mem, CODE_BASE + 4, &next), CODE_BASE + 0x10a);
	same(next, CODE_BASE + 10);
	same(hybrid_insn_jump(&code_mem, CODE_BASE + 10, &next), 0);
	same(next, CODE_BASE + 14);
	same(hybrid_insn_jump(&code_mem, CODE_BASE + CODE_SIZE, &next), 0);
	same(next, 0);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "instructions: code that returns",	returns },
		{ "instructions: code that goes on",	goes_on },
		{ "instructions: where they jump",	jumps },
		{ "instructions: another stack",	leaves },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
