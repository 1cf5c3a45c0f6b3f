// SPDX-License-Identifier: GPL-2.0
/*
 * The rules of a store.  Programs have some hundred different ones, so all
 * objects share them, and none is ever taken away while a row may name it.
 */
#include <linux/jhash.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "store.h"

#define FIRST_RULES	256

static struct perf_hybrid_rules *rules_of(struct store *store)
{
	return rcu_dereference_protected(store->base.rules, 1);
}

/* What is charged of a table of @max rules, and of the hash's links, which are as many. */
static size_t rules_memory(u32 max)
{
	return store_memory(struct_size_t(struct perf_hybrid_rules, rule, max));
}

static size_t links_memory(u32 max)
{
	return store_memory(max * sizeof(u16));
}

/* Samples may read the table yet, and never the links. */
static void release(struct store *store, struct perf_hybrid_rules *rules)
{
	kvfree(store->rule_next);
	store->rule_next = NULL;
	store_uncharge(store, links_memory(rules->max));
	store_retire(store, &rules->retired, rules_memory(rules->max));
}

static u32 rule_hash(const struct perf_hybrid_rule *rule)
{
	return jhash(rule, sizeof(*rule), 0) >> (32 - STORE_RULE_HASH_BITS);
}

static void link_rule(struct store *store, const struct perf_hybrid_rule *rule, u16 index)
{
	u16 *first = &store->rule_hash[rule_hash(rule)];

	store->rule_next[index] = *first;
	*first = index;
}

/* Room for twice as many; samples go on with the old table until a new one. */
static int grow(struct store *store)
{
	struct perf_hybrid_rules *old = rules_of(store), *new;
	u32 max = old ? min_t(u32, old->max * 2, STORE_MAX_RULES + 1) : FIRST_RULES;
	u16 *next;
	int err;

	if (old && old->max == max)
		return -ENOSPC;
	err = store_charge(store, rules_memory(max) + links_memory(max));
	if (err)
		return err;
	new = store_alloc(struct_size(new, rule, max), GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	next = store_alloc(max * sizeof(*next), GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!new || !next) {
		kvfree(new);
		kvfree(next);
		store_uncharge(store, rules_memory(max) + links_memory(max));
		return -ENOMEM;
	}
	new->max = max;
	if (old) {
		new->nr = old->nr;
		memcpy(new->rule, old->rule, old->nr * sizeof(*old->rule));
		memcpy(next, store->rule_next, old->nr * sizeof(*next));
	}
	rcu_assign_pointer(store->base.rules, new);
	if (old)
		release(store, old);
	store->rule_next = next;
	return 0;
}

static int add_rule(struct store *store, const struct perf_hybrid_rule *rule, u16 *index)
{
	struct perf_hybrid_rules *rules = rules_of(store);
	u16 i;
	int err;

	for (i = store->rule_hash[rule_hash(rule)]; i; i = store->rule_next[i]) {
		if (!memcmp(&rules->rule[i], rule, sizeof(*rule))) {
			*index = i;
			return 0;
		}
	}
	if (rules->nr == rules->max) {
		err = grow(store);
		if (err)
			return err;
		rules = rules_of(store);
	}
	*index = rules->nr;
	rules->rule[*index] = *rule;
	link_rule(store, rule, *index);
	/* A sample must not find a rule that is not there yet. */
	smp_store_release(&rules->nr, rules->nr + 1);
	store->stats.rules = rules->nr;
	return 0;
}

/**
 * store_rules_add - have some rules in a store
 * @store: locked
 * @rules: checked
 * @nr: of them
 * @index: out: where each is
 *
 * Rule 0 is PERF_HYBRID_ASK, whatever its other members say.
 *
 * Return: 0, -ENOSPC, -EFBIG, -EDQUOT or -ENOMEM.
 */
int store_rules_add(struct store *store, const struct perf_hybrid_rule *rules, u32 nr,
		    u16 *index)
{
	u32 i;
	int err;

	for (i = 0; i < nr; i++) {
		index[i] = 0;
		if (rules[i].kind == PERF_HYBRID_ASK)
			continue;
		err = add_rule(store, &rules[i], &index[i]);
		if (err)
			return err;
	}
	return 0;
}

int store_rules_init(struct store *store)
{
	int err = grow(store);

	if (err)
		return err;
	rules_of(store)->nr = 1;
	store->stats.rules = 1;
	return 0;
}

void store_rules_exit(struct store *store)
{
	struct perf_hybrid_rules *rules = rules_of(store);

	if (!rules)
		return;
	rcu_assign_pointer(store->base.rules, NULL);
	release(store, rules);
}

/* When no object has rows any more. */
void store_rules_forget(struct store *store)
{
	struct perf_hybrid_rules *rules = rules_of(store);

	memset(store->rule_hash, 0, sizeof(store->rule_hash));
	WRITE_ONCE(rules->nr, 1);
	store->stats.rules = 1;
}
