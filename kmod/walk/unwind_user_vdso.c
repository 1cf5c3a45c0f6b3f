// SPDX-License-Identifier: GPL-2.0
/* User-supplied unwind rules: the vDSO, and what a walk needs and can do. */
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/perf_regs.h>
#include <linux/perf_unwind_rules.h>
#include <asm/vdso.h>

u64 arch_perf_unwind_regs(void)
{
	return BIT_ULL(PERF_REG_X86_IP) | BIT_ULL(PERF_REG_X86_SP) | BIT_ULL(PERF_REG_X86_BP);
}

/* A call leaves the return address on the stack. */
bool arch_perf_unwind_can_step(const struct perf_unwind_rule *rule)
{
	return rule->ra == PERF_UNWIND_RA_AT_CFA;
}
EXPORT_SYMBOL_GPL(arch_perf_unwind_can_step);

const void *arch_perf_unwind_vdso_at(const struct mm_struct *mm, const struct vm_area_struct *vma)
{
	/* Other memory can be mapped at mm->context.vdso after munmap(). */
	return vma_is_special_mapping(vma, &vdso_mapping) ?
	       READ_ONCE(mm->context.vdso_image) : NULL;
}

const void *arch_perf_unwind_vdso(u32 flag)
{
	if (flag == PERF_UNWIND_VDSO_64)
		return &vdso64_image;
	if (IS_ENABLED(CONFIG_IA32_EMULATION) && flag == PERF_UNWIND_VDSO_32)
		return &vdso32_image;
	return NULL;
}
EXPORT_SYMBOL_GPL(arch_perf_unwind_vdso);
