/* SPDX-License-Identifier: GPL-2.0 */
/* A process begins here with a call that never returns; what is behind it is called. */
	.text
	.p2align 4
	.globl	_start
_start:
	xor	%ebp, %ebp
	mov	%rsp, %rdi
	call	outer
start_ret:
inner:
	push	%rbx
	mov	$1, %ebx
inner_at:
	nop
	pop	%rbx
	ret
outer:
	push	%rbx
	call	inner
outer_ret:
	pop	%rbx
	hlt

	.p2align 4
covered:
	.cfi_startproc
covered_at:
	ret
	.cfi_endproc

	.section .note.GNU-stack, "", @progbits
