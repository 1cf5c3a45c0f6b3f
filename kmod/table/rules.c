// SPDX-License-Identifier: GPL-2.0
/*
 * The rules of a table.  Programs have a few hundred different rules, so all objects
 * share them.  A rule is never removed while a row may refer to it.
 */
#include <linux/jhash.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "table.h"

#define FIRST_RULES	256
/*
 * Most rules with the same hash that are compared.  A full table has 64 on average.  The hash
 * needs no secret: who makes many rules with the same hash only fills his own table with
 * copies of them.
 */
#define MAX_RULE_PROBES	256

static struct perf_unwind_rules *rules_of(struct unwind_table *table)
{
	return rcu_dereference_protected(table->base.rules, lockdep_is_held(&table->lock));
}

/* Memory of an array of @max rules; the array of hash links has the same length. */
static size_t rules_memory(u32 max)
{
	return unwind_table_memory(struct_size_t(struct perf_unwind_rules, rule, max));
}

static size_t links_memory(u32 max)
{
	return unwind_table_memory(max * sizeof(u16));
}

/* Samples may still read the rules; they never read the hash links. */
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

/* Doubles the array of rules; samples use the old array until the new one is published. */
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

/* Returns the index of a rule in the table; 0 if it is not there, or among too many others. */
static u16 find_rule(struct unwind_table *table, const struct perf_unwind_rule *rule)
{
	const struct perf_unwind_rules *rules = rules_of(table);
	unsigned int probes = MAX_RULE_PROBES;
	u16 i;

	for (i = table->rule_hash[rule_hash(rule)]; i && probes; i = table->rule_next[i]) {
		if (!memcmp(&rules->rule[i], rule, sizeof(*rule)))
			return i;
		probes--;
	}
	return 0;
}

static int add_rule(struct unwind_table *table, const struct perf_unwind_rule *rule, u16 *index)
{
	struct perf_unwind_rules *rules = rules_of(table);
	int err;

	*index = find_rule(table, rule);
	if (*index)
		return 0;
	if (rules->nr == rules->max) {
		err = grow(table);
		if (err)
			return err;
		rules = rules_of(table);
	}
	*index = rules->nr;
	rules->rule[*index] = *rule;
	link_rule(table, rule, *index);
	/* A sample must not find a rule before it is written. */
	smp_store_release(&rules->nr, rules->nr + 1);
	table->stats.rules = rules->nr;
	return 0;
}

/**
 * unwind_table_rules_add - add rules that a table does not have yet
 * @table: locked
 * @rules: valid rules
 * @nr: number of rules
 * @index: out: index of each rule in the table
 *
 * All rules of the kind PERF_UNWIND_UNKNOWN are rule 0, whatever their other members are.
 *
 * Return: 0, -ENOSPC, -EFBIG, -EDQUOT or -ENOMEM.
 */
int unwind_table_rules_add(struct unwind_table *table, const struct perf_unwind_rule *rules,
			   u32 nr, u16 *index)
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

/* Removes all rules.  No object has rows, and no sample reads any. */
void unwind_table_rules_unload(struct unwind_table *table)
{
	struct perf_unwind_rules *rules = rules_of(table);

	memset(table->rule_hash, 0, sizeof(table->rule_hash));
	WRITE_ONCE(rules->nr, 1);
	table->stats.rules = 1;
}
