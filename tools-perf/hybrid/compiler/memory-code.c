// SPDX-License-Identifier: GPL-2.0
/*
 * Gives a store the rules of JIT code and of copied code, one address at a time.
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

	if (rule->kind == HYBRID_RULE_DEREF || rule->kind == HYBRID_RULE_SAVED_SP)
		return !rule->signal;
	return rule->kind == HYBRID_RULE_CFA && !rule->signal &&
	       (rule->base != HYBRID_BASE_SP || u->frames[i].cfa == sp + rule->cfa_off) &&
	       (!i || rule->base < HYBRID_BASE_REG);
}

/*
 * Finds the rule by which perf stepped from the frame: from the process's runtime, from the code,
 * from CFI of the process, or by the frame pointer. Frame 0 may be in a prologue: the frame pointer
 * is used for it only if hybrid_memory_has_frame(). @proof: the code that was read for the rule;
 * unchanged if none was.
 */
static bool frame_rule(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u,
		       unsigned int i, struct hybrid_rule *rule, struct hybrid_code_proof *proof)
{
	const struct hybrid_frame *frame = &u->frames[i];
	const struct hybrid_row *row;
	struct hybrid_cfi *made;

	if (unwinder->runtime_rule && unwinder->runtime_rule(unwinder->runtimes, u, i, rule) &&
	    is_rule_of(u, i, rule))
		return true;
	row = hybrid_jit_row(unwinder->jit, u->space, u->pid, u->abi, frame->ip, &made);
	if (hybrid_memory_rule(unwinder->memory, u->space, u->pid, u->abi, frame->ret, rule,
			       proof) &&
	    is_rule_of(u, i, rule))
		return true;
	if (row) {
		*rule = row->rule;
		return is_rule_of(u, i, rule);
	}
	*rule = hybrid_rule_frame_pointer(u->abi->word);
	return (i || hybrid_memory_has_frame(unwinder->memory, u->space, u->pid, u->abi,
					     frame->ip)) &&
	       is_rule_of(u, i, rule);
}

/* Is the page anonymous memory, although a file is mapped there? */
static bool is_own_page(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u, u64 ip)
{
	u64 byte;

	return !hybrid_memory_read(unwinder->memory, u->space, u->pid, ip, 1, &byte);
}

/* The entry of a key, which may hold another key. */
static struct hybrid_known_code *entry_of(struct hybrid_memory_code *known,
					  const struct hybrid_walk_code_key *key)
{
	return &known->entries[hash_64(key->ip + key->space, HYBRID_MEMORY_CODE_BITS)];
}

/*
 * Is it the function at which makecontext() has a fiber begin? No FDE covers the byte before it, so
 * that the file's rows lack it.
 */
static bool is_context_start(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u,
			     u64 ip)
{
	struct hybrid_object *object;
	struct hybrid_row *row;
	bool mapped;

	row = hybrid_unwind_row(unwinder, u->space, ip - 1, &mapped, &object);
	return row && row->rule.kind == HYBRID_RULE_OUTERMOST && row->rule.signal;
}

/*
 * Does the store need the rule of the frame? If a file is mapped there, the store normally gets
 * the file's rows. So perf notes the first walk that ends at the address, and gives the rule
 * only if another walk ends there and the page is a copy. Rows that the compiler leaves out, as
 * of functions that switch stacks, stay left out.
 */
static bool is_wanted(struct hybrid_known_code *entry, struct hybrid_unwinder *unwinder,
		      const struct hybrid_unwind *u, const struct hybrid_walk_code_key *key,
		      bool stopped)
{
	const struct hybrid_mapping *mapping = hybrid_space_find(u->space, key->ip);
	bool is_known = entry->key.ip == key->ip && entry->key.space == key->space;

	if (!mapping)
		return false;
	if (!mapping->object || mapping->is_copy)
		return stopped || !is_known || !entry->is_given;
	if (stopped && is_context_start(unwinder, u, key->ip))
		return true;
	if (stopped && !is_known)
		*entry = (struct hybrid_known_code) { .key = *key };
	return stopped && is_known && is_own_page(unwinder, u, key->ip);
}

/* Finds the rule for the store: the file's if there is one, otherwise the rule of the code. */
static bool store_rule(const struct hybrid_store_ops *ops, struct hybrid_unwinder *unwinder,
		       const struct hybrid_unwind *u, unsigned int i, struct perf_unwind_rule *to,
		       struct hybrid_code_proof *proof)
{
	struct hybrid_object *object;
	struct hybrid_rule rule;
	struct hybrid_row *row;
	bool mapped;

	proof->words = 0;
	row = hybrid_unwind_row(unwinder, u->space, u->frames[i].ip, &mapped, &object);
	if (row && row->rule.kind != HYBRID_RULE_NONE) {
		hybrid_batch_rule(u->abi, row, to);
		return true;
	}
	if (!frame_rule(unwinder, u, i, &rule, proof))
		return false;
	hybrid_batch_code_rule(u->abi, &rule, ops->takes_registers, to);
	return true;
}

/* Is it JIT code which shows that bp points to the frame? @row: its rule. */
static bool is_framed(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u,
		      const struct hybrid_walk_code_key *key, u64 row)
{
	const struct hybrid_mapping *mapping = hybrid_space_find(u->space, key->ip);
	struct hybrid_rule rule;

	return mapping && !mapping->object && HYBRID_WALK_KIND(row) == PERF_UNWIND_CFA &&
	       HYBRID_WALK_BASE(row) == PERF_UNWIND_BASE_FP && HYBRID_WALK_CFA_OFF(row) == 16 &&
	       hybrid_memory_rule(unwinder->memory, u->space, u->pid, u->abi, key->ip, &rule,
				  NULL) &&
	       rule.base == HYBRID_BASE_BP;
}

/* Is the code that the rule was made from there now? If none was read: the code at the address. */
static bool prove(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u, u64 ip,
		  struct hybrid_code_proof *proof)
{
	if (!proof->words)
		hybrid_code_proof_of(proof, ip - sizeof(u64), ip + sizeof(u64));
	return hybrid_memory_prove(unwinder->memory, u->space, u->pid, u->abi, proof);
}

/* A row without a proof: hybrid_walk.h says which. */
static void put_end(const struct hybrid_store_ops *ops, void *store, const struct hybrid_unwind *u,
		    u64 at, u64 code)
{
	const struct hybrid_walk_code_key key = { .space = u->walker_space, .ip = at };
	const struct perf_unwind_rule rule = { .kind = PERF_UNWIND_OUTERMOST };
	const struct hybrid_walk_code end = {
		.proof.hash = code, .row = hybrid_table_row(&rule),
	};

	ops->put_code(store, &key, &end);
}

static void put_frame(struct hybrid_memory_code *known, const struct hybrid_store_ops *ops,
		      void *store, struct hybrid_unwinder *unwinder,
		      const struct hybrid_unwind *u, unsigned int i, bool stopped)
{
	struct hybrid_walk_code_key key = { .space = u->walker_space, .ip = u->frames[i].ret };
	struct hybrid_known_code *entry = entry_of(known, &key);
	struct hybrid_code_proof proof;
	struct perf_unwind_rule rule;
	struct hybrid_walk_code code;

	if (!is_wanted(entry, unwinder, u, &key, stopped))
		return;
	if (is_context_start(unwinder, u, key.ip)) {
		put_end(ops, store, u, key.ip, HYBRID_WALK_ROOT);
		return;
	}
	if (!store_rule(ops, unwinder, u, i, &rule, &proof))
		return;
	code.row = hybrid_table_row(&rule);
	if (HYBRID_WALK_KIND(code.row) == PERF_UNWIND_UNKNOWN)
		return;
	if (is_framed(unwinder, u, &key, code.row) &&
	    hybrid_code_blocks_put(&known->blocks, ops, store, unwinder, u, key.ip, code.row,
				   &proof)) {
		*entry = (struct hybrid_known_code) { .key = key, .is_given = true };
		return;
	}
	if (!prove(unwinder, u, key.ip, &proof))
		return;
	code.proof = hybrid_walk_proof(&proof, key.ip);
	if (!ops->put_code(store, &key, &code))
		*entry = (struct hybrid_known_code) { .key = key, .is_given = true };
}

/* The last frame is the outermost one of a fiber: hybrid_walk.h says what the store has then. */
static void put_fiber(const struct hybrid_store_ops *ops, void *store,
		      const struct hybrid_unwind *u)
{
	if (u->fiber_ret)
		put_end(ops, store, u, u->fiber_ret, HYBRID_WALK_FIBER);
	put_end(ops, store, u, u->fiber_end, u->fiber_ret);
	put_end(ops, store, u, 0, HYBRID_WALK_FIBER);
}

/*
 * The store finds the frames of methods by itself if it knows where a runtime's code is. Returns
 * false if the frame's address needs a rule of its own. The store may have lost what it knew, and
 * the runtime may have more code since.
 */
static bool put_compiled(struct hybrid_memory_code *known, const struct hybrid_store_ops *ops,
			 void *store, const struct hybrid_unwind *u,
			 const struct hybrid_walk_compiled *found, bool stopped)
{
	struct hybrid_walk_compiled compiled = *found, *entry;

	if (!ops->put_compiled)
		return false;
	entry = &known->compiled[hash_64(u->walker_space, HYBRID_MEMORY_COMPILED_BITS)];
	compiled.space = u->walker_space;
	compiled.again = u->walker_space;
	if (!stopped && !memcmp(entry, &compiled, sizeof(compiled)))
		return true;
	if (ops->put_compiled(store, &compiled))
		return false;
	*entry = compiled;
	return !stopped;
}

/* Of one piece of code: an interpreter has some hundred KiB. */
#define MAX_STRETCHES	8192

/* Gives the store the rule of one stretch after the other, from @start to @end. */
static void put_stretches(const struct hybrid_store_ops *ops, void *store, u64 space,
			  u64 start, u64 end, const struct hybrid_walk_range *range)
{
	struct hybrid_walk_code_key key = {
		.space = space, .ip = start >> HYBRID_WALK_RANGE_BITS,
	};
	u64 last = (end - 1) >> HYBRID_WALK_RANGE_BITS;
	unsigned int i;

	for (i = 0; i < MAX_STRETCHES && key.ip <= last; i++, key.ip++) {
		if (ops->put_range(store, &key, range))
			return;
	}
}

/*
 * Gives the store the rule of all code around a frame that a runtime has made. Returns false
 * if the frame's address needs a rule of its own. Where a walk stopped in spite of what the store
 * has, the code in front of the address may have left the frame, or the store had no room.
 */
static bool put_range(struct hybrid_memory_code *known, const struct hybrid_store_ops *ops,
		      void *store, struct hybrid_unwinder *unwinder,
		      const struct hybrid_unwind *u, unsigned int i, bool stopped)
{
	struct hybrid_runtime_range found;
	struct hybrid_known_range *entry;
	struct hybrid_walk_range range;
	struct perf_unwind_rule rule;
	bool is_known;

	if (!ops->put_range || !unwinder->runtime_range ||
	    !unwinder->runtime_range(unwinder->runtimes, u, i, &found))
		return false;
	if (found.compiled)
		return put_compiled(known, ops, store, u, found.compiled, stopped);
	entry = &known->ranges[hash_64(found.start + u->walker_space, HYBRID_MEMORY_RANGE_BITS)];
	is_known = entry->space == u->walker_space && entry->start == found.start;
	if (is_known && !stopped)
		return true;
	hybrid_batch_code_rule(u->abi, &found.rule, ops->takes_registers, &rule);
	range = (struct hybrid_walk_range) {
		.start = found.start, .end = found.end, .row = hybrid_table_row(&rule),
	};
	if (HYBRID_WALK_KIND(range.row) == PERF_UNWIND_UNKNOWN)
		return false;
	/* It may have lost the stretch: that is not asked. */
	if (is_known) {
		put_stretches(ops, store, u->walker_space, u->frames[i].ret, u->frames[i].ret + 1,
			      &range);
		return false;
	}
	put_stretches(ops, store, u->walker_space, range.start, range.end, &range);
	*entry = (struct hybrid_known_range) {
		.space = u->walker_space, .start = found.start,
	};
	return !stopped;
}

void hybrid_memory_code_sample(struct hybrid_memory_code *known,
			       const struct hybrid_store_ops *ops, void *store,
			       struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u,
			       unsigned int stopped)
{
	unsigned int i, nr = min(u->nr, u->sure);

	/* The last frame has a known rule only if it is the outermost. */
	if (u->stop == HYBRID_STOP_OUTERMOST && u->rule.kind == HYBRID_RULE_OUTERMOST &&
	    nr == u->nr)
		nr++;
	if (!ops->put_code || !u->walker_space || u->abi->word != sizeof(u64))
		return;
	if (u->stop == HYBRID_STOP_OUTERMOST && u->fiber_end)
		put_fiber(ops, store, u);
	for (i = 0; i + 1 < nr; i++) {
		if (put_range(known, ops, store, unwinder, u, i, i == stopped))
			continue;
		put_frame(known, ops, store, unwinder, u, i, i == stopped);
	}
}
