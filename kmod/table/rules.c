// SPDX-License-Identifier: GPL-2.0
/*
 * The rules of a table.  Programs have some hundred different ones, so all
 * objects share them, and none is ever taken away while a row may name it.
 */
#include <linux/jhash.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "table.h"

#define FIRST_RULES	256

static struct perf_unwind_rules *rules_of(struct unwind_table *table)
{
	return rcu_dereference_protected(table->base.rules, 1);
}

/* What is charged of a table of @max rules, and of the hash's links, which are as many. */
static size_t rules_memory(u32 max)
{
	return unwind_table_memory(struct_size_t(struct perf_unwind_rules, rule, max));
}

static size_t links_memory(u32 max)
{
	return unwind_table_memory(max * sizeof(u16));
}

/* Samples may read the table yet, and never the links. */
static void release(struct unwind_table *table, struct perf_unwind_rules *rules)
{
	kvfree(table->rule_next);
	table->rule_next = NULL;
	unwind_table_uncharge(table, links_memory(rules->max));
	unwind_table_retire(table, &rules->retired, rules_memory(rules->max));
}

static u32 rule_hash(const struct perf_unwind_rule *rule)
{
	return jhash(rule, sizeof(*rule), 0) >> (32 - UNWIND_TABLE_RULE_HASH_BITS);
}

static void link_rule(struct unwind_table *table, const struct perf_unwind_rule *rule, u16 index)
{
	u16 *first = &table->rule_hash[rule_hash(rule)];

	table->rule_next[index] = *first;
	*first = index;
}

/* Room for twice as many; samples go on with the old table until a new one. */
static int grow(struct unwind_table *table)
{
	struct perf_unwind_rules *old = rules_of(table), *new;
	u32 max = old ? min_t(u32, old->max * 2, UNWIND_TABLE_MAX_RULES + 1) : FIRST_RULES;
	u16 *next;
	int err;

	if (old && old->max == max)
		return -ENOSPC;
	err = unwind_table_charge(table, rules_memory(max) + links_memory(max));
	if (err)
		return err;
	new = unwind_table_alloc(struct_size(new, rule, max), GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	next = unwind_table_alloc(max * sizeof(*next), GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!new || !next) {
		kvfree(new);
		kvfree(next);
		unwind_table_uncharge(table, rules_memory(max) + links_memory(max));
		return -ENOMEM;
	}
	new->max = max;
	if (old) {
		new->nr = old->nr;
		memcpy(new->rule, old->rule, old->nr * sizeof(*old->rule));
		memcpy(next, table->rule_next, old->nr * sizeof(*next));
	}
	rcu_assign_pointer(table->base.rules, new);
	if (old)
		release(table, old);
	table->rule_next = next;
	return 0;
}

static int add_rule(struct unwind_table *table, const struct perf_unwind_rule *rule, u16 *index)
{
	struct perf_unwind_rules *rules = rules_of(table);
	u16 i;
	int err;

	for (i = table->rule_hash[rule_hash(rule)]; i; i = table->rule_next[i]) {
		if (!memcmp(&rules->rule[i], rule, sizeof(*rule))) {
			*index = i;
			return 0;
		}
	}
	if (rules->nr == rules->max) {
		err = grow(table);
		if (err)
			return err;
		rules = rules_of(table);
	}
	*index = rules->nr;
	rules->rule[*index] = *rule;
	link_rule(table, rule, *index);
	/* A sample must not find a rule that is not there yet. */
	smp_store_release(&rules->nr, rules->nr + 1);
	table->stats.rules = rules->nr;
	return 0;
}

/**
 * unwind_table_rules_add - have some rules in a table
 * @table: locked
 * @rules: checked
 * @nr: of them
 * @index: out: where each is
 *
 * Rule 0 is PERF_UNWIND_UNKNOWN, whatever its other members say.
 *
 * Return: 0, -ENOSPC, -EFBIG, -EDQUOT or -ENOMEM.
 */
int unwind_table_rules_add(struct unwind_table *table, const struct perf_unwind_rule *rules, u32 nr,
			   u16 *index)
{
	u32 i;
	int err;

	for (i = 0; i < nr; i++) {
		index[i] = 0;
		if (rules[i].kind == PERF_UNWIND_UNKNOWN)
			continue;
		err = add_rule(table, &rules[i], &index[i]);
		if (err)
			return err;
	}
	return 0;
}

int unwind_table_rules_init(struct unwind_table *table)
{
	int err = grow(table);

	if (err)
		return err;
	rules_of(table)->nr = 1;
	table->stats.rules = 1;
	return 0;
}

void unwind_table_rules_exit(struct unwind_table *table)
{
	struct perf_unwind_rules *rules = rules_of(table);

	if (!rules)
		return;
	rcu_assign_pointer(table->base.rules, NULL);
	release(table, rules);
}

/* When no object has rows any more. */
void unwind_table_rules_unload(struct unwind_table *table)
{
	struct perf_unwind_rules *rules = rules_of(table);

	memset(table->rule_hash, 0, sizeof(table->rule_hash));
	WRITE_ONCE(rules->nr, 1);
	table->stats.rules = 1;
}
