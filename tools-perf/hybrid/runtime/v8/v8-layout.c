// SPDX-License-Identifier: GPL-2.0
/*
 * Where versions of V8 have what is read of them.
 */
#include <stddef.h>
#include <string.h>
#include <linux/kernel.h>
#include "../../rules/relocation.h"
#include "../../rules/symbol.h"
#include "v8-layout.h"

/* All offsets and types are less. */
#define MAX_VALUE	65536

/* Of V8's own code in the file. */
#define MAX_BLOB	(64U << 20)

/* Of each section: a program of the size of Node.js has less. */
#define MAX_RELOCATIONS	1048576

/* There is none: it has to be said. */
#define REQUIRED	(-1)

/**
 * struct field - a value that V8 says
 * @name: behind "v8dbg_"
 * @to: member of struct v8_layout; of several lines for one the last that V8 says holds
 * @without: what it is if V8 does not say it
 */
struct field {
	const char	*name;
	u16		 to;
	s16		 without;
};

#define TO(member)	offsetof(struct v8_layout, member)

/*
 * The types of fields are part of the names, and change. Which V8 has what: 10.2 (Node.js 18) to
 * 13.6 (24) were looked at.
 */
static const struct field fields[] = {
	{ "off_fp_function", TO(fp_function), REQUIRED },
	{ "off_fp_context", TO(fp_context), REQUIRED },
	{ "off_fp_bytecode_offset", TO(fp_bytecode_offset), -40 },
	{ "FirstNonstringType", TO(first_nonstring), REQUIRED },
	{ "OneByteStringTag", TO(one_byte), REQUIRED },
	{ "type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE", TO(type_shared), REQUIRED },
	{ "type_ScopeInfo__SCOPE_INFO_TYPE", TO(type_scope_info), REQUIRED },
	{ "type_Script__SCRIPT_TYPE", TO(type_script), REQUIRED },
	{ "type_BytecodeArray__BYTECODE_ARRAY_TYPE", TO(type_bytecode_array), 0 },
	{ "type_ByteArray__BYTE_ARRAY_TYPE", TO(type_byte_array), 0 },
	{ "type_TrustedByteArray__TRUSTED_BYTE_ARRAY_TYPE", TO(type_trusted_byte_array), 0 },
	{ "type_FixedArray__FIXED_ARRAY_TYPE", TO(type_fixed_array), 0 },
	{ "type_Code__CODE_TYPE", TO(type_code), 0 },
	{ "type_InstructionStream__INSTRUCTION_STREAM_TYPE", TO(type_stream), 0 },
	{ "CodeKindBaseline", TO(code_kind_baseline), 0 },
	{ "class_Map__instance_type__uint16_t", TO(map_instance_type), REQUIRED },
	{ "class_JSFunction__shared__SharedFunctionInfo", TO(function_shared), REQUIRED },
	{ "class_SharedFunctionInfo__name_or_scope_info__Object", TO(shared_name), 0 },
	{ "class_SharedFunctionInfo__name_or_scope_info__Tagged_Object_", TO(shared_name), 0 },
	{ "class_SharedFunctionInfo__name_or_scope_info__Tagged_NameOrScopeInfoT_",
	  TO(shared_name), REQUIRED },
	/* src/objects/shared-function-info.tq: the first one. */
	{ "class_SharedFunctionInfo__function_data__Object", TO(shared_data), 8 },
	{ "class_SharedFunctionInfo__script_or_debug_info__Object", TO(shared_script), 0 },
	{ "class_SharedFunctionInfo__script_or_debug_info__HeapObject", TO(shared_script), 0 },
	{ "class_SharedFunctionInfo__script__Tagged_HeapObject_", TO(shared_script), REQUIRED },
	{ "class_SharedFunctionInfo__flags__int", TO(shared_flags), REQUIRED },
	/* src/objects/bytecode-array.tq, and bytecode-array.h in later versions. */
	{ "class_BytecodeArray__source_position_table__Object", TO(bytecode_positions), 0 },
	{ "class_BytecodeArray__source_position_table__HeapObject", TO(bytecode_positions), 32 },
	{ "class_BytecodeArray__wrapper__Tagged_BytecodeWrapper_", TO(bytecode_wrapper), 0 },
	/* src/objects/code.h; up to 10.2 the instructions are in the Code itself. */
	{ "class_Code__deoptimization_data__FixedArray", TO(code_deopt), 16 },
	{ "class_Code__wrapper__Tagged_CodeWrapper_", TO(code_wrapper), 0 },
	{ "class_Code__flags__uint32_t", TO(code_flags), 48 },
	{ "class_Code__instruction_size__int", TO(code_size), 56 },
	{ "class_Code__instruction_start__uintptr_t", TO(stream_start), 0 },
	{ "class_InstructionStream__instruction_start__uintptr_t", TO(stream_start), 0 },
	/* src/objects/deoptimization-data.h */
	{ "DeoptimizationDataLiteralArrayIndex", TO(deopt_literals), 2 },
	{ "DeoptimizationDataInliningPositionsIndex", TO(deopt_inlining), 7 },
	{ "class_Script__name__Object", TO(script_name), 0 },
	{ "class_Script__name__Tagged_Object_", TO(script_name), REQUIRED },
	{ "class_Script__source__Object", TO(script_source), 0 },
	{ "class_Script__source__Tagged_Object_", TO(script_source), 8 },
	{ "class_Script__line_ends__Object", TO(script_line_ends), 0 },
	{ "class_Script__line_ends__Tagged_Object_", TO(script_line_ends), 0 },
	{ "class_String__length__int32_t", TO(string_length), REQUIRED },
	{ "class_SeqOneByteString__chars__char", TO(string_chars), REQUIRED },
	{ "class_ConsString__first__String", TO(cons_first), REQUIRED },
	{ "class_ConsString__second__String", TO(cons_second), REQUIRED },
	{ "class_SlicedString__parent__String", TO(sliced_parent), 16 },
	{ "class_SlicedString__offset__SMI", TO(sliced_offset), 24 },
	{ "class_ThinString__actual__String", TO(thin_actual), 16 },
	{ "class_ExternalString__resource__Object", TO(external_resource), 16 },
	{ "class_FixedArrayBase__length__SMI", TO(array_length), 8 },
	{ "class_FixedArray__data__uintptr_t", TO(array_data), 16 },
	{ "scopeinfo_idx_ncontextlocals", TO(scope_nr_locals), REQUIRED },
	{ "scopeinfo_idx_first_vars", TO(scope_first_vars), REQUIRED },
};

/*
 * A value that the file has; false: it can't be one. What is 0 need not be in the file: .bss has
 * it.
 */
static bool read_value(const struct hybrid_object *object, u64 vaddr, s32 *value)
{
	if (!hybrid_object_bytes(object, vaddr, value, sizeof(*value)))
		*value = 0;
	return *value < MAX_VALUE && *value > -256;
}

static bool read_fields(struct v8_layout *layout, const struct hybrid_object *object)
{
	const char *names[ARRAY_SIZE(fields)];
	u64 symbols[ARRAY_SIZE(fields)];
	unsigned int i;
	s32 *to;

	for (i = 0; i < ARRAY_SIZE(fields); i++)
		names[i] = fields[i].name;
	hybrid_object_symbols(object, "v8dbg_", names, symbols, ARRAY_SIZE(fields));
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		to = (s32 *)((u8 *)layout + fields[i].to);
		if (symbols[i]) {
			if (!read_value(object, symbols[i], to))
				return false;
			continue;
		}
		/* It may have been said under another name. */
		if (!*to && fields[i].without == REQUIRED)
			return false;
		if (!*to)
			*to = fields[i].without;
	}
	return true;
}

static bool read_version(struct v8_layout *layout, const struct hybrid_object *object)
{
	u64 major = hybrid_object_symbol(object, "_ZN2v88internal7Version6major_E");
	u64 minor = hybrid_object_symbol(object, "_ZN2v88internal7Version6minor_E");
	s32 words[2];

	if (!major || !minor || !read_value(object, major, &words[0]) ||
	    !read_value(object, minor, &words[1]))
		return false;
	layout->version = (u32)words[0] << 8 | (words[1] & 0xff);
	return true;
}

/* Where V8's own code is, and its size. In V8 10 the second name is that of a pointer. */
enum { BLOB_CODE, BLOB_CODE_OR_POINTER, BLOB_SIZE, BLOB_NAMES };

static const char *const blob_names[BLOB_NAMES] = {
	"v8_Default_embedded_blob_code_data_",
	"v8_Default_embedded_blob_code_",
	"v8_Default_embedded_blob_code_size_",
};

static bool has_bytes(const u8 *code, const void *bytes, size_t size)
{
	return !memcmp(code, bytes, size);
}

/*
 * What a function returns, or the address of that: lea ADDRESS(%rip),%rax with or without
 * mov (%rax),%rax; mov ADDRESS(%rip),%rax or %eax; mov $ADDRESS,%eax. @size: of what it returns; of
 * 8 bytes, it is an address.
 */
static u64 returned(const struct hybrid_object *object, const char *function, unsigned int size)
{
	u64 vaddr = hybrid_object_exported(object, function), at, word;
	u8 code[10];
	bool loads;
	s32 to;

	if (!vaddr || !hybrid_object_bytes(object, vaddr, code, sizeof(code)))
		return 0;
	memcpy(&to, code + 3, sizeof(to));
	at = vaddr + 7 + to;
	loads = has_bytes(code, "\x48\x8b\x05", 3);
	if (has_bytes(code, "\x48\x8d\x05", 3)) {
		loads = has_bytes(code + 7, "\x48\x8b\x00", 3);
	} else if (code[0] == 0xb8 || has_bytes(code, "\x8b\x05", 2)) {
		memcpy(&to, code + (code[0] == 0xb8 ? 1 : 2), sizeof(to));
		at = code[0] == 0xb8 ? (u32)to : vaddr + 6 + to;
	} else if (!loads) {
		return 0;
	}
	if (!loads || size != sizeof(word))
		return at;
	return hybrid_relocation_word(object, at, MAX_RELOCATIONS, &word) ? word : 0;
}

/*
 * The code of V8's builtins: src/snapshot/embedded/embedded-file-writer.cc, and
 * src/execution/isolate.cc for the functions, which are exported by most versions.
 */
static bool find_blob(const struct hybrid_object *object, u64 *start, u32 *size)
{
	u64 found[BLOB_NAMES] = {};

	*start = returned(object, "_ZN2v88internal23DefaultEmbeddedBlobCodeEv", sizeof(u64));
	found[BLOB_SIZE] = returned(object, "_ZN2v88internal27DefaultEmbeddedBlobCodeSizeEv",
				    sizeof(u32));
	if (!*start || !found[BLOB_SIZE]) {
		hybrid_object_own_symbols(object, blob_names, found, BLOB_NAMES);
		*start = found[BLOB_CODE] ?: found[BLOB_CODE_OR_POINTER];
	}
	return *start && hybrid_object_bytes(object, found[BLOB_SIZE], size, sizeof(*size)) &&
	       *size && *size <= MAX_BLOB;
}

/* BPF reads them as bytes below bp. */
static bool is_below(s32 offset)
{
	return offset <= -8 && offset >= -248 && !(offset % 8);
}

/* What V8 does not say: without a type of their own instructions are in the Code. */
static void complete_code(struct v8_layout *layout)
{
	if (!layout->type_stream)
		layout->type_stream = layout->type_code;
	/* Versions that have wrappers have these words before, and behind them. */
	if (layout->code_wrapper)
		layout->code_deopt = layout->code_wrapper - 16;
	if (layout->bytecode_wrapper)
		layout->bytecode_positions = layout->bytecode_wrapper + 8;
	/* src/objects/code.h: one word, for what optimised code and that of the baseline have. */
	layout->code_bytecode = layout->code_deopt;
}

static void describe_objects(const struct v8_layout *layout, struct hybrid_walk_v8_objects *objects)
{
	*objects = (struct hybrid_walk_v8_objects) {
		.map_type = layout->map_instance_type, .name = layout->shared_name,
		.script_name = layout->script_name, .script_source = layout->script_source,
		.string_length = layout->string_length, .string_chars = layout->string_chars,
		.external_chars = layout->external_resource + V8_EXTERNAL_CHARS,
		.cons_first = layout->cons_first, .cons_second = layout->cons_second,
		.sliced_parent = layout->sliced_parent, .sliced_offset = layout->sliced_offset,
		.thin_actual = layout->thin_actual, .first_nonstring = layout->first_nonstring,
		.type_shared = layout->type_shared, .type_scope_info = layout->type_scope_info,
		.type_script = layout->type_script, .one_byte = layout->one_byte,
		.scope_nr_locals = sizeof(u64) * layout->scope_nr_locals,
		.scope_vars = sizeof(u64) * layout->scope_first_vars,
		.positions_first = layout->version >= V8_POSITIONS_FIRST,
	};
}

static void describe_walk(struct v8_layout *layout, u64 offset, u32 size)
{
	struct hybrid_walk_v8 *walk = &layout->walk;

	walk->code = offset;
	walk->code_end = offset + size;
	walk->below_function = -layout->fp_function;
	walk->below_context = -layout->fp_context;
	walk->below_position = -layout->fp_bytecode_offset;
	walk->shared = layout->function_shared;
	walk->owner = layout->shared_script;
	/* src/objects/shared-function-info.tq: function_literal_id follows the flags. */
	walk->mark = layout->shared_flags + 4;
	describe_objects(layout, &walk->objects);
}

int v8_layout__read(struct v8_layout *layout, const struct hybrid_object *object)
{
	u64 blob, offset;
	u32 size;

	memset(layout, 0, sizeof(*layout));
	if (!read_fields(layout, object) || !read_version(layout, object) ||
	    !find_blob(object, &blob, &size) || !hybrid_object_offset(object, blob, &offset) ||
	    !is_below(layout->fp_function) || !is_below(layout->fp_context) ||
	    !is_below(layout->fp_bytecode_offset))
		return -1;
	complete_code(layout);
	describe_walk(layout, offset, size);
	return 0;
}
