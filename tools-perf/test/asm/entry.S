/* SPDX-License-Identifier: GPL-2.0 */
/* A process begins here: without CFI, as the dynamic linker's entry. */
	.text
	.p2align 4
	.globl	_start
_start:
	mov	%rsp, %rdi
	call	inner
start_ret:
	mov	%rax, %r12
	jmp	*%r12

/* Another function, right behind it. */
after:
	push	%rbx
	call	inner
after_ret:
	pop	%rbx
	ret

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
