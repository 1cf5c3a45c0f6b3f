/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_FRAME_NAME_H
#define __PERF_HYBRID_FRAME_NAME_H

#include "../name-chain.h"
#include "code-cache.h"
#include "method.h"
#include "scopes.h"

#define JAVA_NAMED_BITS		11
#define JAVA_NAMED_WAYS		4

/* C2 inlines 15 methods into one another. */
#define JAVA_NAMED_MAX		16

/**
 * struct java_blob_id - which blob it is: its place may have been another one's
 * @addr: of the blob
 * @name: see struct java_blob
 * @method: the same
 * @compile_id: the same
 */
struct java_blob_id {
	u64	addr;
	u64	name;
	u64	method;
	u32	compile_id;
};

/**
 * struct java_named - the functions of an address in the code cache
 * @pc: address; 0: none
 * @blob: that holds it
 * @used: by the clock of struct java_names
 * @nr: number of @ips
 * @ips: see hybrid_names_ip(), the innermost first
 */
struct java_named {
	u64			pc;
	struct java_blob_id	blob;
	u32			nr;
	u64			used;
	u64			ips[JAVA_NAMED_MAX];
};

/**
 * struct java_names - names the frames of a JVM
 * @methods: of the JVM
 * @scopes: of the JVM
 * @has_methods: methods can be read
 * @has_scopes: compiled methods say what they are compiled from
 * @nr_partial: frames of which a method could not be read
 * @clock: counts frames
 * @named: addresses of compiled code, by a hash; of those that share one the one that was used
 *	longest ago goes
 */
struct java_names {
	struct java_methods	methods;
	struct java_scopes	scopes;
	bool			has_methods;
	bool			has_scopes;
	u64			nr_partial;
	u64			clock;
	struct java_named	named[1 << JAVA_NAMED_BITS][JAVA_NAMED_WAYS];
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

/* The same of what is known already of an address that @blob holds. */
unsigned int java_names__known(struct java_names *names, const struct java_blob_id *blob, u64 pc,
			       u64 *out);

static inline struct java_blob_id java_blob_id(const struct java_blob *blob)
{
	return (struct java_blob_id) {
		.addr = blob->addr, .name = blob->name, .method = blob->method,
		.compile_id = blob->compile_id,
	};
}

static inline bool java_is_blob(const struct java_blob *blob, const struct java_blob_id *id)
{
	return blob->addr == id->addr && blob->name == id->name && blob->method == id->method &&
	       blob->compile_id == id->compile_id;
}

#endif /* __PERF_HYBRID_FRAME_NAME_H */
