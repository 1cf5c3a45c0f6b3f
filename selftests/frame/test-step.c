// SPDX-License-Identifier: GPL-2.0
/*
 * Steps of a path against a machine that executes the same instructions: whatever a path claims
 * of sp, of bp and of a copy of sp has to be so there, in random code. And what a single
 * instruction must not lose, the bounds of offsets, where each opcode leads, and what calls do to
 * a path. The test includes the source. Prints TAP.
 */
#include "../../kmod/frame/x86_frame_step.c"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

static unsigned int seed;

static unsigned int below(unsigned int n)
{
	return rand_r(&seed) % n;
}

/* Memory has any words, as far as the program has written none. */
#define WRITTEN	64
static struct machine {
	u64	reg[16], first[16];
	bool	is_set[16];		/* since the first instruction */
	bool	is_64bit;
	unsigned int nr;
	struct {
		u64	addr, value;
		bool	bp;		/* a copy of bp, which the path follows */
	} written[WRITTEN];
} m;

static u64 mask(u64 value)
{
	return m.is_64bit ? value : (u32)value;
}

static int ws(void)
{
	return m.is_64bit ? 8 : 4;
}

static u64 first_word(u64 addr)
{
	u64 h = (addr + 1) * 0x9e3779b97f4a7c15ULL;

	return mask((h ^ h >> 29) & ~7ULL);
}

/* NULL, or the place of what was written there. */
static u64 *written(u64 addr, bool *bp)
{
	unsigned int i;

	for (i = m.nr; i--;)
		if (m.written[i].addr == addr) {
			*bp = m.written[i].bp;
			return &m.written[i].value;
		}
	return NULL;
}

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

/* An instruction that was just made. */
static struct {
	u8		bytes[16];
	unsigned int	len;
} text;

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
	value = op == 0 || op == 2 ? a + imm + carry : op == 1 ? (a | imm) : op == 4 ? (a & (s64)imm) :
		op == 6 ? (a ^ (s64)imm) : a - imm - carry;
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
		if (reg == X86_REG_SP || rm == X86_REG_SP)
			reg = rm = 0;
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

/* What a path claims, whether it is so, and how often it claimed that. */
static unsigned long claims[8];

static bool value_is(int base, s64 words, int from, u64 value)
{
	u64 sp = m.first[X86_REG_SP], bp = m.first[X86_REG_BP], start;

	switch (base) {
	case X86_BASE_SP:
		start = sp;
		break;
	case X86_BASE_BP:
		start = bp;
		break;
	case X86_BASE_MEM_SP:
		start = first_word(mask(sp + from * ws()));
		break;
	case X86_BASE_MEM_BP:
		start = first_word(mask(bp + from * ws()));
		break;
	case X86_BASE_REG:
		start = m.first[from];
		break;
	default:
		return true;
	}
	return value == mask(start + words * ws());
}

/* Was a word of the caller's frame overwritten? Then a path may be wrong: that is known. */
static bool is_dirty(int base, int from)
{
	u64 at = mask(m.first[base == X86_BASE_MEM_SP || base == X86_BASE_SP ? X86_REG_SP :
			      X86_REG_BP] + from * ws());
	bool bp;

	return written(at, &bp);
}

static bool claims_hold(const struct x86_path *path)
{
	bool ok = true;

	claims[path->sp_base]++;
	if (path->sp_base == X86_BASE_REG ? !m.is_set[path->from] :
	    path->sp_base < X86_BASE_MEM_SP || !is_dirty(path->sp_base, path->from))
		ok &= value_is(path->sp_base, path->sp, path->from, m.reg[X86_REG_SP]);
	if (path->bp_kind == X86_BP_SAME)
		ok &= m.reg[X86_REG_BP] == m.first[X86_REG_BP];
	if (path->bp_kind == X86_BP_VALUE && path->bp_base < X86_BASE_NONE)
		ok &= value_is(path->bp_base, path->bp, 0, m.reg[X86_REG_BP]);
	if (path->bp_kind == X86_BP_LOADED && path->bp_base < X86_BASE_NONE &&
	    !is_dirty(path->bp_base, path->bp)) {
		claims[6]++;
		ok &= value_is(path->bp_base + X86_BASE_MEM_SP, 0, path->bp, m.reg[X86_REG_BP]);
	}
	if (path->kept == X86_KEPT_SP) {
		claims[7]++;
		ok &= value_is(X86_BASE_SP, path->kept_sp, 0, m.reg[path->kept_reg]);
	}
	return ok;
}

static void start_machine(bool is_64bit)
{
	int reg;

	m = (struct machine) { .is_64bit = is_64bit };
	for (reg = 0; reg < 16; reg++)
		m.first[reg] = mask(0x7ff0000000001000ULL + reg * 0x10000000ULL);
	m.first[X86_REG_SP] = mask(0x7fff000000100000ULL);
	/* Far away: a path takes words that count from bp for others than those from sp. */
	m.first[X86_REG_BP] = mask(m.first[X86_REG_SP] + (1 << 20));
	memcpy(m.reg, m.first, sizeof(m.reg));
}

static bool decode_text(struct x86_code *code)
{
	struct insn insn;

	return x86_frame_decode(&insn, text.bytes, sizeof(text.bytes), m.is_64bit, code) &&
	       code->len == text.len;
}

/* Some twelve instructions; the path that ends is followed no further. */
static bool check_code(bool is_64bit)
{
	struct x86_path path = { .pc = 0 };
	struct x86_code code;
	unsigned int i;
	s32 target;

	start_machine(is_64bit);
	for (i = 0; i < 12; i++) {
		memset(&text, 0, sizeof(text));
		insns[below(ARRAY_SIZE(insns))]();
		if (!decode_text(&code))
			return false;
		/* The exit of a function that realigned its stack: nothing that code of any kind has. */
		if (code.op == 0x8d && x86_modrm_reg(&code) == X86_REG_SP)
			if (x86_mem_base(&code) == (is_64bit ? 10 : 1) || x86_mem_base(&code) == 13)
				return true;
		if (x86_frame_step(&code, &path, &target) != X86_STEP_NEXT)
			return false;
		if (!claims_hold(&path)) {
			printf("# sp base %d%+d from %d, bp kind %d base %d%+d, %02x %02x %02x %02x\n",
			       path.sp_base, path.sp, path.from, path.bp_kind, path.bp_base, path.bp,
			       text.bytes[0], text.bytes[1], text.bytes[2], text.bytes[3]);
			return false;
		}
	}
	return true;
}

static void check_random(unsigned int nr)
{
	unsigned int i, wrong = 0;
	bool ok = true;

	for (i = 0; i < nr; i++) {
		seed = i;
		if (!check_code(i & 1) && wrong++ < 20)
			printf("# seed %u\n", i);
	}
	for (i = 0; i < ARRAY_SIZE(claims); i++)
		printf("# %lu claims of kind %u\n", claims[i], i);
	for (i = 0; i < ARRAY_SIZE(claims); i++)
		ok &= claims[i] > nr / 1000;
	report(!wrong && ok, "random code: a path claims nothing that is not so");
}

/* Makes one instruction of these bytes, and a step; returns where that leads. */
static enum x86_step step_of(struct x86_path *path, bool is_64bit, const char *bytes, unsigned int len)
{
	struct x86_code code;
	struct insn insn;
	u8 copy[16] = { 0 };
	s32 target = 0;

	memcpy(copy, bytes, len);
	if (!x86_frame_decode(&insn, copy, sizeof(copy), is_64bit, &code) || code.len != len) {
		printf("# %02x %02x: %u bytes, not %u\n", copy[0], copy[1], code.len, len);
		abort();
	}
	return x86_frame_step(&code, path, &target);
}

#define STEP(path, is_64bit, bytes)	step_of(path, is_64bit, bytes, sizeof(bytes) - 1)

/* sub and add of each number of words, from each offset: up to 16,000 are followed. */
static void check_offsets(void)
{
	static const s32 words[] = {
		0, 1, -1, 2, 15999, 16000, 16001, -15999, -16000, -16001, 20000, 32767, 32768,
		-32768, 1 << 28, -(1 << 28), 1 << 20,
	};
	unsigned int mode, sub, a, b;
	bool ok = true;

	for (mode = 0; mode < 2; mode++)
		for (sub = 0; sub < 2; sub++)
			for (a = 0; a < ARRAY_SIZE(words); a++)
				for (b = 0; b < ARRAY_SIZE(words); b++) {
					int size = mode ? 8 : 4;
					struct x86_path path = { .sp = words[a] };
					struct x86_code code = {
						.op = 0x81, .modrm = sub ? 0xec : 0xc4, .rex = mode * 8,
						.flags = X86_CODE_MODRM | (mode ? X86_CODE_64 : 0),
						.imm = (u32)words[b] * size,
					};
					s64 imm = sub ? -(s64)code.imm : code.imm;
					s64 sum = words[a] + imm / size;
					s32 target;

					if (words[a] > 16000 || words[a] < -16000)
						continue;
					if (imm != (s32)imm)
						continue;
					x86_frame_step(&code, &path, &target);
					if (sum <= 16000 && sum >= -16000 && imm / size <= 16000 &&
					    imm / size >= -16000)
						ok &= path.sp_base == X86_BASE_SP && path.sp == sum;
					else
						ok &= path.sp_base == X86_BASE_NONE;
				}
	report(ok, "offsets: up to 16,000 words");
}

/* What one instruction must not lose. */
static void check_kept(void)
{
	struct x86_path path;
	bool ok = true;

	path = (struct x86_path) { .pc = 0 };
	ok &= STEP(&path, true, "\x55") == X86_STEP_NEXT && path.sp == -1 && path.saved;
	ok &= STEP(&path, true, "\x48\x89\xe5") == X86_STEP_NEXT && path.bp_kind == X86_BP_VALUE &&
	      path.bp == -1 && path.bp_base == X86_BASE_SP;
	ok &= STEP(&path, true, "\x48\x83\xec\x20") == X86_STEP_NEXT && path.sp == -5;
	ok &= STEP(&path, true, "\x48\x8d\x65\xf8") == X86_STEP_NEXT && path.sp == -2 &&
	      path.sp_base == X86_BASE_SP;
	ok &= STEP(&path, true, "\xc9") == X86_STEP_NEXT && !path.sp && !path.sp_base &&
	      path.bp_kind == X86_BP_SAME;
	report(ok, "kept: prologue and epilogue with bp");

	path = (struct x86_path) { .pc = 0 };
	ok = STEP(&path, true, "\x49\x89\xe3") == X86_STEP_NEXT && path.kept == X86_KEPT_SP &&
	     path.kept_reg == 11;
	ok &= STEP(&path, true, "\x48\x83\xe4\xc0") == X86_STEP_NEXT && path.sp_base == X86_BASE_NONE;
	ok &= STEP(&path, true, "\x4c\x89\xdc") == X86_STEP_NEXT && !path.sp_base && !path.sp;
	/* Another copy, of what is not known, is the latest. */
	ok &= STEP(&path, true, "\x48\x83\xe4\xc0") == X86_STEP_NEXT;
	ok &= STEP(&path, true, "\x49\x89\xe3") == X86_STEP_NEXT && path.kept == X86_KEPT_LOST;
	ok &= STEP(&path, true, "\x4c\x89\xdc") == X86_STEP_NEXT && path.sp_base == X86_BASE_NONE;
	report(ok, "kept: a copy of sp");

	/* Only registers that may have their value of ip. */
	{
		int reg, called;

		ok = true;
		for (called = 0; called < 2; called++)
			for (reg = 0; reg < 16; reg++) {
				char bytes[3] = { reg > 7 ? 0x4c : 0x48, 0x89,
						  0xc4 | (reg & 7) << 3 };
				bool known = called ? reg == 3 || reg > 11 : reg != 6 && reg != 7;

				path = (struct x86_path) { .called = called };
				step_of(&path, true, bytes, 3);
				if (reg == X86_REG_SP || reg == X86_REG_BP)
					continue;
				ok &= known ? path.sp_base == X86_BASE_REG && path.from == reg &&
					      !path.sp : path.sp_base == X86_BASE_NONE;
			}
		report(ok, "kept: registers that sp is set from");
	}

	/* pop %rsp, mov N(%rsp),%rsp: above what the path and its calls may have written */
	{
		int slot, called, call_sp;

		ok = true;
		for (called = 0; called < 2; called++)
			for (call_sp = -1; call_sp <= 3; call_sp++)
				for (slot = -2; slot <= 4; slot++) {
					char bytes[5] = { 0x48, 0x8b, 0x64, 0x24, slot * 8 };
					bool known = slot >= 0 && (!called || slot > call_sp);

					path = (struct x86_path) {
						.called = called, .call_sp = call_sp,
					};
					step_of(&path, true, bytes, 5);
					ok &= known ? path.sp_base == X86_BASE_MEM_SP &&
						      path.from == slot && !path.sp :
						      path.sp_base == X86_BASE_NONE;
					path = (struct x86_path) {
						.called = called, .call_sp = call_sp, .sp = slot,
					};
					STEP(&path, true, "\x5c");
					ok &= known == (path.sp_base == X86_BASE_MEM_SP);
				}
		report(ok, "kept: sp loaded from the frame");
	}
}

/* bp pushed and popped from its slot; another slot is another function's. */
static void check_saved(void)
{
	struct x86_path path;
	int save, words, saved;
	bool ok = true;

	for (saved = 0; saved < 2; saved++)
		for (save = -2; save < 3; save++)
			for (words = -3; words < 4; words++) {
				path = (struct x86_path) {
					.saved = saved, .save = save, .sp = words,
				};
				STEP(&path, true, "\x5d");
				if (saved && save == words)
					ok &= path.bp_kind == X86_BP_SAME;
				else if (words < 0 || (saved && save < 0))
					ok &= path.bp_kind == X86_BP_LOST;
				else
					ok &= path.bp_kind == X86_BP_LOADED && path.bp == words &&
					      path.bp_base == X86_BASE_SP;
				/* What sp has passed is not saved any more. */
				ok &= path.saved == (saved && save >= words + 1);
			}
	report(ok, "bp: from its own slot only");
	/* Stored twice: the first copy counts. A value of the path's own is none. */
	path = (struct x86_path) { .pc = 0 };
	STEP(&path, true, "\x55");
	STEP(&path, true, "\x55");
	ok = path.saved && path.save == -1;
	path = (struct x86_path) { .bp_kind = X86_BP_VALUE };
	STEP(&path, true, "\x55");
	ok &= !path.saved;
	path = (struct x86_path) { .bp_kind = X86_BP_LOADED, .bp_base = X86_BASE_BP };
	STEP(&path, true, "\x55");
	ok &= !path.saved;
	path = (struct x86_path) { .bp_kind = X86_BP_LOADED, .bp_base = X86_BASE_SP, .bp = 3 };
	STEP(&path, true, "\x55");
	ok &= path.saved && path.save == -1 && path.save_bp == 3 && path.save_kind == X86_BP_LOADED;
	STEP(&path, true, "\x31\xed");
	ok &= path.bp_kind == X86_BP_LOST;
	STEP(&path, true, "\x5d");
	ok &= path.bp_kind == X86_BP_LOADED && path.bp == 3 && path.bp_base == X86_BASE_SP;
	path = (struct x86_path) { .sp_base = X86_BASE_BP };
	STEP(&path, true, "\x55");
	ok &= !path.saved;
	report(ok, "bp: what is stored of it");
}

/* Exits of functions that realigned their stack, by r10, ecx or r13. */
static void check_realigned(void)
{
	struct x86_path path;
	bool ok;

	path = (struct x86_path) { .sp = 1, .sp_base = X86_BASE_BP, .bp_kind = X86_BP_LOADED };
	STEP(&path, true, "\x49\x8d\x62\xf8");
	ok = path.sp == 1 && path.sp_base == X86_BASE_BP;
	STEP(&path, false, "\x8d\x61\xfc");
	ok &= path.sp == 1 && path.sp_base == X86_BASE_BP;
	STEP(&path, true, "\x49\x8d\x65\xf0");
	ok &= path.sp == 0 && path.sp_base == X86_BASE_BP;
	/* Other offsets, and an sp or a bp that does not fit. */
	STEP(&path, true, "\x49\x8d\x62\xf0");
	ok &= path.sp_base == X86_BASE_REG && path.from == 10 && path.sp == -2;
	path = (struct x86_path) { .sp = 1, .bp_kind = X86_BP_LOADED };
	STEP(&path, true, "\x49\x8d\x65\xf0");
	ok &= path.sp_base == X86_BASE_REG && path.from == 13 && path.sp == -2;
	path = (struct x86_path) { .sp = 1, .sp_base = X86_BASE_BP, .bp_kind = X86_BP_LOADED };
	STEP(&path, true, "\x49\x8d\x65\xf8");
	ok &= path.sp_base == X86_BASE_REG && path.from == 13 && path.sp == -1;
	path = (struct x86_path) { .sp = 1, .sp_base = X86_BASE_BP, .bp_kind = X86_BP_LOST };
	STEP(&path, true, "\x49\x8d\x62\xf8");
	ok &= path.sp_base == X86_BASE_REG && path.from == 10;
	report(ok, "exits of functions that realigned their stack");
}

/* Calls: their highest sp, their number, and which lead nowhere. */
static void check_calls(void)
{
	int sp, call_sp, called, tail, cold, base, kind;
	static const char *const calls[] = { "\xe8\x00\x10\x00\x00", "\xff\xd0" };
	bool ok = true;

	for (kind = 0; kind < 2; kind++)
		for (base = 0; base <= X86_BASE_REG; base++)
			for (sp = -2; sp <= 2; sp++)
				for (call_sp = -2; call_sp <= 2; call_sp++)
					for (called = 0; called < 4; called++)
						for (tail = 0; tail < 2; tail++)
							for (cold = 0; cold < 2; cold++) {
		struct x86_path path = {
			.sp = sp, .sp_base = base, .call_sp = call_sp, .called = called,
			.tail = tail, .cold = cold,
		}, want = path;

		if (base > X86_BASE_NONE)
			want.sp_base = X86_BASE_NONE;
		if (base == X86_BASE_SP) {
			if (tail && sp >= call_sp)
				want.sp_base = X86_BASE_NONE;
			if (!tail && (!called || sp > call_sp))
				want.call_sp = sp;
			want.called = called < 3 ? called + 1 : 3;
			want.cold_call = cold;
		}
		ok &= step_of(&path, true, calls[kind], kind ? 2 : 5) == X86_STEP_NEXT;
		ok &= !memcmp(&path, &want, sizeof(path));
	}
	report(ok, "calls: what a path keeps of them");
}

/* Where opcodes lead, by the processor's manual. */
static enum x86_step model_one_byte(unsigned int op, unsigned int reg)
{
	switch (op) {
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		return X86_STEP_BRANCH;
	case 0xe9:
	case 0xeb:
		return X86_STEP_JUMP;
	case 0xc2:
	case 0xc3:
		return X86_STEP_EXIT;
	case 0xff:
		/* call, jmp by a register, and what is no near one */
		return reg == 4 ? X86_STEP_TABLE : reg == 3 || reg == 5 || reg == 7 ?
		       X86_STEP_DEAD : X86_STEP_NEXT;
	case 0x60: case 0x61: case 0x9a: case 0xc8: case 0xca: case 0xcb: case 0xcc: case 0xcf:
	case 0xea: case 0xf4:
		return X86_STEP_DEAD;
	default:
		return X86_STEP_NEXT;
	}
}

static void check_opcodes(void)
{
	unsigned int op, reg;
	bool ok = true;
	s32 target;

	for (op = 0; op < 256; op++)
		for (reg = 0; reg < 8; reg++) {
			struct x86_path path = { .pc = 0 };
			struct x86_code code = {
				.op = op, .modrm = 0xc0 | reg << 3, .imm = 0x55,
				.flags = X86_CODE_64 | X86_CODE_MODRM,
			};
			enum x86_step want = model_one_byte(op, reg), step;

			target = 0;
			step = x86_frame_step(&code, &path, &target);
			ok &= step == want;
			ok &= target == (want == X86_STEP_BRANCH || want == X86_STEP_JUMP ? 0x55 : 0);
			code.map = X86_MAP_0F;
			target = 0;
			path = (struct x86_path) { .pc = 0 };
			step = x86_frame_step(&code, &path, &target);
			want = op >= 0x80 && op < 0x90 ? X86_STEP_BRANCH :
			       op == 0x0b || op == 0xb9 || op == 0xff ? X86_STEP_DEAD : X86_STEP_NEXT;
			ok &= step == want && target == (want == X86_STEP_BRANCH ? 0x55 : 0);
			/* push and pop of fs and gs */
			ok &= path.sp == (op == 0xa0 || op == 0xa8 ? -1 : op == 0xa1 || op == 0xa9 ? 1 : 0);
			code.map = X86_MAP_VEX;
			ok &= x86_frame_step(&code, &path, &target) == X86_STEP_NEXT;
			code.map = X86_MAP_APX;
			ok &= x86_frame_step(&code, &path, &target) == X86_STEP_DEAD;
		}
	report(ok, "opcodes: where they lead");
}

/* jmp through memory: with an index by a table, without one a tail call. */
static void check_jumps(void)
{
	struct x86_path path = { .pc = 0 };
	bool ok = true;

	ok &= STEP(&path, true, "\xff\xe0") == X86_STEP_TABLE;
	ok &= STEP(&path, true, "\xff\x24\xc5\0\0\0\0") == X86_STEP_TABLE;
	ok &= STEP(&path, true, "\xff\x24\xd0") == X86_STEP_TABLE;
	ok &= STEP(&path, true, "\xff\x60\x18") == X86_STEP_EXIT;
	ok &= STEP(&path, true, "\xff\x64\x24\x08") == X86_STEP_EXIT;
	ok &= STEP(&path, true, "\xff\x25\0\0\0\0") == X86_STEP_EXIT;
	report(ok, "jumps through memory");
}

/* bp as a base or a source is in use; stored to the stack it is saved. */
static void check_used(void)
{
	static const struct {
		const char	*bytes;
		unsigned int	len;
		bool		used;
	} tries[] = {
		{ "\x8b\x45\x08", 3, true }, { "\x48\x89\x45\x08", 4, true },
		{ "\x48\x89\xef", 3, true }, { "\x48\x8b\xfd", 3, true },
		{ "\x48\x89\x2f", 3, true }, { "\x48\x89\x6c\x24\x08", 5, false },
		{ "\x48\x8b\x6c\x24\x08", 5, false }, { "\x48\x89\xc7", 3, false },
		{ "\x48\x8b\x07", 3, false }, { "\x55", 1, false }, { "\x0f\xb6\x45\x08", 4, true },
		{ "\x0f\x10\x45\x08", 4, true }, { "\x48\x01\xef", 3, false },
	};
	unsigned int i, kind;
	bool ok = true;

	for (i = 0; i < ARRAY_SIZE(tries); i++)
		for (kind = X86_BP_SAME; kind <= X86_BP_LOST; kind++) {
			struct x86_path path = { .bp_kind = kind };

			step_of(&path, true, tries[i].bytes, tries[i].len);
			ok &= path.bp_used == (tries[i].used && kind == X86_BP_SAME);
		}
	report(ok, "bp: used as a value");
}

/* Loops that move sp page by page end by a comparison of sp. */
static void check_compared(void)
{
	static const struct {
		const char	*bytes;
		unsigned int	len;
		bool		lost;
	} tries[] = {
		{ "\x4c\x39\xdc", 3, true }, { "\x4c\x3b\xe4", 3, true }, { "\x49\x39\xe3", 3, true },
		{ "\x49\x3b\xe3", 3, true }, { "\x48\x39\xc3", 3, false },
		{ "\x48\x39\x04\x24", 4, false }, { "\x48\x39\x23", 3, false },
		{ "\x48\x83\xfc\x10", 4, false }, { "\x3c\x04", 2, false },
	};
	unsigned int i;
	bool ok = true;

	for (i = 0; i < ARRAY_SIZE(tries); i++) {
		struct x86_path path = { .pc = 0 };

		step_of(&path, true, tries[i].bytes, tries[i].len);
		ok &= (path.sp_base == X86_BASE_NONE) == tries[i].lost;
	}
	report(ok, "sp: compared with a register");
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	check_random(argc > 1 ? atoi(argv[1]) : 200000);
	check_offsets();
	check_kept();
	check_saved();
	check_realigned();
	check_calls();
	check_opcodes();
	check_jumps();
	check_used();
	check_compared();
	printf("1..%d\n", nr_tests);
	return !!nr_failed;
}
