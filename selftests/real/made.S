/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What jit.c has "compiled": it keeps no frame pointer, and leaves by a jump that does not
 * tell where to. Only its CFI does.
 */
	.text
	.globl	made
made:
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	sub	$40, %rsp
	.cfi_adjust_cfa_offset 40
	xor	%ebp, %ebp
	mov	%rdi, %rbx
round:
	mov	$20000, %ecx
spin:
	dec	%ecx
	jnz	spin
	call	*%rbx
	test	%eax, %eax
	jnz	round
	lea	leave(%rip), %rax
	jmp	*%rax
leave:
	add	$40, %rsp
	.cfi_adjust_cfa_offset -40
	pop	%rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbp
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	ret
	.cfi_endproc

	.section .note.GNU-stack, "", @progbits
