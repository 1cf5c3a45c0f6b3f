/* SPDX-License-Identifier: GPL-2.0 */
/*
 * As kernels of OpenBLAS: no CFI, symbols, and frames that are larger than a stack dump.
 * Only the code tells where the caller is, and no dump reaches it.
 */
	.text

	.globl	bare_plain
	.type	bare_plain, @function
	.p2align 4
bare_plain:
	push	%rbx
	sub	$20480, %rsp
	mov	%rdi, %rcx
1:	lea	(%rcx,%rdi), %rax
	imul	%rax, %rbx
	xor	%rbx, %rax
	dec	%rcx
	jnz	1b
	add	$20480, %rsp
	pop	%rbx
	ret
	.size	bare_plain, . - bare_plain

/* The caller's stack pointer is kept in rbx, over a frame that is aligned. */
	.globl	bare_kept
	.type	bare_kept, @function
	.p2align 4
bare_kept:
	push	%rbx
	mov	%rsp, %rbx
	sub	$20480, %rsp
	and	$-4096, %rsp
	mov	%rdi, %rcx
1:	lea	(%rcx,%rdi), %rax
	imul	%rdi, %rax
	xor	%rcx, %rax
	dec	%rcx
	jnz	1b
	mov	%rbx, %rsp
	pop	%rbx
	ret
	.size	bare_kept, . - bare_kept

	.section .note.GNU-stack, "", @progbits
