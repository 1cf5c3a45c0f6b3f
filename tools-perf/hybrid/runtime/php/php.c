// SPDX-License-Identifier: GPL-2.0
/*
 * A process that runs PHP. BPF reads at the sample which functions its main thread is in; here
 * they get their names, and their places among the native frames.
 */
#include <stdlib.h>
#include <linux/kernel.h>
#include "../../rules/rows.h"
#include "../../rules/symbol.h"
#include "../evaluator.h"
#include "../run-namer.h"
#include "../runtime.h"
#include "php-functions.h"
#include "php-layout.h"

/* Bytes of made code that have one range. */
#define RANGE	0x10000U

/**
 * struct php - a process that runs PHP
 * @pm: its memory
 * @frame: address of the word that has the innermost frame
 * @layout: of its version
 * @evaluator: of the file, and what opcache has compiled
 * @body: an address in execute_ex()
 * @rule: how to leave its frame; @rule.kind is HYBRID_RULE_NONE: not known yet
 * @run_namer: names frames
 * @functions: of the process
 * @is_chain_read: all functions of the chain that is being named were asked for
 */
struct php {
	struct hybrid_process_memory	 pm;
	u64				 frame;
	const struct php_layout		*layout;
	struct hybrid_evaluator		 evaluator;
	u64				 body;
	struct hybrid_rule		 rule;
	struct hybrid_run_namer		 run_namer;
	struct php_functions		 functions;
	bool				 is_chain_read;
};

/* Reads all functions of a chain: those that make a closure come behind it. Once for each chain. */
static bool read_chain(struct php *php, struct hybrid_names *names)
{
	const struct hybrid_named_chain *c = php->run_namer.runs.chain;
	unsigned int i;
	u64 function;

	if (php->is_chain_read)
		return false;
	php->is_chain_read = true;
	for (i = 0; i < c->nr_functions; i++) {
		function = hybrid_named_function(c, i, 0);
		if (function & HYBRID_WALK_FUNCTION_ADDR && !(function & HYBRID_WALK_PHP_FILE))
			php_functions__ip(&php->functions, names, function,
					  hybrid_named_function(c, i, 1));
	}
	return true;
}

static u64 ip_of(struct hybrid_run_namer *run_namer, struct hybrid_names *names,
		 u64 function, u64 position)
{
	struct php *php = container_of(run_namer, struct php, run_namer);
	u64 ip;

	if (function & HYBRID_WALK_PHP_FILE) {
		ip = php_functions__file_ip(&php->functions, names, function, position);
	} else {
		ip = php_functions__ip(&php->functions, names, function, position);
		if (!ip && read_chain(php, names))
			ip = php_functions__ip(&php->functions, names, function, position);
	}
	return ip;
}

static u64 unknown(struct hybrid_run_namer *run_namer, struct hybrid_names *names)
{
	struct php *php = container_of(run_namer, struct php, run_namer);

	return php_functions__unknown(&php->functions, names);
}

/* Is it code that opcache has compiled? That of PCRE is in memory that is not shared. */
static bool is_made(struct php *php, struct hybrid_space *space, u64 ip)
{
	struct hybrid_evaluator *evaluator = &php->evaluator;
	const struct hybrid_mapping *mapping;

	if (ip >= evaluator->made_start && ip < evaluator->made_end)
		return true;
	mapping = hybrid_space_find(space, ip);
	if (!mapping || mapping->object || !hybrid_process_memory_is_shared(&php->pm, ip))
		return false;
	evaluator->made_start = mapping->start;
	evaluator->made_end = mapping->end;
	return true;
}

/*
 * What opcache has compiled is jumped to by execute_ex(), and jumps back: it has no frame of its
 * own, and leaves room on the stack to it (ZEND_VM_HYBRID_JIT_RED_ZONE_SIZE). If execute_ex() has a
 * frame pointer, that is kept, too.
 */
static bool php_rule(void *data, u64 pass __maybe_unused, const struct hybrid_unwind *u,
		     unsigned int at, struct hybrid_rule *rule)
{
	struct php *php = data;
	const struct hybrid_mapping *mapping;
	const struct hybrid_row *row;

	if (!is_made(php, u->space, u->frames[at].ip))
		return false;
	if (php->rule.kind == HYBRID_RULE_NONE) {
		mapping = hybrid_space_find(u->space, php->body);
		row = mapping && mapping->object ? hybrid_object_row(mapping, php->body) : NULL;
		if (!row || row->rule.kind != HYBRID_RULE_CFA)
			return false;
		php->rule = row->rule;
	}
	*rule = php->rule;
	return true;
}

static bool php_range(void *data, u64 pass, const struct hybrid_unwind *u, unsigned int at,
		      struct hybrid_runtime_range *range)
{
	u64 ret = u->frames[at].ret, start = ret & ~(u64)(RANGE - 1);
	struct php *php = data;

	if (!php_rule(data, pass, u, at, &range->rule))
		return false;
	range->start = max(start, php->evaluator.made_start);
	range->end = min(start + RANGE, php->evaluator.made_end);
	range->jvm = NULL;
	return ret >= range->start && ret < range->end;
}

static void php_text_told(struct hybrid_namer *namer, struct hybrid_names *names,
			  const void *text, size_t size)
{
	struct php *php = container_of(namer, struct php, run_namer.namer);
	struct hybrid_told_text told;

	if (hybrid_told_text_read(&told, text, size))
		php_functions__text(&php->functions, names, &told);
}

static const struct hybrid_run_language php_language = {
	.language	= HYBRID_LANGUAGE_PHP,
	.ip_of		= ip_of,
	.unknown	= unknown,
	.text		= php_text_told,
	.names_first	= true,
};

static struct hybrid_namer *php_namer(void *data, u64 pass __maybe_unused,
				      struct hybrid_space *space)
{
	struct php *php = data;

	php->pm.space = space;
	php->run_namer.space = space;
	php->is_chain_read = false;
	return &php->run_namer.namer;
}

static void set_interpreter(const struct php_layout *layout, u64 frame,
			    const struct hybrid_mapping *mapping,
			    struct hybrid_walk_interpreter *interpreter)
{
	interpreter->language = HYBRID_LANGUAGE_PHP;
	interpreter->php = layout->walk;
	interpreter->runtime = frame - mapping->start + mapping->pgoff;
}

static bool php_interpreter(void *data, const struct hybrid_mapping *mapping,
			    struct hybrid_walk_interpreter *interpreter)
{
	const struct php *php = data;

	set_interpreter(php->layout, php->frame, mapping, interpreter);
	return true;
}

static bool php_file_interpreter(const struct hybrid_mapping *mapping, u64 bias,
				 struct hybrid_walk_interpreter *interpreter)
{
	const struct php_layout *layout = php_layout__of_file(mapping->object);
	u64 globals = hybrid_object_symbol(mapping->object, "executor_globals");

	if (!layout || !globals)
		return false;
	set_interpreter(layout, bias + globals + layout->globals_frame, mapping, interpreter);
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

	if (!globals || !registry || !accessor)
		return false;
	hybrid_process_memory_map(&php->pm);
	/* The file has all that is needed: the process may have just begun, or ended. */
	php->layout = php_layout__of_file(object) ?: php_layout__find(&php->pm, &file);
	if (!php->layout)
		return false;
	php->frame = file.globals + php->layout->globals_frame;
	php->functions.layout = php->layout;
	hybrid_evaluator__find(&php->evaluator, mapping,
			       hybrid_object_symbol(object, "execute_ex"));
	if (!php->evaluator.nr)
		return false;
	php->body = bias + php->evaluator.parts[0].start / 2 + php->evaluator.parts[0].end / 2;
	return true;
}

static struct php *new_php(const struct hybrid_process_memory *pm)
{
	struct php *php = calloc(1, sizeof(*php));

	if (!php)
		return NULL;
	php->pm = *pm;
	php->functions.pm = &php->pm;
	hybrid_run_namer__init(&php->run_namer, &php_language, &php->evaluator);
	return php;
}

static void *php_open(const struct hybrid_process_memory *pm, const struct hybrid_mapping *mapping,
		      u64 bias)
{
	struct php *php = new_php(pm);

	if (!php)
		return NULL;
	if (open_php(php, mapping, bias))
		return php;
	hybrid_process_memory_exit(&php->pm);
	free(php);
	return NULL;
}

static void *php_fork(const void *data, const struct hybrid_process_memory *pm)
{
	const struct php *parent = data;
	struct php *php = new_php(pm);

	if (!php)
		return NULL;
	php->frame = parent->frame;
	php->layout = parent->layout;
	php->evaluator = parent->evaluator;
	php->body = parent->body;
	php->rule = parent->rule;
	php->functions.layout = parent->layout;
	php->functions.quota = parent->functions.quota;
	php_functions__inherit(&php->functions, &parent->functions);
	/* It may have ended. */
	hybrid_process_memory_map(&php->pm);
	return php;
}

static void php_close(void *data)
{
	struct php *php = data;

	hybrid_process_memory_exit(&php->pm);
	php_functions__exit(&php->functions);
	hybrid_run_namer__exit(&php->run_namer);
	free(php);
}

const struct hybrid_runtime_ops hybrid_php_ops = {
	.symbol		= "zend_get_executed_scope",
	.language	= "PHP",
	.program	= "php",
	.open		= php_open,
	.fork		= php_fork,
	.close		= php_close,
	.rule		= php_rule,
	.range		= php_range,
	.file_interpreter = php_file_interpreter,
	.interpreter	= php_interpreter,
	.namer		= php_namer,
};
