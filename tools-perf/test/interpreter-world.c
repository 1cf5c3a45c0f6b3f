// SPDX-License-Identifier: GPL-2.0
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <linux/perf_event.h>
#include "../hybrid/runtime/walk-interpreter.h"
#include "abi.h"
#include "elf-file.h"
#include "interpreter-world.h"
#include "tap.h"

/* Frames of a chain. */
#define MOST	32

struct interpreter_world interp;

u64 interpreter_at(const char *label)
{
	return interp.bias + elf_file_symbol(interp.file, label);
}

struct hybrid_namer *interpreter_namer(pid_t pid, pid_t parent)
{
	return hybrid_runtime_namer(interp.runtimes, pid, parent, own.pm.space,
				    interp.language);
}

void interpreter_begin(const char *file, const char *symbol, enum hybrid_language language)
{
	void *library = dlopen(elf_file_path(file), RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	interp.file = file;
	interp.language = language;
	interp.bias = (u64)dlsym(library, symbol) - elf_file_symbol(file, symbol);
	own_begin();
	elf_file_map(&own.ps, own.pm.pid, file, interp.bias);
	interp.runtimes = hybrid_runtimes_new(&own.ps.objects, own.memory);
	interp.namer = interpreter_namer(own.pm.pid, 0);
	interp.names = hybrid_names__new(language);
	check(interp.namer && interp.names);
}

void interpreter_end(void)
{
	hybrid_names__delete(interp.names);
	hybrid_runtimes_delete(interp.runtimes);
	own_end();
}

struct hybrid_unwind interpreter_walk(struct hybrid_frame *frame)
{
	return (struct hybrid_unwind) {
		.abi = &hybrid_abi_64, .pid = own.pm.pid, .space = own.pm.space, .frames = frame,
		.nr = 1,
	};
}

u64 interpreter_make_code(int kind)
{
	return (u64)mmap(NULL, MADE, PROT_READ | PROT_EXEC, kind | MAP_ANONYMOUS, -1, 0);
}

void interpreter_map_code(u64 start)
{
	struct hybrid_mapping mapping = {
		.start = start, .end = start + MADE, .pid = own.pm.pid,
	};

	same(hybrid_process_map(&own.ps, &mapping, NULL, true), 0);
	interp.made = start + 16;
}

/* The letter of a function's name; 0: it is none. */
static char letter_of(u64 ip)
{
	u64 start, size;
	const char *name;
	u32 i;

	ip -= hybrid_names__start(interp.names);
	for (i = 0; i < hybrid_names__nr(interp.names); i++) {
		name = hybrid_names__get(interp.names, i, &start, &size);
		if (ip < start || ip >= start + size)
			continue;
		name += strcspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
		return *name ?: '?';
	}
	return 0;
}

const char *interpreter_name(struct hybrid_frame *frames, unsigned int nr, const u64 *functions,
			     unsigned int nr_functions)
{
	u64 chain[MOST + 1] = { PERF_CONTEXT_USER }, out[4 * MOST];
	struct hybrid_named_chain c = {
		.chain = chain, .nr = nr + 1, .frames = frames, .nr_frames = nr, .is_whole = true,
		.functions = functions, .nr_functions = nr_functions, .functions_are_whole = true,
		.gen = 1, .out = out, .max = ARRAY_SIZE(out),
	};
	static char text[4 * MOST + 1];
	unsigned int i, at = 0;

	memset(out, 0xff, sizeof(out));
	for (i = 0; i < nr; i++) {
		frames[i].ip = frames[i].ret - !!i;
		chain[i + 1] = frames[i].ip;
	}
	hybrid_name_chain(interp.namer, interp.names, &c);
	for (i = 1; i < c.nr_out; i++) {
		text[i - 1] = letter_of(out[i]) ?: '!';
		/* Native frames are in their order, and compiled code may have lost them. */
		while (text[i - 1] == '!' && at < nr) {
			if (out[i] == frames[at++].ip)
				text[i - 1] = '.';
		}
	}
	text[i - 1] = 0;
	return text;
}

const char *interpreter_name_labels(const char *labels, const u64 *functions,
				    unsigned int nr_functions)
{
	struct hybrid_frame frames[MOST] = {};
	unsigned int nr = 0;
	char label[32];
	int len;

	for (; sscanf(labels, "%31s%n", label, &len) == 1; labels += len)
		frames[nr++].ret = strcmp(label, "made") ? interpreter_at(label) : interp.made;
	return interpreter_name(frames, nr, functions, nr_functions);
}

const struct hybrid_mapping *interpreter_is_told(u64 ip,
						 struct hybrid_walk_interpreter *interpreter)
{
	struct hybrid_frame frame = { .ip = ip };
	struct hybrid_unwind u = interpreter_walk(&frame);
	u8 bytes[2][sizeof(*interpreter)];
	struct hybrid_walk_interpreter of_file;
	const struct hybrid_mapping *mapping = hybrid_space_find(u.space, ip);
	u64 vaddr;

	check(!hybrid_runtime_interpreter(NULL, &u, interpreter));
	check(hybrid_runtime_interpreter(interp.runtimes, &u, interpreter) == mapping);
	same(interpreter->language, interp.language);
	check(hybrid_runtime_language(mapping->object));
	check(!hybrid_runtime_interpreter(interp.runtimes, &u, interpreter));
	mapping->object->interpreter_told = false;
	check(hybrid_runtime_file(interp.runtimes, mapping, &of_file, &vaddr));
	check(!hybrid_runtime_file(interp.runtimes, mapping, &of_file, &vaddr));
	mapping->object->interpreter_told = false;
	check(hybrid_runtime_interpreter(interp.runtimes, &u, interpreter));
	/* Both were zeroed. */
	memcpy(bytes[0], interpreter, sizeof(bytes[0]));
	memcpy(bytes[1], &of_file, sizeof(bytes[1]));
	check(!memcmp(bytes[0], bytes[1], sizeof(bytes[0])));
	return mapping;
}
