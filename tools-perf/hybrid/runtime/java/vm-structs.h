/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_VM_STRUCTS_H
#define __PERF_HYBRID_VM_STRUCTS_H

#include "../process-memory.h"

struct java_entry;

/* Of each kind of table: HotSpot has 1,500 fields, 700 types and 900 constants. */
#define JAVA_MAX_ENTRIES	16384

/**
 * struct java_vm - what a JVM says of its own data
 * @pm: its memory
 * @table: fields, types and constants, by a hash of their names; owned
 * @names: of @table; owned
 * @names_size: bytes of @names in use
 * @nr: entries in @table
 *
 * HotSpot describes its data for debuggers (src/hotspot/share/runtime/vmStructs.hpp): the tables
 * gHotSpotVMStructs, gHotSpotVMTypes, gHotSpotVMIntConstants and gHotSpotVMLongConstants name each
 * field with its offset or address. So no table of versions is needed. All of it is memory of the
 * process, and need not be true.
 */
struct java_vm {
	struct hybrid_process_memory	 pm;
	struct java_entry		*table;
	char				*names;
	size_t				 names_size;
	unsigned int			 nr;
};

/**
 * java_vm__open - read the tables of a JVM
 * @vm: with @pm, whose files were read; else zeroed
 * @object: its libjvm.so, open
 * @bias: what is added to addresses of that file
 *
 * Return: 0; -1 if the tables are missing or can't be read, and then nothing is owned.
 */
int java_vm__open(struct java_vm *vm, const struct hybrid_object *object, u64 bias);
void java_vm__close(struct java_vm *vm);

/**
 * java_vm__read - what is at an address of the process now
 * @vm: of the process
 * @addr: in it
 * @buf: out
 * @len: bytes
 *
 * Return: 0, or -1 if not all of it can be read.
 */
int java_vm__read(struct java_vm *vm, u64 addr, void *buf, size_t len);

/**
 * struct java_field - a field that is not static
 * @offset: from the beginning of its type, in bytes; less than 64 KiB
 * @size: bytes, by the name of its own type: 1, 2, 4 or 8
 * @is_signed: by that name, too
 */
struct java_field {
	u16	offset;
	u8	size;
	bool	is_signed;
};

/**
 * java_vm__field - where a type has a field
 * @vm: of the process
 * @type: of C++, as the tables name it
 * @field: that is not static
 * @found: out
 *
 * Versions differ in a field's size, too: CodeBlob::_frame_complete_offset has 4 bytes in JDK 17
 * and 2 in JDK 25.
 *
 * Return: false if it has none; then @found is unchanged.
 */
bool java_vm__field(const struct java_vm *vm, const char *type, const char *field,
		    struct java_field *found);

/**
 * java_field_value - the value of a field
 * @field: an integer or a pointer
 * @bytes: of the whole type, or of its beginning
 * @size: bytes of @bytes
 * @value: out
 *
 * Return: false if the field is not in @bytes.
 */
bool java_field_value(const struct java_field *field, const void *bytes, size_t size, s64 *value);

/* The offset of a field; as java_vm__field(). */
bool java_vm__offset(struct java_vm *vm, const char *type, const char *field, u64 *offset);

/* The address of a static field; as java_vm__field(). */
bool java_vm__static(struct java_vm *vm, const char *type, const char *field, u64 *address);

/* The size of a type in bytes, less than 64 KiB; as java_vm__field(). */
bool java_vm__type_size(struct java_vm *vm, const char *type, u64 *size);

/* The value of a constant; as java_vm__field(). */
bool java_vm__constant(struct java_vm *vm, const char *name, s64 *value);

#endif /* __PERF_HYBRID_VM_STRUCTS_H */
