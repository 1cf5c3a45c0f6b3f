// SPDX-License-Identifier: GPL-2.0
/*
 * Which native frames run functions of a language: those of its interpreter's evaluator.
 */
#include "../rules/function.h"
#include "../rules/rows.h"
#include "evaluator.h"

/* It has 57 KiB in CPython 3.13. */
#define MAX_SIZE	0x100000U

static bool has_code_at(const struct hybrid_evaluator *evaluator, u64 vaddr)
{
	unsigned int i;

	for (i = 0; i < evaluator->nr; i++) {
		if (vaddr >= evaluator->parts[i].start && vaddr < evaluator->parts[i].end)
			return true;
	}
	return false;
}

static void add_jumped_to(struct hybrid_evaluator *evaluator,
			  const struct hybrid_mapping *mapping, u64 vaddr)
{
	const struct hybrid_fde *fde;

	if (has_code_at(evaluator, vaddr))
		return;
	fde = hybrid_function_fde(mapping, vaddr);
	if (fde && fde->start != vaddr && evaluator->nr < HYBRID_EVALUATOR_PARTS)
		evaluator->parts[evaluator->nr++] = *fde;
}

void hybrid_evaluator__find(struct hybrid_evaluator *evaluator,
			    const struct hybrid_mapping *mapping, u64 vaddr)
{
	const struct hybrid_object *object = mapping->object;
	const struct hybrid_fde *fde;
	struct hybrid_code code;
	u64 at, next, target;

	evaluator->object_id = object->id;
	evaluator->nr = 0;
	fde = vaddr ? hybrid_function_fde(mapping, vaddr) : NULL;
	if (!fde || fde->end - fde->start > MAX_SIZE)
		return;
	evaluator->parts[evaluator->nr++] = *fde;
	code = hybrid_object_code(object);
	for (at = fde->start; at < fde->end; at = next) {
		target = object->cfi.abi->arch->jump(&code, at, &next);
		if (!next)
			return;
		if (target)
			add_jumped_to(evaluator, mapping, target);
	}
}

/* The mapping of an address, if that is in the evaluator's file; NULL: it is not. */
static const struct hybrid_mapping *find_vaddr(const struct hybrid_evaluator *evaluator,
					       struct hybrid_space *space, u64 ip, u64 *vaddr)
{
	const struct hybrid_mapping *mapping = hybrid_space_find(space, ip);

	return mapping && mapping->object && mapping->object->id == evaluator->object_id &&
	       hybrid_object_vaddr(mapping->object, ip - mapping->start + mapping->pgoff, vaddr) ?
	       mapping : NULL;
}

unsigned int hybrid_evaluator__of(const struct hybrid_evaluator *evaluator,
				  struct hybrid_space *space, u64 ip)
{
	const struct hybrid_evaluator *restart = evaluator->restart;
	unsigned int of = 0;
	u64 vaddr;

	if (ip >= evaluator->made_start && ip < evaluator->made_end)
		return HYBRID_EVALUATOR_OWN |
		       (evaluator->made_restarts ? HYBRID_EVALUATOR_RESTART : 0);
	if (!find_vaddr(evaluator, space, ip, &vaddr))
		return 0;
	if (has_code_at(evaluator, vaddr))
		of |= HYBRID_EVALUATOR_OWN;
	if (restart && has_code_at(restart, vaddr))
		of |= HYBRID_EVALUATOR_RESTART;
	return of;
}

bool hybrid_evaluator__has_ended(const struct hybrid_evaluator *evaluator,
				 struct hybrid_space *space, u64 ip)
{
	const struct hybrid_mapping *mapping;
	struct hybrid_code code;
	u64 vaddr;

	mapping = find_vaddr(evaluator, space, ip, &vaddr);
	if (!mapping || !hybrid_object_use_unawaited(mapping))
		return false;
	code = hybrid_object_code(mapping->object);
	return mapping->object->cfi.abi->arch->returns(&code, vaddr + 1);
}
