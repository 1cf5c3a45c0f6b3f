/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code without frame pointers, copied into files that are mapped and loaded:
 * rules_root() calls rules_middle(), which calls rules_leaf().
 */
	.text
	.globl	rules_code, rules_code_end, rules_middle, rules_leaf
	.globl	rules_middle_ret, rules_root_ret
	.balign	64
rules_code:
	push	%rbp
	xor	%ebp, %ebp
	sub	$16, %rsp
	call	rules_middle
rules_root_ret:
	add	$16, %rsp
	pop	%rbp
	ret
	.balign	16
rules_middle:
	push	%rbx
	push	%r12
	sub	$40, %rsp
	/* For rules of rules_leaf(), above its stack and below: what will be its sp. */
	lea	-8(%rsp), %rax
	mov	%rax, 8(%rsp)
	mov	%rax, -16(%rsp)
	call	rules_leaf
rules_middle_ret:
	add	$40, %rsp
	pop	%r12
	pop	%rbx
	ret
	.balign	16
rules_leaf:
	nop
	nop
	ret
rules_code_end:
	.section .note.GNU-stack, "", @progbits
