/* SPDX-License-Identifier: GPL-2.0 */
/* CFI in .debug_frame alone, as of a program built without unwind tables. */
	.cfi_sections .debug_frame
	.text
	.p2align 4
plain:
	.cfi_startproc
	sub	$24, %rsp
	.cfi_def_cfa_offset 32
plain_at:
	call	plain
plain_ret:
	add	$24, %rsp
	.cfi_def_cfa_offset 8
plain_end:
	ret
	.cfi_endproc

	.p2align 4
uncovered:
	nop
	ret

	.section .note.GNU-stack, "", @progbits
