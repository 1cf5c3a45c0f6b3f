/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The symbols by which a JVM describes its data; java-world.c fills the words.
 */
	.text
	.globl	jvm_code
jvm_code:
	ret

	.data
	.balign	4096
	.globl	jvm_words
jvm_words:
	.macro	word name:req
	.globl	\name
	.type	\name, @object
\name:	.quad	0
	.size	\name, 8
	.endm

	word	gHotSpotVMStructs
	word	gHotSpotVMStructEntryArrayStride
	word	gHotSpotVMStructEntryTypeNameOffset
	word	gHotSpotVMStructEntryFieldNameOffset
	word	gHotSpotVMStructEntryIsStaticOffset
	word	gHotSpotVMStructEntryOffsetOffset
	word	gHotSpotVMStructEntryAddressOffset
	word	gHotSpotVMStructEntryTypeStringOffset
	word	gHotSpotVMTypes
	word	gHotSpotVMTypeEntryArrayStride
	word	gHotSpotVMTypeEntryTypeNameOffset
	word	gHotSpotVMTypeEntrySizeOffset
	word	gHotSpotVMIntConstants
	word	gHotSpotVMIntConstantEntryArrayStride
	word	gHotSpotVMIntConstantEntryNameOffset
	word	gHotSpotVMIntConstantEntryValueOffset
	word	gHotSpotVMLongConstants
	word	gHotSpotVMLongConstantEntryArrayStride
	word	gHotSpotVMLongConstantEntryNameOffset
	word	gHotSpotVMLongConstantEntryValueOffset
