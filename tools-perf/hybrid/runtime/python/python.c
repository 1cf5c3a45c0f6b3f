// SPDX-License-Identifier: GPL-2.0
/*
 * A process that runs CPython. BPF reads at the sample which functions its thread is in; here
 * they get their names, and their places among the native frames.
 *
 * The evaluator runs a function that another one calls without a native frame for it, for as long
 * as no C function is between: a run. The outermost frame of a run is where a native frame of the
 * evaluator begins.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "../../rules/rows.h"
#include "../../rules/symbol.h"
#include "code-object.h"
#include "evaluator.h"
#include "layout.h"
#include "python.h"

/**
 * struct python - a process that runs CPython
 * @pm: its memory
 * @runtime: address of _PyRuntime
 * @layout: of its version
 * @evaluator: of the file
 * @space: of the process, in this question
 * @namer: names frames
 * @chain: that is being named
 * @at: index of the next frame of @chain's functions
 * @skip: native frames of the evaluator, the next ones, that run nothing yet
 * @codes: functions
 */
struct python {
	struct hybrid_process_memory	 pm;
	u64				 runtime;
	struct python_layout		 layout;
	struct python_evaluator		 evaluator;
	struct hybrid_space		*space;
	struct hybrid_namer		 namer;
	const struct hybrid_named_chain	*chain;
	unsigned int			 at;
	unsigned int			 skip;
	struct python_codes		 codes;
};

/* They need not be aligned. */
static u64 word_of(const struct hybrid_named_chain *c, unsigned int i, unsigned int word)
{
	u64 value;

	memcpy(&value, (const u8 *)c->functions + (2 * i + word) * sizeof(value), sizeof(value));
	return value;
}

static unsigned int nr_runs(const struct hybrid_named_chain *c)
{
	unsigned int i, nr = 0;
	bool ends = true;

	for (i = 0; i < c->nr_functions; i++) {
		ends = word_of(c, i, 0) & HYBRID_WALK_RUN_ENDS;
		nr += ends;
	}
	return nr + !ends;
}

static bool is_evaluator(u64 ip, void *arg)
{
	struct python *python = arg;

	return python_evaluator__has(&python->evaluator, python->space, ip);
}

/*
 * The evaluator's outermost native frame belongs to the outermost run. An innermost one that has
 * just begun, or is about to return, has none.
 */
static void python_begin(struct hybrid_namer *namer, const struct hybrid_named_chain *c)
{
	struct python *python = container_of(namer, struct python, namer);
	unsigned int nr, runs;

	python->chain = c;
	python->at = 0;
	python->skip = 0;
	if (!c->nr_functions || !c->functions_are_whole || !c->is_whole)
		return;
	nr = hybrid_named_chain_count(c, is_evaluator, python);
	runs = nr_runs(c);
	python->skip = nr > runs ? nr - runs : 0;
}

/* The functions of the next run. */
static unsigned int name_run(struct python *python, struct hybrid_names *names, u64 *out,
			     unsigned int room)
{
	const struct hybrid_named_chain *c = python->chain;
	unsigned int nr = 0;
	bool ends = false;
	u64 function, ip;

	for (; python->at < c->nr_functions && !ends; python->at++) {
		function = word_of(c, python->at, 0);
		ends = function & HYBRID_WALK_RUN_ENDS;
		if (!(function & HYBRID_WALK_FUNCTION_ADDR))
			continue;
		ip = python_codes__ip(&python->codes, names, function, word_of(c, python->at, 1));
		python->namer.nr_unread += !ip;
		ip = ip ?: python_codes__unknown(&python->codes, names);
		if (ip && nr == room)
			return room + 1;
		if (ip)
			out[nr++] = ip;
	}
	return nr;
}

static unsigned int python_name(struct hybrid_namer *namer, struct hybrid_names *names,
				const struct hybrid_frame *frame, u64 ip, u64 *out,
				unsigned int room)
{
	struct python *python = container_of(namer, struct python, namer);
	const struct hybrid_named_chain *c = python->chain;
	unsigned int nr;

	if (!c || python->at >= c->nr_functions ||
	    !is_evaluator(frame->ip, python))
		return 0;
	if (python->skip) {
		python->skip--;
		return 0;
	}
	if (!room)
		return 1;
	nr = name_run(python, names, out + 1, room - 1);
	*out = ip;
	return nr ? nr + 1 : 0;
}

static struct hybrid_namer *python_namer(void *data, u64 pass __maybe_unused,
					 struct hybrid_space *space)
{
	struct python *python = data;

	python->space = space;
	python->pm.space = space;
	return &python->namer;
}

static bool python_interpreter(void *data, const struct hybrid_mapping *mapping,
			       struct hybrid_walk_interpreter *interpreter)
{
	struct python *python = data;

	*interpreter = python->layout.walk;
	interpreter->runtime = python->runtime - mapping->start + mapping->pgoff;
	return true;
}

static bool open_python(struct python *python, const struct hybrid_mapping *mapping, u64 bias)
{
	const struct hybrid_object *object = mapping->object;
	u64 runtime = hybrid_object_symbol(object, "_PyRuntime"), version;
	u64 version_at = hybrid_object_symbol(object, "Py_Version");
	u64 type = hybrid_object_symbol(object, "PyCode_Type");

	if (!runtime || !version_at || !type ||
	    hybrid_process_memory_map(&python->pm) ||
	    hybrid_process_memory_read(&python->pm, bias + version_at, &version, sizeof(version)))
		return false;
	python->runtime = bias + runtime;
	python->codes.type = bias + type;
	if (python_layout__read(&python->layout, &python->pm, python->runtime, version))
		return false;
	python_evaluator__find(&python->evaluator, mapping);
	return python->evaluator.nr;
}

static void *python_open(const struct hybrid_process_memory *pm,
			 const struct hybrid_mapping *mapping, u64 bias)
{
	struct python *python = calloc(1, sizeof(*python));

	if (!python)
		return NULL;
	python->pm = *pm;
	python->codes.pm = &python->pm;
	python->codes.layout = &python->layout;
	python->namer = (struct hybrid_namer) {
		.runtime = HYBRID_RUNTIME_PYTHON, .begin = python_begin, .name = python_name,
	};
	if (open_python(python, mapping, bias))
		return python;
	hybrid_process_memory_exit(&python->pm);
	free(python);
	return NULL;
}

static void python_close(void *data)
{
	struct python *python = data;

	hybrid_process_memory_exit(&python->pm);
	free(python);
}

const struct hybrid_runtime_ops hybrid_python_ops = {
	.symbol		= "_PyRuntime",
	.open		= python_open,
	.close		= python_close,
	.interpreter	= python_interpreter,
	.namer		= python_namer,
};
