/* SPDX-License-Identifier: GPL-2.0 */
/* A process begins here: without CFI, as the dynamic linker's entry. */
	.text
	.p2align 4
	.globl	_start
_start:
	mov	%rsp, %rdi
	call	inner
start_ret:
	jmp	*%r12

	.p2align 4
inner:
	.cfi_startproc
inner_at:
	nop
	ret
	.cfi_endproc

/* Too far from it, and without CFI. */
	.p2align 7
behind:
	call	inner
behind_ret:
	ret

	.section .note.GNU-stack, "", @progbits
