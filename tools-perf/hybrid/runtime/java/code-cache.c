// SPDX-License-Identifier: GPL-2.0
/*
 * Which blob of HotSpot's code cache an address is in, and what frames its code has:
 * src/hotspot/share/memory/heap.hpp, src/hotspot/share/code/codeBlob.hpp.
 */
#include <string.h>
#include <linux/kernel.h>
#include "code-cache.h"

#define MAX_HEADER	512
#define MAX_BLOCK	64
#define MAX_HEAP	1024
#define MAX_FRAME	0x100000
#define MAX_BLOB	(64U << 20)

/* A segment that is free: CodeHeap::free_sentinel. */
#define FREE_SEGMENT	0xff

/* A blob of 64 MiB has fewer steps of 254 segments of 64 bytes. */
#define MAX_HOPS	4200

enum field {
	BLOB_NAME,
	BLOB_SIZE,
	BLOB_FRAME_COMPLETE,
	BLOB_FRAME_SIZE,
	BLOB_DATA_OFFSET,
	BLOB_CODE_BEGIN,	/* until JDK 22 */
	BLOB_CODE_OFFSET,	/* since JDK 23 */
	NMETHOD_METHOD,
	NMETHOD_COMPILE_ID,
	NMETHOD_OSR_ENTRY,
	NMETHOD_ENTRY_BCI,
	HEAP_MEMORY,
	HEAP_SEGMAP,
	HEAP_SEGMENT_BITS,
	SPACE_LOW,
	SPACE_HIGH,
	SPACE_RESERVED,
	BLOCK_USED,
	ARRAY_LEN,
	ARRAY_DATA,
};

static const struct {
	const char	*type;
	const char	*name;
	bool		 may_lack;
} names[] = {
	[BLOB_NAME]		= { "CodeBlob", "_name" },
	[BLOB_SIZE]		= { "CodeBlob", "_size" },
	[BLOB_FRAME_COMPLETE]	= { "CodeBlob", "_frame_complete_offset" },
	[BLOB_FRAME_SIZE]	= { "CodeBlob", "_frame_size" },
	[BLOB_DATA_OFFSET]	= { "CodeBlob", "_data_offset" },
	[BLOB_CODE_BEGIN]	= { "CodeBlob", "_code_begin", true },
	[BLOB_CODE_OFFSET]	= { "CodeBlob", "_code_offset", true },
	[NMETHOD_METHOD]	= { "nmethod", "_method", true },
	[NMETHOD_COMPILE_ID]	= { "nmethod", "_compile_id" },
	[NMETHOD_OSR_ENTRY]	= { "nmethod", "_osr_entry_point" },
	[NMETHOD_ENTRY_BCI]	= { "nmethod", "_entry_bci" },
	[HEAP_MEMORY]		= { "CodeHeap", "_memory" },
	[HEAP_SEGMAP]		= { "CodeHeap", "_segmap" },
	[HEAP_SEGMENT_BITS]	= { "CodeHeap", "_log2_segment_size" },
	[SPACE_LOW]		= { "VirtualSpace", "_low" },
	[SPACE_HIGH]		= { "VirtualSpace", "_high" },
	[SPACE_RESERVED]	= { "VirtualSpace", "_high_boundary", true },
	[BLOCK_USED]		= { "HeapBlock::Header", "_used" },
	[ARRAY_LEN]		= { "GrowableArrayBase", "_len" },
	[ARRAY_DATA]		= { "GrowableArray<int>", "_data" },
};

int java_code_cache__init(struct java_code_cache *cache, struct java_vm *vm)
{
	struct java_field *fields = cache->fields;
	unsigned int i, end = 0, space;
	u64 block;

	BUILD_BUG_ON(ARRAY_SIZE(names) > ARRAY_SIZE(cache->fields));
	memset(cache, 0, sizeof(*cache));
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!java_vm__field(vm, names[i].type, names[i].name, &fields[i]) &&
		    !names[i].may_lack)
			return -1;
		if (i <= NMETHOD_ENTRY_BCI)
			end = max(end, (u32)fields[i].offset + fields[i].size);
	}
	/* In JDK 22 and before it is in what nmethod is made of. */
	if (!fields[NMETHOD_METHOD].size &&
	    !java_vm__field(vm, "CompiledMethod", "_method", &fields[NMETHOD_METHOD]))
		return -1;
	if (!fields[BLOB_CODE_BEGIN].size && !fields[BLOB_CODE_OFFSET].size)
		return -1;
	if (!java_vm__type_size(vm, "HeapBlock", &block) || block > MAX_BLOCK ||
	    fields[BLOCK_USED].offset + fields[BLOCK_USED].size > block)
		return -1;
	space = max_t(u32, fields[SPACE_HIGH].offset, fields[SPACE_RESERVED].offset);
	space = max_t(u32, fields[SPACE_LOW].offset, space);
	cache->heap_size = max_t(u32, fields[HEAP_MEMORY].offset, fields[HEAP_SEGMAP].offset) +
			   space + 8;
	cache->heap_size = max(cache->heap_size, (u32)fields[HEAP_SEGMENT_BITS].offset + 8);
	if (cache->heap_size > MAX_HEAP)
		return -1;
	cache->block_size = block;
	cache->header_size = max(end, (u32)fields[NMETHOD_METHOD].offset + 8);
	return cache->header_size <= MAX_HEADER ? 0 : -1;
}

/* Reads a field of what is at @addr. */
static bool read_field(const struct java_code_cache *cache, struct java_vm *vm, u64 addr,
		       enum field field, s64 *value)
{
	struct java_field at = cache->fields[field];
	u8 bytes[8];

	if (!at.size || java_vm__read(vm, addr + at.offset, bytes, at.size))
		return false;
	at.offset = 0;
	return java_field_value(&at, bytes, sizeof(bytes), value);
}

/* A field of what is at @at in the heap. */
static bool heap_field(const struct java_code_cache *cache, const u8 *heap, u32 at,
		       enum field field, s64 *value)
{
	struct java_field of = cache->fields[field];

	of.offset += at;
	return java_field_value(&of, heap, cache->heap_size, value);
}

/*
 * The end of a heap, or of its segment map. HotSpot reserves the address space of a heap when it
 * starts, and makes memory of it in steps of 64 KiB. What is reserved counts: a walker that knows
 * the heap needs not be told of each step. Memory that is not there can't be read, and is zero when
 * it comes: no block is in use.
 */
static bool heap_end(const struct java_code_cache *cache, const u8 *heap, u32 at, s64 *end)
{
	s64 reserved;

	if (!heap_field(cache, heap, at, SPACE_HIGH, end))
		return false;
	if (heap_field(cache, heap, at, SPACE_RESERVED, &reserved) && (u64)reserved > (u64)*end)
		*end = reserved;
	return true;
}

static bool read_heap(const struct java_code_cache *cache, struct java_vm *vm, u64 addr,
		      struct java_heap *heap)
{
	u32 memory = cache->fields[HEAP_MEMORY].offset;
	u32 segmap = cache->fields[HEAP_SEGMAP].offset;
	s64 low, high, map, map_end, bits;
	u8 bytes[MAX_HEAP];

	if (java_vm__read(vm, addr, bytes, cache->heap_size) ||
	    !heap_field(cache, bytes, memory, SPACE_LOW, &low) ||
	    !heap_end(cache, bytes, memory, &high) ||
	    !heap_field(cache, bytes, segmap, SPACE_LOW, &map) ||
	    !heap_end(cache, bytes, segmap, &map_end) ||
	    !heap_field(cache, bytes, 0, HEAP_SEGMENT_BITS, &bits) ||
	    (u64)low >= (u64)high || (u64)map >= (u64)map_end || bits < 4 || bits > 16)
		return false;
	*heap = (struct java_heap) {
		.low = low, .high = high, .segmap = map, .segmap_size = map_end - map,
		.segment_bits = bits,
	};
	return true;
}

int java_code_cache__refresh(struct java_code_cache *cache, struct java_vm *vm)
{
	u64 heaps[JAVA_MAX_HEAPS], address, array;
	struct java_heap found[JAVA_MAX_HEAPS];
	unsigned int i, nr_found = 0;
	s64 nr, data;

	if (!java_vm__static(vm, "CodeCache", "_heaps", &address) ||
	    java_vm__read(vm, address, &array, sizeof(array)) ||
	    !read_field(cache, vm, array, ARRAY_LEN, &nr) ||
	    !read_field(cache, vm, array, ARRAY_DATA, &data) || nr <= 0 ||
	    java_vm__read(vm, data, heaps, min_t(u64, nr, JAVA_MAX_HEAPS) * sizeof(*heaps)))
		return -1;
	for (i = 0; i < nr && i < JAVA_MAX_HEAPS; i++) {
		if (read_heap(cache, vm, heaps[i], &found[nr_found]))
			nr_found++;
	}
	if (!nr_found)
		return -1;
	memcpy(cache->heaps, found, nr_found * sizeof(*found));
	cache->nr_heaps = nr_found;
	return 0;
}

/* The blob of the block that holds @pc; 0: none. */
static u64 find_block(const struct java_code_cache *cache, struct java_vm *vm,
		      const struct java_heap *heap, u64 pc)
{
	u64 segment = (pc - heap->low) >> heap->segment_bits, block;
	unsigned int i;
	s64 used;
	u8 back;

	for (i = 0; i < MAX_HOPS; i++) {
		if (segment >= heap->segmap_size ||
		    java_vm__read(vm, heap->segmap + segment, &back, sizeof(back)) ||
		    back == FREE_SEGMENT || back > segment)
			return 0;
		if (!back)
			break;
		segment -= back;
	}
	block = heap->low + (segment << heap->segment_bits);
	if (i == MAX_HOPS || !read_field(cache, vm, block, BLOCK_USED, &used) || !used)
		return 0;
	return block + cache->block_size;
}

static struct java_blob_name name_says(const char *name)
{
	static const struct {
		const char		*name;
		enum java_blob_kind	 kind;
		bool			 is_native;
	} kinds[] = {
		{ "nmethod", JAVA_BLOB_METHOD, false },
		{ "native nmethod", JAVA_BLOB_METHOD, true },
		{ "Interpreter", JAVA_BLOB_INTERPRETER, false },
		{ "vtable chunks", JAVA_BLOB_VTABLE, false },
		{ "I2C/C2I adapters", JAVA_BLOB_ADAPTER, false },
		{ "MethodHandles adapters", JAVA_BLOB_HANDLES, false },
	};
	struct java_blob_name says = { .kind = JAVA_BLOB_STUB };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(name, kinds[i].name))
			continue;
		says.kind = kinds[i].kind;
		says.is_native = kinds[i].is_native;
	}
	return says;
}

/* Names are constants: each is read once, or a few times if there are many. */
static bool set_kind(struct java_code_cache *cache, struct java_vm *vm, struct java_blob *blob)
{
	struct java_blob_name *named = cache->named;
	char name[HYBRID_PROCESS_STRING];
	unsigned int i;

	/* An entry of @named without a name is free. */
	if (!blob->name)
		return false;
	for (i = 0; i < JAVA_NAMED && named[i].addr != blob->name; i++)
		;
	if (i == JAVA_NAMED) {
		if (hybrid_process_memory_string(&vm->pm, blob->name, name))
			return false;
		i = cache->next_named++ % JAVA_NAMED;
		named[i] = name_says(name);
		named[i].addr = blob->name;
	}
	blob->kind = named[i].kind == JAVA_BLOB_STUB && !blob->frame_size ?
		     JAVA_BLOB_OTHER : named[i].kind;
	blob->is_native = named[i].is_native;
	return true;
}

static s64 value_of(const struct java_code_cache *cache, const u8 *header, enum field field)
{
	s64 value = 0;

	java_field_value(&cache->fields[field], header, cache->header_size, &value);
	return value;
}

/* The blob's own fields. Of those that nmethod adds only what a method has is used. */
bool java_code_cache__read(struct java_code_cache *cache, struct java_vm *vm, u64 addr,
			   struct java_blob *blob)
{
	u8 block[MAX_BLOCK + MAX_HEADER], *header = block + cache->block_size;
	u64 size, words;
	s64 used;

	if (java_vm__read(vm, addr - cache->block_size, block,
			  cache->block_size + cache->header_size) ||
	    !java_field_value(&cache->fields[BLOCK_USED], block, cache->block_size, &used) ||
	    !used)
		return false;
	size = value_of(cache, header, BLOB_SIZE);
	words = value_of(cache, header, BLOB_FRAME_SIZE);
	*blob = (struct java_blob) {
		.addr = addr,
		.name = value_of(cache, header, BLOB_NAME),
		.end = addr + value_of(cache, header, BLOB_DATA_OFFSET),
		.frame_complete = value_of(cache, header, BLOB_FRAME_COMPLETE),
		.frame_size = words < MAX_FRAME / sizeof(u64) ? words * sizeof(u64) : 0,
		.code = (u64)value_of(cache, header, BLOB_CODE_BEGIN) ?:
			addr + value_of(cache, header, BLOB_CODE_OFFSET),
		.hash_id = value_of(cache, header, NMETHOD_COMPILE_ID),
	};
	if (!set_kind(cache, vm, blob))
		return false;
	if (blob->kind == JAVA_BLOB_METHOD) {
		blob->method = value_of(cache, header, NMETHOD_METHOD);
		blob->compile_id = value_of(cache, header, NMETHOD_COMPILE_ID);
		/* InvocationEntryBci is -1. */
		if ((s32)value_of(cache, header, NMETHOD_ENTRY_BCI) != -1)
			blob->osr_entry = value_of(cache, header, NMETHOD_OSR_ENTRY);
	}
	return size <= MAX_BLOB && blob->code >= addr && blob->code <= blob->end &&
	       blob->end <= addr + size;
}

u64 java_code_cache__size(const struct java_code_cache *cache)
{
	u64 size = 0;
	unsigned int i;

	for (i = 0; i < cache->nr_heaps; i++)
		size += cache->heaps[i].high - cache->heaps[i].low;
	return size;
}

bool java_code_cache__has(const struct java_code_cache *cache, u64 pc)
{
	unsigned int i;

	for (i = 0; i < cache->nr_heaps; i++) {
		if (pc >= cache->heaps[i].low && pc < cache->heaps[i].high)
			return true;
	}
	return false;
}

u64 java_code_cache__blob_at(const struct java_code_cache *cache, struct java_vm *vm, u64 pc)
{
	unsigned int i;

	for (i = 0; i < cache->nr_heaps; i++) {
		const struct java_heap *heap = &cache->heaps[i];

		if (pc >= heap->low && pc < heap->high)
			return find_block(cache, vm, heap, pc);
	}
	return 0;
}

/* @header: bytes of a block before the blob. */
static struct hybrid_walk_field describe_field(const struct java_code_cache *cache,
					       enum field field, u64 header)
{
	struct java_field from = cache->fields[field];

	return (struct hybrid_walk_field) {
		.offset = header + from.offset, .size = from.size, .is_signed = from.is_signed,
	};
}

bool java_code_cache__describe(const struct java_code_cache *cache,
			       struct hybrid_walk_compiled *jvm)
{
	u64 header = cache->block_size;
	unsigned int i;

	memset(jvm, 0, sizeof(*jvm));
	if (header + cache->header_size > HYBRID_WALK_BLOB)
		return false;
	for (i = 0; i < min_t(u32, cache->nr_heaps, HYBRID_WALK_HEAPS); i++) {
		jvm->heaps[i] = (struct hybrid_walk_heap) {
			.low = cache->heaps[i].low,
			.size = cache->heaps[i].high - cache->heaps[i].low,
			.segmap = cache->heaps[i].segmap,
			.segment_bits = cache->heaps[i].segment_bits,
		};
	}
	jvm->header = header;
	jvm->size = header + cache->header_size;
	jvm->used = describe_field(cache, BLOCK_USED, 0);
	jvm->name = describe_field(cache, BLOB_NAME, header);
	jvm->frame_complete = describe_field(cache, BLOB_FRAME_COMPLETE, header);
	jvm->frame_size = describe_field(cache, BLOB_FRAME_SIZE, header);
	jvm->data_offset = describe_field(cache, BLOB_DATA_OFFSET, header);
	jvm->code_begin = describe_field(cache, BLOB_CODE_BEGIN, header);
	jvm->code_offset = describe_field(cache, BLOB_CODE_OFFSET, header);
	jvm->osr_entry = describe_field(cache, NMETHOD_OSR_ENTRY, header);
	jvm->entry_bci = describe_field(cache, NMETHOD_ENTRY_BCI, header);
	jvm->compile_id = describe_field(cache, NMETHOD_COMPILE_ID, header);
	return true;
}

bool java_code_cache__find(struct java_code_cache *cache, struct java_vm *vm, u64 pc,
			   struct java_blob *blob)
{
	u64 addr = java_code_cache__blob_at(cache, vm, pc);

	return addr && java_code_cache__read(cache, vm, addr, blob) && pc >= blob->code &&
	       pc < blob->end;
}
