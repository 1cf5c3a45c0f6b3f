// SPDX-License-Identifier: GPL-2.0
/*
 * What all steps of an unwind need: the row for an address, and the task's stack.
 */
#include "../rules/rows.h"
#include "copied-text.h"
#include "walk.h"

/* Bytes that a leaf may use below its stack pointer: psABI x86-64 3.2.2. */
#define RED_ZONE	128

int hybrid_walk_read(struct hybrid_walk *w, u64 addr, unsigned int size, u64 *value)
{
	const struct hybrid_unwind *u = w->u;
	u64 below = u->dump_start - addr;

	if (!hybrid_unwind_read(u, addr, size, value))
		return 0;
	if (u->abi->word != 8 || below < size || below > RED_ZONE)
		return -1;
	w->below = true;
	return hybrid_memory_read(w->unwinder->memory, u->space, u->pid, addr, size, value);
}

enum hybrid_stop hybrid_walk_unreadable(struct hybrid_unwind *u, u64 addr)
{
	u->missing = addr;
	return addr >= u->dump_start || u->sp < u->dump_start ?
		HYBRID_STOP_DUMP_END : HYBRID_STOP_BAD_FRAME;
}

static struct hybrid_row *find_row(struct hybrid_space *space, u64 ip,
				   const struct hybrid_mapping **mapping)
{
	struct hybrid_row *row;

	if (!(*mapping)->object)
		return NULL;
	row = hybrid_object_row(*mapping, ip);
	if (row || (*mapping)->object->is_settled || !(*mapping)->object->is_old)
		return row;
	/* The file was found to be another one: it is identified anew. */
	*mapping = hybrid_space_find(space, ip);
	return hybrid_object_row(*mapping, ip);
}

struct hybrid_row *hybrid_unwind_row(struct hybrid_unwinder *unwinder,
				     struct hybrid_space *space, u64 ip,
				     bool *mapped, struct hybrid_object **object)
{
	struct hybrid_cache_entry *entry;
	const struct hybrid_mapping *mapping;

	entry = hybrid_cache_at(unwinder, space->gen, ip);
	if (entry->ip == ip && entry->gen == space->gen &&
	    (!entry->object || entry->object->is_settled)) {
		*mapped = true;
		*object = entry->object;
		return entry->row;
	}
	mapping = hybrid_space_find(space, ip);
	if (!mapping && unwinder->add_mapping) {
		unwinder->add_mapping(space, ip, unwinder->add_mapping_arg);
		mapping = hybrid_space_find(space, ip);
	}
	*mapped = mapping;
	*object = NULL;
	if (!mapping)
		return NULL;
	if (!mapping->object && hybrid_copied_text(unwinder->memory, space, mapping, ip)) {
		unwinder->copied = true;
		mapping = hybrid_space_find(space, ip);
	}
	entry->row = find_row(space, ip, &mapping);
	*object = mapping->object;
	entry->ip = ip;
	entry->gen = space->gen;
	entry->is_caller = false;
	entry->is_known_first = false;
	entry->is_known_caller = false;
	entry->is_known_last = false;
	entry->called_by = 0;
	entry->object = mapping->object;
	/* It is to be asked for once more. */
	if (!entry->row && hybrid_object_waits(mapping->object))
		entry->gen = 0;
	return entry->row;
}

struct hybrid_row *hybrid_walk_row(const struct hybrid_walk *w, u64 ip, bool *mapped,
				   struct hybrid_object **object,
				   struct hybrid_cfi **made)
{
	const struct hybrid_unwind *u = w->u;
	struct hybrid_row *row = hybrid_unwind_row(w->unwinder, u->space, ip, mapped, object);

	*made = NULL;
	if (row || !*mapped || *object)
		return row;
	return hybrid_jit_row(w->unwinder->jit, u->space, u->pid, u->abi, ip, made);
}
