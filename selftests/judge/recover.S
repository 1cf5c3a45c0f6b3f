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

	.section .gopclntab, "a", @progbits
	.long	0xfffffff1
	.section .note.GNU-stack, "", @progbits
