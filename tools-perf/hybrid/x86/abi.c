// SPDX-License-Identifier: GPL-2.0
/*
 * The user ABIs of an x86 kernel: psABI x86-64 3.6.2 and psABI i386 2.4.2 number the
 * registers.
 */
#include <elf.h>
#include <stddef.h>
#include "abi.h"
#include "code.h"
#include "entry.h"
#include "refine-row.h"

static const struct hybrid_arch x86 = {
	.entry_size	= hybrid_entry_size,
	.complete_row	= hybrid_refine_row,
	.rule		= hybrid_code_rule,
	.rule_run	= hybrid_code_rule_run,
	.rules		= hybrid_code_rules,
	.is_return	= hybrid_code_is_return,
	.calls_with_result	= hybrid_code_calls_with_result,
	.is_uprobe	= hybrid_code_is_uprobe,
	.leads		= hybrid_code_reaches,
	.sets_sp	= hybrid_code_sets_sp,
	.leaves_stack	= hybrid_code_leaves_stack,
	.saves_bp	= hybrid_code_saves_bp,
	.call_target	= hybrid_code_call_target,
	.call_site	= hybrid_code_call_site,
	.after		= hybrid_code_effect,
	.jump		= hybrid_code_jump,
	.returns	= hybrid_code_returns,
	.follow		= hybrid_code_follow,
	.around		= hybrid_code_around,
	.run_on		= hybrid_code_run_on,
	.map_regs	= hybrid_x86_map_regs,
};

const struct hybrid_abi hybrid_abi_64 = {
	.word	= 8,
	.nr	= HYBRID_X86_64_NR,
	.sp	= HYBRID_X86_64_SP,
	.bp	= HYBRID_X86_64_BP,
	.ip	= HYBRID_X86_64_IP,
	.arch	= &x86,
};

const struct hybrid_abi hybrid_abi_32 = {
	.word	= 4,
	.nr	= HYBRID_I386_NR,
	.sp	= HYBRID_I386_SP,
	.bp	= HYBRID_I386_BP,
	.ip	= HYBRID_I386_IP,
	.arch	= &x86,
};

const struct hybrid_abi *hybrid_x86_abi(unsigned int machine)
{
	switch (machine) {
	case EM_X86_64:
		return &hybrid_abi_64;
	case EM_386:
		return &hybrid_abi_32;
	default:
		return NULL;
	}
}
