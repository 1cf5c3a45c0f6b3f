// SPDX-License-Identifier: GPL-2.0
/* Signal trampolines and frames of the walk by code. Prints TAP. */
#include <ucontext.h>

#include "code-state.h"

/* Four bytes at an address: no trampoline if any bit is another. */
static void check_trampolines(void)
{
	static const u32 first[2][2] = { { 0x0fc0c748, 0x00000fb8 }, { 0x0077b858, 0x0000adb8 } };
	unsigned int mode, i, bit;
	bool ok = true;

	begin(8);
	for (mode = 0; mode < 2; mode++)
		for (i = 0; i < 2; i++) {
			u32 code = first[mode][i];

			user_put(CODE + 8, &code, 4);
			state->ws = mode ? 4 : 8;
			ok &= unwind_user_at_trampoline(state, CODE + 8);
			state->ws = mode ? 8 : 4;
			ok &= !unwind_user_at_trampoline(state, CODE + 8);
			state->ws = mode ? 4 : 8;
			for (bit = 0; bit < 32; bit++) {
				u32 other = code ^ 1U << bit;

				user_put(CODE + 8, &other, 4);
				ok &= !unwind_user_at_trampoline(state, CODE + 8);
			}
		}
	ok &= !state->arch.failed && !unwind_user_at_trampoline(state, CODE - 1) &&
	      state->arch.failed == 1;
	report(ok, "trampolines: by their first bytes");
}

/*
 * Where the kernel's ABI has the registers of what was interrupted, counted from sp at the first
 * instruction of the trampoline. 64-bit: libc has a struct of it.
 */
static const struct signal_frame {
	enum x86_frame_sigreturn	kind;
	unsigned int			ws, ip, sp, bp, cs;
	u16				selector;
} signal_frames[] = {
	{
		X86_SIGRETURN_64, 8,
		offsetof(ucontext_t, uc_mcontext.gregs[REG_RIP]),
		offsetof(ucontext_t, uc_mcontext.gregs[REG_RSP]),
		offsetof(ucontext_t, uc_mcontext.gregs[REG_RBP]),
		offsetof(ucontext_t, uc_mcontext.gregs[REG_CSGSFS]), 0x33,
	},
	/* A word with the signal's number, and the context. */
	{ X86_SIGRETURN_32, 4, 4 + 56, 4 + 28, 4 + 24, 4 + 60, 0x23 },
	/* Three words, siginfo of 128 bytes, five words, and the context. */
	{ X86_SIGRETURN_RT_32, 4, 160 + 56, 160 + 28, 160 + 24, 160 + 60, 0x23 },
};

static void make_signal(const struct signal_frame *f)
{
	begin(f->ws);
	user_map(1, STACK, 512, 0x77);
	user_put_word(STACK + f->ip, 0x11111111, f->ws);
	user_put_word(STACK + f->sp, 0x22222222, f->ws);
	user_put_word(STACK + f->bp, 0x33333333, f->ws);
	user_put(STACK + f->cs, &f->selector, 2);
	state->ip = TRAMPOLINE(f->kind);
	state->sp = STACK;
}

static bool left_signal(void)
{
	return state->ip == 0x11111111 && state->sp == 0x22222222 && state->fp == 0x33333333;
}

/* Each read of the frame fails once, and all selectors of code are tried. */
static bool check_signal(const struct signal_frame *f)
{
	struct unwind_user_state before;
	unsigned int cs, i, reads;
	bool ok;

	make_signal(f);
	ok = unwind_user_code_interrupted(state, f->kind) && left_signal();
	reads = user.reads;
	for (i = 1; i <= reads; i++) {
		make_signal(f);
		user.fail_at = i;
		before = *state;
		ok &= !unwind_user_code_interrupted(state, f->kind) && same(state, &before);
	}
	for (cs = 0; cs < 0x10000; cs += cs < 0x100 ? 1 : 0x33) {
		make_signal(f);
		user_put(STACK + f->cs, &cs, 2);
		before = *state;
		if (cs == f->selector)
			continue;
		ok &= !unwind_user_code_interrupted(state, f->kind) && same(state, &before);
	}
	for (i = 0; i <= X86_SIGRETURN_RT_32 + 1; i++) {
		make_signal(f);
		before = *state;
		if (i != f->kind)
			ok &= !unwind_user_code_interrupted(state, i) && same(state, &before);
	}
	return ok;
}

/* From a handler, and if the sample is in the trampoline itself. */
static bool check_leave(const struct signal_frame *f)
{
	struct unwind_user_state before;
	bool ok;

	make_signal(f);
	ok = unwind_user_code_leave_signal(state) && left_signal() && state->topmost;
	make_signal(f);
	state->topmost = true;
	ok &= unwind_user_code_leave_signal(state) && left_signal() && state->topmost;
	make_signal(f);
	state->ask_code = true;
	ok &= unwind_user_code_next(state) && left_signal() && state->topmost && state->ask_code;
	make_signal(f);
	state->topmost = true;
	ok &= unwind_user_code_next(state) && left_signal() && state->topmost;
	/* In the middle of a trampoline there is no frame that is known. */
	make_signal(f);
	state->ip++;
	before = *state;
	ok &= !unwind_user_code_leave_signal(state) && same(state, &before);
	return ok;
}

static void check_signals(void)
{
	static const char *const names[] = { "64-bit", "32-bit", "32-bit with siginfo" };
	char name[64];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(signal_frames); i++) {
		snprintf(name, sizeof(name), "signals: a frame, %s", names[i]);
		report(check_signal(&signal_frames[i]), name);
		snprintf(name, sizeof(name), "signals: steps from it, %s", names[i]);
		report(check_leave(&signal_frames[i]), name);
	}
}

/* After the system call of a trampoline: only an interrupted frame can be there. */
static void check_in_system_call(void)
{
	struct unwind_user_state before;
	bool ok;

	make_signal(&signal_frames[0]);
	state->ip = TRAMPOLINE(X86_SIGRETURN_64) + 9;
	state->ask_code = true;
	before = *state;
	ok = !unwind_user_code_next(state) && same(state, &before);
	ok &= !unwind_user_code_leave_signal(state) && same(state, &before);
	state->topmost = true;
	ok &= unwind_user_code_next(state) && left_signal();
	report(ok, "signals: in the system call of a trampoline");
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	unwind_user_code_prepare();
	check_trampolines();
	check_signals();
	check_in_system_call();
	unwind_user_code_release();
	printf("1..%d\n", nr_tests);
	return !!nr_failed;
}
