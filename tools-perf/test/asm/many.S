/* SPDX-License-Identifier: GPL-2.0 */
/* An object with more functions than are worth loading for a few samples; or with NR of them. */
#ifndef NR
#define NR	400
#endif
	.text
	.globl	many
	.balign	16
many:
	.rept	NR
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.balign	16
	.endr

	.section .note.GNU-stack, "", @progbits
