/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_CODE_H
#define __PERF_HYBRID_CODE_H

#include "../rules/object.h"
#include "call-reach.h"
#include "insn-effect.h"

struct hybrid_run;
struct x86_frame_mem;

/* DWARF's number of a register, by the processor's: psABI x86-64, figure 3.36. Eight differ. */
u8 hybrid_dwarf_reg(u8 reg);

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

/**
 * hybrid_code_rule - the same of a file: hand-written assembler, crt files, musl
 * @object: open
 * @vaddr: of the next instruction, as the ELF file numbers them
 * @rule: out
 *
 * Return: false where it does not know.
 */
bool hybrid_code_rule(const struct hybrid_object *object, u64 vaddr, struct hybrid_rule *rule);

/**
 * hybrid_code_rule_run - the same, for as much code as the answer is for
 * @object: open
 * @vaddr: of the next instruction, as the ELF file numbers them
 * @rule: in: of the code before, cleared if none is known; out
 * @end: out: behind the straight code from @vaddr on that @rule is for; where it is not
 *	known, behind the instruction
 * @took: out: instructions that were looked at, and what counts as such
 *
 * Return: false where it does not know.
 */
bool hybrid_code_rule_run(const struct hybrid_object *object, u64 vaddr,
			  struct hybrid_rule *rule, u64 *end, unsigned int *took);

/* hybrid_function_rules() of a file, by its own addresses. */
unsigned int hybrid_code_rules(const struct hybrid_object *object, u64 first,
			       struct hybrid_code_rules *rules);

/**
 * hybrid_code_is_return - does a call stand before an address?
 * @object: open
 * @vaddr: as the ELF file numbers them
 */
bool hybrid_code_is_return(const struct hybrid_object *object, u64 vaddr);

/**
 * hybrid_code_calls_with_result - is a call's result the argument of the next call?
 * @object: open
 * @vaddr: the first call's return address, as the ELF file numbers it
 *
 * As exit(main()) is compiled: the result is moved to the first argument's register, and a call
 * follows.
 */
bool hybrid_code_calls_with_result(const struct hybrid_object *object, u64 vaddr);

/**
 * hybrid_code_is_uprobe - may an optimized uprobe be before an address?
 * @object: open
 * @vaddr: as the ELF file numbers them
 * @left: out: bytes below sp that it leaves alone before it calls the kernel's code
 *
 * The kernel writes the call over a nop of five bytes, or, where it has to leave the red
 * zone alone, "lea -128(%rsp), %rsp" and the call over one of ten (arch/x86/kernel/uprobes.c).
 * The file still has the nop.
 */
bool hybrid_code_is_uprobe(const struct hybrid_object *object, u64 vaddr, u64 *left);

/**
 * hybrid_code_reaches - did the call before a return address lead to a callee?
 * @object: open
 * @ret: the return address, as the ELF file numbers them
 * @callee: the same; 0: in another file
 *
 * A signal trampoline needs no call.
 */
enum hybrid_reach hybrid_code_reaches(const struct hybrid_object *object, u64 ret, u64 callee);

/**
 * hybrid_code_sp_is_moved - hybrid_sp_is_moved() of a file of 64 bits
 * @object: open
 * @start: as the ELF file numbers them
 * @vaddr: the same
 * @end: the same
 * @pushed: see there
 * @from: out: as @start
 * @to: out: as @start
 */
bool hybrid_code_sp_is_moved(const struct hybrid_object *object, u64 start, u64 vaddr, u64 end,
			     s64 pushed, u64 *from, u64 *to);

/**
 * hybrid_code_sets_sp - hybrid_sets_sp() of a file
 * @object: open
 * @start: as the ELF file numbers them
 * @end: the same
 */
u64 hybrid_code_sets_sp(const struct hybrid_object *object, u64 start, u64 end);

/* hybrid_leaves_stack() of a file, by the same addresses. */
bool hybrid_code_leaves_stack(const struct hybrid_object *object, u64 start, u64 end);

/* hybrid_saves_bp() of a file, by its own addresses. */
bool hybrid_code_saves_bp(const struct hybrid_object *object, u64 start, u64 end, s32 off);

/* hybrid_call_target() and hybrid_call_site() of a file, by its own addresses. */
u64 hybrid_code_call_target(const struct hybrid_object *object, u64 ret);
u64 hybrid_code_call_site(const struct hybrid_object *object, u64 start, u64 end, u64 target,
			  u64 given);

/**
 * hybrid_code_effect - hybrid_insn_effect() of a file
 * @object: open
 * @vaddr: of the instruction, as the ELF file numbers them
 * @next: out: the address behind it
 */
enum hybrid_effect hybrid_code_effect(const struct hybrid_object *object, u64 vaddr, u64 *next);

/**
 * hybrid_code_jump - where an instruction of a file jumps to
 * @object: open
 * @vaddr: of the instruction, as the ELF file numbers them
 * @next: out: the address behind it
 *
 * Return: the address, 0 if it jumps to none that is known; @next is 0 if it is no instruction.
 */
u64 hybrid_code_jump(const struct hybrid_object *object, u64 vaddr, u64 *next);

/**
 * hybrid_code_returns - does code of a file do nothing but return to the caller?
 * @object: open
 * @vaddr: of an instruction, as the ELF file numbers them
 *
 * It returns by few instructions, and calls nothing if no condition holds: that the stack was
 * overwritten, in what -fstack-protector adds.
 */
bool hybrid_code_returns(const struct hybrid_object *object, u64 vaddr);

/**
 * hybrid_code_run_on - hybrid_run_on() of a file
 * @object: open
 * @run: @ip is as the ELF file numbers it; @mem is set here
 */
bool hybrid_code_run_on(const struct hybrid_object *object, struct hybrid_run *run);

#endif /* __PERF_HYBRID_CODE_H */
