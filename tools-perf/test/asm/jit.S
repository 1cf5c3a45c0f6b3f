/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a program has compiled: no frame pointer, and no way to the exit that the code
 * tells of.
 */
#ifdef DEBUG_FRAME
	.cfi_sections .debug_frame
#endif
	.text
	.p2align 4
root:
	.cfi_startproc
	.cfi_undefined %rip
	nop
	call	middle
root_ret:
	hlt
	.cfi_endproc

	.p2align 4
middle:
	.cfi_startproc
	sub	$40, %rsp
	.cfi_def_cfa_offset 48
	call	leaf
middle_ret:
	jmp	*%rax
	.cfi_endproc

	.p2align 4
leaf:
	.cfi_startproc
	sub	$24, %rsp
	.cfi_def_cfa_offset 32
leaf_at:
	jmp	*%rax
	.cfi_endproc

/* One row for what enters and leaves, too, as QEMU has it. */
	.p2align 4
whole:
	.cfi_startproc
	.cfi_def_cfa_offset 48
	sub	$40, %rsp
whole_at:
	jmp	*%rax
whole_leave:
	add	$40, %rsp
whole_left:
	ret
	.cfi_endproc

/* Its frame begins where a register says that is followed by none but a whole row. */
	.p2align 4
other:
	.cfi_startproc
	.cfi_def_cfa %r12, 16
other_at:
	jmp	*%rax
	.cfi_endproc

/* Nothing is said of it. */
	.p2align 4
unsaid:
	jmp	*%rax

	.section .note.GNU-stack, "", @progbits
