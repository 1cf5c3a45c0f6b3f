// SPDX-License-Identifier: GPL-2.0
/*
 * The names of frames in HotSpot's code cache: methods, what was inlined into them, and stubs.
 */
#include <string.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include "frame-name.h"

void java_names__init(struct java_names *names, struct java_vm *vm)
{
	names->has_methods = !java_methods__init(&names->methods, vm);
	names->has_scopes = names->has_methods &&
			    !java_scopes__init(&names->scopes, vm, names->methods.excluded);
	names->methods.vm = vm;
}

/* @bci: behind the end of the bytecode: the method's last one. */
static bool name_method(struct java_names *names, struct hybrid_names *to, u64 method, u64 bci,
			u64 *ip)
{
	const struct java_known_method *known;

	known = names->has_methods ? java_methods__get(&names->methods, to, method) : NULL;
	if (!known)
		return false;
	*ip = hybrid_names_ip(known->function, known->size, min_t(u64, bci, known->size));
	return true;
}

static unsigned int name_interpreted(struct java_names *names, struct hybrid_names *to,
				     const struct hybrid_frame *frame, u64 *out)
{
	const struct java_known_method *known;
	u64 bci;

	known = names->has_methods ? java_methods__get(&names->methods, to, frame->function) :
				     NULL;
	if (!known)
		return 0;
	/* Where a method begins, and in native ones, it is of another one. */
	bci = frame->position - known->code;
	*out = hybrid_names_ip(known->function, known->size, bci < known->size ? bci : 0);
	return 1;
}

static unsigned int name_compiled(struct java_names *names, struct hybrid_names *to,
				  const struct java_blob *blob, u64 pc, u64 *out)
{
	struct java_scope scopes[HYBRID_NAMES_OF_FRAME];
	unsigned int nr = 0, i;

	if (names->has_scopes && !blob->is_native)
		nr = java_scopes__find(&names->scopes, blob, pc, scopes, ARRAY_SIZE(scopes));
	for (i = 0; i < nr; i++) {
		if (!name_method(names, to, scopes[i].method, scopes[i].bci, &out[i]))
			break;
	}
	if (nr && i == nr)
		return nr;
	return name_method(names, to, blob->method, 0, out);
}

/* A piece of the JVM's own: a stub, or the interpreter where it runs no method yet. */
static unsigned int name_blob(struct java_names *names, struct hybrid_names *to,
			      const struct java_blob *blob, u64 *out)
{
	char name[HYBRID_PROCESS_STRING];
	const struct hybrid_function function = { .name = name, .size = 1 };
	u64 start;

	if (hybrid_process_memory_string(&names->methods.vm->pm, blob->name, name))
		return 0;
	start = hybrid_names__function(to, &names->methods.quota, &function);
	if (!start)
		return 0;
	*out = hybrid_names_ip(start, function.size, 0);
	return 1;
}

/* A compilation has a number of its own, and keeps the methods that it is of. */
static bool is_known(const struct java_named *named, const struct java_blob *blob, u64 pc)
{
	return named->pc == pc && named->blob == blob->addr && named->method == blob->method &&
	       named->compile_id == blob->compile_id;
}

static void keep(struct java_named *named, const struct java_blob *blob, u64 pc, const u64 *ips,
		 unsigned int nr)
{
	if (nr > JAVA_NAMED_MAX)
		return;
	named->pc = pc;
	named->blob = blob->addr;
	named->method = blob->method;
	named->compile_id = blob->compile_id;
	named->nr = nr;
	memcpy(named->ips, ips, nr * sizeof(*ips));
}

unsigned int java_names__frame(struct java_names *names, struct hybrid_names *to,
			       const struct java_blob *blob, const struct hybrid_frame *frame,
			       u64 *out)
{
	struct java_named *named = &names->named[hash_64(frame->ret, JAVA_NAMED_BITS)];
	unsigned int nr = 0;

	if (blob->kind == JAVA_BLOB_INTERPRETER && frame->function) {
		nr = name_interpreted(names, to, frame, out);
		if (nr)
			return nr;
	}
	if (is_known(named, blob, frame->ret)) {
		memcpy(out, named->ips, named->nr * sizeof(*out));
		return named->nr;
	}
	if (blob->kind == JAVA_BLOB_METHOD)
		nr = name_compiled(names, to, blob, frame->ret, out);
	if (!nr)
		nr = name_blob(names, to, blob, out);
	if (nr)
		keep(named, blob, frame->ret, out, nr);
	return nr;
}
