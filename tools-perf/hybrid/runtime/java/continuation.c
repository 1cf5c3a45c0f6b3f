// SPDX-License-Identifier: GPL-2.0
/*
 * Where the frames of a virtual thread end on the stack: JDK 21 and later.
 */
#include <string.h>
#include "continuation.h"

#define WORD	8

/* Between the frames lie the arguments that one has on the stack, and what aligns them. */
#define MAX_BETWEEN	256

/* The frame of the method that enters a virtual thread, struct ContinuationEntry in it, at most. */
#define MAX_ENTRY	128

/* From the end of that frame to the frame pointer of an interpreted caller, at most. */
#define MAX_INTERPRETED	1024

/*
 * mov DISP(%r15),%rsp: of the thread the address of its struct ContinuationEntry. JDK 21 does not
 * say where that is: push %rax; sub $16,%rsp follow it, which keep what the method returns.
 */
bool java_is_return_barrier(struct java_vm *vm, u64 pc)
{
	static const u8 begin[] = { 0x49, 0x8b, 0xa7 }, keep[] = { 0x50, 0x48, 0x83, 0xec, 0x10 };
	u8 code[sizeof(begin) + sizeof(u32) + sizeof(keep)];
	u64 entry;
	u32 disp;

	if (java_vm__read(vm, pc, code, sizeof(begin) + sizeof(disp)) ||
	    memcmp(code, begin, sizeof(begin)))
		return false;
	memcpy(&disp, code + sizeof(begin), sizeof(disp));
	if (java_vm__offset(vm, "JavaThread", "_cont_entry", &entry))
		return disp == entry;
	return !java_vm__read(vm, pc, code, sizeof(code)) &&
	       !memcmp(code + sizeof(code) - sizeof(keep), keep, sizeof(keep));
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

/*
 * Is @ret, which is in @blob, where enterSpecial() returns to Continuation.run()? enterSpecial() is
 * a native method. @bp: what is saved below @ret. If run() is interpreted, it is the address of its
 * frame, above @sp.
 */
static bool is_enter(struct java_code_cache *cache, struct java_vm *vm,
		     const struct java_blob *blob, u64 ret, u64 bp, u64 sp)
{
	struct java_blob callee;
	u8 call[5];
	s32 disp;

	if (blob->kind == JAVA_BLOB_INTERPRETER)
		return bp > sp && bp - sp < MAX_INTERPRETED && bp % WORD == 0;
	if (blob->kind != JAVA_BLOB_METHOD ||
	    java_vm__read(vm, ret - sizeof(call), call, sizeof(call)) || call[0] != 0xe8)
		return false;
	memcpy(&disp, call + 1, sizeof(disp));
	return java_code_cache__find(cache, vm, ret + disp, &callee) && callee.is_native;
}

/* Returns how far above @sp the frame ends that has entered the thread; 0: it is not found. */
static u32 find_enter(struct java_code_cache *cache, struct java_vm *vm,
		      const struct hybrid_unwind *u, u64 sp)
{
	u32 size = enter_size(cache, vm), off = size ?: 2 * WORD;
	struct java_blob blob;
	u64 ret, bp;

	for (; off <= MAX_BETWEEN + (size ?: MAX_ENTRY); off += WORD) {
		if (hybrid_unwind_read(u, sp + off - WORD, WORD, &ret) ||
		    hybrid_unwind_read(u, sp + off - 2 * WORD, WORD, &bp))
			return 0;
		if (java_code_cache__find(cache, vm, ret, &blob) &&
		    !java_is_return_barrier(vm, ret) &&
		    (size || is_enter(cache, vm, &blob, ret, bp, sp + off)))
			return off;
	}
	return 0;
}

bool java_continuation_rule(struct java_code_cache *cache, struct java_vm *vm,
			    const struct hybrid_unwind *u, unsigned int at,
			    struct hybrid_rule *rule)
{
	u64 sp = at ? u->frames[at - 1].cfa : 0;
	u32 cfa_off = sp ? find_enter(cache, vm, u, sp) : 0;

	*rule = (struct hybrid_rule) {
		.kind = HYBRID_RULE_CFA, .base = HYBRID_BASE_SP, .bp = HYBRID_BP_AT_CFA,
		.cfa_off = cfa_off, .ra_off = -WORD, .bp_off = -2 * WORD,
	};
	return cfa_off;
}
