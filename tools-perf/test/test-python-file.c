// SPDX-License-Identifier: GPL-2.0
/*
 * What the file of a CPython shows before a process runs it.
 */
#include <string.h>
#include "../hybrid/bpf_skel/hybrid_interpreter.h"
#include "elf-file.h"
#include "own-memory.h"
#include "rows.h"
#include "runtime.h"
#include "tap.h"

#define BIAS	0x50000000ULL

/* BPF is told of the file, as soon as a process has mapped it. */
static bool is_told(const char *name, struct hybrid_walk_interpreter *interpreter, u64 *vaddr)
{
	struct hybrid_runtimes *runtimes;
	const struct hybrid_mapping *mapping;
	struct hybrid_space *space;
	bool told;

	own_begin();
	space = own.pm.space;
	elf_file_map(&own.ps, own.pm.pid, name, BIAS);
	mapping = hybrid_space_find(space, BIAS + elf_file_symbol(name,
								  "_PyEval_EvalFrameDefault"));
	check(mapping && hybrid_object_use(mapping));
	runtimes = hybrid_runtimes_new(&own.ps.objects, own.memory);
	told = hybrid_runtime_file(runtimes, mapping, interpreter, vaddr);
	if (told)
		same(interpreter->runtime - mapping->pgoff + mapping->start,
		     BIAS + elf_file_symbol(name, "_PyRuntime"));
	/* Once. */
	check(!told || !hybrid_runtime_file(runtimes, mapping, interpreter, vaddr));
	hybrid_runtimes_delete(runtimes);
	own_end();
	return told;
}

/* By the table, which its code objects fit. */
static void table(void)
{
	struct hybrid_walk_interpreter interpreter;
	u64 vaddr;

	check(is_told("python-3.8.so", &interpreter, &vaddr));
	same(vaddr, elf_file_symbol("python-3.8.so", "_PyEval_EvalFrameDefault"));
	same(interpreter.language, HYBRID_WALK_PYTHON);
	same(interpreter.python.position, 104);
	same(interpreter.python.code.is_known, 1);
	check(is_told("python-3.11.so", &interpreter, &vaddr));
	same(interpreter.python.kind, 68);
	same(interpreter.python.code.line, 72);
}

/* By what CPython itself says. */
static void debug_offsets(void)
{
	struct hybrid_walk_interpreter interpreter;
	u64 vaddr;

	check(is_told("python-3.13.so", &interpreter, &vaddr));
	same(interpreter.python.first, 680);
	same(interpreter.python.kind, 70);
	same(interpreter.python.caller, 8);
	same(interpreter.python.code.file, 112);
}

/* Files that say what can't be. */
static void impossible(void)
{
	struct hybrid_walk_interpreter interpreter;
	u64 vaddr;

	/* Code objects of another size; a version that is not known, or has other offsets. */
	check(!is_told("python-other.so", &interpreter, &vaddr));
	check(!is_told("python-3.99.so", &interpreter, &vaddr));
	check(!is_told("python-lies.so", &interpreter, &vaddr));
	/* It says nothing. */
	check(!is_told("python-silent.so", &interpreter, &vaddr));
}

/* What processes map is looked at by its name first: extension modules have that of CPython. */
static void file_names(void)
{
	check(hybrid_runtime_is_likely("/usr/bin/python3.11"));
	check(hybrid_runtime_is_likely("/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0"));
	check(hybrid_runtime_is_likely("/usr/lib/x86_64-linux-gnu/libperl.so.5.36"));
	check(hybrid_runtime_is_likely("php8.2"));
	check(!hybrid_runtime_is_likely("/usr/lib/python3.11/lib-dynload/_json.cpython-311.so"));
	check(!hybrid_runtime_is_likely("/opt/python/bin/true"));
	check(!hybrid_runtime_is_likely("/usr/lib/x86_64-linux-gnu/libc.so.6"));
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "file of CPython: by the table of versions",	table },
		{ "file of CPython: by its debug offsets",	debug_offsets },
		{ "file of CPython: what can't be",		impossible },
		{ "names of interpreters' files",		file_names },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
