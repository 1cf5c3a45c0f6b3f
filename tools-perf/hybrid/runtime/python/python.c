// SPDX-License-Identifier: GPL-2.0
/*
 * A process that runs CPython. BPF reads at the sample which functions its thread is in; here
 * they get their names, and their places among the native frames.
 */
#include <stdlib.h>
#include <linux/kernel.h>
#include "../../rules/rows.h"
#include "../../rules/symbol.h"
#include "../evaluator.h"
#include "../run-namer.h"
#include "../runtime.h"
#include "code-object.h"
#include "layout.h"

/**
 * struct python - a process that runs CPython
 * @pm: its memory
 * @runtime: address of _PyRuntime
 * @evaluator_at: address of _PyEval_EvalFrameDefault(); 0: not known
 * @layout: of its version
 * @evaluator: of the file
 * @run_namer: names frames
 * @roots: of @run_namer
 * @codes: functions
 */
struct python {
	struct hybrid_process_memory	 pm;
	u64				 runtime;
	u64				 evaluator_at;
	struct python_layout		 layout;
	struct hybrid_evaluator		 evaluator;
	struct hybrid_run_namer		 run_namer;
	struct hybrid_run_root		 roots[HYBRID_RUN_ROOTS];
	struct python_codes		 codes;
};

static u64 ip_of(struct hybrid_run_namer *run_namer, struct hybrid_names *names,
		 u64 function, u64 position)
{
	struct python *python = container_of(run_namer, struct python, run_namer);

	return python_codes__ip(&python->codes, names, function, position);
}

static u64 unknown(struct hybrid_run_namer *run_namer, struct hybrid_names *names)
{
	struct python *python = container_of(run_namer, struct python, run_namer);

	return python_codes__unknown(&python->codes, names);
}

static void python_take_text(struct hybrid_namer *namer, struct hybrid_names *names,
			     const void *text, size_t size)
{
	struct python *python = container_of(namer, struct python, run_namer.namer);

	python_codes__text(&python->codes, names, text, size);
}

static const struct hybrid_run_language python_language = {
	.language	= HYBRID_LANGUAGE_PYTHON,
	.ip_of		= ip_of,
	.unknown	= unknown,
	.text		= python_take_text,
	.names_first	= true,
};

static struct hybrid_namer *python_namer(void *data, u64 pass __maybe_unused,
					 struct hybrid_space *space)
{
	struct python *python = data;

	python->pm.space = space;
	python->run_namer.space = space;
	return &python->run_namer.namer;
}

/* @evaluator: address of the evaluator; 0: not known */
static void set_interpreter(const struct python_layout *layout, u64 runtime, u64 evaluator,
			    const struct hybrid_mapping *mapping,
			    struct hybrid_walk_interpreter *interpreter)
{
	interpreter->language = HYBRID_LANGUAGE_PYTHON;
	interpreter->python = layout->walk;
	interpreter->python.evaluator = evaluator ?
		evaluator - mapping->start + mapping->pgoff : 0;
	interpreter->runtime = runtime - mapping->start + mapping->pgoff;
}

/* Address of the evaluator in a process; 0: the file does not say. */
static u64 find_evaluator(const struct hybrid_object *object, u64 bias)
{
	u64 vaddr = hybrid_object_symbol(object, "_PyEval_EvalFrameDefault");

	return vaddr ? bias + vaddr : 0;
}

static bool python_interpreter(void *data, const struct hybrid_mapping *mapping,
			       struct hybrid_walk_interpreter *interpreter)
{
	const struct python *python = data;

	set_interpreter(&python->layout, python->runtime, python->evaluator_at, mapping,
			interpreter);
	return true;
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

static bool python_file_interpreter(const struct hybrid_mapping *mapping, u64 bias,
				    struct hybrid_walk_interpreter *interpreter)
{
	struct python_layout layout;
	struct python_file file;

	if (!find_symbols(&file, mapping->object) || python_layout__read(&layout, NULL, &file))
		return false;
	set_interpreter(&layout, bias + file.runtime, find_evaluator(mapping->object, bias),
			mapping, interpreter);
	return true;
}

/* What the process says; if that has just begun, or has ended, what its file says. */
static bool find_layout(struct python *python, const struct python_file *file, u64 bias)
{
	struct python_file mapped = *file;

	python->runtime = bias + file->runtime;
	python->codes.type = bias + file->code_type;
	mapped.runtime = python->runtime;
	mapped.code_type = python->codes.type;
	return (!hybrid_process_memory_map(&python->pm) &&
		!python_layout__read(&python->layout, &python->pm, &mapped)) ||
	       !python_layout__read(&python->layout, NULL, file);
}

static bool open_python(struct python *python, const struct hybrid_mapping *mapping, u64 bias)
{
	const struct hybrid_object *object = mapping->object;
	struct python_file file;

	if (!find_symbols(&file, object) || !find_layout(python, &file, bias))
		return false;
	python->evaluator_at = find_evaluator(object, bias);
	if (python->evaluator_at)
		hybrid_evaluator__find(&python->evaluator, mapping, python->evaluator_at - bias);
	return python->evaluator.nr;
}

static void set_up(struct python *python, const struct hybrid_process_memory *pm)
{
	python->pm = *pm;
	python->run_namer.runs.roots = python->roots;
	python->codes.pm = &python->pm;
	python->codes.layout = &python->layout;
	hybrid_run_namer__init(&python->run_namer, &python_language, &python->evaluator);
}

static void *python_open(const struct hybrid_process_memory *pm,
			 const struct hybrid_mapping *mapping, u64 bias)
{
	struct python *python = calloc(1, sizeof(*python));

	if (!python)
		return NULL;
	set_up(python, pm);
	if (open_python(python, mapping, bias))
		return python;
	hybrid_process_memory_exit(&python->pm);
	free(python);
	return NULL;
}

static void *python_fork(const void *data, const struct hybrid_process_memory *pm)
{
	const struct python *parent = data;
	struct python *python = calloc(1, sizeof(*python));

	if (!python)
		return NULL;
	set_up(python, pm);
	python->runtime = parent->runtime;
	python->evaluator_at = parent->evaluator_at;
	python->layout = parent->layout;
	python->evaluator = parent->evaluator;
	python->codes.type = parent->codes.type;
	python->codes.quota = parent->codes.quota;
	python_codes__inherit(&python->codes, &parent->codes);
	/* It may have ended. */
	hybrid_process_memory_map(&python->pm);
	return python;
}

static void python_close(void *data)
{
	struct python *python = data;

	hybrid_process_memory_exit(&python->pm);
	python_codes__exit(&python->codes);
	hybrid_run_namer__exit(&python->run_namer);
	free(python);
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
	.fork		= python_fork,
	.close		= python_close,
	.file_interpreter = python_file_interpreter,
	.interpreter	= python_interpreter,
	.namer		= python_namer,
};
