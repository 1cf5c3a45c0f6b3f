// SPDX-License-Identifier: GPL-2.0
/*
 * What a JVM says of its own data: each field at its bounds, and what is missing or wrong.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "abi.h"
#include "code-cache.h"
#include "elf-file.h"
#include "interpreter-rule.h"
#include "java-world.h"
#include "tap.h"

#define BLOB	0x1000
#define NEXT	0x2000
#define FREE	0xff

#define MAX_BLOB	(64U << 20)
#define MAX_FRAME	0x100000
#define MAX_HOPS	4200

static struct java_vm vm;
static struct java_code_cache cache;
static struct hybrid_objects objects;
static struct hybrid_object *object;

/* Reads the tables as they are now. */
static int open_vm(void)
{
	struct hybrid_ident ident = { .path = elf_file_path("jvm.so") };
	u64 bias = (u64)java_word("gHotSpotVMStructs") -
		   elf_file_symbol("jvm.so", "gHotSpotVMStructs");

	hybrid_objects_init(&objects, NULL, hybrid_x86_abi);
	object = hybrid_object_get(&objects, &ident);
	check(!hybrid_object_open(object, open(ident.path, O_RDONLY | O_CLOEXEC)));
	memset(&vm, 0, sizeof(vm));
	vm.pm = (struct hybrid_process_memory) {
		.memory = java.unwinder.memory, .objects = &java.ps.objects, .pid = getpid(),
		.space = java.u.space,
	};
	check(!hybrid_process_memory_map(&vm.pm));
	return java_vm__open(&vm, object, bias);
}

static void close_vm(void)
{
	java_vm__close(&vm);
	hybrid_process_memory_exit(&vm.pm);
	hybrid_object_put(object);
	hybrid_objects_exit(&objects);
}

static void begin(void)
{
	java_begin();
	same(open_vm(), 0);
	same(java_code_cache__init(&cache, &vm), 0);
}

static void end(void)
{
	close_vm();
	java_end();
}

/* The size of an integer is by the name of its type. */
static void types(void)
{
	static const struct {
		const char	*type;
		u8		 size;
		bool		 is_signed;
	} cases[] = {
		{ "bool", 1, false }, { "u1", 1, false }, { "char", 1, true },
		{ "signed char", 1, true }, { "CodeBlobKind", 1, false }, { "u2", 2, false },
		{ "uint16_t", 2, false }, { "s2", 2, true }, { "int16_t", 2, true },
		{ "jshort", 2, true }, { "u4", 4, false }, { "uint", 4, false },
		{ "uint32_t", 4, false }, { "unsigned int", 4, false }, { "address", 8, false },
		{ "u8", 8, false }, { "size_t", 8, false }, { "const size_t", 8, false },
		{ "long", 8, true }, { "jlong", 8, true }, { "intx", 8, true },
		{ "uintx", 8, false }, { "intptr_t", 8, true }, { "uintptr_t", 8, false },
		{ "uint64_t", 8, false }, { "int64_t", 8, true }, { "oop", 8, false },
		{ "HeapWord*", 8, false }, { "Method*", 8, false }, { "int", 4, true },
		{ "volatile jshort", 2, true }, { "volatile int", 4, true }, { "Klass", 4, true },
	};
	static char names[ARRAY_SIZE(cases)][8];
	struct java_field field;
	unsigned int i;

	java_begin();
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(names[i], sizeof(names[i]), "_%u", i);
		java_add_field("Type", names[i], cases[i].type, 8 * i);
	}
	same(open_vm(), 0);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		check(java_vm__field(&vm, "Type", names[i], &field));
		same(field.offset, 8 * i);
		same(field.size, cases[i].size);
		same(field.is_signed, cases[i].is_signed);
	}
	check(!java_vm__field(&vm, "Typ", "_0", &field));
	check(!java_vm__field(&vm, "Type", "_", &field));
	end();
}

static void values(void)
{
	static const u8 bytes[] = { 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x19 };
	static const struct {
		struct java_field	field;
		size_t			size;
		bool			is_there;
		s64			value;
	} cases[] = {
		{ { 0, 1, false }, 9, true, 0x81 }, { { 0, 1, true }, 9, true, -0x7f },
		{ { 1, 2, false }, 9, true, 0x8382 }, { { 1, 2, true }, 9, true, -0x7c7e },
		{ { 0, 4, false }, 9, true, 0x84838281 },
		{ { 0, 4, true }, 9, true, (s32)0x84838281 },
		{ { 1, 8, true }, 9, true, 0x1988878685848382 },
		{ { 0, 8, false }, 8, true, (s64)0x8887868584838281 },
		{ { 8, 1, true }, 9, true, 0x19 }, { { 8, 1, true }, 8, false },
		{ { 1, 8, true }, 8, false }, { { 2, 8, true }, 9, false },
		{ { 0, 0, true }, 9, false }, { { 0, 9, true }, 9, false },
	};
	unsigned int i;
	s64 value;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		same(java_field_value(&cases[i].field, bytes, cases[i].size, &value),
		     cases[i].is_there);
		if (cases[i].is_there)
			same(value, cases[i].value);
	}
}

static void offsets(void)
{
	struct java_field field;
	static int here;
	u64 value;
	s64 of;

	java_begin();
	java_add_field("Type", "_last", "int", 65535);
	java_add_field("Type", "_far", "int", 65536);
	java_add_field("Type", "_before", "int", -1ULL);
	java_add_static("Type", "_static", &here);
	java_add_type("Last", 65535);
	java_add_type("Far", 65536);
	java_add_type("None", 0);
	java_add_int("a constant", -5);
	same(open_vm(), 0);
	check(java_vm__offset(&vm, "Type", "_last", &value) && value == 65535);
	check(!java_vm__offset(&vm, "Type", "_far", &value));
	check(!java_vm__field(&vm, "Type", "_before", &field));
	check(!java_vm__offset(&vm, "Type", "_static", &value));
	check(java_vm__static(&vm, "Type", "_static", &value) && value == (u64)&here);
	check(!java_vm__static(&vm, "Type", "_last", &value));
	check(java_vm__type_size(&vm, "Last", &value) && value == 65535);
	check(!java_vm__type_size(&vm, "Far", &value));
	check(!java_vm__type_size(&vm, "None", &value));
	check(!java_vm__type_size(&vm, "Type", &value));
	check(java_vm__constant(&vm, "a constant", &of) && of == -5);
	check(!java_vm__constant(&vm, "no constant", &of));
	end();
	/* Nothing is known of a JVM that is closed. */
	check(!java_vm__constant(&vm, "a constant", &of));
}

/* Where a frame of the interpreter has its caller's sp: below bp, and not far. */
static void sender_sp(void)
{
	static const struct {
		s32	words;
		bool	is_known;
	} cases[] = { { 1, false }, { 0, false }, { -1, true }, { -16, true }, { -17, false } };
	struct hybrid_rule rule;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		java_begin();
		java_add_int("frame::interpreter_frame_sender_sp_offset", cases[i].words);
		same(open_vm(), 0);
		same(java_saved_sp_rule(&vm, &rule), cases[i].is_known);
		same((u64)rule.cfa_off, (u64)(s64)(8 * cases[i].words));
		end();
	}
}

/* Without any of these the heap of code can't be read. */
static void fields(void)
{
	static const struct {
		const char	*name;
		int		 err;
	} cases[] = {
		{ "_name", -1 }, { "_size", -1 }, { "_frame_complete_offset", -1 },
		{ "_frame_size", -1 }, { "_data_offset", -1 }, { "_code_begin", -1 },
		{ "_method", -1 }, { "_compile_id", -1 }, { "_osr_entry_point", -1 },
		{ "_entry_bci", -1 }, { "_memory", -1 }, { "_segmap", -1 },
		{ "_log2_segment_size", -1 }, { "_low", -1 }, { "_high", -1 },
		{ "_high_boundary", 0 }, { "_used", -1 }, { "_len", -1 }, { "_data", -1 },
		{ "_cont_entry", 0 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		java_begin();
		java_drop_field(cases[i].name);
		same(open_vm(), 0);
		same((u64)java_code_cache__init(&cache, &vm), (u64)cases[i].err);
		end();
	}
	/* Other names of later versions, and of earlier ones. */
	java_begin();
	java_drop_field("_code_begin");
	java_drop_field("_method");
	java_add_field("CodeBlob", "_code_offset", "int", 8);
	java_add_field("CompiledMethod", "_method", "Method*", 504);
	same(open_vm(), 0);
	same(java_code_cache__init(&cache, &vm), 0);
	same(cache.header_size, 512);
	end();
}

/* Bytes that are read of a blob, of its block and of a heap. */
static void sizes(void)
{
	static const struct {
		const char	*type, *field, *of;
		u64		 most;
	} cases[] = {
		{ "nmethod", "_entry_bci", "int16_t", 510 },
		{ "nmethod", "_method", "Method*", 504 },
		{ "CodeHeap", "_memory", "VirtualSpace", 1024 - 16 - 8 },
		{ "CodeHeap", "_segmap", "VirtualSpace", 1024 - 16 - 8 },
		{ "CodeHeap", "_log2_segment_size", "int", 1024 - 8 },
		{ "VirtualSpace", "_high_boundary", "char*", 1024 - 24 - 8 },
		{ "HeapBlock::Header", "_used", "bool", 7 },
	};
	unsigned int i, beyond;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		for (beyond = 0; beyond < 2; beyond++) {
			java_begin();
			java_drop_field(cases[i].field);
			java_add_field(cases[i].type, cases[i].field, cases[i].of,
				       cases[i].most + beyond);
			same(open_vm(), 0);
			same((u64)java_code_cache__init(&cache, &vm), beyond ? -1ULL : 0);
			end();
		}
	}
	for (beyond = 0; beyond < 2; beyond++) {
		java_begin();
		java_add_type("HeapBlock", 64 + beyond);
		same(open_vm(), 0);
		same((u64)java_code_cache__init(&cache, &vm), beyond ? -1ULL : 0);
		end();
	}
}

static struct java_test_array *array(void)
{
	u64 address;

	check(java_vm__static(&vm, "CodeCache", "_heaps", &address));
	return *(struct java_test_array **)address;
}

static int refresh(void)
{
	return java_code_cache__refresh(&cache, &vm);
}

static void heaps(void)
{
	static const struct {
		u32	bits;
		int	err;
	} bits[] = { { 3, -1 }, { 4, 0 }, { 16, 0 }, { 17, -1 } };
	struct java_test_heap *heap, was, *many[10];
	unsigned int i;

	begin();
	heap = array()->data[0];
	was = *heap;
	same(refresh(), 0);
	same(cache.nr_heaps, 1);
	same(java_code_cache__size(&cache), JAVA_CODE_SIZE);
	check(java_code_cache__has(&cache, JAVA_CODE));
	check(java_code_cache__has(&cache, JAVA_CODE + JAVA_CODE_SIZE - 1));
	check(!java_code_cache__has(&cache, JAVA_CODE - 1));
	check(!java_code_cache__has(&cache, JAVA_CODE + JAVA_CODE_SIZE));
	for (i = 0; i < ARRAY_SIZE(bits); i++) {
		heap->bits = bits[i].bits;
		same((u64)refresh(), (u64)bits[i].err);
	}
	*heap = was;
	/* What is reserved counts, unless it is less than what is there. */
	heap->memory.high = JAVA_CODE + 0x1000;
	same(refresh(), 0);
	same(java_code_cache__size(&cache), JAVA_CODE_SIZE);
	heap->memory.reserved = JAVA_CODE + 0x800;
	same(refresh(), 0);
	same(java_code_cache__size(&cache), 0x1000);
	/* None of it is there; then one that is stays as it was. */
	heap->memory.high = JAVA_CODE;
	heap->memory.reserved = JAVA_CODE;
	same((u64)refresh(), -1ULL);
	same(java_code_cache__size(&cache), 0x1000);
	*heap = was;
	heap->segmap.high = heap->segmap.low;
	heap->segmap.reserved = heap->segmap.low;
	same((u64)refresh(), -1ULL);
	*heap = was;
	array()->len = 0;
	same((u64)refresh(), -1ULL);
	array()->len = -1;
	same((u64)refresh(), -1ULL);
	for (i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = heap;
	many[1] = NULL;
	array()->data = many;
	array()->len = 7;
	same(refresh(), 0);
	same(cache.nr_heaps, 6);
	array()->len = 8;
	same(refresh(), 0);
	same(cache.nr_heaps, 7);
	array()->len = 9;
	same(refresh(), 0);
	same(cache.nr_heaps, 7);
	array()->data = NULL;
	same((u64)refresh(), -1ULL);
	end();
}

static u64 blob_at(u64 at)
{
	return java_code_cache__blob_at(&cache, &vm, JAVA_CODE + at);
}

/* From segment to segment, to the one that a block begins in. */
static void segments(void)
{
	static u8 map[MAX_HOPS + 2];
	static const u8 code[3 * JAVA_SEGMENT];
	unsigned int number = BLOB / JAVA_SEGMENT, i;
	struct java_test_heap *heap;
	u64 blob = JAVA_CODE + BLOB + 8;

	begin();
	java_add(BLOB, "nmethod", code, sizeof(code));
	same(refresh(), 0);
	same(blob_at(BLOB), blob);
	same(blob_at(BLOB + JAVA_SEGMENT), blob);
	same(blob_at(BLOB + 3 * JAVA_SEGMENT - 1), blob);
	same(blob_at(BLOB - 1), 0);
	same(blob_at(-1), 0);
	same(blob_at(JAVA_CODE_SIZE), 0);
	*java_segment(number + 1) = FREE;
	same(blob_at(BLOB + JAVA_SEGMENT), 0);
	/* As far back as the first one, and further. */
	memcpy((void *)JAVA_CODE, (void *)(JAVA_CODE + BLOB), 256);
	*java_segment(0) = 0;
	*java_segment(number + 1) = number + 1;
	same(blob_at(BLOB + JAVA_SEGMENT), JAVA_CODE + 8);
	*java_segment(number + 1) = number + 2;
	same(blob_at(BLOB + JAVA_SEGMENT), 0);
	/* It is not in use. */
	*java_segment(number + 1) = 1;
	java_remove(BLOB);
	same(blob_at(BLOB + JAVA_SEGMENT), 0);
	/* So many steps, and one more; and where the map ends. */
	memset(map, 1, sizeof(map));
	map[0] = 0;
	heap = array()->data[0];
	heap->bits = 4;
	heap->segmap.low = (u64)map;
	heap->segmap.high = (u64)map + JAVA_CODE_SIZE / 16 - 1;
	heap->segmap.reserved = 0;
	same(refresh(), 0);
	check(JAVA_CODE_SIZE / 16 < MAX_HOPS);
	same(blob_at(JAVA_CODE_SIZE - 17), JAVA_CODE + 8);
	same(blob_at(JAVA_CODE_SIZE - 16), 0);
	heap->memory.reserved = JAVA_CODE + 16 * (MAX_HOPS + 2);
	heap->segmap.high = (u64)map + sizeof(map);
	same(refresh(), 0);
	for (i = MAX_HOPS - 2; i < MAX_HOPS + 2; i++)
		same(blob_at(16 * i), i < MAX_HOPS ? JAVA_CODE + 8 : 0);
	end();
}

static bool read_blob(struct java_blob *blob)
{
	return java_code_cache__read(&cache, &vm, JAVA_CODE + BLOB + 8, blob);
}

static void blobs(void)
{
	static const u8 code[64];
	struct java_test_blob *made, was;
	struct java_blob blob;
	u64 addr = JAVA_CODE + BLOB + 8;

	begin();
	made = java_add(BLOB, "nmethod", code, sizeof(code));
	made->complete = 5;
	made->method = 0x1234;
	made->osr_entry = 0x5678;
	was = *made;
	same(refresh(), 0);
	check(read_blob(&blob));
	same(blob.addr, addr);
	same(blob.kind, JAVA_BLOB_METHOD);
	same(blob.code, java_code_at(BLOB));
	same(blob.end, java_code_at(BLOB) + sizeof(code));
	same(blob.frame_complete, 5);
	same(blob.frame_size, JAVA_FRAME);
	same(blob.method, 0x1234);
	same(blob.compile_id, BLOB + 1);
	same(blob.hash_id, BLOB + 1);
	same(blob.osr_entry, 0);
	check(!blob.is_native);
	made->entry_bci = 7;
	check(read_blob(&blob));
	same(blob.osr_entry, 0x5678);
	made->complete = -1;
	check(read_blob(&blob));
	same((u64)blob.frame_complete, -1ULL);
	/* No frame is so large, or of less than nothing. */
	made->frame_size = MAX_FRAME / 8 - 1;
	check(read_blob(&blob));
	same(blob.frame_size, MAX_FRAME - 8);
	made->frame_size++;
	check(read_blob(&blob));
	same(blob.frame_size, 0);
	made->frame_size = -1;
	check(read_blob(&blob));
	same(blob.frame_size, 0);
	/* The code begins in the blob, and ends in it. */
	*made = was;
	made->code = addr;
	check(read_blob(&blob));
	made->code = addr - 1;
	check(!read_blob(&blob));
	made->code = addr + made->data_offset;
	check(read_blob(&blob));
	made->code++;
	check(!read_blob(&blob));
	*made = was;
	made->size = made->data_offset - 1;
	check(!read_blob(&blob));
	made->size = MAX_BLOB;
	check(read_blob(&blob));
	made->size++;
	check(!read_blob(&blob));
	*made = was;
	made->name = NULL;
	check(!read_blob(&blob));
	*made = was;
	java_remove(BLOB);
	check(!read_blob(&blob));
	check(!java_code_cache__find(&cache, &vm, java_code_at(BLOB), &blob));
	java_add(BLOB, "nmethod", code, sizeof(code));
	check(java_code_cache__find(&cache, &vm, java_code_at(BLOB), &blob));
	check(java_code_cache__find(&cache, &vm, blob.end - 1, &blob));
	check(!java_code_cache__find(&cache, &vm, blob.code - 1, &blob));
	check(!java_code_cache__find(&cache, &vm, blob.end, &blob));
	end();
}

/* What code is, by the name of its blob; more names than are kept, twice. */
static void kinds(void)
{
	static const struct {
		const char		*name;
		enum java_blob_kind	 kind, without_frame;
		bool			 is_native;
	} cases[] = {
		{ "nmethod", JAVA_BLOB_METHOD, JAVA_BLOB_METHOD },
		{ "native nmethod", JAVA_BLOB_METHOD, JAVA_BLOB_METHOD, true },
		{ "Interpreter", JAVA_BLOB_INTERPRETER, JAVA_BLOB_INTERPRETER },
		{ "vtable chunks", JAVA_BLOB_VTABLE, JAVA_BLOB_VTABLE },
		{ "I2C/C2I adapters", JAVA_BLOB_ADAPTER, JAVA_BLOB_ADAPTER },
		{ "MethodHandles adapters", JAVA_BLOB_HANDLES, JAVA_BLOB_HANDLES },
		{ "StubRoutines", JAVA_BLOB_STUB, JAVA_BLOB_OTHER },
		{ "nmethods", JAVA_BLOB_STUB, JAVA_BLOB_OTHER },
		{ "", JAVA_BLOB_STUB, JAVA_BLOB_OTHER },
		{ "another", JAVA_BLOB_STUB, JAVA_BLOB_OTHER },
	};
	static const u8 code[64];
	struct java_test_blob *made;
	struct java_blob blob;
	unsigned int i, k;
	bool is_method;

	begin();
	made = java_add(BLOB, "", code, sizeof(code));
	made->method = 9;
	same(refresh(), 0);
	for (i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
		k = i % ARRAY_SIZE(cases);
		made->name = cases[k].name;
		made->frame_size = 2;
		check(read_blob(&blob));
		same(blob.kind, cases[k].kind);
		same(blob.is_native, cases[k].is_native);
		is_method = cases[k].kind == JAVA_BLOB_METHOD;
		same(blob.method, is_method ? 9 : 0);
		same(blob.compile_id, is_method ? BLOB + 1 : 0);
		same(blob.hash_id, BLOB + 1);
		made->frame_size = 0;
		check(read_blob(&blob));
		same(blob.kind, cases[k].without_frame);
	}
	end();
}

/* What a walker in the kernel is told. */
static void described(void)
{
	struct hybrid_walk_compiled jvm;
	unsigned int i;

	begin();
	same(refresh(), 0);
	check(java_code_cache__describe(&cache, &jvm));
	same(jvm.heaps[0].low, JAVA_CODE);
	same(jvm.heaps[0].size, JAVA_CODE_SIZE);
	same(jvm.heaps[0].segment_bits, 7);
	same(jvm.heaps[1].low, 0);
	same(jvm.header, 8);
	same(jvm.size, 8 + cache.header_size);
	same(jvm.used.offset, 4);
	same(jvm.name.offset, 8 + offsetof(struct java_test_blob, name));
	same(jvm.frame_complete.offset, 8 + offsetof(struct java_test_blob, complete));
	same(jvm.frame_complete.size, 2);
	check(jvm.frame_complete.is_signed);
	same(jvm.frame_size.offset, 8 + offsetof(struct java_test_blob, frame_size));
	same(jvm.data_offset.offset, 8 + offsetof(struct java_test_blob, data_offset));
	same(jvm.code_begin.offset, 8 + offsetof(struct java_test_blob, code));
	same(jvm.code_offset.size, 0);
	same(jvm.osr_entry.offset, 8 + offsetof(struct java_test_blob, osr_entry));
	same(jvm.entry_bci.offset, 8 + offsetof(struct java_test_blob, entry_bci));
	same(jvm.compile_id.offset, 8 + offsetof(struct java_test_blob, compile_id));
	cache.header_size = HYBRID_WALK_BLOB - 8;
	check(java_code_cache__describe(&cache, &jvm));
	cache.header_size++;
	check(!java_code_cache__describe(&cache, &jvm));
	cache.header_size = 64;
	for (i = 1; i < JAVA_MAX_HEAPS; i++)
		cache.heaps[i] = cache.heaps[0];
	cache.nr_heaps = JAVA_MAX_HEAPS;
	check(java_code_cache__describe(&cache, &jvm));
	same(jvm.heaps[HYBRID_WALK_HEAPS - 1].low, JAVA_CODE);
	end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "java vm: sizes of fields by their types",	types },
		{ "java vm: values of fields",			values },
		{ "java vm: offsets, sizes and constants",	offsets },
		{ "java vm: sp of an interpreted caller",	sender_sp },
		{ "java vm: fields that are needed",		fields },
		{ "java vm: how much is read",			sizes },
		{ "java vm: heaps",				heaps },
		{ "java vm: segments",				segments },
		{ "java vm: blobs",				blobs },
		{ "java vm: kinds of blobs",			kinds },
		{ "java vm: what a walker is told",		described },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
