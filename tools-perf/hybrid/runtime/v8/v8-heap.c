// SPDX-License-Identifier: GPL-2.0
#include "v8-heap.h"

u64 v8_word(const struct v8_heap *heap, u64 addr)
{
	u64 word;

	return hybrid_process_memory_read(heap->pm, addr, &word, sizeof(word)) ? 0 : word;
}

u32 v8_u32(const struct v8_heap *heap, u64 addr)
{
	u32 word;

	return hybrid_process_memory_read(heap->pm, addr, &word, sizeof(word)) ? 0 : word;
}

u64 v8_object(const struct v8_heap *heap, u64 word, u16 *type)
{
	u64 map;

	if ((word & V8_TAG_MASK) != V8_TAG)
		return 0;
	word -= V8_TAG;
	/* src/objects/heap-object.h: each object begins with its map. */
	map = v8_word(heap, word);
	if ((map & V8_TAG_MASK) != V8_TAG ||
	    hybrid_process_memory_read(heap->pm, map - V8_TAG + heap->layout->map_instance_type,
				       type, sizeof(*type)))
		return 0;
	return word;
}

/* src/heap/factory.cc: the map of a map has itself as its map. No other object's map has. */
bool v8_is_map(const struct v8_heap *heap, u64 word)
{
	u64 map;

	if ((word & V8_TAG_MASK) != V8_TAG)
		return false;
	map = v8_word(heap, word - V8_TAG);
	return (map & V8_TAG_MASK) == V8_TAG && v8_word(heap, map - V8_TAG) == map;
}
