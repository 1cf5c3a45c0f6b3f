/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_METHOD_H
#define __PERF_HYBRID_METHOD_H

#include "../names.h"
#include "vm-structs.h"

#define JAVA_METHODS_BITS	10
#define JAVA_METHODS_WAYS	4

/**
 * struct java_stream - numbers that HotSpot has packed: src/hotspot/share/utilities/unsigned5.hpp
 * @bytes: to be read
 * @size: number of @bytes
 * @at: the next one
 * @excluded: bytes that no number begins with: 1 since JDK 20, as no byte is 0; 0 before
 */
struct java_stream {
	const u8	*bytes;
	size_t		 size;
	size_t		 at;
	u8		 excluded;
};

/* The next number; false if the stream ends before. */
bool java_stream__u32(struct java_stream *stream, u32 *value);

/**
 * struct java_known_method - what is known of a method
 * @method: address of its struct Method in the process; 0: none
 * @words: where in the process it was read from, which shows that it is still the same one
 * @used: by the clock of struct java_methods
 * @checked: when @words were compared with the process, in ns
 * @code: address of its bytecode
 * @size: bytes of that
 * @function: see hybrid_names__function()
 */
struct java_known_method {
	u64	method;
	u64	words[3];
	u64	used;
	u64	checked;
	u64	code;
	u32	size;
	u64	function;
};

/**
 * struct java_methods - the methods of a JVM
 * @vm: open
 * @fields: where they are, see method.c
 * @sizes: of types
 * @has_lines: bit of the flags of struct ConstMethod
 * @excluded: see struct java_stream
 * @quota: what was added to the names
 * @clock: counts questions
 * @known: by a hash of the method's address; of those that share one the one that was asked for
 *	longest ago goes
 */
struct java_methods {
	struct java_vm			*vm;
	struct java_field		 fields[16];
	u64				 sizes[4];
	s64				 has_lines;
	u8				 excluded;
	struct hybrid_names_quota	 quota;
	u64				 clock;
	struct java_known_method	 known[1 << JAVA_METHODS_BITS][JAVA_METHODS_WAYS];
};

/**
 * java_methods__init - find the fields that are needed
 * @methods: zeroed, and not touched where nothing is known: it is large
 * @vm: open; must stay longer
 *
 * Return: 0, or -1 if the tables lack one.
 */
int java_methods__init(struct java_methods *methods, struct java_vm *vm);

/**
 * java_methods__get - name a method
 * @methods: of the JVM
 * @names: that it is added to
 * @method: address of its struct Method
 *
 * Sources: struct Method, ConstMethod, ConstantPool and Symbol in src/hotspot/share/oops. The
 * memory of a method may be another method's when its class was unloaded: once a second it is
 * looked at again.
 *
 * Return: valid until called again; NULL if it can't be read.
 */
const struct java_known_method *java_methods__get(struct java_methods *methods,
						  struct hybrid_names *names, u64 method);

#endif /* __PERF_HYBRID_METHOD_H */
