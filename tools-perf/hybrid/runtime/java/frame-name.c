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

/* @is_whole: out: no method lacks as it could not be read: it may be the next time. */
static unsigned int name_compiled(struct java_names *names, struct hybrid_names *to,
				  const struct java_blob *blob, u64 pc, u64 *out, bool *is_whole)
{
	struct java_scope scopes[HYBRID_NAMES_OF_FRAME];
	unsigned int nr = 0, i;

	*is_whole = !names->has_scopes || blob->is_native;
	if (!*is_whole)
		nr = java_scopes__find(&names->scopes, blob, pc, scopes, ARRAY_SIZE(scopes));
	for (i = 0; i < nr; i++) {
		if (!name_method(names, to, scopes[i].method, scopes[i].bci, &out[i]))
			break;
	}
	if (nr && i == nr) {
		*is_whole = true;
		return nr;
	}
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
static bool is_known(const struct java_named *named, const struct java_blob_id *blob, u64 pc)
{
	return named->pc == pc && named->blob.addr == blob->addr &&
	       named->blob.name == blob->name && named->blob.method == blob->method &&
	       named->blob.compile_id == blob->compile_id;
}

/* What is known of the address, else the place for it. */
static struct java_named *find_named(struct java_names *names, const struct java_blob_id *blob,
				     u64 pc)
{
	struct java_named *set = names->named[hash_64(pc, JAVA_NAMED_BITS)], *oldest = set;
	unsigned int i;

	for (i = 0; i < JAVA_NAMED_WAYS; i++) {
		if (is_known(&set[i], blob, pc)) {
			set[i].used = ++names->clock;
			return &set[i];
		}
		if (set[i].used < oldest->used)
			oldest = &set[i];
	}
	return oldest;
}

static void keep(struct java_names *names, const struct java_blob *blob, u64 pc, const u64 *ips,
		 unsigned int nr)
{
	const struct java_blob_id id = java_blob_id(blob);
	struct java_named *named;

	if (nr > JAVA_NAMED_MAX)
		return;
	named = find_named(names, &id, pc);
	named->pc = pc;
	named->blob = id;
	named->nr = nr;
	named->used = ++names->clock;
	memcpy(named->ips, ips, nr * sizeof(*ips));
}

unsigned int java_names__known(struct java_names *names, const struct java_blob_id *blob, u64 pc,
			       u64 *out)
{
	const struct java_named *named = find_named(names, blob, pc);

	if (!is_known(named, blob, pc))
		return 0;
	memcpy(out, named->ips, named->nr * sizeof(*out));
	return named->nr;
}

unsigned int java_names__frame(struct java_names *names, struct hybrid_names *to,
			       const struct java_blob *blob, const struct hybrid_frame *frame,
			       u64 *out)
{
	const struct java_blob_id id = java_blob_id(blob);
	bool is_whole = true;
	unsigned int nr = 0;

	if (blob->kind == JAVA_BLOB_INTERPRETER && frame->function) {
		nr = name_interpreted(names, to, frame, out);
		if (nr)
			return nr;
	}
	nr = java_names__known(names, &id, frame->ret, out);
	if (nr)
		return nr;
	if (blob->kind == JAVA_BLOB_METHOD)
		nr = name_compiled(names, to, blob, frame->ret, out, &is_whole);
	if (!nr)
		nr = name_blob(names, to, blob, out);
	names->nr_partial += !is_whole;
	if (nr && is_whole)
		keep(names, blob, frame->ret, out, nr);
	return nr;
}
