// SPDX-License-Identifier: GPL-2.0
/*
 * A process that runs CPython. BPF reads at the sample which functions its thread is in; here
 * they get their names, and their places among the native frames.
 */
#include <linux/kernel.h>
#include "../../rules/rows.h"
#include "../../rules/symbol.h"
#include "../run-namer.h"
#include "../runtime.h"
#include "code-object.h"
#include "layout.h"

/**
 * struct python - a process that runs CPython
 * @run_namer: names frames
 * @layout: of its version
 * @roots: of @run_namer
 * @codes: functions
 */
struct python {
	struct hybrid_run_namer		 run_namer;
	struct python_layout		 layout;
	struct hybrid_run_root		 roots[HYBRID_RUN_ROOTS];
	struct python_codes		 codes;
};

static struct python *python_of(struct hybrid_run_namer *run_namer)
{
	return container_of(run_namer, struct python, run_namer);
}

static u64 python_ip(struct hybrid_run_namer *run_namer, struct hybrid_names *names, u64 function,
		     u64 position)
{
	return python_codes__ip(&python_of(run_namer)->codes, names, function, position);
}

static void python_text_told(struct hybrid_namer *namer, struct hybrid_names *names,
			     const void *text, size_t size)
{
	struct python *python = container_of(namer, struct python, run_namer.namer);

	python_codes__text(&python->codes, names, text, size);
}

/*
 * What Py_Version is. 3.10 and before have none: they are known by what they were the first to
 * have.
 */
static u32 version_of(const struct hybrid_object *object)
{
	u64 version;

	if (hybrid_object_symbol(object, "Py_Version"))
		return hybrid_object_constant(object, "Py_Version", &version, sizeof(version)) ?
			version : 0;
	if (hybrid_object_symbol(object, "PyModule_AddObjectRef"))
		return 0x030a0000;
	return hybrid_object_symbol(object, "Py_BytesMain") ? 0x03080000 : 0;
}

/* Returns false if the file does not define what is needed. */
static bool find_symbols(struct python_file *file, const struct hybrid_object *object)
{
	*file = (struct python_file) {
		.object = object,
		.runtime = hybrid_object_symbol(object, "_PyRuntime"),
		.code_type = hybrid_object_symbol(object, "PyCode_Type"),
	};
	if (!file->runtime || !file->code_type)
		return false;
	file->version = version_of(object);
	return true;
}

static bool python_interpreter(void *data, const struct hybrid_mapping *mapping, u64 bias,
			       struct hybrid_walk_interpreter *interpreter)
{
	u64 evaluator = hybrid_object_symbol(mapping->object, "_PyEval_EvalFrameDefault");
	u64 to_file = mapping->pgoff - mapping->start;
	const struct python *python = data;
	struct python_layout layout;
	struct python_file file;

	if (!find_symbols(&file, mapping->object) ||
	    (!python && python_layout__read(&layout, NULL, &file)))
		return false;
	interpreter->language = HYBRID_LANGUAGE_PYTHON;
	interpreter->python = python ? python->layout.walk : layout.walk;
	interpreter->python.evaluator = evaluator ? bias + evaluator + to_file : 0;
	interpreter->runtime = bias + file.runtime + to_file;
	return true;
}

/* What the process says; if that has just begun, or has ended, what its file says. */
static bool find_layout(struct python *python, const struct python_file *file, u64 bias)
{
	struct python_file mapped = *file;

	mapped.runtime = bias + file->runtime;
	mapped.code_type = bias + file->code_type;
	python->codes.type = mapped.code_type;
	return (!hybrid_process_memory_map(&python->run_namer.pm) &&
		!python_layout__read(&python->layout, &python->run_namer.pm, &mapped)) ||
	       !python_layout__read(&python->layout, NULL, file);
}

static void set_up(struct python *python)
{
	python->run_namer.runs.roots = python->roots;
	python->codes.pm = &python->run_namer.pm;
	python->codes.layout = &python->layout;
}

static bool open_python(struct hybrid_run_namer *run_namer, const struct hybrid_mapping *mapping,
			u64 bias)
{
	const struct hybrid_object *object = mapping->object;
	struct python *python = python_of(run_namer);
	struct python_file file;

	set_up(python);
	if (!find_symbols(&file, object) || !find_layout(python, &file, bias))
		return false;
	hybrid_evaluator__find(&run_namer->evaluator, mapping,
			       hybrid_object_symbol(object, "_PyEval_EvalFrameDefault"));
	return run_namer->evaluator.nr;
}

static void fork_python(struct hybrid_run_namer *run_namer, const struct hybrid_run_namer *of)
{
	const struct python *parent = container_of(of, struct python, run_namer);
	struct python *python = python_of(run_namer);

	set_up(python);
	python->layout = parent->layout;
	python->codes.type = parent->codes.type;
	python->codes.quota = parent->codes.quota;
	python_codes__inherit(&python->codes, &parent->codes);
}

static void close_python(struct hybrid_run_namer *run_namer)
{
	python_codes__exit(&python_of(run_namer)->codes);
}

static const struct hybrid_run_language python_language = {
	.language	= HYBRID_LANGUAGE_PYTHON,
	.unknown	= "py::[unknown]",
	.size		= sizeof(struct python),
	.open		= open_python,
	.fork		= fork_python,
	.close		= close_python,
	.ip_of		= python_ip,
	.text		= python_text_told,
	.names_first	= true,
};

static void *python_open(const struct hybrid_process_memory *pm,
			 const struct hybrid_mapping *mapping, u64 bias)
{
	return hybrid_run_namer__open(&python_language, pm, mapping, bias);
}

const struct hybrid_runtime_ops hybrid_python_ops = {
	.symbol		= "_PyRuntime",
	.unreadable	= {
		"_PyThreadState_Current",	/* to 3.6: Python/pystate.c */
		"pypy_main_startup",		/* PyPy: pypy/goal/targetpypystandalone.py */
	},
	.language	= "Python",
	.program	= "python",
	.function	= "_PyEval_EvalFrameDefault",
	.open		= python_open,
	.fork		= hybrid_run_namer__fork,
	.close		= hybrid_run_namer__close,
	.interpreter	= python_interpreter,
	.namer		= hybrid_run_namer__of,
};
