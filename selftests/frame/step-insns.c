// SPDX-License-Identifier: GPL-2.0
/* Random instructions: the bytes of each, and what a machine does by it. */
#include "step-machine.h"

unsigned int seed;
struct machine m;
struct text text;

static u64 load(u64 addr)
{
	bool bp;
	u64 *at = written(addr, &bp);

	return at ? *at : first_word(addr);
}

static void store(u64 addr, u64 value, bool bp)
{
	if (m.nr == WRITTEN) {
		memmove(m.written, m.written + 1, sizeof(m.written) - sizeof(m.written[0]));
		m.nr--;
	}
	m.written[m.nr].addr = addr;
	m.written[m.nr].value = mask(value);
	m.written[m.nr++].bp = bp;
}

static void set(int reg, u64 value)
{
	m.reg[reg] = mask(value);
	m.is_set[reg] = true;
}

static void emit(unsigned int byte)
{
	text.bytes[text.len++] = byte;
}

static void emit32(s32 value)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		emit((u32)value >> 8 * i);
}

/* REX, if there has to be one. @wide: operands of 64 bits */
static void emit_rex(bool wide, int reg, int index, int rm)
{
	int rex = (m.is_64bit && wide ? 8 : 0) | (reg > 7 ? 4 : 0) | (index > 7 ? 2 : 0) |
		  (rm > 7 ? 1 : 0);

	if (rex)
		emit(0x40 | rex);
}

static void emit_reg(int reg, int rm)
{
	emit(0xc0 | (reg & 7) << 3 | (rm & 7));
}

/* A memory operand without index, in one of its forms. */
static void emit_mem(int reg, int base, s32 disp)
{
	int mod = disp == (s8)disp && below(4) ? 1 : 2;

	emit(mod << 6 | (reg & 7) << 3 | (base & 7));
	if ((base & 7) == 4)
		emit(0x24);
	if (mod == 1)
		emit(disp);
	else
		emit32(disp);
}

static int nr_regs(void)
{
	return m.is_64bit ? 16 : 8;
}

/* sp and bp twice as often as others. */
static int some_reg(void)
{
	switch (below(4)) {
	case 0:
		return X86_REG_SP;
	case 1:
		return X86_REG_BP;
	default:
		return below(nr_regs());
	}
}

static int some_base(void)
{
	return below(2) ? X86_REG_SP : X86_REG_BP;
}

static s32 some_offset(void)
{
	return ws() * ((int)below(12) - 3) + (below(20) ? 0 : 1);
}

static void do_push(u64 value, bool bp)
{
	m.reg[X86_REG_SP] = mask(m.reg[X86_REG_SP] - ws());
	store(m.reg[X86_REG_SP], value, bp);
}

static u64 do_pop(void)
{
	u64 value = load(m.reg[X86_REG_SP]);

	m.reg[X86_REG_SP] = mask(m.reg[X86_REG_SP] + ws());
	return value;
}

static void insn_push(void)
{
	int reg = some_reg();

	emit_rex(false, 0, 0, reg);
	emit(0x50 | (reg & 7));
	do_push(m.reg[reg], reg == X86_REG_BP);
}

static void insn_push_other(void)
{
	s32 disp = some_offset();
	int base = some_base();

	switch (below(3)) {
	case 0:
		emit(0x6a);
		emit(disp);
		do_push((s64)(s8)disp, false);
		break;
	case 1:
		emit(0x68);
		emit32(disp);
		do_push((s64)disp, false);
		break;
	default:
		emit(0xff);
		emit_mem(6, base, disp);
		do_push(load(mask(m.reg[base] + disp)), false);
	}
}

static void insn_pop(void)
{
	int reg = some_reg();
	u64 value = do_pop();

	emit_rex(false, 0, 0, reg);
	if (below(4)) {
		emit(0x58 | (reg & 7));
	} else {
		emit(0x8f);
		emit_reg(0, reg);
	}
	set(reg, value);
}

static void insn_leave(void)
{
	emit(0xc9);
	m.reg[X86_REG_SP] = m.reg[X86_REG_BP];
	set(X86_REG_BP, do_pop());
}

static void insn_mov(void)
{
	int to = some_reg(), from = some_reg();
	bool wide = below(12), reverse = below(2);

	emit_rex(wide, reverse ? from : to, 0, reverse ? to : from);
	emit(reverse ? 0x89 : 0x8b);
	emit_reg(reverse ? from : to, reverse ? to : from);
	set(to, wide ? m.reg[from] : (u32)m.reg[from]);
}

static void insn_load(void)
{
	int to = some_reg(), base = some_base();
	s32 disp = some_offset();
	bool wide = below(12);
	u64 value = load(mask(m.reg[base] + disp));

	emit_rex(wide, to, 0, base);
	emit(0x8b);
	emit_mem(to, base, disp);
	set(to, wide ? value : (u32)value);
}

/* Only bp, not over a copy of it, nor where a push writes: a path does not follow other stores. */
static void insn_store(void)
{
	int base = some_base();
	s32 disp = some_offset();
	bool bp;

	if (disp < 0 || (written(mask(m.reg[base] + disp), &bp) && bp))
		return insn_push();
	emit_rex(true, X86_REG_BP, 0, base);
	emit(0x89);
	emit_mem(X86_REG_BP, base, disp);
	store(mask(m.reg[base] + disp), m.reg[X86_REG_BP], true);
}

static void insn_lea(void)
{
	int to = some_reg(), base = below(3) ? some_base() : (int)below(nr_regs());
	s32 disp = some_offset();
	bool wide = below(12);
	u64 value = m.reg[base] + disp;

	emit_rex(wide, to, 0, base);
	emit(0x8d);
	emit_mem(to, base, disp);
	set(to, wide ? value : (u32)value);
}

/* With an index: of that nothing is known. */
static void insn_lea_index(void)
{
	int to = some_reg(), base = some_base(), index;

	do {
		index = below(nr_regs());
	} while (index == X86_REG_SP);
	emit_rex(true, to, index, base);
	emit(0x8d);
	emit(0x44 | (to & 7) << 3);
	emit((index & 7) << 3 | (base & 7));
	emit(8);
	set(to, m.reg[base] + m.reg[index] + 8);
}

static void insn_alu_imm(void)
{
	int rm = some_reg(), op = below(3) ? (below(2) ? 5 : 0) : below(7);
	s32 imm = ws() * (int)below(10) + (below(12) ? 0 : 1);
	u64 a = m.reg[rm], value;
	bool wide = below(12), carry = op == 2 || op == 3;

	emit_rex(wide, 0, 0, rm);
	emit(below(2) ? 0x81 : 0x83);
	emit_reg(op, rm);
	if (text.bytes[text.len - 2] == 0x81)
		emit32(imm);
	else
		emit(imm);
	value = op == 0 || op == 2 ? a + imm + carry : op == 1 ? (a | imm) :
		op == 4 ? (a & (s64)imm) : op == 6 ? (a ^ (s64)imm) : a - imm - carry;
	set(rm, wide ? value : (u32)value);
}

/* add, sub, xor of registers */
static void insn_alu(void)
{
	static const u8 ops[] = { 0x01, 0x29, 0x31, 0x03, 0x2b, 0x33 };
	int reg = some_reg(), rm = some_reg();
	unsigned int i = below(ARRAY_SIZE(ops));
	int to = i < 3 ? rm : reg, from = i < 3 ? reg : rm;

	emit_rex(true, reg, 0, rm);
	emit(ops[i]);
	emit_reg(reg, rm);
	set(to, i % 3 == 0 ? m.reg[to] + m.reg[from] : i % 3 == 1 ? m.reg[to] - m.reg[from] :
		m.reg[to] ^ m.reg[from]);
}

/* Instructions that write a register with what nobody follows. */
static void insn_set(void)
{
	int reg = some_reg(), rm = below(nr_regs());

	switch (below(8)) {
	case 0:
		emit_rex(false, 0, 0, reg);
		emit(0xb8 | (reg & 7));
		emit32(0x1234560);
		break;
	case 1:
		emit_rex(true, 0, 0, reg);
		emit(0xc7);
		emit_reg(0, reg);
		emit32(0x1234560);
		break;
	case 2:
		emit_rex(true, reg, 0, rm);
		emit(0x0f);
		emit(0x40 + below(16));
		emit_reg(reg, rm);
		break;
	case 3:
		emit_rex(true, reg, 0, rm);
		emit(0x0f);
		emit(0xaf);
		emit_reg(reg, rm);
		break;
	case 4:
		emit_rex(true, reg, 0, rm);
		emit(0x0f);
		emit(below(2) ? 0xb6 : 0xbf);
		emit_reg(reg, rm);
		break;
	case 5:
		emit_rex(true, 0, 0, reg);
		emit(0xff);
		emit_reg(below(2), reg);
		break;
	case 6:
		emit_rex(true, 0, 0, reg);
		emit(below(2) ? 0xd1 : 0xd3);
		emit_reg(4 + below(2), reg);
		break;
	default:
		emit_rex(true, 0, 0, reg);
		emit(0xf7);
		emit_reg(2 + below(2), reg);
	}
	set(reg, first_word(rand_r(&seed)));
}

static void insn_xchg(void)
{
	int reg = some_reg(), rm = some_reg();
	u64 value = m.reg[reg];

	if (below(2) && reg && m.is_64bit) {
		emit_rex(true, 0, 0, reg);
		emit(0x90 | (reg & 7));
		if (!(reg & 7) && reg < 8)
			abort();
		rm = 0;
	} else {
		emit_rex(true, reg, 0, rm);
		emit(0x87);
		emit_reg(reg, rm);
	}
	set(reg, m.reg[rm]);
	set(rm, value);
}

static bool kept_by_calls(int reg)
{
	return reg == 3 || reg == X86_REG_BP || reg == X86_REG_SP || reg >= 12 ||
	       (!m.is_64bit && (reg == 6 || reg == 7));
}

static void insn_call(void)
{
	unsigned int i;
	int reg;

	emit(0xe8);
	emit32(0x1000);
	for (reg = 0; reg < nr_regs(); reg++)
		if (!kept_by_calls(reg))
			set(reg, first_word(rand_r(&seed)));
	/* All below sp may be written. */
	for (i = 1; i < 4; i++)
		store(mask(m.reg[X86_REG_SP] - i * ws()), rand_r(&seed), false);
}

/* 32-bit code reads its ip by it. */
static void insn_call_next(void)
{
	emit(0xe8);
	emit32(0);
	do_push(0x401000, false);
}

static void insn_flags(void)
{
	if (below(2)) {
		emit(0x9c);
		do_push(0x202, false);
	} else {
		emit(0x9d);
		do_pop();
	}
}

/* Of 16 bits. */
static void insn_push_short(void)
{
	emit(0x66);
	emit(0x50);
	m.reg[X86_REG_SP] = mask(m.reg[X86_REG_SP] - 2);
	store(m.reg[X86_REG_SP], 1, false);
}

/* cmp, test and stores elsewhere: nothing that matters */
static void insn_quiet(void)
{
	int reg = below(nr_regs()), rm = below(nr_regs());

	switch (below(3)) {
	case 0:
		/* A comparison of sp is the end of a loop that moves it. */
		if (reg == X86_REG_SP || rm == X86_REG_SP) {
			reg = 0;
			rm = 0;
		}
		emit_rex(true, reg, 0, rm);
		emit(below(2) ? 0x39 : 0x3b);
		emit_reg(reg, rm);
		break;
	case 1:
		emit_rex(true, 0, 0, rm);
		emit(0x83);
		emit_reg(7, rm);
		emit(8);
		break;
	default:
		emit_rex(true, reg, 0, rm);
		emit(0x85);
		emit_reg(reg, rm);
	}
}

static void (*const insns[])(void) = {
	insn_push, insn_push, insn_pop, insn_pop, insn_push_other, insn_leave, insn_mov, insn_mov,
	insn_load, insn_store, insn_lea, insn_lea_index, insn_alu_imm, insn_alu_imm, insn_alu,
	insn_set, insn_xchg, insn_call, insn_call_next, insn_flags, insn_push_short, insn_quiet,
};

void make_insn(void)
{
	memset(&text, 0, sizeof(text));
	insns[below(ARRAY_SIZE(insns))]();
}
