/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions with all the rows that CFI can have. The labels are where the tests
 * look: NAME_at is inside of NAME, NAME_ret behind a call in it. Nothing of it
 * ever runs.
 */
	.text

/* Its callee is leaf(), whatever the CFI says; and two that do call each other, or themselves. */
	.p2align 4
once:
	.cfi_startproc
	sub	$8, %rsp
	.cfi_def_cfa_offset 16
once_at:
	call	leaf
once_ret:
	call	leaf
once_again_ret:
	add	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc

	.p2align 4
itself:
	.cfi_startproc
	sub	$8, %rsp
	.cfi_def_cfa_offset 16
	call	itself
itself_ret:
	call	leaf
itself_leaf_ret:
	add	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc

	.p2align 4
even:
	.cfi_startproc
	sub	$8, %rsp
	.cfi_def_cfa_offset 16
	call	odd
even_ret:
	add	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc

	.p2align 4
odd:
	.cfi_startproc
	sub	$8, %rsp
	.cfi_def_cfa_offset 16
	call	even
odd_ret:
	add	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc

/* No CFI covers this. */
	.p2align 4
nocfi:
	push	%rbp
	mov	%rsp, %rbp
nocfi_at:
	call	leaf
nocfi_ret:
	leave
	ret

/* The same, and the code does not tell either. */
	.p2align 4
opaque:
	nop
opaque_at:
	jmp	*%rax

	.p2align 4
calls_opaque:
	.cfi_startproc
	call	opaque
calls_opaque_ret:
	ret
	.cfi_endproc

/* Calls a function that ends in a jump through a register: the call may lead anywhere. */
	.p2align 4
calls_anything:
	.cfi_startproc
	call	anything
calls_anything_ret:
	ret
	.cfi_endproc

	.p2align 4
anything:
	.cfi_startproc
	inc	%eax
	inc	%eax
	inc	%eax
	inc	%eax
	jmp	*%rax
	.cfi_endproc

	.p2align 4
leaf:
	.cfi_startproc
leaf_at:
	nop
	ret
	.cfi_endproc

/* Pushes and does not say so. */
	.p2align 4
silent:
	.cfi_startproc
	push	%rbx
silent_at:
	nop
	pop	%rbx
	ret
	.cfi_endproc

/* No frame pointer; saves rbx. */
	.p2align 4
pushed:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
pushed_one:
	sub	$16, %rsp
	.cfi_def_cfa_offset 32
pushed_at:
	call	*%rax
pushed_ret:
	add	$16, %rsp
	.cfi_def_cfa_offset 16
pushed_two:
	pop	%rbx
	.cfi_restore %rbx
	.cfi_def_cfa_offset 8
pushed_end:
	ret
	.cfi_endproc

	.p2align 4
bpframe:
	.cfi_startproc
bpframe_entry:
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
bpframe_pushed:
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
bpframe_at:
	call	*%rax
bpframe_ret:
	leave
	.cfi_restore %rbp
	.cfi_def_cfa %rsp, 8
bpframe_left:
	ret
	.cfi_endproc

/* As compilers end it: nothing says that rbp is back. */
	.p2align 4
leaves:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	leave
	.cfi_def_cfa %rsp, 8
leaves_left:
	ret
	.cfi_endproc

/* A leaf that keeps rbp in the red zone. */
	.p2align 4
redzone:
	.cfi_startproc
	mov	%rbp, -16(%rsp)
	.cfi_offset %rbp, -24
redzone_at:
	mov	-16(%rsp), %rbp
	.cfi_restore %rbp
	ret
	.cfi_endproc

/* Two early returns: the rows behind each are what they were before it. */
	.p2align 4
remember:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
remember_one:
	sub	$32, %rsp
	.cfi_def_cfa_offset 48
remember_before:
	je	1f
remember_split:
	.cfi_remember_state
	add	$32, %rsp
	.cfi_def_cfa_offset 16
remember_early:
	pop	%rbx
	.cfi_restore %rbx
	.cfi_def_cfa_offset 8
remember_early_ret:
	ret
1:	.cfi_restore_state
remember_between:
	je	2f
remember_split2:
	.cfi_remember_state
	add	$32, %rsp
	.cfi_def_cfa_offset 16
remember_late:
	pop	%rbx
	.cfi_restore %rbx
	.cfi_def_cfa_offset 8
remember_late_ret:
	ret
2:	.cfi_restore_state
remember_after:
	hlt
remember_end:
	.cfi_endproc

/* main() of a 32-byte aligned frame, as gcc writes it. */
	.p2align 4
realign:
	.cfi_startproc
	lea	8(%rsp), %r10
	.cfi_def_cfa %r10, 0
realign_r10:
	and	$-32, %rsp
	push	-8(%r10)
	push	%rbp
	mov	%rsp, %rbp
	/* DW_CFA_expression: rbp at breg6 + 0 */
	.cfi_escape 0x10, 0x06, 0x02, 0x76, 0x00
	push	%r10
	/* DW_CFA_def_cfa_expression: breg6 - 8; deref */
	.cfi_escape 0x0f, 0x03, 0x76, 0x78, 0x06
realign_at:
	call	*%rax
realign_ret:
	pop	%r10
	.cfi_def_cfa %r10, 0
realign_popped:
	pop	%rbp
realign_lea:
	lea	-8(%r10), %rsp
	.cfi_def_cfa %rsp, 8
realign_left:
	ret
	.cfi_endproc

/* The same by %r13, which is the caller's. */
	.p2align 4
realign13:
	.cfi_startproc
	push	%r13
	.cfi_def_cfa_offset 16
	.cfi_offset %r13, -16
	lea	16(%rsp), %r13
	.cfi_def_cfa %r13, 0
	and	$-32, %rsp
	push	-8(%r13)
	push	%rbp
	mov	%rsp, %rbp
	.cfi_escape 0x10, 0x06, 0x02, 0x76, 0x00
	push	%r13
	.cfi_escape 0x0f, 0x03, 0x76, 0x78, 0x06
	call	leaf
	pop	%r13
	.cfi_def_cfa %r13, 0
	pop	%rbp
	lea	-16(%r13), %rsp
	.cfi_def_cfa %rsp, 16
realign13_pop:
	pop	%r13
	.cfi_def_cfa_offset 8
realign13_left:
	ret
	.cfi_endproc

/*
 * As OpenSSL's AVX2 code: the caller's rsp is saved on a stack that is aligned,
 * in its last word (breg7 + 0; deref; plus_uconst 8), or just below.
 */
	.p2align 4
aligned:
	.cfi_startproc
	.cfi_escape 0x0f, 0x05, 0x77, 0x00, 0x06, 0x23, 0x08
aligned_at:
	nop
	.cfi_escape 0x0f, 0x05, 0x77, 0x78, 0x06, 0x23, 0x08
aligned_below_at:
	nop
	/* What is added would not fit into a rule; and what is no addition. */
	.cfi_escape 0x0f, 0x06, 0x77, 0x00, 0x06, 0x23, 0x88, 0x02
aligned_far_at:
	nop
	.cfi_escape 0x0f, 0x04, 0x77, 0x00, 0x06, 0x1f
aligned_neg_at:
	ret
	.cfi_endproc

/* As aligned_far_at, and calls. */
	.p2align 4
far:
	.cfi_startproc
	.cfi_escape 0x0f, 0x06, 0x77, 0x00, 0x06, 0x23, 0x88, 0x02
	call	*%rax
far_ret:
	ret
	.cfi_endproc

/* As ld writes it: rsp + 8 + ((rip & 15) >= 11) * 8 */
	.p2align 4
plt:
	.cfi_startproc
	.cfi_escape 0x0f, 0x0b, 0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
plt_low:
	jmp	*(%rip)
	.byte	0x68, 0, 0, 0, 0	/* push $0, as long as ld's */
plt_high:
	jmp	plt
	.cfi_endproc

/* The same expression, of a function that calls. */
	.p2align 4
stub:
	.cfi_startproc
	.cfi_escape 0x0f, 0x0b, 0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
	call	*%rax
stub_ret:
	ret
	.cfi_endproc

/* As glibc's __restore_rt: rsp is at the ucontext. */
	.p2align 4
sigframe:
	.cfi_startproc
	.cfi_signal_frame
	/* CFA: breg7 + 160; deref */
	.cfi_escape 0x0f, 0x04, 0x77, 0xa0, 0x01, 0x06
	/* rbx: breg7 + 128; rbp: breg7 + 120; rsp: breg7 + 160; rip: breg7 + 168 */
	.cfi_escape 0x10, 0x03, 0x03, 0x77, 0x80, 0x01
	.cfi_escape 0x10, 0x06, 0x03, 0x77, 0xf8, 0x00
	.cfi_escape 0x10, 0x07, 0x03, 0x77, 0xa0, 0x01
	.cfi_escape 0x10, 0x10, 0x03, 0x77, 0xa8, 0x01
	nop
sigframe_ret:
	mov	$15, %eax
	syscall
	.cfi_endproc

/* The same by plain offsets: a kernel's or another libc's. */
	.p2align 4
sigplain:
	.cfi_startproc
	.cfi_signal_frame
	.cfi_def_cfa %rsp, 32
	.cfi_offset %rip, -8
	nop
sigplain_ret:
	syscall
	.cfi_endproc

	.p2align 4
outer:
	.cfi_startproc
	.cfi_undefined %rip
	call	*%rax
outer_ret:
	hlt
	.cfi_endproc

	.p2align 4
probed:
	.cfi_startproc
	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
nop5_behind:
	.byte	0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00
nop10_behind:
	ret
	.cfi_endproc

	.p2align 4
inreg:
	.cfi_startproc
	.cfi_register %rip, %rbx
inreg_at:
	ret
	.cfi_endproc

	.p2align 4
bpreg:
	.cfi_startproc
	.cfi_register %rbp, %r12
bpreg_at:
	ret
	.cfi_endproc

	.p2align 4
valoff:
	.cfi_startproc
	.cfi_val_offset %rbp, -32
valoff_at:
	ret
	.cfi_endproc

	.p2align 4
undefbp:
	.cfi_startproc
	.cfi_undefined %rbp
undefbp_at:
	call	leaf
undefbp_ret:
	ret
	.cfi_endproc

/* The return address two words up. */
	.p2align 4
raoff:
	.cfi_startproc
	.cfi_def_cfa_offset 32
	.cfi_offset %rip, -24
raoff_at:
	ret
	.cfi_endproc

	.p2align 4
cfarax:
	.cfi_startproc
	.cfi_def_cfa %rax, 8
cfarax_at:
	ret
	.cfi_endproc

/* Needs rbx, which only a replay of the inner frames can tell. */
	.p2align 4
cfarbx:
	.cfi_startproc
	.cfi_def_cfa %rbx, 16
	call	*%rax
cfarbx_ret:
	ret
	.cfi_endproc

/* An offset that no rule of 16 bytes holds: DW_CFA_def_cfa_offset 0x180000000 */
	.p2align 4
bigoff:
	.cfi_startproc
	.cfi_escape 0x0e, 0x80, 0x80, 0x80, 0x80, 0x18
bigoff_at:
	ret
	.cfi_endproc

/* The call is the last instruction: its return address is in the next one. */
	.p2align 4
noret:
	.cfi_startproc
	sub	$8, %rsp
	.cfi_def_cfa_offset 16
	call	leaf
	.cfi_endproc
noret_ret:
next:
	.cfi_startproc
	.cfi_def_cfa_offset 64
	ret
	.cfi_endproc

/*
 * Where makecontext() lets a context's first function return to. Its CFI is
 * that of any function.
 */
	.p2align 4
	nop
context:
	.cfi_startproc
	mov	%rbx, %rsp
	mov	(%rsp), %rdi
	.cfi_endproc

/* The same code behind a call that never returns. */
	.p2align 4
	call	leaf
context_called:
	.cfi_startproc
	mov	%rbx, %rsp
	ud2
	.cfi_endproc

/* From here on what only a broken or hostile file has. */

/* The CFA is the stack pointer, the return address above: no way upwards. */
	.p2align 4
cycle:
	.cfi_startproc
	.cfi_def_cfa_offset 0
	.cfi_offset %rip, 0
cycle_at:
	ret
	.cfi_endproc

/* DW_CFA_def_cfa_offset_sf: rsp - 16 */
	.p2align 4
below:
	.cfi_startproc
	.cfi_escape 0x13, 0x02
below_at:
	ret
	.cfi_endproc

/* skip to itself */
	.p2align 4
looping:
	.cfi_startproc
	.cfi_escape 0x0f, 0x03, 0x2f, 0xfd, 0xff
looping_at:
	ret
	.cfi_endproc

/* 1 / 0 */
	.p2align 4
dividing:
	.cfi_startproc
	.cfi_escape 0x0f, 0x03, 0x31, 0x30, 0x1b
dividing_at:
	ret
	.cfi_endproc

/* A loop in where rbx is: the CFA is plain. */
	.p2align 4
regloop:
	.cfi_startproc
	.cfi_escape 0x10, 0x03, 0x03, 0x2f, 0xfd, 0xff
	call	leaf
regloop_ret:
	ret
	.cfi_endproc

/* An operation that DWARF does not have. */
	.p2align 4
unknown:
	.cfi_startproc
	.cfi_escape 0x0f, 0x02, 0x01, 0x02
unknown_at:
	ret
	.cfi_endproc

/* It calls into the middle of what goes on by a table of jumps. */
	.p2align 4
calls_table:
	.cfi_startproc
	sub	$8, %rsp
	.cfi_def_cfa_offset 16
	call	by_table_in
calls_table_ret:
	add	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc

	.p2align 4
by_table:
	.cfi_startproc
	nop
by_table_in:
	/* What jumps at once is a PLT's entry. */
	nop
	nop
	nop
by_table_at:
	jmp	*0(,%rax,8)
	.cfi_endproc

	.section .note.GNU-stack, "", @progbits
