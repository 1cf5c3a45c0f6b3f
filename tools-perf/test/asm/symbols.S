/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Symbols whose names end alike: the linker stores "spam" as the end of one of the others.
 */
	.text
	.macro	function name:req
	.globl	\name
	.type	\name, @function
\name:	ret
	.size	\name, 1
	.endm

	function z_spam
	function a_spam
	function spam
	function eggs_and_spam
	function m_spam
	function only
