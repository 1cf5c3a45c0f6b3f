// SPDX-License-Identifier: GPL-2.0
/*
 * Where CPython 3.13 and later have what is read of them: they say it.
 */
#include <string.h>
#include <linux/kernel.h>
#include "python-walk.h"
#include "layout.h"

/* Include/internal/pycore_frame.h: who owns a frame; from this value on no function does. */
#define FRAME_OWNED_BY_CSTACK	3

/* What _Py_DebugOffsets begins with. */
#define COOKIE		"xdebugpy"

/* Offsets are less. */
#define MAX_OFFSET	32768

/**
 * struct offset - a member of _Py_DebugOffsets
 * @at_3_13: where it is in CPython 3.13's
 * @at_3_14: where it is in CPython 3.14's
 * @to: member of struct python_layout that it is for
 */
struct offset {
	u16	at_3_13;
	u16	at_3_14;
	u16	to;
};

#define TO(member)	offsetof(struct python_layout, member)

static const struct offset offsets[] = {
	{  40,  40, TO(walk.first) },		/* runtime_state.interpreters_head */
	{  64,  64, TO(walk.next) },		/* interpreter_state.next */
	{  72,  72, TO(walk.threads) },		/* interpreter_state.threads_head */
	{ 168, 192, TO(walk.thread_next) },	/* thread_state.next */
	{ 184, 208, TO(walk.frame) },		/* thread_state.current_frame */
	{ 192, 216, TO(walk.thread_id) },	/* thread_state.thread_id */
	{ 224, 248, TO(walk.frame_size) },	/* interpreter_frame.size */
	{ 232, 256, TO(walk.caller) },		/* interpreter_frame.previous */
	{ 240, 264, TO(walk.function) },	/* interpreter_frame.executable */
	{ 248, 272, TO(walk.position) },	/* interpreter_frame.instr_ptr */
	{ 264, 288, TO(walk.kind) },		/* interpreter_frame.owner */
	{ 280, 320, TO(filename) },		/* code_object.filename */
	{ 296, 336, TO(qualname) },		/* code_object.qualname */
	{ 304, 344, TO(linetable) },		/* code_object.linetable */
	{ 312, 352, TO(firstlineno) },		/* code_object.firstlineno */
	{ 344, 384, TO(code) },			/* code_object.co_code_adaptive */
	{ 360, 408, TO(type) },			/* pyobject.ob_type */
	{ 528, 608, TO(bytes) },		/* bytes_object.ob_sval */
	{ 544, 624, TO(state) },		/* unicode_object.state */
	{ 552, 632, TO(length) },		/* unicode_object.length */
	{ 560, 640, TO(ascii) },		/* unicode_object.asciiobject_size */
};

/* What _Py_DebugOffsets begins with, in all versions. */
struct head {
	char	cookie[8];
	u64	version;
	u64	free_threaded;
};

static int read_offsets(struct python_layout *layout, struct hybrid_process_memory *pm,
			const struct python_file *file, bool is_3_14)
{
	unsigned int i;
	u64 offset;

	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		u64 at = file->runtime + (is_3_14 ? offsets[i].at_3_14 : offsets[i].at_3_13);

		if (python_file__read(file, pm, at, &offset, sizeof(offset)) ||
		    offset >= MAX_OFFSET)
			return -1;
		*(u16 *)((u8 *)layout + offsets[i].to) = offset;
	}
	return 0;
}

/* Include/cpython/code.h: co_flags in a code object; before 3.11. */
#define FLAGS		48
#define FLAGS_OF_OLD	36

/* Offsets of what BPF reads of a code object are less than this: it reads words. */
#define CODE_END	(HYBRID_PYTHON_CODE - 8)

/* Is it one of the words from co_filename on? */
static bool is_word(const struct python_layout *layout, u16 offset)
{
	return offset >= layout->filename && !(offset % sizeof(u64)) &&
	       offset - layout->filename < HYBRID_PYTHON_WORDS * 8;
}

/* In a string, the length, the hash and the state follow each other. */
static bool is_readable(const struct python_layout *layout)
{
	return layout->state == layout->length + 16 && PYTHON_SIZE(layout) <= CODE_END &&
	       layout->firstlineno <= CODE_END && is_word(layout, layout->qualname) &&
	       is_word(layout, layout->linetable);
}

/* What BPF reads of code objects. */
static int set_texts(struct python_layout *layout)
{
	if (!is_readable(layout))
		return -1;
	layout->walk.code = (struct hybrid_walk_python_code) {
		.type		= layout->type,
		.size		= PYTHON_SIZE(layout),
		.flags		= layout->lasti ? FLAGS_OF_OLD : FLAGS,
		.line		= layout->firstlineno,
		.file		= layout->filename,
		.code		= layout->lasti ? layout->code : 0,
		.length		= layout->length,
		.ascii		= layout->ascii,
		.text		= layout->text,
		.bytes		= layout->bytes,
		.name		= (layout->qualname - layout->filename) / sizeof(u64),
		.table		= (layout->linetable - layout->filename) / sizeof(u64),
		.kind		= layout->kind,
		.is_known	= 1,
	};
	return 0;
}

/* As CPython itself says it, from 3.13 on. */
static int read_own(struct python_layout *layout, struct hybrid_process_memory *pm,
		    const struct python_file *file)
{
	u32 version = file->version >> 16;
	bool is_3_14 = version == 0x030e;
	struct head head;

	memset(layout, 0, sizeof(*layout));
	if ((version != 0x030d && !is_3_14) ||
	    python_file__read(file, pm, file->runtime, &head, sizeof(head)) ||
	    memcmp(head.cookie, COOKIE, sizeof(head.cookie)) || head.version >> 16 != version ||
	    read_offsets(layout, pm, file, is_3_14))
		return -1;
	/* BPF reads words. */
	layout->walk.frame_size = layout->walk.kind + 8;
	layout->walk.ends_from = FRAME_OWNED_BY_CSTACK;
	layout->walk.mark = layout->qualname;
	/* PyCompactUnicodeObject has two words more, Include/cpython/unicodeobject.h. */
	layout->text = layout->ascii + 16;
	layout->kind = is_3_14 && head.free_threaded ? 8 : 2;
	return 0;
}

int python_layout__read(struct python_layout *layout, struct hybrid_process_memory *pm,
			const struct python_file *file)
{
	int err;

	if (file->version >> 16 < 0x030d)
		err = python_layout__look_up(layout, pm, file);
	else
		err = read_own(layout, pm, file);
	return err ?: set_texts(layout);
}
