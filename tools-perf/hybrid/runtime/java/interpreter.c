// SPDX-License-Identifier: GPL-2.0
/*
 * Where HotSpot's interpreter makes the frames of methods.
 */
#include <string.h>
#include <linux/kernel.h>
#include "interpreter.h"

#define MAX_CODELETS	1024
#define MAX_CODELET	0x100000

/* A frame begins within so many bytes of an entry's code. */
#define MAX_ENTER	512

/* All fields are of 4 bytes, but for the description. */
struct codelet_fields {
	u64	size;
	u64	description;
	u64	header;
};

/* push %rbp; mov %rsp,%rbp, by either of the two encodings. */
static u64 find_enter(struct java_vm *vm, u64 start, u64 end)
{
	static const u8 forms[][4] = { { 0x55, 0x48, 0x8b, 0xec }, { 0x55, 0x48, 0x89, 0xe5 } };
	u8 code[MAX_ENTER];
	size_t size = min_t(u64, end - start, sizeof(code)), i;

	if (java_vm__read(vm, start, code, size))
		return 0;
	for (i = 0; i + sizeof(forms[0]) <= size; i++) {
		if (!memcmp(code + i, forms[0], sizeof(forms[0])) ||
		    !memcmp(code + i, forms[1], sizeof(forms[1])))
			return start + i;
	}
	return 0;
}

static void add_codelet(struct java_interpreter *interpreter, struct java_vm *vm,
			const struct codelet_fields *fields, u64 addr, u32 size)
{
	static const char is_entry[] = "method entry point";
	char description[HYBRID_PROCESS_STRING];
	struct java_method_entry *entry = &interpreter->entries[interpreter->nr];
	u64 text;

	if (interpreter->nr == JAVA_MAX_ENTRIES_OF_METHODS || size <= fields->header ||
	    java_vm__read(vm, addr + fields->description, &text, sizeof(text)) ||
	    hybrid_process_memory_string(&vm->pm, text, description) ||
	    strncmp(description, is_entry, strlen(is_entry)))
		return;
	entry->start = addr + fields->header;
	entry->end = addr + size;
	entry->enter = find_enter(vm, entry->start, entry->end);
	interpreter->nr++;
}

static bool read_u32(struct java_vm *vm, u64 addr, u64 offset, u32 *value)
{
	return !java_vm__read(vm, addr + offset, value, sizeof(*value));
}

void java_interpreter__read(struct java_interpreter *interpreter, struct java_vm *vm)
{
	u64 address, queue, buffer, at_buffer, at_end, at_nr;
	struct codelet_fields fields;
	u32 end, nr, size, at, i;

	interpreter->nr = 0;
	interpreter->is_read = true;
	if (!java_vm__static(vm, "AbstractInterpreter", "_code", &address) ||
	    !java_vm__offset(vm, "StubQueue", "_stub_buffer", &at_buffer) ||
	    !java_vm__offset(vm, "StubQueue", "_queue_end", &at_end) ||
	    !java_vm__offset(vm, "StubQueue", "_number_of_stubs", &at_nr) ||
	    !java_vm__offset(vm, "InterpreterCodelet", "_size", &fields.size) ||
	    !java_vm__offset(vm, "InterpreterCodelet", "_description", &fields.description) ||
	    !java_vm__type_size(vm, "InterpreterCodelet", &fields.header) ||
	    java_vm__read(vm, address, &queue, sizeof(queue)) ||
	    java_vm__read(vm, queue + at_buffer, &buffer, sizeof(buffer)) ||
	    !read_u32(vm, queue, at_end, &end) || !read_u32(vm, queue, at_nr, &nr))
		return;
	for (i = 0, at = 0; i < nr && i < MAX_CODELETS && at < end; i++, at += size) {
		if (!read_u32(vm, buffer + at, fields.size, &size) || !size || size > MAX_CODELET)
			return;
		add_codelet(interpreter, vm, &fields, buffer + at, size);
	}
}

const struct java_method_entry *
java_interpreter__entry(const struct java_interpreter *interpreter, u64 pc)
{
	unsigned int i;

	for (i = 0; i < interpreter->nr; i++) {
		if (pc >= interpreter->entries[i].start && pc < interpreter->entries[i].end)
			return &interpreter->entries[i];
	}
	return NULL;
}
