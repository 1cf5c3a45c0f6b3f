/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Leaves without a frame pointer, as libc's string functions are: the only
 * truth about them is their CFI (or their code). The other registers keep
 * their callers' values; %rbp is left alone.
 */
#ifdef __i386__
#define SP	%esp
#define BX	%ebx
#define AX	%eax
#define CX	%ecx
#define WORD	4
#define SP_DW	4
#define SUB	subl
#define ADD	addl
#define PUSH	pushl
#define POP	popl
#define MOV	movl
#define LEA	leal
#else
#define SP	%rsp
#define BX	%rbx
#define AX	%rax
#define CX	%rcx
#define WORD	8
#define SP_DW	7
#define SUB	subq
#define ADD	addq
#define PUSH	pushq
#define POP	popq
#define MOV	movq
#define LEA	leaq
#endif

	.macro	LEAF name:req, caller:req
	.pushsection .truth, "", @progbits
	.ascii	"\name \caller asm\n"
	.popsection
	.globl	\name
	.type	\name, @function
	.balign	16
\name :
	.cfi_startproc
	.endm

	.macro	LEAF_END name:req
	.cfi_endproc
	.size	\name, . - \name
	.endm

	.macro	SPIN n:req
	MOV	$\n, AX
77:	SUB	$1, AX
	jnz	77b
	.endm

	.text

/* Nothing on the stack but the return address. */
	LEAF	asm_plain call_asm_plain
	SPIN	60
	ret
	LEAF_END asm_plain

/* One register pushed, at two places. */
	LEAF	asm_push call_asm_push
	SPIN	10
	PUSH	BX
	.cfi_adjust_cfa_offset WORD
	.cfi_rel_offset BX, 0
	MOV	AX, BX
	SPIN	30
	PUSH	BX
	.cfi_adjust_cfa_offset WORD
	SPIN	10
	POP	BX
	.cfi_adjust_cfa_offset -WORD
	POP	BX
	.cfi_adjust_cfa_offset -WORD
	.cfi_restore BX
	SPIN	10
	ret
	LEAF_END asm_push

/* Stack space of an odd size, early return in the middle of the function. */
	LEAF	asm_sub call_asm_sub
	SPIN	10
	SUB	$264, SP
	.cfi_adjust_cfa_offset 264
	SPIN	40
	MOV	AX, (SP)
	test	AX, AX
	jnz	1f
	.cfi_remember_state
	ADD	$264, SP
	.cfi_adjust_cfa_offset -264
	ret
1:
	.cfi_restore_state
	ADD	$264, SP
	.cfi_adjust_cfa_offset -264
	ret
	LEAF_END asm_sub

/*
 * The old stack pointer saved at the new top: the CFA is what stands there
 * plus one word, which only an expression can say (DW_CFA_def_cfa_expression:
 * breg SP+0; deref; plus_uconst WORD).
 */
	LEAF	asm_expression call_asm_expression
	MOV	SP, CX
	.cfi_def_cfa_register CX
	SUB	$72, SP
	PUSH	CX
	.cfi_escape 0x0f, 0x05, 0x70 + SP_DW, 0x00, 0x06, 0x23, WORD
	SPIN	40
	POP	CX
	.cfi_def_cfa CX, WORD
	MOV	CX, SP
	.cfi_def_cfa SP, WORD
	ret
	LEAF_END asm_expression

	.section .note.GNU-stack, "", @progbits
