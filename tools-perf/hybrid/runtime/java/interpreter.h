/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_INTERPRETER_H
#define __PERF_HYBRID_INTERPRETER_H

#include "vm-structs.h"

#define JAVA_MAX_ENTRIES_OF_METHODS	64

/**
 * struct java_method_entry - code that a call of an interpreted method begins with
 * @start: of the code
 * @end: behind it
 * @enter: where the frame begins to be made, by push %rbp; mov %rsp,%rbp; 0: it makes none
 */
struct java_method_entry {
	u64	start;
	u64	end;
	u64	enter;
};

/**
 * struct java_interpreter - the template interpreter of a JVM
 * @entries: by address
 * @nr: number of @entries
 * @is_read: they were looked for
 */
struct java_interpreter {
	struct java_method_entry	entries[JAVA_MAX_ENTRIES_OF_METHODS];
	unsigned int			nr;
	bool				is_read;
};

/**
 * java_interpreter__read - find the code that calls of interpreted methods begin with
 * @interpreter: out
 * @vm: open
 *
 * Source: src/hotspot/share/interpreter/templateInterpreterGenerator.cpp, and StubQueue in
 * src/hotspot/share/code/stubs.hpp.
 */
void java_interpreter__read(struct java_interpreter *interpreter, struct java_vm *vm);

/**
 * java_interpreter__entry - the entry that holds an address
 * @interpreter: of the JVM
 * @pc: address in the interpreter
 *
 * Return: NULL if none does.
 */
const struct java_method_entry *
java_interpreter__entry(const struct java_interpreter *interpreter, u64 pc);

#endif /* __PERF_HYBRID_INTERPRETER_H */
