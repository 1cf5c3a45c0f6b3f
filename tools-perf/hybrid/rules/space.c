// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "identify.h"
#include "space.h"

static u64 last_gen;

static void changed(struct hybrid_space *space)
{
	space->gen = ++last_gen;
}

struct hybrid_space *hybrid_space_new(void)
{
	struct hybrid_space *space = calloc(1, sizeof(*space));

	if (!space)
		return NULL;
	space->refs = 1;
	changed(space);
	return space;
}

static void get_object(const struct hybrid_mapping *mapping)
{
	if (mapping->object)
		mapping->object->refs++;
	if (mapping->record && mapping->record != mapping->object)
		mapping->record->refs++;
}

static void put_object(const struct hybrid_mapping *mapping)
{
	if (mapping->object)
		hybrid_object_put(mapping->object);
	if (mapping->record && mapping->record != mapping->object)
		hybrid_object_put(mapping->record);
}

struct hybrid_space *hybrid_space_copy(const struct hybrid_space *space)
{
	struct hybrid_space *copy = hybrid_space_new();
	size_t i;

	if (!copy)
		return NULL;
	copy->entries_id = space->entries_id;
	copy->entries = space->entries;
	copy->entries_end = space->entries_end;
	if (!space->nr)
		return copy;
	copy->mappings = malloc(space->nr * sizeof(*copy->mappings));
	if (!copy->mappings) {
		free(copy);
		return NULL;
	}
	memcpy(copy->mappings, space->mappings, space->nr * sizeof(*copy->mappings));
	copy->nr = space->nr;
	copy->alloc = space->nr;
	for (i = 0; i < copy->nr; i++)
		get_object(&copy->mappings[i]);
	return copy;
}

void hybrid_space_clear(struct hybrid_space *space)
{
	size_t i;

	for (i = 0; i < space->nr; i++)
		put_object(&space->mappings[i]);
	space->nr = 0;
	space->entries_id = 0;
	changed(space);
}

bool hybrid_space_is_entry(const struct hybrid_space *space, const struct hybrid_mapping *mapping,
			   u64 ret)
{
	u64 offset = ret - mapping->start + mapping->pgoff;

	return mapping->object && space->entries_id && mapping->object->id == space->entries_id &&
	       offset >= space->entries && offset < space->entries_end &&
	       !(offset % HYBRID_ENTRY_ALIGN);
}

bool hybrid_space_is_framed(const struct hybrid_space *space, const struct hybrid_mapping *mapping,
			    u64 ip)
{
	u64 offset = ip - mapping->start + mapping->pgoff;

	if (!space->entries_id || !mapping->object)
		return space->entries_id;
	return mapping->object->id == space->entries_id && offset >= space->entries &&
	       offset < space->entries_end;
}

void hybrid_space_put(struct hybrid_space *space)
{
	if (!space || --space->refs)
		return;
	hybrid_space_clear(space);
	free(space->mappings);
	free(space);
}

/* Index of the first mapping that ends behind @addr. */
static size_t first_behind(const struct hybrid_space *space, u64 addr)
{
	size_t low = 0, high = space->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (space->mappings[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Room for two more: a new mapping, and the tail of one that it splits. */
static int reserve(struct hybrid_space *space)
{
	struct hybrid_mapping *mappings;
	size_t alloc = space->alloc * 2 + 8;

	if (space->nr + 2 <= space->alloc)
		return 0;
	mappings = realloc(space->mappings, alloc * sizeof(*mappings));
	if (!mappings)
		return -ENOMEM;
	space->mappings = mappings;
	space->alloc = alloc;
	return 0;
}

static void insert_at(struct hybrid_space *space, size_t i, const struct hybrid_mapping *new)
{
	memmove(&space->mappings[i + 1], &space->mappings[i],
		(space->nr - i) * sizeof(*new));
	space->mappings[i] = *new;
	space->nr++;
	get_object(new);
}

static void remove_at(struct hybrid_space *space, size_t i)
{
	put_object(&space->mappings[i]);
	space->nr--;
	memmove(&space->mappings[i], &space->mappings[i + 1],
		(space->nr - i) * sizeof(space->mappings[i]));
}

static void cut_front(struct hybrid_mapping *mapping, u64 start)
{
	mapping->pgoff += start - mapping->start;
	mapping->start = start;
}

/* Makes [start, end) free; returns where in the table it now is. */
static size_t cut(struct hybrid_space *space, u64 start, u64 end)
{
	size_t i = first_behind(space, start);
	struct hybrid_mapping *first = &space->mappings[i];

	if (i < space->nr && first->start < start) {
		if (first->end > end) {
			struct hybrid_mapping tail = *first;

			cut_front(&tail, end);
			insert_at(space, i + 1, &tail);
		}
		space->mappings[i].end = start;
		i++;
	}
	while (i < space->nr && space->mappings[i].end <= end)
		remove_at(space, i);
	if (i < space->nr && space->mappings[i].start < end)
		cut_front(&space->mappings[i], end);
	return i;
}

int hybrid_space_map(struct hybrid_space *space, const struct hybrid_mapping *new, bool exec)
{
	size_t i;

	if (new->start >= new->end)
		return 0;
	if (reserve(space))
		return -ENOMEM;
	i = cut(space, new->start, new->end);
	changed(space);
	if (!exec)
		return 0;
	insert_at(space, i, new);
	space->mappings[i].since = space->gen;
	return 0;
}

bool hybrid_mapping_replaces(const struct hybrid_mapping *mapping,
			     const struct hybrid_mapping *old)
{
	u64 size = mapping->end - mapping->start, before = old->pgoff - mapping->pgoff;

	return mapping->object == old->object && mapping->since > old->since &&
	       mapping->pgoff <= old->pgoff && before <= size &&
	       old->end - old->start <= size - before;
}

static bool may_be_used(const struct hybrid_mapping *mapping)
{
	return !mapping->object || (mapping->record && mapping->object->is_settled);
}

struct hybrid_mapping *hybrid_space_at(const struct hybrid_space *space, u64 ip)
{
	size_t i = first_behind(space, ip);

	return i == space->nr || space->mappings[i].start > ip ? NULL : &space->mappings[i];
}

const struct hybrid_mapping *hybrid_space_find(struct hybrid_space *space, u64 ip)
{
	struct hybrid_mapping *mapping = hybrid_space_at(space, ip);

	/* What caches have of the mapping's object is of no more use. */
	if (mapping && !may_be_used(mapping) && hybrid_identify(mapping))
		changed(space);
	return mapping;
}

const struct hybrid_mapping *hybrid_space_beside(struct hybrid_space *space,
						 const struct hybrid_mapping *mapping,
						 bool behind)
{
	const struct hybrid_mapping *other;
	size_t i = mapping - space->mappings;

	if (behind ? i + 1 == space->nr : !i)
		return NULL;
	other = &space->mappings[behind ? i + 1 : i - 1];
	if (!other->object || (behind ? other->start != mapping->end :
					other->end != mapping->start))
		return NULL;
	return hybrid_space_find(space, other->start);
}

void hybrid_space_set_copy(struct hybrid_space *space, u64 start, struct hybrid_object *object,
			   struct hybrid_object *record, u64 pgoff)
{
	struct hybrid_mapping *mapping = &space->mappings[first_behind(space, start)];

	mapping->object = object;
	mapping->record = record;
	mapping->pgoff = pgoff;
	mapping->file = object->file;
	mapping->number = 0;
	mapping->is_copy = true;
	mapping->is_met = false;
	get_object(mapping);
	changed(space);
}

void hybrid_space_set_asked(struct hybrid_space *space, u64 ip)
{
	space->mappings[first_behind(space, ip)].is_asked = true;
}

bool hybrid_mapping_bias(const struct hybrid_mapping *mapping, u64 *bias)
{
	u64 end = mapping->pgoff + mapping->end - mapping->start;
	size_t i;

	for (i = 0; i < mapping->object->nr_segments; i++) {
		const struct hybrid_segment *seg = &mapping->object->segments[i];

		if (seg->offset < end && mapping->pgoff < seg->offset + seg->size) {
			*bias = mapping->start - mapping->pgoff + seg->offset - seg->vaddr;
			return true;
		}
	}
	return false;
}
