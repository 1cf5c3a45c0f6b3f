// SPDX-License-Identifier: GPL-2.0
/*
 * The row for one address: what Go's table or CFI says of it, and where that says
 * nothing or is known to be wrong, what the code there does.
 */
#include <errno.h>
#include <linux/kernel.h>
#include "arch.h"
#include "compile.h"
#include "debug-frame.h"

static int compile_cfi(struct hybrid_object *object, u64 vaddr, struct hybrid_row *row)
{
	int err = hybrid_cfi_row(&object->cfi, vaddr, row);

	if (!err && row->rule.kind == HYBRID_RULE_NONE && !object->debug_tried) {
		if (!hybrid_debug_frame_open(object))
			return -EAGAIN;
		if (object->cfi.debug)
			err = hybrid_cfi_row(&object->cfi, vaddr, row);
	}
	return err;
}

/*
 * Go's linker makes .debug_frame of its table, and leaves out what that says of
 * functions that leave the stack. What else is in the file, C for one, has CFI.
 */
int hybrid_compile_row(struct hybrid_object *object, u64 vaddr, struct hybrid_row *row)
{
	int err = 0;

	object->compiled_at = object->objects->now;
	if (!hybrid_pclntab_find(object) || !hybrid_pclntab_row(object, vaddr, row))
		err = compile_cfi(object, vaddr, row);
	if (!err)
		object->cfi.abi->arch->complete_row(object, vaddr, row);
	return err;
}
