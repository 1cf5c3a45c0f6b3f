// SPDX-License-Identifier: GPL-2.0
/*
 * DWARF expressions: each operation on known operands, and what must be refused.
 */
#include <dwarf.h>
#include <string.h>
#include "expr.h"
#include "tap.h"

#define MEMORY	0x1000

struct run {
	struct hybrid_regs		regs;
	struct hybrid_expr_ctx		ctx;
	u8				memory[16];
	u64				result;
};

static int read_memory(void *arg, u64 addr, unsigned int size, u64 *value)
{
	const struct run *r = arg;

	if (addr < MEMORY || addr - MEMORY > sizeof(r->memory) - size)
		return -1;
	*value = 0;
	memcpy(value, r->memory + (addr - MEMORY), size);
	return 0;
}

static void run_init(struct run *r, u8 word)
{
	unsigned int i;

	memset(r, 0, sizeof(*r));
	r->ctx = (struct hybrid_expr_ctx) {
		.regs = &r->regs, .cfa = 0x7000, .word = word,
		.read = read_memory, .arg = r,
	};
	for (i = 0; i < sizeof(r->memory); i++)
		r->memory[i] = 0x80 + i;
	r->regs.value[3] = MEMORY + 4;
	r->regs.value[16] = 0x1234;
	r->regs.known = 1U << 3 | 1U << 16;
	r->result = 0xdead;
}

static int eval_word(struct run *r, u8 word, const Dwarf_Op *ops, size_t nr)
{
	run_init(r, word);
	return hybrid_expr_eval(ops, nr, &r->ctx, &r->result);
}

#define OP(atom_, ...)	{ .atom = DW_OP_##atom_, ##__VA_ARGS__ }
#define N(n)		.number = (Dwarf_Word)(n)
#define N2(n)		.number2 = (Dwarf_Word)(n)
#define AT(n)		.offset = (n)

#define gives_word(word, want, ...) do {						\
	const Dwarf_Op ops_[] = { __VA_ARGS__ };					\
	struct run r_;									\
	same(eval_word(&r_, word, ops_, ARRAY_SIZE(ops_)), 0);				\
	same(r_.result, want);								\
} while (0)
#define gives(want, ...)	gives_word(8, want, __VA_ARGS__)

#define fails(...) do {									\
	const Dwarf_Op ops_[] = { __VA_ARGS__ };					\
	struct run r_;									\
	check(eval_word(&r_, 8, ops_, ARRAY_SIZE(ops_)) == -1);				\
	same(r_.result, 0xdead);							\
} while (0)

static void constants(void)
{
	gives(0, OP(lit0));
	gives(31, OP(lit31));
	gives(0xff, OP(const1u, N(0xff)));
	gives(-1ULL, OP(const1s, N(-1)));
	gives(0xffff, OP(const2u, N(0xffff)));
	gives(-2ULL, OP(const2s, N(-2)));
	gives(0xffffffff, OP(const4u, N(0xffffffff)));
	gives(-3ULL, OP(const4s, N(-3)));
	gives(~0ULL, OP(const8u, N(~0ULL)));
	gives(1ULL << 63, OP(const8s, N(1ULL << 63)));
	gives(12345, OP(constu, N(12345)));
	gives(-5ULL, OP(consts, N(-5)));
	gives(0x401000, OP(addr, N(0x401000)));
	gives_word(4, 0xfffffffd, OP(const4s, N(-3)));
	gives_word(4, 1, OP(const8u, N(0x100000001)));
}

static void registers(void)
{
	gives(MEMORY + 4, OP(breg3));
	gives(MEMORY - 4, OP(breg3, N(-8)));
	gives(0x1235, OP(breg16, N(1)));
	gives(MEMORY + 5, OP(bregx, N(3), N2(1)));
	gives(MEMORY + 3, OP(bregx, N(3), N2(-1)));
	gives(0x7000, OP(call_frame_cfa));
	fails(OP(breg4));
	fails(OP(breg17));
	fails(OP(breg31));
	fails(OP(bregx, N(17)));
	fails(OP(bregx, N(64 + 3)));
	fails(OP(bregx, N(~0ULL)));
}

static void memory(void)
{
	gives(0x8786858483828180, OP(const2u, N(MEMORY)), OP(deref));
	gives_word(4, 0x83828180, OP(const2u, N(MEMORY)), OP(deref));
	gives(0x80, OP(const2u, N(MEMORY)), OP(deref_size, N(1)));
	gives(0x8180, OP(const2u, N(MEMORY)), OP(deref_size, N(2)));
	gives(0x8887868584838281, OP(const2u, N(MEMORY + 1)), OP(deref_size, N(8)));
	gives(0x8f8e8d8c8b8a8988, OP(const2u, N(MEMORY + 8)), OP(deref));
	fails(OP(const2u, N(MEMORY + 9)), OP(deref));
	fails(OP(const2u, N(MEMORY - 1)), OP(deref));
	fails(OP(lit0), OP(deref));
	fails(OP(const8u, N(~0ULL)), OP(deref));
	fails(OP(const2u, N(MEMORY)), OP(deref_size, N(0)));
	fails(OP(const2u, N(MEMORY)), OP(deref_size, N(9)));
	fails(OP(const2u, N(MEMORY)), OP(deref_size, N(255)));
	fails(OP(deref));
	fails(OP(deref_size, N(1)));
}

static void arithmetic(void)
{
	gives(7, OP(lit3), OP(lit4), OP(plus));
	gives(-1ULL, OP(lit3), OP(lit4), OP(minus));
	gives(12, OP(lit3), OP(lit4), OP(mul));
	gives(103, OP(lit3), OP(plus_uconst, N(100)));
	gives(2, OP(lit3), OP(plus_uconst, N(~0ULL)));
	gives(-3ULL, OP(lit3), OP(neg));
	gives(~3ULL, OP(lit3), OP(not));
	gives(3, OP(const1s, N(-3)), OP(abs));
	gives(3, OP(lit3), OP(abs));
	gives(1ULL << 63, OP(const8u, N(1ULL << 63)), OP(abs));
	gives_word(4, 0x80000000, OP(const4u, N(0x80000000)), OP(abs));
	gives_word(4, 0xfffffffd, OP(lit3), OP(neg));
	gives_word(4, 0xfffffffc, OP(lit3), OP(not));
	gives_word(4, 2, OP(lit3), OP(const4u, N(0xffffffff)), OP(plus));
	gives_word(4, 0xffffffff, OP(lit3), OP(lit4), OP(minus));
	gives_word(4, 1, OP(lit2), OP(plus_uconst, N(0xffffffff)));
}

static void division(void)
{
	gives(4, OP(lit14), OP(lit3), OP(div));
	gives(-4ULL, OP(const1s, N(-14)), OP(lit3), OP(div));
	gives(-4ULL, OP(lit14), OP(const1s, N(-3)), OP(div));
	gives(2, OP(lit14), OP(lit3), OP(mod));
	/* The one quotient that does not fit. */
	gives(1ULL << 63, OP(const8u, N(1ULL << 63)), OP(const1s, N(-1)), OP(div));
	gives(0, OP(lit0), OP(const1s, N(-1)), OP(div));
	gives_word(4, 0x80000000, OP(const4u, N(0x80000000)), OP(const1s, N(-1)), OP(div));
	gives_word(4, -7U, OP(const1s, N(-14)), OP(lit2), OP(div));
	gives(14, OP(lit14), OP(const1s, N(-1)), OP(mod));
	fails(OP(lit14), OP(lit0), OP(div));
	fails(OP(lit14), OP(lit0), OP(mod));
}

static void bits(void)
{
	gives(2, OP(lit3), OP(lit6), OP(and));
	gives(7, OP(lit3), OP(lit6), OP(or));
	gives(5, OP(lit3), OP(lit6), OP(xor));
	gives(24, OP(lit3), OP(lit3), OP(shl));
	gives(1, OP(lit8), OP(lit3), OP(shr));
	gives(-1ULL, OP(const1s, N(-8)), OP(lit3), OP(shra));
	gives(~0ULL >> 3, OP(const1s, N(-1)), OP(lit3), OP(shr));
	gives(1ULL << 63, OP(lit1), OP(const1u, N(63)), OP(shl));
	/* By the whole width or more: not what the CPU would do. */
	gives(0, OP(lit1), OP(const1u, N(64)), OP(shl));
	gives(0, OP(lit1), OP(const1u, N(65)), OP(shl));
	gives(0, OP(const1s, N(-1)), OP(const1u, N(64)), OP(shr));
	gives(-1ULL, OP(const1s, N(-1)), OP(const1s, N(-1)), OP(shra));
	gives(0, OP(lit9), OP(const1u, N(64)), OP(shra));
	gives_word(4, 0, OP(lit1), OP(const1u, N(32)), OP(shl));
	gives_word(4, 0xffffffff, OP(const1s, N(-1)), OP(const1u, N(32)), OP(shra));
	gives_word(4, 0x7fffffff, OP(const1s, N(-1)), OP(lit1), OP(shr));
}

static void comparisons(void)
{
	static const u8 atoms[] = {
		DW_OP_eq, DW_OP_ge, DW_OP_gt, DW_OP_le, DW_OP_lt, DW_OP_ne,
	};
	/* -1 with 1, 1 with 1, 1 with -1: signed, DWARF 5 section 2.5.1.5. */
	static const u8 want[ARRAY_SIZE(atoms)][3] = {
		{ 0, 1, 0 }, { 0, 1, 1 }, { 0, 0, 1 },
		{ 1, 1, 0 }, { 1, 0, 0 }, { 1, 0, 1 },
	};
	static const s64 pairs[3][2] = { { -1, 1 }, { 1, 1 }, { 1, -1 } };
	unsigned int i, j, word;

	for (i = 0; i < ARRAY_SIZE(atoms); i++) {
		for (j = 0; j < 3; j++) {
			for (word = 4; word <= 8; word += 4)
				gives_word(word, want[i][j], OP(consts, N(pairs[j][0])),
					   OP(consts, N(pairs[j][1])), { .atom = atoms[i] });
		}
	}
}

static void stack(void)
{
	gives(6, OP(lit3), OP(dup), OP(plus));
	gives(3, OP(lit3), OP(lit4), OP(drop));
	gives(3, OP(lit3), OP(lit4), OP(over));
	gives(5, OP(lit3), OP(lit4), OP(lit5), OP(pick, N(0)));
	gives(3, OP(lit3), OP(lit4), OP(lit5), OP(pick, N(2)));
	gives(1, OP(lit3), OP(lit4), OP(swap), OP(minus));
	/* The top goes to the third place. */
	gives(4, OP(lit3), OP(lit4), OP(lit5), OP(rot));
	gives(3, OP(lit3), OP(lit4), OP(lit5), OP(rot), OP(drop));
	gives(5, OP(lit3), OP(lit4), OP(lit5), OP(rot), OP(drop), OP(drop));
	gives(3, OP(lit3), OP(nop));
	gives(3, OP(lit3), OP(stack_value));
	fails(OP(lit3), OP(pick, N(1)));
	fails(OP(lit3), OP(pick, N(255)));
}

static void underflow(void)
{
	static const u8 takes[] = {
		[DW_OP_dup] = 1, [DW_OP_drop] = 1, [DW_OP_over] = 2, [DW_OP_pick] = 1,
		[DW_OP_swap] = 2, [DW_OP_rot] = 3, [DW_OP_abs] = 1, [DW_OP_and] = 2,
		[DW_OP_div] = 2, [DW_OP_minus] = 2, [DW_OP_mod] = 2, [DW_OP_mul] = 2,
		[DW_OP_neg] = 1, [DW_OP_not] = 1, [DW_OP_or] = 2, [DW_OP_plus] = 2,
		[DW_OP_plus_uconst] = 1, [DW_OP_shl] = 2, [DW_OP_shr] = 2, [DW_OP_shra] = 2,
		[DW_OP_xor] = 2, [DW_OP_eq] = 2, [DW_OP_ge] = 2, [DW_OP_gt] = 2,
		[DW_OP_le] = 2, [DW_OP_lt] = 2, [DW_OP_ne] = 2, [DW_OP_bra] = 1,
	};
	unsigned int atom, have;

	for (atom = 0; atom < ARRAY_SIZE(takes); atom++) {
		for (have = 0; have < takes[atom]; have++) {
			Dwarf_Op ops[4] = {};
			struct run r;

			ops[0].atom = DW_OP_lit1;
			ops[1].atom = DW_OP_lit1;
			ops[have].atom = atom;
			check(eval_word(&r, 8, ops, have + 1) == -1);
		}
	}
	/* Nothing left is no result. */
	fails(OP(lit3), OP(drop));
	fails(OP(nop));
	fails(OP(nop), OP(lit1), OP(bra, N(-4), AT(2)));
}

static void overflow(void)
{
	Dwarf_Op ops[64] = {};
	struct run r;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ops); i++)
		ops[i].atom = DW_OP_lit1;
	same(eval_word(&r, 8, ops, 32), 0);
	check(eval_word(&r, 8, ops, 33) == -1);
	check(eval_word(&r, 8, ops, 64) == -1);
	ops[32].atom = DW_OP_dup;
	check(eval_word(&r, 8, ops, 33) == -1);
	ops[32].atom = DW_OP_over;
	check(eval_word(&r, 8, ops, 33) == -1);
	ops[32].atom = DW_OP_plus;
	same(eval_word(&r, 8, ops, 33), 0);
	same(r.result, 2);
	check(eval_word(&r, 8, ops, 0) == -1);
}

static void jumps(void)
{
	/* lit1; skip over lit2 */
	gives(1, OP(lit1), OP(skip, N(1), AT(1)), OP(lit2, AT(4)));
	gives(3, OP(lit1), OP(skip, N(1), AT(1)), OP(lit2, AT(4)), OP(lit3, AT(5)));
	gives(2, OP(lit1), OP(lit1, AT(1)), OP(bra, N(1), AT(2)), OP(neg, AT(5)),
	      OP(lit1, AT(6)), OP(plus, AT(7)));
	gives(0, OP(lit1), OP(lit0, AT(1)), OP(bra, N(1), AT(2)), OP(neg, AT(5)),
	      OP(lit1, AT(6)), OP(plus, AT(7)));
	/* 20 times: dup; bra back */
	gives(0, OP(lit20), OP(lit1, AT(1)), OP(minus, AT(2)), OP(dup, AT(3)),
	      OP(bra, N(-6), AT(4)));
	/* Into the middle of an operation, before the first. */
	fails(OP(lit1), OP(skip, N(-2), AT(1)), OP(lit2, AT(4)));
	fails(OP(lit1), OP(skip, N(-5), AT(1)));
	/* For ever. */
	fails(OP(skip, N(-3), AT(0)));
	fails(OP(lit1), OP(lit1, AT(1)), OP(bra, N(-4), AT(2)));
}

/* Just beyond the last operation is the end, whatever that one's length is. */
static void jump_to_end(void)
{
	int by;

	for (by = -3; by < 40; by++) {
		const Dwarf_Op ops[] = {
			OP(lit5), OP(skip, N(by), AT(1)), OP(lit7, AT(4)),
		};
		struct run r;
		/* Not to itself, for ever, nor into it. */
		int want = by >= 0 && by <= 21 ? 0 : -1;

		same((u64)eval_word(&r, 8, ops, ARRAY_SIZE(ops)), (u64)want);
		if (!want)
			same(r.result, by ? 5 : 7);
	}
}

/* So many steps, so deep a stack, registers that there are. */
static void bounds(void)
{
	Dwarf_Op ops[600] = {};
	struct run r;
	unsigned int i, nr;

	for (nr = 510; nr < 515; nr++) {
		for (i = 0; i < nr; i++)
			ops[i] = (Dwarf_Op) { .atom = i ? DW_OP_nop : DW_OP_lit3, .offset = i };
		same((u64)eval_word(&r, 8, ops, nr), nr <= 512 ? 0 : -1ULL);
	}
	for (nr = 31; nr < 35; nr++) {
		for (i = 0; i < nr; i++)
			ops[i] = (Dwarf_Op) { .atom = DW_OP_lit3, .offset = i };
		same((u64)eval_word(&r, 8, ops, nr), nr <= 32 ? 0 : -1ULL);
	}
	/* All bits are set, also those of no register. */
	for (i = 15; i < 20; i++) {
		ops[0] = (Dwarf_Op) { .atom = DW_OP_bregx, .number = i };
		run_init(&r, 8);
		r.regs.known = ~0U;
		same((u64)hybrid_expr_eval(ops, 1, &r.ctx, &r.result),
		     i < HYBRID_MAX_REGS ? 0 : -1ULL);
	}
	/* A shift by as many bits as there are. */
	gives(0, OP(const8u, N(1ULL << 62)), OP(const1u, N(64)), OP(shra));
	gives(0, OP(const8u, N(1ULL << 62)), OP(const1u, N(63)), OP(shra));
	gives(1, OP(const8u, N(1ULL << 62)), OP(const1u, N(62)), OP(shra));
	gives(1, OP(const8u, N(1ULL << 63)), OP(const1u, N(63)), OP(shr));
	gives(0, OP(const8u, N(1ULL << 63)), OP(const1u, N(64)), OP(shr));
	gives_word(4, 0, OP(const4u, N(1 << 30)), OP(const1u, N(32)), OP(shra));
}

static void refused(void)
{
	unsigned int atom;

	for (atom = 0; atom < 256; atom++) {
		const Dwarf_Op ops[] = {
			OP(lit1), OP(lit1), OP(lit1), { .atom = atom, .offset = 3 },
		};
		struct run r;

		/* reg0 to reg31, piece, implicit values, calls, GNU's own, none. */
		if ((atom >= DW_OP_reg0 && atom <= DW_OP_reg31) || atom < DW_OP_addr ||
		    atom == DW_OP_regx || atom == DW_OP_fbreg || atom == DW_OP_piece ||
		    atom == DW_OP_xderef || atom == DW_OP_xderef_size ||
		    (atom > DW_OP_call_frame_cfa && atom != DW_OP_stack_value) ||
		    (atom > DW_OP_nop && atom < DW_OP_call_frame_cfa))
			check(eval_word(&r, 8, ops, ARRAY_SIZE(ops)) == -1);
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "expr: constants", constants },
		{ "expr: registers", registers },
		{ "expr: memory", memory },
		{ "expr: arithmetic", arithmetic },
		{ "expr: division", division },
		{ "expr: bits and shifts", bits },
		{ "expr: comparisons", comparisons },
		{ "expr: stack operations", stack },
		{ "expr: too few operands", underflow },
		{ "expr: too deep a stack", overflow },
		{ "expr: jumps and endless loops", jumps },
		{ "expr: jumps to the end", jump_to_end },
		{ "expr: bounds", bounds },
		{ "expr: operations that CFI does not have", refused },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
