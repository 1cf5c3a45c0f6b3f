/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_FRAME_NAME_H
#define __PERF_HYBRID_FRAME_NAME_H

#include "../name-chain.h"
#include "code-cache.h"
#include "method.h"
#include "scopes.h"

#define JAVA_NAMED_BITS		12
#define JAVA_NAMED_MAX		14

/**
 * struct java_named - the functions of an address in the code cache
 * @pc: address; 0: none
 * @blob: address of the blob that holds it
 * @compile_id: of that
 * @method: of that
 * @nr: number of @ips
 * @ips: see hybrid_names_ip(), the innermost first
 */
struct java_named {
	u64	pc;
	u64	blob;
	u64	method;
	u32	compile_id;
	u32	nr;
	u64	ips[JAVA_NAMED_MAX];
};

/**
 * struct java_names - names the frames of a JVM
 * @methods: of the JVM
 * @scopes: of the JVM
 * @has_methods: methods can be read
 * @has_scopes: compiled methods say what they are compiled from
 * @named: addresses of compiled code, by a hash
 */
struct java_names {
	struct java_methods	methods;
	struct java_scopes	scopes;
	bool			has_methods;
	bool			has_scopes;
	struct java_named	named[1 << JAVA_NAMED_BITS];
};

/**
 * java_names__init - find what is needed to name frames
 * @names: zeroed, and not touched where nothing is known: it is large
 * @vm: open; must stay longer
 *
 * What the tables lack has no name.
 */
void java_names__init(struct java_names *names, struct java_vm *vm);

/**
 * java_names__frame - the functions of a frame in the code cache
 * @names: of the JVM
 * @to: that names are added to
 * @blob: that holds the frame's address
 * @frame: its address, and of the interpreter's what it runs
 * @out: see struct hybrid_namer
 *
 * Return: number of @out; 0 if nothing is known.
 */
unsigned int java_names__frame(struct java_names *names, struct hybrid_names *to,
			       const struct java_blob *blob, const struct hybrid_frame *frame,
			       u64 *out);

#endif /* __PERF_HYBRID_FRAME_NAME_H */
