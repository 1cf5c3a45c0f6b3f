// SPDX-License-Identifier: GPL-2.0
/*
 * Stepping over the frames that need more than ip, sp and bp.
 */
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include "scene.h"
#include "tap.h"

#define BX	HYBRID_X86_64_BX
#define BP	HYBRID_X86_64_BP

static struct scene s;

/* gcc's main() with a 32-byte aligned frame, called by outer(). */
static void realigned(void)
{
	u64 cfa;

	scene_start(&s, scene_at("leaf_at"));
	scene_push(&s, scene_at("realign_ret"));
	cfa = SCENE_STACK + 9 * 8;
	scene_push(&s, cfa);
	scene_reg_top(&s, BP);
	scene_push(&s, 0x4321);
	scene_fill(&s, 5, 0xdead);
	scene_push(&s, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("leaf_at"),
		     scene_at("realign_ret") - 1, scene_at("outer_ret") - 1);
	same(s.frames[1].cfa, cfa);
	check(s.u.bp_known);
	same(s.u.bp, 0x4321);
}

/* As it returns bp is the caller's, bpframe()'s, whatever the CFI says. */
static void realigned_left(void)
{
	static const char * const labels[] = { "realign_lea", "realign_left" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(labels); i++) {
		scene_start(&s, scene_at(labels[i]));
		if (!i)
			scene_fill(&s, 5, 0xdead);
		scene_push(&s, scene_at("bpframe_ret"));
		scene_reg_top(&s, 10);
		scene_reg_top(&s, BP);
		scene_push_bpframe(&s, 0, scene_at("outer_ret"));
		scene_unwind(&s);
		scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at(labels[i]),
			     scene_at("bpframe_ret") - 1, scene_at("outer_ret") - 1);
	}
}

/* The caller's rsp saved where the aligned stack ends; below it no dump reaches. */
static void aligned(void)
{
	scene_start(&s, scene_at("aligned_at"));
	scene_push(&s, SCENE_STACK + 5 * 8);
	scene_fill(&s, 4, scene_at("pushed_ret"));
	scene_push(&s, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("aligned_at"), scene_at("outer_ret") - 1);
	same(s.frames[0].cfa, SCENE_STACK + 6 * 8);

	scene_reg(&s, s.u.abi->ip, scene_at("aligned_below_at"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_BAD_FRAME, scene_at("aligned_below_at"));

	scene_reg(&s, s.u.abi->ip, scene_at("aligned_far_at"));
	s.stack[0] -= 0x100;
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("aligned_far_at"),
		     scene_at("outer_ret") - 1);
}

/* The same below the stack pointer: in the process, while it runs. */
static void aligned_below(void)
{
	u64 *page = mmap((void *)(SCENE_STACK - 4096), 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	check((u64)page == SCENE_STACK - 4096);
	scene_unwinder.memory = hybrid_memory_new();
	scene_start(&s, scene_at("aligned_below_at"));
	s.u.pid = getpid();
	page[511] = SCENE_STACK + 4 * 8;
	scene_fill(&s, 4, scene_at("pushed_at"));
	scene_push(&s, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("aligned_below_at"),
		     scene_at("outer_ret") - 1);

	/* Written anew since: what it leads to now is behind no call. */
	page[511] = SCENE_STACK + 3 * 8;
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_BAD_FRAME, scene_at("aligned_below_at"));

	/* Nobody to be asked. */
	page[511] = SCENE_STACK + 4 * 8;
	s.u.pid = 0;
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_BAD_FRAME, scene_at("aligned_below_at"));
	hybrid_memory_delete(scene_unwinder.memory);
	scene_unwinder.memory = NULL;
	munmap(page, 4096);
}

/* Its return address is known, and behind the dump. */
static void realigned_truncated(void)
{
	scene_start(&s, scene_at("realign_at"));
	scene_push(&s, SCENE_STACK + 800);
	scene_reg_top(&s, BP);
	scene_push(&s, 0);
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_DUMP_END, scene_at("realign_at"));
	same(s.frames[0].cfa, SCENE_STACK + 800);

	/* And where the CFA is could not be read either. */
	s.u.dump_size = 0;
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_DUMP_END, scene_at("realign_at"));
	same(s.frames[0].cfa, 0);
}

static void plt(void)
{
	scene_start(&s, scene_at("plt_low"));
	scene_push(&s, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("plt_low"), scene_at("outer_ret") - 1);
	same(s.frames[0].cfa, SCENE_STACK + 8);

	/* Behind its push: the same row gives another CFA. */
	scene_start(&s, scene_at("plt_high"));
	scene_push(&s, 7);
	scene_push(&s, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("plt_high"), scene_at("outer_ret") - 1);
	same(s.frames[0].cfa, SCENE_STACK + 16);
}

/* A frame that was left by its code has the place that this found, not its CFI's. */
static void left_by_code(void)
{
	scene_start(&s, scene_at("silent_at"));
	scene_push(&s, 0);
	scene_push(&s, scene_at("far_ret"));
	scene_push(&s, SCENE_STACK + 32 - 264);
	scene_push(&s, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("silent_at"),
		     scene_at("far_ret") - 1, scene_at("outer_ret") - 1);
}

static void registers(void)
{
	/* The return address in rbx, as vfork() keeps it: no stack at all. */
	scene_start(&s, scene_at("inreg_at"));
	scene_reg(&s, BX, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("inreg_at"), scene_at("outer_ret") - 1);

	scene_start(&s, scene_at("bpreg_at"));
	scene_reg(&s, 12, SCENE_STACK + 8);
	scene_push(&s, scene_at("bpframe_ret"));
	scene_push_bpframe(&s, 0, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("bpreg_at"),
		     scene_at("bpframe_ret") - 1, scene_at("outer_ret") - 1);

	/* rbp is CFA - 32 */
	scene_start(&s, scene_at("valoff_at"));
	scene_push(&s, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("valoff_at"), scene_at("outer_ret") - 1);
	same(s.u.bp, SCENE_STACK + 8 - 32);

	scene_start(&s, scene_at("cfarax_at"));
	scene_reg(&s, 0, SCENE_STACK + 24);
	scene_fill(&s, 3, 0xdead);
	scene_push(&s, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("cfarax_at"), scene_at("outer_ret") - 1);
	same(s.frames[0].cfa, SCENE_STACK + 32);
}

/* What is asked for is not among the sampled registers. */
static void unknown_registers(void)
{
	scene_start(&s, scene_at("cfarax_at"));
	scene_fill(&s, 4, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_BAD_FRAME, scene_at("cfarax_at"));

	scene_start(&s, scene_at("bpreg_at"));
	scene_push(&s, scene_at("bpframe_ret"));
	scene_push_bpframe(&s, 0, scene_at("outer_ret"));
	scene_unwind(&s);
	same(s.u.nr, 2);
	check(!s.u.bp_known);
}

/* Frame 3's CFA is rbx, which frame 1 saved; known only by a replay. */
static void replay(void)
{
	u64 cfa, saved_rbx;
	unsigned int round;

	for (round = 0; round < 3; round++) {
		scene_start(&s, scene_at("leaf_at"));
		scene_reg(&s, BX, 0xbad);
		scene_push(&s, scene_at("pushed_ret"));
		saved_rbx = SCENE_STACK + 8 * (1 + 4 + 2 + 2);
		/* The frame between hands rbx on: a round without it, one with its own. */
		if (round == 1) {
			scene_push_pushed(&s, saved_rbx, scene_at("cfarbx_ret"));
			scene_fill(&s, 2, 0xdead);
		} else {
			scene_push_pushed(&s, saved_rbx, scene_at("bpframe_ret"));
			scene_reg_top(&s, BP);
			scene_push_bpframe(&s, 0x99, scene_at("cfarbx_ret"));
		}
		scene_fill(&s, 3, 0xdead);
		cfa = saved_rbx + 16;
		scene_push(&s, scene_at("outer_ret"));
		same(scene_top(&s), cfa);
		/* A reader of other words than that would see these. */
		scene_fill(&s, 8, scene_at("pushed_ret"));
		scene_unwind(&s);
		if (round == 1)
			scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("leaf_at"),
				     scene_at("pushed_ret") - 1, scene_at("cfarbx_ret") - 1,
				     scene_at("outer_ret") - 1);
		else
			scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("leaf_at"),
				     scene_at("pushed_ret") - 1, scene_at("bpframe_ret") - 1,
				     scene_at("cfarbx_ret") - 1, scene_at("outer_ret") - 1);
		same(s.frames[s.u.nr - 2].cfa, cfa);
	}
}

/* Two of them: the second replay goes on where the first was. */
static void replay_twice(void)
{
	u64 rbx;

	scene_start(&s, scene_at("leaf_at"));
	scene_push(&s, scene_at("pushed_ret"));
	rbx = SCENE_STACK + 8 + 32 + 8;
	scene_push_pushed(&s, rbx, scene_at("cfarbx_ret"));
	scene_fill(&s, 2, 0xdead);
	scene_push(&s, scene_at("pushed_ret"));
	same(scene_top(&s), rbx + 16);
	rbx = scene_top(&s) + 32 + 16;
	scene_push_pushed(&s, rbx, scene_at("cfarbx_ret"));
	scene_fill(&s, 3, 0xdead);
	scene_push(&s, scene_at("outer_ret"));
	same(scene_top(&s), rbx + 16);
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("leaf_at"), scene_at("pushed_ret") - 1,
		     scene_at("cfarbx_ret") - 1, scene_at("pushed_ret") - 1,
		     scene_at("cfarbx_ret") - 1, scene_at("outer_ret") - 1);
}

/* A replay through code without CFI: rbx is lost there, rbp is not. */
static void replay_without_cfi(void)
{
	u64 bp, bp2;

	scene_start(&s, SCENE_JIT + 100);
	scene_reg(&s, BX, SCENE_STACK + 24);
	scene_reg_top(&s, BP);
	scene_push_bpframe(&s, 0x77, scene_at("cfarbx_ret"));
	scene_fill(&s, 8, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_BAD_FRAME, SCENE_JIT + 100, scene_at("cfarbx_ret") - 1);

	/* An expression needs only rip and rsp; the frame behind it rbp. */
	scene_start(&s, SCENE_JIT + 100);
	bp = scene_top(&s);
	bp2 = bp + 24;
	scene_reg(&s, BP, bp);
	scene_push_bpframe(&s, bp2, scene_at("stub_ret"));
	scene_push(&s, scene_at("bpframe_ret"));
	scene_push_bpframe(&s, 0, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, SCENE_JIT + 100, scene_at("stub_ret") - 1,
		     scene_at("bpframe_ret") - 1, scene_at("outer_ret") - 1);
}

/* Words of struct ucontext, as sigframe's row finds them. */
static void push_ucontext(u64 rbp, u64 rbx, u64 rsp, u64 rip)
{
	unsigned int at = s.nr;

	scene_fill(&s, 22, 0xdead);
	s.stack[at + 15] = rbp;
	s.stack[at + 16] = rbx;
	s.stack[at + 20] = rsp;
	s.stack[at + 21] = rip;
}

/* The interrupted address is exact: at a function's first byte it is not - 1. */
static void signal_exact(void)
{
	scene_start(&s, scene_at("leaf_at"));
	scene_push(&s, scene_at("sigframe_ret"));
	push_ucontext(0, 0, scene_top(&s) + 30 * 8, scene_at("bpframe_entry"));
	scene_fill(&s, 8, 0xdead);
	scene_push(&s, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("leaf_at"),
		     scene_at("sigframe_ret"), scene_at("bpframe_entry"),
		     scene_at("outer_ret") - 1);
	same(s.frames[2].ret, scene_at("bpframe_entry"));

	scene_start(&s, scene_at("leaf_at"));
	scene_push(&s, scene_at("sigplain_ret"));
	scene_fill(&s, 3, 0xdead);
	scene_push(&s, scene_at("bpframe_entry"));
	scene_push(&s, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("leaf_at"),
		     scene_at("sigplain_ret"), scene_at("bpframe_entry"),
		     scene_at("outer_ret") - 1);

	/* Behind a call, which has not called the signal's frame: it has returned. */
	s.stack[4] = scene_at("undefbp_ret");
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("leaf_at"),
		     scene_at("sigplain_ret"), scene_at("undefbp_ret"),
		     scene_at("outer_ret") - 1);
}

/* rbp and rbx of the interrupted frame come from the ucontext. */
static void signal_registers(void)
{
	u64 sp;

	scene_start(&s, scene_at("leaf_at"));
	scene_reg(&s, BP, 0xbad);
	scene_reg(&s, BX, 0xbad);
	scene_push(&s, scene_at("sigframe_ret"));
	sp = scene_top(&s) + 22 * 8;
	push_ucontext(sp + 8, sp + 24 + 8, sp, scene_at("bpframe_at"));
	scene_push(&s, 0xdead);
	scene_push_bpframe(&s, 0, scene_at("cfarbx_ret"));
	scene_fill(&s, 2, 0xdead);
	scene_push(&s, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("leaf_at"),
		     scene_at("sigframe_ret"), scene_at("bpframe_at"),
		     scene_at("cfarbx_ret") - 1, scene_at("outer_ret") - 1);
}

/* A signal stack may be above or below the interrupted one. */
static void signal_stack(void)
{
	u64 first, bp;

	/* The interrupted stack, then the signal's, in one dump. */
	scene_start(&s, scene_at("leaf_at"));
	first = scene_top(&s);
	scene_fill(&s, 4, 0xdead);
	scene_push(&s, scene_at("outer_ret"));
	s.u.regs.value[HYBRID_X86_64_SP] = scene_top(&s);
	bp = scene_push(&s, scene_at("sigframe_ret"));
	push_ucontext(0, 0, first + 32, scene_at("bpframe_entry"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("leaf_at"),
		     scene_at("sigframe_ret"), scene_at("bpframe_entry"),
		     scene_at("outer_ret") - 1);
	same(s.frames[0].cfa, bp + 8);

	/* Behind the dump. */
	scene_start(&s, scene_at("leaf_at"));
	scene_push(&s, scene_at("sigframe_ret"));
	push_ucontext(0, 0, SCENE_STACK + 0x10000, scene_at("bpframe_entry"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_DUMP_END, scene_at("leaf_at"),
		     scene_at("sigframe_ret"), scene_at("bpframe_entry"));

	/* Below it. */
	scene_start(&s, scene_at("leaf_at"));
	scene_push(&s, scene_at("sigframe_ret"));
	push_ucontext(0, 0, SCENE_STACK - 0x10000, scene_at("bpframe_entry"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_DUMP_END, scene_at("leaf_at"),
		     scene_at("sigframe_ret"), scene_at("bpframe_entry"));
}

/* Signal frames that lead to each other end at the limit of frames. */
static void signal_cycle(void)
{
	scene_start(&s, scene_at("sigframe_ret"));
	push_ucontext(0, 0, SCENE_STACK, scene_at("sigframe_ret"));
	s.u.max_frames = 100;
	scene_unwind(&s);
	same(s.u.stop, HYBRID_STOP_LIMIT);
	same(s.u.nr, 100);
}

static void hostile(void)
{
	static const char * const labels[] = { "looping_at", "dividing_at" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(labels); i++) {
		scene_start(&s, scene_at("leaf_at"));
		scene_reg(&s, BP, SCENE_STACK);
		scene_push(&s, scene_at(labels[i]) + 1);
		scene_fill(&s, 8, scene_at("outer_ret"));
		scene_unwind(&s);
		scene_expect(&s, HYBRID_STOP_BAD_FRAME, scene_at("leaf_at"),
			     scene_at(labels[i]));
	}
	/* A register that can't be known is no harm until it is asked for. */
	scene_start(&s, scene_at("leaf_at"));
	scene_reg(&s, BX, SCENE_STACK + 16);
	scene_push(&s, scene_at("regloop_ret"));
	scene_push(&s, scene_at("plt_low") + 1);
	scene_push(&s, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("leaf_at"),
		     scene_at("regloop_ret") - 1, scene_at("plt_low"),
		     scene_at("outer_ret") - 1);
	s.stack[1] = scene_at("cfarbx_ret");
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_BAD_FRAME, scene_at("leaf_at"),
		     scene_at("regloop_ret") - 1, scene_at("cfarbx_ret") - 1);
}

static void far_cfa(void)
{
	scene_start(&s, scene_at("bigoff_at"));
	scene_fill(&s, 4, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_DUMP_END, scene_at("bigoff_at"));
	same(s.frames[0].cfa, SCENE_STACK + 0x180000000);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "full: a realigned frame", realigned },
		{ "full: a realigned frame that was left", realigned_left },
		{ "full: a realigned frame that leaves the dump", realigned_truncated },
		{ "full: an aligned stack", aligned },
		{ "full: what is saved below an aligned stack", aligned_below },
		{ "full: PLT", plt },
		{ "full: rows that name registers", registers },
		{ "full: a frame that was left by its code", left_by_code },
		{ "full: registers that were not sampled", unknown_registers },
		{ "full: a callee-saved register of an inner frame", replay },
		{ "full: two such frames", replay_twice },
		{ "full: such a frame behind code without CFI", replay_without_cfi },
		{ "full: the address behind a signal frame is exact", signal_exact },
		{ "full: registers behind a signal frame", signal_registers },
		{ "full: a signal stack", signal_stack },
		{ "full: signal frames in a circle", signal_cycle },
		{ "full: expressions that loop or divide by zero", hostile },
		{ "full: an offset of more than 32 bits", far_cfa },
	};
	int status = tap_run(tests, ARRAY_SIZE(tests));

	scene_exit();
	return status;
}
