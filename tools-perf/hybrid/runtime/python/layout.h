/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_PYTHON_LAYOUT_H
#define __PERF_HYBRID_PYTHON_LAYOUT_H

#include "../walk-interpreter.h"
#include "../process-memory.h"

/* How a line table is stored. */
enum python_line_format {
	/* From 3.11 on: Objects/locations.md (InternalDocs/code_objects.md). */
	PYTHON_LINES_LOCATIONS,
	/* 3.10: Objects/lnotab_notes.txt, "co_linetable". */
	PYTHON_LINES_RANGES,
	/* Before: Objects/lnotab_notes.txt, "co_lnotab". */
	PYTHON_LINES_STEPS,
};

/**
 * struct python_layout - where CPython has what is read of it
 * @walk: what BPF reads
 * @lines: how its line tables are stored
 * @type: in an object: the address of its type
 * @filename: in a code object: its co_filename, and so on
 * @qualname: the same
 * @linetable: the same
 * @firstlineno: the same
 * @code: its instructions, of two bytes each; of what has a @lasti: the address of the object of
 *	bytes that they are
 * @lasti: 0: a frame has the address of its instruction; else that the instruction's offset, in
 *	32 bits and in so many bytes
 * @bytes: in an object of bytes: the first one
 * @length: in a string: number of characters
 * @state: in a string: how it is stored
 * @ascii: in a string of ASCII: the first character
 * @text: in another one
 * @kind: bit of @state at which the number of bytes of a character stands; behind the three bits
 *	of that are one that @text follows the string's head, and one that it is ASCII
 */
struct python_layout {
	struct hybrid_walk_python walk;
	enum python_line_format lines;
	u16	type;
	u16	filename;
	u16	qualname;
	u16	linetable;
	u16	firstlineno;
	u16	code;
	u16	bytes;
	u16	length;
	u16	state;
	u16	ascii;
	u16	text;
	u16	kind;
	u16	lasti;
};

/* In every object of a variable size, behind its type: the size. */
#define PYTHON_SIZE(layout)	((layout)->type + 8)

/**
 * struct python_file - what the file of CPython defines
 * @object: the file, open
 * @runtime: address of _PyRuntime in the process, or as the file numbers it
 * @code_type: the same of PyCode_Type
 * @version: what Py_Version is: 0x030b02f0 is 3.11.2
 */
struct python_file {
	const struct hybrid_object *object;
	u64	runtime;
	u64	code_type;
	u32	version;
};

/**
 * python_file__read - read data of CPython
 * @file: its file
 * @pm: a process that has mapped the file, and @addr is of it; NULL: the data is read from the
 *	file, and @addr is as the file numbers it
 * @addr: address of the data
 * @dst: out
 * @size: bytes
 *
 * Return: 0, or -1 if it can't be read.
 */
int python_file__read(const struct python_file *file, struct hybrid_process_memory *pm, u64 addr,
		      void *dst, size_t size);

/**
 * python_layout__read - find out where a CPython has what
 * @layout: out
 * @pm: the process; NULL: none has begun yet, or it has ended, and the file has to do
 * @file: of its CPython; its addresses are those of the process if there is one
 *
 * CPython 3.13 and 3.14 say it themselves (Include/internal/pycore_debug_offsets.h); where
 * _Py_DebugOffsets has what is known by version. These are initialised data of the file. Of 3.8 to
 * 3.12 there is a table. The process or file must fit it: its code objects have the size, and its
 * first thread, if there is one yet, is one of its first interpreter.
 *
 * Return: 0, or -1 if the version is not known, or the process is not as it should be.
 */
int python_layout__read(struct python_layout *layout, struct hybrid_process_memory *pm,
			const struct python_file *file);

/* The same, by the table. */
int python_layout__look_up(struct python_layout *layout, struct hybrid_process_memory *pm,
			   const struct python_file *file);

#endif /* __PERF_HYBRID_PYTHON_LAYOUT_H */
