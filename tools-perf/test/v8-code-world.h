/* SPDX-License-Identifier: GPL-2.0 */
#ifndef V8_CODE_WORLD_H
#define V8_CODE_WORLD_H

#include "v8-inlined.h"
#include "v8-nearest.h"

/* Types, as of V8 12.4, and kinds of code. */
#define ARRAY		174
#define CODE		206
#define STREAM		210
#define BYTES		212
#define SHARED		262
#define BASELINE	10
#define MAGLEV		11
#define TURBOFAN	12

#define TAG(object)	((u64)(object) + V8_TAG)
#define SMI(number)	((u64)(number) << 32)

/*
 * Of version 12: a function at its bytecode 3, in which another one is at 10; and, with the first
 * frame as there, a third one at 12.
 */
#define V8_TWO		25
extern const u8 v8_two[V8_TWO];

/* Where the second one begins. */
#define SECOND		15

/* Two calls: one returns to 16 and has the exit 1, the other to 69, and has the exit 2. */
#define V8_TABLE	14
extern const u8 v8_table[V8_TABLE];
extern const struct v8_exits v8_exits;

/* A loop from 0 to 18 that V8 may interrupt by the call at 64; then a check that may fail. */
#define V8_LOOP		128
extern const u8 v8_loop[V8_LOOP];

/* Where the objects have what they have; asm/v8.S with CODE says the same. */
extern const struct v8_layout v8_code_layout;

/* A piece of code, and the objects that belong to it. */
struct v8_code_world {
	u64	stream[4];
	u8	instructions[V8_LOOP];
	u8	table[64];
	u64	code[16];
	u64	deopt[2 + 11 + 3 * 3];
	u64	translation[8];
	u64	literals[8];
	u64	shared[3][16];
};

/* Its instructions begin at a multiple of 64. */
#define V8_CODE_SIZE	2048
extern union v8_code_memory {
	struct v8_code_world	w;
	u8			bytes[V8_CODE_SIZE];
} v8_code_memory;

#define v8_world	((struct v8_code_world *)(v8_code_memory.bytes + 32))

/* Makes an object one of a type. */
void v8_set_type(u64 *object, u16 type);

/* All objects anew, with the code of this kind; own.memory is read anew. */
void v8_set_world(unsigned int kind);

#endif /* V8_CODE_WORLD_H */
