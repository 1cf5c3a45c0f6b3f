/* SPDX-License-Identifier: GPL-2.0 */
/* No CFI of any kind. */
	.text
	.p2align 4
bare:
	push	%rbp
	mov	%rsp, %rbp
bare_at:
	call	bare
bare_ret:
	leave
	ret

	.section .note.GNU-stack, "", @progbits
