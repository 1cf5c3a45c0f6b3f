/* SPDX-License-Identifier: GPL-2.0 */
/* Each operation that a CFI program may have. */
	.text
.Lhandler:
	ret

/* One function: four bytes of code before and behind what its CFI says. */
	.macro	function name:req, cfi:vararg
	.globl	\name
	.balign	16
\name:
	.cfi_startproc
	.skip	4, 0x90
	.cfi_escape \cfi
	.skip	4, 0x90
	.cfi_endproc
	.endm

/* At CFA: in the forms of other operands. */
	function offset_extended, 0x05, 6, 2
	function offset_extended_sf, 0x11, 6, 0x03
	function offset_other, 0x83, 2, 0x05, 12, 3
	function offset_negative, 0x11, 6, 0x7e
	function offset_large, 0x11, 6, 0x23
	function offset_large_negative, 0x11, 6, 0x5f
	function undefined_bp, 0x07, 6
	function same_bp, 0x86, 2, 0x08, 6
	function restore_bp, 0x86, 2, 0xc6
	function restore_extended, 0x86, 2, 0x06, 6
	function restore_ip, 0x05, 16, 3, 0x06, 16
	function register_bp, 0x09, 6, 0
	function register_other, 0x09, 3, 0
	function val_offset_sp, 0x14, 7, 0
	function val_offset_bp, 0x14, 6, 2
	function val_offset_sf, 0x15, 6, 0x7e
	function expression_bp, 0x10, 6, 2, 0x76, 0
	function expression_other, 0x10, 3, 2, 0x76, 0
	function val_expression, 0x16, 6, 2, 0x76, 0
	function same_sp, 0x08, 7
	function offset_sp, 0x87, 4
	function undefined_ip, 0x07, 16
	function same_ip, 0x08, 16

/* The CFA. */
	function def_cfa, 0x0c, 7, 24
	function def_cfa_bp, 0x0c, 6, 16, 0x86, 2
	function def_cfa_other, 0x0c, 10, 0
	function def_cfa_sf, 0x12, 7, 0x7d
	function def_cfa_offset_sf, 0x13, 0x7c
	function def_cfa_register, 0x0d, 6
	function def_cfa_far, 0x0e, 0x80, 0x80, 0x80, 0x80, 0x20
	function def_cfa_expression, 0x0f, 3, 0x76, 0x78, 0x06
	function behind_expression, 0x0f, 3, 0x76, 0x78, 0x06, 0x0c, 7, 8
	function register_of_expression, 0x0f, 3, 0x76, 0x78, 0x06, 0x0d, 7
	function offset_of_expression, 0x0f, 3, 0x76, 0x78, 0x06, 0x0e, 8

/* Rows put aside: as compilers do it, deeper than is kept, and none. */
	function remember, 0x0a, 0x0e, 16, 0x41, 0x0b
	function remember_twice, 0x0a, 0x0e, 16, 0x0a, 0x0e, 24, 0x41, 0x0b, 0x41, 0x0b
	function remember_deep, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0e, 16, \
		0x41, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b
	function restore_none, 0x41, 0x0b

/* Steps: of nothing, in each form, and further than the function reaches. */
	function advance_none, 0x40, 0x0e, 16
	function advance_1, 0x02, 2, 0x0e, 16
	function advance_2, 0x03, 2, 0, 0x0e, 16
	function advance_4, 0x04, 2, 0, 0, 0, 0x0e, 16
	function advance_end, 0x44, 0x0e, 16
	function args_size, 0x2e, 0x80, 0x01, 0x0e, 16
	function nothing, 0x00, 0x00, 0x0e, 16

/* A number of more bytes than it needs. (What ld does not understand has no .eh_frame_hdr.) */
	function long_number, 0x0e, 0x90, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00

/* Of other CIEs. */
	.globl	signal_frame
signal_frame:
	.cfi_startproc
	.cfi_signal_frame
	.skip	4, 0x90
	.cfi_endproc
	.globl	personality
personality:
	.cfi_startproc
	.cfi_personality 0x1b, .Lhandler
	.cfi_lsda 0x1b, .Lhandler
	.skip	4, 0x90
	.cfi_def_cfa_offset 16
	.skip	4, 0x90
	.cfi_endproc
	.globl	return_column
return_column:
	.cfi_startproc
	.cfi_return_column 3
	.skip	4, 0x90
	.cfi_endproc

	.section .note.GNU-stack, "", @progbits
