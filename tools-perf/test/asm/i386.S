/* SPDX-License-Identifier: GPL-2.0 */
	.text
	.p2align 4
leaf:
	.cfi_startproc
leaf_at:
	nop
	ret
	.cfi_endproc

	.p2align 4
bpframe:
	.cfi_startproc
	push	%ebp
	.cfi_def_cfa_offset 8
	.cfi_offset %ebp, -8
	mov	%esp, %ebp
	.cfi_def_cfa_register %ebp
bpframe_at:
	call	*%eax
bpframe_ret:
	leave
	ret
	.cfi_endproc

	.p2align 4
pushed:
	.cfi_startproc
	push	%ebx
	.cfi_def_cfa_offset 8
	.cfi_offset %ebx, -8
	sub	$8, %esp
	.cfi_def_cfa_offset 16
	call	leaf
pushed_ret:
	ret
	.cfi_endproc

/* CFA: breg4 + 8, plus -4 by a 32-bit wrap: const4u 0xfffffffc; plus */
	.p2align 4
wraps:
	.cfi_startproc
	.cfi_escape 0x0f, 0x08, 0x74, 0x08, 0x0c, 0xfc, 0xff, 0xff, 0xff, 0x22
	call	*%eax
wraps_ret:
	ret
	.cfi_endproc

	.p2align 4
outer:
	.cfi_startproc
	.cfi_undefined 8
	call	*%eax
outer_ret:
	hlt
	.cfi_endproc

	.section .note.GNU-stack, "", @progbits
