/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code without frame pointers, copied into files that are mapped and taught:
 * hybrid_root() calls hybrid_middle(), which calls hybrid_leaf().
 */
	.text
	.globl	hybrid_code, hybrid_code_end, hybrid_middle, hybrid_leaf
	.globl	hybrid_middle_ret, hybrid_root_ret
	.balign	64
hybrid_code:
	push	%rbp
	xor	%ebp, %ebp
	sub	$16, %rsp
	call	hybrid_middle
hybrid_root_ret:
	add	$16, %rsp
	pop	%rbp
	ret
	.balign	16
hybrid_middle:
	push	%rbx
	push	%r12
	sub	$40, %rsp
	/* For a rule of hybrid_leaf(): one word below what will be its CFA. */
	lea	-8(%rsp), %rax
	mov	%rax, -16(%rsp)
	call	hybrid_leaf
hybrid_middle_ret:
	add	$40, %rsp
	pop	%r12
	pop	%rbx
	ret
	.balign	16
hybrid_leaf:
	nop
	nop
	ret
hybrid_code_end:
	.section .note.GNU-stack, "", @progbits
