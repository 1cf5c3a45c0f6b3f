// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include <asm/insn.h>
#include "../rules/expr.h"
#include "callers-frame.h"
#include "code.h"
#include "context-switch.h"
#include "flow.h"
#include "frame-around.h"
#include "frame-pointer.h"
#include "from-entry.h"
#include "function-rules.h"
#include "plt.h"
#include "probe-loop.h"
#include "realigned.h"
#include "run-on.h"
#include "saved-sp.h"
#include "x86_frame_scan.h"

/*
 * Units that an analysis of a file's code may take, see X86_FRAME_INSNS: there is more time than
 * in the kernel, and assembler has functions of thousands without a branch that leaves.
 */
#define MAX_UNITS	32768

/* DWARF's number. */
#define R11		11

/* psABI x86-64 3.2.2: what leaf functions may use below sp. */
#define RED_ZONE	128

static struct x86_frame_mem mem_of(struct hybrid_code *code)
{
	return (struct x86_frame_mem) {
		.read = code->read, .ctx = code, .is_64bit = code->word == 8,
		.any_bp = code->any_bp,
	};
}

/* DWARF's number of a register, by the processor's: psABI x86-64, figure 3.36. Eight differ. */
static u8 dwarf_reg(u8 reg)
{
	static const u8 regs[] = { 0, 2, 1, 3, 7, 6, 4, 5 };

	return reg < sizeof(regs) ? regs[reg] : reg;
}

/* False for a rule that struct hybrid_rule can't say. */
static bool to_rule(enum x86_frame_kind kind, const struct x86_frame_rule *found, bool is_64bit,
		    struct hybrid_rule *rule)
{
	memset(rule, 0, sizeof(*rule));
	rule->kind = HYBRID_RULE_CFA;
	rule->base = found->use_fp ? HYBRID_BASE_BP : HYBRID_BASE_SP;
	rule->cfa_off = found->cfa_off;
	rule->ra_off = found->ra_off;
	rule->bp = found->fp_off ? HYBRID_BP_AT_CFA : HYBRID_BP_SAME;
	if (found->fp_lost)
		rule->bp = HYBRID_BP_UNDEFINED;
	rule->bp_off = found->fp_off;
	if (kind == X86_FRAME_SCAN_MEM) {
		rule->kind = HYBRID_RULE_DEREF;
		rule->cfa_off = found->mem_off;
		rule->deref_off = found->cfa_off;
		return rule->deref_off == found->cfa_off;
	}
	/* i386 numbers its registers as the processor does. */
	if (kind == X86_FRAME_SCAN_REG)
		rule->base = HYBRID_BASE_REG +
			     (is_64bit ? dwarf_reg(found->reg) : found->reg);
	return kind != X86_FRAME_UNKNOWN && kind != X86_FRAME_SIGNAL;
}

/*
 * In a loop that makes a large frame sp is not known, but r11 is what sp is going to be at @end.
 * The rule is that of @end.
 */
static bool loop_rule(const struct x86_frame_mem *mem, u64 end, s32 from_sp,
		      struct hybrid_rule *rule, unsigned int *took)
{
	struct x86_frame_rule found = {};
	struct x86_frame_work work;
	enum x86_frame_kind kind;

	kind = x86_frame_analyze_within(mem, end, &found, &work, MAX_UNITS);
	*took = work.took + 1;
	if (!to_rule(kind, &found, mem->is_64bit, rule))
		return false;
	if (rule->base != HYBRID_BASE_SP)
		return rule->base == HYBRID_BASE_BP;
	rule->cfa_off -= from_sp;
	if (!from_sp)
		rule->base = HYBRID_BASE_REG + R11;
	return rule->kind == HYBRID_RULE_CFA;
}

static bool ask_frame_pointer(const struct x86_frame_mem *mem, u64 ip, struct hybrid_rule *rule,
			      u64 *run, unsigned int *took)
{
	unsigned int more;
	bool framed;

	framed = hybrid_has_frame_pointer(mem, ip, run, &more);
	*took += more;
	*rule = hybrid_rule_frame_pointer(mem->is_64bit ? 8 : 4);
	return framed;
}

/*
 * @run: out: bytes of straight code that the rule is for, 1 if it is of one instruction. @framed:
 * the code before has a frame pointer: the search for its end is likely to succeed, and is shorter
 * than the analysis, which has to find the return.
 */
static bool find_rule(const struct x86_frame_mem *mem, u64 ip, bool framed,
		      struct hybrid_rule *rule, u64 *run, unsigned int *took)
{
	struct x86_frame_rule found = {};
	struct x86_frame_work work;
	enum x86_frame_kind kind;
	unsigned int more;
	s32 from_sp;
	u64 end;

	*run = 1;
	*took = 1;
	if (hybrid_probe_loop(mem, ip, &end, &from_sp))
		return loop_rule(mem, end, from_sp, rule, took);
	if (framed && ask_frame_pointer(mem, ip, rule, run, took))
		return true;
	kind = x86_frame_analyze_within(mem, ip, &found, &work, MAX_UNITS);
	*took += work.took;
	if (to_rule(kind, &found, mem->is_64bit, rule)) {
		*run = work.run;
		hybrid_realigned_rule(mem, ip, rule, &more);
		*took += more;
		return true;
	}
	return !framed && ask_frame_pointer(mem, ip, rule, run, took);
}

/* Other registers need not have at the end of the function what they have now. */
static bool is_by_stack(const struct hybrid_rule *rule)
{
	return rule->base < HYBRID_BASE_REG;
}

static bool has_code(const struct x86_frame_mem *mem, u64 vaddr, const u8 *code, unsigned int len)
{
	u8 found[HYBRID_MAX_INSN];

	return x86_frame_fetch(mem, vaddr, found, len) == len && !memcmp(found, code, len);
}

/*
 * Is @ip at a signal trampoline's first instruction, or at its system call? The address after that
 * is none of it: another function may begin there, as memcpy() often does in static musl programs.
 */
static bool is_sigreturn(const struct x86_frame_mem *mem, u64 ip)
{
	static const u8 syscall[] = { 0x0f, 0x05 };

	if (x86_frame_sigreturn(mem, ip) == X86_SIGRETURN_64)
		return true;
	return mem->is_64bit && has_code(mem, ip, syscall, sizeof(syscall)) &&
	       x86_frame_in_sigreturn(mem, ip + sizeof(syscall)) == X86_SIGRETURN_64;
}

bool hybrid_code_ask(const struct x86_frame_mem *mem, u64 ip, struct hybrid_rule *rule)
{
	unsigned int took;
	u64 run;

	if (is_sigreturn(mem, ip)) {
		*rule = (struct hybrid_rule) { .kind = HYBRID_RULE_SIGRETURN, .signal = true };
		return true;
	}
	if (mem->is_64bit && hybrid_is_before_frame(mem, ip)) {
		*rule = (struct hybrid_rule) {
			.kind = HYBRID_RULE_CFA, .base = HYBRID_BASE_SP, .bp = HYBRID_BP_SAME,
			.cfa_off = sizeof(u64), .ra_off = -(s32)sizeof(u64),
		};
		return true;
	}
	if (find_rule(mem, ip, false, rule, &run, &took)) {
		if (!is_by_stack(rule))
			hybrid_from_entry_rule(mem, ip, rule, &took);
		return true;
	}
	*rule = hybrid_rule_frame_pointer(mem->is_64bit ? 8 : 4);
	return hybrid_saved_sp_rule(mem, ip, rule) || hybrid_switch_rule(mem, ip, rule) ||
	       hybrid_from_entry_rule(mem, ip, rule, &took);
}

bool hybrid_code_rule(struct hybrid_code *code, u64 vaddr, struct hybrid_rule *rule)
{
	const struct x86_frame_mem mem = mem_of(code);

	return hybrid_code_ask(&mem, vaddr, rule);
}

/* Behind the last instruction that begins in the first @run bytes. */
static u64 end_of_insns(const struct x86_frame_mem *mem, u64 vaddr, unsigned int run)
{
	u64 at = vaddr, next;

	do {
		hybrid_insn_effect(mem, at, &next);
		if (next == at)
			return at + (at == vaddr);
		at = next;
	} while (at - vaddr < run);
	return at;
}

/* Is sp at the return address, and the rule true of the caller's caller only? */
static bool leads_too_far(const struct x86_frame_mem *mem, u64 ip, const struct hybrid_rule *rule,
			  unsigned int *took)
{
	unsigned int more;
	bool is_so;

	if (rule->kind != HYBRID_RULE_CFA || rule->base != HYBRID_BASE_SP ||
	    rule->cfa_off != sizeof(u64) || !mem->is_64bit)
		return false;
	is_so = hybrid_makes_callers_frame(mem, ip, &more);
	*took += more;
	return is_so;
}

static bool find_run(const struct x86_frame_mem *mem, u64 vaddr, struct hybrid_rule *rule,
		     u64 *end, unsigned int *took)
{
	bool framed, found;
	unsigned int more;
	u64 run;

	framed = rule->kind == HYBRID_RULE_CFA && rule->base == HYBRID_BASE_BP;
	found = find_rule(mem, vaddr, framed, rule, &run, took);
	*end = end_of_insns(mem, vaddr, found ? run : 1);
	if ((found && is_by_stack(rule)) ||
	    (!found && (hybrid_saved_sp_rule(mem, vaddr, rule) ||
			hybrid_switch_rule(mem, vaddr, rule))))
		return true;
	if (hybrid_from_entry_rule(mem, vaddr, rule, &more)) {
		*end = end_of_insns(mem, vaddr, 1);
		found = true;
	}
	*took += more;
	return found;
}

bool hybrid_code_rule_run(struct hybrid_code *code, u64 vaddr,
			  struct hybrid_rule *rule, u64 *end, unsigned int *took)
{
	const struct x86_frame_mem mem = mem_of(code);

	if (!find_run(&mem, vaddr, rule, end, took))
		return false;
	if (!leads_too_far(&mem, vaddr, rule, took))
		return true;
	*end = end_of_insns(&mem, vaddr, 1);
	return false;
}

unsigned int hybrid_code_rules(struct hybrid_code *code, u64 first,
			       struct hybrid_code_rules *rules)
{
	const struct x86_frame_mem mem = mem_of(code);

	return hybrid_function_rules(&mem, first, rules);
}

bool hybrid_code_is_return(struct hybrid_code *code, u64 vaddr)
{
	const struct x86_frame_mem mem = mem_of(code);

	return x86_frame_call_before(&mem, vaddr);
}

bool hybrid_code_calls_with_result(struct hybrid_code *code, u64 vaddr)
{
	static const u8 eax[] = { 0x89, 0xc7, 0xe8 };		/* mov %eax,%edi; call */
	static const u8 rax[] = { 0x48, 0x89, 0xc7, 0xe8 };	/* mov %rax,%rdi; call */
	static const u8 sext[] = { 0x48, 0x63, 0xf8, 0xe8 };	/* movslq %eax,%rdi; call */
	const struct x86_frame_mem mem = mem_of(code);

	return mem.is_64bit && (has_code(&mem, vaddr, eax, sizeof(eax)) ||
				has_code(&mem, vaddr, rax, sizeof(rax)) ||
				has_code(&mem, vaddr, sext, sizeof(sext)));
}

bool hybrid_code_is_uprobe(struct hybrid_code *code, u64 vaddr, u64 *left)
{
	static const u8 nop5[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
	static const u8 nop10[] = { 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00 };
	const struct x86_frame_mem mem = mem_of(code);

	*left = RED_ZONE;
	if (has_code(&mem, vaddr - sizeof(nop10), nop10, sizeof(nop10)))
		return true;
	*left = 0;
	return has_code(&mem, vaddr - sizeof(nop5), nop5, sizeof(nop5));
}

/*
 * A call through a PLT never gives HYBRID_REACH_NOT. The function that it calls may jump to a
 * callback, as twalk() does, and before lazy binding the entry jumps to the dynamic linker.
 */
enum hybrid_reach hybrid_code_reaches(struct hybrid_code *code, u64 ret, u64 callee)
{
	const struct x86_frame_mem mem = mem_of(code);
	enum hybrid_reach leads;
	u64 slot, target;

	if (x86_frame_sigreturn(&mem, ret) != X86_SIGRETURN_NONE)
		return HYBRID_REACH_THERE;
	leads = hybrid_call_reaches(&mem, ret, callee, &slot);
	if (!slot || !callee || !code->object)
		return leads;
	switch (hybrid_plt_target(code->object, slot, &target)) {
	case HYBRID_PLT_HERE:
		leads = hybrid_target_reaches(&mem, target, callee, &slot);
		return leads == HYBRID_REACH_NOT ? HYBRID_REACH_ELSEWHERE : leads;
	case HYBRID_PLT_ELSEWHERE:
		return HYBRID_REACH_ELSEWHERE;
	case HYBRID_PLT_UNKNOWN:
	default:
		return leads;
	}
}

u64 hybrid_code_sets_sp(struct hybrid_code *code, u64 start, u64 end)
{
	const struct x86_frame_mem mem = mem_of(code);

	return hybrid_sets_sp(&mem, start, end);
}

bool hybrid_code_sp_is_moved(struct hybrid_code *code, u64 start, u64 vaddr, u64 end,
			     s64 pushed, u64 *from, u64 *to)
{
	const struct x86_frame_mem mem = mem_of(code);

	return hybrid_sp_is_moved(&mem, start, vaddr, end, pushed, from, to);
}

bool hybrid_code_leaves_stack(struct hybrid_code *code, u64 start, u64 end)
{
	const struct x86_frame_mem mem = mem_of(code);

	return hybrid_leaves_stack(&mem, start, end);
}

bool hybrid_code_saves_bp(struct hybrid_code *code, u64 start, u64 end, s32 off)
{
	const struct x86_frame_mem mem = mem_of(code);

	return hybrid_saves_bp(&mem, start, end, off);
}

u64 hybrid_code_call_target(struct hybrid_code *code, u64 ret)
{
	const struct x86_frame_mem mem = mem_of(code);

	return hybrid_call_target(&mem, ret);
}

u64 hybrid_code_call_site(struct hybrid_code *code, u64 start, u64 end, u64 target,
			  u64 given)
{
	const struct x86_frame_mem mem = mem_of(code);

	return hybrid_call_site(&mem, code->object, start, end, target, given);
}

enum hybrid_effect hybrid_code_effect(struct hybrid_code *code, u64 vaddr, u64 *next)
{
	const struct x86_frame_mem mem = mem_of(code);

	return hybrid_insn_effect(&mem, vaddr, next);
}

u64 hybrid_code_jump(struct hybrid_code *code, u64 vaddr, u64 *next)
{
	const struct x86_frame_mem mem = mem_of(code);

	return hybrid_insn_jump(&mem, vaddr, next);
}

bool hybrid_code_returns(struct hybrid_code *code, u64 vaddr)
{
	const struct x86_frame_mem mem = mem_of(code);

	return hybrid_returns(&mem, vaddr);
}

static enum hybrid_way way_of(const struct insn *insn)
{
	u8 op = insn->opcode.bytes[0], second = insn->opcode.bytes[1];

	if (op == 0xe8 || (op == 0xff && X86_MODRM_REG(insn->modrm.value) == 2))
		return HYBRID_WAY_CALL;
	if (insn->vex_prefix.nbytes)
		return HYBRID_WAY_ON;
	if ((op >= 0x70 && op <= 0x7f) || (op == 0x0f && (second & 0xf0) == 0x80))
		return HYBRID_WAY_BRANCH;
	return op == 0xe9 || op == 0xeb ? HYBRID_WAY_JUMP : HYBRID_WAY_ON;
}

static enum hybrid_flow_step tell_visitor(struct hybrid_flow *flow, const struct insn *insn,
					  u64 addr)
{
	const struct hybrid_follow *follow = flow->arg;
	u64 next = addr + insn->length;

	return follow->visit(follow->arg, way_of(insn), addr, next,
			     next + (s64)insn->immediate.value);
}

bool hybrid_code_follow(struct hybrid_code *code, const struct hybrid_follow *follow, u64 from)
{
	const struct x86_frame_mem mem = mem_of(code);
	struct hybrid_flow flow = {
		.mem = &mem, .near = follow->near, .max_insns = follow->max_insns,
		.visit = tell_visitor, .arg = (void *)follow,
	};

	return hybrid_flow_from(&flow, from);
}

void hybrid_code_around(struct hybrid_code *code, u64 ip, u64 begins[2 * HYBRID_AROUND / 64])
{
	const struct x86_frame_mem mem = mem_of(code);

	hybrid_frame_around(&mem, ip, begins);
}

bool hybrid_code_run_on(struct hybrid_code *code, u64 ip, const struct hybrid_regs *regs,
			const struct hybrid_run_stack *stack, struct hybrid_run_end *end)
{
	const struct x86_frame_mem mem = mem_of(code);
	struct hybrid_run run = { .mem = &mem, .stack = *stack, .ip = ip };
	unsigned int i, reg;

	for (i = 0; i < HYBRID_RUN_REGS; i++) {
		reg = dwarf_reg(i);
		run.regs[i].value = regs->value[reg];
		run.regs[i].known = regs->known >> reg & 1;
	}
	if (!hybrid_run_on(&run))
		return false;
	*end = (struct hybrid_run_end) {
		.ret = run.ret, .sp = run.sp, .bp = run.bp.value, .bp_known = run.bp.known,
		.makes_frame = run.makes_frame,
	};
	return true;
}
