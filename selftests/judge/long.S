/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A function of more than 4096 bytes without a jump, of which 4096 end with a call: that is
 * as much as check-calls looks at in one piece where no symbol tells how long a function is.
 */
	.text
	.globl	_start, large, leaf
	.balign	32, 0xcc
_start:
	call	large
	ret
	int3

	.balign	32, 0xcc
large:
	push	%rbp
	.rept	900
	call	leaf
	.endr
	pop	%rbp
	ret
	int3

	.balign	32, 0xcc
leaf:
	ret
	int3

	.section .note.GNU-stack, "", @progbits
