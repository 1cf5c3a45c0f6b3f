/* SPDX-License-Identifier: GPL-2.0 */
/* See precise-code.h. */
	.text
	.globl	spin, spin_start, spin_end
spin:
	push	%rbp
	mov	%rsp, %rax
	mov	%rsi, %rbp
	mov	%rdi, %rsp
spin_start:
	dec	%rdx
	jnz	spin_start
spin_end:
	mov	%rax, %rsp
	pop	%rbp
	ret

	.globl	enter, enter_start, enter_end
enter:
	push	%rbp
	push	%rbx
	mov	%rsp, %r9
	mov	%rsi, %rbp
	mov	%rdi, %rsp
	mov	%edx, %edi
	mov	%rcx, %rsi
	mov	%r8, %rdx
	mov	$16, %ebx
enter_start:
	xor	%eax, %eax		/* __NR_read */
	syscall
	dec	%ebx
	jnz	enter_start
enter_end:
	mov	%r9, %rsp
	pop	%rbx
	pop	%rbp
	ret

	.section .note.GNU-stack, "", @progbits
