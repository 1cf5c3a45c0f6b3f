// SPDX-License-Identifier: GPL-2.0
/*
 * What instructions do, as run-insn.c computes it and as the processor does.
 *
 * Each test runs an instruction of random operands on the processor, between a load and a store of
 * all registers. Memory operands are in a buffer, the stack of the model. What the model knows
 * afterwards must be true. If it knew all before, it has to know all that the table says.
 */
#include <string.h>
#include "insn-trial.h"
#include "run-alu.h"
#include "run-insn.h"
#include "run-operand.h"
#include "tap.h"

/* Tries of each instruction. In some the operand is not in the buffer. */
#define ROUNDS	400

#define IP	0x1000

/* Of each instruction. */
#define MAX_SAID	2

#define LEA	0x8d

static unsigned int said;

static int read_word(void *arg, u64 addr, u64 *value)
{
	u64 offset = addr - (unsigned long)trial_words;

	if (arg != trial_words || offset > TRIAL_WORDS * 8 - 8)
		return -1;
	memcpy(value, (u8 *)trial_words + offset, 8);
	return 0;
}

static void begin_model(const struct trial *t, struct hybrid_run_state *state)
{
	unsigned int i;

	state->ip = IP;
	state->nr_written = 0;
	state->flags = tap_random();
	state->flags_known = t->flags_known;
	for (i = 0; i < TRIAL_NR_FLAGS; i++) {
		if (t->flags_known >> i & 1)
			state->flags = (state->flags & ~(1 << i)) |
				       !!(t->begin.flags & trial_flag_bits[i]) << i;
	}
	for (i = 0; i < TRIAL_REGS; i++) {
		state->regs[i].known = t->known >> i & 1;
		/* What is not known is not looked at. */
		state->regs[i].value = state->regs[i].known ? t->begin.regs[i] : tap_random();
	}
}

static bool complain(const struct trial *t, const char *what, u64 which)
{
	unsigned int i;

	check(!"true of the processor");
	if (said++ >= MAX_SAID)
		return false;
	printf("# %s %#lx of", what, (unsigned long)which);
	for (i = 0; i < t->len; i++)
		printf(" %02x", t->bytes[i]);
	printf("\n");
	return false;
}

/* The word of the trial_words as the model has it: as it was, or written. */
static struct hybrid_run_value word_at(const struct hybrid_run_state *state, unsigned int i,
				       const u64 *before)
{
	struct hybrid_run_value value = { before[i], true };
	unsigned int w;

	for (w = 0; w < state->nr_written; w++) {
		if (state->written[w].addr == (unsigned long)(trial_words + i))
			value = state->written[w].value;
	}
	return value;
}

/* Is all that the model knows as the processor has it? */
static bool is_true(const struct trial *t, const struct native *native,
		    const struct hybrid_run_state *state, const u64 *before)
{
	struct hybrid_run_value word;
	unsigned int i;

	for (i = 0; i < TRIAL_REGS; i++) {
		if (state->regs[i].known && state->regs[i].value != native->regs[i])
			return complain(t, "register", i);
	}
	for (i = 0; i < TRIAL_NR_FLAGS; i++) {
		if (state->flags_known >> i & 1 &&
		    (state->flags >> i & 1) != !!(native->flags & trial_flag_bits[i]))
			return complain(t, "flag", i);
	}
	for (i = 0; i < TRIAL_WORDS; i++) {
		word = word_at(state, i, before);
		if (word.known && word.value != trial_words[i])
			return complain(t, "word", i);
	}
	return true;
}

/* The second byte of a register, which the model does not know. */
static bool has_second_byte(const struct trial_op *op, const struct trial *t)
{
	u8 modrm = t->bytes[t->operand];

	return op->is_byte && op->modrm && !t->insn.rex_prefix.nbytes &&
	       (modrm & 0x20 || (!t->at && modrm & 4));
}

/* Does the model know what it knew, of an instruction that it can compute? */
static bool knows_enough(const struct trial_op *op, const struct trial *t,
			 const struct hybrid_run_state *state)
{
	bool is_whole = !t->at || (t->insn.opnd_bytes == 8 && !op->is_byte && !(t->at % 8));
	bool is_split = t->at && t->at % 8 + (op->is_byte ? 1 : t->insn.opnd_bytes) > 8;
	unsigned int i;

	if (op->knows <= SOME || t->known != TRIAL_ALL || t->flags_known != TRIAL_FLAGS ||
	    is_split || has_second_byte(op, t) ||
	    (op->knows == MOST && t->insn.opnd_bytes < 4))
		return true;
	for (i = 0; i < TRIAL_REGS; i++) {
		if (!state->regs[i].known)
			return complain(t, "does not know register", i);
	}
	for (i = 0; is_whole && i < state->nr_written; i++) {
		if (!state->written[i].value.known)
			return complain(t, "does not know word", i);
	}
	if (op->knows < FLAGS || state->flags_known == TRIAL_FLAGS)
		return true;
	return complain(t, "does not know flags", ~state->flags_known & TRIAL_FLAGS);
}

/* Returns true if the processor has run it. */
static bool try_one(const struct trial_op *op, bool is_general)
{
	const struct hybrid_run_stack stack = {
		.read = read_word, .arg = trial_words, .start = (unsigned long)trial_words,
		.end = (unsigned long)(trial_words + TRIAL_WORDS),
	};
	static struct hybrid_run_state state;
	u64 before[TRIAL_WORDS], target;
	enum hybrid_run_step step;
	struct native native;
	struct trial t;

	if (!trial_make(&t, op, is_general))
		return false;
	state.stack = &stack;
	begin_model(&t, &state);
	memcpy(before, trial_words, sizeof(before));
	step = hybrid_run_insn(&state, &t.insn, &target);
	same(state.ip, IP + t.len);
	if (op->knows != MAYBE && step != HYBRID_RUN_NEXT)
		return complain(&t, "step", step);
	if (step != HYBRID_RUN_NEXT || !trial_run(&t, &native))
		return false;
	return is_true(&t, &native, &state, before) && knows_enough(op, &t, &state);
}

static void try_general(const struct trial_op *ops, unsigned int nr)
{
	unsigned int i, round, ran;

	for (i = 0; trial_prepare() && i < nr; i++) {
		said = 0;
		for (round = 0, ran = 0; round < ROUNDS; round++)
			ran += try_one(&ops[i], true);
		if (!check(ran > ROUNDS / 20))
			printf("# %02x ran %u times\n", ops[i].op, ran);
	}
}

#define TRY(...) do {							\
	const struct trial_op ops_[] = { __VA_ARGS__ };			\
	try_general(ops_, ARRAY_SIZE(ops_));				\
} while (0)

#define ANY	0xff

/* add, or, adc, sbb, and, sub, xor, cmp in their forms */
static void arithmetic(void)
{
	enum trial_knows knows;
	u8 which, first;

	for (which = 0; which < 8; which++) {
		first = which << 3;
		knows = which == HYBRID_RUN_ADC || which == HYBRID_RUN_SBB ? SOME : FLAGS;
		TRY({ first, .modrm = ANY, .knows = knows, .is_byte = true },
		    { first + 1, .modrm = ANY, .knows = knows },
		    { first + 2, .modrm = ANY, .knows = knows, .is_byte = true },
		    { first + 3, .modrm = ANY, .knows = knows },
		    { first + 4, .imm = 1, .knows = knows, .is_byte = true },
		    { first + 5, .imm = -4, .knows = knows },
		    { 0x80, .modrm = 1 << which, .imm = 1, .knows = knows, .is_byte = true },
		    { 0x81, .modrm = 1 << which, .imm = -4, .knows = knows },
		    { 0x83, .modrm = 1 << which, .imm = 1, .knows = knows });
	}
	/* test; not; neg; mul, imul; inc, dec; imul */
	TRY({ 0x84, .modrm = ANY, .knows = FLAGS, .is_byte = true },
	    { 0x85, .modrm = ANY, .knows = FLAGS },
	    { 0xa8, .imm = 1, .knows = FLAGS }, { 0xa9, .imm = -4, .knows = FLAGS },
	    { 0xf6, .modrm = 3, .imm = 1, .knows = FLAGS, .is_byte = true },
	    { 0xf7, .modrm = 3, .imm = -4, .knows = FLAGS },
	    { 0xf6, .modrm = 1 << 2 | 1 << 3, .knows = FLAGS, .is_byte = true },
	    { 0xf7, .modrm = 1 << 2 | 1 << 3, .knows = FLAGS },
	    { 0xf6, .modrm = 1 << 4 | 1 << 5, .knows = SOME, .is_byte = true },
	    { 0xf7, .modrm = 1 << 4 | 1 << 5, .knows = SOME },
	    { 0xfe, .modrm = 3, .knows = FLAGS, .is_byte = true },
	    { 0xff, .modrm = 3, .knows = FLAGS },
	    { 0x69, .modrm = ANY, .imm = -4, .knows = SOME },
	    { 0x6b, .modrm = ANY, .imm = 1, .knows = SOME },
	    { 0xaf, true, .modrm = ANY, .knows = SOME });
}

static void shifts(void)
{
	const u8 known = 1 << HYBRID_RUN_SHL | 1 << HYBRID_RUN_SHR | 1 << HYBRID_RUN_SAR;

	TRY({ 0xc0, .modrm = ANY, .imm = 1, .knows = SOME, .is_byte = true },
	    { 0xc1, .modrm = ANY, .imm = 1, .knows = SOME },
	    { 0xc1, .modrm = known, .imm = 1, .knows = MOST },
	    { 0xd0, .modrm = ANY, .knows = SOME, .is_byte = true },
	    { 0xd0, .modrm = known, .knows = ALL_BUT_FLAGS, .is_byte = true },
	    { 0xd1, .modrm = ANY, .knows = SOME },
	    { 0xd1, .modrm = known, .knows = ALL_BUT_FLAGS },
	    { 0xd2, .modrm = ANY, .knows = SOME, .is_byte = true },
	    { 0xd3, .modrm = ANY, .knows = SOME },
	    { 0xd3, .modrm = known, .knows = MOST });
}

static void moves(void)
{
	u8 i;

	TRY({ 0x88, .modrm = ANY, .knows = FLAGS, .is_byte = true },
	    { 0x89, .modrm = ANY, .knows = FLAGS },
	    { 0x8a, .modrm = ANY, .knows = FLAGS, .is_byte = true },
	    { 0x8b, .modrm = ANY, .knows = FLAGS }, { LEA, .modrm = ANY, .knows = FLAGS },
	    { 0x86, .modrm = ANY, .knows = FLAGS, .is_byte = true },
	    { 0x87, .modrm = ANY, .knows = FLAGS },
	    { 0xc6, .modrm = 1, .imm = 1, .knows = FLAGS, .is_byte = true },
	    { 0xc7, .modrm = 1, .imm = -4, .knows = FLAGS },
	    { 0x63, .modrm = ANY, .knows = MOST },
	    { 0xb6, true, .modrm = ANY, .knows = FLAGS, .is_byte = true },
	    { 0xb7, true, .modrm = ANY, .knows = MOST },
	    { 0xbe, true, .modrm = ANY, .knows = FLAGS, .is_byte = true },
	    { 0xbf, true, .modrm = ANY, .knows = MOST },
	    { 0x98, .knows = SOME }, { 0x99, .knows = SOME });
	for (i = 0; i < 8; i++) {
		TRY({ 0x90 + i, .knows = FLAGS }, { 0xb8 + i, .imm = -8, .knows = FLAGS },
		    { 0xb0 + i, .imm = 1, .is_byte = true, .knows = i < 4 ? FLAGS : SOME });
	}
	for (i = 0; i < 16; i++) {
		TRY({ 0x40 + i, true, .modrm = ANY, .knows = FLAGS },
		    { 0x90 + i, true, .modrm = ANY, .knows = SOME, .is_byte = true });
	}
}

static void pushes_and_pops(void)
{
	u8 i;

	for (i = 0; i < 8; i++)
		TRY({ 0x50 + i, .knows = MAYBE }, { 0x58 + i, .knows = MAYBE });
	TRY({ 0x68, .imm = -4, .knows = MAYBE }, { 0x6a, .imm = 1, .knows = MAYBE },
	    { 0xff, .modrm = 1 << 6, .knows = MAYBE }, { 0xc9, .knows = MAYBE });
}

static void bits(void)
{
	TRY({ 0xa3, true, .modrm = ANY, .knows = SOME },
	    { 0xbc, true, .modrm = ANY, .knows = SOME },
	    { 0xbd, true, .modrm = ANY, .knows = SOME },
	    { 0xba, true, .modrm = 0xf0, .imm = 1, .knows = SOME },
	    { 0xb0, true, .modrm = ANY, .knows = SOME, .is_byte = true },
	    { 0xb1, true, .modrm = ANY, .knows = SOME },
	    { 0xc0, true, .modrm = ANY, .knows = SOME, .is_byte = true },
	    { 0xc1, true, .modrm = ANY, .knows = SOME },
	    { 0x0d, true, .modrm = 3, .knows = FLAGS }, { 0x1f, true, .modrm = 1, .knows = FLAGS },
	    { 0x18, true, .modrm = 15, .knows = FLAGS });
}

/* Whatever of these the processor has. */
static void vectors(void)
{
	static const u8 prefixes[] = { 0, 0x66, 0xf3, 0xf2 };
	struct trial_op op = { .modrm = ANY };
	unsigned int i, round;

	for (i = 0; trial_prepare() && i < 256 * ARRAY_SIZE(prefixes); i++) {
		op.op = i;
		said = 0;
		op.prefix = prefixes[i / 256];
		for (op.vex = 0; op.vex < 4; op.vex++) {
			op.two = true;
			op.map = 0;
			op.imm = op.vex == 3 || op.op == 0x70 || op.op == 0xc2 || op.op == 0xc4 ||
				 op.op == 0xc5 || op.op == 0xc6;
			/* ldmxcsr and the like, which the rest of this program would feel. */
			op.modrm = op.op == 0xae ? 0xd9 : ANY;
			for (round = 0; round < 12; round++)
				try_one(&op, false);
			op.two = false;
			op.map = 0x38;
			op.imm = 0;
			for (round = 0; round < 12 && !op.vex; round++)
				try_one(&op, false);
			op.map = 0x3a;
			op.imm = 1;
			for (round = 0; round < 12 && !op.vex; round++)
				try_one(&op, false);
		}
	}
}

/* Only registers 4 to 7 are second bytes: an instruction with VEX has no REX prefix, either. */
static void second_bytes(void)
{
	struct hybrid_run_state state = {};
	const struct insn insn = {};
	unsigned int reg;

	for (reg = 0; reg < TRIAL_REGS; reg++)
		state.regs[reg] = (struct hybrid_run_value) { 0x8000 + 0x101 * reg, true };
	for (reg = 0; reg < TRIAL_REGS; reg++)
		same(hybrid_run_get_reg(&state, &insn, reg, 1).value,
		     reg >= 4 && reg < 8 ? 0x80 + reg - 4 : reg);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "run-insn: arithmetic",		arithmetic },
		{ "run-insn: shifts",			shifts },
		{ "run-insn: moves",			moves },
		{ "run-insn: pushes and pops",		pushes_and_pops },
		{ "run-insn: bits",			bits },
		{ "run-insn: vectors",			vectors },
		{ "run-insn: second bytes of registers", second_bytes },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
