/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The outer functions of a program, by how they call: a word of the stack that is newer than
 * the sample shows some of them to be callers. NAME_ret is behind the call that counts.
 */
	.text

	.macro	begin name
	.p2align 4
\name:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	.endm

	.macro	finish
	leave
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.endm

/* The dump ends in its frame. */
	begin deep
	sub	$0x10000, %rsp
deep_at:
	nop
	finish

	begin once
	call	deep
once_ret:
	finish

	begin indirect
	call	*%rax
indirect_ret:
	finish

/* As many instructions as are looked at, and one more. */
	begin long
	.rept	59
	nop
	.endr
	call	deep
long_ret:
	finish

	begin longer
	.rept	60
	nop
	.endr
	call	deep
longer_ret:
	finish

/* The code returns before it calls. */
	begin early
	ret
	call	*%rax
early_ret:
	finish

	begin twice
	call	deep
twice_first_ret:
	call	*%rax
twice_ret:
	finish

	begin jumps
	jmp	1f
1:	call	*%rax
jumps_ret:
	finish

/* It may be left, and entered again, by an instruction that is none. */
	begin unclear
	call	*%rax
unclear_ret:
	.byte	0xc5, 0xf8, 0x05
	finish

/* The same, if the CFI says that the stack pointer is the base. */
	.macro	begin_sp name
	.p2align 4
\name:
	.cfi_startproc
	sub	$24, %rsp
	.cfi_def_cfa_offset 32
	.endm

	.macro	finish_sp
	add	$24, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.endm

/* All with the same sp, and one to deep(). */
	begin_sp among
	call	once
among_other_ret:
	je	1f
	call	deep
among_ret:
1:	call	once
	finish_sp

/* The one to deep() is the last of the calls. */
	begin_sp among_last
	call	once
	call	once
	call	deep
among_last_ret:
	finish_sp

	begin_sp among_twice
	call	deep
among_twice_ret:
	call	deep
	finish_sp

/* The one that is not deep()'s with an argument on the stack. */
	begin_sp among_pushes
	push	%rax
	.cfi_adjust_cfa_offset 8
	call	once
	pop	%rax
	.cfi_adjust_cfa_offset -8
	call	deep
among_pushes_ret:
	finish_sp

/* By a pointer deep() may be called, too. */
	begin_sp among_indirect
	call	deep
among_indirect_ret:
	call	*%rax
among_pointer_ret:
	finish_sp

/* What it jumps to may call deep(). */
	begin_sp among_leaves
	call	deep
among_leaves_ret:
	call	once
	je	once
	finish_sp

/* What it jumps to is the first byte behind it. */
	begin_sp among_falls
	call	deep
among_falls_ret:
	call	once
	add	$24, %rsp
	.cfi_def_cfa_offset 8
	je	after_falls
	ret
	.cfi_endproc
after_falls:
	.cfi_startproc
	ret
	.cfi_endproc

/* Its frame's base is a register, so that the place of sp is not known. */
	begin among_bp
	call	once
	call	deep
among_bp_ret:
	finish

/* Something else than an instruction. */
	begin_sp among_unclear
	call	once
	call	deep
among_unclear_ret:
	.byte	0xc5, 0xf8, 0x05
	finish_sp

/* 1024 instructions, and one more. */
	begin_sp among_long
	call	once
	call	deep
among_long_ret:
	.rept	1019
	nop
	.endr
	finish_sp

	begin_sp among_longer
	call	once
	call	deep
among_longer_ret:
	.rept	1020
	nop
	.endr
	finish_sp

/* The caller's rsp stands below rbp: a rule that reads the CFA. */
	.p2align 4
realigned:
	.cfi_startproc
	.cfi_escape 0x10, 0x06, 0x02, 0x76, 0x00
	.cfi_escape 0x0f, 0x03, 0x76, 0x78, 0x06
	call	*%rax
realigned_ret:
	ret
	.cfi_endproc

/* Nothing is known of rbp in the caller. */
	.p2align 4
forgets:
	.cfi_startproc
	.cfi_undefined %rbp
	call	*%rax
forgets_ret:
	ret
	.cfi_endproc

/* The CFA is sp itself. */
	.p2align 4
flat:
	.cfi_startproc
	.cfi_def_cfa_offset 0
	.cfi_offset %rip, 0
	call	*%rax
flat_ret:
	ret
	.cfi_endproc

/* The return address is not in a whole word. */
	.p2align 4
odd:
	.cfi_startproc
	.cfi_def_cfa %rbp, 12
	.cfi_offset %rbp, -16
	call	*%rax
odd_ret:
	ret
	.cfi_endproc

/* A frame whose base is a register that steps do not follow. */
	.p2align 4
by_rax:
	.cfi_startproc
	.cfi_def_cfa %rax, 8
	call	*%rax
by_rax_ret:
	ret
	.cfi_endproc

/* Its caller's sp is in a register; and no CFI. */
	.p2align 4
by_reg:
	call	*%rax
by_reg_ret:
	mov	%rax, %rsp
	ret

/* It has no CFI. */
	.p2align 4
bare:
	sub	$24, %rsp
	call	*%rax
bare_ret:
	add	$24, %rsp
	ret

	.section .note.GNU-stack, "", @progbits
