// SPDX-License-Identifier: GPL-2.0
/*
 * The frames of HotSpot's code, by the kind of the code. Here: adapters and entry barriers.
 */
#include <string.h>
#include <linux/kernel.h>
#include "frame-rule.h"
#include "interpreter-rule.h"
#include "method-rule.h"
#include "rule-forms.h"

/* Bytes that are looked at: of an adapter. */
#define MAX_ADAPTER	2048

/* From where the stub that methods call before they begin makes its frame, to its calls. */
#define MAX_ENTRY_BARRIER	256

/* The last instruction in @code that takes room from the stack; -1: there is none. */
static ssize_t last_sub(const u8 *code, size_t size)
{
	ssize_t i;

	for (i = (ssize_t)size - 7; i >= 0; i--) {
		if (code[i] == 0x48 && (code[i + 1] == 0x83 || code[i + 1] == 0x81) &&
		    code[i + 2] == 0xec)
			return i;
	}
	return -1;
}

/*
 * SharedRuntime::gen_i2c_adapter() and gen_c2i_adapter(): the return address is at sp, but where
 * the second one, at its end, makes room for the interpreter's arguments. From then on r13 has
 * the caller's sp. Around that %rax has the return address:
 * pop %rax; mov %rsp,%r13; sub $SIZE,%rsp; mov %rax,(%rsp), or since JDK 20
 * lea 8(%rsp),%r13; pop %rax; sub $SIZE,%rsp; push %rax
 */
static bool adapter_rule(struct java_vm *vm, const struct java_blob *blob,
			 const struct hybrid_unwind *u, u64 pc, struct hybrid_rule *rule)
{
	u8 code[MAX_ADAPTER];
	size_t size = min_t(u64, blob->end - blob->code, sizeof(code)), at = pc - blob->code;
	ssize_t sub, pop, done;

	if (java_vm__read(vm, blob->code, code, size))
		return false;
	sub = last_sub(code, size);
	if (sub < 4)
		return false;
	pop = code[sub - 1] == 0x58 ? sub - 1 : sub - 4;
	done = sub + (code[sub + 1] == 0x83 ? 4 : 7);
	if (code[pop] != 0x58 || done + 4 > (ssize_t)size)
		return false;
	done += code[done] == 0x50 ? 1 : 4;
	if ((ssize_t)at >= done)
		return java_rule_by_register(u, JAVA_R13, 0, HYBRID_BP_SAME, rule);
	*rule = java_rule_of(JAVA_WORD, HYBRID_BP_SAME);
	return (ssize_t)at <= pop;
}

/*
 * MethodHandles::generate_method_handle_interpreter_entry(): the return address is at sp, r13 has
 * the caller's sp. Where an argument goes, %rax has the return address:
 * pop %rax; pop %rbx; push %rax
 */
static bool handles_rule(struct java_vm *vm, const struct hybrid_unwind *u, u64 pc,
			 struct hybrid_rule *rule)
{
	u8 code[3];

	if (java_vm__read(vm, pc - 2, code, sizeof(code)) ||
	    (code[1] == 0x58 && code[2] == 0x5b) || (code[0] == 0x58 && code[1] == 0x5b))
		return false;
	return java_rule_by_register(u, JAVA_R13, 0, HYBRID_BP_SAME, rule);
}

/*
 * StubGenerator::generate_method_entry_barrier(), which methods call before they begin: the frame
 * has a word between the return address and the caller's bp.
 * push $-1; push %rbp; mov %rsp,%rbp; push %rdi; lea 24(%rsp),%rdi; and the registers
 */
static bool entry_barrier_rule(struct java_vm *vm, const struct java_blob *blob, u64 pc,
			       struct hybrid_rule *rule)
{
	static const u8 begin[] = {
		0xff, 0x55, 0x48, 0x8b, 0xec, 0x57, 0x48, 0x8d, 0x7c, 0x24, 0x18,
	};
	u64 start = max(blob->code, pc - MAX_ENTRY_BARRIER);
	u8 code[MAX_ENTRY_BARRIER];

	if (pc - start > sizeof(code) || java_vm__read(vm, start, code, pc - start) ||
	    !memmem(code, pc - start, begin, sizeof(begin)))
		return false;
	*rule = (struct hybrid_rule) {
		.kind = HYBRID_RULE_CFA, .base = HYBRID_BASE_BP, .bp = HYBRID_BP_AT_CFA,
		.cfa_off = 3 * JAVA_WORD, .ra_off = -JAVA_WORD, .bp_off = -3 * JAVA_WORD,
	};
	return true;
}

bool java_frame_rule(struct java_vm *vm, const struct java_interpreter *interpreter,
		     const struct java_blob *blob, const struct hybrid_unwind *u,
		     unsigned int at, struct hybrid_rule *rule)
{
	const struct hybrid_frame *frame = &u->frames[at];
	u64 pc = frame->ret;
	bool innermost = !at || frame->ip == pc;

	switch (blob->kind) {
	case JAVA_BLOB_METHOD:
		if (!java_method_rule(vm, blob, pc, innermost, rule))
			return false;
		/* A stub that calls has a frame, and is called without such words. */
		if (!innermost && at == 1)
			rule->cfa_off += JAVA_WORD * java_pushed_words(vm, pc);
		return true;
	case JAVA_BLOB_INTERPRETER:
		return java_interpreter_rule(vm, interpreter, u, pc, innermost, rule);
	case JAVA_BLOB_STUB:
		return !innermost && java_method_rule(vm, blob, pc, false, rule);
	case JAVA_BLOB_ADAPTER:
		return innermost && adapter_rule(vm, blob, u, pc, rule);
	case JAVA_BLOB_HANDLES:
		return innermost && handles_rule(vm, u, pc, rule);
	case JAVA_BLOB_VTABLE:
		*rule = java_rule_of(JAVA_WORD, HYBRID_BP_SAME);
		return innermost;
	default:
		return !innermost && entry_barrier_rule(vm, blob, pc, rule);
	}
}

bool java_frame_range(struct java_vm *vm, const struct java_interpreter *interpreter,
		      const struct java_blob *blob, u64 pc, struct hybrid_runtime_range *range)
{
	*range = (struct hybrid_runtime_range) { .start = blob->code, .end = blob->end };
	return blob->kind == JAVA_BLOB_INTERPRETER &&
	       java_interpreter_range(interpreter, pc, range) &&
	       java_saved_sp_rule(vm, &range->rule) && pc >= range->start && pc < range->end;
}

bool java_frame_is_walked(const struct java_blob *blob, bool innermost)
{
	switch (blob->kind) {
	case JAVA_BLOB_METHOD:
		return blob->frame_size >= JAVA_SAVED && (!innermost || blob->frame_complete >= 0);
	case JAVA_BLOB_STUB:
		return !innermost && blob->frame_size >= JAVA_SAVED;
	case JAVA_BLOB_VTABLE:
		return innermost;
	default:
		return false;
	}
}
