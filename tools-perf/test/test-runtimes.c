// SPDX-License-Identifier: GPL-2.0
/*
 * Which runtimes of a process perf opens: those that it needs, and none while memory is short. The
 * process is the test's own.
 */
#include <dlfcn.h>
#include "../hybrid/runtime/walk-interpreter.h"
#include "elf-file.h"
#include "interpreter-world.h"
#include "runtime-private.h"
#include "short-memory.h"
#include "tap.h"

/* No process has this number. */
#define CHILD	0x7fffffff

static const struct {
	const char		*file;
	const char		*symbol;
	enum hybrid_language	 language;
} files[] = {
	{ "interpreter-perl.so", "PL_thr_key", HYBRID_LANGUAGE_PERL },
	{ "interpreter-php.so", "executor_globals", HYBRID_LANGUAGE_PHP },
	{ "interpreter-python.so", "_PyRuntime", HYBRID_LANGUAGE_PYTHON },
	{ "interpreter-ruby.so", "ruby_version", HYBRID_LANGUAGE_RUBY },
	{ "v8.so", "v8dbg_off_fp_function", HYBRID_LANGUAGE_V8 },
};

/* Anew, as if nobody had asked for the process. */
static void forget(void)
{
	hybrid_runtimes_delete(interp.runtimes);
	interp.runtimes = hybrid_runtimes_new(&own.ps.objects, own.memory);
	check(interp.runtimes);
}

/* Whatever allocation fails. With a parent that is known, too. */
static void opened(void)
{
	unsigned int i, nr, with_parent;
	struct hybrid_namer *namer;
	bool is_short;

	for (i = 0; i < 2 * ARRAY_SIZE(files); i++) {
		with_parent = i % 2;
		interpreter_begin(files[i / 2].file, files[i / 2].symbol, files[i / 2].language);
		for (nr = 0, is_short = true; is_short; nr++) {
			forget();
			if (with_parent)
				check(interpreter_namer(own.pm.pid, 0));
			short_memory_begin(nr);
			namer = interpreter_namer(with_parent ? CHILD : own.pm.pid,
						  with_parent ? own.pm.pid : 0);
			is_short = short_memory_end();
			/* A process that nobody can read has what its parent has, or nothing. */
			check(namer || is_short || with_parent);
		}
		check(nr > 1);
		interpreter_end();
	}
}

static void no_runtimes(void)
{
	static struct hybrid_object object;
	const struct hybrid_mapping mapping = { .object = &object };
	unsigned int i;

	own_begin();
	for (i = 1; i < ARRAY_SIZE(hybrid_all_runtimes); i++) {
		short_memory_begin(0);
		check(!hybrid_all_runtimes[i]->open(&own.pm, &mapping, 0));
		check(short_memory_end());
	}
	short_memory_begin(0);
	check(!hybrid_runtimes_new(&own.ps.objects, own.memory));
	check(short_memory_end());
	own_end();
}

/* Maps one more file of an interpreter; returns its object, of which a runtime is known. */
static struct hybrid_object *map_another(unsigned int i)
{
	struct hybrid_frame frame = { .ip = interpreter_at("out") };
	struct hybrid_unwind u = interpreter_walk(&frame);
	const struct hybrid_mapping *mapping;
	struct hybrid_rule rule;
	void *library;
	u64 at, bias;

	library = dlopen(elf_file_path(files[i].file), RTLD_NOW | RTLD_LOCAL);
	if (!check(library))
		return NULL;
	at = (u64)dlsym(library, files[i].symbol);
	bias = at - elf_file_symbol(files[i].file, files[i].symbol);
	elf_file_map(&own.ps, own.pm.pid, files[i].file, bias);
	hybrid_runtime_rule(interp.runtimes, &u, 0, &rule);
	mapping = hybrid_space_find(own.pm.space, bias + elf_file_symbol(files[i].file, "out"));
	return mapping && check(mapping->object) ? mapping->object : NULL;
}

/* What has rules of its own is opened as soon as a walk came through it, and nothing else is. */
static void met(void)
{
	struct hybrid_frame frame = {};
	struct hybrid_unwind u;
	struct hybrid_object *object;
	struct hybrid_rule rule;
	unsigned int i;

	/* Perl has none, and Ruby has. */
	for (i = 0; i <= 3; i += 3) {
		interpreter_begin(files[1].file, files[1].symbol, files[1].language);
		frame.ip = interpreter_at("out");
		u = interpreter_walk(&frame);
		object = map_another(i);
		if (check(object && object->runtime)) {
			same(hybrid_runtimes_opened(interp.runtimes), 1);
			object->runtime_met = true;
			interp.runtimes->nr_met++;
			hybrid_runtime_rule(interp.runtimes, &u, 0, &rule);
			same(hybrid_runtimes_opened(interp.runtimes), 1 + !!i);
		}
		interpreter_end();
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "runtimes: no memory for a process", opened },
		{ "runtimes: those that walks came through", met },
		{ "runtimes: no memory for any", no_runtimes },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
