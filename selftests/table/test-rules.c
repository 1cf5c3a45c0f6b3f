// SPDX-License-Identifier: GPL-2.0
/*
 * Walks by user-supplied rules, against a model of them over random small stacks, and with each
 * read failing once. Prints TAP.
 */
#include "rules-state.h"

/* The model: as linux/perf_unwind_rules.h defines rules. Memory that a walk may read: */
static bool model_word(unsigned long addr, unsigned long *word)
{
	const struct user_piece *piece = &user.piece[1];

	if (addr % ws || addr < regs.sp || addr + ws > regs.sp + dump_size ||
	    addr < piece->start || addr >= piece->start + piece->size)
		return false;
	*word = 0;
	memcpy(word, piece->bytes + (addr - piece->start), ws);
	return true;
}

struct model {
	unsigned long	ip, sp, fp;
	bool		topmost, fp_known;
	unsigned int	failed, nr;
	u64		ips[MAX_STACK];
};

static bool model_returns(unsigned long ra)
{
	unsigned int f, i;

	for (f = 0; f < NR_FUNCTIONS; f++)
		for (i = 0; i < 8; i++)
			if (ra == RETURN(f, i))
				return true;
	return ws == 8 && ra == TRAMPOLINE;
}

static enum perf_unwind_end model_step(struct model *m)
{
	unsigned long ip = m->topmost ? m->ip : m->ip - 1, cfa, ra, fp = 0, fp_at = 0;
	const struct perf_unwind_rule *r;
	bool read = false;

	if (ip < CODE || ip >= CODE + CODE_SIZE)
		return PERF_UNWIND_END_NO_RULE;
	r = rule_of((ip - CODE) >> 8 < NR_FUNCTIONS ? (ip - CODE) >> 8 : NR_FUNCTIONS);
	if (r->kind == PERF_UNWIND_OUTERMOST)
		return PERF_UNWIND_END_OUTERMOST;
	if (r->kind == PERF_UNWIND_UNKNOWN)
		return PERF_UNWIND_END_NO_RULE;
	/* No dump is so large that it has a signal frame. */
	if (r->kind == PERF_UNWIND_SIGNAL)
		return PERF_UNWIND_END_UNREADABLE;
	if (r->base == PERF_UNWIND_BASE_FP && !m->fp_known)
		return PERF_UNWIND_END_UNREADABLE;
	cfa = (r->base == PERF_UNWIND_BASE_FP ? m->fp : m->sp) + r->cfa_off;
	if (r->kind == PERF_UNWIND_PLT && m->ip % 16 >= 11)
		cfa += ws;
	if (r->kind == PERF_UNWIND_DEREF) {
		if (!model_word(cfa, &cfa))
			return PERF_UNWIND_END_UNREADABLE;
		cfa += r->deref_off;
	}
	if (cfa <= m->sp || cfa > regs.sp + dump_size || !model_word(cfa + r->ra_off, &ra))
		return PERF_UNWIND_END_UNREADABLE;
	if (r->fp == PERF_UNWIND_FP_AT_CFA)
		fp_at = cfa + r->fp_off;
	if (r->fp == PERF_UNWIND_FP_AT_FP && m->fp_known)
		fp_at = m->fp + r->fp_off;
	read = fp_at && model_word(fp_at, &fp);
	if (!model_returns(ra))
		return PERF_UNWIND_END_NOT_RETURN;
	if (r->fp != PERF_UNWIND_FP_SAME) {
		m->fp = fp;
		m->fp_known = read;
	}
	m->ip = ra;
	m->sp = cfa;
	m->topmost = false;
	return PERF_UNWIND_END_NONE;
}

static enum perf_unwind_end model_walk(struct model *m, unsigned int max_stack)
{
	enum perf_unwind_end end;

	*m = (struct model) {
		.ip = regs.ip, .sp = regs.sp, .fp = regs.bp, .topmost = true, .fp_known = true,
	};
	m->ips[m->nr++] = m->ip;
	while ((end = model_step(m)) == PERF_UNWIND_END_NONE) {
		if (m->nr == max_stack)
			return PERF_UNWIND_END_LIMIT;
		m->ips[m->nr++] = m->ip;
	}
	return end;
}

static unsigned int seed;

static unsigned int below(unsigned int n)
{
	return rand_r(&seed) % n;
}

static void random_rule(struct perf_unwind_rule *r)
{
	*r = (struct perf_unwind_rule) {
		.kind = below(8) ? 1 + below(3) : below(6),
		.base = below(2), .fp = below(4),
		.cfa_off = ws * (below(8) ? below(5) : below(20)) - (below(20) ? 0 : ws),
		.ra_off = below(4) ? -(int)ws : (int)(ws * below(3)) - 2 * (int)ws,
		.fp_off = below(3) ? -2 * (int)ws : (int)(ws * below(5)) - 2 * (int)ws,
	};
	if (r->kind == PERF_UNWIND_DEREF)
		r->deref_off = below(4) ? 0 : 1 + below(2 * ws);
	if (!below(30))
		r->cfa_off++;
	/* As if it counted from 0, which an unknown fp is not. */
	if (ws == 4 && !below(6)) {
		r->base = PERF_UNWIND_BASE_FP;
		r->cfa_off = STACK + ws * below(WORDS);
	}
}

/* Return addresses, pointers into the stack, and anything. */
static u64 random_word(void)
{
	switch (below(8)) {
	case 0:
		return below(2) ? below(1000) : CODE + below(CODE_SIZE);
	case 1:
	case 2:
		return STACK + ws * below(WORDS + 2) + (below(10) ? 0 : 1);
	default:
		return RETURN(below(NR_FUNCTIONS), below(8));
	}
}

static void random_case(unsigned int number)
{
	unsigned int i;

	seed = number;
	begin(number % 2 ? 4 : 8);
	for (i = 0; i < NR_FUNCTIONS; i++)
		random_rule(rule_of(i));
	rule_of(NR_FUNCTIONS - 1)->kind = PERF_UNWIND_OUTERMOST;
	for (i = 0; i < WORDS; i++)
		user_put_word(STACK + ws * i, random_word(), ws);
	/* nops, which no exact state has */
	regs.ip = FUNCTION(below(NR_FUNCTIONS)) + 1 + below(12);
	regs.sp = STACK + ws * below(4);
	regs.bp = STACK + ws * below(WORDS);
	/* Of the whole stack and what can't be read beyond, or less than that, odd or nothing. */
	if (number % 5 == 1)
		dump_size += 4 * ws;
	if (number % 5 == 2)
		dump_size = ws * below(WORDS) + (below(4) ? 0 : below(ws));
}

static bool same_chain(const struct model *m)
{
	return ctx.nr == m->nr && !memcmp(chain + 1, m->ips, m->nr * sizeof(u64));
}

static void check_model(unsigned int cases)
{
	static struct model m;
	unsigned int i, ends[8] = { 0 }, frames = 0, max_stack;
	enum perf_unwind_end end, want;
	bool ok = true;

	for (i = 0; i < cases; i++) {
		random_case(i);
		max_stack = i % 7 ? MAX_STACK : 1 + i % 3;
		want = model_walk(&m, max_stack);
		end = walk_now(max_stack);
		ends[end]++;
		frames += walk.frames;
		if (end != want || !same_chain(&m) || walk.frames != m.nr - 1 ||
		    walk.innermost != (m.nr > 1 ? PERF_UNWIND_INNERMOST_RULE :
						  PERF_UNWIND_INNERMOST_NONE)) {
			printf("# case %u: end %d, not %d, %u frames, not %u\n", i, end, want,
			       ctx.nr, m.nr);
			ok = false;
		}
	}
	printf("# %u frames; ends: %u outermost, %u no rule, %u no return, %u unreadable, ", frames,
	       ends[PERF_UNWIND_END_OUTERMOST], ends[PERF_UNWIND_END_NO_RULE],
	       ends[PERF_UNWIND_END_NOT_RETURN], ends[PERF_UNWIND_END_UNREADABLE]);
	printf("%u limit\n", ends[PERF_UNWIND_END_LIMIT]);
	for (i = PERF_UNWIND_END_OUTERMOST; i <= PERF_UNWIND_END_LIMIT; i++)
		ok &= ends[i] > cases / 1000;
	report(ok, "walks: as the model");
}

/* Each read of a walk fails once: then it ends there, or goes on without the frame pointer. */
static void check_faults(unsigned int cases)
{
	static struct model m;
	unsigned int i, reads, n;
	bool ok = true;

	for (i = 0; i < cases; i++) {
		random_case(i);
		model_walk(&m, MAX_STACK);
		user_reset();
		walk_now(MAX_STACK);
		reads = user.reads;
		for (n = 1; n <= reads; n++) {
			user_reset();
			user.fail_at = n;
			walk_now(MAX_STACK);
			ok &= ctx.nr <= m.nr && !memcmp(chain + 1, m.ips, ctx.nr * sizeof(u64));
		}
	}
	report(ok, "walks: each read fails once");
}

int main(int argc, char **argv)
{
	unsigned int cases = 60000;

	if (argc > 1)
		cases = atoi(argv[1]);
	setvbuf(stdout, NULL, _IONBF, 0);
	make_table();
	check_model(cases);
	check_faults(cases / 20);
	free(object.rows);
	printf("1..%d\n", nr_tests);
	return !!nr_failed;
}
