/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_CODE_H
#define __PERF_HYBRID_CODE_H

#include "../rules/arch.h"
#include "call-reach.h"
#include "insn-effect.h"

struct x86_frame_mem;

/**
 * hybrid_code_ask - work out from the code itself where the caller is
 * @mem: reads it
 * @ip: of the next instruction
 * @rule: out
 *
 * For code without CFI. The analysis is the kernel's, x86_frame.c. A signal
 * trampoline is known by its bytes, in 64-bit code.
 *
 * Return: false where it does not know.
 */
bool hybrid_code_ask(const struct x86_frame_mem *mem, u64 ip, struct hybrid_rule *rule);

/*
 * The operations of struct hybrid_arch. hybrid_code_reaches() is @leads, hybrid_code_effect() is
 * @after.
 *
 * The kernel writes the call of a uprobe over a nop of five bytes, or, where it has to leave the
 * red zone alone, "lea -128(%rsp), %rsp" and the call over one of ten (arch/x86/kernel/uprobes.c).
 * The file still has the nop. A signal trampoline needs no call before it.
 */
bool hybrid_code_rule(struct hybrid_code *code, u64 vaddr, struct hybrid_rule *rule);
bool hybrid_code_rule_run(struct hybrid_code *code, u64 vaddr, struct hybrid_rule *rule, u64 *end,
			  unsigned int *took);
unsigned int hybrid_code_rules(struct hybrid_code *code, u64 first,
			       struct hybrid_code_rules *rules);
bool hybrid_code_is_return(struct hybrid_code *code, u64 vaddr);
bool hybrid_code_calls_with_result(struct hybrid_code *code, u64 vaddr);
bool hybrid_code_is_uprobe(struct hybrid_code *code, u64 vaddr, u64 *left);
enum hybrid_reach hybrid_code_reaches(struct hybrid_code *code, u64 ret, u64 callee);
u64 hybrid_code_sets_sp(struct hybrid_code *code, u64 start, u64 end);
bool hybrid_code_leaves_stack(struct hybrid_code *code, u64 start, u64 end);
bool hybrid_code_saves_bp(struct hybrid_code *code, u64 start, u64 end, s32 off);
u64 hybrid_code_call_target(struct hybrid_code *code, u64 ret);
u64 hybrid_code_call_site(struct hybrid_code *code, u64 start, u64 end, u64 target, u64 given);
enum hybrid_effect hybrid_code_effect(struct hybrid_code *code, u64 vaddr, u64 *next);
u64 hybrid_code_jump(struct hybrid_code *code, u64 vaddr, u64 *next);
bool hybrid_code_returns(struct hybrid_code *code, u64 vaddr);
bool hybrid_code_follow(struct hybrid_code *code, const struct hybrid_follow *follow, u64 from);
void hybrid_code_around(struct hybrid_code *code, u64 ip, u64 begins[2 * HYBRID_AROUND / 64]);
bool hybrid_code_run_on(struct hybrid_code *code, u64 ip, const struct hybrid_regs *regs,
			const struct hybrid_run_stack *stack, struct hybrid_run_end *end);
void hybrid_x86_map_regs(struct hybrid_regs_map *map, u64 mask, const struct hybrid_abi *abi);

/* hybrid_sp_is_moved() of code of 64 bits. */
bool hybrid_code_sp_is_moved(struct hybrid_code *code, u64 start, u64 vaddr, u64 end, s64 pushed,
			     u64 *from, u64 *to);

#endif /* __PERF_HYBRID_CODE_H */
