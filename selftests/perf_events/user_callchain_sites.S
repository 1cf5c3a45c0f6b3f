/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions of each kind that a call chain has to leave, and a list of the
 * instructions in each. No CFI: the kernel does not read it.
 */
#ifdef __x86_64__
#define AX	%rax
#define BP	%rbp
#define BX	%rbx
#define SP	%rsp
#define ARG	%rdi
#define ADDR	.quad
#define ENDBR	endbr64
#else
#define AX	%eax
#define BP	%ebp
#define BX	%ebx
#define SP	%esp
#define ARG	%eax
#define ADDR	.long
#define ENDBR	endbr32
#endif

/* The list of the instructions of a function: NAME_sites to NAME_sites_end. */
.macro FUNC name
	.pushsection .data.rel.ro, "aw"
	.globl	\name\()_sites
\name\()_sites:
	.popsection
	.p2align 4
	.globl	\name
	.type	\name, @function
\name:
.endm

.macro END name
	.size	\name, . - \name
	.pushsection .data.rel.ro, "aw"
	.globl	\name\()_sites_end
\name\()_sites_end:
	.popsection
.endm

/* An instruction that is in the list. */
.macro I insn:vararg
	.pushsection .data.rel.ro, "aw"
	ADDR	99f
	.popsection
99:	\insn
.endm

	.text

/* void outer(void (*fn)(long), long arg): outer() calls caller() calls fn(). */
	.globl	outer
	.type	outer, @function
outer:
	push	BP
	mov	SP, BP
#ifndef __x86_64__
	push	12(%ebp)
	push	8(%ebp)
#endif
	call	caller
	.globl	outer_ret
outer_ret:
	leave
	ret
	.size	outer, . - outer

	.type	caller, @function
caller:
	push	BP
	mov	SP, BP
#ifdef __x86_64__
	mov	%rdi, %rax
	mov	%rsi, %rdi
	call	*%rax
#else
	push	12(%ebp)
	call	*8(%ebp)
#endif
	.globl	caller_ret
caller_ret:
	leave
	ret
	.size	caller, . - caller

FUNC framed
	I ENDBR
	I push	BP
	I mov	SP, BP
	I sub	$32, SP
	I movl	$1, -8(BP)
	I leave
	I ret
END framed

FUNC framed_saves
	I push	BP
	I mov	SP, BP
	I push	BX
	I push	BX
	I mov	$1, BX
	I add	BX, AX
	I pop	BX
	I pop	BX
	I pop	BP
	I ret
END framed_saves

FUNC leaf
	I mov	$1, AX
	I test	AX, AX
	I je	1f
	I add	$2, AX
1:	I ret
END leaf

FUNC leaf_saves
	I push	BX
	I sub	$48, SP
	I mov	$1, BX
	I mov	BX, (SP)
	I add	$48, SP
	I pop	BX
	I ret
END leaf_saves

/* Returns early for 0; else with a frame. */
FUNC shrink_wrapped
#ifndef __x86_64__
	I movl	4(%esp), %eax
#endif
	I test	ARG, ARG
	I jne	1f
	I xor	%eax, %eax
	I ret
1:	I push	BP
	I mov	SP, BP
	I sub	$16, SP
	I movl	$7, (SP)
	I leave
	I ret
END shrink_wrapped

/* A frame that is gone before the jump: the caller is the same as leaf()'s. */
FUNC tail_call
	I push	BP
	I mov	SP, BP
	I mov	$3, AX
	I pop	BP
	I jmp	leaf
END tail_call

/* What a procedure linkage table has in it. */
#ifdef __x86_64__
FUNC plt_entry
	I ENDBR
	I jmp	*leaf_got(%rip)
END plt_entry
#else
FUNC plt_entry
	I ENDBR
	I jmp	*leaf_got
END plt_entry
#endif
	.pushsection .data.rel.ro, "aw"
leaf_got:
	ADDR	leaf
	.popsection

/* poll(NULL, 0, 1): sleeps, so that the sample is taken in the kernel. */
	.globl	sleep_stub_ret
FUNC sleep_stub
#ifdef __x86_64__
	xor	%edi, %edi
	xor	%esi, %esi
	mov	$1, %edx
	mov	$7, %eax
	syscall
#else
	push	%ebx
	xor	%ebx, %ebx
	xor	%ecx, %ecx
	mov	$1, %edx
	mov	$168, %eax
	int	$0x80
#endif
sleep_stub_ret:
#ifndef __x86_64__
	pop	%ebx
#endif
	ret
END sleep_stub

/* Signal handlers. */
FUNC handler_leaf
	I mov	$1, AX
	I add	$1, AX
	I ret
END handler_leaf

FUNC handler_framed
	I push	BP
	I mov	SP, BP
	I mov	$1, AX
	I pop	BP
	I ret
END handler_framed

/*
 * What they interrupt. int3 raises the signal; ip is after it then, so it stands before each of
 * these instructions.
 */
.macro INTERRUPTED name
	.globl	\name, \name\()_at
	.type	\name, @function
\name:
.endm

.macro SIGNAL_AT name
	int3
\name\()_at:
.endm

INTERRUPTED interrupted_body
	push	BP
	mov	SP, BP
	SIGNAL_AT interrupted_body
	nop
	leave
	ret
	.size	interrupted_body, . - interrupted_body

INTERRUPTED interrupted_prologue
	SIGNAL_AT interrupted_prologue
	push	BP
	mov	SP, BP
	pop	BP
	ret
	.size	interrupted_prologue, . - interrupted_prologue

INTERRUPTED interrupted_epilogue
	push	BP
	mov	SP, BP
	SIGNAL_AT interrupted_epilogue
	leave
	ret
	.size	interrupted_epilogue, . - interrupted_epilogue

INTERRUPTED interrupted_ret
	push	BP
	mov	SP, BP
	pop	BP
	SIGNAL_AT interrupted_ret
	ret
	.size	interrupted_ret, . - interrupted_ret

/* This one has no frame. */
INTERRUPTED interrupted
	push	BX
	xor	%eax, %eax
	SIGNAL_AT interrupted
	pop	BX
	ret
	.size	interrupted, . - interrupted

/* The frame stands, and no return address is on top of the stack. */
FUNC like_prologue
	push	BP
	mov	SP, BP
	push	$0
	I push	BP
	I mov	SP, BP
	pop	BP
	leave
	ret
END like_prologue

/* A jump by ret, to an address that no call is before. */
FUNC like_ret
	push	BP
	mov	SP, BP
	push	$1f
	I ret
	.fill	8, 1, 0x90
1:	leave
	ret
END like_ret

/*
 * The instruction after the call is the first one of a signal trampoline, and the word after the
 * return address could be the flags of a signal frame. The sites are in what is called.
 */
FUNC like_trampoline
	push	BP
	mov	SP, BP
	push	$0
	call	1f
	.globl	like_trampoline_ret
like_trampoline_ret:
#ifdef __x86_64__
	mov	$15, %eax
#else
	mov	$173, %eax
#endif
	leave
	ret
1:	push	BP
	mov	SP, BP
	I nop
	I leave
	ret
END like_trampoline

#ifdef __x86_64__
/* void circle(long fp): with that frame pointer, and a jump that its code does not show. */
FUNC circle
	push	%rbp
	mov	%rdi, %rbp
	lea	1f(%rip), %rsi
	I nop
	jmp	*%rsi
1:	pop	%rbp
	ret
END circle

	.globl	circle_restorer
circle_restorer:
	mov	$15, %rax
	syscall
#endif

	.section .note.GNU-stack, "", @progbits
