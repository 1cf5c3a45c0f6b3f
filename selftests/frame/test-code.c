// SPDX-License-Identifier: GPL-2.0
/*
 * Each guard of the walk by code: reads and their bounds, probed instructions, registers, the
 * step by a rule against a model of it, signal frames, the bounds of a walk and of its searches.
 * It is built twice: with the steps as the kernel has them and, with -DMODULE, as the module
 * does. The test includes the source, so that it can call each function alone. Prints TAP.
 */
#include <stddef.h>
#include <ucontext.h>

#include "../../kmod/module/hook.h"
#ifdef MODULE
#include "../../kmod/module/hook-code.c"
unsigned long hook_counts[HOOK_NR];
#else
#include "../../kmod/walk/unwind_user_code.c"
static u64 time_left;
u64 perf_sample_time_left(void)
{
	return time_left;
}

static unsigned long uretprobe_trampoline;
unsigned long uprobe_get_trampoline_vaddr(void)
{
	return uretprobe_trampoline;
}
#endif
#include "report.h"
#include "user-memory.h"
#include "walk-state.h"

#define CODE		0x400000UL
#define STACK		0x7ff00000UL	/* 32-bit code has it, too */
#define WORDS		8

/* Return address @i: a call is before it, and a return at it. */
#define RETURN(i)	(CODE + 0x800 + 16 * (i))
/* No return address: there is no call before it. */
#define PLAIN(i)	(RETURN(i) + 2)
/* Signal trampolines. */
#define TRAMPOLINE(i)	(CODE + 0x400 + 16 * (i))
static const char *const trampolines[] = {
	[X86_SIGRETURN_64]	= "\x48\xc7\xc0\x0f\0\0\0\x0f\x05",
	[X86_SIGRETURN_32]	= "\x58\xb8\x77\0\0\0\xcd\x80",
	[X86_SIGRETURN_RT_32]	= "\xb8\xad\0\0\0\xcd\x80",
};

/* The module finds the walk that a state is part of. */
static struct hook_walk walk;
static struct unwind_user_state *const state = &walk.state;

static void begin(unsigned int ws)
{
	unsigned int i;

	user_reset();
	user_map(0, CODE, 4096, 0x90);
	for (i = 0; i < 2 * WORDS; i++)
		user_put(RETURN(i) - 5, "\xe8\0\0\0\0\xc3", 6);
	for (i = X86_SIGRETURN_64; i <= X86_SIGRETURN_RT_32; i++)
		user_put(TRAMPOLINE(i), trampolines[i], i == X86_SIGRETURN_64 ? 9 :
			 i == X86_SIGRETURN_32 ? 8 : 7);
	user_map(1, STACK, WORDS * ws, 0);
	walk_task.utask = NULL;
	walk_regs = (struct pt_regs) { .cs = ws == 8 ? __USER_CS : __USER32_CS };
	mm.context.ctx_id++;
	*state = (struct unwind_user_state) { .ws = ws, .ip = CODE, .sp = STACK };
}

static bool same(const struct unwind_user_state *a, const struct unwind_user_state *b)
{
	return a->ip == b->ip && a->sp == b->sp && a->fp == b->fp && a->topmost == b->topmost;
}

/* 12 reads may fail; then no read is tried. A read that succeeds does not count. */
static void check_failed(void)
{
	unsigned int i;
	u64 word;
	bool ok = true;

	begin(8);
	user.fail_from = 1;
	for (i = 0; i < UNWIND_USER_FAILED_MAX; i++)
		ok &= !unwind_user_read(state, &word, STACK, 8) && state->failed == i + 1;
	user.fail_from = 0;
	user.reads = 0;
	ok &= !unwind_user_read(state, &word, STACK, 8) && !user.reads && state->failed == i;
	state->failed = UNWIND_USER_FAILED_MAX - 1;
	ok &= unwind_user_read(state, &word, STACK, 8) && user.reads &&
	      state->failed == UNWIND_USER_FAILED_MAX - 1;
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
			ok &= state->failed <= 1;
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
	ok &= state->failed == 1;
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

/* The word at @addr, as the model reads it; false if there is none. */
static bool model_word(unsigned long addr, unsigned int ws, unsigned long *word)
{
	if (addr % ws || addr < STACK || addr >= STACK + WORDS * ws)
		return false;
	*word = 0;
	memcpy(word, user.piece[1].bytes + (addr - STACK), ws);
	return true;
}

/* The step by a rule, as x86_frame.h defines rules, without regard to time or space. */
static bool model_step(const struct unwind_user_state *from, enum x86_frame_kind kind,
		       const struct x86_frame_rule *rule, struct unwind_user_state *to)
{
	unsigned long base = rule->use_fp ? from->fp : from->sp, cfa, ra, fp = from->fp, i;
	bool returns = false;

	*to = *from;
	if (kind == X86_FRAME_SCAN_MEM && !model_word(base + rule->mem_off, from->ws, &base))
		return false;
	if (kind == X86_FRAME_SCAN_REG) {
		base = walk_regs.ip == from->ip && walk_regs.sp == from->sp ? walk_regs.bx : 0;
		if (!base)
			return false;
	}
	cfa = base + rule->cfa_off;
	/* The step by frame pointer does the same. */
	if (rule->fp_off && cfa == from->fp + 2 * from->ws && cfa + rule->fp_off == from->fp)
		return false;
	if (cfa <= from->sp || !model_word(cfa + rule->ra_off, from->ws, &ra))
		return false;
	if (rule->fp_off && !model_word(cfa + rule->fp_off, from->ws, &fp))
		return false;
	for (i = 0; i < 2 * WORDS; i++)
		returns |= ra == RETURN(i);
	if (!returns)
		return false;
	to->ip = ra;
	to->sp = cfa;
	to->fp = fp;
	return true;
}

static unsigned int nr_made;

/* Is the step the model's? And with each read failing: is it the same, or none at all? */
static bool check_step(const struct unwind_user_state *from, enum x86_frame_kind kind,
		       const struct x86_frame_rule *rule)
{
	struct x86_frame_mem mem = code_of(state);
	struct unwind_user_state want;
	unsigned int reads, stack_reads, i;
	bool made, wanted = model_step(from, kind, rule, &want), ok;

	user_reset();
	*state = *from;
	made = step_rule(state, &mem, kind, rule);
	ok = made == wanted && same(state, &want);
	if (!made || !ok || ++nr_made % 16)
		return ok;
	reads = user.reads;
	stack_reads = 1 + !!rule->fp_off + (kind == X86_FRAME_SCAN_MEM);
	for (i = 1; i <= reads; i++) {
		user_reset();
		user.fail_at = i;
		*state = *from;
		made = step_rule(state, &mem, kind, rule);
		ok &= same(state, made ? &want : from) && !(made && i <= stack_reads);
	}
	return ok;
}

static const enum x86_frame_kind step_kinds[] = {
	X86_FRAME_RET, X86_FRAME_SCAN_SP, X86_FRAME_SCAN_BP, X86_FRAME_SCAN_MEM, X86_FRAME_SCAN_REG,
};

/* All rules whose offsets are of a few words, for this frame. */
static bool check_rules_of(const struct unwind_user_state *from)
{
	int ws = from->ws, cfa, ra, fp, mem;
	unsigned int k, use_fp;
	bool ok = true;

	for (k = 0; k < ARRAY_SIZE(step_kinds); k++)
		for (use_fp = 0; use_fp < 2; use_fp++)
			for (cfa = -2; cfa <= 2 * WORDS; cfa++)
				for (ra = -2; ra <= 1; ra++)
					for (fp = -2; fp <= 1; fp++)
						for (mem = 0; mem < 2; mem++) {
							struct x86_frame_rule rule = {
								.use_fp = use_fp, .reg = 3,
								.cfa_off = cfa * ws / 2,
								.ra_off = ra * ws,
								.fp_off = fp * ws,
								.mem_off = mem * ws,
							};

							ok &= check_step(from, step_kinds[k], &rule);
						}
	return ok;
}

static void check_steps(unsigned int ws)
{
	struct unwind_user_state from;
	unsigned int sp, fp, pattern, i;
	bool ok = true;

	nr_made = 0;
	for (pattern = 0; pattern < 12; pattern++) {
		begin(ws);
		/* Return addresses, stack addresses, and others. */
		for (i = 0; i < WORDS; i++)
			user_put_word(STACK + i * ws, (pattern + i) % 3 == 0 ? RETURN(i) :
				      (pattern + i) % 4 == 1 ? STACK + (pattern + i) % 8 * ws :
				      PLAIN(i), ws);
		for (sp = 0; sp < 3; sp++)
			for (fp = 0; fp < 4; fp++) {
				from = (struct unwind_user_state) {
					.ip = CODE, .sp = STACK + 2 * sp * ws, .ws = ws,
					.fp = STACK + 2 * fp * ws, .topmost = true,
				};
				walk_regs.ip = CODE + (pattern == 5);
				walk_regs.sp = from.sp + (pattern == 6);
				walk_regs.bx = pattern == 7 ? 0 : from.sp + ws;
				ok &= check_rules_of(&from);
			}
	}
	printf("# %u steps\n", nr_made);
	report(ok && nr_made > 1000, ws == 8 ? "rules: all small ones, as the model steps" :
					       "rules: ... 32-bit");
}

/* Returns one after another: so many steps by code, and no more. */
static void check_limit(void)
{
	struct unwind_user_state before;
	unsigned int i;
	bool ok = true;

	begin(8);
	user_map(1, STACK, 2 * WORDS * 8, 0);
	for (i = 0; i < 2 * WORDS; i++)
		user_put_word(STACK + 8 * i, RETURN(i), 8);
	user_put(CODE, "\xc3", 1);
	state->topmost = true;
	for (i = 0; i < UNWIND_USER_CODE_MAX; i++)
		ok &= unwind_user_code_next(state) && state->ip == RETURN(i) &&
		      state->sp == STACK + 8 * (i + 1) && state->ask_code && !state->topmost &&
		      state->nr_code == i + 1;
	before = *state;
	user.reads = 0;
	ok &= !unwind_user_code_next(state) && same(state, &before) && !user.reads;
	ok &= !state->ask_code && state->nr_code == UNWIND_USER_CODE_MAX;
	report(ok, "next: 8 steps by code, and no more");
}

/* A step is tried for the interrupted frame, and if the step before was by code. */
static void check_ask(void)
{
	bool ok;

	begin(8);
	user_put_word(STACK, RETURN(0), 8);
	user_put(CODE, "\xc3", 1);
	ok = !unwind_user_code_next(state) && !user.reads && !state->nr_code;
	state->ask_code = true;
	ok &= unwind_user_code_next(state) && state->ip == RETURN(0);
	/* The next word is no return address. */
	ok &= !unwind_user_code_next(state) && !state->ask_code && state->nr_code == 2;
	ok &= state->ip == RETURN(0) && state->sp == STACK + 8;
	report(ok, "next: only after a step by code");
}

/* After a call that never returns comes the entry of another function. */
static void check_noreturn(void)
{
	bool ok;

	begin(8);
	user_put(RETURN(1), "\x55\x48\x89\xe5", 4);
	user_put_word(STACK, RETURN(0), 8);
	state->ip = RETURN(1);
	state->ask_code = true;
	ok = !unwind_user_code_next(state) && state->ip == RETURN(1) && state->sp == STACK;
	state->topmost = true;
	ok &= unwind_user_code_next(state) && state->ip == RETURN(0) && !state->topmost;
	report(ok, "next: no step by the entry of the function after a noreturn call");
}

/* The analysis rejects the path, after it has made a rule of it: bp is in use, not restored. */
static void check_unknown(void)
{
	unsigned int i;
	bool ok = true;

	begin(8);
	user_put(CODE + 0x10, "\x48\x89\xef\xe8\0\x10\0\0\x58\xc3", 10);
	for (i = 0; i < WORDS; i++)
		user_put_word(STACK + 8 * i, RETURN(i), 8);
	/* Searched, from the cache, and in task context. */
	for (i = 0; i < 3; i++) {
		state->ip = CODE + 0x10;
		state->topmost = true;
		state->in_task = i == 2;
		search_credit = UNWIND_USER_CREDIT_MAX;
		ok &= !unwind_user_code_next(state) && state->ip == CODE + 0x10;
	}
	report(ok, "next: no step by a rule that was rejected");
}

static void check_switches(void)
{
	bool ok = true;

	begin(8);
	user_put_word(STACK, RETURN(0), 8);
	user_put(CODE, "\xc3", 1);
	user_put(CODE + 0x10, "\x48\x01\xd8\xc3", 4);
	state->topmost = true;
	unwind_user_code_enabled.key = false;
	ok &= !unwind_user_code_next(state) && !unwind_user_code_exact(state);
	ok &= !unwind_user_at_trampoline(state, TRAMPOLINE(X86_SIGRETURN_64)) && !user.reads;
	unwind_user_code_enabled.key = true;
	report(ok, "off: nothing is read");
	unwind_user_search_enabled.key = false;
	state->ip = CODE + 0x10;
	ok = !unwind_user_code_next(state);
	state->in_task = true;
	ok &= !unwind_user_code_next(state);
	state->ip = CODE;
	ok &= unwind_user_code_next(state);
	unwind_user_search_enabled.key = true;
	report(ok, "no search: a look only");
	begin(8);
	user_put_word(STACK, RETURN(0), 8);
	user_put(CODE + 0x10, "\x48\x01\xd8\xc3", 4);
	state->ip = CODE + 0x10;
	state->topmost = true;
	state->in_task = true;
	walk_no_memory = true;
	ok = !unwind_user_code_next(state);
	state->ip = CODE + 0x13;
	ok &= unwind_user_code_next(state);
	walk_no_memory = false;
	state->ip = CODE + 0x10;
	state->sp = STACK;
	state->topmost = true;
	ok &= unwind_user_code_next(state) && !walk_allocated;
	report(ok, "no memory for a search: a look only");
}

/* Exact states only: of the look, and no others. */
static void check_exact(void)
{
	struct unwind_user_state before;
	bool ok;

	begin(8);
	user_put(CODE + 0x10, "\x48\x01\xd8\xc3", 4);
	user_put_word(STACK, RETURN(0), 8);
	state->topmost = true;
	state->ip = CODE + 0x10;
	before = *state;
	ok = !unwind_user_code_exact(state) && same(state, &before);
	state->ip = TRAMPOLINE(X86_SIGRETURN_64);
	before = *state;
	ok &= !unwind_user_code_exact(state) && same(state, &before);
	state->ip = CODE + 0x13;
	before = *state;
	user_put_word(STACK, PLAIN(0), 8);
	ok &= !unwind_user_code_exact(state) && same(state, &before);
	user_put_word(STACK, RETURN(0), 8);
	ok &= unwind_user_code_exact(state) && state->ip == RETURN(0) && !state->topmost &&
	      state->sp == STACK + 8;
	report(ok, "exact: by a look only");
}

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
	ok &= !state->failed && !unwind_user_at_trampoline(state, CODE - 1) && state->failed == 1;
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

/* What may be searched: by the time that is left, and by the CPU's credit. */
static void check_search_limit(void)
{
#ifndef MODULE
	static const u64 times[] = { 0, 1, 99, 100, X86_FRAME_INSNS / 8 * 100 - 1,
		X86_FRAME_INSNS / 8 * 100, X86_FRAME_INSNS / 8 * 100 + 99,
		X86_FRAME_INSNS * 100 - 1, X86_FRAME_INSNS * 100, 1ULL << 40, ~0ULL };
	unsigned int i, want;
	int credit;
	bool ok = true;

	for (i = 0; i < ARRAY_SIZE(times); i++)
		for (credit = -3; credit <= 3; credit++) {
			time_left = times[i];
			want = times[i] / 100 > X86_FRAME_INSNS ? X86_FRAME_INSNS : times[i] / 100;
			if (want < X86_FRAME_INSNS / 8 || credit <= 0)
				want = 0;
			ok &= search_limit(credit) == want;
		}
	time_left = ~0ULL;
	report(ok, "searches: as much as there is time for");
#endif
}

static void check_credit(void)
{
	struct x86_frame_mem mem = code_of(state);
	struct x86_frame_rule rule;
	struct x86_frame_cache *cache;
	bool ok = true;
	int credit;

	for (credit = -100; credit <= UNWIND_USER_CREDIT_MAX; credit++) {
		int want = credit + 80 > 4096 ? 4096 : credit + 80;

		search_credit = credit;
		state->nr_code = 2;
		bring_credit(state);
		ok &= search_credit == credit;
		state->nr_code = 1;
		bring_credit(state);
		ok &= search_credit == want;
	}
	report(ok, "searches: a walk brings its credit once");

	begin(8);
	mem = code_of(state);
	user_put(CODE, "\x48\x01\xd8\x48\x01\xd8\xc3", 7);
	cache = cache_get();
	ok = cache && walk_preempt_count == 1 && !cache_get() && walk_preempt_count == 1;
	search_credit = 1;
	state->spent = 7;
	ok &= search_bounded(state, cache, &mem, &rule) == X86_FRAME_SCAN_SP;
	ok &= cache->work.took && state->spent == 7 + cache->work.took &&
	      search_credit == 1 - (int)cache->work.took && cache->spent == 7;
	mm.context.ctx_id++;
	state->spent = 0;
	search_credit = 0;
	ok &= search_bounded(state, cache, &mem, &rule) == X86_FRAME_UNKNOWN &&
	      cache->spent == X86_FRAME_INSNS;
	cache_put();
	ok &= !walk_preempt_count && cache_get() == cache;
	cache_put();
	report(ok, "searches: all of a walk share one limit, and use up the credit");
	/* Of a walk whose only step is found in the cache. */
	state->nr_code = 1;
	state->ip = CODE;
	ok = find_rule(state, &mem, &rule) == X86_FRAME_SCAN_SP;
	search_credit = 5;
	ok &= find_rule(state, &mem, &rule) == X86_FRAME_SCAN_SP && search_credit == 85;
	report(ok, "searches: each walk brings credit");
	search_credit = UNWIND_USER_CREDIT_MAX;
}

static void check_prepare(void)
{
	void *kept;
	bool ok;

	walk_no_memory = true;
	ok = unwind_user_code_prepare() == -ENOMEM && !frame_cache;
	unwind_user_code_release();
	walk_no_memory = false;
	ok &= !unwind_user_code_prepare() && frame_cache == walk_kept;
	kept = walk_kept;
	/* For a second CPU that was added, and after an error. */
	ok &= !unwind_user_code_prepare() && frame_cache == kept && walk_kept == kept;
	unwind_user_code_release();
	ok &= !frame_cache && !cache_get() && !walk_preempt_count;
	ok &= !unwind_user_code_prepare() && frame_cache;
	report(ok, "prepare: once for each CPU");
}

#ifndef MODULE
void proc_do_static_key(void)
{
}

static void check_sysctl(void)
{
	static const struct { const char *name; void *data; } want[] = {
		{ "unwind_user_code", &unwind_user_code_enabled.key },
		{ "unwind_user_search", &unwind_user_search_enabled.key },
	};
	bool ok = !walk_initcall() && walk_nr_sysctl == ARRAY_SIZE(want);
	unsigned int i;

	for (i = 0; ok && i < ARRAY_SIZE(want); i++)
		ok = !strcmp(walk_sysctl[i].procname, want[i].name) &&
		     walk_sysctl[i].data == want[i].data && walk_sysctl[i].mode == 0644 &&
		     walk_sysctl[i].proc_handler == proc_do_static_key;
	report(ok, "sysctl: both switches, which root alone may set");
}
#endif

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	check_prepare();
#ifndef MODULE
	check_sysctl();
#endif
	check_search_limit();
	check_failed();
	check_words();
	check_read_code();
	check_probes();
	check_trampoline_of_uretprobes();
	check_returns();
	check_registers();
	check_steps(8);
	check_steps(4);
	check_limit();
	check_ask();
	check_noreturn();
	check_unknown();
	check_switches();
	check_exact();
	check_trampolines();
	check_signals();
	check_in_system_call();
	check_credit();
	unwind_user_code_release();
	printf("1..%d\n", nr_tests);
	return !!nr_failed;
}
