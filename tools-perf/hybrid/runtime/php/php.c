// SPDX-License-Identifier: GPL-2.0
/*
 * A process that runs PHP. BPF reads at the sample which functions its main thread is in; here
 * they get their names, and their places among the native frames.
 */
#include <linux/kernel.h>
#include "../../rules/rows.h"
#include "../../rules/symbol.h"
#include "../run-namer.h"
#include "../runtime.h"
#include "php-functions.h"
#include "php-layout.h"

/**
 * struct php - a process that runs PHP
 * @run_namer: names frames; its evaluator has what opcache has compiled, too
 * @layout: of its version
 * @body: an address in execute_ex()
 * @rule: how to leave its frame; @rule.kind is HYBRID_RULE_NONE: not known yet
 * @functions: of the process
 * @is_chain_read: all functions of the chain that is being named were asked for
 */
struct php {
	struct hybrid_run_namer		 run_namer;
	const struct php_layout		*layout;
	u64				 body;
	struct hybrid_rule		 rule;
	struct php_functions		 functions;
	bool				 is_chain_read;
};

static struct php *php_of(struct hybrid_run_namer *run_namer)
{
	return container_of(run_namer, struct php, run_namer);
}

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

static u64 php_ip(struct hybrid_run_namer *run_namer, struct hybrid_names *names, u64 function,
		  u64 position)
{
	struct php *php = php_of(run_namer);
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

/* Is it code that opcache has compiled? That of PCRE is in memory that is not shared. */
static bool is_made(struct php *php, struct hybrid_space *space, u64 ip)
{
	struct hybrid_evaluator *evaluator = &php->run_namer.evaluator;
	const struct hybrid_mapping *mapping;

	if (ip >= evaluator->made_start && ip < evaluator->made_end)
		return true;
	mapping = hybrid_space_find(space, ip);
	if (!mapping || mapping->object || !hybrid_process_memory_is_shared(&php->run_namer.pm, ip))
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
	struct php *php = data;

	return php_rule(data, pass, u, at, &range->rule) &&
	       hybrid_run_namer__range(&php->run_namer, u->frames[at].ret, range);
}

static void php_told(struct hybrid_run_namer *run_namer, struct hybrid_names *names,
		     struct hybrid_told_text *told)
{
	php_functions__text(&php_of(run_namer)->functions, names, told);
}

/* @data: its layout may be one that only the process shows */
static bool php_interpreter(void *data, const struct hybrid_mapping *mapping, u64 bias,
			    struct hybrid_walk_interpreter *interpreter)
{
	const struct php *php = data;
	const struct php_layout *layout = php ? php->layout : php_layout__of_file(mapping->object);
	u64 globals = hybrid_object_symbol(mapping->object, "executor_globals");

	if (!layout || !globals)
		return false;
	interpreter->language = HYBRID_LANGUAGE_PHP;
	interpreter->php = layout->walk;
	interpreter->runtime = bias + globals + layout->globals_frame - mapping->start +
			       mapping->pgoff;
	return true;
}

static void set_layout(struct php *php, const struct php_layout *layout)
{
	php->layout = layout;
	php->functions.layout = layout;
	php->functions.pm = &php->run_namer.pm;
}

static bool open_php(struct hybrid_run_namer *run_namer, const struct hybrid_mapping *mapping,
		     u64 bias)
{
	const struct hybrid_object *object = mapping->object;
	struct hybrid_evaluator *evaluator = &run_namer->evaluator;
	u64 globals = hybrid_object_symbol(object, "executor_globals");
	u64 registry = hybrid_object_symbol(object, "module_registry");
	u64 accessor = hybrid_object_symbol(object, "zend_get_executed_scope");
	const struct php_file file = {
		.globals = bias + globals, .registry = bias + registry, .accessor = bias + accessor,
	};
	struct php *php = php_of(run_namer);

	if (!globals || !registry || !accessor)
		return false;
	hybrid_process_memory_map(&run_namer->pm);
	/* The file has all that is needed: the process may have just begun, or ended. */
	set_layout(php, php_layout__of_file(object) ?: php_layout__find(&run_namer->pm, &file));
	if (!php->layout)
		return false;
	hybrid_evaluator__find(evaluator, mapping, hybrid_object_symbol(object, "execute_ex"));
	if (!evaluator->nr)
		return false;
	php->body = bias + evaluator->parts[0].start / 2 + evaluator->parts[0].end / 2;
	return true;
}

static void fork_php(struct hybrid_run_namer *run_namer, const struct hybrid_run_namer *of)
{
	const struct php *parent = container_of(of, struct php, run_namer);
	struct php *php = php_of(run_namer);

	set_layout(php, parent->layout);
	php->body = parent->body;
	php->rule = parent->rule;
	php->functions.quota = parent->functions.quota;
	php_functions__inherit(&php->functions, &parent->functions);
}

static void close_php(struct hybrid_run_namer *run_namer)
{
	php_functions__exit(&php_of(run_namer)->functions);
}

static const struct hybrid_run_language php_language = {
	.language	= HYBRID_LANGUAGE_PHP,
	.unknown	= "php::[unknown]",
	.size		= sizeof(struct php),
	.open		= open_php,
	.fork		= fork_php,
	.close		= close_php,
	.ip_of		= php_ip,
	.told		= php_told,
	.names_first	= true,
};

static void *php_open(const struct hybrid_process_memory *pm, const struct hybrid_mapping *mapping,
		      u64 bias)
{
	return hybrid_run_namer__open(&php_language, pm, mapping, bias);
}

static struct hybrid_namer *php_namer(void *data, u64 pass, struct hybrid_space *space)
{
	struct php *php = data;

	php->is_chain_read = false;
	return hybrid_run_namer__of(data, pass, space);
}

const struct hybrid_runtime_ops hybrid_php_ops = {
	.symbol		= "zend_get_executed_scope",
	.language	= "PHP",
	.program	= "php",
	.open		= php_open,
	.fork		= hybrid_run_namer__fork,
	.close		= hybrid_run_namer__close,
	.rule		= php_rule,
	.range		= php_range,
	.interpreter	= php_interpreter,
	.namer		= php_namer,
};
