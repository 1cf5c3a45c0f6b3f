/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_V8_TRANSLATION_H
#define __PERF_HYBRID_V8_TRANSLATION_H

#include <stdbool.h>
#include <linux/types.h>

/* The frame has no place in bytecode. */
#define V8_NO_BYTECODE	(-1)

struct v8_opcodes;

/**
 * struct v8_translation - V8's descriptions of the frames that optimised code stands for
 * @opcodes: how they are written
 * @bytes: all descriptions of one piece of code, one after the other
 * @size: number of @bytes
 *
 * V8 reads one when it leaves optimised code for the interpreter: src/deoptimizer/.
 */
struct v8_translation {
	const struct v8_opcodes	*opcodes;
	const u8		*bytes;
	u32			 size;
};

/**
 * struct v8_translated - a frame of a function
 * @literal: index of its SharedFunctionInfo in the code's literals
 * @bytecode: the place in its bytecode, or V8_NO_BYTECODE
 */
struct v8_translated {
	u32	literal;
	s32	bytecode;
};

/**
 * v8_translation__choose - find out how descriptions are written
 * @t: @bytes and @size are set; out: @opcodes
 * @version: of V8, as struct v8_layout has it
 *
 * Tries the table of opcodes for this version first, then those for other versions. A table is
 * accepted if all descriptions can be read by it, and each has as many frames as it says.
 *
 * Return: false if no table is accepted.
 */
bool v8_translation__choose(struct v8_translation *t, u32 version);

/**
 * v8_translation__frames - the functions that one description has
 * @t: that was chosen
 * @at: index in its bytes
 * @frames: out: the outermost first
 * @max: room in @frames
 *
 * Return: how many; 0 if no description begins there, or it has more than @max.
 */
unsigned int v8_translation__frames(const struct v8_translation *t, u32 at,
				    struct v8_translated *frames, unsigned int max);

#endif /* __PERF_HYBRID_V8_TRANSLATION_H */
