/* SPDX-License-Identifier: GPL-2.0 */
/* A library that tells of code that it compiles: its list is somewhere in the test. */
	.text
	.globl	compile
compile:
	ret

	.data
	.p2align 3
	.globl	__jit_debug_descriptor
	.type	__jit_debug_descriptor, @object
	.size	__jit_debug_descriptor, 24
__jit_debug_descriptor:
	.zero	24

	.section .note.GNU-stack, "", @progbits
