/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What Go makes of a function that may recover a panic: behind its end is the call of
 * deferreturn(), to which the runtime returns then, and where no jump leads. The second
 * has something else there, which nothing reaches.
 */
	.text
	.globl	_start, recovers, plain, returns
	.balign	32, 0xcc
_start:
	call	recovers
	call	plain
	ret
	int3

	.balign	32, 0xcc
recovers:
	sub	$0x20, %rsp
	add	$0x20, %rsp
	ret
	call	returns
	nop
	add	$0x20, %rsp
	ret
	int3

	.balign	32, 0xcc
plain:
	sub	$0x20, %rsp
	add	$0x20, %rsp
	ret
	nop
	call	returns
	nop
	add	$0x20, %rsp
	ret
	int3

	.balign	32, 0xcc
returns:
	ret
	int3

/* systemstack_switch() of Go 1.20 and of 1.26, and what is none. */
	.balign	32, 0xcc
switch20:
	push	%rbp
	mov	%rsp, %rbp
	ud2
	call	_start
	pop	%rbp
	ret
	int3

	.balign	32, 0xcc
switch26:
	push	%rbp
	mov	%rsp, %rbp
	.byte	0x0f, 0x1f, 0x40, 0x00	/* nopl 0(%rax) */
	ud2
	call	_start
	pop	%rbp
	ret
	int3

	.balign	32, 0xcc
no_switch:
	push	%rbp
	mov	%rsp, %rbp
	.byte	0x0f, 0x1f, 0x40, 0x00	/* nopl 0(%rax) */
	nop
	call	_start
	pop	%rbp
	ret
	int3

	.section .gopclntab, "a", @progbits
	.long	0xfffffff1
	.section .note.GNU-stack, "", @progbits
