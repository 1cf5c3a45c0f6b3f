/* SPDX-License-Identifier: GPL-2.0 */
/* No CFI of any kind. */
	.text
	.p2align 4
bare:
	push	%rbp
	mov	%rsp, %rbp
bare_at:
	call	bare
bare_ret:
	leave
	ret

	.p2align 4
/* musl's: what a signal handler returns to. */
restore_rt:
	mov	$15, %rax
	syscall

/* As kernels of OpenBLAS: a frame of tens of kilobytes. */
	.p2align 4
large:
	sub	$20480, %rsp
large_at:
	nop
	add	$20480, %rsp
	ret

/* As V8's: what is called looks at what it is to call, and jumps there. */
	.p2align 4
dispatch:
	mov	-1(%rdi), %rcx
	movzwl	11(%rcx), %edx
	mov	16(%rdi), %rcx
	jmp	*%rcx

	.p2align 4
enters:
	push	%rbp
	mov	%rsp, %rbp
	call	dispatch
enters_ret:
	leave
	ret

/* As V8's Builtins_ResumeGeneratorTrampoline: the return address is in a register meanwhile. */
	.p2align 4
passes:
	pop	%rax
passes_at:
	push	%rcx
	push	%rax
	jmp	*%rcx

/* As V8's Builtins_BaselineOutOfLinePrologue: it makes the frame of its caller. */
	.p2align 4
makes:
	nop
makes_at:
	pop	%r15
	push	%rbp
	mov	%rsp, %rbp
	push	%r15
	ret

/* As musl's start(): it calls a thread's function, and does not return. */
	.p2align 4
never_returns:
	push	%rbx
	sub	$16, %rsp
	call	*(%rbx)
never_returns_ret:
	mov	%rax, %rdi
	call	leaves

	.p2align 4
leaves:
	mov	%rdi, %rsp
	jmp	*%rdi

/* As musl's clone(). */
	.p2align 4
begins:
	xor	%ebp, %ebp
	pop	%rdi
	call	*%r9
begins_ret:
	mov	%eax, %edi
	xor	%eax, %eax
	mov	$60, %al
	syscall
	hlt

/* Who ends a child so may have callers. */
	.p2align 4
ends_child:
	call	leaves
ends_child_ret:
	mov	%eax, %edi
	mov	$60, %eax
	syscall

/* Goes on behind the call. */
	.p2align 4
goes_on:
	push	%rbx
	call	*(%rbx)
goes_on_ret:
	mov	%rax, %rsi
	call	leaves

	.section .note.GNU-stack, "", @progbits
