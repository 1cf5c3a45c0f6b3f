/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_SCOPES_H
#define __PERF_HYBRID_SCOPES_H

#include "code-cache.h"

/**
 * struct java_scopes - where compiled methods say what they are compiled from
 * @vm: open
 * @fields: where they are, see scopes.c
 * @header_size: bytes of a blob that have them
 * @excluded: see struct java_stream
 */
struct java_scopes {
	struct java_vm		*vm;
	struct java_field	 fields[16];
	u32			 header_size;
	u8			 excluded;
};

/* Where the last bytecode of a method is, of whatever size that is. */
#define JAVA_LAST_BCI	(~0U)

/**
 * struct java_scope - a method, and where in it
 * @method: address of its struct Method
 * @bci: offset in its bytecode
 */
struct java_scope {
	u64	method;
	u32	bci;
};

/**
 * java_scopes__init - find the fields that are needed
 * @scopes: out
 * @vm: open; must stay longer
 * @excluded: see struct java_stream
 *
 * Return: 0, or -1 if the tables lack one.
 */
int java_scopes__init(struct java_scopes *scopes, struct java_vm *vm, u8 excluded);

/**
 * java_scopes__find - the methods that an address of compiled code is of
 * @scopes: of the JVM
 * @blob: the compiled method, not a native one
 * @pc: address in it: a return address, or a sampled one
 * @out: the innermost first: what was inlined, and what it is in
 * @max: room in @out
 *
 * HotSpot describes calls, and places where it may stop a thread. An address between two of them
 * is described by the next one, as JFR and AsyncGetCallTrace() have it (unless the JVM runs with
 * -XX:+DebugNonSafepoints). But where the frame is made or left, it is of the method itself;
 * and at the end of a loop of what the loop is of.
 *
 * Sources: src/hotspot/share/code/pcDesc.hpp, scopeDesc.cpp, nmethod.hpp.
 *
 * Return: number of @out; 0 if it can't be read.
 */
unsigned int java_scopes__find(const struct java_scopes *scopes, const struct java_blob *blob,
			       u64 pc, struct java_scope *out, unsigned int max);

#endif /* __PERF_HYBRID_SCOPES_H */
