// SPDX-License-Identifier: GPL-2.0
/*
 * Where CPython 3.8 to 3.12 have what is read of them, on x86-64.
 */
#include <linux/kernel.h>
#include "../../rules/symbol.h"
#include "layout.h"

/* Include/internal/pycore_frame.h, FRAME_OWNED_BY_CSTACK: no function owns such a frame. */
#define OWNED_BY_CSTACK	3

/* Include/cpython/object.h: in a type, the size of its objects. */
#define TYPE_BASICSIZE	32

/* Include/cpython/pystate.h: in a thread's data, the interpreter. */
#define THREAD_INTERP	16

/**
 * struct row - a minor version, or several
 * @from: first one
 * @to: last one
 * @code_size: of a code object without its instructions
 * @layout: where they have what
 */
struct row {
	u16			from;
	u16			to;
	u16			code_size;
	struct python_layout	layout;
};

/* The same in all of them. */
#define COMMON(ascii_from, text_from)					\
	.type		= 8,						\
	.bytes		= 32,						\
	.length		= 16,						\
	.state		= 32,						\
	.ascii		= (ascii_from),					\
	.text		= (text_from),					\
	.kind		= 2

/* Before 3.11: frames are objects, and each has a native frame of its own. */
#define FRAME_OBJECTS(frame_lasti)					\
	.walk = {							\
		.first		= 32,					\
		.next		= 0,					\
		.threads	= 8,	/* tstate_head */		\
		.thread_next	= 8,					\
		.thread_id	= 176,					\
		.frame		= 24,					\
		.frame_size	= 112,					\
		.function	= 32,	/* f_code */			\
		.position	= (frame_lasti),			\
		.caller		= 24,	/* f_back */			\
		.kind		= 0,	/* any */			\
		.mark		= 112,	/* co_name */			\
		.ends_from	= 0,					\
		.ends_with	= 1,					\
		.is_apart	= 1,					\
	},								\
	.filename	= 104,						\
	.qualname	= 112,						\
	.linetable	= 120,						\
	.firstlineno	= 40,						\
	.code		= 48	/* co_code */

/* Include/cpython/pystate.h, code.h, frameobject.h, internal/pycore_frame.h, pycore_interp.h */
static const struct row rows[] = {
	{ 0x0308, 0x0309, 176, {
		FRAME_OBJECTS(104), COMMON(48, 72), .lines = PYTHON_LINES_STEPS, .lasti = 1,
	} },
	{ 0x030a, 0x030a, 176, {
		FRAME_OBJECTS(96), COMMON(48, 72), .lines = PYTHON_LINES_RANGES, .lasti = 2,
	} },
	{ 0x030b, 0x030b, 184, {
		.walk = {
			.first		= 40,
			.next		= 0,
			.threads	= 16,
			.thread_next	= 8,
			.thread_id	= 152,
			.frame		= 56,	/* cframe */
			.frame_in_frame	= 8,	/* current_frame */
			.frame_size	= 76,
			.function	= 32,	/* f_code */
			.position	= 56,	/* prev_instr */
			.caller		= 48,	/* previous */
			.kind		= 68,	/* is_entry */
			.mark		= 128,	/* co_qualname */
			.ends_from	= 1,
			.ends_with	= 1,
			.is_indirect	= 1,
		},
		COMMON(48, 72), .filename = 112, .qualname = 128, .linetable = 136,
		.firstlineno = 72, .code = 184,
	} },
	{ 0x030c, 0x030c, 192, {
		.walk = {
			.first		= 40,
			.next		= 0,
			.threads	= 72,
			.thread_next	= 8,
			.thread_id	= 136,
			.frame		= 56,	/* cframe */
			.frame_in_frame	= 0,	/* current_frame */
			.frame_size	= 78,
			.function	= 0,	/* f_code */
			.position	= 56,	/* prev_instr */
			.caller		= 8,	/* previous */
			.kind		= 70,	/* owner */
			.mark		= 128,	/* co_qualname */
			.ends_from	= OWNED_BY_CSTACK,
			.is_indirect	= 1,
		},
		COMMON(40, 56), .filename = 112, .qualname = 128, .linetable = 136,
		.firstlineno = 68, .code = 192,
	} },
};

int python_file__read(const struct python_file *file, struct hybrid_process_memory *pm, u64 addr,
		      void *dst, size_t size)
{
	if (pm)
		return hybrid_process_memory_read(pm, addr, dst, size);
	return hybrid_object_bytes(file->object, addr, dst, size) ? 0 : -1;
}

/* A word of CPython's data; 0 if it can't be read. */
static u64 word(const struct python_file *file, struct hybrid_process_memory *pm, u64 addr)
{
	u64 value;

	return python_file__read(file, pm, addr, &value, sizeof(value)) ? 0 : value;
}

/* A file has no threads, nor has a process that has just begun. */
static bool fits(const struct row *row, struct hybrid_process_memory *pm,
		 const struct python_file *file)
{
	const struct hybrid_walk_python *walk = &row->layout.walk;
	u64 interp = word(file, pm, file->runtime + walk->first), thread;

	thread = interp ? word(file, pm, interp + walk->threads) : 0;
	return (!thread || word(file, pm, thread + THREAD_INTERP) == interp) &&
	       word(file, pm, file->code_type + TYPE_BASICSIZE) == row->code_size;
}

int python_layout__look_up(struct python_layout *layout, struct hybrid_process_memory *pm,
			   const struct python_file *file)
{
	u16 version = file->version >> 16;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (version < rows[i].from || version > rows[i].to)
			continue;
		*layout = rows[i].layout;
		return fits(&rows[i], pm, file) ? 0 : -1;
	}
	return -1;
}
