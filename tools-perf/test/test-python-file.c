// SPDX-License-Identifier: GPL-2.0
/*
 * What the file of a CPython shows before a process runs it.
 */
#include <string.h>
#include "../hybrid/runtime/walk-interpreter.h"
#include "elf-file.h"
#include "name-chain.h"
#include "names.h"
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
	same(interpreter.language, HYBRID_LANGUAGE_PYTHON);
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

/* Does perf take the process's CPython for one that is at @bias? It is told of a code object. */
static bool is_at(struct hybrid_namer *namer, struct hybrid_names *names, u64 bias, char letter)
{
	struct hybrid_walk_text text = {
		.function = 0x1000 * (letter - 'a' + 1), .size = 8, .sizes = { 1, 1, 0 },
		.type = bias + elf_file_symbol("python-3.11.so", "PyCode_Type"),
		.states = { 0x20 | 1 << 2, 0x20 | 1 << 2 }, .bytes = { letter, letter },
	};
	u32 nr = hybrid_names__nr(names);

	namer->text(namer, names, &text, offsetof(struct hybrid_walk_text, bytes) + 2);
	return hybrid_names__nr(names) == nr + 1;
}

/* Apache loads its modules twice: of the first time perf has no record that it is unmapped. */
static void loaded_again(void)
{
	struct hybrid_names *names = hybrid_names__new(HYBRID_LANGUAGE_PYTHON);
	struct hybrid_runtimes *runtimes;
	struct hybrid_namer *namer;
	u64 bias = BIAS;

	own_begin();
	runtimes = hybrid_runtimes_new(&own.ps.objects, own.memory);
	for (; bias <= BIAS + 0x1000000; bias += 0x1000000) {
		elf_file_map(&own.ps, own.pm.pid, "python-3.11.so", bias);
		namer = hybrid_runtime_namer(runtimes, own.pm.pid, 0, own.pm.space,
					     HYBRID_LANGUAGE_PYTHON);
		check(namer && is_at(namer, names, bias, bias == BIAS ? 'a' : 'b'));
	}
	check(namer && !is_at(namer, names, BIAS, 'c'));
	hybrid_runtimes_delete(runtimes);
	own_end();
	hybrid_names__delete(names);
}

/* perf says that it can't be read. */
static void another_python(void)
{
	struct hybrid_runtimes *runtimes;
	pid_t pid;

	own_begin();
	runtimes = hybrid_runtimes_new(&own.ps.objects, own.memory);
	elf_file_map(&own.ps, own.pm.pid, "python-pypy.so", BIAS);
	check(!hybrid_runtime_namer(runtimes, own.pm.pid, 0, own.pm.space,
				    HYBRID_LANGUAGE_PYTHON));
	same(hybrid_runtimes_failed(runtimes, &pid), 1);
	same(pid, own.pm.pid);
	hybrid_runtimes_delete(runtimes);
	own_end();
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
		{ "file of CPython: mapped again",		loaded_again },
		{ "file of PyPy",				another_python },
		{ "names of interpreters' files",		file_names },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
