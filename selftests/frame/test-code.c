// SPDX-License-Identifier: GPL-2.0
/*
 * What the walk by code reads: bounds of reads, probed instructions, return addresses, registers.
 * Prints TAP.
 */
#include "code-state.h"

/* 12 reads may fail; then no read is tried. A read that succeeds does not count. */
static void check_failed(void)
{
	unsigned int i;
	u64 word;
	bool ok = true;

	begin(8);
	user.fail_from = 1;
	for (i = 0; i < UNWIND_USER_FAILED_MAX; i++)
		ok &= !unwind_user_read(state, &word, STACK, 8) && state->arch.failed == i + 1;
	user.fail_from = 0;
	user.reads = 0;
	ok &= !unwind_user_read(state, &word, STACK, 8) && !user.reads && state->arch.failed == i;
	state->arch.failed = UNWIND_USER_FAILED_MAX - 1;
	ok &= unwind_user_read(state, &word, STACK, 8) && user.reads &&
	      state->arch.failed == UNWIND_USER_FAILED_MAX - 1;
	report(ok, "reads: 12 of a walk may fail");
}

static void check_words(void)
{
	unsigned int ws, off;
	unsigned long word;
	bool ok = true, want;

	for (ws = 4; ws <= 8; ws += 4) {
		begin(ws);
		memset(user.piece[1].bytes, 0xa5, WORDS * ws);
		for (off = 0; off <= WORDS * ws; off++) {
			word = 0x1122334455667788;
			want = !(off % ws) && off < WORDS * ws;
			ok &= unwind_user_read_word(state, STACK + off, ws, &word) == want;
			ok &= word == (!want ? 0x1122334455667788 :
				       ws == 8 ? 0xa5a5a5a5a5a5a5a5 : 0xa5a5a5a5);
			ok &= state->arch.failed <= 1;
		}
		/* The compiler may not rely on it, nor the kernel: no address of its own. */
		ok &= !unwind_user_read_word(state, -8UL, ws, &word);
	}
	report(ok, "reads: words are aligned and within the stack");
}

/* Byte @addr of the code, with a probe at @ip; @window: start of what is read at once. */
static u8 model_byte(unsigned long addr, unsigned long window, unsigned long ip,
		     const struct arch_uprobe *probe)
{
	const u8 *code = user.piece[0].bytes - CODE;
	unsigned int nr = code[ip] == 0xcc ? 1 : code[ip] == 0xe8 ? 5 : 0;

	if (probe && ip >= window && addr >= ip && addr < ip + nr)
		return probe->insn[addr - ip];
	return code[addr];
}

/* A window of @len bytes: is each as the model has it, and no byte around it written? */
static bool read_window(unsigned long start, unsigned int len, unsigned long probe_ip,
			const struct arch_uprobe *probe)
{
	u8 *window = malloc(len);
	unsigned int i;
	bool ok = !read_code(&state->ip, start, window, len);

	for (i = 0; i < len; i++)
		ok &= window[i] == model_byte(start + i, start, probe_ip, probe);
	free(window);
	return ok;
}

/* All windows up to 12 bytes, around a probe at every place, and some long ones. */
static void check_probes(void)
{
	static struct arch_uprobe probe;
	static struct uprobe_task utask;
	static const u8 first[] = { 0xcc, 0xe8, 0x90 };
	unsigned int i, len, set;
	long off;
	bool ok = true;

	for (i = 0; i < sizeof(probe.insn); i++)
		probe.insn[i] = 0x11 * (i + 1);
	for (i = 0; i < ARRAY_SIZE(first); i++) {
		begin(8);
		for (off = 0; off < 200; off++)
			user_put(CODE + off, &(u8) { off | 1 }, 1);
		user_put(CODE + 100, first + i, 1);
		for (set = 0; set < 16; set++) {
			bool all = set == 15;

			walk_task.utask = set & 1 ? &utask : NULL;
			utask.auprobe = set & 2 ? &probe : NULL;
			state->topmost = set & 4;
			state->ip = CODE + 100;
			walk_regs.ip = set & 8 ? CODE + 100 : CODE + 101;
			for (len = 1; len <= 64; len += len < 12 ? 1 : 13)
				for (off = -70; off <= 7; off++)
					ok &= read_window(CODE + 100 + off, len, CODE + 100,
							  all ? &probe : NULL);
		}
	}
	report(ok, "uprobes: the probed instruction is restored, within the window");
}

static void check_read_code(void)
{
	u8 bytes[8];
	bool ok;

	begin(8);
	ok = read_code(&state->ip, CODE + 4096 - 8, bytes, 8) == 0;
	ok &= read_code(&state->ip, CODE + 4096 - 7, bytes, 8) == -EFAULT;
	ok &= state->arch.failed == 1;
	report(ok, "code: what can't be read fails");
}

#ifndef MODULE
static void check_trampoline_of_uretprobes(void)
{
	static struct uprobe_task utask;
	bool ok;

	begin(8);
	uretprobe_trampoline = CODE + 0x33;
	ok = !unwind_user_code_is_return(state, CODE + 0x33);
	walk_task.utask = &utask;
	ok &= unwind_user_code_is_return(state, CODE + 0x33);
	ok &= !unwind_user_code_is_return(state, CODE + 0x34);
	report(ok, "return probes: their trampoline is a return address of probed tasks");
}
#else
static void check_trampoline_of_uretprobes(void)
{
	static struct return_instance instance = { .stack = STACK + 8 };
	static struct uprobe_task utask;
	bool ok;

	begin(8);
	user_put_word(STACK + 8, CODE + 0x33, 8);
	ok = !unwind_user_code_is_return(state, CODE + 0x33);
	walk_task.utask = &utask;
	ok &= !unwind_user_code_is_return(state, CODE + 0x33);
	utask.return_instances = &instance;
	ok &= unwind_user_code_is_return(state, CODE + 0x33);
	ok &= !unwind_user_code_is_return(state, CODE + 0x34);
	report(ok, "return probes: their trampoline is a return address of probed tasks");
}
#endif

static void check_returns(void)
{
	unsigned int i;
	bool ok = true;

	begin(8);
	ok &= unwind_user_code_is_return(state, RETURN(3));
	ok &= !unwind_user_code_is_return(state, PLAIN(3));
	for (i = X86_SIGRETURN_64; i <= X86_SIGRETURN_RT_32; i++) {
		state->ws = 8;
		ok &= unwind_user_code_is_return(state, TRAMPOLINE(i)) == (i == X86_SIGRETURN_64);
		state->ws = 4;
		ok &= unwind_user_code_is_return(state, TRAMPOLINE(i)) == (i != X86_SIGRETURN_64);
	}
	report(ok, "return addresses: after a call, and trampolines of the mode");
}

/* By the processor's numbers. Those of 4 to 7 are sp, bp, si and di: rules don't use them. */
static void check_registers(void)
{
	unsigned int reg;
	bool ok = true;

	begin(8);
	walk_regs = (struct pt_regs) {
		.ip = CODE, .sp = STACK, .bp = 5, .si = 6, .di = 7, .ax = 100, .cx = 101,
		.dx = 102, .bx = 103, .r8 = 108, .r9 = 109, .r10 = 110, .r11 = 111, .r12 = 112,
		.r13 = 113, .r14 = 114, .r15 = 115, .cs = __USER_CS,
	};
	for (reg = 0; reg < 256; reg++) {
		unsigned long want = reg > 15 || (reg >= 4 && reg < 8) ? 0 : 100 + reg;

		state->ip = CODE;
		state->sp = STACK;
		ok &= read_register(state, reg) == want;
		state->ip++;
		ok &= !read_register(state, reg);
		state->ip--;
		state->sp++;
		ok &= !read_register(state, reg);
	}
	report(ok, "registers: of the interrupted frame only");
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	check_failed();
	check_words();
	check_read_code();
	check_probes();
	check_trampoline_of_uretprobes();
	check_returns();
	check_registers();
	printf("1..%d\n", nr_tests);
	return !!nr_failed;
}
