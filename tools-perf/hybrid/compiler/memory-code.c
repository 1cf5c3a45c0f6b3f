// SPDX-License-Identifier: GPL-2.0
/*
 * Code that no file has: the rules that led from a sample's frames to their callers.
 */
#include <string.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include "batch.h"
#include "memory-code.h"
#include "rule-table.h"

/* Does the rule lead from frame @i to where its caller was found? */
static bool is_rule_of(const struct hybrid_unwind *u, unsigned int i,
		       const struct hybrid_rule *rule)
{
	u64 sp = i ? u->frames[i - 1].cfa : u->regs.value[u->abi->sp];

	if (rule->kind == HYBRID_RULE_DEREF)
		return !rule->signal;
	return rule->kind == HYBRID_RULE_CFA && !rule->signal &&
	       (rule->base != HYBRID_BASE_SP || u->frames[i].cfa == sp + rule->cfa_off) &&
	       (!i || rule->base < HYBRID_BASE_REG);
}

/*
 * The rule by which the frame was left: what its code tells, or the process; or, where a call
 * stands before the caller's address, the frame pointer. Of the sampled instruction that may be
 * in a prologue.
 */
static bool frame_rule(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u,
		       unsigned int i, struct hybrid_rule *rule)
{
	const struct hybrid_frame *frame = &u->frames[i];
	const struct hybrid_row *row;
	struct hybrid_cfi *made;
	u8 word = u->abi->word;

	row = hybrid_jit_row(unwinder->jit, u->space, u->pid, u->abi, frame->ip, &made);
	if (hybrid_memory_rule(unwinder->memory, u->space, u->pid, u->abi, frame->ret, rule) &&
	    is_rule_of(u, i, rule))
		return true;
	if (row) {
		*rule = row->rule;
		return is_rule_of(u, i, rule);
	}
	*rule = (struct hybrid_rule) {
		.kind	 = HYBRID_RULE_CFA,
		.base	 = HYBRID_BASE_BP,
		.cfa_off = 2 * word,
		.ra_off	 = -word,
		.bp	 = HYBRID_BP_AT_CFA,
		.bp_off	 = -2 * word,
	};
	return i && is_rule_of(u, i, rule);
}

/* Is the page the process's own, though a file is mapped there? */
static bool is_own_page(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u, u64 ip)
{
	u64 byte;

	return !hybrid_memory_read(unwinder->memory, u->space, u->pid, ip, 1, &byte);
}

/*
 * Is the store to be given the rule of the frame? Notes that it has asked for it: it was given
 * nothing of a file's code here, and if that was only new to it, it won't ask again. What it
 * leaves out of a file's rows, as where a stack is switched, it is not given here either.
 */
static bool is_wanted(struct hybrid_memory_code *known, struct hybrid_unwinder *unwinder,
		      const struct hybrid_unwind *u, const struct hybrid_walk_code_key *key,
		      bool stopped)
{
	const struct hybrid_mapping *mapping = hybrid_space_find(u->space, key->ip);
	unsigned int place = hash_64(key->ip + key->space, HYBRID_MEMORY_CODE_BITS);
	bool is_known = known->known[place].key.ip == key->ip &&
			known->known[place].key.space == key->space;

	if (!mapping)
		return false;
	if (!mapping->object || mapping->is_copy)
		return stopped || !is_known || !known->known[place].is_given;
	if (stopped && !is_known) {
		known->known[place].key = *key;
		known->known[place].is_given = false;
	}
	return stopped && is_known && is_own_page(unwinder, u, key->ip);
}

static void set_given(struct hybrid_memory_code *known, const struct hybrid_walk_code_key *key)
{
	unsigned int place = hash_64(key->ip + key->space, HYBRID_MEMORY_CODE_BITS);

	known->known[place].key = *key;
	known->known[place].is_given = true;
}

/* The rule for the store: that of the file, where there is one. */
static bool store_rule(const struct hybrid_store_ops *ops, struct hybrid_unwinder *unwinder,
		       const struct hybrid_unwind *u, unsigned int i, struct perf_unwind_rule *to)
{
	struct hybrid_object *object;
	struct hybrid_rule rule;
	struct hybrid_row *row;
	bool mapped;

	row = hybrid_unwind_row(unwinder, u->space, u->frames[i].ip, &mapped, &object);
	if (row && row->rule.kind != HYBRID_RULE_NONE) {
		hybrid_batch_rule(u->abi, row, to);
		return true;
	}
	if (!frame_rule(unwinder, u, i, &rule))
		return false;
	hybrid_batch_code_rule(u->abi, &rule, ops->takes_registers, to);
	return true;
}

static void put_frame(struct hybrid_memory_code *known, const struct hybrid_store_ops *ops,
		      void *store, struct hybrid_unwinder *unwinder,
		      const struct hybrid_unwind *u, unsigned int i, bool stopped)
{
	struct hybrid_walk_code_key key = { .space = u->walker_space, .ip = u->frames[i].ret };
	struct perf_unwind_rule rule;
	struct hybrid_walk_code code;

	if (!is_wanted(known, unwinder, u, &key, stopped) ||
	    !store_rule(ops, unwinder, u, i, &rule) ||
	    hybrid_memory_code(unwinder->memory, u->space, u->pid, u->abi,
			       key.ip - HYBRID_WALK_CODE_BEFORE, code.code, sizeof(code.code)))
		return;
	code.row = hybrid_table_row(&rule);
	if (HYBRID_WALK_KIND(code.row) != PERF_UNWIND_UNKNOWN && !ops->put_code(store, &key, &code))
		set_given(known, &key);
}

void hybrid_memory_code_sample(struct hybrid_memory_code *known,
			       const struct hybrid_store_ops *ops, void *store,
			       struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u,
			       unsigned int stopped)
{
	unsigned int i, nr = min(u->nr, u->sure);

	/* By which rule the last frame would be left is not known, unless it is the outermost. */
	if (u->stop == HYBRID_STOP_OUTERMOST && u->rule.kind == HYBRID_RULE_OUTERMOST &&
	    nr == u->nr)
		nr++;
	if (!ops->put_code || !u->walker_space || u->abi->word != sizeof(u64))
		return;
	for (i = 0; i + 1 < nr; i++)
		put_frame(known, ops, store, unwinder, u, i, i == stopped);
}
