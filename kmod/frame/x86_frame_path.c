// SPDX-License-Identifier: GPL-2.0
/*
 * x86 frame analysis: which code a search follows, and what it looks up aside of a path.
 *
 * The search keeps the paths that wait for their turn, and the stretches of code that it has
 * followed. A jump by a table goes on at an entry of the table. Position-independent code jumps by
 * lea table(%rip),%rX; movslq (%rX,%rY,4),%rZ; add %rX,%rZ; jmp *%rZ. What is added may be from
 * another lea, and the sum in either register. Other code jumps by jmp *table(,%rX,8).
 */
#include <linux/build_bug.h>
#include <linux/types.h>

#include "x86_frame_scan.h"

/* How many bytes before an instruction are searched for a write to its register. */
#define X86_KEPT_BEHIND	(X86_FRAME_WINDOW - X86_QUICK_BYTES)

/* How many bytes before a jump are searched for the lea of its table. */
#define X86_TABLE_BEHIND	56
/* Length of the lea. */
#define X86_TABLE_LEA		7
/* How many entries of a table are tried. */
#define X86_TABLE_ENTRIES	4

/**
 * struct x86_table - how straight code computes where it jumps
 * @lea:	the addresses that lea loaded into registers, as offsets from ip
 * @known:	a bit for each register that has one
 * @table:	the table that an entry was loaded from
 * @base:	the address that was added to it
 * @entry:	the register of the entry
 * @sum:	the register of the sum; -1: none yet
 * @met:	one of the instructions was the start of the stretch
 * @code:	the current instruction
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

/**
 * x86_frame_start_stretch - start to follow code at the path's pc
 * @scan:	the scan
 *
 * Returns: false if this code has been followed before
 */
bool x86_frame_start_stretch(struct x86_scan *scan)
{
	struct x86_frame_work *work = scan->work;
	s32 pc = work->path.pc;
	int i;

	scan->start = pc;
	scan->stop = X86_SCAN_REACH;
	for (i = 0; i < scan->nr_seen; i++) {
		s32 from = work->seen[i].from;

		if (from > pc) {
			if (from < scan->stop)
				scan->stop = from;
		} else if (pc < work->seen[i].to) {
			return false;
		}
	}
	return pc < X86_SCAN_REACH && pc > -X86_SCAN_REACH;
}

/**
 * x86_frame_end_stretch - remember a stretch
 * @scan:	the scan
 * @end:	where it ends
 */
void x86_frame_end_stretch(struct x86_scan *scan, s32 end)
{
	struct x86_frame_work *work = scan->work;
	int i;

	/* Far stretches are not kept: 16 bits do for nearly all functions. */
	if (scan->start != (s16)scan->start || end != (s16)end)
		return;
	for (i = 0; i < scan->nr_seen; i++)
		if (work->seen[i].from == end) {
			work->seen[i].from = scan->start;
			return;
		}
	if (scan->nr_seen == X86_FRAME_SEEN)
		return;
	work->seen[scan->nr_seen].from = scan->start;
	work->seen[scan->nr_seen].to = end;
	scan->nr_seen++;
}

/* Has the code at @pc been followed, or will it be? */
static bool is_known(const struct x86_scan *scan, s32 pc)
{
	const struct x86_frame_work *work = scan->work;
	int i;

	if (pc >= scan->start && pc <= work->path.pc)
		return true;
	for (i = 0; i < scan->nr_seen; i++)
		if (pc >= work->seen[i].from && pc < work->seen[i].to)
			return true;
	for (i = 0; i < scan->nr_todo; i++)
		if (work->todo[i].pc == pc)
			return true;
	return false;
}

/**
 * x86_frame_contradicts - does a waiting path come to the same code with another sp?
 * @scan:	the scan, its path being the current one
 * @pc:		the code that both come to
 *
 * If so, and if the current path went over more calls, one of these calls never returns. For
 * example a call that reports an error, and takes arguments on the stack.
 *
 * Returns: true if so
 */
bool x86_frame_contradicts(const struct x86_scan *scan, s32 pc)
{
	const struct x86_frame_work *work = scan->work;
	const struct x86_path *path = &work->path, *todo = work->todo;
	int i;

	if (!path->called || path->sp_base != X86_BASE_SP)
		return false;
	for (i = 0; i < scan->nr_todo; i++)
		if (todo[i].pc == pc)
			return todo[i].sp_base == X86_BASE_SP &&
			       todo[i].sp != path->sp &&
			       todo[i].called < path->called;
	return false;
}

/**
 * x86_frame_end_run - the path leaves the straight code from ip on
 * @path:	the path
 */
void x86_frame_end_run(struct x86_path *path)
{
	/* No overflow: straight code is no longer than the budget allows. */
	if (!path->run)
		path->run = path->pc + 1;
}

/**
 * x86_frame_add_todo - let a copy of the path wait
 * @scan:	the scan
 * @pc:		where the copy continues
 */
void x86_frame_add_todo(struct x86_scan *scan, s32 pc)
{
	struct x86_frame_work *work = scan->work;

	if (scan->nr_todo == X86_FRAME_TODO || is_known(scan, pc))
		return;
	work->todo[scan->nr_todo] = work->path;
	x86_frame_end_run(&work->todo[scan->nr_todo]);
	work->todo[scan->nr_todo++].pc = pc;
}

/* The waiting path with the lowest or, if @last, the highest address. */
static int pick_todo(const struct x86_scan *scan, bool last)
{
	const struct x86_path *todo = scan->work->todo;
	int i, best = 0;

	for (i = 1; i < scan->nr_todo; i++)
		if (last ? todo[i].pc > todo[best].pc :
			   todo[i].pc < todo[best].pc)
			best = i;
	return best;
}

/**
 * x86_frame_next_todo - follow a path that has waited
 * @scan:	the scan
 *
 * This is the path with the lowest address. Compilers put likely code first, so an exit is found
 * there more often than in the handling of errors.
 *
 * Returns: false if no path waits
 */
bool x86_frame_next_todo(struct x86_scan *scan)
{
	struct x86_frame_work *work = scan->work;
	int pick;

	while (scan->nr_todo) {
		pick = pick_todo(scan, false);
		work->path = work->todo[pick];
		work->todo[pick] = work->todo[--scan->nr_todo];
		if (x86_frame_start_stretch(scan))
			return true;
	}
	return false;
}

/**
 * x86_frame_take_turns - let a long path wait
 * @scan:	the scan, with a path that waits
 *
 * The path with the highest address is followed instead: after a branch over much code the exit
 * may be near.
 *
 * Returns: false if there is no path to follow
 */
bool x86_frame_take_turns(struct x86_scan *scan)
{
	struct x86_frame_work *work = scan->work;
	int pick = pick_todo(scan, true);
	struct x86_path next = work->todo[pick];

	x86_frame_end_stretch(scan, work->path.pc);
	work->todo[pick] = work->path;
	work->path = next;
	return x86_frame_start_stretch(scan) || x86_frame_next_todo(scan);
}

static bool is_lea_by_ip(const u8 *p)
{
	return (p[0] & 0xfb) == 0x48 && p[1] == 0x8d && (p[2] & 0xc7) == 5;
}

/* @sum is the sum of @a and @b. Of these one has to be the entry, and the other from a lea. */
static void note_sum(struct x86_table *t, int sum, int a, int b)
{
	int base = t->entry == a ? b : a;

	if ((t->entry != a && t->entry != b) || !(t->known >> base & 1))
		return;
	t->base = t->lea[base];
	t->sum = sum;
}

/* An add of two 64-bit registers, in either encoding. */
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

/* lea or movslq; @next: the end of the instruction. */
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

/* Follows the instruction at @pc, which is in the window. Returns where the next one starts. */
static s32 follow(struct x86_scan *scan, struct x86_table *t, s32 pc)
{
	const u8 *p = scan->work->window + (pc - scan->win_pc);
	struct x86_code *code = &t->code;
	unsigned int quiet;
	s32 next;

	scan->work->insns++;
	next = pc + (x86_frame_decode_next(p, p, 1, true, code, &quiet) - p);
	if (quiet) {
		note_add(t, p);
		return next;
	}
	if (!code->len)
		return X86_SCAN_REACH;
	x86_charge(scan, X86_SCAN_NOT_QUIET);
	next += code->len;
	note_code(t, next);
	return next;
}

/*
 * Does the code from @pc to the jump compute the jump's target? The path came to the start of its
 * stretch and to the jump. So the code from @pc has to come to both, or no instruction starts
 * at @pc.
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
 * x86_frame_find_table - find the table that a jump goes by
 * @scan:	the scan, its path at the jump
 *
 * If the jump is by a register, a lea before it loads the table's address. The lea may be before
 * ip. The last lea that leads to the jump is taken.
 *
 * Returns: false if there is none
 */
bool x86_frame_find_table(struct x86_scan *scan)
{
	s32 pc = scan->work->path.pc;

	if (X86_MODRM_MOD(scan->code.modrm) != 3)
		return true;
	if (!scan->mem->is_64bit)
		return false;
	x86_charge(scan, X86_SCAN_TABLE);
	x86_frame_fill_window(scan, pc - X86_TABLE_BEHIND);
	if (scan->win_len < X86_TABLE_BEHIND)
		return false;
	for (pc -= X86_TABLE_LEA; pc >= scan->win_pc && !x86_is_spent(scan); pc--)
		if (is_lea_by_ip(scan->work->window + (pc - scan->win_pc)) &&
		    leads_to_jump(scan, pc))
			return true;
	return false;
}

/* Reads entry @i of the table, as offset from ip. False if it can't be read. */
static bool table_entry(struct x86_scan *scan, unsigned int i, s64 *pc)
{
	unsigned long table = scan->ip + scan->table;
	unsigned int ws = scan->mem->is_64bit ? 8 : 4;
	const struct x86_code *code = &scan->code;
	u8 entry[8];
	u64 target;

	if (X86_MODRM_MOD(code->modrm) == 3) {
		if (x86_frame_scan_read(scan, table + 4 * i, entry, 4) != 4)
			return false;
		*pc = (s64)scan->base + (s32)x86_get_le32(entry);
		return true;
	}
	if ((code->modrm & 0xc7) != 4 || X86_SIB_BASE(code->sib) != 5 ||
	    (1U << X86_SIB_SCALE(code->sib)) != ws)
		return false;
	table = ws == 8 ? (long)code->disp : (u32)code->disp;
	if (x86_frame_scan_read(scan, table + ws * i, entry, ws) != ws)
		return false;
	target = x86_get_le32(entry);
	if (ws == 8)
		target |= (u64)x86_get_le32(entry + 4) << 32;
	/* Without a sign: the entry may be anything. */
	*pc = target - scan->ip;
	return true;
}

/**
 * x86_frame_follow_table - let the path continue at an entry of the table
 * @scan:	the scan, its path at the jump, with the table found
 *
 * Returns: false if there is no entry to follow
 */
bool x86_frame_follow_table(struct x86_scan *scan)
{
	unsigned int i;
	s64 pc;

	for (i = 0; i < X86_TABLE_ENTRIES; i++) {
		if (!table_entry(scan, i, &pc) || pc >= X86_SCAN_REACH ||
		    pc <= -X86_SCAN_REACH)
			return false;
		if (!is_known(scan, pc))
			break;
	}
	scan->work->path.pc = pc;
	return i < X86_TABLE_ENTRIES;
}

/*
 * Does the code from @pc on, which is in the window, come to @end? @written: out: it sets @reg
 */
static bool comes_to(struct x86_scan *scan, s32 pc, s32 end, int reg, bool *written)
{
	struct x86_path *path = &scan->work->aside;
	s32 target;

	path->kept = X86_KEPT_SP;
	path->kept_reg = reg;
	*written = false;
	while (pc < end) {
		scan->work->insns++;
		if (x86_is_spent(scan) || !x86_frame_decode_window(scan, pc - scan->win_pc)) {
			*written = true;
			return false;
		}
		x86_frame_step(&scan->code, path, &target);
		pc += scan->code.len;
		*written = path->kept != X86_KEPT_SP;
	}
	return pc == end;
}

/* Is @reg set in the straight code from ip on? Then ip is in the prologue. */
static bool is_set_ahead(struct x86_scan *scan, int reg)
{
	const struct x86_path *path = &scan->work->path;
	s32 run = path->run ? path->run - 1 : path->pc;
	bool written = true;

	x86_frame_fill_window(scan, 0);
	if (run > X86_KEPT_BEHIND)
		run = X86_KEPT_BEHIND;
	if (run > scan->win_len)
		return true;
	/* The last instruction may end after the run. */
	comes_to(scan, 0, run, reg, &written);
	return written;
}

/**
 * x86_frame_is_kept - does a register that sp is set from still have its value of ip?
 * @scan:	the scan, its path at the instruction that sets sp
 * @reg:	the register
 *
 * The search skips most instructions that set other registers. So the code right before the
 * instruction is decoded again: code that computes sp in a register does it there (OpenSSL).
 * The straight code from ip on is decoded, too: a prologue sets the register soon after ip.
 *
 * The decoded instruction of @scan is overwritten.
 *
 * Returns: false if the register is set there, or if that is not known
 */
bool x86_frame_is_kept(struct x86_scan *scan, int reg)
{
	s32 end = scan->work->path.pc, pc = end - X86_KEPT_BEHIND;
	bool written = true;

	scan->work->aside = (struct x86_path) { .pc = 0 };
	if (pc < scan->start)
		pc = scan->start;
	if (is_set_ahead(scan, reg))
		return false;
	x86_frame_fill_window(scan, pc);
	for (; pc < end && scan->win_len > end - pc && !x86_is_spent(scan); pc++)
		if (comes_to(scan, pc, end, reg, &written) || pc == scan->start)
			break;
	return pc == end || !written;
}
