/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A switch of stacks, and functions whose start is a fiber's first return address.
 */
	.macro function name
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	.endm

	.macro end name
	.cfi_endproc
	.size	\name, . - \name
	.endm

	.text
	function fiber_switch
	push	%rbp
	push	%rbx
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	.cfi_adjust_cfa_offset 48
	mov	%rsp, (%rdi)
	mov	%rsi, %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbx
	pop	%rbp
	.cfi_adjust_cfa_offset -48
	ret
	end fiber_switch

/* Its CFI says that the caller is in the next word: the walk goes on from there. */
	function fiber_not_last
	xor	%eax, %eax
	ret
	end fiber_not_last

	function fiber_done
	mov	$1, %edi
	hlt
	end fiber_done

/* fiber_behind() begins where this call ends, and the call does not lead to a fiber. */
	function fiber_before
	call	fiber_not_last
	end fiber_before

	function fiber_behind
	hlt
	end fiber_behind

	.section .note.GNU-stack, "", @progbits
