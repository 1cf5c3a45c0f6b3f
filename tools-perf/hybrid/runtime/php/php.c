// SPDX-License-Identifier: GPL-2.0
/*
 * A process that runs PHP. BPF reads at the sample which functions its main thread is in; here
 * they get their names, and their places among the native frames.
 */
#include <stdlib.h>
#include <linux/kernel.h>
#include "../../rules/symbol.h"
#include "../evaluator.h"
#include "../runs.h"
#include "php-functions.h"
#include "php-layout.h"
#include "php.h"

/**
 * struct php - a process that runs PHP
 * @pm: its memory
 * @frame: address of the word that has the innermost frame
 * @layout: of its version
 * @evaluator: of the file
 * @namer: names frames
 * @runs: of the chain that is being named
 * @functions: of the process
 */
struct php {
	struct hybrid_process_memory	 pm;
	u64				 frame;
	const struct php_layout		*layout;
	struct hybrid_evaluator		 evaluator;
	struct hybrid_namer		 namer;
	struct hybrid_runs		 runs;
	struct php_functions		 functions;
};

static u64 ip_of(void *arg, struct hybrid_names *names, u64 function, u64 position)
{
	struct php *php = arg;
	u64 ip = function & HYBRID_WALK_PHP_FILE ?
		php_functions__file_ip(&php->functions, names, function, position) :
		php_functions__ip(&php->functions, names, function, position);

	php->namer.nr_unread += !ip;
	return ip ?: php_functions__unknown(&php->functions, names);
}

static void php_begin(struct hybrid_namer *namer, const struct hybrid_named_chain *c)
{
	struct php *php = container_of(namer, struct php, namer);

	hybrid_runs__begin(&php->runs, &php->evaluator, php->pm.space, c);
}

static unsigned int name_frame(struct hybrid_namer *namer, struct hybrid_names *names,
			       const struct hybrid_frame *frame, u64 ip, u64 *out,
			       unsigned int room)
{
	struct php *php = container_of(namer, struct php, namer);
	const struct hybrid_run_names how = { .names = names, .ip_of = ip_of, .arg = php };

	return hybrid_runs__name(&php->runs, &how, frame, ip, out, room);
}

static struct hybrid_namer *php_namer(void *data, u64 pass __maybe_unused,
				      struct hybrid_space *space)
{
	struct php *php = data;

	php->pm.space = space;
	return &php->namer;
}

static bool php_interpreter(void *data, const struct hybrid_mapping *mapping,
			    struct hybrid_walk_interpreter *interpreter)
{
	struct php *php = data;

	interpreter->language = HYBRID_WALK_PHP;
	interpreter->php = php->layout->walk;
	interpreter->runtime = php->frame - mapping->start + mapping->pgoff;
	return true;
}

static bool open_php(struct php *php, const struct hybrid_mapping *mapping, u64 bias)
{
	const struct hybrid_object *object = mapping->object;
	u64 globals = hybrid_object_symbol(object, "executor_globals");
	u64 registry = hybrid_object_symbol(object, "module_registry");
	u64 accessor = hybrid_object_symbol(object, "zend_get_executed_scope");
	const struct php_file file = {
		.globals = bias + globals, .registry = bias + registry, .accessor = bias + accessor,
	};

	if (!globals || !registry || !accessor || hybrid_process_memory_map(&php->pm))
		return false;
	php->layout = php_layout__find(&php->pm, &file);
	if (!php->layout)
		return false;
	php->frame = file.globals + php->layout->globals_frame;
	php->functions.layout = php->layout;
	hybrid_evaluator__find(&php->evaluator, mapping, hybrid_object_symbol(object, "execute_ex"));
	return php->evaluator.nr;
}

static void *php_open(const struct hybrid_process_memory *pm, const struct hybrid_mapping *mapping,
		      u64 bias)
{
	struct php *php = calloc(1, sizeof(*php));

	if (!php)
		return NULL;
	php->pm = *pm;
	php->functions.pm = &php->pm;
	php->namer = (struct hybrid_namer) {
		.runtime = HYBRID_RUNTIME_PHP, .begin = php_begin, .name = name_frame,
	};
	if (open_php(php, mapping, bias))
		return php;
	hybrid_process_memory_exit(&php->pm);
	free(php);
	return NULL;
}

static void php_close(void *data)
{
	struct php *php = data;

	hybrid_process_memory_exit(&php->pm);
	php_functions__exit(&php->functions);
	free(php);
}

const struct hybrid_runtime_ops hybrid_php_ops = {
	.symbol		= "zend_get_executed_scope",
	.language	= "PHP",
	.open		= php_open,
	.close		= php_close,
	.interpreter	= php_interpreter,
	.namer		= php_namer,
};
