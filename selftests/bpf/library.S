/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What rewritten.c maps: library_entry(n) calls library_middle(), that library_leaf(),
 * which counts n down. FRAME, 8 or 24, is the size of library_middle()'s frame, and all
 * that differs: each instruction is at the same offset.
 *
 * Walked by the rules for 24, a stack with 8 has library_entry()'s caller in the place
 * of library_entry(): the chain goes on to main(), with one function too few.
 */
#define ENTRY_FRAME	8

	.text
	.globl	library_leaf
	.type	library_leaf, @function
library_leaf:
	.cfi_startproc
1:	dec	%edi
	jnz	1b
	xor	%eax, %eax
	ret
	.cfi_endproc
	.size	library_leaf, . - library_leaf

	.globl	library_middle
	.type	library_middle, @function
library_middle:
	.cfi_startproc
	sub	$FRAME, %rsp
	.cfi_adjust_cfa_offset FRAME
	call	1b
	add	$FRAME, %rsp
	.cfi_adjust_cfa_offset -FRAME
	ret
	.cfi_endproc
	.size	library_middle, . - library_middle

	.globl	library_entry
	.type	library_entry, @function
library_entry:
	.cfi_startproc
	sub	$ENTRY_FRAME, %rsp
	.cfi_adjust_cfa_offset ENTRY_FRAME
	call	library_middle@PLT
	add	$ENTRY_FRAME, %rsp
	.cfi_adjust_cfa_offset -ENTRY_FRAME
	ret
	.cfi_endproc
	.size	library_entry, . - library_entry
	.section .note.GNU-stack, "", @progbits
