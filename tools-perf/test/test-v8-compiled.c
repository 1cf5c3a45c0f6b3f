// SPDX-License-Identifier: GPL-2.0
/*
 * Frames of code that V8 has compiled: the functions that the code stands for, and those of code
 * that has no frame. The process is the test's own.
 */
#include <string.h>
#include "../hybrid/runtime/walk-interpreter.h"
#include "interpreter-world.h"
#include "tap.h"
#include "v8-code-world.h"

/* Of asm/v8.S. */
#define SCRIPT		167
#define SEQ		8

#define REGEXP		3
#define INTERPRETER	8

/* Of frames that have no function. */
#define NONE		99

/* Names of v8_world's functions: A has the others inlined. */
static u64 letters[3][4], file[4], script[16];

/* A closure of function A. */
static u64 closure[4];

static void set_text(u64 *object, const char *text)
{
	v8_set_type(object, SEQ);
	object[1] = SMI(strlen(text));
	memcpy(object + 2, text, strlen(text));
}

static void begin(unsigned int kind)
{
	unsigned int i;

	interpreter_begin("v8-code.so", "v8dbg_off_fp_function", HYBRID_LANGUAGE_V8);
	interpreter_map_code((u64)&v8_code_memory);
	v8_set_world(kind);
	set_text(file, "/f");
	v8_set_type(script, SCRIPT);
	script[2] = TAG(file);
	for (i = 0; i < ARRAY_SIZE(letters); i++) {
		set_text(letters[i], (const char []) { 'A' + i, 0 });
		v8_world->shared[i][2] = TAG(letters[i]);
		v8_world->shared[i][4] = TAG(script);
		v8_world->shared[i][6] = SMI(i);
	}
	/* What the baseline compiler has made for A. */
	v8_world->shared[0][1] = TAG(v8_world->code);
	v8_set_type(closure, SHARED + 1);
	closure[3] = TAG(v8_world->shared[0]);
}

/* What BPF writes of function @i, which frame @number runs. */
static void set_function(u64 *words, unsigned int i, unsigned int number)
{
	u64 mark = HYBRID_WALK_NATIVE_MARK(i, TAG(script));

	words[0] = HYBRID_WALK_NATIVE_FUNCTION((u64)v8_world->shared[i], mark);
	words[1] = HYBRID_WALK_NATIVE_POSITION(number, 0, mark, 0);
}

/*
 * The names of a frame at @at of the code, which calls one of V8's own functions, or is the
 * innermost. @i: its function; @number: of the frame that BPF has read it of
 */
static const char *name(u32 at, bool is_innermost, unsigned int i, unsigned int number)
{
	struct hybrid_frame frames[3] = {};
	u64 functions[2];
	unsigned int nr = 0;

	if (!is_innermost)
		frames[nr++].ret = interpreter_at("size");
	frames[nr].function = TAG(closure);
	frames[nr++].ret = (u64)v8_world->instructions + at;
	frames[nr++].ret = interpreter_at("size");
	set_function(functions, i, number);
	return interpreter_name(frames, nr, functions, 1);
}

/* The inner function is first. The code may be another function's now. */
static void inlined(void)
{
	unsigned int i;

	begin(TURBOFAN);
	for (i = 0; i < 2; i++) {
		same_text(name(16, false, 0, 1), ".BA.");
		same_text(name(69, false, 0, 1), ".CA.");
		same_text(name(18, true, 0, 0), "BA.");
		same_text(name(16, false, 1, 1), ".B.");
		same_text(name(69, false, 2, 1), ".C.");
	}
	interpreter_end();
	/* Code that stands for its function alone; and code that can't be found. */
	begin(BASELINE);
	same_text(name(16, false, 0, 1), ".A.");
	same_text(name(V8_LOOP + 64, false, 0, 1), ".A.");
	interpreter_end();
	begin(INTERPRETER);
	same_text(name(16, false, 0, 1), ".A.");
	interpreter_end();
}

/* Code without a frame: BPF has read no function of it. */
static void unframed(void)
{
	/* The innermost frame: the code's own data names the function. */
	begin(TURBOFAN);
	same_text(name(16, true, 0, NONE), "A.");
	/* Further out a register has it. */
	same_text(name(16, false, 0, NONE), ".A.");
	interpreter_end();
	begin(BASELINE);
	same_text(name(16, true, 0, NONE), "A.");
	same_text(name(16, false, 0, NONE), ".A.");
	same_text(name(V8_LOOP + 64, true, 0, NONE), "..");
	interpreter_end();
	/* It has another code; or it is no function. */
	begin(BASELINE);
	v8_world->shared[0][1] = TAG(v8_world->deopt);
	same_text(name(16, true, 0, NONE), "..");
	interpreter_end();
	begin(BASELINE);
	closure[3] = TAG(v8_world->deopt);
	same_text(name(16, false, 0, NONE), "...");
	interpreter_end();
}

static void regular_expression(void)
{
	begin(REGEXP);
	closure[3] = 0;
	/* Its name has no letter. */
	same_text(name(16, true, 0, NONE), "?.");
	interpreter_end();
	begin(REGEXP + 1);
	closure[3] = 0;
	same_text(name(16, true, 0, NONE), "..");
	interpreter_end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "V8: functions that were inlined", inlined },
		{ "V8: code without a frame", unframed },
		{ "V8: code of a regular expression", regular_expression },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
