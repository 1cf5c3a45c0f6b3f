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

	.p2align 4
/* musl's: what a signal handler returns to. */
restore_rt:
	mov	$15, %rax
	syscall

	.section .note.GNU-stack, "", @progbits
