// SPDX-License-Identifier: GPL-2.0
/*
 * x86 frame analysis: the bounded scan from ip to an exit of the function.
 *
 * Whatever path leads from ip to a return, sp is at the return address there.
 * So the first path found to its end tells where the return address is now.
 * A path that can't be followed tells nothing, and the next one is tried.
 */
#include <linux/compiler.h>
#include <linux/types.h>
#include <asm/insn.h>

#include "x86-frame-scan.h"

/* Instructions decoded, at most. */
#define X86_SCAN_INSNS	512
/* Instructions after which another path gets its turn. */
#define X86_SCAN_TURN	128
/* Jumps as far as this could lead to the unlikely part of a function. */
#define X86_SCAN_NEAR		0x4000
/* The same for a path that went over more than one call. */
#define X86_SCAN_NEAR_CALLS	0x1000
/* Entries of a jump table tried. */
#define X86_SCAN_ENTRIES	4
/* No function is larger than this, in bytes to either side of ip. */
#define X86_SCAN_REACH	0x10000000

/**
 * struct x86_scan - the state of a scan
 * @mem:	the code
 * @ip:		where the scan starts
 * @insn:	the instruction being looked at
 * @work:	the path being followed, those still to follow, and more
 * @start:	where the stretch being followed started
 * @stop:	where it runs into another one
 * @win_pc:	offset of the code read from @ip
 * @win_len:	bytes of it
 * @table:	what the stretch's last lea took the address of, as offset from @ip
 * @has_table:	there was one
 * @has_entry:	and behind it an entry was loaded by its index
 * @nr_todo:	number of paths to follow
 * @nr_seen:	number of stretches
 */
struct x86_scan {
	const struct x86_frame_mem *mem;
	unsigned long	ip;
	struct insn	insn;
	struct x86_frame_work *work;
	s32		start;
	s32		stop;
	s32		win_pc;
	u8		win_len;
	u8		nr_todo;
	u8		nr_seen;
	bool		has_table;
	bool		has_entry;
	s32		table;
};

static int word_size(const struct x86_scan *scan)
{
	return scan->mem->is_64bit ? 8 : 4;
}

/* The bytes at @pc, at least @len of them. */
static const u8 *window_at(struct x86_scan *scan, s32 pc, unsigned int len)
{
	unsigned int off = pc - scan->win_pc;

	if (pc < scan->win_pc || off + len > scan->win_len) {
		scan->win_pc = pc;
		scan->win_len = x86_frame_fetch(scan->mem, scan->ip + pc,
						scan->work->window,
						X86_FRAME_WINDOW);
		if (len > scan->win_len)
			return NULL;
		off = 0;
	}
	return scan->work->window + off;
}

/*
 * Decodes in the decoder's own steps: insn_decode() nests seven functions,
 * which costs stack.
 */
static bool decode(struct x86_scan *scan)
{
	struct insn *insn = &scan->insn;
	s32 pc = scan->work->path.pc;
	const u8 *code = window_at(scan, pc, MAX_INSN_SIZE);
	int len = MAX_INSN_SIZE;

	if (!code) {
		len = scan->win_len;
		code = scan->work->window;
	}
	insn_init(insn, code, len, scan->mem->is_64bit);
	return !insn_get_prefixes(insn) && !insn_get_opcode(insn) &&
	       !insn_get_modrm(insn) && !insn_get_displacement(insn) &&
	       !insn_get_immediate(insn) && !insn_get_length(insn) &&
	       insn->length;
}

/* Starts a stretch; false where it has been followed before. */
static bool start_stretch(struct x86_scan *scan)
{
	s32 pc = scan->work->path.pc;
	int i;

	scan->start = pc;
	scan->stop = X86_SCAN_REACH;
	scan->has_table = false;
	scan->has_entry = false;
	for (i = 0; i < scan->nr_seen; i++) {
		if (pc >= scan->work->seen[i].from && pc < scan->work->seen[i].to)
			return false;
		if (scan->work->seen[i].from > pc &&
		    scan->work->seen[i].from < scan->stop)
			scan->stop = scan->work->seen[i].from;
	}
	return pc < X86_SCAN_REACH && pc > -X86_SCAN_REACH;
}

static void end_stretch(struct x86_scan *scan, s32 end)
{
	int i;

	/* Far stretches are not kept: 16 bits do for nearly all functions. */
	if (scan->start != (s16)scan->start || end != (s16)end)
		return;
	for (i = 0; i < scan->nr_seen; i++)
		if (scan->work->seen[i].from == end) {
			scan->work->seen[i].from = scan->start;
			return;
		}
	if (scan->nr_seen == X86_FRAME_SEEN)
		return;
	scan->work->seen[scan->nr_seen].from = scan->start;
	scan->work->seen[scan->nr_seen].to = end;
	scan->nr_seen++;
}

/* Is @pc in what has been followed, or will be? */
static bool is_known(const struct x86_scan *scan, s32 pc)
{
	int i;

	if (pc >= scan->start && pc <= scan->work->path.pc)
		return true;
	for (i = 0; i < scan->nr_seen; i++)
		if (pc >= scan->work->seen[i].from && pc < scan->work->seen[i].to)
			return true;
	for (i = 0; i < scan->nr_todo; i++)
		if (scan->work->todo[i].pc == pc)
			return true;
	return false;
}

static void add_todo(struct x86_scan *scan, s32 pc)
{
	if (scan->nr_todo == X86_FRAME_TODO || is_known(scan, pc))
		return;
	scan->work->todo[scan->nr_todo] = scan->work->path;
	scan->work->todo[scan->nr_todo++].pc = pc;
}

static bool next_todo(struct x86_scan *scan)
{
	while (scan->nr_todo) {
		scan->work->path = scan->work->todo[--scan->nr_todo];
		if (start_stretch(scan))
			return true;
	}
	return false;
}

/*
 * The path is at a return.  Makes the rule of it, if the path can be trusted:
 * one that went over a call that never returns is in another function.
 */
static enum x86_frame_kind exit_rule(struct x86_scan *scan,
				     struct x86_frame_rule *rule)
{
	struct x86_path *path = &scan->work->path;
	int ws = word_size(scan);

	if (path->sp_base == X86_BASE_NONE || path->bp_kind == X86_BP_LOST ||
	    path->bp_kind == X86_BP_VALUE)
		return X86_FRAME_UNKNOWN;
	rule->use_fp = path->sp_base == X86_BASE_BP;
	rule->cfa_off = (path->sp + 1) * ws;
	rule->ra_off = -ws;
	rule->fp_off = 0;
	if (path->sp < 0)
		return X86_FRAME_UNKNOWN;
	if (path->called && !rule->use_fp) {
		if (path->tail ? path->sp != path->call_sp :
		    path->sp <= path->call_sp)
			return X86_FRAME_UNKNOWN;
		if (path->bp_used && path->bp_kind == X86_BP_SAME)
			return X86_FRAME_UNKNOWN;
	}
	if (path->bp_kind == X86_BP_LOADED) {
		if (path->bp_base != path->sp_base)
			return X86_FRAME_UNKNOWN;
		rule->fp_off = path->bp * ws - rule->cfa_off;
	}
	return rule->use_fp ? X86_FRAME_SCAN_BP : X86_FRAME_SCAN_SP;
}

/* Padding; not 90, which gcc -O0 writes where a statement does nothing. */
static bool is_padding(const struct insn *insn)
{
	return !insn->vex_prefix.nbytes && insn->opcode.bytes[0] == 0x0f &&
	       insn->opcode.bytes[1] == 0x1f;
}

/*
 * Position-independent code jumps by a table with lea table(%rip),%rX; movslq
 * (%rX,%rY,4),%rZ; add %rX,%rZ; jmp *%rZ.
 */
static void note_table(struct x86_scan *scan, s32 next)
{
	const struct insn *insn = &scan->insn;
	u8 op = insn->opcode.bytes[0], modrm = insn->modrm.value;

	if (!scan->mem->is_64bit || insn->vex_prefix.nbytes)
		return;
	if (op == 0x8d && (modrm & 0xc7) == 5) {
		scan->table = next + insn->displacement.value;
		scan->has_table = true;
		scan->has_entry = false;
	} else if (op == 0x63 && X86_MODRM_RM(modrm) == 4 &&
		   X86_SIB_SCALE(insn->sib.value) == 2) {
		scan->has_entry = scan->has_table;
	}
}

/* Goes on where an entry of the table says, false where there is none. */
static bool follow_table(struct x86_scan *scan)
{
	unsigned int i;
	u8 entry[4];
	s64 pc;

	if (!scan->has_entry)
		return false;
	for (i = 0; i < X86_SCAN_ENTRIES; i++) {
		if (x86_frame_fetch(scan->mem, scan->ip + scan->table + 4 * i,
				    entry, 4) != 4)
			return false;
		pc = (s64)scan->table + (s32)x86_get_le32(entry);
		if (pc >= X86_SCAN_REACH || pc <= -X86_SCAN_REACH)
			return false;
		if (!is_known(scan, pc))
			break;
	}
	scan->work->path.pc = pc;
	return i < X86_SCAN_ENTRIES;
}

/* The instructions that mean something else together with the next one. */
static enum x86_step step_special(struct x86_scan *scan)
{
	const u8 *code = scan->work->window + (scan->work->path.pc - scan->win_pc);
	unsigned int len = scan->win_len - (scan->work->path.pc - scan->win_pc);

	/* Nobody jumps to padding: the function ended here. */
	if (scan->work->path.pc == scan->start && scan->start &&
	    is_padding(&scan->insn))
		return X86_STEP_DEAD;
	if (x86_is_return_thunk(code, len))
		return X86_STEP_EXIT;
	if (x86_is_plt0(code, len)) {
		scan->work->path.sp++;
		return X86_STEP_EXIT;
	}
	/* The start of this function, by the jump behind its stack growth. */
	if (scan->mem->is_64bit && scan->work->path.pc && x86_is_go_check(code, len)) {
		if (scan->work->path.called > 1)
			return X86_STEP_DEAD;
		scan->work->path.called = 0;
		return X86_STEP_EXIT;
	}
	return X86_STEP_NEXT;
}

static bool is_near(const struct x86_path *path, s32 distance)
{
	s32 limit = path->called > 1 ? X86_SCAN_NEAR_CALLS : X86_SCAN_NEAR;

	return distance < limit && distance > -limit;
}

/*
 * May the path follow a jump from @from?  A jump to far away is a tail call,
 * or leads from the unlikely part of a function, which lies elsewhere, to the
 * rest.  A path that went over a call, or to an unlikely part, could be
 * in any function's by now, if that call never returns or that branch is never
 * taken.  So then only a tail call is believed, where the jump finds sp at the
 * return address, and the exit tells whether it did.
 */
static bool may_follow(struct x86_scan *scan, s32 from)
{
	struct x86_path *path = &scan->work->path;

	if (path->sp_base != X86_BASE_SP || path->tail ||
	    is_near(path, path->pc) || is_near(path, path->pc - from) ||
	    (!path->called && is_near(path, from)))
		return true;
	if (path->called && path->sp <= path->call_sp)
		return false;
	path->tail = 1;
	path->called = 1;
	path->call_sp = path->sp;
	return true;
}

/*
 * A path that goes on and on waits, and the oldest of the others gets its turn:
 * behind a branch that skips much, the exit may be near.
 */
static bool take_turns(struct x86_scan *scan)
{
	struct x86_frame_work *work = scan->work;
	struct x86_path next = work->todo[0];
	int i;

	end_stretch(scan, work->path.pc);
	for (i = 1; i < scan->nr_todo; i++)
		work->todo[i - 1] = work->todo[i];
	work->todo[scan->nr_todo - 1] = work->path;
	work->path = next;
	return start_stretch(scan) || next_todo(scan);
}

/*
 * Makes one step.  False where the scan ends,
 * with the kind set.
 */
static bool scan_step(struct x86_scan *scan, struct x86_frame_rule *rule,
		      enum x86_frame_kind *kind)
{
	enum x86_step step = X86_STEP_DEAD;
	s32 next = scan->work->path.pc, target = 0;

	if (next < scan->stop && decode(scan)) {
		next += scan->insn.length;
		step = step_special(scan);
		note_table(scan, next);
		if (step == X86_STEP_NEXT)
			step = x86_step_insn(&scan->insn, &scan->work->path, &target);
	}
	switch (step) {
	case X86_STEP_BRANCH:
		add_todo(scan, next + target);
		fallthrough;
	case X86_STEP_NEXT:
		scan->work->path.pc = next;
		return true;
	case X86_STEP_JUMP:
		end_stretch(scan, next);
		scan->work->path.pc = next + target;
		if (may_follow(scan, next) && start_stretch(scan))
			return true;
		return next_todo(scan);
	case X86_STEP_TABLE:
		end_stretch(scan, next);
		if (follow_table(scan) && start_stretch(scan))
			return true;
		return next_todo(scan);
	case X86_STEP_EXIT:
		*kind = exit_rule(scan, rule);
		if (*kind != X86_FRAME_UNKNOWN)
			return false;
		break;
	case X86_STEP_DEAD:
		break;
	}
	end_stretch(scan, next);
	return next_todo(scan);
}

/**
 * x86_frame_scan - look for a path from ip to an exit of the function
 * @mem:	the code
 * @ip:		where to start
 * @rule:	the answer
 * @work:	memory to work with
 *
 * Follows the code as it would run on, over calls, first where branches are
 * not taken.
 *
 * Returns: X86_FRAME_SCAN_SP, X86_FRAME_SCAN_BP or X86_FRAME_UNKNOWN
 */
enum x86_frame_kind x86_frame_scan(const struct x86_frame_mem *mem,
				   unsigned long ip,
				   struct x86_frame_rule *rule,
				   struct x86_frame_work *work)
{
	enum x86_frame_kind kind = X86_FRAME_UNKNOWN;
	struct x86_scan scan;
	unsigned int insns;

	scan.mem = mem;
	scan.work = work;
	scan.ip = ip;
	scan.win_pc = 0;
	scan.win_len = 0;
	scan.nr_todo = 0;
	scan.nr_seen = 0;
	work->path = (struct x86_path) { .pc = 0 };
	start_stretch(&scan);
	for (insns = 1; insns <= X86_SCAN_INSNS; insns++) {
		if (!scan_step(&scan, rule, &kind))
			break;
		if (insns % X86_SCAN_TURN == 0 && scan.nr_todo &&
		    !take_turns(&scan))
			break;
	}
	return kind;
}
