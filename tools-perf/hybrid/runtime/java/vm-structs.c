// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the tables by which HotSpot describes its data: src/hotspot/share/runtime/vmStructs.cpp.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "../../rules/symbol.h"
#include "vm-structs.h"

/* TABLE_SIZE is 1 << TABLE_BITS. */
#define TABLE_BITS	13
#define TABLE_SIZE	0x2000U
#define MAX_NAMES	0x100000U
#define MAX_STRIDE	256
#define MAX_OFFSET	65536

enum entry_kind {
	ENTRY_NONE,
	ENTRY_OFFSET,
	ENTRY_STATIC,
	ENTRY_SIZE,
	ENTRY_CONSTANT,
};

/**
 * struct java_entry - one line of a table
 * @kind: enum entry_kind
 * @size: of a field that is not static, in bytes
 * @is_signed: such a field is
 * @name: in the names: the type, a byte of 0, and the field, which may be empty
 * @value: offset, address, size or constant
 */
struct java_entry {
	u16	kind;
	u8	size;
	bool	is_signed;
	u32	name;
	s64	value;
};

/**
 * struct table - a table of the process as it is read
 * @vm: of the process
 * @array: address of the entries
 * @stride: bytes of an entry
 * @at: of each word that is needed, where it is in an entry
 */
struct table {
	struct java_vm	*vm;
	u64		 array;
	u64		 stride;
	u64		 at[6];
};

static u32 hash_of(u32 kind, const char *type, const char *field)
{
	u32 hash = kind;

	while (*type)
		hash = hash * 31 + (u8)*type++;
	hash = hash * 31;
	while (*field)
		hash = hash * 31 + (u8)*field++;
	return (hash * 2654435761U) >> (32 - TABLE_BITS);
}

/* The entry of these names, or the free one where it belongs; NULL: the table is full. */
static struct java_entry *find_entry(const struct java_vm *vm, u32 kind, const char *type,
				     const char *field)
{
	u32 i, at = hash_of(kind, type, field);

	for (i = 0; i < TABLE_SIZE; i++) {
		struct java_entry *entry = &vm->table[(at + i) % TABLE_SIZE];
		const char *name = vm->names + entry->name;

		if (!entry->kind)
			return entry;
		if (entry->kind == kind && !strcmp(name, type) &&
		    !strcmp(name + strlen(name) + 1, field))
			return entry;
	}
	return NULL;
}

/* The entry, to be changed by the caller; NULL: none was added. */
static struct java_entry *add_entry(struct java_vm *vm, u32 kind, const char *type,
				    const char *field, s64 value)
{
	size_t size = strlen(type) + strlen(field) + 2;
	struct java_entry *entry = find_entry(vm, kind, type, field);

	if (!entry || entry->kind || vm->names_size + size > MAX_NAMES ||
	    vm->nr >= TABLE_SIZE / 4 * 3)
		return NULL;
	*entry = (struct java_entry) { .kind = kind, .name = vm->names_size, .value = value };
	strcpy(vm->names + vm->names_size, type);
	strcpy(vm->names + vm->names_size + strlen(type) + 1, field);
	vm->names_size += size;
	vm->nr++;
	return entry;
}

/*
 * By the names that vmStructs.cpp has for types of integers. All others that are not listed have
 * four bytes, or are no integers.
 */
static void set_size(struct java_entry *entry, const char *type)
{
	static const struct {
		const char	*name;
		u8		 size;
		bool		 is_signed;
	} types[] = {
		{ "bool", 1, false }, { "u1", 1, false }, { "char", 1, true },
		{ "signed char", 1, true }, { "CodeBlobKind", 1, false }, { "u2", 2, false },
		{ "uint16_t", 2, false }, { "s2", 2, true }, { "int16_t", 2, true },
		{ "jshort", 2, true }, { "u4", 4, false }, { "uint", 4, false },
		{ "uint32_t", 4, false }, { "unsigned int", 4, false },
		{ "address", 8, false }, { "u8", 8, false }, { "size_t", 8, false },
		{ "const size_t", 8, false }, { "long", 8, true }, { "jlong", 8, true },
		{ "intx", 8, true }, { "uintx", 8, false }, { "intptr_t", 8, true },
		{ "uintptr_t", 8, false }, { "uint64_t", 8, false }, { "int64_t", 8, true },
		{ "oop", 8, false }, { "HeapWord*", 8, false },
	};
	unsigned int i;

	if (!strncmp(type, "volatile ", 9))
		type += 9;
	entry->size = strchr(type, '*') ? 8 : 4;
	entry->is_signed = entry->size == 4;
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		if (!strcmp(type, types[i].name)) {
			entry->size = types[i].size;
			entry->is_signed = types[i].is_signed;
		}
	}
}

static const struct java_entry *known_entry(const struct java_vm *vm, u32 kind, const char *type,
					    const char *field)
{
	const struct java_entry *entry = vm->table ? find_entry(vm, kind, type, field) : NULL;

	return entry && entry->kind ? entry : NULL;
}

static bool find_value(const struct java_vm *vm, u32 kind, const char *type, const char *field,
		       s64 *value)
{
	const struct java_entry *entry = known_entry(vm, kind, type, field);

	if (entry)
		*value = entry->value;
	return entry;
}

/* A word of the process at a symbol of its libjvm.so. */
static int read_symbol(struct java_vm *vm, const struct hybrid_object *object, u64 bias,
		       const char *name, u64 *value)
{
	u64 addr = hybrid_object_symbol(object, name);

	return addr ? java_vm__read(vm, addr + bias, value, sizeof(*value)) : -1;
}

/* @names: symbols: the array, its stride, and then one for each of @at that is needed. */
static int open_table(struct table *table, struct java_vm *vm, const struct hybrid_object *object,
		      u64 bias, const char *const *names)
{
	unsigned int i;

	table->vm = vm;
	if (read_symbol(vm, object, bias, names[0], &table->array) ||
	    read_symbol(vm, object, bias, names[1], &table->stride) ||
	    table->stride < 16 || table->stride > MAX_STRIDE)
		return -1;
	for (i = 0; names[i + 2]; i++) {
		if (read_symbol(vm, object, bias, names[i + 2], &table->at[i]) ||
		    table->at[i] > table->stride - sizeof(u64))
			return -1;
	}
	return 0;
}

static u64 word_of(const struct table *table, const u8 *entry, unsigned int i)
{
	u64 word;

	memcpy(&word, entry + table->at[i], sizeof(word));
	return word;
}

static u32 half_of(const struct table *table, const u8 *entry, unsigned int i)
{
	return word_of(table, entry, i);
}

/* struct VMStructEntry: type, field, is static, offset, address, type of the field. */
static int add_struct(const struct table *table, const u8 *entry)
{
	char type[HYBRID_PROCESS_STRING], field[HYBRID_PROCESS_STRING];
	char of_field[HYBRID_PROCESS_STRING] = "";
	struct java_vm *vm = table->vm;
	struct java_entry *added;

	if (!word_of(table, entry, 0) || !word_of(table, entry, 1))
		return 1;
	if (hybrid_process_memory_string(&vm->pm, word_of(table, entry, 0), type) ||
	    hybrid_process_memory_string(&vm->pm, word_of(table, entry, 1), field))
		return -1;
	if (half_of(table, entry, 2)) {
		add_entry(vm, ENTRY_STATIC, type, field, word_of(table, entry, 4));
		return 0;
	}
	/* It is NULL where the tables don't say it. */
	if (word_of(table, entry, 5) &&
	    hybrid_process_memory_string(&vm->pm, word_of(table, entry, 5), of_field))
		return -1;
	added = add_entry(vm, ENTRY_OFFSET, type, field, word_of(table, entry, 3));
	if (added)
		set_size(added, of_field);
	return 0;
}

/* The name of a type or a constant. Returns 1 behind the last entry, -1 if it can't be read. */
static int read_name(const struct table *table, const u8 *entry, char *name)
{
	if (!word_of(table, entry, 0))
		return 1;
	return hybrid_process_memory_string(&table->vm->pm, word_of(table, entry, 0), name);
}

/* struct VMTypeEntry: type, size. */
static int add_type(const struct table *table, const u8 *entry)
{
	char type[HYBRID_PROCESS_STRING];
	int ret = read_name(table, entry, type);

	if (!ret)
		add_entry(table->vm, ENTRY_SIZE, type, "", word_of(table, entry, 1));
	return ret;
}

/* struct VMIntConstantEntry: name, value of 32 bits. */
static int add_int(const struct table *table, const u8 *entry)
{
	char name[HYBRID_PROCESS_STRING];
	int ret = read_name(table, entry, name);

	if (!ret)
		add_entry(table->vm, ENTRY_CONSTANT, name, "", (s32)half_of(table, entry, 1));
	return ret;
}

/* struct VMLongConstantEntry: name, value. */
static int add_long(const struct table *table, const u8 *entry)
{
	char name[HYBRID_PROCESS_STRING];
	int ret = read_name(table, entry, name);

	if (!ret)
		add_entry(table->vm, ENTRY_CONSTANT, name, "", word_of(table, entry, 1));
	return ret;
}

/* The last entry's name is NULL. */
static int read_table(const struct table *table,
		      int (*add)(const struct table *table, const u8 *entry))
{
	u8 entry[MAX_STRIDE + sizeof(u64)] = {};
	unsigned int i;
	int ret;

	for (i = 0; i < JAVA_MAX_ENTRIES; i++) {
		if (java_vm__read(table->vm, table->array + i * table->stride, entry,
				  table->stride))
			return -1;
		ret = add(table, entry);
		if (ret)
			return ret < 0 ? ret : 0;
	}
	return -1;
}

#define STRUCTS		"gHotSpotVMStruct"
#define TYPES		"gHotSpotVMType"
#define INTS		"gHotSpotVMIntConstant"
#define LONGS		"gHotSpotVMLongConstant"

static int read_tables(struct java_vm *vm, const struct hybrid_object *object, u64 bias)
{
	static const struct {
		const char	*names[9];
		int (*add)(const struct table *table, const u8 *entry);
	} tables[] = {
		{ { STRUCTS "s", STRUCTS "EntryArrayStride", STRUCTS "EntryTypeNameOffset",
		    STRUCTS "EntryFieldNameOffset", STRUCTS "EntryIsStaticOffset",
		    STRUCTS "EntryOffsetOffset", STRUCTS "EntryAddressOffset",
		    STRUCTS "EntryTypeStringOffset" }, add_struct },
		{ { TYPES "s", TYPES "EntryArrayStride", TYPES "EntryTypeNameOffset",
		    TYPES "EntrySizeOffset" }, add_type },
		{ { INTS "s", INTS "EntryArrayStride", INTS "EntryNameOffset",
		    INTS "EntryValueOffset" }, add_int },
		{ { LONGS "s", LONGS "EntryArrayStride", LONGS "EntryNameOffset",
		    LONGS "EntryValueOffset" }, add_long },
	};
	struct table table;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		if (open_table(&table, vm, object, bias, tables[i].names) ||
		    read_table(&table, tables[i].add))
			return -1;
	}
	return 0;
}

int java_vm__open(struct java_vm *vm, const struct hybrid_object *object, u64 bias)
{
	int err = -1;

	vm->table = calloc(TABLE_SIZE, sizeof(*vm->table));
	vm->names = malloc(MAX_NAMES);
	/* They stay as they are. */
	hybrid_process_memory_keep(&vm->pm, true);
	if (vm->table && vm->names)
		err = read_tables(vm, object, bias);
	hybrid_process_memory_keep(&vm->pm, false);
	if (!err) {
		void *names = realloc(vm->names, vm->names_size);

		vm->names = names ?: vm->names;
		return 0;
	}
	java_vm__close(vm);
	return -1;
}

void java_vm__close(struct java_vm *vm)
{
	free(vm->table);
	free(vm->names);
	vm->table = NULL;
	vm->names = NULL;
	vm->names_size = 0;
	vm->nr = 0;
}

int java_vm__read(struct java_vm *vm, u64 addr, void *buf, size_t len)
{
	return hybrid_process_memory_read(&vm->pm, addr, buf, len);
}

bool java_vm__field(const struct java_vm *vm, const char *type, const char *field,
		    struct java_field *found)
{
	const struct java_entry *entry = known_entry(vm, ENTRY_OFFSET, type, field);

	if (!entry || entry->value < 0 || entry->value >= MAX_OFFSET)
		return false;
	found->offset = entry->value;
	found->size = entry->size;
	found->is_signed = entry->is_signed;
	return true;
}

bool java_field_value(const struct java_field *field, const void *bytes, size_t size, s64 *value)
{
	unsigned int shift = 64 - 8 * field->size;
	u64 word = 0;

	if (!field->size || field->size > sizeof(word) || field->offset + field->size > size)
		return false;
	memcpy(&word, bytes + field->offset, field->size);
	*value = field->is_signed ? (s64)(word << shift) >> shift : (s64)word;
	return true;
}

bool java_vm__offset(struct java_vm *vm, const char *type, const char *field, u64 *offset)
{
	struct java_field found;

	if (!java_vm__field(vm, type, field, &found))
		return false;
	*offset = found.offset;
	return true;
}

bool java_vm__static(struct java_vm *vm, const char *type, const char *field, u64 *address)
{
	s64 value;

	if (!find_value(vm, ENTRY_STATIC, type, field, &value))
		return false;
	*address = value;
	return true;
}

bool java_vm__type_size(struct java_vm *vm, const char *type, u64 *size)
{
	s64 value;

	if (!find_value(vm, ENTRY_SIZE, type, "", &value) || value <= 0 || value >= MAX_OFFSET)
		return false;
	*size = value;
	return true;
}

bool java_vm__constant(struct java_vm *vm, const char *name, s64 *value)
{
	return find_value(vm, ENTRY_CONSTANT, name, "", value);
}
