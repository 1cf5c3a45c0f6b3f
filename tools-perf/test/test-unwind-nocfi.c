// SPDX-License-Identifier: GPL-2.0
/*
 * Stepping where no CFI says how: by frame pointers, and by what the code tells.
 */
#include <string.h>
#include "rows.h"
#include "scene.h"
#include "tap.h"

#define BP	HYBRID_X86_64_BP

static struct scene s;

/* Code made at run time: a frame pointer, then CFI again. */
static void frame_pointer(void)
{
	u64 bp;

	scene_start(&s, SCENE_JIT + 100);
	scene_fill(&s, 3, 0xdead);
	bp = scene_reg_top(&s, BP);
	scene_push_bpframe(&s, bp + 24, SCENE_JIT + 200);
	scene_push(&s, 0xdead);
	scene_push_bpframe(&s, bp + 40, scene_at("bpframe_ret"));
	scene_push_bpframe(&s, 0, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, SCENE_JIT + 100, SCENE_JIT + 199,
		     scene_at("bpframe_ret") - 1, scene_at("outer_ret") - 1);
	same(s.frames[0].cfa, bp + 16);
	same(s.frames[1].cfa, bp + 40);
}

/* The deepest frame pointer is 0; so may be what is in the register otherwise. */
static void frame_pointer_zero(void)
{
	scene_start(&s, SCENE_JIT + 100);
	scene_reg_top(&s, BP);
	scene_push_bpframe(&s, 0, SCENE_JIT + 200);
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, SCENE_JIT + 100, SCENE_JIT + 199);

	scene_start(&s, SCENE_JIT + 100);
	scene_reg(&s, BP, 0);
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_NO_CFI, SCENE_JIT + 100);

	scene_start(&s, scene_at("leaf_at"));
	scene_reg(&s, BP, 0);
	scene_push(&s, SCENE_JIT + 200);
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_NO_CFI, scene_at("leaf_at"), SCENE_JIT + 199);
}

static void frame_pointer_stops(void)
{
	scene_start(&s, SCENE_JIT + 100);
	scene_fill(&s, 8, SCENE_JIT + 200);
	scene_reg(&s, BP, SCENE_STACK + 12);
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_NO_CFI, SCENE_JIT + 100);

	scene_reg(&s, BP, SCENE_STACK - 8);
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_NO_CFI, SCENE_JIT + 100);

	scene_reg(&s, BP, SCENE_STACK + 64);
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_DUMP_END, SCENE_JIT + 100);

	scene_reg(&s, BP, SCENE_STACK);
	s.u.regs.known &= ~(1U << BP);
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_NO_CFI, SCENE_JIT + 100);

	/* What it led to is no code: no frame, and not the mapping's fault. */
	scene_reg(&s, BP, SCENE_STACK);
	s.stack[1] = 0x1000;
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_NO_CFI, SCENE_JIT + 100);
}

/* An ELF file without CFI: what its code tells. */
static void no_cfi(void)
{
	u64 bare = SCENE_NOCFI + elf_file_symbol("nocfi.so", "bare");
	u64 bare_ret = SCENE_NOCFI + elf_file_symbol("nocfi.so", "bare_ret");

	/* Between push and mov, rbp is still the caller's. */
	scene_start(&s, bare + 1);
	scene_reg(&s, BP, SCENE_STACK + 16);
	scene_push_bpframe(&s, SCENE_STACK + 16, bare_ret);
	scene_push_bpframe(&s, 0, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, bare + 1, bare_ret - 1,
		     scene_at("outer_ret") - 1);

	/* The first byte of a mapping: what lies before it is another's. */
	same(bare % 4096, 0);
	scene_start(&s, bare);
	scene_push(&s, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, bare, scene_at("outer_ret") - 1);
}

/* A frame pointer step in a file: only a call that leads here shows that it is one. */
static void unconfirmed(void)
{
	u64 at = scene_at("opaque_at");

	scene_start(&s, at);
	scene_fill(&s, 3, 0xdead);
	scene_reg_top(&s, BP);
	scene_push_bpframe(&s, 0, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, at, scene_at("outer_ret") - 1);
	same(s.u.sure, 1);

	/* once() calls leaf(), not opaque(); leaf_at has no call before it. */
	s.stack[4] = scene_at("once_ret");
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_NO_CFI, at);
	s.stack[4] = scene_at("leaf_at");
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_NO_CFI, at);

	/* This calls it by its name. */
	s.stack[4] = scene_at("calls_opaque_ret");
	scene_push(&s, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, at, scene_at("calls_opaque_ret") - 1,
		     scene_at("outer_ret") - 1);
	same(s.u.sure, 3);
}

/* What is called jumps to where nobody can tell: true only if frame pointers led there. */
static void dispatched(void)
{
	u64 ret = SCENE_NOCFI + elf_file_symbol("nocfi.so", "enters_ret"), bp;

	scene_start(&s, SCENE_JIT + 100);
	bp = scene_reg_top(&s, BP);
	scene_push_bpframe(&s, bp + 16, SCENE_JIT + 200);
	scene_push_bpframe(&s, bp + 32, ret);
	scene_push_bpframe(&s, 0, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, SCENE_JIT + 100, SCENE_JIT + 199, ret - 1,
		     scene_at("outer_ret") - 1);
	same(s.u.sure, 1);

	scene_reg(&s, BP, bp + 16);
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_NO_CFI, SCENE_JIT + 100);
}

/* Starts at @ip, with sp at a struct ucontext that has interrupted bpframe(). */
static void start_at_context(u64 ip)
{
	u64 bp;

	scene_start(&s, ip);
	scene_fill(&s, 32, 0xdead);
	bp = scene_top(&s);
	s.stack[120 / 8] = bp;
	s.stack[160 / 8] = bp;
	s.stack[168 / 8] = scene_at("bpframe_at");
	scene_push_bpframe(&s, 0, scene_at("outer_ret"));
}

/* A signal handler under a trampoline without CFI, as musl's and Go's are. */
static void sigreturn(void)
{
	u64 restore = SCENE_NOCFI + elf_file_symbol("nocfi.so", "restore_rt"), context, bp;
	unsigned int at;

	scene_start(&s, scene_at("leaf_at"));
	scene_push(&s, restore);
	at = s.nr;
	context = scene_top(&s);
	scene_fill(&s, 22, 0xdead);
	scene_fill(&s, 10, 0xbeef);
	bp = scene_top(&s);
	s.stack[at + 120 / 8] = bp;
	s.stack[at + 160 / 8] = bp;
	s.stack[at + 168 / 8] = scene_at("bpframe_at");
	scene_push_bpframe(&s, 0, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("leaf_at"), restore,
		     scene_at("bpframe_at"), scene_at("outer_ret") - 1);
	same(s.frames[0].cfa, context);
	same(s.frames[1].cfa, bp);

	/* What it interrupted is no code: bp is that one's, and tells nothing. */
	scene_reg(&s, BP, bp);
	s.stack[at + 168 / 8] = 0x1000;
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_NO_MAP, scene_at("leaf_at"), restore);

	/* The dump ends before sp. */
	s.u.dump_size = at * 8 + 160;
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_DUMP_END, scene_at("leaf_at"), restore);

	/* At its system call; behind it another function may begin. */
	for (at = 7; at <= 9; at += 2) {
		start_at_context(restore + at);
		scene_unwind(&s);
		if (at < 9)
			scene_expect(&s, HYBRID_STOP_OUTERMOST, restore + at,
				     scene_at("bpframe_at"), scene_at("outer_ret") - 1);
		else
			scene_expect(&s, HYBRID_STOP_NO_CFI, restore + at);
	}

	/* After its system call, with uc_flags, uc_link and the code segment: each word counts. */
	for (at = 0; at < 4; at++) {
		start_at_context(restore + 9);
		s.stack[0] = at == 1 ? 8 : 7;
		s.stack[8 / 8] = at == 2;
		s.stack[184 / 8] = at == 3 ? 0x23 : 0x2b000000000033;
		scene_unwind(&s);
		if (!at)
			scene_expect(&s, HYBRID_STOP_OUTERMOST, restore + 8,
				     scene_at("bpframe_at"), scene_at("outer_ret") - 1);
		else
			scene_expect(&s, HYBRID_STOP_NO_CFI, restore + 9);
	}

	/* From the trampoline on: no other way to leave it, and no second try. */
	scene_start(&s, restore);
	scene_fill(&s, 32, 0x1000);
	s.stack[160 / 8] = scene_top(&s);
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_NO_MAP, restore);
}

static u64 bare_at(const char *label)
{
	return SCENE_NOCFI + elf_file_symbol("nocfi.so", label);
}

/* @callee calls leaf(): @words on the stack behind its frame, then @ret, the top of a stack. */
static void start_thread(u64 callee, unsigned int words, u64 word, u64 ret)
{
	scene_start(&s, scene_at("leaf_at"));
	scene_push(&s, callee);
	scene_fill(&s, words, word);
	scene_push(&s, ret);
	scene_fill(&s, 130, 0);
	scene_unwind(&s);
}

/* Nothing but the words on the stack says who called what does not return. */
static void outermost(void)
{
	u64 leaf = scene_at("leaf_at"), callee = bare_at("never_returns_ret");
	u64 begins = bare_at("begins_ret"), child = bare_at("ends_child_ret");
	u64 goes_on = bare_at("goes_on_ret");

	start_thread(callee, 3, 0xdead, begins);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, leaf, callee - 1, begins - 1);
	same(s.frames[1].cfa, SCENE_STACK + 5 * 8);
	start_thread(callee, 63, begins + 2, begins);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, leaf, callee - 1, begins - 1);
	start_thread(callee, 0, 0, scene_at("outer_ret"));
	scene_expect(&s, HYBRID_STOP_OUTERMOST, leaf, callee - 1, scene_at("outer_ret") - 1);

	/* It is too far, behind the dump's end, or not where a process or a thread begins. */
	start_thread(callee, 64, 0, begins);
	scene_expect(&s, HYBRID_STOP_NO_CFI, leaf, callee - 1);
	start_thread(callee, 3, 0, begins);
	s.u.dump_size = 4 * 8;
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_NO_CFI, leaf, callee - 1);
	start_thread(callee, 3, 0, child);
	scene_expect(&s, HYBRID_STOP_NO_CFI, leaf, callee - 1);

	/* What may be another's return address stands before it, or behind: it was left there. */
	start_thread(callee, 1, bare_at("bare_ret"), begins);
	scene_expect(&s, HYBRID_STOP_NO_CFI, leaf, callee - 1);
	start_thread(callee, 1, SCENE_JIT + 100, begins);
	scene_expect(&s, HYBRID_STOP_NO_CFI, leaf, callee - 1);
	start_thread(callee, 1, 0, begins);
	s.stack[3 + 127] = bare_at("bare_ret");
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_NO_CFI, leaf, callee - 1);
	s.stack[3 + 127] = 0;
	s.stack[3 + 128] = bare_at("bare_ret");
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, leaf, callee - 1, begins - 1);

	/* The function goes on, may have no call here, or has its return address in a register. */
	start_thread(goes_on, 1, 0, begins);
	scene_expect(&s, HYBRID_STOP_NO_CFI, leaf, goes_on - 1);
	start_thread(callee - 2, 1, 0, begins);
	scene_expect(&s, HYBRID_STOP_NO_CFI, leaf, callee - 3);
	scene_start(&s, callee);
	scene_push(&s, begins);
	scene_fill(&s, 130, 0);
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_NO_CFI, callee);
}

/* A frame pointer of 0 is the deepest one: of what was left by its code alone it is none. */
static void zero_by_code(void)
{
	u64 ret = bare_at("never_returns_ret");

	scene_start(&s, bare_at("bare"));
	scene_reg(&s, BP, 0);
	scene_push(&s, ret);
	scene_fill(&s, 70, 0);
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_NO_CFI, bare_at("bare"), ret - 1);

	scene_start(&s, bare_at("bare_at"));
	scene_reg_top(&s, BP);
	scene_push_bpframe(&s, 0, ret);
	scene_fill(&s, 70, 0);
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, bare_at("bare_at"), ret - 1);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "unwind: frame pointers of code without a file", frame_pointer },
		{ "unwind: a frame pointer of 0", frame_pointer_zero },
		{ "unwind: where frame pointers end", frame_pointer_stops },
		{ "unwind: a file without CFI", no_cfi },
		{ "unwind: a frame pointer that nothing confirms", unconfirmed },
		{ "unwind: a call to what jumps elsewhere", dispatched },
		{ "unwind: a signal without CFI", sigreturn },
		{ "unwind: a thread's first function, without CFI", outermost },
		{ "unwind: a frame pointer of 0 behind code", zero_by_code },
	};
	int status = tap_run(tests, ARRAY_SIZE(tests));

	scene_exit();
	return status;
}
