// SPDX-License-Identifier: GPL-2.0
/*
 * The bounds of the analyses of code: what is found at each of them, and not one beyond it.
 */
#include <string.h>
#include "call-reach.h"
#include "callers-frame.h"
#include "code-bytes.h"
#include "context-switch.h"
#include "frame-pointer.h"
#include "from-entry.h"
#include "insn-effect.h"
#include "realigned.h"
#include "saved-sp.h"
#include "tap.h"

/* Functions begin there, behind int3. */
#define ENTRY	0x4000

/* jmp *%rcx */
#define LEAVES	"\xff\xe1"

static struct hybrid_rule rule;
static unsigned int took;

static void put_jump(unsigned int at, const char *opcode, unsigned int len, unsigned int to)
{
	s32 offset = to - (at + len + 4);

	code_put(at, opcode, len);
	memcpy(code + at + len, &offset, sizeof(offset));
}

#define JMP(at, to)	put_jump(at, "\xe9", 1, to)
#define JE(at, to)	put_jump(at, "\x0f\x84", 2, to)
#define CALL(at, to)	put_jump(at, "\xe8", 1, to)

static bool from_entry(unsigned int at)
{
	return hybrid_from_entry_rule(&code_mem, CODE_BASE + at, &rule, &took);
}

static void begin(u8 fill)
{
	code_fill(fill);
	memset(code + ENTRY - 4, 0xcc, 4);
}

/* So many instructions of a function, and so many bytes. */
static void straight_from_entry(void)
{
	begin(0x90);
	check(from_entry(ENTRY + 1023));
	check(from_entry(ENTRY + 1024));
	check(!from_entry(ENTRY + 1025));
	/* jmp over what is between. */
	JMP(ENTRY, ENTRY + 8191);
	check(from_entry(ENTRY + 8191));
	JMP(ENTRY, ENTRY + 8192);
	check(!from_entry(ENTRY + 8192));
	/* By a jump that is further, and one back. */
	begin(0xcc);
	JMP(ENTRY, ENTRY + 12287);
	JMP(ENTRY + 12287, ENTRY + 8);
	check(from_entry(ENTRY + 8));
	JMP(ENTRY, ENTRY + 12288);
	JMP(ENTRY + 12288, ENTRY + 8);
	check(!from_entry(ENTRY + 8));
	/* Back to the beginning, and before that: another function. */
	JMP(ENTRY, ENTRY + 12);
	JMP(ENTRY + 12, ENTRY);
	check(!from_entry(ENTRY + 8));
	JMP(ENTRY + 12, ENTRY - 64);
	JMP(ENTRY - 64, ENTRY + 8);
	check(!from_entry(ENTRY + 8));
}

/* What looks like the beginning of a function is within one. */
static void entries(void)
{
	unsigned int nr;

	for (nr = 0; nr < 4; nr++) {
		begin(0x90);
		JMP(ENTRY, ENTRY + 300);
		if (nr > 0)
			CODE_PUT(ENTRY + 256 - 4, "\xcc\xcc\xcc\xcc" LEAVES);
		if (nr > 1)
			CODE_PUT(ENTRY + 192 - 4, "\xcc\xcc\xcc\xcc" LEAVES);
		if (nr > 2)
			CODE_PUT(ENTRY + 128 - 4, "\xcc\xcc\xcc\xcc" LEAVES);
		same(from_entry(ENTRY + 300), nr < 2);
	}
	/* It does not begin at a multiple of 64. */
	code_fill(0x90);
	CODE_PUT(ENTRY + 20, "\xcc\xcc\xcc\xcc");
	check(!from_entry(ENTRY + 40));
	/* Nothing is before the code. */
	code_fill(0x90);
	check(!from_entry(40));
}

/* Branches of which both ways are followed. */
static void branches_from_entry(void)
{
	unsigned int nr, i;

	/* All wait at once. */
	for (nr = 30; nr < 36; nr++) {
		begin(0xc3);
		for (i = 0; i < nr; i++)
			JE(ENTRY + 6 * i, ENTRY + 1024 + i);
		CODE_PUT(ENTRY + 6 * nr, LEAVES);
		same(from_entry(ENTRY + 1024 + nr - 1), nr <= 32);
	}
	/* One after the other. */
	for (nr = 60; nr < 67; nr++) {
		begin(0xc3);
		for (i = 0; i < nr; i++) {
			JE(ENTRY + 8 * i, ENTRY + 8 * (i + 1));
			CODE_PUT(ENTRY + 8 * i + 6, LEAVES);
		}
		same(from_entry(ENTRY + 8 * nr), nr <= 63);
	}
}

/* pop %r15; push %rbp; mov %rsp,%rbp */
#define MAKES	"\x41\x5f\x55\x48\x89\xe5"

static void callers_frame(void)
{
	unsigned int nr, i;

	for (nr = 44; nr < 48; nr++) {
		code_fill(0x90);
		CODE_PUT(ENTRY + nr, MAKES "\xc3");
		same(hybrid_makes_callers_frame(&code_mem, CODE_BASE + ENTRY, &took), nr <= 45);
		check(took <= 48);
	}
	/* Branches: the last one leads there. */
	for (nr = 1; nr < 7; nr++) {
		code_fill(0xcc);
		for (i = 0; i < nr; i++)
			JE(ENTRY + 6 * i, ENTRY + 256 + 16 * (i + 1 == nr));
		CODE_PUT(ENTRY + 6 * nr, LEAVES);
		CODE_PUT(ENTRY + 256, LEAVES);
		CODE_PUT(ENTRY + 272, MAKES);
		same(hybrid_makes_callers_frame(&code_mem, CODE_BASE + ENTRY, &took), nr <= 4);
	}
	for (nr = 0; nr < 6; nr++) {
		code_fill(0x90);
		CALL(ENTRY + nr, ENTRY + 256);
		CODE_PUT(ENTRY + 256, MAKES);
		same(hybrid_is_before_frame(&code_mem, CODE_BASE + ENTRY), nr < 4);
	}
	code_mem.is_64bit = false;
	check(!hybrid_calls_for_frame(&code_mem, CODE_BASE + ENTRY + 5));
	code_mem.is_64bit = true;
	check(hybrid_calls_for_frame(&code_mem, CODE_BASE + ENTRY + 5));
}

static enum hybrid_reach reach(unsigned int callee)
{
	u64 slot;

	return hybrid_target_reaches(&code_mem, CODE_BASE + ENTRY, CODE_BASE + callee, &slot);
}

/* From the target of a call: instructions, pieces of code, jumps that wait. */
static void reaches(void)
{
	unsigned int nr, i;

	code_fill(0x90);
	same(reach(ENTRY + 2047), HYBRID_REACH_THERE);
	same(reach(ENTRY + 2048), HYBRID_REACH_FAR);
	/* All of it is followed, and it is not there. */
	CODE_PUT(ENTRY + 2047, "\xc3");
	same(reach(ENTRY + 3000), HYBRID_REACH_NOT);
	CODE_PUT(ENTRY + 2047, "\x90\xc3");
	same(reach(ENTRY + 3000), HYBRID_REACH_FAR);
	/* Pieces of two jumps. */
	for (nr = 510; nr < 514; nr++) {
		code_fill(0xcc);
		for (i = 0; i < nr; i++)
			JMP(ENTRY + 8 * i, ENTRY + 8 * (i + 1));
		CODE_PUT(ENTRY + 8 * nr, "\xc3");
		same(reach(ENTRY + 8 * nr + 4), nr < 512 ? HYBRID_REACH_NOT : HYBRID_REACH_FAR);
		same(reach(ENTRY + 8 * nr), nr < 512 ? HYBRID_REACH_THERE : HYBRID_REACH_FAR);
	}
	/* So many jumps, of which only the first way is followed by then. */
	for (nr = 254; nr < 260; nr++) {
		code_fill(0xc3);
		for (i = 0; i < nr; i++)
			JE(ENTRY + 6 * i, 0x8000 + i);
		same(reach(0x100), nr <= 256 ? HYBRID_REACH_NOT : HYBRID_REACH_FAR);
	}
}

/* Is sp moved at that byte, in a row of all of the code with 72 bytes pushed? */
static void sp_is_moved(unsigned int at, bool is_moved, unsigned int from, unsigned int to)
{
	u64 first, end;

	check(hybrid_sp_is_moved(&code_mem, CODE_BASE, CODE_BASE + at, CODE_BASE + CODE_SIZE, 72,
				 &first, &end) == is_moved);
	same(first, CODE_BASE + from);
	same(end, CODE_BASE + to);
}

/* A row with code that calls subroutines in the row: sp points to their return address first. */
static void subroutines(void)
{
	code_fill(0x90);
	/* call 64; at 64: je 80; ret; at 80: push %rax; je 96; pop %rax; ret */
	CODE_PUT(16, "\xe8\x2b\x00\x00\x00");
	CODE_PUT(64, "\x90\x74\x0d\xc3");
	CODE_PUT(80, "\x50\x74\x0d\x58\xc3");
	CODE_PUT(96, "\x58\xc3");
	/* call 128: sub $72,%rsp, which makes the row's frame; je 144; jmp */
	CODE_PUT(32, "\xe8\x5b\x00\x00\x00");
	CODE_PUT(128, "\x48\x83\xec\x48\x74\x0a\xeb\x00");
	code[CODE_SIZE - 1] = 0xc3;
	sp_is_moved(16, false, 0, 64);
	sp_is_moved(64, true, 64, 68);
	sp_is_moved(67, true, 64, 68);
	sp_is_moved(68, false, 68, 80);
	sp_is_moved(80, true, 80, 85);
	sp_is_moved(85, false, 85, 96);
	sp_is_moved(97, true, 96, 98);
	sp_is_moved(98, false, 98, 128);
	sp_is_moved(128, true, 128, 132);
	sp_is_moved(132, false, 132, CODE_SIZE);
	sp_is_moved(144, false, 132, CODE_SIZE);
	/* Position-independent code calls the next instruction to learn its own address. */
	code_fill(0x90);
	CODE_PUT(16, "\xe8\x00\x00\x00\x00\x58");
	code[CODE_SIZE - 1] = 0xc3;
	sp_is_moved(21, false, 0, 22);
}

/* One row for code that pushes, calls and jumps, as assembler has it. */
static void moves(void)
{
	u64 from, to;

	code_fill(0x90);
	/* push %rax; call; pop %rax */
	CODE_PUT(16, "\x50\xe8\x00\x00\x10\x00\x58");
	/* push %rbp, %rbx, %r15, %r14; sub $40,%rsp: a function's entry; jmp */
	CODE_PUT(64, "\xeb\x00\x55\x53\x41\x57\x41\x56\x48\x83\xec\x28\x90\xeb\x00");
	/* mov %rcx,%rsp; jmp */
	CODE_PUT(96, "\x48\x89\xcc\x90\xff\xe0");
	/* je, with sp moved: lea -8(%rsp),%rsp; vmovdqa; and back */
	CODE_PUT(128, "\x48\x8d\x64\x24\xf8\x74\x04\xc5\xf9\x6f\xc0\x48\x8d\x64\x24\x08");
	/* push %rax; push2 %rax,%rbx, behind which sp is not known */
	CODE_PUT(160, "\x50\x62\xf4\x64\x18\xff\xf0");
	code[CODE_SIZE - 1] = 0xc3;
	sp_is_moved(0, false, 0, 17);
	sp_is_moved(16, false, 0, 17);
	/* Within the call, too: its return address is asked for so. */
	sp_is_moved(17, true, 17, 23);
	sp_is_moved(21, true, 17, 23);
	sp_is_moved(22, true, 17, 23);
	sp_is_moved(23, false, 23, 67);
	sp_is_moved(67, true, 67, 76);
	sp_is_moved(75, true, 67, 76);
	sp_is_moved(76, false, 76, 99);
	sp_is_moved(100, true, 99, 102);
	sp_is_moved(102, false, 102, 133);
	sp_is_moved(139, true, 133, 144);
	sp_is_moved(144, false, 144, 161);
	sp_is_moved(161, true, 161, 167);
	sp_is_moved(167, false, 167, CODE_SIZE);
	/* What can't be read, and more instructions than are looked at. */
	CODE_PUT(512, "\x50\x62\x00");
	sp_is_moved(300, false, 167, 513);
	check(!hybrid_sp_is_moved(&code_mem, CODE_BASE, CODE_BASE + 513, CODE_BASE + 1024, 72,
				  &from, &to));
	code_fill(0x90);
	CODE_PUT(0, "\x50");
	check(hybrid_sp_is_moved(&code_mem, CODE_BASE, CODE_BASE + 1, CODE_BASE + 16384, 72, &from,
				 &to));
	check(!hybrid_sp_is_moved(&code_mem, CODE_BASE, CODE_BASE + 1, CODE_BASE + 16385, 72, &from,
				  &to));
}

static void effects(void)
{
	unsigned int nr;

	for (nr = 29; nr < 35; nr++) {
		code_fill(0x90);
		CODE_PUT(ENTRY + nr, "\xc3");
		same(hybrid_returns(&code_mem, CODE_BASE + ENTRY), nr < 32);
	}
	/* mov %rdi,%rsp */
	for (nr = 510; nr < 514; nr++) {
		code_fill(0x90);
		CODE_PUT(ENTRY + nr, "\x48\x89\xfc");
		same(hybrid_sets_sp(&code_mem, CODE_BASE + ENTRY, CODE_BASE + ENTRY + 2048),
		     CODE_BASE + ENTRY + min(nr, 512U));
		same(hybrid_sets_sp(&code_mem, CODE_BASE + ENTRY, CODE_BASE + ENTRY + 100),
		     CODE_BASE + ENTRY + 100);
	}
	/* mov %rbp,16(%rsp) */
	for (nr = 5; nr < 11; nr++) {
		code_fill(0x90);
		CODE_PUT(ENTRY + nr, "\x48\x89\x6c\x24\x10");
		same(hybrid_saves_bp(&code_mem, CODE_BASE + ENTRY, CODE_BASE + ENTRY + 64, 16),
		     nr < 8);
		check(!hybrid_saves_bp(&code_mem, CODE_BASE + ENTRY, CODE_BASE + ENTRY + 64, 8));
		same(hybrid_saves_bp(&code_mem, CODE_BASE + ENTRY, CODE_BASE + ENTRY + 6, 16),
		     nr < 6);
	}
}

/* A function that switches stacks: bytes before an address, instructions. */
static void switches(void)
{
	unsigned int nr;

	/* push %rbp; ...; mov %rdi,%rsp; pop %rbp; ret */
	for (nr = 57; nr < 63; nr++) {
		code_fill(0x90);
		code[ENTRY - 1] = 0xc3;
		code[ENTRY] = 0x55;
		CODE_PUT(ENTRY + nr + 1, "\x48\x89\xfc\x5d\xc3");
		same(hybrid_switch_rule(&code_mem, CODE_BASE + ENTRY, &rule), nr <= 60);
	}
	/* Of long nops: bytes. */
	for (nr = 28; nr < 34; nr++) {
		unsigned int i;

		code_fill(0xe8);
		code[ENTRY - 1] = 0xc3;
		for (i = 0; i < nr; i++)
			CODE_PUT(ENTRY + 8 * i, "\x0f\x1f\x84\x00\x00\x00\x00\x11");
		CODE_PUT(ENTRY + 8 * nr, "\x48\x89\xfc\x5d\xc3");
		same(hybrid_switch_rule(&code_mem, CODE_BASE + ENTRY + 8 * nr, &rule), nr < 32);
	}
}

static void special_frames(void)
{
	unsigned int nr;

	/* pop %rcx; nop...; mov %rcx,%rsp; ret */
	for (nr = 11; nr < 18; nr++) {
		code_fill(0x90);
		code[ENTRY] = 0x59;
		CODE_PUT(ENTRY + 1 + nr, "\x48\x89\xcc\xc3");
		same(hybrid_saved_sp_rule(&code_mem, CODE_BASE + ENTRY, &rule), nr <= 14);
	}
	/* mov -8(%rbp),%r10; leave; nop...; lea -8(%r10),%rsp; ret */
	for (nr = 4; nr < 11; nr++) {
		code_fill(0x90);
		CODE_PUT(ENTRY, "\x4c\x8b\x55\xf8\xc9");
		CODE_PUT(ENTRY + 5 + nr, "\x49\x8d\x62\xf8\xc3");
		rule = hybrid_rule_frame_pointer(8);
		same(hybrid_realigned_rule(&code_mem, CODE_BASE + ENTRY, &rule, &took), nr < 8);
	}
	/* leave; nop...; ret */
	for (nr = 12; nr < 20; nr++) {
		u64 run;

		code_fill(0x90);
		code[ENTRY] = 0xc9;
		code[ENTRY + 1 + nr] = 0xc3;
		same(hybrid_has_frame_pointer(&code_mem, CODE_BASE + ENTRY, &run, &took),
		     nr < 16);
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "bounds: from the entry on",		straight_from_entry },
		{ "bounds: entries",			entries },
		{ "bounds: branches",			branches_from_entry },
		{ "bounds: the frame of a caller",	callers_frame },
		{ "bounds: from a call on",		reaches },
		{ "bounds: effects of instructions",	effects },
		{ "bounds: where sp is moved",		moves },
		{ "bounds: subroutines of one row",	subroutines },
		{ "bounds: switches of stacks",		switches },
		{ "bounds: special frames",		special_frames },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
