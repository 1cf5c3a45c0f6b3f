// SPDX-License-Identifier: GPL-2.0
/*
 * Memory on a way through code: the stack of the sample, and what the way has written to it.
 */
#include <linux/kernel.h>
#include "run-state.h"

#define WORD		8

/* The largest value that one instruction stores. */
#define MAX_STORE	64

/* The way may push below the sampled stack pointer. */
#define BELOW		0x100000

bool hybrid_run_is_stack(const struct hybrid_run_state *state, u64 addr)
{
	return addr + BELOW >= state->stack->start && addr < state->stack->end;
}

static struct hybrid_run_value load_word(const struct hybrid_run_state *state, u64 addr)
{
	struct hybrid_run_value found = {};
	unsigned int i;

	for (i = state->nr_written; i--;) {
		if (state->written[i].addr == addr)
			return state->written[i].value;
	}
	found.known = !state->stack->read(state->stack->arg, addr, &found.value);
	return found;
}

struct hybrid_run_value hybrid_run_load(const struct hybrid_run_state *state, u64 addr,
					unsigned int size)
{
	struct hybrid_run_value none = {}, word;
	unsigned int shift = addr % WORD * 8;

	if (!size || size > WORD || addr % WORD + size > WORD)
		return none;
	word = load_word(state, addr - addr % WORD);
	if (!word.known)
		return none;
	word.value >>= shift;
	if (size < WORD)
		word.value &= (1ULL << size * 8) - 1;
	return word;
}

static bool store_word(struct hybrid_run_state *state, u64 addr, struct hybrid_run_value value)
{
	unsigned int i;

	for (i = state->nr_written; i--;) {
		if (state->written[i].addr != addr)
			continue;
		state->written[i].value = value;
		return true;
	}
	if (state->nr_written == HYBRID_RUN_WORDS)
		return false;
	state->written[state->nr_written].addr = addr;
	state->written[state->nr_written++].value = value;
	return true;
}

bool hybrid_run_store(struct hybrid_run_state *state, u64 addr, unsigned int size,
		      struct hybrid_run_value value)
{
	const struct hybrid_run_value none = {};
	u64 at = addr - addr % WORD;

	if (size > MAX_STORE)
		return false;
	if (!hybrid_run_is_stack(state, addr))
		return true;
	if (size == WORD && at == addr)
		return store_word(state, addr, value);
	for (; at < addr + size; at += WORD) {
		if (!store_word(state, at, none))
			return false;
	}
	return true;
}
