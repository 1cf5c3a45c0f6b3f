/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the file of a CPython has before it runs. VERSION: what Py_Version is; without it there is
 * none, as before 3.11. CODE_SIZE: of a code object without its instructions. DEBUG_OFFSETS: what
 * _Py_DebugOffsets is said to be of; without it _PyRuntime is zeroes, which are not in the file.
 * PYPY: it is PyPy's.
 */
#ifdef PYPY
	.text
	.globl	pypy_main_startup
	.type	pypy_main_startup, @function
pypy_main_startup:
	.cfi_startproc
	ret
	.cfi_endproc
	.size	pypy_main_startup, 1
#else
	.macro	object name:req, size:req
	.globl	\name
	.type	\name, @object
	.size	\name, \size
\name:
	.endm

	.text
	.globl	_PyEval_EvalFrameDefault
	.type	_PyEval_EvalFrameDefault, @function
_PyEval_EvalFrameDefault:
	.cfi_startproc
	ret
	.cfi_endproc
	.size	_PyEval_EvalFrameDefault, 1
	.globl	Py_BytesMain
	.type	Py_BytesMain, @function
Py_BytesMain:
	ret
	.size	Py_BytesMain, 1

#ifdef VERSION
	.section .rodata, "a"
	.balign	8
	object	Py_Version, 8
	.quad	VERSION
#endif

	.data
	.balign	4096
	object	PyCode_Type, 64
	.fill	4, 8, 0
	.quad	CODE_SIZE
	.fill	3, 8, 0

#ifdef DEBUG_OFFSETS
	.section .PyRuntime, "aw"
	.balign	4096
	object	_PyRuntime, 1024
	.macro	offset at:req, value:req
	.org	\at
	.quad	\value
	.endm
	.ascii	"xdebugpy"
	offset	8, DEBUG_OFFSETS
	offset	40, 680		/* runtime_state.interpreters_head */
	offset	232, 8		/* interpreter_frame.previous */
	offset	264, 70		/* interpreter_frame.owner */
	offset	280, 112	/* code_object.filename */
	offset	296, 128	/* code_object.qualname */
	offset	304, 136	/* code_object.linetable */
	offset	544, 32		/* unicode_object.state */
	offset	552, 16		/* unicode_object.length */
	.org	1024
#else
	.bss
	.balign	4096
	object	_PyRuntime, 1024
	.skip	1024
#endif
#endif /* PYPY */
