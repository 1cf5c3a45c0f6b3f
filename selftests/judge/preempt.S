/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What Go's asyncPreempt() looks like without symbols, and a function that is like it
 * but for the flags: that can't be entered between any two instructions.
 */
	.text
	.globl	_start, preempt, plain, interrupted
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
	.section .note.GNU-stack, "", @progbits
