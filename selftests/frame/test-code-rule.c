// SPDX-License-Identifier: GPL-2.0
/* The walk's step by a rule, against a model of it. Prints TAP. */
#include "code-state.h"

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

/* With this offset of the CFA, in half words, for this frame. */
static bool check_rules_with(const struct unwind_user_state *from, enum x86_frame_kind kind,
			     bool use_fp, int cfa)
{
	int ws = from->ws, ra, fp, mem;
	bool ok = true;

	for (ra = -2; ra <= 1; ra++)
		for (fp = -2; fp <= 1; fp++)
			for (mem = 0; mem < 2; mem++) {
				struct x86_frame_rule rule = {
					.use_fp = use_fp, .reg = 3, .cfa_off = cfa * ws / 2,
					.ra_off = ra * ws, .fp_off = fp * ws, .mem_off = mem * ws,
				};

				ok &= check_step(from, kind, &rule);
			}
	return ok;
}

/* All rules whose offsets are of a few words, for this frame. */
static bool check_rules_of(const struct unwind_user_state *from)
{
	unsigned int k, use_fp;
	bool ok = true;
	int cfa;

	for (k = 0; k < ARRAY_SIZE(step_kinds); k++)
		for (use_fp = 0; use_fp < 2; use_fp++)
			for (cfa = -2; cfa <= 2 * WORDS; cfa++)
				ok &= check_rules_with(from, step_kinds[k], use_fp, cfa);
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

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	check_steps(8);
	check_steps(4);
	printf("1..%d\n", nr_tests);
	return !!nr_failed;
}
