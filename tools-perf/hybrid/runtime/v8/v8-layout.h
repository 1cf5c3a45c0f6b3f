/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_V8_LAYOUT_H
#define __PERF_HYBRID_V8_LAYOUT_H

#include "../walk-interpreter.h"
#include "v8-walk.h"
#include "../process-memory.h"

/* src/objects/scope-info.tq: from 12.8 on the positions are at a fixed place, before the locals. */
#define V8_POSITIONS_FIRST	(12 << 8 | 8)

/* src/objects/string.h: in an external string the characters' address follows the resource. */
#define V8_EXTERNAL_CHARS	8

/**
 * struct v8_layout - where V8 has what is read of it: offsets in objects, and types of objects
 * @walk: what BPF reads
 * @version: major version of V8 << 8, and the minor one
 *
 * What follows is named as the symbols, see layout.c.
 */
struct v8_layout {
	struct hybrid_walk_v8 walk;
	u32	version;
	/* Below bp, negative. */
	s32	fp_function;
	s32	fp_context;
	s32	fp_bytecode_offset;
	/* Types. */
	s32	first_nonstring;
	s32	one_byte;
	s32	type_shared;
	s32	type_scope_info;
	s32	type_script;
	s32	type_bytecode_array;
	s32	type_byte_array;
	s32	type_trusted_byte_array;
	s32	type_fixed_array;
	s32	type_code;
	s32	type_stream;
	/* The lowest one of compiled code, which has nothing inlined. */
	s32	code_kind_baseline;
	/* Offsets. */
	s32	map_instance_type;
	s32	function_shared;
	s32	shared_name;
	s32	shared_data;
	s32	shared_script;
	s32	shared_flags;
	s32	bytecode_positions;
	s32	bytecode_wrapper;
	s32	code_bytecode;
	s32	code_deopt;
	s32	code_wrapper;
	s32	code_flags;
	s32	code_size;
	/* Of the object that the instructions are in: where they begin. */
	s32	stream_start;
	/* Indexes of words in the data for leaving optimised code. */
	s32	deopt_literals;
	s32	deopt_inlining;
	s32	script_name;
	s32	script_source;
	s32	script_line_ends;
	s32	string_length;
	s32	string_chars;
	s32	cons_first;
	s32	cons_second;
	s32	sliced_parent;
	s32	sliced_offset;
	s32	thin_actual;
	s32	external_resource;
	s32	array_length;
	s32	array_data;
	/* Indexes of words in a ScopeInfo. */
	s32	scope_nr_locals;
	s32	scope_first_vars;
};

/**
 * v8_layout__read - find out where V8 has what
 * @layout: out
 * @object: the file that V8 is in, open
 *
 * V8 says most of it for debuggers (tools/gen-postmortem-metadata.py): integers named v8dbg_*. All
 * of it is in the file, so that it is known before a process has begun to run.
 *
 * Return: 0, or -1 if something is missing, or is not as it should be.
 */
int v8_layout__read(struct v8_layout *layout, const struct hybrid_object *object);

#endif /* __PERF_HYBRID_V8_LAYOUT_H */
