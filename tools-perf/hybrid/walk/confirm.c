// SPDX-License-Identifier: GPL-2.0
#include <linux/hash.h>
#include "../rules/rows.h"
#include "confirm.h"

/* What the code of files says does not change: one look serves all samples. */
static enum hybrid_leads cached(struct hybrid_unwinder *unwinder, const struct hybrid_space *space,
				const struct hybrid_mapping *mapping, u64 ret, u64 callee)
{
	struct hybrid_confirmed *entry;

	entry = &unwinder->confirmed[hash_64(ret * 3 + callee + space->gen, HYBRID_CONFIRMED_BITS)];
	if (entry->ret != ret || entry->callee != callee || entry->gen != space->gen) {
		entry->ret = ret;
		entry->callee = callee;
		entry->gen = space->gen;
		entry->leads = hybrid_object_leads(mapping, ret, hybrid_space_find(space, callee),
						   callee);
	}
	/* It is to be asked for once more. */
	if (hybrid_object_waits(mapping->object))
		entry->gen = 0;
	return entry->leads;
}

static enum hybrid_leads ask_process(const struct hybrid_unwinder *unwinder,
				     const struct hybrid_space *space, pid_t pid,
				     const struct hybrid_abi *abi, u64 ret)
{
	if (!unwinder->memory)
		return HYBRID_LEADS_MAYBE;
	return hybrid_memory_is_return(unwinder->memory, space, pid, abi, ret) ?
		HYBRID_LEADS_INDIRECT : HYBRID_LEADS_NOT;
}

enum hybrid_leads hybrid_confirm(struct hybrid_unwinder *unwinder, struct hybrid_space *space,
				 pid_t pid, const struct hybrid_abi *abi, u64 ret, u64 callee)
{
	const struct hybrid_mapping *mapping;
	struct hybrid_object *object;
	struct hybrid_row *row;
	bool mapped;

	/* The call may be the mapping's last instruction. */
	row = hybrid_unwind_row(unwinder, space, ret - 1, &mapped, &object);
	if (!mapped)
		return HYBRID_LEADS_NOT;
	if (row && row->rule.signal)
		return HYBRID_LEADS_THERE;
	mapping = hybrid_space_find(space, ret - 1);
	if (!mapping)
		return HYBRID_LEADS_NOT;
	if (!mapping->object)
		return ask_process(unwinder, space, pid, abi, ret);
	return cached(unwinder, space, mapping, ret, callee);
}
