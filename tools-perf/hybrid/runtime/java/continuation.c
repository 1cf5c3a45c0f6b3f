// SPDX-License-Identifier: GPL-2.0
/*
 * Where the frames of a virtual thread end on the stack: JDK 21 and later.
 */
#include <string.h>
#include "continuation.h"

#define WORD	8

/* Between the frames lie the arguments that one has on the stack, and what aligns them. */
#define MAX_BETWEEN	256

bool java_is_return_barrier(struct java_vm *vm, u64 pc)
{
	u8 code[7];
	u64 entry;
	u32 disp;

	/* mov DISP(%r15),%rsp: of the thread the address of its struct ContinuationEntry. */
	if (!java_vm__offset(vm, "JavaThread", "_cont_entry", &entry) ||
	    java_vm__read(vm, pc, code, sizeof(code)) ||
	    code[0] != 0x49 || code[1] != 0x8b || code[2] != 0xa7)
		return false;
	memcpy(&disp, code + 3, sizeof(disp));
	return disp == entry;
}

/* Bytes of the frame of the method that enters a continuation; 0: it is not known. */
static u32 enter_size(struct java_code_cache *cache, struct java_vm *vm)
{
	struct java_blob blob;
	u64 address, pc;

	if (!java_vm__static(vm, "ContinuationEntry", "_return_pc", &address) ||
	    java_vm__read(vm, address, &pc, sizeof(pc)) ||
	    !java_code_cache__find(cache, vm, pc, &blob) || blob.kind != JAVA_BLOB_METHOD)
		return 0;
	return blob.frame_size;
}

bool java_continuation_rule(struct java_code_cache *cache, struct java_vm *vm,
			    const struct hybrid_unwind *u, unsigned int at,
			    struct hybrid_rule *rule)
{
	u64 sp = at ? u->frames[at - 1].cfa : 0, ret;
	u32 size = enter_size(cache, vm), off;
	struct java_blob blob;

	for (off = 0; sp && size >= 2 * WORD && off <= MAX_BETWEEN; off += WORD) {
		if (hybrid_unwind_read(u, sp + off + size - WORD, WORD, &ret))
			return false;
		if (!java_code_cache__find(cache, vm, ret, &blob) ||
		    java_is_return_barrier(vm, ret))
			continue;
		*rule = (struct hybrid_rule) {
			.kind = HYBRID_RULE_CFA, .base = HYBRID_BASE_SP, .bp = HYBRID_BP_AT_CFA,
			.cfa_off = off + size, .ra_off = -WORD, .bp_off = -2 * WORD,
		};
		return true;
	}
	return false;
}
