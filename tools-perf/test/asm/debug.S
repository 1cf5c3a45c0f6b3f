/* SPDX-License-Identifier: GPL-2.0 */
/* CFI in .debug_frame alone, as of a program built without unwind tables. */
	.cfi_sections .debug_frame
	.text
	.p2align 4
plain:
	.cfi_startproc
	sub	$24, %rsp
	.cfi_def_cfa_offset 32
plain_at:
	call	plain
plain_ret:
	add	$24, %rsp
	.cfi_def_cfa_offset 8
plain_end:
	ret
	.cfi_endproc

/* As Go's runtime.asmcgocall(): calls on another stack, or on one that it aligned. */
	.p2align 4
switching:
	.cfi_startproc
	nop
switching_call:
	call	*%rax
switching_ret:
	mov	0x30(%rsp), %rdi
	mov	0x8(%rdi), %rsi
	sub	0x28(%rsp), %rsi
	mov	%rsi, %rsp
switching_left:
	ret
aligning_call:
	call	*%rax
	mov	0x28(%rsp), %rsi
	mov	%rsi, %rsp
aligning_left:
	ret
	.cfi_endproc

	.p2align 4
mcall:
	.cfi_startproc
	mov	0x38(%r14), %rsp
mcall_push:
	push	%rax
	.cfi_adjust_cfa_offset 8
	mov	(%rdx), %r12
	call	*%r12
mcall_ret:
	pop	%rax
	.cfi_adjust_cfa_offset -8
mcall_popped:
	jmp	mcall
later_mcall:
	mov	0x38(%r14), %rsp
later_mcall_push:
	push	%rax
	.cfi_adjust_cfa_offset 8
	mov	(%rdx), %r12
	call	*%r12
later_mcall_ret:
	nop
	pop	%rax
	.cfi_adjust_cfa_offset -8
later_mcall_popped:
	jmp	later_mcall
grows:
	mov	0x38(%rbx), %rsp
grows_on:
	mov	$0, %ebp
	call	mcall
grows_ret:
	ret
	.cfi_endproc

	.p2align 4
systemstack:
	.cfi_startproc
	mov	%rbx, %rsp
systemstack_on:
	mov	%rdi, %rdx
	mov	(%rdi), %rdi
systemstack_call:
	call	*%rdi
systemstack_ret:
	mov	0x38(%rdx), %rsp
newer_on:
	mov	%rdi, %rdx
	mov	(%rdi), %rdi
newer_call:
	call	*%rdi
newer_ret:
	/* On the stack that it is on already. */
	mov	%rdi, %rdx
	mov	(%rdi), %rdi
	call	*%rdi
same_ret:
	ret
	.cfi_endproc

	.p2align 4
uncovered:
	nop
	ret

	.section .note.GNU-stack, "", @progbits
