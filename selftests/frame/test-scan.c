// SPDX-License-Identifier: GPL-2.0
/*
 * Searches of code that was made for one rule each: whose calls return, tables of jumps, registers,
 * padding, and the limits at their value and one beyond. Prints TAP.
 */
#include "scan-state.h"

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

/*
 * The end of one of V8's builtins: the caller's bp is loaded by the own one, and code that has a
 * frame of its own is jumped to. Its slot of bp is above the sp of ip, and had another word then.
 */
static void check_other_frame(void)
{
	/* mov 0(%rbp),%rbp; add $64,%rsp; push %rbp; mov %rsp,%rbp; mov %rbp,%rsp; pop %rbp; ret */
	static const char end[] = "\x48\x8b\x6d\0\x48\x83\xc4\x40"
		"\x55\x48\x89\xe5\x48\x89\xec\x5d\xc3";
	bool ok;

	begin();
	put(CODE, end, sizeof(end) - 1);
	ok = analyze(1024, NULL) == X86_FRAME_UNKNOWN;
	/* By sp, the place is known. */
	put(CODE, "\x48\x8b\x6c\x24\x08\x48\x83\xc4\x40", 9);
	put(CODE + 9, end + 8, sizeof(end) - 9);
	ok &= analyze(1024, NULL) == X86_FRAME_SCAN_SP;
	report(ok, "bp: loaded by bp, and stored in another frame");
}

/* A slot that is free again has no copy of bp any more: another word is stored and loaded there. */
static void check_freed_slot(void)
{
	/* push %rbp; pop %rcx; mov %rax,%rbp; push %rbp; pop %rbp; ret */
	static const char freed[] = "\x55\x59\x48\x89\xc5\x55\x5d\xc3";
	/* push %rbp; mov %rax,%rbp; pop %rbp; nop; nop; ret */
	static const char kept[] = "\x55\x48\x89\xc5\x5d\x90\x90\xc3";
	bool ok;

	begin();
	put(CODE, freed, sizeof(freed) - 1);
	ok = analyze(1024, NULL) == X86_FRAME_UNKNOWN;
	begin();
	put(CODE, kept, sizeof(kept) - 1);
	ok &= analyze(1024, NULL) == X86_FRAME_SCAN_SP;
	report(ok, "bp: another word in a slot that was free");
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
		ok &= (analyze(X86_FRAME_INSNS, NULL) == X86_FRAME_SCAN_SP) == (n <= 8);
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
			ok &= (analyze(X86_FRAME_INSNS, NULL) == X86_FRAME_SCAN_SP) ==
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
		ok &= analyze(X86_FRAME_INSNS, NULL) == X86_FRAME_UNKNOWN;
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
	/* What the return takes, after its one unit. */
	const unsigned int last = X86_SCAN_NOT_QUIET + X86_SCAN_JUMP;
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
			if (analyze(X86_FRAME_INSNS, NULL) != X86_FRAME_SCAN_SP)
				continue;
			took = work.took;
			for (limit = took < last + 5 ? 0 : took - last - 5; limit <= took + 2;
			     limit++) {
				enum x86_frame_kind kind = analyze(limit, NULL);

				ok &= (kind == X86_FRAME_SCAN_SP) == (limit > took - last);
				/* What was begun is brought to its end: a read, an instruction. */
				ok &= work.took <= limit + X86_SCAN_READ + 1 + last;
			}
		}
	report(ok, "limits: a search takes what it says");
}

/* Straight code is read once, in windows that overlap by less than two instructions. */
static void check_reads(void)
{
	/* vbroadcastss %xmm1,%ymm0, which only the kernel's decoder knows; and a nop. */
	static const char * const insns[] = { "\xc4\xe2\x7d\x18\xc1", "\x90" };
	unsigned int i, n, len;
	bool ok = true;

	for (i = 0; i < ARRAY_SIZE(insns); i++) {
		unsigned long at = CODE;

		begin();
		len = strlen(insns[i]);
		for (n = 0; n < 2 * X86_FRAME_WINDOW / len; n++)
			at = put(at, insns[i], len);
		put(at, "\xc3", 1);
		nr_reads = 0;
		ok &= analyze(X86_FRAME_INSNS, NULL) == X86_FRAME_SCAN_SP;
		printf("# %u reads\n", nr_reads);
		ok &= nr_reads <= 2 + (at + 1 - CODE) / (X86_FRAME_WINDOW - 2 * MAX_INSN_SIZE);
	}
	report(ok, "limits: code is read once");
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
			ok &= (analyze(X86_FRAME_INSNS, NULL) == X86_FRAME_SCAN_SP) ==
			      (forms[i].found && known < 4);
		}
	report(ok, "tables: 4 entries are tried");

	static const u64 far[] = {
		CODE + X86_SCAN_REACH, CODE - X86_SCAN_REACH, 0, ~0ULL, 1ULL << 63,
		CODE + (1ULL << 32),
	};
	for (i = 0, ok = true; i < ARRAY_SIZE(far); i++) {
		begin();
		put(CODE, "\x90\xff\x24\xc5\0\x11\x40\0", 8);
		put(CODE + 0x100, &far[i], 8);
		ok &= analyze(X86_FRAME_INSNS, NULL) == X86_FRAME_UNKNOWN;
	}
	report(ok, "tables: entries that lead far away");

	/* lea; nops; movslq; add; jmp: the lea is so many bytes before the jump. */
	for (k = 14, ok = true; k < 64; k++) {
		static const char rest[] = "\x48\x63\x04\x82\x48\x01\xd0\xff\xe0";
		static const char lea[] = "\x48\x8d\x15";
		unsigned long at = CODE + 0x40, jump = at + k;
		s32 to = 0x100 - 0x40 - 7, entry = 0x200 - 0x100;

		begin();
		put(put(at, lea, 3), &to, 4);
		memset(code + 0x40 + 7, 0x90, k - 14);
		put(jump - 7, rest, 9);
		put(CODE + 0x100, &entry, 4);
		put(CODE + 0x200, "\x5b\xc3", 2);
		put(CODE, "\xeb\x3e", 2);
		ok &= (analyze(X86_FRAME_INSNS, NULL) == X86_FRAME_SCAN_SP) ==
		      (k <= X86_TABLE_BEHIND);
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
		if (analyze(X86_FRAME_INSNS, NULL) == X86_FRAME_SCAN_REG)
			first = gap < first ? gap : first;
		else
			last = gap;
		begin();
		at = put(CODE, "\x90\x48\x31\xdb", 4);
		memset(code + (at - CODE), 0x90, gap);
		put(at + gap, "\x48\x89\xdc\xc3", 4);
		ok &= analyze(X86_FRAME_INSNS, NULL) == X86_FRAME_UNKNOWN;
		begin();
		memset(code, 0x90, gap + 2);
		put(CODE + gap + 1, "\x48\x89\xdc\xc3", 4);
		ok &= analyze(X86_FRAME_INSNS, NULL) == X86_FRAME_SCAN_REG;
	}
	printf("# %u bytes before, and %u\n", first, last);
	report(ok && first == last + 1 && first > 40,
	       "registers: set shortly before they are used, or after ip");
}

/* Padding ends a function, unless ip itself is there; nops of one byte are no padding. */
static void check_padding(void)
{
	int cfa;
	bool ok = true;

	begin();
	put(CODE, "\xeb\x02\xf4\xf4\x0f\x1f\x00\x58\xc3", 9);
	ok &= analyze(X86_FRAME_INSNS, NULL) == X86_FRAME_UNKNOWN;
	begin();
	put(CODE, "\xeb\x02\xf4\xf4\x90\x90\x90\x58\xc3", 9);
	ok &= analyze(X86_FRAME_INSNS, &cfa) == X86_FRAME_SCAN_SP && cfa == 16;
	begin();
	put(CODE, "\x0f\x1f\x00\x58\xc3", 5);
	ok &= analyze(X86_FRAME_INSNS, &cfa) == X86_FRAME_SCAN_SP && cfa == 16;
	begin();
	put(CODE, "\xeb\x02\xf4\xf4\x50\x0f\x1f\x00\x58\x58\xc3", 11);
	ok &= analyze(X86_FRAME_INSNS, &cfa) == X86_FRAME_SCAN_SP && cfa == 16;
	report(ok, "padding: no code jumps there");
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	check_other_frame();
	check_freed_slot();
	check_callees();
	check_limits();
	check_reads();
	check_thunks();
	check_tables();
	check_registers();
	check_padding();
	printf("1..%d\n", nr_tests);
	return !!nr_failed;
}
