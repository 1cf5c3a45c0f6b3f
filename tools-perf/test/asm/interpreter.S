/* SPDX-License-Identifier: GPL-2.0 */
/*
 * As the files of interpreters. EVALUATOR is the function that interprets, and one of PERL, PHP,
 * PYTHON and RUBY says what else the file defines. OLD: its version is not known. ELSEWHERE: code of
 * Perl's is in another mapping.
 *
 * GCC has put a part of the evaluator elsewhere. CRuby's is larger than a page; so is this one.
 */
#ifdef RUBY
#define VERSION "3.1.2"
#include "ruby.S"
#endif

	.macro	code name:req
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	.endm

	.macro	end_code name:req
	.cfi_endproc
	.size	\name, . - \name
	.endm

	.macro	data name:req, size:req
	.globl	\name
	.type	\name, @object
	.size	\name, \size
\name:
	.endm

	.text
#ifndef RUBY
	.globl	EVALUATOR
#endif
	code EVALUATOR
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	test	%rdi, %rdi
	je	.Lcold
	call	native
called:	nop
	call	native
ends:	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	/* In the middle of the function. */
	.cfi_adjust_cfa_offset 48
	.skip	4096, 0x90
	end_code EVALUATOR

	code cold
	.cfi_adjust_cfa_offset 8
	nop
.Lcold:	call	native
in_cold:
	jmp	called
	end_code cold

	code native
	nop
out:
	ret
	end_code native

#ifdef PERL
#ifdef ELSEWHERE
	/* In no code. */
	.data
#endif
	.globl	Perl_pp_nextstate
	code Perl_pp_nextstate
	ret
	end_code Perl_pp_nextstate
	.text

	/* There is no symbol of it. */
	code entertry
	call	native
	je	entertry
	jmp	docatch
	end_code entertry

	code docatch
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	EVALUATOR@PLT
restarted:
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	end_code docatch

	.section .rodata, "a"
	data PL_version, 1
#ifdef OLD
	.byte	34
#else
	.byte	36
#endif
	.p2align 1
	data PL_interp_size, 2
	.short	3768
	.data
	.p2align 3
	data PL_thr_key, 8
	.quad	1
	data PL_curinterp, 8
	.quad	0
	data PL_ppaddr, 2784
	.skip	347 * 8
	.quad	entertry
#endif

#ifdef PHP
	.globl	zend_get_executed_scope
	code zend_get_executed_scope
	ret
	end_code zend_get_executed_scope

	.section .rodata, "a"
#ifdef OLD
	.asciz	"API20210902,NTS"
#else
	.asciz	"API20220829,NTS"
#endif
	.data
	.p2align 3
	data executor_globals, 1024
	.skip	1024, 1
	data module_registry, 56
	.skip	56, 1
#endif

#ifdef PYTHON
	.section .rodata, "a"
	.p2align 3
	data Py_Version, 8
	.quad	0x030b02f0
	.data
	.p2align 3
	data PyCode_Type, 64
	.fill	4, 8, 0
	.quad	184
	.fill	3, 8, 0
	.bss
	.p2align 12
	data _PyRuntime, 1024
	.skip	1024
#endif
