// SPDX-License-Identifier: GPL-2.0
/*
 * How code goes on after each instruction, and what it does to memory, against naive models.
 */
#include <string.h>
#include <asm/insn.h>
#include "run-alu.h"
#include "run-insn.h"
#include "run-operand.h"
#include "tap.h"

#define WORDS	32
#define STACK	0x7ffc00000000ULL
#define IP	0x1000
#define ALL	((1U << HYBRID_RUN_REGS) - 1)

/* As run-state.c takes what is below the stack for a part of it. */
#define BELOW	0x100000

enum { AX, CX, DX, BX, SP };

static u64 words[WORDS];
static struct hybrid_run_state state;
static struct insn insn;

static int read_word(void *arg, u64 addr, u64 *value)
{
	u64 offset = addr - STACK;

	(void)arg;
	if (offset > sizeof(words) - 8)
		return -1;
	memcpy(value, (u8 *)words + offset, 8);
	return 0;
}

static const struct hybrid_run_stack stack = {
	.read = read_word, .start = STACK, .end = STACK + sizeof(words),
};

/* All registers are in the stack; those of @known are known. */
static void begin(u32 known, u8 flags_known)
{
	unsigned int i;

	memset(&state, 0, sizeof(state));
	state.stack = &stack;
	state.ip = IP;
	state.flags_known = flags_known;
	for (i = 0; i < HYBRID_RUN_REGS; i++) {
		state.regs[i].value = STACK + 8 * i;
		state.regs[i].known = known >> i & 1;
	}
	state.regs[CX].value = 2;
}

static enum hybrid_run_step run_bytes(const char *bytes, unsigned int len, u64 *target)
{
	u8 code[32] = {};

	memcpy(code, bytes, len);
	*target = 0;
	if (!check(!insn_decode(&insn, code, sizeof(code), INSN_MODE_64)))
		return -1;
	return hybrid_run_insn(&state, &insn, target);
}

#define RUN(bytes) ({ u64 target_; run_bytes(bytes, sizeof(bytes) - 1, &target_); })

/* The opcodes of which it is known how they go on. Others end the way. */
struct range {
	u8			first;
	u8			last;
	enum hybrid_run_step	step;
};

#define ONE(op, step)	{ op, op, step }
#define NEXT(a, b)	{ a, b, HYBRID_RUN_NEXT }

static const struct range one_byte[] = {
	NEXT(0x00, 0x05), NEXT(0x08, 0x0d), NEXT(0x10, 0x15), NEXT(0x18, 0x1d),
	NEXT(0x20, 0x25), NEXT(0x28, 0x2d), NEXT(0x30, 0x35), NEXT(0x38, 0x3d),
	NEXT(0x50, 0x5f), NEXT(0x63, 0x63), NEXT(0x68, 0x6b),
	{ 0x70, 0x7f, HYBRID_RUN_BRANCH }, NEXT(0x80, 0x81), NEXT(0x83, 0x8b),
	NEXT(0x8d, 0x8d), NEXT(0x90, 0x99), NEXT(0xa8, 0xa9), NEXT(0xb0, 0xc1),
	{ 0xc2, 0xc3, HYBRID_RUN_RETURN }, NEXT(0xc6, 0xc7), NEXT(0xc9, 0xc9),
	NEXT(0xd0, 0xd3), ONE(0xe8, HYBRID_RUN_CALL), ONE(0xe9, HYBRID_RUN_JUMP),
	ONE(0xeb, HYBRID_RUN_JUMP), NEXT(0xf6, 0xf7),
};

static const struct range two_bytes[] = {
	NEXT(0x0d, 0x0d), NEXT(0x10, 0x1f), NEXT(0x28, 0x2f), NEXT(0x40, 0x4f), NEXT(0x50, 0x79),
	NEXT(0x7c, 0x7f), { 0x80, 0x8f, HYBRID_RUN_BRANCH }, NEXT(0x90, 0x9f),
	NEXT(0xa3, 0xa3), NEXT(0xaf, 0xb1), NEXT(0xb6, 0xb7), NEXT(0xba, 0xba), NEXT(0xbc, 0xc6),
	NEXT(0xd0, 0xf6), NEXT(0xf8, 0xfe),
};

static enum hybrid_run_step find_step(const struct range *ranges, unsigned int nr, u8 op)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (op >= ranges[i].first && op <= ranges[i].last)
			return ranges[i].step;
	}
	return HYBRID_RUN_DEAD;
}

static enum hybrid_run_step step_of_group5(u8 op, u8 modrm)
{
	unsigned int which = X86_MODRM_REG(modrm);

	if (which < 2)
		return HYBRID_RUN_NEXT;
	if (op == 0xfe)
		return HYBRID_RUN_DEAD;
	switch (which) {
	case 2:
		return HYBRID_RUN_CALL;
	case 4:
		/* By a table: the index is in SIB. */
		return X86_MODRM_MOD(modrm) != 3 && X86_MODRM_RM(modrm) == 4 ? HYBRID_RUN_DEAD :
									     HYBRID_RUN_LEAVE;
	case 6:
		return HYBRID_RUN_NEXT;
	default:
		return HYBRID_RUN_DEAD;
	}
}

/* fxsave, xsave, xsaveopt store more than is noted. */
static enum hybrid_run_step step_of_group15(u8 modrm)
{
	unsigned int which = X86_MODRM_REG(modrm);

	return X86_MODRM_MOD(modrm) != 3 && (!which || which == 4 || which == 6) ?
		HYBRID_RUN_DEAD : HYBRID_RUN_NEXT;
}

static void all_opcodes(void)
{
	enum hybrid_run_step want;
	unsigned int i, two;
	u8 code[32] = {};
	u64 target;

	for (i = 0; i < 2 * 65536; i++) {
		two = i >> 16;
		code[0] = 0x0f;
		code[two] = i >> 8;
		code[two + 1] = i;
		memset(code + two + 2, 0, 8);
		if (insn_decode(&insn, code, sizeof(code), INSN_MODE_64) ||
		    insn.opcode.bytes[two] != code[two] || insn.prefixes.nbytes ||
		    insn.rex_prefix.nbytes || insn.vex_prefix.nbytes ||
		    (!two && code[0] == 0x0f) || (two && insn.opcode.nbytes != 2))
			continue;
		want = two ? find_step(two_bytes, ARRAY_SIZE(two_bytes), code[1]) :
			     find_step(one_byte, ARRAY_SIZE(one_byte), code[0]);
		if (!two && code[0] >= 0xfe)
			want = step_of_group5(code[0], code[1]);
		if (two && code[1] == 0xae)
			want = step_of_group15(code[2]);
		begin(ALL, 0);
		if (!same(hybrid_run_insn(&state, &insn, &target), want))
			printf("# %02x %02x %02x\n", code[0], code[1], code[2]);
	}
}

static void targets(void)
{
	u64 target;

	begin(ALL, HYBRID_RUN_FLAGS);
	state.flags = HYBRID_RUN_ZF;
	same(run_bytes("\x74\x10", 2, &target), HYBRID_RUN_JUMP);
	same(target, IP + 0x12);
	begin(ALL, HYBRID_RUN_FLAGS);
	same(run_bytes("\x74\x10", 2, &target), HYBRID_RUN_NEXT);
	begin(ALL, 0);
	same(run_bytes("\x0f\x84\xf0\xff\xff\xff", 6, &target), HYBRID_RUN_BRANCH);
	same(target, IP - 10);
	same(run_bytes("\xe9\x00\x01\x00\x00", 5, &target), HYBRID_RUN_JUMP);
	same(target, IP + 6 + 5 + 0x100);
	same(RUN("\xc5\xf8\x77"), HYBRID_RUN_NEXT);
	/* The displacement of EVEX is not read. */
	same(RUN("\x62\xf1\x7c\x48\x11\x04\x24"), HYBRID_RUN_DEAD);
	same(RUN("\x62\xf1\x7c\x48\x11\xc1"), HYBRID_RUN_NEXT);
}

/* How each condition is made of flags: Intel SDM, volume 1, appendix B.1. */
static int condition(u8 flags, u8 known, u8 op, u8 *needs)
{
	bool cf = flags & 1, pf = flags & 2, zf = flags & 4, sf = flags & 8, of = flags & 16;
	static const u8 need[] = { 16, 1, 4, 5, 8, 2, 24, 28 };
	const bool holds[] = { of, cf, zf, cf || zf, sf, pf, sf != of, zf || sf != of };

	*needs = need[op / 2];
	if (*needs & ~known)
		return -1;
	return op & 1 ? !holds[op / 2] : holds[op / 2];
}

static void conditions(void)
{
	unsigned int flags, known, op;
	u8 needs;

	begin(0, 0);
	for (flags = 0; flags < 32; flags++) {
		for (known = 0; known < 32; known++) {
			for (op = 0; op < 16; op++) {
				state.flags = flags;
				state.flags_known = known;
				same(hybrid_run_condition(&state, 0x70 + op),
				     condition(flags, known, op, &needs));
			}
		}
	}
}

/* A store ends the way if it may be to the stack, at an address that is not known. */
static void unknown_stores(void)
{
	static const char *const stores[] = {
		"\x88", "\x89", "\x00", "\x01", "\x86", "\x87", "\xd1", "\xd3", "\x0f\x90",
		"\x0f\xb0", "\x0f\xb1", "\x0f\xc0", "\x0f\xc1", "\x0f\x11", "\x0f\x7e", "\x0f\xe7",
	};
	/* With ModRM.reg in front. */
	static const char *const groups[] = {
		"\x00\x80", "\x05\x81", "\x06\x83", "\x00\xc6", "\x00\xc7", "\x02\xf6", "\x03\xf7",
		"\x00\xfe", "\x01\xff", "\x05\x0f\xba", "\x03\x0f\xae",
	};
	unsigned int i, len, reg, which, nr = ARRAY_SIZE(stores) + ARRAY_SIZE(groups);
	/* (%rsp,%rcx); (%rcx,%rbx); (%rbx,%rcx); (%rcx); (%rcx,%rdx) */
	static const char *const operands[] = { "\x04\x0c", "\x04\x19", "\x04\x0b", "\x01",
						"\x04\x11" };
	const u32 known = ALL & ~(1U << CX);
	char code[16];
	u64 target;

	for (i = 0; i < nr * ARRAY_SIZE(operands); i++) {
		const char *what = operands[i / nr];
		bool is_group = i % nr >= ARRAY_SIZE(stores);
		const char *op = is_group ? groups[i % nr - ARRAY_SIZE(stores)] : stores[i % nr];

		reg = is_group ? *op++ : 0;
		memset(code, 0, sizeof(code));
		len = op[0] == 0x0f ? 2 : 1;
		memcpy(code, op, len);
		which = i / nr;
		code[len] = what[0] | reg << 3;
		code[len + 1] = what[0] == 4 ? what[1] : 0;
		begin(known, 0);
		state.regs[DX].value = 5;
		if (!same(run_bytes(code, sizeof(code), &target),
			  which < 3 ? HYBRID_RUN_DEAD : HYBRID_RUN_NEXT))
			printf("# %02x %02x, operand %u\n", (u8)op[0], (u8)op[1], which);
		same(state.nr_written, 0);
	}
	/* sp is not known. */
	for (i = 0; i < 4; i++) {
		static const char *const pushes[] = { "\x50", "\x68", "\x6a", "\xff\xf0" };

		begin(ALL & ~(1U << SP), 0);
		same(run_bytes(pushes[i], 2, &target), HYBRID_RUN_DEAD);
	}
}

/* Addresses that are none of the stack's. */
static void addresses(void)
{
	bool near_stack;

	begin(ALL, 0);
	/* mov %rax,(%rsp): by fs, by gs; with 32 bits; relative to the instruction */
	same(RUN("\x64\x48\x89\x04\x24"), HYBRID_RUN_NEXT);
	same(RUN("\x65\x48\x89\x04\x24"), HYBRID_RUN_NEXT);
	same(RUN("\x48\x89\x05\x10\x00\x00\x00"), HYBRID_RUN_NEXT);
	same(state.nr_written, 0);
	same(RUN("\x67\x48\x89\x04\x24"), HYBRID_RUN_DEAD);
	same(RUN("\x2e\x48\x89\x04\x24"), HYBRID_RUN_NEXT);
	same(state.nr_written, 1);
	/* vmovups %ymm0,(%r12,%r13), and with the prefix of 2 bytes: (%rsp,%rbx) */
	begin(1 << 12 | 1 << 13, 0);
	state.regs[13].value = 8;
	RUN("\xc4\x81\x7c\x11\x04\x2c");
	check(hybrid_run_address(&state, &insn, &near_stack).known);
	same(hybrid_run_address(&state, &insn, &near_stack).value, STACK + 12 * 8 + 8);
	check(!near_stack);
	begin(1 << SP | 1 << BX, 0);
	state.regs[BX].value = 16;
	RUN("\xc5\xfc\x11\x04\x1c");
	check(hybrid_run_address(&state, &insn, &near_stack).known);
	same(hybrid_run_address(&state, &insn, &near_stack).value, STACK + SP * 8 + 16);
	/* The form of 3 bytes that extends nothing. */
	RUN("\xc4\xe1\x7c\x11\x04\x1c");
	same(hybrid_run_address(&state, &insn, &near_stack).value, STACK + SP * 8 + 16);
}

static void stack_bounds(void)
{
	begin(0, 0);
	check(!hybrid_run_is_stack(&state, STACK - BELOW - 1));
	check(hybrid_run_is_stack(&state, STACK - BELOW));
	check(hybrid_run_is_stack(&state, STACK));
	check(hybrid_run_is_stack(&state, STACK + sizeof(words) - 1));
	check(!hybrid_run_is_stack(&state, STACK + sizeof(words)));
}

/* The same stores by a model that has known words. */
static void memory(void)
{
	static const unsigned int sizes[] = { 1, 2, 4, 8, 8, 8, 10, 16, 32, 64 };
	struct hybrid_run_value model[WORDS], got;
	u64 at, value, want;
	unsigned int i, round, size;
	bool known;

	for (i = 0; i < WORDS; i++)
		words[i] = tap_random();
	for (round = 0; round < 3000; round++) {
		if (!(round % 100)) {
			begin(0, 0);
			for (i = 0; i < WORDS; i++)
				model[i] = (struct hybrid_run_value) { words[i], true };
		}
		size = sizes[tap_random() % ARRAY_SIZE(sizes)];
		at = tap_random() % (WORDS * 8 - size + 1);
		if (tap_random() & 1)
			at &= ~7ULL;
		value = tap_random();
		known = tap_random() & 1;
		check(hybrid_run_store(&state, STACK + at, size,
				       (struct hybrid_run_value) { value, known }));
		for (i = at / 8; i <= (at + size - 1) / 8; i++)
			model[i].known = false;
		if (size == 8 && !(at % 8))
			model[at / 8] = (struct hybrid_run_value) { value, known };
		size = 1 << tap_random() % 4;
		at = tap_random() % (WORDS * 8 - size + 1);
		got = hybrid_run_load(&state, STACK + at, size);
		known = at / 8 == (at + size - 1) / 8 && model[at / 8].known;
		same(got.known, known);
		want = model[at / 8].value >> at % 8 * 8 & hybrid_run_mask(size);
		check(!known || got.value == want);
	}
}

static void store_bounds(void)
{
	const struct hybrid_run_value value = { 1, true };
	unsigned int i;

	begin(0, 0);
	check(hybrid_run_store(&state, STACK, 64, value));
	same(state.nr_written, 8);
	check(!hybrid_run_store(&state, STACK, 65, value));
	/* What is no stack is not noted. */
	check(hybrid_run_store(&state, STACK + sizeof(words), 8, value));
	same(state.nr_written, 8);
	begin(0, 0);
	for (i = 0; i < HYBRID_RUN_WORDS; i++)
		check(hybrid_run_store(&state, STACK - 8 * i, 8, value));
	check(!hybrid_run_store(&state, STACK - 8 * i, 8, value));
	check(!hybrid_run_store(&state, STACK - 8 * i, 1, value));
	check(hybrid_run_store(&state, STACK - 8, 8, value));
	check(!hybrid_run_load(&state, STACK, 0).known);
	check(!hybrid_run_load(&state, STACK, 9).known);
	check(hybrid_run_load(&state, STACK, 8).known);
	check(!hybrid_run_load(&state, STACK + 1, 8).known);
	check(hybrid_run_load(&state, STACK + 7, 1).known);
	check(!hybrid_run_load(&state, STACK + 7, 2).known);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "run: all opcodes",				all_opcodes },
		{ "run: where they lead",			targets },
		{ "run: conditions",				conditions },
		{ "run: stores at unknown addresses",		unknown_stores },
		{ "run: addresses",				addresses },
		{ "run: the ends of the stack",			stack_bounds },
		{ "run: memory against a model",		memory },
		{ "run: bounds of what is written",		store_bounds },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
