/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_PLT_H
#define __PERF_HYBRID_PLT_H

#include "../rules/object.h"

/* Where a jump through the global offset table leads. */
enum hybrid_plt {
	HYBRID_PLT_UNKNOWN,	/* no relocation tells */
	HYBRID_PLT_HERE,	/* to a function of the same file, unless another has its name */
	HYBRID_PLT_ELSEWHERE,	/* to another file */
};

/**
 * hybrid_plt_target - the function that an entry of the global offset table is for
 * @object: open, of the 64-bit ABI
 * @slot: the entry's address, as the ELF file numbers them
 * @target: out: of the function, with HYBRID_PLT_HERE
 *
 * By its relocation, R_X86_64_JUMP_SLOT or R_X86_64_GLOB_DAT (psABI x86-64 4.4.1).
 */
enum hybrid_plt hybrid_plt_target(const struct hybrid_object *object, u64 slot, u64 *target);

#endif /* __PERF_HYBRID_PLT_H */
