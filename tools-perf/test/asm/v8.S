/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a file with V8 12.4 says of it, as runtime/v8/v8-layout.c reads that. BLOB: as V8 10, a
 * function returns what a pointer has. HIDDEN: no function is exported, but the symbols of the data
 * are there. LIES: the type of scripts is missing. CODE: V8 says what v8-code-world.c makes.
 */
	.macro	says name:req, value:req
	.globl	v8dbg_\name
v8dbg_\name: .long \value
	.endm

	.text
	.balign	64
blob:	.skip	16, 0xcc
in_blob:
	.skip	176, 0xcc

	.balign	16
#ifdef HIDDEN
	.set	v8_Default_embedded_blob_code_, blob
	.set	v8_Default_embedded_blob_code_size_, size
#else
	.globl	_ZN2v88internal23DefaultEmbeddedBlobCodeEv
_ZN2v88internal23DefaultEmbeddedBlobCodeEv:
#ifdef BLOB
	mov	pointer(%rip), %rax
#else
	lea	blob(%rip), %rax
#endif
	ret
	.balign	16
	.globl	_ZN2v88internal27DefaultEmbeddedBlobCodeSizeEv
_ZN2v88internal27DefaultEmbeddedBlobCodeSizeEv:
	mov	size(%rip), %eax
	ret
	.balign	16
#endif

	.section .rodata
	.balign	4
size:	.long	192

	.data
	.balign	8
pointer: .quad	blob

	.globl	_ZN2v88internal7Version6major_E, _ZN2v88internal7Version6minor_E
_ZN2v88internal7Version6major_E: .long 12
_ZN2v88internal7Version6minor_E: .long 4

	says	off_fp_function, -16
	says	off_fp_context, -8
	says	FirstNonstringType, 128
	says	OneByteStringTag, 8
	says	type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE, 262
	says	type_ScopeInfo__SCOPE_INFO_TYPE, 261
#ifndef LIES
	says	type_Script__SCRIPT_TYPE, 167
#endif
#ifdef CODE
	says	type_Code__CODE_TYPE, 206
	says	type_InstructionStream__INSTRUCTION_STREAM_TYPE, 210
	says	CodeKindBaseline, 10
	says	class_InstructionStream__instruction_start__uintptr_t, 32
#endif
	says	class_Map__instance_type__uint16_t, 12
	says	class_JSFunction__shared__SharedFunctionInfo, 24
	says	class_SharedFunctionInfo__name_or_scope_info__Tagged_NameOrScopeInfoT_, 16
	says	class_SharedFunctionInfo__script__Tagged_HeapObject_, 32
	says	class_SharedFunctionInfo__flags__int, 48
	says	class_Script__name__Object, 16
	says	class_String__length__int32_t, 12
	says	class_SeqOneByteString__chars__char, 16
	says	class_ConsString__first__String, 16
	says	class_ConsString__second__String, 24
	says	scopeinfo_idx_first_vars, 3

	.bss
	.balign	4
	.globl	v8dbg_scopeinfo_idx_ncontextlocals
v8dbg_scopeinfo_idx_ncontextlocals: .long 0
