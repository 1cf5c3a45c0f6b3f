// SPDX-License-Identifier: GPL-2.0
/*
 * Functions of mapped files, as the CFI lists them.
 */
#include "fde.h"
#include "function.h"
#include "rows.h"

/* False where the mapping has no file, or one that can't be read. */
static bool vaddr_of(const struct hybrid_mapping *mapping, u64 ip, u64 *vaddr)
{
	/* That opens it. */
	return mapping->object && hybrid_object_row(mapping, ip) &&
	       hybrid_object_vaddr(mapping->object, ip - mapping->start + mapping->pgoff, vaddr);
}

/* All of them are listed when the first is asked for; none where memory is short. */
static struct hybrid_fdes functions(struct hybrid_object *object)
{
	struct hybrid_fdes fdes = {};

	if (!object->functions_read) {
		object->functions_read = true;
		hybrid_fdes_read(object, &fdes);
		object->functions = fdes.fdes;
		object->functions_size = fdes.alloc * sizeof(*fdes.fdes);
		object->functions_user = fdes.user;
		object->nr_functions = fdes.nr;
	}
	fdes.fdes = object->functions;
	fdes.nr = object->nr_functions;
	return fdes;
}

u64 hybrid_function_start(const struct hybrid_mapping *mapping, u64 ip)
{
	const struct hybrid_fde *fde;
	struct hybrid_fdes fdes;
	u64 vaddr;

	if (!vaddr_of(mapping, ip, &vaddr))
		return 0;
	fdes = functions(mapping->object);
	fde = hybrid_fdes_find(&fdes, vaddr);
	return fde ? ip - (vaddr - fde->start) : 0;
}

const struct hybrid_fde *hybrid_function_fde(const struct hybrid_mapping *mapping, u64 vaddr)
{
	struct hybrid_fdes fdes;

	if (!mapping->object || !hybrid_object_use(mapping))
		return NULL;
	fdes = functions(mapping->object);
	return hybrid_fdes_find(&fdes, vaddr);
}

bool hybrid_function_leaves_stack(const struct hybrid_mapping *mapping, u64 ip)
{
	const struct hybrid_fde *fde;
	struct hybrid_code code;
	u64 vaddr;

	if (!mapping || !vaddr_of(mapping, ip, &vaddr))
		return false;
	fde = hybrid_function_fde(mapping, vaddr);
	if (!fde)
		return false;
	code = hybrid_object_code(mapping->object);
	return mapping->object->cfi.abi->arch->leaves_stack(&code, fde->start, fde->end);
}
