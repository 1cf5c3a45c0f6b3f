// SPDX-License-Identifier: GPL-2.0
/*
 * x86 frame analysis: jumps by a table of targets.
 *
 * Position-independent code jumps with lea table(%rip),%rX; movslq
 * (%rX,%rY,4),%rZ; add %rX,%rZ; jmp *%rZ.  What is added may be from another
 * lea, and the sum in either register.  Other code jumps with
 * jmp *table(,%rX,8).
 */
#include <linux/build_bug.h>
#include <linux/types.h>

#include "x86-frame-scan.h"

/* Bytes before a jump where the lea of its table is looked for. */
#define X86_TABLE_BEHIND	56
/* Bytes of the lea. */
#define X86_TABLE_LEA		7
/* Entries of a table tried. */
#define X86_TABLE_ENTRIES	4

/**
 * struct x86_table - how straight code works out where it jumps
 * @lea:	what lea with an address by ip put in a register, from ip
 * @known:	in which registers
 * @table:	the table that an entry was loaded from
 * @base:	what was added to it
 * @entry:	the register of the entry
 * @sum:	the register of the sum, -1 while there is none
 * @met:	the start of the stretch has been met
 * @code:	the instruction being looked at
 */
struct x86_table {
	s32	lea[16];
	u16	known;
	s8	entry;
	s8	sum;
	bool	met;
	s32	table;
	s32	base;
	struct x86_code code;
};

static bool is_lea_by_ip(const u8 *p)
{
	return (p[0] & 0xfb) == 0x48 && p[1] == 0x8d && (p[2] & 0xc7) == 5;
}

/* @sum is @a and @b, one of them the entry, the other one by a lea. */
static void note_sum(struct x86_table *t, int sum, int a, int b)
{
	int base = t->entry == a ? b : a;

	if ((t->entry != a && t->entry != b) || !(t->known >> base & 1))
		return;
	t->base = t->lea[base];
	t->sum = sum;
}

/* One of the two kinds of add, between registers of 64 bits. */
static void note_add(struct x86_table *t, const u8 *p)
{
	int reg, rm;

	if ((p[0] & 0xf8) != 0x48 || (p[1] != 0x01 && p[1] != 0x03) ||
	    X86_MODRM_MOD(p[2]) != 3)
		return;
	reg = X86_MODRM_REG(p[2]) | (p[0] & 4) << 1;
	rm = X86_MODRM_RM(p[2]) | (p[0] & 1) << 3;
	note_sum(t, p[1] == 0x01 ? rm : reg, rm, reg);
}

/* lea and movslq; @next is where the instruction ends. */
static void note_code(struct x86_table *t, s32 next)
{
	const struct x86_code *code = &t->code;
	int reg = x86_modrm_reg(code), base, index;

	if (code->map != X86_MAP_ONE || !(code->rex & 8))
		return;
	if (code->op == 0x8d && (code->modrm & 0xc7) == 5) {
		t->lea[reg] = x86_pc_add(next, code->disp);
		t->known |= 1 << reg;
		return;
	}
	if (X86_MODRM_MOD(code->modrm) == 3 || X86_MODRM_RM(code->modrm) != 4 ||
	    code->disp)
		return;
	base = x86_reg_number(code, X86_SIB_BASE(code->sib), 1);
	index = x86_reg_number(code, X86_SIB_INDEX(code->sib), 2);
	if (code->op == 0x63 && X86_SIB_SCALE(code->sib) == 2 &&
	    t->known >> base & 1) {
		t->table = t->lea[base];
		t->entry = reg;
		t->sum = -1;
	} else if (code->op == 0x8d && !X86_SIB_SCALE(code->sib)) {
		note_sum(t, reg, base, index);
	}
}

/* Follows the instruction at @pc, in the window; where the next one starts. */
static s32 follow(const struct x86_scan *scan, struct x86_table *t, s32 pc)
{
	const u8 *p = scan->work->window + (pc - scan->win_pc);
	struct x86_code *code = &t->code;
	unsigned int quiet;
	s32 next;

	scan->work->insns++;
	next = pc + (x86_decode_next(p, p, 1, true, code, &quiet) - p);
	if (quiet) {
		note_add(t, p);
		return next;
	}
	if (!code->len)
		return X86_SCAN_REACH;
	next += code->len;
	note_code(t, next);
	return next;
}

/*
 * Is the table known by what stands from @pc, in the window, to the jump?  The
 * path came to where its stretch starts and to the jump, so from @pc one has to
 * come there as well, or there is no instruction.
 */
static bool leads_to_jump(struct x86_scan *scan, s32 pc)
{
	const struct x86_path *path = &scan->work->path;
	/* A jump has been decoded, so nobody needs this memory now. */
	struct x86_table *t = (struct x86_table *)scan->work->decoder;

	static_assert(sizeof(*t) <= sizeof(scan->work->decoder));
	static_assert(X86_TABLE_BEHIND + X86_QUICK_BYTES <= sizeof(scan->work->window));
	t->known = 0;
	t->entry = -1;
	t->sum = -1;
	t->met = pc >= scan->start;
	for (; pc < path->pc; pc = follow(scan, t, pc))
		t->met |= pc == scan->start;
	if (pc != path->pc || !(t->met || pc == scan->start) ||
	    t->sum < 0 || t->sum != x86_modrm_rm(&scan->code))
		return false;
	scan->table = t->table;
	scan->base = t->base;
	return true;
}

/**
 * x86_find_table - find the table that a jump goes by
 * @scan:	the scan, its path at the jump
 *
 * A jump by a register has the lea of its table before it, maybe behind ip: the
 * nearest that leads to the jump is taken.
 *
 * Returns: false where there is none
 */
bool x86_find_table(struct x86_scan *scan)
{
	s32 pc = scan->work->path.pc;

	if (X86_MODRM_MOD(scan->code.modrm) != 3)
		return true;
	if (!scan->mem->is_64bit)
		return false;
	x86_fill_window(scan, pc - X86_TABLE_BEHIND);
	if (scan->win_len < X86_TABLE_BEHIND)
		return false;
	for (pc -= X86_TABLE_LEA; pc >= scan->win_pc && !x86_is_spent(scan); pc--)
		if (is_lea_by_ip(scan->work->window + (pc - scan->win_pc)) &&
		    leads_to_jump(scan, pc))
			return true;
	return false;
}

/*
 * Entry @i of the table that the path jumps by, as offset from ip; false where
 * there is none.
 */
static bool table_entry(struct x86_scan *scan, unsigned int i, s64 *pc)
{
	unsigned long table = scan->ip + scan->table;
	unsigned int ws = scan->mem->is_64bit ? 8 : 4;
	const struct x86_code *code = &scan->code;
	u8 entry[8];

	if (X86_MODRM_MOD(code->modrm) == 3) {
		if (x86_scan_read(scan, table + 4 * i, entry, 4) != 4)
			return false;
		*pc = (s64)scan->base + (s32)x86_get_le32(entry);
		return true;
	}
	if ((code->modrm & 0xc7) != 4 || X86_SIB_BASE(code->sib) != 5 ||
	    (1U << X86_SIB_SCALE(code->sib)) != ws)
		return false;
	table = ws == 8 ? (long)code->disp : (u32)code->disp;
	if (x86_scan_read(scan, table + ws * i, entry, ws) != ws)
		return false;
	*pc = x86_get_le32(entry);
	if (ws == 8)
		*pc |= (s64)x86_get_le32(entry + 4) << 32;
	*pc -= (s64)scan->ip;
	return true;
}

/**
 * x86_follow_table - go on where an entry of a table says
 * @scan:	the scan, its path at the jump, and the table found
 *
 * Returns: false where there is no entry to follow
 */
bool x86_follow_table(struct x86_scan *scan)
{
	unsigned int i;
	s64 pc;

	for (i = 0; i < X86_TABLE_ENTRIES; i++) {
		if (!table_entry(scan, i, &pc) || pc >= X86_SCAN_REACH ||
		    pc <= -X86_SCAN_REACH)
			return false;
		if (!x86_is_known(scan, pc))
			break;
	}
	scan->work->path.pc = pc;
	return i < X86_TABLE_ENTRIES;
}
