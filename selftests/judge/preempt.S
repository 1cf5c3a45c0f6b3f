/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is entered between any two instructions, as it looks without symbols: Go's
 * asyncPreempt(), and what a signal handler returns to, in C and in Go. Beside each one,
 * what only looks like it: a function that does not keep the flags, another system call.
 */
	.text
	.globl	_start, preempt, plain, interrupted, restorer, go_restorer, getpid
	.balign	32, 0xcc
_start:
interrupted:
	.rept	24
	nop
	.endr
	ret
	int3

	.balign	32, 0xcc
preempt:
	push	%rbp
	mov	%rsp, %rbp
	pushf
	.rept	64
	movups	%xmm0, 0x60(%rsp)
	.endr
	popf
	pop	%rbp
	ret
	int3

	.balign	32, 0xcc
plain:
	push	%rbp
	mov	%rsp, %rbp
	.rept	64
	movups	%xmm0, 0x60(%rsp)
	.endr
	pop	%rbp
	ret
	int3

	.balign	32, 0xcc
restorer:
	.byte	0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0		/* mov $15, %rax */
	syscall
	.balign	32, 0xcc
go_restorer:
	mov	$15, %eax
	syscall
	.balign	32, 0xcc
getpid:
	mov	$39, %eax
	syscall
	ret
	.section .note.GNU-stack, "", @progbits
