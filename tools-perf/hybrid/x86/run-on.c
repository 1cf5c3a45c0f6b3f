// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a function on to its return.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <asm/insn.h>
#include "flow.h"
#include "run-insn.h"
#include "run-on.h"
#include "x86_frame_scan.h"

#define WORD		8

/* Of one way, and of all together. */
#define MAX_WAY		2048
#define MAX_INSNS	8192

/* Branches whose condition is not known. */
#define MAX_BRANCHES	16

/**
 * struct runs - the ways of a function
 * @mem: reads the code
 * @state: the way that is followed
 * @todo: others, from a branch on
 * @nr_todo: number of @todo
 * @branches: addresses of branches that were followed to both sides
 * @nr_branches: number of @branches
 * @insns: instructions that were done
 * @way_end: number of @insns at which the way ends
 */
struct runs {
	const struct x86_frame_mem	*mem;
	struct hybrid_run_state		 state;
	struct hybrid_run_state		 todo[MAX_BRANCHES];
	unsigned int			 nr_todo;
	u64				 branches[MAX_BRANCHES];
	unsigned int			 nr_branches;
	unsigned int			 insns;
	unsigned int			 way_end;
};

/* In a loop the way comes to a branch again. Then it goes straight on, as long as it may. */
static void add_branch(struct runs *runs, u64 target)
{
	unsigned int i;

	for (i = 0; i < runs->nr_branches; i++) {
		if (runs->branches[i] == runs->state.ip)
			return;
	}
	if (runs->nr_branches == MAX_BRANCHES || runs->nr_todo == MAX_BRANCHES)
		return;
	runs->branches[runs->nr_branches++] = runs->state.ip;
	runs->todo[runs->nr_todo] = runs->state;
	runs->todo[runs->nr_todo++].ip = target;
}

static void return_from_call(struct hybrid_run_state *state)
{
	unsigned int i;

	for (i = 0; i < HYBRID_RUN_REGS; i++) {
		if (i != X86_REG_BP)
			hybrid_run_clobber(state, i);
	}
	state->flags_known = 0;
}

/* One instruction. @step: out: how it went on. Returns false if the way ends. */
static bool run_one(struct runs *runs, enum hybrid_run_step *step, struct insn *insn)
{
	struct hybrid_run_state *state = &runs->state;
	u64 target = 0;

	*step = HYBRID_RUN_DEAD;
	if (runs->insns++ >= runs->way_end || !hybrid_decode_insn(runs->mem, state->ip, insn))
		return false;
	*step = hybrid_run_insn(state, insn, &target);
	switch (*step) {
	case HYBRID_RUN_NEXT:
		return true;
	case HYBRID_RUN_JUMP:
		state->ip = target;
		return true;
	case HYBRID_RUN_BRANCH:
		add_branch(runs, target);
		return true;
	case HYBRID_RUN_CALL:
		return_from_call(state);
		return true;
	case HYBRID_RUN_RETURN:
	case HYBRID_RUN_LEAVE:
	case HYBRID_RUN_DEAD:
	default:
		return false;
	}
}

/* Did the way write this word, or is it as it was? */
static bool is_written(const struct hybrid_run_state *state, u64 addr)
{
	unsigned int i;

	for (i = 0; i < state->nr_written; i++) {
		if (state->written[i].addr == addr)
			return true;
	}
	return false;
}

/*
 * V8's Builtins_BaselineOutOfLinePrologue takes its return address off the stack, makes the frame
 * of the function that has called it, and returns: the word at bp is the bp of that one's caller.
 */
static bool makes_frame(const struct hybrid_run *run, const struct hybrid_run_state *state)
{
	const struct hybrid_run_value *was = &run->regs[X86_REG_BP], *bp;
	struct hybrid_run_value saved;

	bp = &state->regs[X86_REG_BP];
	if (!was->known || !bp->known || bp->value == was->value || bp->value % WORD)
		return false;
	saved = hybrid_run_load(state, bp->value, WORD);
	return saved.known && saved.value == was->value && !is_written(state, bp->value + WORD);
}

/*
 * The way is at a return, or at a jump. What a return takes off the stack is pushed by the function
 * itself if it is the address of another one, which V8 goes on in so: then the next word is that
 * which the other one returns to.
 */
static bool put_return(struct hybrid_run *run, const struct hybrid_run_state *state,
		       enum hybrid_run_step step, const struct insn *insn)
{
	struct hybrid_run_value sp = state->regs[X86_REG_SP], ret;

	if (!sp.known || sp.value % WORD)
		return false;
	ret = hybrid_run_load(state, sp.value, WORD);
	if (step == HYBRID_RUN_RETURN && !ret.known && is_written(state, sp.value)) {
		step = HYBRID_RUN_LEAVE;
		sp.value += WORD;
		ret = hybrid_run_load(state, sp.value, WORD);
	}
	if (!ret.known)
		return false;
	run->ret = ret.value;
	run->sp = sp.value + WORD;
	run->sp_known = step == HYBRID_RUN_RETURN;
	/* ret $N */
	if (run->sp_known && insn->opcode.bytes[0] == 0xc2)
		run->sp += (u16)insn->immediate.value;
	run->bp = state->regs[X86_REG_BP];
	run->makes_frame = run->sp_known && makes_frame(run, state);
	return true;
}

static bool run_all(struct runs *runs, struct hybrid_run *run)
{
	enum hybrid_run_step step;
	struct insn insn;

	while (runs->nr_todo && runs->insns < MAX_INSNS) {
		runs->state = runs->todo[--runs->nr_todo];
		runs->way_end = runs->insns + MAX_WAY;
		while (run_one(runs, &step, &insn))
			;
		if ((step == HYBRID_RUN_RETURN || step == HYBRID_RUN_LEAVE) &&
		    put_return(run, &runs->state, step, &insn))
			return true;
	}
	return false;
}

bool hybrid_run_on(struct hybrid_run *run)
{
	struct runs *runs = run->mem->is_64bit ? calloc(1, sizeof(*runs)) : NULL;
	bool found;

	if (!runs)
		return false;
	runs->mem = run->mem;
	runs->todo[0].stack = &run->stack;
	runs->todo[0].ip = run->ip;
	memcpy(runs->todo[0].regs, run->regs, sizeof(run->regs));
	runs->nr_todo = 1;
	found = run_all(runs, run);
	free(runs);
	return found;
}
