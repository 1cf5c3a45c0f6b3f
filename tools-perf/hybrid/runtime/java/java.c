// SPDX-License-Identifier: GPL-2.0
/*
 * A JVM, as the unwinder asks for it.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/hash.h>
#include "frame-rule.h"
#include "java.h"

#define KNOWN_BITS	12

/**
 * struct known - what is known of an address
 * @pc: the address; 0: none
 * @pass: over the rings in which it was looked up
 * @found: @blob is valid
 * @blob: that holds it
 */
struct known {
	u64			pc;
	u64			pass;
	bool			found;
	struct java_blob	blob;
};

/**
 * struct java - a JVM
 * @vm: what it says of its data
 * @cache: its code
 * @interpreter: a part of that
 * @pass: over the rings in which @cache was refreshed
 * @known: by address
 */
struct java {
	struct java_vm		vm;
	struct java_code_cache	cache;
	struct java_interpreter	interpreter;
	u64			pass;
	struct known		known[1 << KNOWN_BITS];
};

static void *java_open(const struct hybrid_process_memory *pm, const struct hybrid_object *object,
		       u64 bias)
{
	struct java *java = calloc(1, sizeof(*java));

	if (!java)
		return NULL;
	java->vm.pm = *pm;
	if (!hybrid_process_memory_map(&java->vm.pm) && !java_vm__open(&java->vm, object, bias) &&
	    !java_code_cache__init(&java->cache, &java->vm))
		return java;
	java_vm__close(&java->vm);
	hybrid_process_memory_exit(&java->vm.pm);
	free(java);
	return NULL;
}

static void java_close(void *data)
{
	struct java *java = data;

	java_vm__close(&java->vm);
	hybrid_process_memory_exit(&java->vm.pm);
	free(java);
}

/* Code is freed, and its place used again: what was found is looked up again in each pass. */
static const struct java_blob *find_blob(struct java *java, u64 pass, u64 pc)
{
	struct known *known = &java->known[hash_64(pc, KNOWN_BITS)];

	if (java->pass != pass) {
		java->pass = pass;
		java_code_cache__refresh(&java->cache, &java->vm);
		if (!java->interpreter.nr)
			java_interpreter__read(&java->interpreter, &java->vm);
	}
	if (known->pc != pc || known->pass != pass) {
		known->pc = pc;
		known->pass = pass;
		known->found = java_code_cache__find(&java->cache, &java->vm, pc, &known->blob);
	}
	return known->found ? &known->blob : NULL;
}

static bool java_rule(void *data, u64 pass, const struct hybrid_unwind *u, unsigned int at,
		      struct hybrid_rule *rule)
{
	const struct java_blob *blob;
	struct java *java = data;

	java->vm.pm.space = u->space;
	blob = find_blob(java, pass, u->frames[at].ret);
	return blob && java_frame_rule(&java->vm, &java->interpreter, blob, u, at, rule);
}

static bool java_range(void *data, u64 pass, const struct hybrid_unwind *u, unsigned int at,
		       struct hybrid_runtime_range *range)
{
	const struct java_blob *blob;
	struct java *java = data;

	java->vm.pm.space = u->space;
	blob = find_blob(java, pass, u->frames[at].ret);
	return blob && java_frame_range(&java->vm, &java->interpreter, blob, u->frames[at].ret,
					range);
}

const struct hybrid_runtime_ops hybrid_java_ops = {
	.name	= "java",
	.symbol	= "gHotSpotVMStructs",
	.open	= java_open,
	.close	= java_close,
	.rule	= java_rule,
	.range	= java_range,
};
