// SPDX-License-Identifier: GPL-2.0
/*
 * Single steps of a path: what an instruction must not lose, the bounds of offsets, where each
 * opcode leads, and what calls do to a path. The test includes the source. Prints TAP.
 */
#include "../../kmod/frame/x86_frame_step.c"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/* Makes one instruction of these bytes, and a step; returns where that leads. */
static enum x86_step step_of(struct x86_path *path, bool is_64bit, const char *bytes,
			     unsigned int len)
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
						.op = 0x81, .modrm = sub ? 0xec : 0xc4,
						.rex = mode * 8,
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
	ok &= STEP(&path, true, "\x48\x83\xe4\xc0") == X86_STEP_NEXT;
	ok &= path.sp_base == X86_BASE_NONE;
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
	path = (struct x86_path) { .bp_kind = X86_BP_LOADED, .bp_base = X86_BASE_MEM_SP };
	STEP(&path, true, "\x55");
	ok &= !path.saved;
	path = (struct x86_path) { .bp_kind = X86_BP_LOADED, .bp_base = X86_BASE_BP, .sp = 8 };
	STEP(&path, true, "\x55");
	STEP(&path, true, "\x31\xed");
	STEP(&path, true, "\x5d");
	ok &= path.bp_kind == X86_BP_LOADED && !path.bp && path.bp_base == X86_BASE_BP;
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
	static const char *const calls[] = { "\xe8\x00\x10\x00\x00", "\xff\xd0" };
	int n, sp, call_sp, called, tail, cold, base, kind;
	bool ok = true;

	/* All values of each of them: two, two, two, four, five, five, and the bases. */
	for (n = 0; n < 2 * 2 * 2 * 4 * 5 * 5 * (X86_BASE_REG + 1); n++) {
		struct x86_path path, want;

		kind = n % 2;
		tail = n / 2 % 2;
		cold = n / 4 % 2;
		called = n / 8 % 4;
		sp = n / 32 % 5 - 2;
		call_sp = n / 160 % 5 - 2;
		base = n / 800;
		path = (struct x86_path) {
			.sp = sp, .sp_base = base, .call_sp = call_sp, .called = called,
			.tail = tail, .cold = cold,
		};
		want = path;
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
	bool ok = true, leads;
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
			leads = want == X86_STEP_BRANCH || want == X86_STEP_JUMP;
			ok &= target == (leads ? 0x55 : 0);
			code.map = X86_MAP_0F;
			target = 0;
			path = (struct x86_path) { .pc = 0 };
			step = x86_frame_step(&code, &path, &target);
			want = op >= 0x80 && op < 0x90 ? X86_STEP_BRANCH :
			       op == 0x0b || op == 0xb9 || op == 0xff ? X86_STEP_DEAD :
			       X86_STEP_NEXT;
			ok &= step == want && target == (want == X86_STEP_BRANCH ? 0x55 : 0);
			/* push and pop of fs and gs */
			ok &= path.sp == (op == 0xa0 || op == 0xa8 ? -1 :
					  op == 0xa1 || op == 0xa9 ? 1 : 0);
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
		{ "\x4c\x39\xdc", 3, true }, { "\x4c\x3b\xe4", 3, true },
		{ "\x49\x39\xe3", 3, true }, { "\x49\x3b\xe3", 3, true },
		{ "\x48\x39\xc3", 3, false },
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

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
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
