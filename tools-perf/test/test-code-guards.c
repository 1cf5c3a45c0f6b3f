// SPDX-License-Identifier: GPL-2.0
/*
 * All instructions by tables of what they do: where code goes on, what sets sp or bp.
 */
#include <string.h>
#include <asm/insn.h>
#include "call-reach.h"
#include "code-bytes.h"
#include "context-switch.h"
#include "flow.h"
#include "frame-around.h"
#include "frame-pointer.h"
#include "insn-effect.h"
#include "saved-sp.h"
#include "tap.h"

#define AT	0x4000

static struct hybrid_rule rule;
static struct insn insn;

static bool is_one_of(const u8 *ops, unsigned int nr, u8 op)
{
	return memchr(ops, op, nr);
}

#define ONE_OF(op, ...) ({						\
	static const u8 ops_[] = { __VA_ARGS__ };			\
	is_one_of(ops_, sizeof(ops_), op);				\
})

/* Puts an opcode, after 0f if it is of that map, and ModRM. False: it is no instruction. */
static bool put_op(bool two, u8 op, u8 modrm)
{
	u8 bytes[24] = { 0x0f };
	unsigned int at = two;

	bytes[at] = op;
	bytes[at + 1] = modrm;
	memcpy(code + AT, bytes, sizeof(bytes));
	return !insn_decode(&insn, bytes, sizeof(bytes), INSN_MODE_64) &&
	       insn.opcode.bytes[0] == bytes[0] && !insn.prefixes.nbytes &&
	       !insn.vex_prefix.nbytes && !insn.rex_prefix.nbytes &&
	       (two ? insn.opcode.nbytes == 2 && op != 0x38 && op != 0x3a : op != 0x0f);
}

#define NR_OPS	(2 * 65536)

/* @i of NR_OPS */
static bool put_nth(unsigned int i, bool *two, u8 *op, u8 *modrm)
{
	*two = i >> 16;
	*op = i >> 8;
	*modrm = i;
	return put_op(*two, *op, *modrm);
}

static bool is_jump(bool two, u8 op)
{
	return two ? (op & 0xf0) == 0x80 : (op & 0xf0) == 0x70 || (op >= 0xe0 && op <= 0xe3) ||
		     ONE_OF(op, 0xe9, 0xeb);
}

static enum hybrid_effect effect_of(bool two, u8 op, u8 modrm)
{
	unsigned int which = X86_MODRM_REG(modrm);

	if (two)
		return is_jump(true, op) || ONE_OF(op, 0x05, 0x34) ? HYBRID_EFFECT_SAME :
								    HYBRID_EFFECT_NEXT;
	if (is_jump(false, op) || ONE_OF(op, 0xcc, 0xcd))
		return HYBRID_EFFECT_SAME;
	if (ONE_OF(op, 0xc2, 0xc3, 0xca, 0xcb, 0xcf))
		return HYBRID_EFFECT_RETURN;
	if (ONE_OF(op, 0xe8, 0x9a) || (op == 0xff && (which == 2 || which == 3)))
		return HYBRID_EFFECT_CALL;
	return op == 0xff && (which == 4 || which == 5) ? HYBRID_EFFECT_SAME : HYBRID_EFFECT_NEXT;
}

static void effects(void)
{
	unsigned int i;
	u8 op, modrm;
	bool two;
	u64 next;

	code_fill(0xcc);
	for (i = 0; i < NR_OPS; i++) {
		if (!put_nth(i, &two, &op, &modrm))
			continue;
		if (!same(hybrid_insn_effect(&code_mem, CODE_BASE + AT, &next),
			  effect_of(two, op, modrm)))
			printf("# %u %02x %02x\n", two, op, modrm);
		same(next, CODE_BASE + AT + insn.length);
	}
}

/* Where the code goes on from an instruction: behind it, or where it jumps to. */
static void ways(void)
{
	unsigned int i, which, len;
	bool two, ends, jumps;
	u8 op, modrm;
	u64 slot;

	code_fill(0xcc);
	for (i = 0; i < NR_OPS; i++) {
		if (!put_nth(i, &two, &op, &modrm))
			continue;
		which = X86_MODRM_REG(modrm);
		jumps = is_jump(two, op);
		ends = two ? ONE_OF(op, 0x0b, 0xb9, 0xff) :
			     ONE_OF(op, 0xe9, 0xeb, 0xc2, 0xc3, 0xca, 0xcb, 0xcf, 0xf4, 0xcc) ||
			     (op == 0xff && (which == 4 || which == 5));
		/* The constant is @modrm, if it has one byte. */
		len = insn.length;
		if (len < 16)
			memset(code + AT + len, 0xcc, 64);
		same(hybrid_target_reaches(&code_mem, CODE_BASE + AT, CODE_BASE + AT + len,
					   &slot) == HYBRID_REACH_THERE,
		     !ends || (jumps && !insn.immediate.value));
		if (!jumps || insn.immediate.value < 24)
			continue;
		same(hybrid_target_reaches(&code_mem, CODE_BASE + AT,
					   CODE_BASE + AT + len + insn.immediate.value, &slot),
		     HYBRID_REACH_THERE);
	}
}

/* Jumps from memory: the slot of a PLT is relative to the instruction. */
static void slots(void)
{
	unsigned int modrm, which;
	bool is_slot;
	u64 slot;

	for (modrm = 0; modrm < 256; modrm++) {
		which = X86_MODRM_REG(modrm);
		code_fill(0xcc);
		if (!put_op(false, 0xff, modrm) || which < 4 || which > 5)
			continue;
		is_slot = !X86_MODRM_MOD(modrm) && X86_MODRM_RM(modrm) == 5;
		code[AT + 2] = 0x10;
		same(hybrid_target_reaches(&code_mem, CODE_BASE + AT, CODE_BASE, &slot),
		     HYBRID_REACH_INDIRECT);
		same(slot, is_slot ? CODE_BASE + AT + 6 + 0x10 : 0);
	}
	/* As many instructions as an entry has, and one more. */
	for (which = 0; which < 4; which++) {
		code_fill(0x90);
		CODE_PUT(AT + which, "\xff\xe0");
		same(hybrid_target_reaches(&code_mem, CODE_BASE + AT, CODE_BASE, &slot),
		     which < 3 ? HYBRID_REACH_INDIRECT : HYBRID_REACH_FAR);
	}
	/* In 32-bit code the address is none of the instruction's. */
	code_fill(0xcc);
	CODE_PUT(AT, "\xff\x25\x10\x00\x00\x00");
	code_mem.is_64bit = false;
	same(hybrid_target_reaches(&code_mem, CODE_BASE + AT, CODE_BASE, &slot),
	     HYBRID_REACH_INDIRECT);
	same(slot, 0);
	code_mem.is_64bit = true;
}

/* Calls of 2 to 7 bytes before an address show that a direct one need not be meant. */
static void indirect_calls(void)
{
	static const char *const calls[] = {
		"\xff\xd0", "\xff\x50\x08", "\xff\x54\x24\x08", "", "",
		/* e8 is the byte that says which registers are added. */
		"\xff\x94\xe8\x00\x01\x00\x00",
	};
	unsigned int len;

	for (len = 2; len <= 7; len++) {
		code_fill(0xcc);
		CODE_PUT(AT - 5, "\xe8\x00\x01\x00\x00");
		same(hybrid_call_target(&code_mem, CODE_BASE + AT), CODE_BASE + AT + 256);
		if (!calls[len - 2][0])
			continue;
		code_put(AT - len, calls[len - 2], len);
		/* The direct call is what is left of it, where it is longer. */
		if (len < 5)
			code[AT - 5] = 0xe8;
		same(hybrid_call_target(&code_mem, CODE_BASE + AT), 0);
	}
	/* push, in the same group, is no call. */
	code_fill(0xcc);
	CODE_PUT(AT - 5, "\xe8\x00\x01\xff\xf0");
	check(hybrid_call_target(&code_mem, CODE_BASE + AT));
	CODE_PUT(AT - 5, "\xe8\x00\x01\xff\xd8");
	check(!hybrid_call_target(&code_mem, CODE_BASE + AT));
	/* An indirect call that ends before; one at the beginning of the code. */
	CODE_PUT(AT - 5, "\xe8\x00\xff\xd0\x90");
	check(hybrid_call_target(&code_mem, CODE_BASE + AT));
	CODE_PUT(0, "\xe8\x00\x01\xff\xd0");
	check(!hybrid_call_target(&code_mem, CODE_BASE + 5));
	/* The code begins within the call; it is another opcode. */
	CODE_PUT(0, "\x00\x01\x00\x00");
	same(hybrid_call_target(&code_mem, CODE_BASE + 4), 0);
	CODE_PUT(AT - 5, "\xe9\x00\x01\x00\x00");
	same(hybrid_call_target(&code_mem, CODE_BASE + AT), 0);
	/* Addresses of 32 bits wrap around. */
	CODE_PUT(AT - 5, "\xe8\x00\x00\x00\x80");
	same(hybrid_call_target(&code_mem, CODE_BASE + AT), CODE_BASE + AT - 0x80000000ULL);
	code_mem.is_64bit = false;
	same(hybrid_call_target(&code_mem, CODE_BASE + AT), 0x80000000ULL + CODE_BASE + AT);
	code_mem.is_64bit = true;
}

/* What sets sp by more than a constant. */
static bool sets_sp(u8 op, u8 modrm, u8 rex)
{
	unsigned int reg = X86_MODRM_REG(modrm) | (rex & 4) << 1;
	unsigned int rm = X86_MODRM_RM(modrm) | (rex & 1) << 3;
	bool is_rm = X86_MODRM_MOD(modrm) == 3 && rm == 4;

	switch (op) {
	case 0x89:
		return is_rm;
	case 0x8b: case 0x8d:
		return reg == 4;
	case 0x87:
		return reg == 4 || is_rm;
	case 0x81: case 0x83:
		return is_rm && X86_MODRM_REG(modrm) == 4;
	case 0x5c:
		return !(rex & 1);
	default:
		return op == 0xc9;
	}
}

static void stack_pointer(void)
{
	u8 bytes[24];
	unsigned int i;
	u64 want;
	u8 rex;

	code_fill(0x90);
	for (i = 0; i < 4 * 65536; i++) {
		/* 48 to 4d: without what extends the index, which names no register that is set. */
		rex = 0x48 | (i >> 16 & 1) | (i >> 17) << 2;
		memset(bytes, 0x90, sizeof(bytes));
		bytes[0] = rex;
		bytes[1] = i >> 8;
		bytes[2] = i;
		if (insn_decode(&insn, bytes, sizeof(bytes), INSN_MODE_64) ||
		    insn.opcode.bytes[0] != bytes[1] || insn.opcode.nbytes != 1 ||
		    insn.vex_prefix.nbytes || insn.rex_prefix.value != rex ||
		    /* Only ModRM is tried, not what the byte is for others. */
		    (!insn.modrm.nbytes && bytes[2] != 0x90))
			continue;
		memcpy(code + AT, bytes, sizeof(bytes));
		want = sets_sp(bytes[1], bytes[2], rex) ? 0 : insn.length;
		if (!same(hybrid_sets_sp(&code_mem, CODE_BASE + AT,
					 CODE_BASE + AT + insn.length), CODE_BASE + AT + want))
			printf("# %02x %02x %02x\n", rex, bytes[1], bytes[2]);
	}
	/* vmovdqa, with the opcode of mov, and what can't be read. */
	CODE_PUT(AT, "\xc5\xf9\x87\xe4\x90");
	check(hybrid_sets_sp(&code_mem, CODE_BASE + AT, CODE_BASE + AT + 4) > CODE_BASE + AT ||
	      insn_decode(&insn, code + AT, 15, INSN_MODE_64));
	/* vsubps, with the opcode of pop %rsp */
	CODE_PUT(AT, "\xc5\xd8\x5c\xe1\x90");
	same(hybrid_sets_sp(&code_mem, CODE_BASE + AT, CODE_BASE + AT + 4), CODE_BASE + AT + 4);
	CODE_PUT(AT, "\x90\x62\x00\x90");
	same(hybrid_sets_sp(&code_mem, CODE_BASE + AT, CODE_BASE + AT + 3), CODE_BASE + AT + 1);
}

/**
 * struct between - an instruction of a function that switches stacks, or does the like
 * @bytes: of it
 * @len: of @bytes
 * @before: bytes by which it moves sp, before the switch; -1: it is not what is looked for
 * @behind: the same, behind the switch
 */
struct between {
	const char	*bytes;
	unsigned int	len;
	int		before;
	int		behind;
};

#define INSN(bytes, ...) { bytes, sizeof(bytes) - 1, __VA_ARGS__ }

/* mov %rbp,N(%rsp) in the forms that there are; push %rbp; mov %rsp,%rbp */
static void saves_bp(void)
{
	static const struct between of[] = {
		INSN("\x48\x89\x6c\x24\x10", 0, 0), INSN("\x48\x89\xac\x24\x10\0\0\0", 0, 0),
		INSN("\x90\x48\x89\x6c\x24\x10", 0, 0),
		INSN("\xc5\xf8\x77\x48\x89\x6c\x24\x10", 0, 0),
		INSN("\x55\x48\x89\xe5", 0, 0), INSN("\x55\x48\x89\xe6", -1, 0),
		/* Of 4 bytes; rbx; to (%rsp); to 16(%rax,%riz); to 16(%rsp,%rax); rsp as rm */
		INSN("\x89\x6c\x24\x10", -1, 0), INSN("\x48\x89\x5c\x24\x10", -1, 0),
		INSN("\x48\x89\x2c\x24", -1, 0), INSN("\x48\x89\x6c\x20\x10", -1, 0),
		INSN("\x48\x89\x6c\x04\x10", -1, 0), INSN("\x48\x89\xec", -1, 0),
		INSN("\x4c\x89\x6c\x24\x10", -1, 0), INSN("\x49\x89\x6c\x24\x10", -1, 0),
		INSN("\x48\x8b\x6c\x24\x10", -1, 0), INSN("\x40\x89\x6c\x24\x10", -1, 0),
		INSN("\x48\x89\x6d\x10", -1, 0),
		/* Behind a call, a jump. */
		INSN("\xff\xd0\x48\x89\x6c\x24\x10", -1, 0),
		INSN("\xeb\0\x48\x89\x6c\x24\x10", -1, 0),
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(of); i++) {
		code_fill(0xc3);
		code_put(AT, of[i].bytes, of[i].len);
		if (!same(hybrid_saves_bp(&code_mem, CODE_BASE + AT, CODE_BASE + AT + 64, 16),
			  !of[i].before))
			printf("# %u\n", i);
	}
	/* It ends within the prologue. */
	CODE_PUT(AT, "\x55\x48\x89\xe5");
	for (i = 1; i < 6; i++)
		same(hybrid_saves_bp(&code_mem, CODE_BASE + AT, CODE_BASE + AT + i, 16), i >= 4);
	check(!hybrid_saves_bp(&code_mem, CODE_BASE + CODE_SIZE, CODE_BASE + CODE_SIZE + 8, 16));
}

/* Instructions with VEX that may set ebp or rbp. */
static void vector_bp(void)
{
	unsigned int i, map, op, modrm;
	u8 bytes[16] = { 0xc4, 0, 0x79 };
	bool sets;

	for (i = 0; i < 3 * 256 * 64; i++) {
		map = 1 + i % 3;
		op = i / 3 % 256;
		modrm = 0xc0 | i / 768;
		bytes[1] = 0xe0 | map;
		bytes[3] = op;
		bytes[4] = modrm;
		if (insn_decode(&insn, bytes, sizeof(bytes), INSN_MODE_64))
			continue;
		sets = ONE_OF(op, 0x14, 0x15, 0x16, 0x17, 0x2c, 0x2d, 0x50, 0x78, 0x79, 0x7e, 0x93,
			      0xc5, 0xd7) &&
		       (X86_MODRM_REG(modrm) == 5 || X86_MODRM_RM(modrm) == 5);
		if (map != 1 && op >= 0xf0)
			sets = true;
		if (!same(hybrid_vex_sets_bp(&insn), sets))
			printf("# map %u, %02x %02x\n", map, op, modrm);
	}
}

/* What may stand before a function that switches stacks. */
static void before_functions(void)
{
	unsigned int byte;

	for (byte = 0; byte < 256; byte++) {
		code_fill(0xcc);
		/* mov %rdi,%rsp; ret */
		CODE_PUT(AT, "\x48\x89\xfc\xc3");
		code[AT - 1] = byte;
		same(hybrid_switch_rule(&code_mem, CODE_BASE + AT, &rule),
		     ONE_OF(byte, 0x00, 0x90, 0xc3, 0xcc, 0xf4));
	}
	/* Nothing is before it. */
	CODE_PUT(0, "\x48\x89\xfc\xc3");
	check(hybrid_switch_rule(&code_mem, CODE_BASE, &rule));
}

static void switches(void)
{
	static const struct between of[] = {
		INSN("\x50", 8, 8), INSN("\x55", 8, 8), INSN("\x41\x57", 8, 8),
		INSN("\x58", -1, -8), INSN("\x5d", -1, -8), INSN("\x5c", -1, -1),
		INSN("\x48\x83\xec\x18", 24, 24), INSN("\x48\x83\xc4\x18", -24, -24),
		INSN("\x48\x81\xec\x00\x01\x00\x00", 256, 256), INSN("\x48\x83\xe4\xf0", -1, -1),
		INSN("\x48\x8d\x64\x24\xe8", 24, 24), INSN("\x8d\x64\x24\xe8", -1, -1),
		INSN("\x48\x8d\x64\x04\xe8", -1, -1), INSN("\x48\x8d\x60\xe8", -1, -1),
		INSN("\x49\x8d\x64\x24\xe8", -1, -1), INSN("\x4a\x8d\x64\x24\xe8", -1, -1),
		INSN("\x48\x8d\x43\x08", 0, 0), INSN("\x48\x8d\x6b\x08", -1, -1),
		/* Moves to memory, to and from registers; of rbp only from the new stack. */
		INSN("\x48\x89\x27", 0, 0), INSN("\x48\x89\xd8", 0, 0),
		INSN("\x48\x89\xdd", -1, -1),
		INSN("\x48\x8b\x1f", 0, 0), INSN("\x48\x8b\x6c\x24\x08", -1, 0),
		INSN("\x8b\x6c\x24\x08", -1, -1), INSN("\x48\x8b\x6f\x08", -1, -1),
		INSN("\x48\x8b\x27", 0, -1), INSN("\x48\x89\xf4", 0, -1),
		/* Numbers and other registers. */
		INSN("\x31\xc0", 0, 0), INSN("\x31\xed", -1, -1), INSN("\x48\x83\xc5\x08", -1, -1),
		INSN("\x48\xc7\xc0\0\0\0\0", 0, 0), INSN("\x48\xc7\xc4\0\0\0\0", 0, 0),
		INSN("\x48\x83\x04\x24\x08", 0, 0), INSN("\x31\x04\x24", 0, 0),
		/* test, nop, fwait, fldcw, fnclex; endbr64, nopl, movaps, stmxcsr */
		INSN("\x85\xc0", 0, 0), INSN("\x90", 0, 0), INSN("\x9b", 0, 0),
		INSN("\xd9\x2c\x24", 0, 0), INSN("\xdb\xe2", 0, 0), INSN("\xf3\x0f\x1e\xfa", 0, 0),
		INSN("\x0f\x1f\x00", 0, 0), INSN("\x0f\x29\x04\x24", 0, 0),
		INSN("\x0f\x28\x04\x24", 0, 0), INSN("\x0f\x10\x04\x24", 0, 0),
		INSN("\x0f\x11\x04\x24", 0, 0), INSN("\x0f\x77", 0, 0),
		INSN("\x0f\xae\x1c\x24", 0, 0), INSN("\x0f\x05", -1, -1), INSN("\x0f\xa2", -1, -1),
		/* call, jmp, je, leave, syscall, ret, vzeroupper */
		INSN("\xe8\0\0\0\0", -1, -1), INSN("\xeb\0", -1, -1), INSN("\x74\0", -1, -1),
		INSN("\xc9", -1, -1), INSN("\xff\xe0", -1, -1), INSN("\xc5\xf8\x77", -1, -1),
		INSN("\xff\xd0", -1, -1),
	};
	unsigned int i;
	bool found;

	for (i = 0; i < ARRAY_SIZE(of); i++) {
		code_fill(0xcc);
		code_put(AT, of[i].bytes, of[i].len);
		CODE_PUT(AT + of[i].len, "\x48\x89\xfc\xc3");
		/* Those that switch do it twice then. */
		found = of[i].before != -1 && of[i].behind != -1;
		if (!same(hybrid_switch_rule(&code_mem, CODE_BASE + AT + of[i].len, &rule), found))
			printf("# %u, before\n", i);
		if (found)
			same(rule.cfa_off, 8 + of[i].before);
		CODE_PUT(AT, "\x48\x89\xfc");
		code_put(AT + 3, of[i].bytes, of[i].len);
		code[AT + 3 + of[i].len] = 0xc3;
		found = of[i].behind != -1;
		if (!same(hybrid_switch_rule(&code_mem, CODE_BASE + AT + 3, &rule), found))
			printf("# %u, behind\n", i);
		if (found)
			same(rule.cfa_off, 8 - of[i].behind);
	}
}

/* What may stand between a pop and mov %rcx,%rsp; ret. */
static void saved_sp(void)
{
	static const struct between of[] = {
		INSN("\x5a", 0, 0), INSN("\x5c", -1, 0), INSN("\x5d", -1, 0), INSN("\x59", 8, 0),
		INSN("\x41\x59", 0, 0), INSN("\x41\x5c", 0, 0), INSN("\x74\x02", 0, 0),
		INSN("\x90", 0, 0), INSN("\x48\x39\xc8", 0, 0), INSN("\x48\x3b\xc8", 0, 0),
		INSN("\x85\xc9", 0, 0), INSN("\x48\x83\xe8\x01", 0, 0),
		INSN("\x48\x81\xe8\1\0\0\0", 0, 0), INSN("\x48\x83\xe9\x01", -1, 0),
		INSN("\x48\x83\xec\x08", -1, 0), INSN("\x48\x83\xc5\x08", -1, 0),
		INSN("\x48\x83\x00\x08", -1, 0), INSN("\x48\xc7\xc0\0\0\0\0", 0, 0),
		INSN("\xc7\xc1\0\0\0\0", -1, 0), INSN("\x50", -1, 0), INSN("\xeb\0", -1, 0),
		INSN("\xc5\xf8\x77", -1, 0), INSN("\x49\x83\xc1\x08", 0, 0),
	};
	/* mov of 4 bytes; to another register; to memory; mov of another opcode; xchg; r12 */
	static const char *const ends[] = {
		"\x90\x89\xcc\xc3", "\x48\x89\xc8\xc3", "\x48\x89\x0c\x24", "\x48\x8b\xcc\xc3",
		"\x48\x87\xcc\xc3", "\x49\x89\xcc\xc3", "\x48\x89\xd4\xc3", "\x48\x89\xcc\xc2",
	};
	unsigned int i;
	bool found;

	for (i = 0; i < ARRAY_SIZE(of); i++) {
		code_fill(0xcc);
		code[AT] = 0x59;
		code_put(AT + 1, of[i].bytes, of[i].len);
		CODE_PUT(AT + 1 + of[i].len, "\x48\x89\xcc\xc3");
		found = of[i].before != -1;
		if (!same(hybrid_saved_sp_rule(&code_mem, CODE_BASE + AT, &rule), found))
			printf("# %u\n", i);
		if (found)
			same(rule.cfa_off, of[i].before);
	}
	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		code_fill(0xcc);
		code[AT] = 0x59;
		code_put(AT + 1, ends[i], 4);
		check(!hybrid_saved_sp_rule(&code_mem, CODE_BASE + AT, &rule));
	}
	code_fill(0xcc);
	CODE_PUT(AT, "\x59\x48\x89\xcc\xc3");
	check(hybrid_saved_sp_rule(&code_mem, CODE_BASE + AT, &rule));
	code_mem.is_64bit = false;
	check(!hybrid_saved_sp_rule(&code_mem, CODE_BASE + AT, &rule));
	code_mem.is_64bit = true;
	/* The return can't be read. */
	CODE_PUT(CODE_SIZE - 4, "\x59\x48\x89\xcc");
	check(!hybrid_saved_sp_rule(&code_mem, CODE_BASE + CODE_SIZE - 4, &rule));
}

/* nop; instruction; leave: do both nops and leave have the frame? */
static void around(void)
{
	static const struct between of[] = {
		/* Which of the three are marked from the last, from the first: a bit for each. */
		INSN("\x90", 7, 7), INSN("\x50", 7, 7), INSN("\x48\x89\xd8", 7, 7),
		INSN("\x55", 4, 1), INSN("\xc3", 4, 1), INSN("\xc2\0\0", 4, 1),
		INSN("\xe9\0\0\0\0", 4, 3), INSN("\xeb\0", 4, 3), INSN("\xcc", 4, 3),
		INSN("\xf4", 4, 3), INSN("\x0f\x0b", 4, 3), INSN("\xff\xe0", 4, 3),
		INSN("\xff\xd0", 7, 7), INSN("\xe8\0\0\0\0", 7, 7), INSN("\xff\xf0", 7, 7),
		INSN("\x0f\x1f\x00", 7, 7), INSN("\x48\x89\xdd", 4, 3), INSN("\x5d", 4, 3),
		INSN("\xc9", 4, 3), INSN("\xc5\xf8\x77", 7, 7), INSN("\xc5\xf9\x7e\xc5", 4, 1),
		INSN("\x62\x00", 4, 1),
	};
	u64 begins[2 * HYBRID_AROUND / 64];
	unsigned int i, j, at[3], marked, bit;

	for (i = 0; i < ARRAY_SIZE(of); i++) {
		code_fill(0xcc);
		at[0] = AT;
		at[1] = AT + 1;
		at[2] = AT + 1 + of[i].len;
		code[AT] = 0x90;
		code_put(at[1], of[i].bytes, of[i].len);
		CODE_PUT(at[2], "\x90\xc9\xc3");
		for (j = 0; j < 2; j++) {
			unsigned int from = at[j ? 0 : 2], n;

			hybrid_frame_around(&code_mem, CODE_BASE + from, begins);
			for (n = 0, marked = 0; n < 3; n++) {
				bit = HYBRID_AROUND + at[n] - from;
				marked |= (begins[bit / 64] >> bit % 64 & 1) << n;
			}
			if (!same(marked, j ? of[i].behind : of[i].before))
				printf("# %u, from %u\n", i, j);
		}
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "guards: effects of all instructions",	effects },
		{ "guards: where they lead",			ways },
		{ "guards: slots of a PLT",			slots },
		{ "guards: indirect calls",			indirect_calls },
		{ "guards: what sets sp",			stack_pointer },
		{ "guards: how Go saves bp",			saves_bp },
		{ "guards: vector instructions that set bp",	vector_bp },
		{ "guards: what is before functions",		before_functions },
		{ "guards: functions that switch stacks",	switches },
		{ "guards: functions that saved sp",		saved_sp },
		{ "guards: frames around an address",		around },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
