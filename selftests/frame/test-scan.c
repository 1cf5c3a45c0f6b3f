// SPDX-License-Identifier: GPL-2.0
/*
 * The search's own rules, each alone and against a model: stretches of code and waiting paths,
 * which jumps a path may follow, which exits it trusts, whose calls return, tables of jumps, and
 * all limits at their value and one beyond. The test includes the sources. Prints TAP.
 */
#include "../../kmod/frame/x86_frame_path.c"
#include "../../kmod/frame/x86_frame_scan.c"

#include <stdio.h>
#include <stdlib.h>

#include "report.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define CODE			0x401000UL

static u8 code[4 * 4096];

static int read_code(void *ctx, unsigned long addr, void *dst, unsigned int len)
{
	if (addr - CODE >= sizeof(code) || sizeof(code) - (addr - CODE) < len)
		return -1;
	memcpy(dst, code + (addr - CODE), len);
	return 0;
}

static struct x86_frame_mem mem = { read_code, NULL, true, false };
static struct x86_frame_work work;
static struct x86_scan scan;
static unsigned int seed = 1;

static unsigned int below(unsigned int n)
{
	return rand_r(&seed) % n;
}

static void begin(void)
{
	memset(code, 0xf4, sizeof(code));
	memset(&work, 0, sizeof(work));
	mem.is_64bit = true;
	mem.any_bp = false;
	work.limit = X86_FRAME_INSNS;
	scan = (struct x86_scan) { .mem = &mem, .ip = CODE, .work = &work };
}

/* Stretches, as ranges that the model keeps byte by byte. */
#define SPAN	400
static void check_stretches(void)
{
	bool followed[SPAN], ok = true;
	unsigned int round, i, nr;
	int pc, stop, end;

	for (round = 0; round < 2000; round++) {
		begin();
		memset(followed, 0, sizeof(followed));
		for (i = 0; i < 20; i++) {
			pc = below(SPAN);
			work.path.pc = pc - SPAN / 2;
			for (stop = pc; stop < SPAN && !followed[stop]; stop++)
				;
			if (x86_frame_start_stretch(&scan) != !followed[pc]) {
				ok = false;
				continue;
			}
			if (followed[pc])
				continue;
			ok &= scan.stop == (stop < SPAN ? stop - SPAN / 2 : X86_SCAN_REACH);
			ok &= scan.start == pc - SPAN / 2;
			end = pc + 1 + below(30);
			if (end > stop)
				end = stop;
			x86_frame_end_stretch(&scan, end - SPAN / 2);
			for (; pc < end; pc++)
				followed[pc] = true;
		}
		for (pc = 0; pc < SPAN; pc++) {
			work.path.pc = -0x7000;
			scan.start = -0x7000;
			ok &= is_known(&scan, pc - SPAN / 2) == followed[pc];
		}
	}
	report(ok, "stretches: as a model keeps them");

	begin();
	for (i = 0, ok = true; i < X86_FRAME_SEEN + 3; i++) {
		scan.start = 10 * i;
		x86_frame_end_stretch(&scan, 10 * i + 5);
	}
	for (i = 0; i < X86_FRAME_SEEN + 3; i++) {
		work.path.pc = 10 * i + 4;
		ok &= x86_frame_start_stretch(&scan) == (i >= X86_FRAME_SEEN);
		work.path.pc = 10 * i + 5;
		ok &= x86_frame_start_stretch(&scan);
	}
	/* One that ends at another's start is joined to it, even so. */
	scan.start = -5;
	x86_frame_end_stretch(&scan, 0);
	work.path.pc = -1;
	ok &= !x86_frame_start_stretch(&scan) && scan.nr_seen == X86_FRAME_SEEN;
	report(ok, "stretches: 24 of them");

	static const struct { s32 from, to; bool kept; } far[] = {
		{ 32000, 32767, true }, { 32000, 32768, false }, { -32768, -32000, true },
		{ -32769, -32000, false }, { 40000, 40010, false },
	};

	for (i = 0, ok = true; i < ARRAY_SIZE(far); i++) {
		begin();
		scan.start = far[i].from;
		x86_frame_end_stretch(&scan, far[i].to);
		ok &= scan.nr_seen == far[i].kept;
	}
	for (nr = 0; nr < 2; nr++) {
		s32 reach = nr ? -X86_SCAN_REACH : X86_SCAN_REACH;

		begin();
		work.path.pc = reach;
		ok &= !x86_frame_start_stretch(&scan);
		work.path.pc = nr ? reach + 1 : reach - 1;
		ok &= x86_frame_start_stretch(&scan);
	}
	report(ok, "stretches: none far away");
}

static void check_reach(void)
{
	static const s32 values[] = {
		0, 1, -1, X86_SCAN_REACH - 1, X86_SCAN_REACH, -X86_SCAN_REACH, 1 - X86_SCAN_REACH,
		0x7fffffff, -0x7fffffff - 1,
	};
	unsigned int i, k;
	bool ok = true;

	for (i = 0; i < ARRAY_SIZE(values); i++)
		for (k = 0; k < ARRAY_SIZE(values); k++) {
			s64 sum = (s64)values[i] + values[k];

			ok &= x86_pc_add(values[i], values[k]) ==
			      (llabs(sum) < X86_SCAN_REACH ? sum : X86_SCAN_REACH);
		}
	begin();
	work.limit = 5;
	x86_charge(&scan, 3);
	ok &= work.limit == 2 && !x86_is_spent(&scan);
	x86_charge(&scan, 2);
	work.insns = 0;
	ok &= !work.limit && !x86_is_spent(&scan);
	work.insns = 1;
	ok &= x86_is_spent(&scan);
	work.limit = 5;
	x86_charge(&scan, 6);
	ok &= !work.limit;
	report(ok, "sums of offsets, and what is charged");
}

/* Waiting paths: 24, of code that is not known; the lowest comes first, or the highest. */
static void check_todo(void)
{
	unsigned int i;
	bool ok = true;

	begin();
	scan.start = 100;
	work.path = (struct x86_path) { .pc = 120, .sp = 7 };
	work.seen[0].from = 200;
	work.seen[0].to = 210;
	scan.nr_seen = 1;
	for (i = 90; i < 230; i++) {
		bool known = (i >= 100 && i <= 120) || (i >= 200 && i < 210);

		scan.nr_todo = 0;
		x86_frame_add_todo(&scan, i);
		ok &= scan.nr_todo == !known;
		ok &= known || (work.todo[0].pc == (s32)i && work.todo[0].sp == 7 &&
				work.todo[0].run == 121);
		x86_frame_add_todo(&scan, i);
		ok &= scan.nr_todo == !known;
	}
	report(ok && !work.path.run, "waiting paths: of code that is not known");

	begin();
	scan.start = -1000;
	work.path.pc = -1000;
	for (i = 0; i < X86_FRAME_TODO + 2; i++)
		x86_frame_add_todo(&scan, 10 + 10 * (7 * i % 26));
	ok = scan.nr_todo == X86_FRAME_TODO;
	/* Two are of code that has been followed meanwhile. */
	work.seen[0].from = 0;
	work.seen[0].to = 21;
	scan.nr_seen = 1;
	ok &= x86_frame_next_todo(&scan) && work.path.pc > 20 && work.path.pc <= 50;
	for (i = work.path.pc; x86_frame_next_todo(&scan); i = work.path.pc)
		ok &= work.path.pc > (s32)i;
	ok &= !scan.nr_todo && !x86_frame_next_todo(&scan);
	report(ok, "waiting paths: 24 of them, the lowest first");

	begin();
	scan.start = 0;
	work.path.pc = 0;
	x86_frame_add_todo(&scan, 50);
	x86_frame_add_todo(&scan, 70);
	x86_frame_add_todo(&scan, 60);
	work.path.pc = 9;
	ok = x86_frame_take_turns(&scan) && work.path.pc == 70 && scan.nr_todo == 3 &&
	     scan.nr_seen == 1 && work.seen[0].from == 0 && work.seen[0].to == 9;
	ok &= x86_frame_next_todo(&scan) && work.path.pc == 9;
	/* The highest has been followed: the lowest that has not comes instead. */
	scan.start = 60;
	x86_frame_end_stretch(&scan, 61);
	scan.start = 9;
	work.path.pc = 12;
	ok &= x86_frame_take_turns(&scan) && work.path.pc == 12 && scan.nr_todo == 1;
	report(ok, "waiting paths: turns");
}

static void check_contradicts(void)
{
	unsigned int n;
	bool ok = true;

	for (n = 0; n < 1 << 10; n++) {
		bool same_pc = n & 1, same_sp = n & 2, todo_sp = n & 4, path_sp = n & 8;
		unsigned int called = n >> 4 & 3, todo_called = n >> 6 & 3, first = n >> 8 & 1;
		bool want = called && path_sp && same_pc && todo_sp && !same_sp &&
			    todo_called < called;

		begin();
		work.path = (struct x86_path) {
			.sp = 5, .called = called, .sp_base = path_sp ? X86_BASE_SP : X86_BASE_BP,
		};
		work.todo[first] = (struct x86_path) {
			.pc = same_pc ? 77 : 78, .sp = same_sp ? 5 : 6, .called = todo_called,
			.sp_base = todo_sp ? X86_BASE_SP : X86_BASE_BP,
		};
		work.todo[!first].pc = 1;
		scan.nr_todo = 2;
		ok &= x86_frame_contradicts(&scan, 77) == want;
	}
	report(ok, "waiting paths: that contradict");
}

/* Which jumps a path may follow, by their distance. */
static void check_jumps(void)
{
	static const s32 places[] = {
		0, 0xfff, 0x1000, 0x1001, 0x3fff, 0x4000, 0x4001, 0x7ffe, 0x8000, 0x100000,
	};
	unsigned int f, t, n;
	bool ok = true;

	for (f = 0; f < 2 * ARRAY_SIZE(places); f++)
		for (t = 0; t < 2 * ARRAY_SIZE(places); t++)
			for (n = 0; n < 4 * 2 * 2 * 2 * 2 * 3; n++) {
		s32 from = f % 2 ? -places[f / 2] : places[f / 2];
		s32 to = t % 2 ? -places[t / 2] : places[t / 2], limit;
		struct x86_path path = {
			.pc = to, .called = n & 3, .tail = n >> 2 & 1, .cold = n >> 3 & 1,
			.cold_call = n >> 4 & 1, .sp_base = n >> 5 & 1, .sp = 4,
			.call_sp = 3 + (n >> 6) % 3,
		}, want = path;
		bool may = true;

		limit = path.called > 1 ? 0x1000 : 0x4000;
		if (!path.sp_base && abs(to - from) >= 0x4000) {
			if (path.cold_call)
				may = false;
			else
				want.cold = 1;
		}
		if (may && !path.sp_base && !path.tail && abs(to) >= limit &&
		    abs(to - from) >= limit && (path.called || abs(from) >= limit)) {
			if (path.called && path.sp <= path.call_sp) {
				may = false;
			} else {
				want.tail = 1;
				want.called = 1;
				want.call_sp = path.sp;
			}
		}
		begin();
		work.path = path;
		ok &= may_follow(&scan, from) == may && !memcmp(&work.path, &want, sizeof(want));
	}
	report(ok, "jumps: which a path may follow");

	/* A branch to far away after a call in an unlikely part is not kept, and changes no path. */
	for (n = 0; n < 16; n++) {
		s32 to = n & 1 ? 0x4000 : 0x3fff;
		bool cold_call = n & 2, base = n & 4, cold = n & 8;

		begin();
		scan.start = 0;
		work.path = (struct x86_path) {
			.cold_call = cold_call, .sp_base = base, .cold = cold,
		};
		ok &= add_branch(&scan, 0, to);
		ok &= scan.nr_todo == (base || to < 0x4000 || !cold_call);
		ok &= work.path.cold == cold;
		if (scan.nr_todo)
			ok &= work.todo[0].cold == (cold || (!base && to >= 0x4000));
	}
	report(ok, "branches: to the unlikely part of a function");
}

/* Which exits a path trusts. */
static void check_exits(void)
{
	unsigned int n, nr_known = 0;
	bool ok = true;

	for (n = 0; n < 6 * 4 * 4 * 3 * 2 * 2 * 4 * 3 * 2; n++) {
		unsigned int k = n;
		struct x86_path path = { .bp = 2, .from = 3 };
		enum x86_frame_kind kind, want;
		struct x86_frame_rule rule = { 0 };
		bool lost, any_bp, returns;

		path.sp_base = k % 6, k /= 6;
		path.bp_kind = k % 4, k /= 4;
		path.sp = (int)(k % 4) - 1, k /= 4;
		path.called = k % 3, k /= 3;
		path.tail = k % 2, k /= 2;
		path.bp_used = k % 2, k /= 2;
		path.call_sp = (int)(k % 4) - 1, k /= 4;
		path.bp_base = k % 3 * 2 % 5, k /= 3;
		any_bp = k % 2;
		returns = n % 7 % 2;

		begin();
		mem.any_bp = any_bp;
		work.path = path;
		work.nr_callees = returns ? 0 : X86_FRAME_CALLEES + 1;
		kind = exit_rule(&scan, &rule);
		lost = path.bp_kind == X86_BP_LOST || path.bp_kind == X86_BP_VALUE;
		want = path.sp_base == X86_BASE_BP ? X86_FRAME_SCAN_BP :
		       path.sp_base == X86_BASE_REG ? X86_FRAME_SCAN_REG :
		       path.sp_base == X86_BASE_SP ? X86_FRAME_SCAN_SP : X86_FRAME_SCAN_MEM;
		if (path.sp_base == X86_BASE_NONE ||
		    (lost && (!any_bp || path.called || path.sp_base)) ||
		    (path.sp < 0 && path.sp_base != X86_BASE_REG) ||
		    (path.bp_kind == X86_BP_LOADED && path.bp_base != path.sp_base))
			want = X86_FRAME_UNKNOWN;
		if (path.called && !path.sp_base &&
		    ((path.tail && path.sp != path.call_sp) ||
		     (!path.tail && path.sp < path.call_sp) ||
		     (!path.tail && path.sp == path.call_sp && !returns) ||
		     (path.bp_used && path.bp_kind == X86_BP_SAME)))
			want = X86_FRAME_UNKNOWN;
		ok &= kind == want;
		if (!kind || kind != want)
			continue;
		nr_known++;
		ok &= rule.use_fp == (path.sp_base == X86_BASE_BP || path.sp_base == X86_BASE_MEM_BP);
		ok &= rule.cfa_off == 8 * (path.sp + 1) && rule.ra_off == -8 && rule.fp_lost == lost;
		ok &= rule.fp_off == (path.bp_kind == X86_BP_LOADED ? 16 - rule.cfa_off : 0);
		ok &= kind != X86_FRAME_SCAN_MEM || rule.mem_off == 24;
		ok &= kind != X86_FRAME_SCAN_REG || rule.reg == 3;
	}
	report(ok && nr_known > 100, "exits: which a path trusts");
}

static unsigned long put(unsigned long at, const void *bytes, unsigned int len)
{
	memcpy(code + (at - CODE), bytes, len);
	return at + len;
}

static unsigned long put_call(unsigned long at, unsigned long to)
{
	s32 distance = to - (at + 5);

	put(at, "\xe8", 1);
	return put(at + 1, &distance, 4);
}

/* The rule at the code's first byte; what is not there is hlt. */
static enum x86_frame_kind analyze(unsigned int limit, int *cfa_off)
{
	struct x86_frame_rule rule = { 0 };
	enum x86_frame_kind kind = x86_frame_analyze_within(&mem, CODE, &rule, &work, limit);

	if (cfa_off)
		*cfa_off = rule.cfa_off;
	return kind;
}

/* Functions that call one another with sp at the return address. */
static void check_callees(void)
{
	unsigned int n, i;
	bool ok = true;

	for (n = 1; n <= 10; n++) {
		unsigned long at = CODE + 0x100;

		begin();
		put(put_call(CODE, at), "\xc3", 1);
		for (i = 1; i < n; i++, at += 0x10)
			put(put_call(at, at + 0x10), "\xc3", 1);
		put(at, "\xc3", 1);
		ok &= (analyze(1024, NULL) == X86_FRAME_SCAN_SP) == (n <= 8);
	}
	report(ok, "callees: 8 of them");
	/* Its push and pop, again and again, then its return. */
	for (n = 250, ok = true; n <= 260; n += 2) {
		for (i = 0; i < 2; i++) {
			unsigned long at = CODE + 0x100;
			unsigned int k;

			begin();
			put(put_call(CODE, at), "\xc3", 1);
			if (i)
				at = put(at, "\x9c\x9d\xf8", 3);
			for (k = 0; k < n; k += 2)
				at = put(at, "\x50\x58", 2);
			put(at, "\xc3", 1);
			ok &= (analyze(1024, NULL) == X86_FRAME_SCAN_SP) ==
			      (n + 3 * i + 1 <= X86_CALLEE_INSNS);
		}
	}
	report(ok, "callees: 256 instructions");
	/* What does not return with sp unchanged: it pops, goes on by a table, jumps by memory. */
	static const char others[][9] = {
		"\x58\xc3", "\x50\xc3", "\xff\x60\x18", "\xff\xe0", "\xf4", "\xe8\0\x10\0\0\xf4",
		"\x50\xe8\x10\0\0\0\x58\xc3", "\x48\x89\xdc\xc3",
	};
	for (i = 0, ok = true; i < ARRAY_SIZE(others); i++) {
		begin();
		put(put_call(CODE, CODE + 0x100), "\xc3", 1);
		put(CODE + 0x100, others[i], 8);
		ok &= analyze(1024, NULL) == X86_FRAME_UNKNOWN;
	}
	report(ok, "callees: that do not return at once");
	begin();
	for (i = 0; i < 8; i++)
		note_callee(&scan, i < 6 ? 5 : 6);
	ok = work.nr_callees == 2 && work.callees[0] == 5 && work.callees[1] == 6;
	for (i = 7; i < 12; i++)
		note_callee(&scan, i);
	ok &= work.nr_callees == X86_FRAME_CALLEES + 1;
	note_callee(&scan, 6);
	ok &= work.nr_callees == X86_FRAME_CALLEES + 1;
	report(ok, "callees: 4 of a function");
}

/* Straight code of so many instructions: found if the limit has room for what that takes. */
static void check_limits(void)
{
	static const struct { const char *bytes; unsigned int len; } units[] = {
		{ "\x90", 1 }, { "\x50\x58", 2 }, { "\x74\x00", 2 }, { "\x48\x01\xd8", 3 },
		{ "\xeb\x00", 2 }, { "\xc4\xe2\x7d\x18\xc1", 5 },
	};
	unsigned int u, n, took, limit;
	bool ok = true;

	for (u = 0; u < ARRAY_SIZE(units); u++)
		for (n = 3; n < 200; n += 13) {
			unsigned long at = CODE;
			unsigned int i;

			begin();
			for (i = 0; i < n; i++)
				at = put(at, units[u].bytes, units[u].len);
			put(at, "\x90\xc3", 2);
			if (analyze(1024, NULL) != X86_FRAME_SCAN_SP)
				continue;
			took = work.took;
			for (limit = took < 5 ? 0 : took - 5; limit <= took + 2; limit++) {
				enum x86_frame_kind kind = analyze(limit, NULL);

				ok &= (kind == X86_FRAME_SCAN_SP) == (limit > took);
				/* What was begun is brought to its end: a read and an instruction. */
				ok &= work.took <= limit + X86_SCAN_READ + 1;
			}
		}
	report(ok, "limits: a search takes what it says");
}

/* The own address of 32-bit code: each bit of the function that loads it. */
static void check_thunks(void)
{
	unsigned int reg, byte, bit;
	bool ok = true;

	for (reg = 0; reg < 8; reg++) {
		u8 thunk[4] = { 0x8b, 0x04 | reg << 3, 0x24, 0xc3 };

		begin();
		mem.is_64bit = false;
		scan.code = (struct x86_code) { .len = 5, .op = 0xe8, .imm = 0x100 - 5 };
		put(CODE + 0x100, thunk, 4);
		ok &= calls_pc_thunk(&scan);
		for (byte = 0; byte < 4; byte++)
			for (bit = 0; bit < 8; bit++) {
				/* Another register is as good. */
				if (byte == 1 && (bit >= 3 && bit < 6))
					continue;
				code[0x100 + byte] ^= 1 << bit;
				ok &= !calls_pc_thunk(&scan);
				code[0x100 + byte] ^= 1 << bit;
			}
		scan.code.imm = sizeof(code) - 5 - 3;
		put(CODE + sizeof(code) - 3, thunk, 3);
		ok &= !calls_pc_thunk(&scan);
	}
	report(ok, "32-bit: functions that load their return address");
}

/* jmp *table(,%rax,8): of the first 4 entries one has to lead to new code. */
static void check_tables(void)
{
	static const struct { const char *jump; unsigned int ws; bool is_64bit, found; } forms[] = {
		{ "\xff\x24\xc5\0\x11\x40\0", 8, true, true },
		{ "\xff\x24\x85\0\x11\x40\0", 8, true, false },
		{ "\xff\x24\x85\0\x11\x40\0", 4, false, true },
		{ "\xff\x24\xc5\0\x11\x40\0", 4, false, false },
		{ "\xff\xa4\xc3\0\x11\x40\0", 8, true, false },
		{ "\xff\x24\xc3\0\x11\x40\0", 8, true, false },
	};
	unsigned int i, k, known;
	bool ok = true;

	for (i = 0; i < ARRAY_SIZE(forms); i++)
		for (known = 0; known < 6; known++) {
			u64 entry = CODE;

			begin();
			mem.is_64bit = forms[i].is_64bit;
			put(put(CODE, "\x90", 1), forms[i].jump, 7);
			put(CODE + 0x200, "\x5b\xc3", 2);
			for (k = 0; k < known; k++)
				put(CODE + 0x100 + k * forms[i].ws, &entry, forms[i].ws);
			entry = CODE + 0x200;
			put(CODE + 0x100 + k * forms[i].ws, &entry, forms[i].ws);
			ok &= (analyze(1024, NULL) == X86_FRAME_SCAN_SP) ==
			      (forms[i].found && known < 4);
		}
	report(ok, "tables: 4 entries are tried");

	static const u64 far[] = {
		CODE + X86_SCAN_REACH, CODE - X86_SCAN_REACH, 0, ~0ULL, 1ULL << 63, CODE + (1ULL << 32),
	};
	for (i = 0, ok = true; i < ARRAY_SIZE(far); i++) {
		begin();
		put(CODE, "\x90\xff\x24\xc5\0\x11\x40\0", 8);
		put(CODE + 0x100, &far[i], 8);
		ok &= analyze(1024, NULL) == X86_FRAME_UNKNOWN;
	}
	report(ok, "tables: entries that lead far away");

	/* lea; nops; movslq; add; jmp: the lea is so many bytes before the jump. */
	for (k = 14, ok = true; k < 64; k++) {
		static const char lea[] = "\x48\x8d\x15", rest[] = "\x48\x63\x04\x82\x48\x01\xd0\xff\xe0";
		unsigned long at = CODE + 0x40, jump = at + k;
		s32 to = 0x100 - 0x40 - 7, entry = 0x200 - 0x100;

		begin();
		put(put(at, lea, 3), &to, 4);
		memset(code + 0x40 + 7, 0x90, k - 14);
		put(jump - 7, rest, 9);
		put(CODE + 0x100, &entry, 4);
		put(CODE + 0x200, "\x5b\xc3", 2);
		put(CODE, "\xeb\x3e", 2);
		ok &= (analyze(1024, NULL) == X86_FRAME_SCAN_SP) == (k <= X86_TABLE_BEHIND);
	}
	report(ok, "tables: 56 bytes after their lea");
}

/* A register that sp is set from, written to so many bytes before, or shortly after ip. */
static void check_registers(void)
{
	unsigned int gap, first = 60, last = 0;
	bool ok = true;

	for (gap = 0; gap < 60; gap++) {
		unsigned long at;

		begin();
		/* A jump, so that the write is not in the straight code from ip. */
		at = put(CODE, "\xeb\x0e", 2) + 14;
		at = put(at, "\x48\x31\xdb", 3);
		memset(code + (at - CODE), 0x90, gap);
		put(at + gap, "\x48\x89\xdc\xc3", 4);
		if (analyze(1024, NULL) == X86_FRAME_SCAN_REG)
			first = gap < first ? gap : first;
		else
			last = gap;
		begin();
		at = put(CODE, "\x90\x48\x31\xdb", 4);
		memset(code + (at - CODE), 0x90, gap);
		put(at + gap, "\x48\x89\xdc\xc3", 4);
		ok &= analyze(1024, NULL) == X86_FRAME_UNKNOWN;
		begin();
		memset(code, 0x90, gap + 2);
		put(CODE + gap + 1, "\x48\x89\xdc\xc3", 4);
		ok &= analyze(1024, NULL) == X86_FRAME_SCAN_REG;
	}
	printf("# %u bytes before, and %u\n", first, last);
	report(ok && first == last + 1 && first > 40, "registers: set shortly before they are used, or after ip");
}

/* Padding ends a function, unless ip itself is there; nops of one byte are no padding. */
static void check_padding(void)
{
	int cfa;
	bool ok = true;

	begin();
	put(CODE, "\xeb\x02\xf4\xf4\x0f\x1f\x00\x58\xc3", 9);
	ok &= analyze(1024, NULL) == X86_FRAME_UNKNOWN;
	begin();
	put(CODE, "\xeb\x02\xf4\xf4\x90\x90\x90\x58\xc3", 9);
	ok &= analyze(1024, &cfa) == X86_FRAME_SCAN_SP && cfa == 16;
	begin();
	put(CODE, "\x0f\x1f\x00\x58\xc3", 5);
	ok &= analyze(1024, &cfa) == X86_FRAME_SCAN_SP && cfa == 16;
	begin();
	put(CODE, "\xeb\x02\xf4\xf4\x50\x0f\x1f\x00\x58\x58\xc3", 11);
	ok &= analyze(1024, &cfa) == X86_FRAME_SCAN_SP && cfa == 16;
	report(ok, "padding: no code jumps there");
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	check_stretches();
	check_reach();
	check_todo();
	check_contradicts();
	check_jumps();
	check_exits();
	check_callees();
	check_limits();
	check_thunks();
	check_tables();
	check_registers();
	check_padding();
	printf("1..%d\n", nr_tests);
	return !!nr_failed;
}
