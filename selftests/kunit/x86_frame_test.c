// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the x86 frame analysis: which bytes give which frame?
 */
#include <kunit/test.h>
#include <linux/unwind_user.h>

#include "x86_frame.h"

/* Where the code of a test begins: in the middle of a page. */
#define CODE_ADDR	0x400800UL

/* The code of a test at @addr, with zeroes around it. Only @from to @to can be read. */
struct code {
	const u8	*bytes;
	unsigned int	len;
	unsigned long	addr;
	unsigned long	from;
	unsigned long	to;
};

static int read_code(void *ctx, unsigned long addr, void *dst, unsigned int len)
{
	const struct code *code = ctx;
	u8 *to = dst;
	unsigned int i;

	if (addr < code->from || addr + len > code->to)
		return -EFAULT;
	for (i = 0; i < len; i++, addr++) {
		to[i] = 0;
		if (addr >= code->addr && addr < code->addr + code->len)
			to[i] = code->bytes[addr - code->addr];
	}
	return 0;
}

static struct code code_at(const u8 *bytes, unsigned int len, unsigned long addr)
{
	return (struct code) {
		.bytes	= bytes,
		.len	= len,
		.addr	= addr,
		.from	= (addr & PAGE_MASK) - PAGE_SIZE,
		.to	= (addr & PAGE_MASK) + 2 * PAGE_SIZE,
	};
}

/* What the walk steps by at @offset: what the bytes show, or else by the frame pointer. */
static struct unwind_user_frame frame_of(struct code *code, unsigned int offset, int ws)
{
	const struct x86_frame_mem mem = {
		.read		= read_code,
		.ctx		= code,
		.is_64bit	= ws == 8,
	};
	const struct unwind_user_frame fp_frame = { ARCH_INIT_USER_FP_FRAME(ws) };
	struct x86_frame_rule rule;

	if (x86_frame_look(&mem, code->addr + offset, &rule) == X86_FRAME_UNKNOWN)
		return fp_frame;
	return (struct unwind_user_frame) {
		.cfa_off	= rule.cfa_off,
		.ra_off		= rule.ra_off,
		.fp_off		= rule.fp_off,
		.use_fp		= rule.use_fp,
	};
}

/* The frames of a function that sets one up, by how much of that it has done. */
enum state {
	ENTERED,	/* nothing: the return address is on top of the stack */
	PUSHED,		/* bp is on top of it */
	STANDS,		/* bp points to the saved one */
};

static void expect_state(struct kunit *test, struct code *code, unsigned int offset, int ws,
			 enum state state)
{
	struct unwind_user_frame frame = frame_of(code, offset, ws);

	KUNIT_EXPECT_EQ_MSG(test, frame.cfa_off, state == ENTERED ? ws : 2 * ws, "at %u", offset);
	KUNIT_EXPECT_EQ_MSG(test, frame.ra_off, -ws, "at %u", offset);
	KUNIT_EXPECT_EQ_MSG(test, frame.fp_off, state == ENTERED ? 0 : -2 * ws, "at %u", offset);
	KUNIT_EXPECT_EQ_MSG(test, frame.use_fp, state == STANDS, "at %u", offset);
}

static void test_states_64(struct kunit *test)
{
	static const u8 bytes[] = {
		0xf3, 0x0f, 0x1e, 0xfa,			/* 0: endbr64 */
		0x55,					/* 4: push %rbp */
		0x48, 0x89, 0xe5,			/* 5: mov %rsp,%rbp */
		0x48, 0x83, 0xec, 0x20,			/* 8: sub $32,%rsp */
		0x90,					/* 12: nop */
		0xc9,					/* 13: leave */
		0xc3,					/* 14: ret */
		0x55,					/* 15: push %rbp */
		0x48, 0x8b, 0xec,			/* 16: mov %rsp,%rbp */
		0x53,					/* 19: push %rbx */
		0x5b,					/* 20: pop %rbx */
		0x5d,					/* 21: pop %rbp */
		0xc2, 0x08, 0x00,			/* 22: ret $8 */
	};
	struct code code = code_at(bytes, sizeof(bytes), CODE_ADDR);

	expect_state(test, &code, 0, 8, ENTERED);
	expect_state(test, &code, 4, 8, ENTERED);
	expect_state(test, &code, 5, 8, PUSHED);
	expect_state(test, &code, 8, 8, STANDS);
	expect_state(test, &code, 12, 8, STANDS);
	expect_state(test, &code, 13, 8, STANDS);
	expect_state(test, &code, 14, 8, ENTERED);
	expect_state(test, &code, 15, 8, ENTERED);
	expect_state(test, &code, 16, 8, PUSHED);
	expect_state(test, &code, 19, 8, STANDS);
	expect_state(test, &code, 20, 8, STANDS);
	expect_state(test, &code, 21, 8, PUSHED);
	expect_state(test, &code, 22, 8, ENTERED);
}

static void test_states_32(struct kunit *test)
{
	static const u8 bytes[] = {
		0xf3, 0x0f, 0x1e, 0xfb,			/* 0: endbr32 */
		0x55,					/* 4: push %ebp */
		0x89, 0xe5,				/* 5: mov %esp,%ebp */
		0x90,					/* 7: nop */
		0xc9,					/* 8: leave */
		0xf3, 0xc3,				/* 9: repz ret */
		0x55,					/* 11: push %ebp */
		0x8b, 0xec,				/* 12: mov %esp,%ebp */
		0x5d,					/* 14: pop %ebp */
		0xc3,					/* 15: ret */
	};
	struct code code = code_at(bytes, sizeof(bytes), CODE_ADDR);

	expect_state(test, &code, 0, 4, ENTERED);
	expect_state(test, &code, 4, 4, ENTERED);
	expect_state(test, &code, 5, 4, PUSHED);
	expect_state(test, &code, 7, 4, STANDS);
	expect_state(test, &code, 8, 4, STANDS);
	expect_state(test, &code, 9, 4, ENTERED);
	expect_state(test, &code, 11, 4, ENTERED);
	expect_state(test, &code, 12, 4, PUSHED);
	expect_state(test, &code, 14, 4, PUSHED);
	expect_state(test, &code, 15, 4, ENTERED);
}

/* These give no frame of their own, so a walk follows the frame pointer. */
static void test_lookalikes(struct kunit *test)
{
	static const u8 bytes[] = {
		0x41, 0x55,				/* 0: push %r13 */
		0x48, 0x89, 0xe5,			/* 2: mov %rsp,%rbp */
		0x53,					/* 5: push %rbx */
		0x55,					/* 6: push %rbp */
		0x48, 0x89, 0xe5,			/* 7: mov %rsp,%rbp */
		0x55,					/* 10: push %rbp */
		0x48, 0x89, 0xfd,			/* 11: mov %rdi,%rbp */
		0x5d,					/* 14: pop %rbp */
		0xff, 0xe0,				/* 15: jmp *%rax */
		0xf3, 0x0f, 0x1e, 0xfa,			/* 17: endbr64 */
		0x31, 0xc0,				/* 21: xor %eax,%eax */
		0xc2,					/* 23: no ret in what can be read */
	};
	struct code code = code_at(bytes, sizeof(bytes), CODE_ADDR);

	expect_state(test, &code, 2, 8, STANDS);
	expect_state(test, &code, 6, 8, STANDS);
	expect_state(test, &code, 10, 8, STANDS);
	expect_state(test, &code, 14, 8, STANDS);
	expect_state(test, &code, 17, 8, STANDS);
	code = code_at(bytes, sizeof(bytes), (CODE_ADDR & PAGE_MASK) + PAGE_SIZE - sizeof(bytes));
	code.to = code.addr + code.len;
	expect_state(test, &code, 23, 8, STANDS);
}

/* The pages before and after the code need not be there. */
static void test_page_ends(struct kunit *test)
{
	static const u8 bytes[] = {
		0x55,					/* 0: push %rbp */
		0x48, 0x89, 0xe5,			/* 1: mov %rsp,%rbp */
		0x5d,					/* 4: pop %rbp */
		0xc3,					/* 5: ret */
	};
	struct code code = code_at(bytes, sizeof(bytes), CODE_ADDR & PAGE_MASK);

	code.from = code.addr;
	/* What is before the first byte of a page decides whether it begins a prologue. */
	expect_state(test, &code, 0, 8, STANDS);
	expect_state(test, &code, 4, 8, PUSHED);
	expect_state(test, &code, 5, 8, ENTERED);
	code = code_at(bytes, sizeof(bytes), (CODE_ADDR & PAGE_MASK) + PAGE_SIZE - sizeof(bytes));
	code.to = code.addr + code.len;
	expect_state(test, &code, 0, 8, ENTERED);
	expect_state(test, &code, 1, 8, PUSHED);
	expect_state(test, &code, 4, 8, PUSHED);
	expect_state(test, &code, 5, 8, ENTERED);
	/* No byte of it can be read. */
	code.to = code.addr;
	code.from = code.addr;
	expect_state(test, &code, 5, 8, STANDS);
}

static bool call_before(struct code *code, unsigned int offset)
{
	const struct x86_frame_mem mem = {
		.read		= read_code,
		.ctx		= code,
		.is_64bit	= true,
	};

	return x86_frame_call_before(&mem, code->addr + offset);
}

static void test_calls(struct kunit *test)
{
	static const u8 bytes[] = {
		0xe8, 0x00, 0x00, 0x00, 0x00,		/* 0: call */
		0xff, 0xd0,				/* 5: call *%rax */
		0x41, 0xff, 0x54, 0x24, 0x08,		/* 7: call *8(%r12) */
		0xff, 0x14, 0xc5, 0, 0, 0, 0,		/* 12: call *0(,%rax,8) */
		0xff, 0x15, 0x00, 0x00, 0x00, 0x00,	/* 19: call *0(%rip) */
		0xff, 0xe0,				/* 25: jmp *%rax */
		0xe9, 0x00, 0x00, 0x00, 0x00,		/* 27: jmp */
		0x90,					/* 32: nop */
	};
	struct code code = code_at(bytes, sizeof(bytes), CODE_ADDR);

	KUNIT_EXPECT_FALSE(test, call_before(&code, 0));
	KUNIT_EXPECT_TRUE(test, call_before(&code, 5));
	KUNIT_EXPECT_TRUE(test, call_before(&code, 7));
	KUNIT_EXPECT_TRUE(test, call_before(&code, 12));
	KUNIT_EXPECT_TRUE(test, call_before(&code, 19));
	KUNIT_EXPECT_TRUE(test, call_before(&code, 25));
	KUNIT_EXPECT_FALSE(test, call_before(&code, 27));
	KUNIT_EXPECT_FALSE(test, call_before(&code, 32));
	KUNIT_EXPECT_FALSE(test, call_before(&code, 33));
	/* Only the last two bytes can be read. */
	code = code_at(bytes + 5, 2, (CODE_ADDR & PAGE_MASK));
	code.from = code.addr;
	KUNIT_EXPECT_TRUE(test, call_before(&code, 2));
	KUNIT_EXPECT_FALSE(test, call_before(&code, 1));
	KUNIT_EXPECT_FALSE(test, call_before(&code, 0));
}

static void expect_trampoline(struct kunit *test, const u8 *bytes, unsigned int len, bool is_64bit,
			      enum x86_frame_sigreturn kind)
{
	struct code code = code_at(bytes, len, CODE_ADDR);
	const struct x86_frame_mem mem = {
		.read		= read_code,
		.ctx		= &code,
		.is_64bit	= is_64bit,
	};

	KUNIT_EXPECT_EQ(test, x86_frame_sigreturn(&mem, code.addr), kind);
	KUNIT_EXPECT_EQ(test, x86_frame_in_sigreturn(&mem, code.addr), kind);
	KUNIT_EXPECT_EQ(test, x86_frame_sigreturn(&mem, code.addr + 1), X86_SIGRETURN_NONE);
	/* After the system call, when the kernel has not returned yet. */
	KUNIT_EXPECT_EQ(test, x86_frame_in_sigreturn(&mem, code.addr + len),
			is_64bit ? kind : X86_SIGRETURN_NONE);
	/* In other pages than the code before it */
	code = code_at(bytes, len, CODE_ADDR & PAGE_MASK);
	code.from = code.addr;
	KUNIT_EXPECT_EQ(test, x86_frame_in_sigreturn(&mem, code.addr), kind);
	code.to = code.addr + len - 1;
	KUNIT_EXPECT_EQ(test, x86_frame_sigreturn(&mem, code.addr), X86_SIGRETURN_NONE);
}

static void test_trampolines(struct kunit *test)
{
	/* mov $15,%rax; syscall */
	static const u8 rax[] = { 0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05 };
	/* mov $15,%eax; syscall */
	static const u8 eax[] = { 0xb8, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05 };
	/* mov $16,%eax; syscall */
	static const u8 ioctl[] = { 0xb8, 0x10, 0x00, 0x00, 0x00, 0x0f, 0x05 };
	/* pop %eax; mov $119,%eax; int $0x80 */
	static const u8 old[] = { 0x58, 0xb8, 0x77, 0x00, 0x00, 0x00, 0xcd, 0x80 };
	/* mov $173,%eax; int $0x80 */
	static const u8 rt[] = { 0xb8, 0xad, 0x00, 0x00, 0x00, 0xcd, 0x80 };

	expect_trampoline(test, rax, sizeof(rax), true, X86_SIGRETURN_64);
	expect_trampoline(test, eax, sizeof(eax), true, X86_SIGRETURN_64);
	expect_trampoline(test, ioctl, sizeof(ioctl), true, X86_SIGRETURN_NONE);
	expect_trampoline(test, rax, sizeof(rax), false, X86_SIGRETURN_NONE);
	expect_trampoline(test, old, sizeof(old), false, X86_SIGRETURN_32);
	expect_trampoline(test, rt, sizeof(rt), false, X86_SIGRETURN_RT_32);
	expect_trampoline(test, rt, sizeof(rt), true, X86_SIGRETURN_NONE);
}

static struct kunit_case x86_frame_cases[] = {
	KUNIT_CASE(test_states_64),
	KUNIT_CASE(test_states_32),
	KUNIT_CASE(test_lookalikes),
	KUNIT_CASE(test_page_ends),
	KUNIT_CASE(test_calls),
	KUNIT_CASE(test_trampolines),
	{}
};

static struct kunit_suite x86_frame_suite = {
	.name		= "x86_frame",
	.test_cases	= x86_frame_cases,
};

kunit_test_suite(x86_frame_suite);
