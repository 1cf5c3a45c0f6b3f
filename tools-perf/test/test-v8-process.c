// SPDX-License-Identifier: GPL-2.0
/*
 * A process that runs V8: which functions the native frames of its own code get, and those of code
 * that it has compiled. The process is the test's own.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include "../hybrid/runtime/walk-interpreter.h"
#include "elf-file.h"
#include "interpreter-world.h"
#include "tap.h"

/* Of asm/v8.S. */
#define SCRIPT		167
#define SHARED		262
#define SEQ		8

#define TAG(object)	((u64)(object) + 1)
#define SMI(number)	((u64)(number) << 32)

static u64 maps[512][2];

/* Two functions of a script, with a letter as name. */
static u64 letters[2][4], file[4], script[16], shared[2][16];

static void set_type(u64 *object, u16 type)
{
	maps[type][1] = (u64)type << 32;
	object[0] = TAG(maps[type]);
}

static void set_text(u64 *object, const char *text)
{
	set_type(object, SEQ);
	object[1] = SMI(strlen(text));
	memcpy(object + 2, text, strlen(text));
}

static void begin(void)
{
	unsigned int i;

	interpreter_begin("v8.so", "v8dbg_off_fp_function", HYBRID_LANGUAGE_V8);
	set_text(file, "/f");
	set_type(script, SCRIPT);
	script[2] = TAG(file);
	for (i = 0; i < ARRAY_SIZE(shared); i++) {
		set_text(letters[i], i ? "B" : "A");
		set_type(shared[i], SHARED);
		shared[i][2] = TAG(letters[i]);
		shared[i][4] = TAG(script);
		shared[i][6] = SMI(i);
	}
}

/* What BPF writes of function @i, which frame @number runs. */
static void set_function(u64 *words, unsigned int i, unsigned int number, u64 cfa)
{
	u64 mark = HYBRID_WALK_NATIVE_MARK(i, TAG(script));

	words[0] = HYBRID_WALK_NATIVE_FUNCTION((u64)shared[i], mark);
	words[1] = HYBRID_WALK_NATIVE_POSITION(number, cfa, mark, 0);
}

static void frames(void)
{
	u64 made = interpreter_make_code(MAP_PRIVATE), functions[4], none[2];
	unsigned int i;

	begin();
	interpreter_map_code(made);
	/* Compiled code has the function alone. */
	set_function(functions, 0, 1, 0);
	set_function(functions + 2, 1, 3, 0);
	for (i = 0; i < 2; i++)
		same_chain(functions, ".A..B.", "size made size in_blob size");
	/* Another first frame, which may be one that runs a function. */
	set_function(functions, 0, 0, 0);
	set_function(functions + 2, 1, 2, 0);
	for (i = 0; i < 2; i++) {
		same_chain(functions, "A..B.", "made size in_blob size");
		same_chain(functions, ".A..B.", "in_blob size in_blob size");
	}
	/* The callers of a first frame that runs no function are known by theirs. */
	set_function(functions, 1, 1, 0);
	set_function(functions + 2, 1, 3, 0);
	same_chain(functions, "..B..B.", "size in_blob size in_blob size");
	set_function(functions, 0, 1, 0);
	same_chain(functions, "..A..B.", "size in_blob size in_blob size");
	set_function(functions, 0, 0, 0);
	set_function(functions + 2, 1, 2, 0);
	/* Frames of which BPF has read no function. */
	set_function(none, 0, 9, 0);
	same_chain(none, "....", "size in_blob size pointer");
	same_chain(none, "....", "made made size pointer");
	/* Not what it was: the function at this address is another one now. */
	shared[1][6] = SMI(7);
	hybrid_memory_forget(own.memory);
	tap_pass(2000000000);
	interp.namer->nr_unread = 0;
	same_chain(functions, "A..B.", "made size in_blob size");
	interpreter_end();
}

/* Whatever the room, a frame has as many functions, and no more is written. */
static void rooms(void)
{
	struct hybrid_frame frame = {};
	u64 functions[2], out[4];
	struct hybrid_named_chain c = { .functions = functions, .nr_functions = 1 };
	unsigned int room, i;

	begin();
	frame.ip = interpreter_at("in_blob");
	frame.ret = frame.ip;
	set_function(functions, 0, 0, 0);
	for (room = 0; room < ARRAY_SIZE(out); room++) {
		memset(out, 0xff, sizeof(out));
		interp.namer->begin(interp.namer, &c);
		same(interp.namer->name(interp.namer, interp.names, &frame, frame.ip, out, room),
		     2);
		for (i = 0; i < ARRAY_SIZE(out); i++)
			same(out[i] != ~0ULL, i < min(room, 2U));
	}
	interpreter_end();
}

/* Functions are in the order of frames, and some of them are of none. */
static void order(void)
{
	u64 functions[2 * 40];
	unsigned int nr, i;

	begin();
	for (nr = 0; nr < 20; nr++) {
		for (i = 0; i < ARRAY_SIZE(functions) / 2; i++)
			set_function(functions + 2 * i, 0, 99, 0);
		set_function(functions + 2 * nr, 1, 1, 0);
		same_chain(functions, nr < 16 ? "..B." : "...", "size in_blob size");
		/* What leads on by bp is no function. */
		for (i = 0; i < nr; i++)
			functions[2 * i] = HYBRID_WALK_NATIVE_LINK;
		same_chain(functions, "..B.", "size in_blob size");
	}
	/* One that was taken is not looked at again. */
	set_function(functions, 0, 2, 0);
	set_function(functions + 2, 1, 1, 0);
	same_chain(functions, "..B..", "size in_blob in_blob size");
	interpreter_end();
}

/* If perf has unwound the frames, their functions are found by the CFA. */
static void unwound(void)
{
	struct hybrid_frame frames[] = {
		{ .ret = 0 }, { .cfa = 0x7ffc00001010 }, { .cfa = 0x7ffc00001020 },
	};
	u64 functions[4];
	unsigned int i;

	begin();
	for (i = 0; i < ARRAY_SIZE(frames); i++)
		frames[i].ret = interpreter_at(i ? "in_blob" : "size");
	set_function(functions, 0, 2, frames[1].cfa);
	set_function(functions + 2, 1, 1, frames[2].cfa);
	same_text(interpreter_name(frames, 3, functions, 2), "..A.B");
	frames[1].cfa += 8;
	same_text(interpreter_name(frames, 3, functions, 2), "...B");
	interpreter_end();
}

/* Node.js --perf-basic-prof writes a map of its code: its names stay. */
static void named_by_itself(void)
{
	u64 made = interpreter_make_code(MAP_PRIVATE), functions[4];
	char path[64];
	int fd;

	begin();
	interpreter_map_code(made);
	set_function(functions, 0, 1, 0);
	set_function(functions + 2, 1, 3, 0);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	check(fd >= 0);
	/* It is looked for once in a pass. */
	check(interpreter_namer(own.pm.pid, 0) == interp.namer);
	same_chain(functions, ".A..B.", "size made size in_blob size");
	hybrid_runtimes_forget(interp.runtimes);
	check(interpreter_namer(own.pm.pid, 0) == interp.namer);
	/* A chain that was named before has the same names. */
	same_chain(functions, ".A..B.", "size made size in_blob size");
	same_chain(functions, "..A..B..", "size made size in_blob size pointer");
	close(fd);
	unlink(path);
	hybrid_runtimes_forget(interp.runtimes);
	check(interpreter_namer(own.pm.pid, 0) == interp.namer);
	same_chain(functions, "..A..B...", "size made size in_blob size pointer size");
	interpreter_end();
}

static void interpreter(void)
{
	struct hybrid_walk_interpreter of;

	begin();
	interpreter_is_told(interpreter_at("in_blob"), &of);
	same(of.v8.code % 4096, elf_file_symbol("v8.so", "in_blob") % 4096 - 16);
	same(of.v8.code_end - of.v8.code, 192);
	interpreter_end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "V8: functions of frames", frames },
		{ "V8: room for functions", rooms },
		{ "V8: functions in the order of frames", order },
		{ "V8: frames that perf has unwound", unwound },
		{ "V8: names of its own", named_by_itself },
		{ "V8: what BPF is told", interpreter },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
