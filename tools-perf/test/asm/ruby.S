/* SPDX-License-Identifier: GPL-2.0 */
/*
 * As CRuby: a library, or with PROGRAM, RELAXED or GENERAL what is linked into a program. With HIDDEN
 * no code refers to the table of names.
 */
	.text
	.macro	function name:req
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	.endm

	function rb_thread_current
	sub	$8, %rsp
	mov	%fs:0x28, %rcx
#ifdef PROGRAM
	mov	%fs:-24, %rax
#elif defined(RELAXED)
	mov	$-32, %rax
	mov	%fs:(%rax), %rax
#elif defined(GENERAL)
	mov	%fs:0, %rax
	lea	-0x1000(%rax), %rax
#else
	.byte	0x66
	lea	variable(%rip), %rdi
#endif
	add	$8, %rsp
	ret
	.skip	64, 0x90

	function rb_id2str
	mov	%rdi, %rax
	shr	$4, %rax
	cmp	$169, %rdi
	cmova	%eax, %edi
	xor	%esi, %esi
	jmp	.Lfind
	.skip	128, 0x90

.Lfind:
	mov	other(%rip), %rbp
	test	%edi, %edi
	je	.Lno
#ifndef HIDDEN
	cmp	%edi, table(%rip)
	jb	.Lno
	mov	table+16(%rip), %rdi
#endif
.Lno:	ret
	.skip	128, 0x90

	.section .rodata, "a"
	.globl	ruby_version
	.type	ruby_version, @object
ruby_version:
	.asciz	VERSION
	.skip	16

	.data
	.p2align 3
variable:
	.quad	1, 8
other:	.quad	1000, 0, 1, 0
table:	.quad	238, 0, 0, 0
	.quad	5
