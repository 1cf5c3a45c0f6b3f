/* SPDX-License-Identifier: GPL-2.0 */
/*
 * As libdebuginfod, with one file, /proc/self/exe: that of a build-id of 20 bytes whose first one
 * is 1. It has no other.
 */
	.macro	function name:req
	.globl	\name
	.type	\name, @function
\name:
	.endm

	.text
	function debuginfod_begin
	lea	client(%rip), %rax
	ret

	/* int debuginfod_find_debuginfo(client, build_id, build_id_len, path) */
	function debuginfod_find_debuginfo
	lea	client(%rip), %rax
	cmp	%rax, %rdi
	jne	.Lnone
	cmp	$20, %edx
	jne	.Lnone
	cmpb	$1, (%rsi)
	jne	.Lnone
	mov	$2, %eax		/* open(), O_CLOEXEC */
	lea	file(%rip), %rdi
	mov	$0x80000, %esi
	syscall
	ret
.Lnone:	mov	$-2, %eax
	ret

	function debuginfod_end
	ret

	.section .rodata
file:	.asciz	"/proc/self/exe"

	.bss
client:	.skip	8
