// SPDX-License-Identifier: GPL-2.0
/*
 * Each guard of a walk by user-supplied rules: failed reads, frames, registers, exact states,
 * frames of signals, and rules that are not there. Prints TAP.
 */
#include "rules-state.h"

/* Two reads of a walk may fail; the third one ends it. */
static void check_failed(void)
{
	unsigned int i, f;
	bool ok;

	make_frames();
	ok = walk_now(MAX_STACK) == PERF_UNWIND_END_OUTERMOST && walk.frames == 7;
	/* bp is in memory of the dump that can't be read. */
	dump_size += 64;
	for (i = 0; i < NR_FUNCTIONS - 1; i++) {
		rule_of(i)->fp = PERF_UNWIND_FP_AT_CFA;
		rule_of(i)->fp_off = STACK + WORDS * 8 - (STACK + 16 * (i + 1));
	}
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_UNREADABLE && walk.frames == 2;
	/* Return addresses that can't be read themselves: that read counts, and others. */
	make_frames();
	for (i = 0; i < 4; i++)
		user_put_word(STACK + 16 * i + 8, 0x1234567000 + i, 8);
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_NOT_RETURN && !walk.frames;
	report(ok, "walks: two reads may fail");

	/* One or two reads of bp, then one of the code before a return address. */
	for (i = 1, ok = true; i <= 2; i++) {
		make_frames();
		dump_size += 64;
		for (f = 0; f < i; f++) {
			rule_of(f)->fp = PERF_UNWIND_FP_AT_CFA;
			rule_of(f)->fp_off = STACK + WORDS * 8 - (STACK + 16 * (f + 1));
		}
		user_put_word(STACK + 16 * i + 8, 0x1234567000, 8);
		ok &= walk_now(MAX_STACK) == (i == 1 ? PERF_UNWIND_END_NOT_RETURN :
						       PERF_UNWIND_END_UNREADABLE);
		ok &= walk.frames == i;
	}
	report(ok, "walks: reads of code and of the stack count together");
}

static void check_limit(void)
{
	unsigned int max_stack;
	bool ok = true;

	make_frames();
	for (max_stack = 0; max_stack <= 9; max_stack++) {
		enum perf_unwind_end end = walk_now(max_stack);

		ok &= end == (max_stack < 8 ? PERF_UNWIND_END_LIMIT : PERF_UNWIND_END_OUTERMOST);
		ok &= ctx.nr == (max_stack < 8 ? max_stack : 8);
	}
	/* No room counts before that there is no rule. */
	regs.ip = 0x10;
	ok &= walk_now(0) == PERF_UNWIND_END_LIMIT && !ctx.nr;
	ok &= walk_now(1) == PERF_UNWIND_END_NO_RULE && ctx.nr == 1;
	report(ok, "walks: no more frames than there is room for");
}

/* Whose registers: only of user space, with segments that begin at 0. */
static void check_registers(void)
{
	unsigned int cs, ss, bit;
	bool ok = true;

	make_frames();
	for (cs = 0; cs < 0x40; cs++)
		for (ss = 0x20; ss < 0x38; ss++) {
			bool want = cs == 0x33 || (cs == 0x23 && ss == 0x2b);

			regs.cs = cs;
			regs.ss = ss;
			ok &= (walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && !ctx.nr) == !want;
		}
	regs.cs = __USER_CS;
	for (bit = 0; bit < 32; bit++) {
		regs.flags = 1UL << bit;
		ok &= (walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && !ctx.nr) ==
		      (bit == 5 || bit == 17);
	}
	regs.flags = 0;
	walk_guest = true;
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && !ctx.nr;
	walk_guest = false;
	walk_uaccess_okay = false;
	user_reset();
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_UNREADABLE && !ctx.nr && !user.reads;
	walk_uaccess_okay = true;
	regs.sp = STACK + WORDS * 8;
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_UNREADABLE && ctx.nr == 1;
	regs.sp--;
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_UNREADABLE && ctx.nr == 1;
	report(ok, "walks: only of flat user space");
}

/* Where no rule is known, at the interrupted frame only, an exact state of the code counts. */
static void check_exact(void)
{
	bool ok;

	make_frames();
	rule_of(0)->kind = PERF_UNWIND_UNKNOWN;
	ok = walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && ctx.nr == 1 && !walk.frames &&
	     walk.innermost == PERF_UNWIND_INNERMOST_NONE;
	user_put(regs.ip, "\xc3", 1);
	regs.sp += 8;
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_OUTERMOST && ctx.nr == 8;
	ok &= walk.frames == 6 && walk.innermost == PERF_UNWIND_INNERMOST_CODE;
	/* The caller's is at a return, too, but it is not interrupted. */
	rule_of(1)->kind = PERF_UNWIND_UNKNOWN;
	user_put(RETURN(1, 0), "\xc3", 1);
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && ctx.nr == 2 && !walk.frames;
	report(ok, "walks: the innermost caller by an exact state");
}

/* A signal frame for an interrupted FUNCTION(@f), at @sp; it goes on with the stack @next. */
static void put_signal(unsigned long sp, unsigned int f, unsigned long next, unsigned long fp)
{
	/* struct ucontext: r8 is at 40 */
	user_put_word(sp + 40 + 16 * 8, FUNCTION(f) + 4, 8);
	user_put_word(sp + 40 + 15 * 8, next, 8);
	user_put_word(sp + 40 + 10 * 8, fp, 8);
	user_put_word(sp + 40 + 18 * 8, __USER_CS, 8);
}

#define SIGNALS		10
#define SIGNAL_SIZE	512

/* Handlers that were interrupted by signals again and again: 8 such frames, and no more. */
static void check_signals(void)
{
	unsigned int i, n;
	bool ok = true;

	for (n = 1; n < SIGNALS; n++) {
		begin(8);
		user_map(1, STACK, SIGNALS * SIGNAL_SIZE, 0);
		dump_size = SIGNALS * SIGNAL_SIZE;
		*rule_of(0) = (struct perf_unwind_rule) {
			.kind = PERF_UNWIND_CFA, .cfa_off = 8, .ra_off = -8,
		};
		rule_of(1)->kind = PERF_UNWIND_OUTERMOST;
		for (i = 0; i < n; i++) {
			user_put_word(STACK + i * SIGNAL_SIZE, TRAMPOLINE, 8);
			put_signal(STACK + i * SIGNAL_SIZE + 8, i + 1 == n,
				   STACK + (i + 1) * SIGNAL_SIZE, 0);
		}
		/* A return to the trampoline, whose rule is looked up before its first byte. */
		rule_of(NR_FUNCTIONS - 1)->kind = PERF_UNWIND_SIGNAL;
		ok &= walk_now(MAX_STACK) == (n <= 8 ? PERF_UNWIND_END_OUTERMOST :
						       PERF_UNWIND_END_NO_RULE);
		ok &= ctx.nr == (n <= 8 ? 1 + 2 * n : 1 + 2 * 8 + 1);
	}
	report(ok, "signals: 8 frames of a walk, and no more");
}

/* The interrupted code may have another stack, and has its frame pointer. */
static void check_other_stack(void)
{
	const unsigned int frame = sizeof(struct rt_sigframe);
	bool ok;

	begin(8);
	user_map(1, STACK, SIGNAL_SIZE, 0);
	user_map(2, STACK + 0x10000, 64, 0);
	dump_size = 0x10000 + 64;
	*rule_of(0) = (struct perf_unwind_rule) {
		.kind = PERF_UNWIND_CFA, .cfa_off = 8, .ra_off = -8, .fp = PERF_UNWIND_FP_UNDEFINED,
	};
	*rule_of(1) = (struct perf_unwind_rule) {
		.kind = PERF_UNWIND_CFA, .base = PERF_UNWIND_BASE_FP, .cfa_off = 16, .ra_off = -8,
	};
	rule_of(2)->kind = PERF_UNWIND_OUTERMOST;
	rule_of(NR_FUNCTIONS - 1)->kind = PERF_UNWIND_SIGNAL;
	user_put_word(STACK, TRAMPOLINE, 8);
	put_signal(STACK + 8, 1, STACK + 0x10000, STACK + 0x10000 + 16);
	user_put_word(STACK + 0x10000 + 24, RETURN(2, 1), 8);
	ok = walk_now(MAX_STACK) == PERF_UNWIND_END_OUTERMOST && ctx.nr == 4 &&
	     chain[4] == RETURN(2, 1);
	/* The dump ends after the other stack pointer, before it, and after the signal frame. */
	dump_size = 0x10000 + 8;
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_UNREADABLE && ctx.nr == 3;
	dump_size = 0x10000 + 7;
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_UNREADABLE && ctx.nr == 2;
	dump_size = 8 + frame;
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_UNREADABLE && ctx.nr == 2;
	user.reads = 0;
	dump_size--;
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_UNREADABLE && ctx.nr == 2;
	dump_size = 0x10000 + 64;
	/* No frame of a signal: another mode. */
	user_put_word(STACK + 8 + 40 + 18 * 8, __USER32_CS, 8);
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && ctx.nr == 2;
	report(ok, "signals: to another stack");
}

/* Rows refer to rules that are there: those of another array, for a moment, may not be. */
static void check_rules_read(void)
{
	bool ok;

	make_frames();
	rules.rules.nr = 2;
	ok = walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && ctx.nr == 2;
	rules.rules.nr = 1;
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && ctx.nr == 1;
	rules.rules.nr = NR_FUNCTIONS + 2;
	/* Before the first row, and far after it. */
	vmas[0].vm_pgoff -= 1;
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && ctx.nr == 1;
	vmas[0].vm_pgoff += 1UL << 21;
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && ctx.nr == 1;
	report(ok, "rules: of rows that there are");
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	make_table();
	check_failed();
	check_limit();
	check_registers();
	check_exact();
	check_signals();
	check_other_stack();
	check_rules_read();
	free(object.rows);
	printf("1..%d\n", nr_tests);
	return !!nr_failed;
}
