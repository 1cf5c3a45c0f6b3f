// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include "insn-trial.h"
#include "tap.h"

/* Words before and behind those of operands, which what is stored may reach. */
#define AROUND		2048

#define STATUS_FLAGS	0x8c5
#define OTHER_FLAGS	0x202

#define PREFIX_16	0x66
#define LEA		0x8d

enum { AX, CX, DX, BX, SP };

void native_enter(struct native *native, const void *code);
extern const char native_leave[];
void *native_at, *native_sp, *native_code, *native_di;

asm(".pushsection .text\n"
    "native_enter:\n"
    "	push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
    "	mov %rsp, native_sp(%rip)\n"
    "	mov %rdi, native_at(%rip)\n"
    "	mov %rsi, native_code(%rip)\n"
    "	push 128(%rdi); popfq\n"
    "	mov 0(%rdi), %rax; mov 8(%rdi), %rcx; mov 16(%rdi), %rdx; mov 24(%rdi), %rbx\n"
    "	mov 32(%rdi), %rsp; mov 40(%rdi), %rbp; mov 48(%rdi), %rsi\n"
    "	mov 64(%rdi), %r8; mov 72(%rdi), %r9; mov 80(%rdi), %r10; mov 88(%rdi), %r11\n"
    "	mov 96(%rdi), %r12; mov 104(%rdi), %r13; mov 112(%rdi), %r14; mov 120(%rdi), %r15\n"
    "	mov 56(%rdi), %rdi\n"
    "	jmp *native_code(%rip)\n"
    "native_leave:\n"
    "	mov %rdi, native_di(%rip)\n"
    "	mov native_at(%rip), %rdi\n"
    "	mov %rax, 0(%rdi); mov %rcx, 8(%rdi); mov %rdx, 16(%rdi); mov %rbx, 24(%rdi)\n"
    "	mov %rsp, 32(%rdi); mov %rbp, 40(%rdi); mov %rsi, 48(%rdi)\n"
    "	mov %r8, 64(%rdi); mov %r9, 72(%rdi); mov %r10, 80(%rdi); mov %r11, 88(%rdi)\n"
    "	mov %r12, 96(%rdi); mov %r13, 104(%rdi); mov %r14, 112(%rdi); mov %r15, 120(%rdi)\n"
    "	mov native_di(%rip), %rax; mov %rax, 56(%rdi)\n"
    "	mov native_sp(%rip), %rsp\n"
    "	pushfq; pop 128(%rdi)\n"
    "	cld\n"
    "	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
    "	ret\n"
    ".popsection\n");
static u64 memory[AROUND + TRIAL_WORDS + AROUND] __attribute__((aligned(64)));
static u8 *page;
static sigjmp_buf fault;

u64 *const trial_words = memory + AROUND;
const u32 trial_flag_bits[TRIAL_NR_FLAGS] = { 0x001, 0x004, 0x040, 0x080, 0x800 };

/* The processor does not have the instruction, or the operand is not aligned. */
static void on_fault(int sig)
{
	siglongjmp(fault, sig);
}

bool trial_prepare(void)
{
	static u8 stack[65536];
	const stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_ONSTACK | SA_NODEFER };

	if (page)
		return true;
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	sigaltstack(&alternate, NULL);
	sigaction(SIGILL, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	return check(page != MAP_FAILED);
}

static bool run_native(const u8 *bytes, unsigned int len, struct native *native)
{
	static const u8 jump[] = { 0xff, 0x25, 0, 0, 0, 0 };
	const char *back = native_leave;

	if (sigsetjmp(fault, 1))
		return false;
	memcpy(page, bytes, len);
	memcpy(page + len, jump, sizeof(jump));
	memcpy(page + len + sizeof(jump), &back, sizeof(back));
	native_enter(native, page);
	return true;
}

static u64 random_value(void)
{
	static const u64 edges[] = {
		0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000ULL,
		0xffffffffULL, 0x100000000ULL, 0x7fffffffffffffffULL, 1ULL << 63, ~0ULL,
	};

	switch (tap_random() % 4) {
	case 0:
		return tap_random();
	case 1:
		return edges[tap_random() % ARRAY_SIZE(edges)];
	case 2:
		return tap_random() % 16;
	default:
		return (unsigned long)(trial_words + TRIAL_WORDS / 2) + tap_random() % 64 * 8;
	}
}

static void put(struct trial *t, u8 byte)
{
	t->bytes[t->len++] = byte;
}

static void make_operand(struct trial *t, u8 regs)
{
	u8 mod = tap_random() % 4, rm = tap_random() % 8, reg, base = rm;
	s32 disp = (s32)(tap_random() % 256) - 128;

	do
		reg = tap_random() % 8;
	while (!(regs >> reg & 1));
	t->operand = t->len;
	put(t, mod << 6 | reg << 3 | rm);
	if (mod != 3 && rm == 4) {
		base = tap_random() % 8;
		put(t, (tap_random() & 0xf8) | base);
	}
	if (mod == 2 || (!mod && base == 5)) {
		memcpy(t->bytes + t->len, &disp, sizeof(disp));
		t->len += sizeof(disp);
	} else if (mod == 1) {
		put(t, disp);
	}
	t->rest = t->len;
}

/* The prefix of VEX: the short form if it can be. */
static void make_vex(struct trial *t, const struct trial_op *op)
{
	u8 bits = tap_random();

	bits = (bits & 0xfc) | (op->prefix == 0x66 ? 1 : op->prefix == 0xf3 ? 2 :
				op->prefix == 0xf2 ? 3 : 0);
	if (op->vex == 1 && tap_random() & 1) {
		put(t, 0xc5);
	} else {
		put(t, 0xc4);
		put(t, (tap_random() & 0xe0) | op->vex);
	}
	put(t, bits);
}

/* Once, or more often than struct insn has room for prefixes. */
static void put_prefix(struct trial *t, u8 prefix)
{
	unsigned int i, nr = tap_random() % 8 ? 1 : 6;

	for (i = 0; i < nr; i++)
		put(t, prefix);
}

static void make_prefixes(struct trial *t, const struct trial_op *op, bool is_general)
{
	if (op->vex) {
		make_vex(t, op);
		return;
	}
	if (op->prefix)
		put_prefix(t, op->prefix);
	else if (is_general && !(tap_random() % 8))
		put_prefix(t, PREFIX_16);
	if (tap_random() % 4)
		put(t, 0x40 | tap_random() % 16);
	if (op->two || op->map)
		put(t, 0x0f);
	if (op->map)
		put(t, op->map);
}

static void make_bytes(struct trial *t, const struct trial_op *op, bool is_general)
{
	unsigned int imm = op->imm < 0 ? 4 : op->imm, i;

	t->len = 0;
	make_prefixes(t, op, is_general);
	if (op->imm < 0 && t->bytes[0] == PREFIX_16)
		imm = 2;
	for (i = 0; op->imm < 0 && i < t->len; i++) {
		if ((t->bytes[i] & 0xf8) == 0x48)
			imm = -op->imm;
	}
	put(t, op->op);
	t->rest = 0;
	if (op->modrm)
		make_operand(t, op->modrm);
	for (i = 0; i < imm; i++)
		put(t, tap_random() % 3 ? tap_random() : tap_random() % 2 * 255);
}

static bool has_memory(const struct trial *t)
{
	return t->rest && X86_MODRM_MOD(t->bytes[t->operand]) != 3;
}

/* The bits that extend the operand's base and index, as REX has them. */
static u8 operand_bits(const struct trial *t)
{
	if (t->bytes[0] == 0xc4)
		return ~t->bytes[1] >> 5 & 3;
	return t->bytes[0] == 0xc5 ? 0 : t->insn.rex_prefix.value & 3;
}

/*
 * Has the processor compute the address of the operand, by lea. Returns false if it is not in the
 * trial_words, or so near its end that a part might not be.
 */
static bool find_address(struct trial *t)
{
	u8 bytes[16] = { 0x48 | operand_bits(t), LEA, t->bytes[t->operand] & 0xc7 };
	unsigned int len = t->rest - t->operand - 1;
	struct native native = t->begin;
	u64 offset;

	if (!X86_MODRM_MOD(bytes[2]) && X86_MODRM_RM(bytes[2]) == 5)
		return false;
	memcpy(bytes + 3, t->bytes + t->operand + 1, len);
	if (!run_native(bytes, len + 3, &native))
		return false;
	t->at = native.regs[AX];
	offset = t->at - (unsigned long)trial_words;
	return offset >= 64 && offset < TRIAL_WORDS * 8 - 64;
}

/* What the operand's address is made of is known. */
static void know_address(struct trial *t)
{
	u8 rm = X86_MODRM_RM(t->bytes[t->operand]), sib = t->bytes[t->operand + 1];
	u8 bits = operand_bits(t);

	if (rm == 4) {
		rm = X86_SIB_BASE(sib);
		t->known |= 1U << (X86_SIB_INDEX(sib) | (bits & 2) << 2);
	}
	t->known |= 1U << (rm | (bits & 1) << 3);
}

static void random_state(struct trial *t)
{
	unsigned int i;

	for (i = 0; i < TRIAL_REGS; i++)
		t->begin.regs[i] = random_value();
	t->begin.regs[SP] = (unsigned long)(trial_words + TRIAL_WORDS / 4 +
					    tap_random() % (TRIAL_WORDS / 2));
	t->begin.flags = (tap_random() & STATUS_FLAGS) | OTHER_FLAGS;
	t->known = (tap_random() & 1 ? TRIAL_ALL : tap_random() & TRIAL_ALL) | 1U << SP;
	t->flags_known = tap_random() & 1 ? TRIAL_FLAGS : tap_random() & TRIAL_FLAGS;
	t->at = 0;
	for (i = 0; i < TRIAL_WORDS; i++)
		trial_words[i] = random_value();
}

bool trial_make(struct trial *t, const struct trial_op *op, bool is_general)
{
	random_state(t);
	make_bytes(t, op, is_general);
	if (insn_decode(&t->insn, t->bytes, sizeof(t->bytes), INSN_MODE_64) ||
	    (unsigned int)t->insn.length != t->len || (has_memory(t) && !find_address(t)))
		return false;
	if (has_memory(t))
		know_address(t);
	return true;
}

bool trial_run(const struct trial *t, struct native *native)
{
	*native = t->begin;
	return run_native(t->bytes, t->len, native);
}
