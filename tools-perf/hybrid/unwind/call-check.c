// SPDX-License-Identifier: GPL-2.0
#include "../rules/function.h"
#include "../rules/rows.h"
#include "call-check.h"

static enum hybrid_reach ask_process(const struct hybrid_unwinder *unwinder,
				     struct hybrid_space *space, pid_t pid,
				     const struct hybrid_abi *abi, u64 ret)
{
	if (!unwinder->memory)
		return HYBRID_REACH_MAYBE;
	return hybrid_memory_is_return(unwinder->memory, space, pid, abi, ret) ?
		HYBRID_REACH_INDIRECT : HYBRID_REACH_NOT;
}

enum hybrid_reach hybrid_check_call(struct hybrid_unwinder *unwinder, struct hybrid_space *space,
				    pid_t pid, const struct hybrid_abi *abi, u64 ret, u64 callee)
{
	const struct hybrid_mapping *mapping;
	struct hybrid_object *object;
	struct hybrid_row *row;
	bool mapped;

	/* The call may be the mapping's last instruction. */
	row = hybrid_unwind_row(unwinder, space, ret - 1, &mapped, &object);
	if (!mapped)
		return HYBRID_REACH_NOT;
	if (row && row->rule.signal)
		return HYBRID_REACH_THERE;
	mapping = hybrid_space_find(space, ret - 1);
	if (!mapping)
		return HYBRID_REACH_NOT;
	if (!mapping->object)
		return ask_process(unwinder, space, pid, abi, ret);
	if (hybrid_space_is_entry(space, mapping, ret))
		return HYBRID_REACH_INDIRECT;
	return hybrid_object_leads(mapping, ret, hybrid_space_find(space, callee), callee);
}

bool hybrid_is_after_call(const struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u,
			  const struct hybrid_mapping *mapping, u64 ret)
{
	if (mapping && !mapping->object)
		return hybrid_memory_is_return(unwinder->memory, u->space, u->pid, u->abi, ret);
	return mapping && (hybrid_space_is_entry(u->space, mapping, ret) ||
			   hybrid_object_is_return(mapping, ret));
}

u64 hybrid_function_of(const struct hybrid_unwind *u, u64 ip)
{
	const struct hybrid_mapping *mapping = hybrid_space_find(u->space, ip);

	return mapping ? hybrid_function_start(mapping, ip) : 0;
}

enum hybrid_reach hybrid_leads_to(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u,
				  u64 ret, u64 callee, enum hybrid_reach enough)
{
	u64 start = hybrid_function_of(u, callee);
	enum hybrid_reach leads = HYBRID_REACH_NOT;

	if (start)
		leads = hybrid_check_call(unwinder, u->space, u->pid, u->abi, ret, start);
	if (leads >= enough)
		return leads;
	return hybrid_check_call(unwinder, u->space, u->pid, u->abi, ret, callee);
}
