// SPDX-License-Identifier: GPL-2.0
/*
 * The row for one address: what CFI says of it, and where that says nothing or
 * is known to be wrong, what the code there does.
 */
#include <linux/kernel.h>
#include "arch.h"
#include "compile.h"
#include "debug-frame.h"

int hybrid_compile_row(struct hybrid_object *object, u64 vaddr, struct hybrid_row *row)
{
	int err = hybrid_cfi_row(&object->cfi, vaddr, row);

	if (!err && row->rule.kind == HYBRID_RULE_NONE && !object->debug_tried) {
		hybrid_debug_frame_open(object);
		if (object->cfi.debug)
			err = hybrid_cfi_row(&object->cfi, vaddr, row);
	}
	if (!err)
		object->cfi.abi->arch->complete_row(object, vaddr, row);
	return err;
}
