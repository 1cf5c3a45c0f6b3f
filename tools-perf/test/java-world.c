// SPDX-License-Identifier: GPL-2.0
/*
 * A JVM of one process, the test's: tables that describe its data, a code cache, an interpreter.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "abi.h"
#include "elf-file.h"
#include "java-world.h"
#include "tap.h"

#define PAGE		4096UL
#define BIAS		0x40000000ULL
#define SEGMENTS	(JAVA_CODE_SIZE / JAVA_SEGMENT)
#define ENTRIES		64

struct java_world java;

/* As vmStructs.hpp has them. */
struct struct_entry {
	const char	*type;
	const char	*field;
	const char	*type_string;
	u32		 is_static;
	u64		 offset;
	void		*address;
};

struct value_entry {
	const char	*name;
	u64		 value;
};

struct block {
	u32	length;
	u8	used;
	u8	pad[3];
};

struct queue {
	u64	buffer;
	u32	end;
	u32	nr;
};

struct codelet {
	const char	*description;
	u32		 size;
	u32		 bytecode;
};

static struct {
	struct struct_entry	structs[ENTRIES];
	struct value_entry	types[8];
	struct value_entry	ints[4];
	struct value_entry	longs[4];
	struct java_test_heap		heap;
	struct java_test_heap		*heaps[1];
	struct java_test_array		array;
	struct java_test_array		*array_at;
	struct queue		queue;
	struct queue		*queue_at;
	u64			return_pc;
	u8			segments[SEGMENTS];
	u8			*words;
} vm;

static unsigned int nr_structs, nr_types, nr_ints;

void java_add_field(const char *type, const char *field, const char *of, u64 offset)
{
	check(nr_structs < ENTRIES - 1);
	vm.structs[nr_structs++] = (struct struct_entry) {
		.type = type, .field = field, .type_string = of, .offset = offset,
	};
}

void java_drop_field(const char *field)
{
	unsigned int i;

	for (i = 0; i < nr_structs; i++) {
		if (!strcmp(vm.structs[i].field, field))
			vm.structs[i].field = "";
	}
}

void java_add_static(const char *type, const char *field, void *address)
{
	check(nr_structs < ENTRIES - 1);
	vm.structs[nr_structs++] = (struct struct_entry) {
		.type = type, .field = field, .type_string = "address", .is_static = 1,
		.address = address,
	};
}

void java_add_type(const char *name, u64 size)
{
	unsigned int i;

	for (i = 0; i < nr_types; i++) {
		if (!strcmp(vm.types[i].name, name)) {
			vm.types[i].value = size;
			return;
		}
	}
	check(nr_types < ARRAY_SIZE(vm.types) - 1);
	vm.types[nr_types++] = (struct value_entry) { name, size };
}

void java_add_int(const char *name, s32 value)
{
	unsigned int i;

	for (i = 0; i < nr_ints; i++) {
		if (!strcmp(vm.ints[i].name, name)) {
			vm.ints[i].value = (u32)value;
			return;
		}
	}
	check(nr_ints < ARRAY_SIZE(vm.ints) - 1);
	vm.ints[nr_ints++] = (struct value_entry) { name, (u32)value };
}

#define BLOB(field)	offsetof(struct java_test_blob, field)
#define HEAP(field)	offsetof(struct java_test_heap, field)

static void add_fields(void)
{
	java_add_field("CodeBlob", "_name", "const char*", BLOB(name));
	java_add_field("CodeBlob", "_size", "int", BLOB(size));
	java_add_field("CodeBlob", "_frame_complete_offset", "int16_t", BLOB(complete));
	java_add_field("CodeBlob", "_frame_size", "int", BLOB(frame_size));
	java_add_field("CodeBlob", "_data_offset", "int", BLOB(data_offset));
	java_add_field("CodeBlob", "_code_begin", "address", BLOB(code));
	java_add_field("nmethod", "_method", "Method*", BLOB(method));
	java_add_field("nmethod", "_compile_id", "int", BLOB(compile_id));
	java_add_field("nmethod", "_osr_entry_point", "address", BLOB(osr_entry));
	java_add_field("nmethod", "_entry_bci", "int16_t", BLOB(entry_bci));
	java_add_field("CodeHeap", "_memory", "VirtualSpace", HEAP(memory));
	java_add_field("CodeHeap", "_segmap", "VirtualSpace", HEAP(segmap));
	java_add_field("CodeHeap", "_log2_segment_size", "int", HEAP(bits));
	java_add_field("VirtualSpace", "_low", "char*", offsetof(struct java_test_space, low));
	java_add_field("VirtualSpace", "_high", "char*", offsetof(struct java_test_space, high));
	java_add_field("VirtualSpace", "_high_boundary", "char*",
		       offsetof(struct java_test_space, reserved));
	java_add_field("HeapBlock::Header", "_used", "bool", offsetof(struct block, used));
	java_add_field("GrowableArrayBase", "_len", "int", offsetof(struct java_test_array, len));
	java_add_field("GrowableArray<int>", "_data", "int*",
		       offsetof(struct java_test_array, data));
	java_add_field("StubQueue", "_stub_buffer", "address", offsetof(struct queue, buffer));
	java_add_field("StubQueue", "_queue_end", "int", offsetof(struct queue, end));
	java_add_field("StubQueue", "_number_of_stubs", "int", offsetof(struct queue, nr));
	java_add_field("InterpreterCodelet", "_size", "int", offsetof(struct codelet, size));
	java_add_field("InterpreterCodelet", "_description", "const char*",
		       offsetof(struct codelet, description));
	java_add_field("JavaThread", "_cont_entry", "ContinuationEntry*", 0x618);
	java_add_static("CodeCache", "_heaps", &vm.array_at);
	java_add_static("AbstractInterpreter", "_code", &vm.queue_at);
	java_add_static("ContinuationEntry", "_return_pc", &vm.return_pc);
	java_add_type("HeapBlock", sizeof(struct block));
	java_add_type("InterpreterCodelet", sizeof(struct codelet));
	java_add_int("frame::interpreter_frame_sender_sp_offset", -1);
}

u64 *java_word(const char *symbol)
{
	return (u64 *)(BIAS + elf_file_symbol("jvm.so", symbol));
}

static void set_word(const char *table, const char *what, u64 value)
{
	char symbol[64];

	snprintf(symbol, sizeof(symbol), "gHotSpotVM%s%s", table, what);
	*java_word(symbol) = value;
}

static void set_value_table(const char *table, const char *name, const char *value,
			    struct value_entry *entries)
{
	set_word(table, "s", (u64)entries);
	set_word(table, "EntryArrayStride", sizeof(*entries));
	set_word(table, name, offsetof(struct value_entry, name));
	set_word(table, value, offsetof(struct value_entry, value));
}

static void set_words(void)
{
	set_word("Structs", "", (u64)vm.structs);
	set_word("Struct", "EntryArrayStride", sizeof(*vm.structs));
	set_word("Struct", "EntryTypeNameOffset", offsetof(struct struct_entry, type));
	set_word("Struct", "EntryFieldNameOffset", offsetof(struct struct_entry, field));
	set_word("Struct", "EntryIsStaticOffset", offsetof(struct struct_entry, is_static));
	set_word("Struct", "EntryOffsetOffset", offsetof(struct struct_entry, offset));
	set_word("Struct", "EntryAddressOffset", offsetof(struct struct_entry, address));
	set_word("Struct", "EntryTypeStringOffset", offsetof(struct struct_entry, type_string));
	set_value_table("Type", "EntryTypeNameOffset", "EntrySizeOffset", vm.types);
	set_value_table("IntConstant", "EntryNameOffset", "EntryValueOffset", vm.ints);
	set_value_table("LongConstant", "EntryNameOffset", "EntryValueOffset", vm.longs);
}

static void *map_at(u64 addr, size_t size)
{
	void *at = mmap((void *)addr, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	check(at == (void *)addr);
	memset(at, 0, size);
	return at;
}

static void map_code(void)
{
	struct hybrid_mapping mapping = {
		.start = JAVA_CODE, .end = JAVA_CODE + JAVA_CODE_SIZE, .pid = getpid(),
	};

	map_at(JAVA_CODE, JAVA_CODE_SIZE);
	check(!hybrid_process_map(&java.ps, &mapping, NULL, true));
}

void java_commit(unsigned int size)
{
	vm.heap.memory.high = vm.heap.memory.low + size;
	vm.heap.segmap.high = vm.heap.segmap.low + size / JAVA_SEGMENT;
}

void java_begin(void)
{
	pid_t pid = getpid();

	memset(&java, 0, sizeof(java));
	memset(&vm, 0, sizeof(vm));
	nr_structs = 0;
	nr_types = 0;
	nr_ints = 0;
	hybrid_processes_init(&java.ps, elf_file_open);
	elf_file_map(&java.ps, pid, "jvm.so", BIAS);
	map_code();
	vm.words = map_at((BIAS + elf_file_symbol("jvm.so", "jvm_words")) & ~(PAGE - 1), PAGE);
	add_fields();
	set_words();
	memset(vm.segments, 0xff, sizeof(vm.segments));
	vm.heap = (struct java_test_heap) {
		.memory = { .low = JAVA_CODE, .reserved = JAVA_CODE + JAVA_CODE_SIZE },
		.segmap = { (u64)vm.segments, .reserved = (u64)vm.segments + SEGMENTS },
		.bits = 7,
	};
	java_commit(JAVA_CODE_SIZE);
	vm.heaps[0] = &vm.heap;
	vm.array = (struct java_test_array) { .len = 1, .data = vm.heaps };
	vm.array_at = &vm.array;
	java.unwinder.memory = hybrid_memory_new();
	java.unwinder.runtimes = hybrid_runtimes_new(&java.ps.objects, java.unwinder.memory);
	java.unwinder.runtime_rule = hybrid_runtime_rule;
	java.unwinder.runtime_range = hybrid_runtime_range;
	java.u = (struct hybrid_unwind) {
		.abi = &hybrid_abi_64,
		.space = hybrid_thread_find(&java.ps, pid, pid)->process->space,
		.pid = pid, .dump = (u8 *)java.stack, .dump_start = JAVA_STACK,
		.dump_size = sizeof(java.stack), .frames = java.frames, .max_frames = 16,
	};
	java.u.regs.value[hybrid_abi_64.sp] = JAVA_STACK;
	java.u.regs.known = (1U << HYBRID_X86_64_NR) - 1;
}

void java_end(void)
{
	hybrid_runtimes_delete(java.unwinder.runtimes);
	hybrid_memory_delete(java.unwinder.memory);
	hybrid_processes_exit(&java.ps);
	munmap((void *)JAVA_CODE, JAVA_CODE_SIZE);
	munmap(vm.words, PAGE);
}

void java_gone(void)
{
	vm.array_at = NULL;
	memset(vm.segments, 0xff, sizeof(vm.segments));
	memset((void *)JAVA_CODE, 0, JAVA_CODE_SIZE);
}

void java_pass(void)
{
	hybrid_memory_forget(java.unwinder.memory);
	hybrid_runtimes_forget(java.unwinder.runtimes);
}

u64 *java_return_pc(void)
{
	return &vm.return_pc;
}

u8 *java_segment(unsigned int number)
{
	return &vm.segments[number];
}

u64 java_code_at(unsigned int at)
{
	return JAVA_CODE + at + sizeof(struct block) + sizeof(struct java_test_blob);
}

struct java_test_blob *java_add(unsigned int at, const char *name, const u8 *code,
				unsigned int size)
{
	struct block *block = (struct block *)(JAVA_CODE + at);
	struct java_test_blob *blob = (struct java_test_blob *)(block + 1);
	unsigned int whole = sizeof(*block) + sizeof(*blob) + size, i;

	check(at % JAVA_SEGMENT == 0 && at + whole <= JAVA_CODE_SIZE);
	for (i = 0; i * JAVA_SEGMENT < whole; i++)
		vm.segments[at / JAVA_SEGMENT + i] = i;
	block->used = 1;
	*blob = (struct java_test_blob) {
		.name = name, .code = java_code_at(at), .size = sizeof(*blob) + size,
		.frame_size = JAVA_FRAME / 8, .data_offset = sizeof(*blob) + size,
		.entry_bci = 0xffff, .compile_id = at + 1,
	};
	memcpy((void *)blob->code, code, size);
	return blob;
}

void java_remove(unsigned int at)
{
	((struct block *)(JAVA_CODE + at))->used = 0;
}

void java_add_interpreter(unsigned int at)
{
	static const u8 entry[] = {
		0x90, 0x90, 0x90, 0x90, 0x58,	/* nop; pop %rax */
		0x50, 0x55, 0x48, 0x8b, 0xec,	/* push %rax; push %rbp; mov %rsp,%rbp */
		0x41, 0x55, 0x90,		/* push %r13 */
	};
	static const u8 leave[] = { 0xc9, 0x41, 0x5d, 0x48, 0x8b, 0xe3, 0x41, 0xff, 0xe5 };
	struct codelet codelet = {
		"method entry point (kind = zerolocals)", sizeof(codelet) + sizeof(entry), 0,
	};
	struct java_test_blob *blob;
	u8 code[128];

	memset(code, 0x90, sizeof(code));
	memcpy(code, &codelet, sizeof(codelet));
	memcpy(code + sizeof(codelet), entry, sizeof(entry));
	memcpy(code + JAVA_LEAVE, leave, sizeof(leave));
	blob = java_add(at, "Interpreter", code, sizeof(code));
	blob->frame_size = 0;
	vm.queue = (struct queue) { blob->code, codelet.size, 1 };
	vm.queue_at = &vm.queue;
}

enum hybrid_stop java_unwind(u64 ip)
{
	java.u.regs.value[hybrid_abi_64.ip] = ip;
	hybrid_unwind(&java.unwinder, &java.u);
	return java.u.stop;
}
