// SPDX-License-Identifier: GPL-2.0
/*
 * The paths of a search, against models: stretches of code and waiting paths, which jumps a path
 * may follow and which exits it trusts. Prints TAP.
 */
#include "scan-state.h"

static unsigned int seed = 1;

static unsigned int below(unsigned int n)
{
	return rand_r(&seed) % n;
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

/* A jump from @from to @to, for a path whose state is the @n-th. */
static bool check_jump(s32 from, s32 to, unsigned int n)
{
	struct x86_path path = {
		.pc = to, .called = n & 3, .tail = n >> 2 & 1, .cold = n >> 3 & 1,
		.cold_call = n >> 4 & 1, .sp_base = n >> 5 & 1, .sp = 4,
		.call_sp = 3 + (n >> 6) % 3,
	}, want = path;
	s32 limit = path.called > 1 ? 0x1000 : 0x4000;
	bool may = true;

	if (!path.sp_base && abs(to - from) >= 0x4000) {
		if (path.cold_call)
			may = false;
		else
			want.cold = 1;
	}
	if (may && !path.sp_base && !path.tail && abs(to) >= limit && abs(to - from) >= limit &&
	    (path.called || abs(from) >= limit)) {
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
	return may_follow(&scan, from) == may && !memcmp(&work.path, &want, sizeof(want));
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
			for (n = 0; n < 4 * 2 * 2 * 2 * 2 * 3; n++)
				ok &= check_jump(f % 2 ? -places[f / 2] : places[f / 2],
						 t % 2 ? -places[t / 2] : places[t / 2], n);
	report(ok, "jumps: which a path may follow");

	/* A branch to far away after a call in an unlikely part is not kept, nor changes a path. */
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
		ok &= rule.use_fp ==
		      (path.sp_base == X86_BASE_BP || path.sp_base == X86_BASE_MEM_BP);
		ok &= rule.cfa_off == 8 * (path.sp + 1) && rule.ra_off == -8;
		ok &= rule.fp_lost == lost;
		ok &= rule.fp_off == (path.bp_kind == X86_BP_LOADED ? 16 - rule.cfa_off : 0);
		ok &= kind != X86_FRAME_SCAN_MEM || rule.mem_off == 24;
		ok &= kind != X86_FRAME_SCAN_REG || rule.reg == 3;
	}
	report(ok && nr_known > 100, "exits: which a path trusts");
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
	printf("1..%d\n", nr_tests);
	return !!nr_failed;
}
