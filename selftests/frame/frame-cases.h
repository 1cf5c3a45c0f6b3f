/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code as hexadecimal bytes, '|' before the instruction at ip, and the rule that
 * the analysis has to find there.
 */
#ifndef _FRAME_CASES_H
#define _FRAME_CASES_H

#include <stdbool.h>

#include "../../kmod/frame/x86_frame.h"

struct test_case {
	const char		*name;
	const char		*code;
	int			bits;
	enum x86_frame_kind	kind;
	bool			use_fp;
	int			cfa_off;
	int			fp_off;
	int			mem_off;
	int			reg;
};

#define UNKNOWN(name, code, bits) \
	{ name, code, bits, X86_FRAME_UNKNOWN, false, 0, 0, 0, 0 }
#define SP(name, code, bits, kind, cfa, fp) \
	{ name, code, bits, X86_FRAME_##kind, false, cfa, fp, 0, 0 }
#define BP(name, code, bits, kind) \
	{ name, code, bits, X86_FRAME_##kind, true, 0, 0, 0, 0 }
#define MEM_SP(name, code, mem, cfa, fp) \
	{ name, code, 64, X86_FRAME_SCAN_MEM, false, cfa, fp, mem, 0 }
#define MEM_BP(name, code, mem, cfa, fp) \
	{ name, code, 64, X86_FRAME_SCAN_MEM, true, cfa, fp, mem, 0 }
#define REG(name, code, reg, cfa, fp) \
	{ name, code, 64, X86_FRAME_SCAN_REG, false, cfa, fp, 0, reg }

static const struct test_case cases[] = {
	/* Exact states. */
	SP("entry at push", "90 90 90 |55 48 89 e5 c3", 64, ENTRY, 8, 0),
	SP("entry at push, other mov", "90 90 90 |55 48 8b ec c3", 64, ENTRY, 8, 0),
	SP("entry at endbr64", "90 |f3 0f 1e fa 55 48 89 e5 5d c3", 64, ENTRY, 8, 0),
	SP("push behind endbr64", "f3 0f 1e fa |55 48 89 fd 53", 64, ENTRY, 8, 0),
	SP("between push and mov", "90 55 |48 89 e5 31 c0 5d c3", 64, PROLOGUE, 16, -16),
	SP("mov behind push of r13 is no prologue",
	   "41 55 |48 89 e5 48 89 e8 41 5d c3", 64, UNKNOWN, 0, 0),
	BP("leave", "|c9 c3", 64, EPILOGUE),
	SP("pop and ret", "|5d c3", 64, EPILOGUE, 16, -16),
	SP("ret", "|c3", 64, RET, 8, 0),
	SP("repz ret", "|f3 c3", 64, RET, 8, 0),
	SP("bnd ret", "|f2 c3", 64, RET, 8, 0),
	SP("ret imm", "|c2 08 00", 64, RET, 8, 0),
	SP("jump to a return thunk", "|eb 02 90 90 c3", 64, SCAN_SP, 8, 0),
	SP("return thunk with retpoline",
	   "|e8 07 00 00 00 f3 90 0f ae e8 eb f9 48 8d 64 24 08 c3",
	   64, RET, 8, 0),
	SP("the end of a function before a return thunk",
	   "|48 83 c4 08 e8 07 00 00 00 f3 90 0f ae e8 eb f9 48 8d 64 24 08 c3",
	   64, SCAN_SP, 16, 0),
	SP("inside a return thunk",
	   "e8 07 00 00 00 f3 90 0f ae e8 eb f9 |48 8d 64 24 08 c3",
	   64, SCAN_SP, 16, 0),
	SP("first entry of a linkage table",
	   "|ff 35 00 10 00 00 ff 25 00 10 00 00 0f 1f 40 00", 64, PLT, 16, 0),
	SP("its jump", "ff 35 00 10 00 00 |ff 25 00 10 00 00 0f 1f 40 00",
	   64, PLT, 24, 0),
	SP("linkage table entry", "|ff 25 00 10 00 00 68 00 00 00 00", 64, SCAN_SP, 8, 0),
	SP("linkage table entry, not bound",
	   "ff 35 00 10 00 00 ff 25 00 10 00 00 ff 25 00 10 00 00 |68 00 00 00 00 e9 e4 ff ff ff",
	   64, SCAN_SP, 8, 0),
	SP("Go: stack check", "|49 3b 66 10 76 20 48 83 ec 18", 64, ENTRY, 8, 0),
	SP("Go: branch behind the check",
	   "cc cc cc cc cc cc 49 3b 66 10 |76 20 48 83 ec 18 48 89 6c 24 10",
	   64, ENTRY, 8, 0),
	SP("Go: sub", "|48 83 ec 18 48 89 6c 24 10 48 8d 6c 24 10", 64, ENTRY, 8, 0),
	SP("Go: save of bp", "|48 89 6c 24 10 48 8d 6c 24 10", 64, PROLOGUE, 32, 0),
	SP("Go: lea of bp", "48 89 6c 24 10 |48 8d 6c 24 10", 64, PROLOGUE, 32, 0),

	/* Scans that count from sp. */
	SP("frameless leaf", "|31 c0 ff c0 c3", 64, SCAN_SP, 8, 0),
	SP("system call stub", "|b8 01 00 00 00 0f 05 c3", 64, SCAN_SP, 8, 0),
	SP("pushes ahead", "|53 48 89 fb 5b c3", 64, SCAN_SP, 8, 0),
	SP("pops ahead", "|48 83 c4 18 5b 5d 41 5c c3", 64, SCAN_SP, 56, -24),
	SP("bp saved ahead", "|55 bd 01 00 00 00 5d c3", 64, SCAN_SP, 8, 0),
	SP("bp saved by mov", "|48 89 6c 24 08 31 ed 48 8b 6c 24 08 c3",
	   64, SCAN_SP, 8, 0),
	SP("bp restored by mov", "|48 8b 6c 24 10 48 83 c4 18 c3",
	   64, SCAN_SP, 32, -16),
	SP("branch not taken first", "|74 02 c3 90 58 c3", 64, SCAN_SP, 8, 0),
	SP("branch taken where the other way is dead",
	   "|74 02 0f 0b 58 c3", 64, SCAN_SP, 16, 0),
	SP("tail call through memory", "|5b ff 60 18", 64, SCAN_SP, 16, 0),
	SP("tail call to code at hand", "|58 eb 01 90 53 5b c3", 64, SCAN_SP, 16, 0),
	SP("prologue ahead", "|31 c0 55 48 89 e5 83 ec 10 c9 c3", 64, SCAN_SP, 8, 0),
	SP("bp saved again by a tail call", "|5d eb 00 55 31 ed 5d c3",
	   64, SCAN_SP, 16, -16),
	SP("bnd jump", "|f2 eb 00 c3", 64, SCAN_SP, 8, 0),
	SP("call between", "|50 e8 00 10 00 00 58 c3", 64, SCAN_SP, 8, 0),
	SP("arguments of a call that never returns",
	   "|85 c0 74 09 48 83 ec 20 e8 00 10 00 00 48 83 c4 28 c3",
	   64, SCAN_SP, 48, 0),
	SP("table of another register",
	   "|48 8d 15 80 00 00 00 48 63 04 81 ff e0 5b c3", 64, UNKNOWN, 0, 0),
	SP("table", "|48 8d 15 0c 00 00 00 48 63 04 82 48 01 d0 ff e0 f4 5b c3 fe ff ff ff",
	   64, SCAN_SP, 16, 0),
	SP("table, behind its lea",
	   "48 8d 15 0c 00 00 00 |48 63 04 82 48 01 d0 ff e0 f4 5b c3 fe ff ff ff",
	   64, SCAN_SP, 16, 0),
	SP("table, at the add",
	   "48 8d 15 0c 00 00 00 48 63 04 82 |48 01 d0 ff e0 f4 5b c3 fe ff ff ff",
	   64, SCAN_SP, 16, 0),
	SP("table, at the jump",
	   "48 8d 15 0c 00 00 00 48 63 04 82 48 01 d0 |ff e0 f4 5b c3 fe ff ff ff",
	   64, SCAN_SP, 16, 0),
	SP("table, sum in the other register",
	   "4c 8d 15 0f 00 00 00 |4f 63 0c 8a 4f 8d 14 0a 3e 41 ff e2 f4 5b c3 fe ff ff ff",
	   64, SCAN_SP, 16, 0),
	SP("table, entries that count from elsewhere",
	   "48 8d 3d 11 00 00 00 48 8d 05 0c 00 00 00 |48 63 04 90 48 01 f8 ff e0 f4 5b c3 00 00 00 00",
	   64, SCAN_SP, 16, 0),
	SP("table, 56 bytes behind its lea",
	   "48 8d 15 36 00 00 00 |31 c0 31 c0 31 c0 31 c0 31 c0 31 c0 31 c0 31 c0 31 c0 31 c0 31 c0 "
	   "31 c0 31 c0 31 c0 31 c0 31 c0 31 c0 31 c0 31 c0 31 c0 31 c0 "
	   "48 63 04 82 48 01 d0 ff e0 f4 5b c3 fe ff ff ff", 64, SCAN_SP, 16, 0),
	UNKNOWN("table, ip within an instruction",
		"48 8d 15 0c 00 00 00 48 63 04 82 48 |01 d0 ff e0 f4 5b c3 fe ff ff ff", 64),
	UNKNOWN("table, entry by another register",
		"48 8d 15 0c 00 00 00 |48 63 04 81 48 01 d0 ff e0 f4 5b c3 fe ff ff ff", 64),
	UNKNOWN("table, jump by another register",
		"48 8d 15 0c 00 00 00 |48 63 04 82 48 01 d0 ff e1 f4 5b c3 fe ff ff ff", 64),
	UNKNOWN("table, sum with another register",
		"48 8d 15 0c 00 00 00 |48 63 04 82 48 01 c8 ff e0 f4 5b c3 fe ff ff ff", 64),
	SP("stack growth of Go",
	   "49 3b 66 10 76 01 c3 |48 89 44 24 08 e8 00 10 00 00 eb ed",
	   64, SCAN_SP, 8, 0),

	/* Scans that find bp standing. */
	BP("leave ahead", "|31 c0 c9 c3", 64, SCAN_BP),
	BP("sp taken from bp", "|48 83 ec 20 48 89 ec 5d c3", 64, SCAN_BP),
	BP("sp counted from bp, pops",
	   "|48 8d 65 d8 5b 41 5c 41 5d 41 5e 41 5f 5d c3", 64, SCAN_BP),
	BP("variable array, then leave", "|48 29 c4 48 89 e7 c9 c3", 64, SCAN_BP),
	BP("realigned stack", "|48 8b 5d f8 c9 49 8d 62 f8 c3", 64, SCAN_BP),

	/* Frames that assembler realigns: sp is kept in the frame, or in a register. */
	MEM_SP("sp loaded from the frame", "|48 8b a4 24 80 00 00 00 c3", 128, 8, 0),
	MEM_SP("... behind other code, then vzeroupper",
	       "|c5 fd 6f c1 74 fa 48 8b a4 24 80 00 00 00 c5 f8 77 c3", 128, 8, 0),
	MEM_SP("... then pops", "|48 8b 64 24 20 5b 5d c3", 32, 24, -16),
	MEM_SP("pop of sp", "|5c c3", 0, 8, 0),
	MEM_BP("sp loaded by bp, as libjpeg-turbo", "|5b 48 89 ec 5c 5d c3", 0, 16, -16),
	REG("sp taken from a register", "|31 c0 48 89 dc c3", 3, 8, 0),
	REG("... by a kernel of OpenBLAS",
	    "|31 ed 48 89 dc 48 8b 1c 24 48 8b 6c 24 08 48 83 c4 60 c3", 3, 104, -96),
	REG("... over a call", "|e8 00 10 00 00 4c 89 e4 c3", 12, 8, 0),
	REG("... by lea", "|49 8d 62 10 c3", 10, 24, 0),
	SP("sp copied, the frame realigned, and sp restored",
	   "|48 83 ec 08 49 89 e3 48 83 e4 c0 4c 89 dc 48 83 c4 08 c3", 64, SCAN_SP, 8, 0),
	BP("realigned stack, by r13", "|48 8d 65 f0 5b 41 5c 5d 49 8d 65 f0 41 5d c3", 64,
	   SCAN_BP),

	/* Calls where sp is at the return address: they return, if their targets do. */
	SP("direct call of what returns", "|e8 01 00 00 00 c3 90 c3", 64, SCAN_SP, 8, 0),
	SP("... over a jump and a branch", "|e8 01 00 00 00 c3 74 fe eb 00 c3", 64, SCAN_SP, 8, 0),
	SP("four of them", "|e8 10 00 00 00 e8 0c 00 00 00 e8 08 00 00 00 e8 04 00 00 00 "
	   "c3 c3 c3 c3 c3", 64, SCAN_SP, 8, 0),
	SP("... of what calls in the same way", "|e8 01 00 00 00 c3 e8 01 00 00 00 c3 c3",
	   64, SCAN_SP, 8, 0),

	/* Nothing can be known. */
	UNKNOWN("never returns", "|f4", 64),
	UNKNOWN("endless loop", "|90 eb fd", 64),
	UNKNOWN("jump to itself", "|eb fe", 64),
	UNKNOWN("branch to itself", "|74 fe eb fc", 64),
	UNKNOWN("no instruction", "|06 06 06", 64),
	UNKNOWN("jump through a register", "|ff e0", 64),
	UNKNOWN("jump through a table", "|ff 24 c5 00 00 00 00", 64),
	UNKNOWN("sp set to an argument, as who switches stacks does", "|48 89 fc c3", 64),
	UNKNOWN("sp loaded by an argument", "|48 8b 67 08 c3", 64),
	UNKNOWN("sp taken from a caller-saved register over a call",
		"|e8 00 10 00 00 4c 89 dc c3", 64),
	UNKNOWN("sp taken from a register that was set by something else",
		"|48 89 c3 48 89 dc c3", 64),
	UNKNOWN("... by lea, as OpenSSL", "|4d 8d 5b 58 49 8d 23 c3", 64),
	UNKNOWN("... in a prologue that is still to come, with much code behind it",
		"|4c 8d 54 24 08 31 c0 31 c0 31 c0 31 c0 31 c0 31 c0 31 c0 31 c0 31 c0 31 c0 31 c0 31 c0 31 c0 "
		"31 c0 31 c0 31 c0 31 c0 31 c0 31 c0 31 c0 31 c0 31 c0 31 c0 31 c0 31 c0 31 c0 4c 89 d4 c3", 64),
	UNKNOWN("... popped", "|5b 48 89 dc c3", 64),
	UNKNOWN("sp taken from a register, then a call", "|48 89 dc e8 00 10 00 00 c3", 64),
	UNKNOWN("sp loaded from a slot that the path wrote", "|50 48 8b 24 24 c3", 64),
	UNKNOWN("sp loaded from what sp was loaded from",
		"|48 8b 64 24 08 48 8b 64 24 08 c3", 64),
	UNKNOWN("sp taken from a register, 16-bit operand", "|66 89 dc c3", 64),
	UNKNOWN("direct call of what does not return", "|e8 01 00 00 00 c3 f4", 64),
	UNKNOWN("... of what calls on", "|e8 01 00 00 00 c3 e8 00 10 00 00 c3", 64),
	UNKNOWN("... of what returns elsewhere", "|e8 01 00 00 00 c3 58 c3", 64),
	UNKNOWN("... of what jumps in a circle", "|e8 01 00 00 00 c3 eb fe", 64),
	UNKNOWN("... of itself", "|e8 fb ff ff ff c3", 64),
	UNKNOWN("... of what calls itself", "|e8 01 00 00 00 c3 e8 fb ff ff ff c3", 64),
	UNKNOWN("... of what moves sp and calls on",
		"|e8 01 00 00 00 c3 50 e8 02 00 00 00 58 c3 c3", 64),
	UNKNOWN("... of more, one by the other, than are looked at",
		"|e8 01 00 00 00 c3 e8 01 00 00 00 c3 e8 01 00 00 00 c3 e8 01 00 00 00 c3 "
		"e8 01 00 00 00 c3 e8 01 00 00 00 c3 e8 01 00 00 00 c3 e8 01 00 00 00 c3 "
		"e8 01 00 00 00 c3 c3", 64),
	UNKNOWN("five calls, where four targets are remembered",
		"|e8 15 00 00 00 e8 11 00 00 00 e8 0d 00 00 00 e8 09 00 00 00 e8 05 00 00 00 "
		"c3 c3 c3 c3 c3 c3", 64),
	UNKNOWN("variable array without frame", "|48 29 c4 c3", 64),
	UNKNOWN("sp below itself", "|50 c3", 64),
	UNKNOWN("bp lost", "|31 ed c3", 64),
	UNKNOWN("16-bit push", "|66 50 66 58 58 c3", 64),
	UNKNOWN("far return", "|cb", 64),
	UNKNOWN("call that never returns, then a function",
		"|e8 00 10 00 00 53 5b c3", 64),
	UNKNOWN("deeper call that never returns, then a function",
		"|6a 00 e8 00 10 00 00 55 48 89 e5 5d c3", 64),
	UNKNOWN("bp in use, not restored",
		"|48 89 ef e8 00 10 00 00 58 c3", 64),
	UNKNOWN("code ends", "|31 c0", 64),
	UNKNOWN("code ends within an instruction", "|48 8b", 64),
	UNKNOWN("frame beyond 16 bits", "|48 81 c4 00 00 00 40 c3", 64),

	/* 32-bit code. */
	SP("32: entry at push", "90 90 |55 89 e5 c3", 32, ENTRY, 4, 0),
	SP("32: entry at endbr32", "90 |f3 0f 1e fb 55 89 e5 5d c3", 32, ENTRY, 4, 0),
	SP("32: between push and mov", "90 55 |89 e5 31 c0 5d c3", 32, PROLOGUE, 8, -8),
	BP("32: leave", "|c9 c3", 32, EPILOGUE),
	SP("32: pop and ret", "|5d c3", 32, EPILOGUE, 8, -8),
	SP("32: ret imm", "|c2 04 00", 32, RET, 4, 0),
	SP("32: first entry of a linkage table, PIC",
	   "|ff b3 04 00 00 00 ff a3 08 00 00 00", 32, PLT, 8, 0),
	SP("32: inc is no prefix", "|40 c3", 32, SCAN_SP, 4, 0),
	SP("32: pops ahead", "|83 c4 0c 5b 5e 5f 5d c3", 32, SCAN_SP, 32, -8),
	SP("32: own address by a call", "|e8 00 00 00 00 5b c3", 32, SCAN_SP, 4, 0),
	SP("32: own address from a function",
	   "|e8 01 00 00 00 c3 8b 0c 24 c3", 32, SCAN_SP, 4, 0),
	SP("32: ... for the linkage table, in a function that pushes bp",
	   "|e8 0d 00 00 00 55 89 e5 53 81 c3 00 10 00 00 5b 5d c3 8b 1c 24 c3",
	   32, SCAN_SP, 4, 0),
	BP("32: realigned stack", "|8b 4d fc c9 8d 61 fc c3", 32, SCAN_BP),
	BP("32: sp counted from bp", "|8d 65 f4 5b 5e 5f 5d c3", 32, SCAN_BP),
	SP("32: vsyscall",
	   "|51 52 55 89 e5 0f 34 cd 80 5d 5a 59 c3", 32, SCAN_SP, 4, 0),
	SP("32: call of a function that does more than load its return address, and returns",
	   "|e8 01 00 00 00 c3 8b 0c 24 90 c3", 32, SCAN_SP, 4, 0),
	SP("64: call of such a function", "|e8 01 00 00 00 c3 8b 0c 24 c3", 64, SCAN_SP, 8, 0),
	UNKNOWN("32: pusha", "|60 61 c3", 32),
};

#endif
