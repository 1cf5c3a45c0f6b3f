// SPDX-License-Identifier: GPL-2.0
/*
 * Callers behind the end of a dump, as the process has them by now: which of them count.
 */
#include <sys/mman.h>
#include <unistd.h>
#include "live-stack.h"
#include "merge-scene.h"
#include "tap.h"

#define PAGE	4096
#define PAGES	32
#define PROGRAM	0x7f4000000000ULL

#define AX	0
#define BP	HYBRID_X86_64_BP

/* Bytes of the stack that a sample has. */
#define DUMP	64

/* The stack of this process that is sampled; a page below it is readable, too. */
static u8 *stack;

/* Where a frame's base is: each in a page of its own. */
static u64 base(unsigned int i)
{
	return (u64)stack + (i + 1) * PAGE + 0x100;
}

static void put(u64 addr, u64 word)
{
	memcpy((void *)addr, &word, sizeof(word));
}

static u64 at(const char *label)
{
	return PROGRAM + elf_file_symbol("live.so", label);
}

static void start(u64 ip)
{
	static const u64 user[] = { USER };
	static bool is_mapped;

	scene_start(&s, ip);
	if (!is_mapped)
		elf_file_map(&scene_ps, SCENE_PID, "live.so", PROGRAM);
	is_mapped = true;
	scene_start(&s, ip);
	scene_unwinder.memory = scene_unwinder.memory ?: hybrid_memory_new();
	memset(stack, 0, PAGES * PAGE);
	s.u.pid = getpid();
	s.u.dump = stack + PAGE;
	s.u.dump_start = (u64)stack + PAGE;
	s.u.dump_size = DUMP;
	scene_reg(&s, HYBRID_X86_64_SP, s.u.dump_start);
	scene_reg(&s, BP, base(0));
	chain_start(user, 1);
}

/* deep(), and who has called by frame pointers: each return address in its own page. */
static void start_deep(const u64 *rets, unsigned int nr)
{
	unsigned int i;

	start(at("deep_at"));
	for (i = 0; i < nr; i++) {
		put(base(i), base(i + 1));
		put(base(i) + 8, rets[i]);
	}
}

#define start_chain(...) do {							\
	const u64 rets_[] = { __VA_ARGS__ };					\
	start_deep(rets_, ARRAY_SIZE(rets_));					\
} while (0)

/* deep() was called by @ret, which has a frame of @size bytes by sp, and that by libc. */
static void start_by_sp(const char *ret, unsigned int size)
{
	start_chain(at(ret), scene_at("outer_ret"));
	put(base(0) + 16 + size - 8, scene_at("bpframe_ret"));
}

/* The whole chain, without a mark. */
static void same_whole(unsigned int nr)
{
	same(merge(), HYBRID_STITCHED);
	same(m.nr, nr + 1);
	same(out[nr], scene_at("outer_ret") - 1);
	check(!m.marked);
	same(s.u.sure, s.u.nr);
}

/* What the sample has, and a mark. */
static void same_cut_off(void)
{
	same(merge(), HYBRID_TRUNCATED);
	merge_expect(USER, s.u.regs.value[HYBRID_X86_64_IP], CUT_OFF);
	check(m.marked);
	same(s.u.sure, 1);
}

/* A function that makes one call and no jump calls once. */
static void calls_once(void)
{
	static const char * const once[] = { "once_ret", "indirect_ret", "long_ret" };
	static const char * const others[] = {
		"longer_ret", "twice_ret", "twice_first_ret", "jumps_ret", "unclear_ret",
		"early_ret", "bare_ret",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(once); i++) {
		start_chain(at(once[i]), scene_at("bpframe_ret"), scene_at("outer_ret"));
		same_whole(4);
		merge_expect(USER, at("deep_at"), at(once[i]) - 1, scene_at("bpframe_ret") - 1,
			     scene_at("outer_ret") - 1);
	}
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		start_chain(at(others[i]), scene_at("bpframe_ret"), scene_at("outer_ret"));
		same_cut_off();
		/* Nor does it help that the functions inside it call once. */
		start_chain(at("indirect_ret"), at(others[i]), scene_at("bpframe_ret"),
			    scene_at("outer_ret"));
		same_cut_off();
	}
}

/* The only call to the function that the dump ends in, among others with the same sp. */
static void calls_among_others(void)
{
	static const char * const others[] = {
		"among_twice_ret", "among_indirect_ret", "among_leaves_ret", "among_falls_ret",
		"among_pushes_ret", "among_unclear_ret", "among_longer_ret", "among_other_ret",
	};
	static const char * const one_place[] = {
		"among_ret", "among_last_ret", "among_long_ret",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(one_place); i++) {
		start_by_sp(one_place[i], 32);
		same_whole(4);
		merge_expect(USER, at("deep_at"), at(one_place[i]) - 1,
			     scene_at("bpframe_ret") - 1, scene_at("outer_ret") - 1);
	}
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		start_by_sp(others[i], 32);
		same_cut_off();
	}
	start_chain(at("among_bp_ret"), scene_at("bpframe_ret"), scene_at("outer_ret"));
	same_cut_off();
	/* Of a function further out nobody knows which one it had called. */
	start_by_sp("among_ret", 32);
	put(base(0) + 16 + 24, at("twice_ret"));
	put(base(1) + 8, scene_at("bpframe_ret"));
	put(base(2) + 8, scene_at("outer_ret"));
	same_cut_off();
}

/* libc's start: at most three frames of one object, which is not that of the program. */
static void start_of_thread(void)
{
	u64 libc = scene_at("bpframe_ret"), outer = scene_at("outer_ret");

	start_chain(at("once_ret"), libc, libc, outer);
	same_whole(5);
	start_chain(at("once_ret"), libc, libc, libc, outer);
	same_cut_off();
	/* Without a function of the program, or of libc. */
	start_chain(outer);
	same_cut_off();
	start_chain(libc, outer);
	same_whole(3);
	start_chain(at("once_ret"), outer);
	same_cut_off();
	/* The dump ends in libc. */
	start_chain(libc, outer);
	scene_reg(&s, HYBRID_X86_64_IP, scene_at("bpframe_at"));
	same_cut_off();
	/* No outermost frame. */
	start_chain(at("once_ret"), libc, libc, 0);
	same_cut_off();
}

/* As many frames as are looked at, and as there is room for; none beyond. */
static void bounded(void)
{
	u64 rets[9];
	unsigned int nr, i, room;

	for (nr = 1; nr < 8; nr++) {
		for (i = 0; i < nr; i++)
			rets[i] = at("indirect_ret");
		rets[nr] = scene_at("bpframe_ret");
		rets[nr + 1] = scene_at("outer_ret");
		start_deep(rets, nr + 2);
		if (nr < 7)
			same_whole(nr + 3);
		else
			same_cut_off();
	}
	for (room = 1; room <= 5; room++) {
		start_deep(rets + 4, 5);
		s.u.max_frames = room;
		memset(&s.frames[room], 0xee, sizeof(s.frames[0]));
		same_cut_off();
		same(s.frames[room].ip, 0xeeeeeeeeeeeeeeee);
	}
	start_deep(rets + 4, 5);
	s.u.max_frames = 6;
	same_whole(6);
}

/* What each step reads is in one page: without any of them the chain ends. */
static void unreadable(void)
{
	unsigned int page;

	for (page = 0; page < 4; page++) {
		start_chain(at("indirect_ret"), at("indirect_ret"), scene_at("bpframe_ret"),
			    scene_at("outer_ret"));
		madvise(stack + (page + 1) * PAGE, PAGE, MADV_DONTNEED);
		/* The dump itself is in the first page, where it is no more needed. */
		same_cut_off();
	}
	/* Nobody may ask, or the process may be another by now. */
	start_chain(at("once_ret"), scene_at("bpframe_ret"), scene_at("outer_ret"));
	s.u.pid = 0;
	same_cut_off();
	s.u.pid = -1;
	same_cut_off();
	s.u.pid = getpid();
	s.u.overwritten = true;
	same_cut_off();
	s.u.overwritten = false;
	same_whole(4);
}

/* A frame before that is a guess: no certain ones follow. */
static void behind_a_guess(void)
{
	start_chain(at("once_ret"), scene_at("bpframe_ret"), scene_at("outer_ret"));
	scene_unwind(&s);
	same(s.u.stop, HYBRID_STOP_DUMP_END);
	s.u.sure = 0;
	check(!hybrid_live_stack_follow(&scene_unwinder, &s.u));
	same(s.u.nr, 1);
	s.u.sure = 1;
	check(hybrid_live_stack_follow(&scene_unwinder, &s.u));
	same(s.u.nr, 4);
	same(s.u.sure, 4);
}

/* Steps that are none: each goes on to the outermost frame, if it is taken for one. */
static void false_steps(void)
{
	u64 libc = scene_at("bpframe_ret"), outer = scene_at("outer_ret");

	/* No upward step. */
	start_chain(at("indirect_ret"), libc, libc);
	put(base(0), base(2));
	put(base(2), base(1));
	put(base(1) + 8, outer);
	same_cut_off();
	start_by_sp("flat_ret", 8);
	same_cut_off();
	/* A register that is only the innermost frame's. */
	start_by_sp("by_rax_ret", 8);
	scene_reg(&s, AX, base(0) + 16);
	same_cut_off();
	/* The interrupted function has called nothing. */
	start_by_sp("indirect_ret", 8);
	put(base(0) + 8, scene_at("sigplain_ret"));
	put(base(0) + 16 + 24, libc);
	same_cut_off();
	/* rbp is not what it was. */
	start_by_sp("forgets_ret", 8);
	same_cut_off();
	/* Not in a word. */
	start_chain(at("odd_ret"), outer);
	put(base(1) - 4, libc);
	same_cut_off();
	/* A rule that needs all registers. */
	start_by_sp("indirect_ret", 8);
	put(base(0) + 8, scene_at("stub_ret"));
	same_cut_off();
	/* The call leads elsewhere. */
	start_chain(at("indirect_ret"), at("once_ret"), libc, outer);
	same_cut_off();
	start_chain(at("once_ret") + 1, libc, outer);
	same_cut_off();
}

/* The CFA that stands in the frame: nothing below the stack pointer counts. */
static void dereferenced(void)
{
	u64 low = (u64)stack + 0x100;

	start_chain(at("realigned_ret"));
	put(base(1) - 8, base(2));
	put(base(1), base(2));
	put(base(2) - 8, scene_at("bpframe_ret"));
	put(base(2) + 8, scene_at("outer_ret"));
	same_whole(4);
	put(base(0), low);
	put(low - 8, base(2));
	put(low, base(2));
	same_cut_off();
}

static unsigned int guess(void)
{
	u64 cfa;
	unsigned int nr;

	scene_unwind(&s);
	cfa = s.frames[0].cfa;
	nr = hybrid_live_stack_guess(&scene_unwinder, &s.u);
	same(s.u.nr, 1);
	same(s.frames[0].cfa, cfa);
	return nr;
}

/* Whatever may be there, and no more than is to be loaded. */
static void guesses(void)
{
	unsigned int i;

	start_chain(at("once_ret"), at("twice_first_ret"), scene_at("bpframe_ret"),
		    scene_at("outer_ret"));
	same(guess(), 1);
	put(base(1) + 8, at("twice_ret"));
	same(guess(), 4);
	same(s.frames[4].ip, scene_at("outer_ret") - 1);
	s.u.pid = 0;
	same(guess(), 0);
	s.u.pid = getpid();
	s.u.overwritten = true;
	same(guess(), 0);
	s.u.overwritten = false;
	s.u.dump_size = 0;
	same(guess(), 0);
	start(at("deep_at"));
	for (i = 0; i < 200; i++) {
		put(base(0) + 16 * i, base(0) + 16 * (i + 1));
		put(base(0) + 16 * i + 8, at("indirect_ret"));
	}
	same(guess(), 128);
}

/* By the code, where no CFI is. */
static void guesses_by_code(void)
{
	start_by_sp("bare_ret", 32);
	same(guess(), 3);
	/* Code that nothing is known of is the last one. */
	put(base(0) + 8, SCENE_JIT + 8);
	same(guess(), 1);
}

/* A register that the sample has leads there. */
static unsigned int guess_by_reg(u64 value)
{
	start(at("by_reg_ret"));
	put(value, at("indirect_ret"));
	put(base(0) + 8, scene_at("outer_ret"));
	scene_reg(&s, AX, base(9));
	scene_unwind(&s);
	same(s.u.nr, 1);
	scene_reg(&s, AX, value);
	return hybrid_live_stack_guess(&scene_unwinder, &s.u);
}

static void guesses_by_register(void)
{
	u64 sp = (u64)stack + PAGE;

	same(guess_by_reg(sp - PAGE + 8), 0);
	same(guess_by_reg(base(4)), 1);
	scene_reg(&s, BP, base(5));
	s.u.bp = base(5);
	put(base(5) + 8, at("indirect_ret"));
	same(hybrid_live_stack_guess(&scene_unwinder, &s.u), 2);
	/* In the dump, too. */
	same(guess_by_reg(sp + 16), 2);
	/* Too far: not what the low half of the distance says. */
	scene_reg(&s, AX, sp + 16 + (1ULL << 32));
	same(hybrid_live_stack_guess(&scene_unwinder, &s.u), 0);
	scene_reg(&s, AX, sp + 16);
	s.u.regs.known &= ~(1U << AX);
	same(hybrid_live_stack_guess(&scene_unwinder, &s.u), 0);
	/* Further out the register is not known. */
	start_chain(at("by_reg_ret"), scene_at("outer_ret"));
	put(base(0) + 16, scene_at("bpframe_ret"));
	scene_reg(&s, AX, base(0) + 16);
	same(guess(), 1);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "live: functions that call once", calls_once },
		{ "live: the only call to a function, among others", calls_among_others },
		{ "live: the start of a thread", start_of_thread },
		{ "live: no more frames than are looked at", bounded },
		{ "live: words that can't be read", unreadable },
		{ "live: behind a guess", behind_a_guess },
		{ "live: what is no caller", false_steps },
		{ "live: a CFA that is read", dereferenced },
		{ "live: what there may be", guesses },
		{ "live: the same without CFI", guesses_by_code },
		{ "live: the same by registers", guesses_by_register },
	};
	int status;

	stack = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	if (stack == MAP_FAILED)
		return 2;
	status = tap_run(tests, ARRAY_SIZE(tests));
	hybrid_memory_delete(scene_unwinder.memory);
	scene_exit();
	return status;
}
