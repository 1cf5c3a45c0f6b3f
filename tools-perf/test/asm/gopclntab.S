/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A table of functions as Go's linker writes it, of code as Go's compiler and its
 * runtime have it. Nothing but c_leaf has CFI.
 *
 * OLD: that of Go 1.18; else of 1.20. HIDDEN: it has no section of its own. LIES: the
 * functions stand where the file has ended. MODULE: as of Go 1.26, so many bytes behind the
 * last function are said to be code.
 */
#ifdef OLD
#define MAGIC	0xfffffff0
#else
#define MAGIC	0xfffffff1
#endif
#ifdef LIES
#define FUNCTAB	0x7fffffff0
#else
#define FUNCTAB	functab - table
#endif
#ifdef HIDDEN
	.section .go.buildinfo, "aw", @progbits
	.quad	0
#define SECTION	.data.rel.ro, "aw", @progbits
#else
#define SECTION	.gopclntab, "aw", @progbits
#endif

#define ASM		4
#define TOP_FRAME_ASM	(1|4)
#define SP_WRITE_ASM	(2|4)

	.text
	.balign	32, 0xcc
text:

/* It makes its frame and saves rbp, as of Go up to 1.20. */
caller:
	sub	$0x18, %rsp
caller_save:
	mov	%rbp, 0x10(%rsp)
caller_body:
	lea	0x10(%rsp), %rbp
	call	switches
caller_ret:
	mov	0x10(%rsp), %rbp
	add	$0x18, %rsp
caller_exit:
	ret

	.balign	32, 0xcc
wrapper:
	sub	$0x18, %rsp
wrapper_body:
	mov	%rbp, 0x10(%rsp)
	lea	0x10(%rsp), %rbp
	call	caller
wrapper_ret:
	call	twice
wrapper_ret2:
	call	bare
wrapper_ret3:
	add	$0x18, %rsp
wrapper_exit:
	ret

	.balign	32, 0xcc
twice:
	sub	$0x18, %rsp
twice_body:
	mov	%rbp, 0x10(%rsp)
	lea	0x10(%rsp), %rbp
	call	switches
	call	switches
	add	$0x18, %rsp
twice_exit:
	ret

/* No frame of its own: rbp is its caller's. */
	.balign	32, 0xcc
bare:
	call	switches
	ret

/* As asmcgocall() has it. */
	.balign	32, 0xcc
switches:
	mov	%rsp, %rdx
switches_before:
	mov	0x38(%rsi), %rsp
switches_behind:
	mov	%rdi, 0x30(%rsp)
	call	*%rax
switches_ret:
	mov	0x30(%rsp), %rdi
	mov	0x8(%rdi), %rsi
	sub	0x28(%rsp), %rsi
	mov	%rsi, %rsp
	ret

/* As of Go 1.21: it has a frame of its own. */
	.balign	32, 0xcc
later:
	push	%rbp
later_body:
	mov	%rsp, %rbp
	mov	0x38(%rsi), %rsp
	call	pad
later_ret:
	mov	0x8(%rsp), %rdi
	mov	0x8(%rdi), %rsi
	sub	(%rsp), %rsi
	mov	%rsi, %rsp
	pop	%rbp
later_exit:
	ret

	.balign	32, 0xcc
goes:
	sub	$0x18, %rsp
goes_body:
	mov	%rbp, 0x10(%rsp)
	lea	0x10(%rsp), %rbp
	call	later
goes_ret:
	add	$0x18, %rsp
goes_exit:
	ret

/* A frame that is made by hand, and one that the assembler has made. */
	.balign	32, 0xcc
pushes:
	push	%rbx
pushes_body:
	nop
	pop	%rbx
pushes_exit:
	ret

	.balign	32, 0xcc
assembled:
	sub	$0x100, %rsp
assembled_save:
	mov	%rbp, 0xf8(%rsp)
assembled_body:
	nop
	add	$0x100, %rsp
assembled_exit:
	ret

/* As systemstack() has it: it leaves rbp alone, and has no frame. */
	.balign	32, 0xcc
system:
	mov	%rbx, %rsp
	mov	%rdi, %rdx
	mov	(%rdi), %rdi
	call	*%rdi
system_ret:
	ret

/* What a goroutine begins with: it hands over closures, by a word and as they are. */
	.balign	32, 0xcc
worker:
	sub	$0x18, %rsp
worker_body:
	mov	%rbp, 0x10(%rsp)
	lea	0x10(%rsp), %rbp
	lea	by_word(%rip), %rax
	mov	%rax, (%rsp)
	call	system
worker_ret:
	lea	closure2(%rip), %rax
	mov	%rax, (%rsp)
	call	system
worker_ret2:
	add	$0x18, %rsp
worker_exit:
	ret

	.balign	32, 0xcc
closure1:
	nop
	ret

	.balign	32, 0xcc
closure2:
	nop
	ret

	.balign	32, 0xcc
starter:
	sub	$0x18, %rsp
starter_body:
	mov	%rbp, 0x10(%rsp)
	lea	0x10(%rsp), %rbp
	call	worker
starter_ret:
	call	small
starter_small:
	call	unframed
starter_ret3:
	add	$0x18, %rsp
starter_exit:
	ret

/* As the write barriers of Go up to 1.20: no frame, and a caller on the goroutine's stack. */
	.balign	32, 0xcc
barrier:
	xchg	%rax, %rbx
	call	caller
barrier_ret:
	ret

	.balign	32, 0xcc
unframed:
	sub	$0x18, %rsp
unframed_body:
	mov	%rbp, 0x10(%rsp)
	lea	0x10(%rsp), %rbp
	call	barrier
unframed_ret:
	add	$0x18, %rsp
unframed_exit:
	ret

/* Those from Go 1.21 on: one that says how many words, and jumps to one with a frame. */
	.balign	32, 0xcc
counts:
	mov	$16, %r11d
	jmp	guards

	.balign	32, 0xcc
guards:
	push	%rbp
guards_pushed:
	mov	%rsp, %rbp
	sub	$0x10, %rsp
guards_body:
	nop
	call	caller
guards_ret:
	leave
guards_exit:
	ret

	.balign	32, 0xcc
guarded:
	sub	$0x18, %rsp
guarded_body:
	mov	%rbp, 0x10(%rsp)
	lea	0x10(%rsp), %rbp
	call	counts
guarded_ret:
	add	$0x18, %rsp
guarded_exit:
	ret

/* Its stack is too small. */
	.balign	32, 0xcc
small:
	nop
	ret
	call	grows_plain
small_ret:
	jmp	small

/* As morestack(), and what most functions call. */
	.balign	32, 0xcc
grows:
	mov	0x38(%rbx), %rsp
	call	newstack
grows_ret:
	ret

	.balign	32, 0xcc
grows_plain:
	mov	$0, %edx
	jmp	grows

	.balign	32, 0xcc
newstack:
	sub	$0x38, %rsp
newstack_body:
	mov	%rbp, 0x30(%rsp)
	lea	0x30(%rsp), %rbp
	call	copies
newstack_ret:
	add	$0x38, %rsp
newstack_exit:
	ret

	.balign	32, 0xcc
copies:
	nop
	ret

	.balign	32, 0xcc
outside:
	nop
	ret

	.balign	32, 0xcc
top:
	nop
	call	top
	nop
	.balign	32, 0xcc
end:

	.globl	c_leaf
	.type	c_leaf, @function
c_leaf:
	.cfi_startproc
	nop
c_leaf_at:
	ret
	.cfi_endproc

/* Jumps to the function in rax. */
pad:
	jmp	*%rax

/* Pairs of a change, times two, and how many bytes of code it is there for. */
	.macro	distances from, size, body, behind
	.uleb128 2, \body - \from
	.uleb128 2 * \size, \behind - \body
	.uleb128 2 * \size - 1
	.uleb128 1
	.byte	0
	.endm

	.macro	function name, distances, flags, called=name
\name\()_function:
	.long	\name - text, \called - names, 0, 0, \distances
	.long	0, 0, 0, 0
#ifndef OLD
	.long	0
#endif
	.byte	0, \flags, 0, 0
	.endm

	.section .data.rel.ro.words, "aw", @progbits
	.balign	8
by_word:
	.quad	closure1

	.section SECTION
	.balign	32
#ifdef HIDDEN
	.quad	0, 0, 0, 0
#endif
table:
	.long	MAGIC
	.byte	0, 0, 1, 8
	.quad	(functab_end - functab) / 8, 0
#ifdef MODULE
	.quad	0
#else
	.quad	text
#endif
	.quad	names - table, 0, 0, pctab - table, FUNCTAB
names:
	.byte	0
name:
	.asciz	"name"
worker_name:
	.asciz	"runtime.worker"
closure1_name:
	.asciz	"runtime.worker.func1"
closure2_name:
	.asciz	"runtime.worker.func12"
pctab:
	.byte	0
caller_sp:
	distances caller, 0x18, caller_save, caller_exit
wrapper_sp:
	distances wrapper, 0x18, wrapper_body, wrapper_exit
twice_sp:
	distances twice, 0x18, twice_body, twice_exit
later_sp:
	distances later, 8, later_body, later_exit
goes_sp:
	distances goes, 0x18, goes_body, goes_exit
pushes_sp:
	distances pushes, 8, pushes_body, pushes_exit
assembled_sp:
	distances assembled, 0x100, assembled_save, assembled_exit
worker_sp:
	distances worker, 0x18, worker_body, worker_exit
starter_sp:
	distances starter, 0x18, starter_body, starter_exit
unframed_sp:
	distances unframed, 0x18, unframed_body, unframed_exit
guards_sp:
	.uleb128 2, guards_pushed - guards
	.uleb128 2 * 8, guards_body - guards_pushed
	.uleb128 2 * 0x10, guards_exit - guards_body
	.uleb128 2 * 0x18 - 1, 1
	.byte	0
guarded_sp:
	distances guarded, 0x18, guarded_body, guarded_exit
newstack_sp:
	distances newstack, 0x38, newstack_body, newstack_exit
none_sp:
	.uleb128 2, 32
	.byte	0
	.balign	8
functab:
	.long	caller - text, caller_function - functab
	.long	wrapper - text, wrapper_function - functab
	.long	twice - text, twice_function - functab
	.long	bare - text, bare_function - functab
	.long	switches - text, switches_function - functab
	.long	later - text, later_function - functab
	.long	goes - text, goes_function - functab
	.long	pushes - text, pushes_function - functab
	.long	assembled - text, assembled_function - functab
	.long	system - text, system_function - functab
	.long	worker - text, worker_function - functab
	.long	closure1 - text, closure1_function - functab
	.long	closure2 - text, closure2_function - functab
	.long	starter - text, starter_function - functab
	.long	barrier - text, barrier_function - functab
	.long	unframed - text, unframed_function - functab
	.long	counts - text, counts_function - functab
	.long	guards - text, guards_function - functab
	.long	guarded - text, guarded_function - functab
	.long	small - text, small_function - functab
	.long	grows - text, grows_function - functab
	.long	grows_plain - text, grows_plain_function - functab
	.long	newstack - text, newstack_function - functab
	.long	copies - text, copies_function - functab
	.long	outside - text, outside_function - functab
	.long	top - text, top_function - functab
functab_end:
	.long	end - text, 0
	function caller, "caller_sp - pctab", 0
	function wrapper, "wrapper_sp - pctab", 0
	function twice, "twice_sp - pctab", 0
	function bare, "none_sp - pctab", 0
	function switches, "none_sp - pctab", SP_WRITE_ASM
	function later, "later_sp - pctab", SP_WRITE_ASM
	function goes, "goes_sp - pctab", 0
	function pushes, "pushes_sp - pctab", ASM
	function assembled, "assembled_sp - pctab", ASM
	function system, "none_sp - pctab", SP_WRITE_ASM
	function worker, "worker_sp - pctab", 0, worker_name
	function closure1, "none_sp - pctab", 0, closure1_name
	function closure2, "none_sp - pctab", 0, closure2_name
	function starter, "starter_sp - pctab", 0
	function barrier, "none_sp - pctab", ASM
	function unframed, "unframed_sp - pctab", 0
	function counts, "none_sp - pctab", ASM
	function guards, "guards_sp - pctab", ASM
	function guarded, "guarded_sp - pctab", 0
	function small, "none_sp - pctab", 0
	function grows, "none_sp - pctab", SP_WRITE_ASM
	function grows_plain, "none_sp - pctab", ASM
	function newstack, "newstack_sp - pctab", 0
	function copies, "none_sp - pctab", 0
	function outside, 0, 0
	function top, "none_sp - pctab", TOP_FRAME_ASM

#ifdef MODULE
	/* struct moduledata: the table, six slices, a pointer, the first and the last address. */
	.section .go.module, "aw", @progbits
	.balign	32
	.quad	table
	.fill	19, 8, 0
	.quad	caller, end + MODULE
	.quad	text, end
#endif

	.section .note.GNU-stack, "", @progbits
