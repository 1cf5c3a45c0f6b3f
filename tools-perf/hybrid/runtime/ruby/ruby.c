// SPDX-License-Identifier: GPL-2.0
/*
 * A process that runs CRuby. BPF reads at the sample which functions its thread is in; here they
 * get their names, and their places among the native frames.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "../../rules/rows.h"
#include "../../rules/symbol.h"
#include "../evaluator.h"
#include "../run-namer.h"
#include "ruby-functions.h"
#include "ruby-layout.h"
#include "ruby.h"

/* Bytes of rb_thread_current() that are looked through. */
#define MAX_CODE	64

/* The evaluator has 23 KiB in 3.1; what is smaller is a cold part, or none. */
#define MIN_EVALUATOR	4096

/* Code whose first instruction has not led to the evaluator. */
#define MAX_TRIES	1024

/**
 * struct ruby - a process that runs CRuby
 * @pm: its memory
 * @object_id: of the file
 * @variable: address of the words by which a thread's context is found
 * @layout: of its version
 * @evaluator: of the file
 * @nr_tries: of finding it
 * @run_namer: names frames
 * @functions: of the process
 */
struct ruby {
	struct hybrid_process_memory	 pm;
	u64				 object_id;
	u64				 variable;
	const struct ruby_layout	*layout;
	struct hybrid_evaluator		 evaluator;
	unsigned int			 nr_tries;
	struct hybrid_run_namer		 run_namer;
	struct ruby_functions		 functions;
};

/* Returns whether the evaluator is that which code of the process begins with. */
static bool is_found_by(struct ruby *ruby, u64 function)
{
	u64 label = ruby_functions__label(&ruby->functions, function), vaddr;
	const struct hybrid_mapping *mapping = hybrid_space_find(ruby->pm.space, label);
	struct hybrid_evaluator *evaluator = &ruby->evaluator;

	ruby->nr_tries++;
	if (!label || !mapping || !mapping->object || mapping->object->id != ruby->object_id ||
	    !hybrid_object_vaddr(mapping->object, label - mapping->start + mapping->pgoff, &vaddr))
		return false;
	hybrid_evaluator__find(evaluator, mapping, vaddr);
	if (evaluator->nr && evaluator->parts[0].end - evaluator->parts[0].start < MIN_EVALUATOR)
		evaluator->nr = 0;
	return evaluator->nr;
}

/* No symbol of the evaluator is exported: it is where code leads to. */
static void find_evaluator(struct ruby *ruby, const struct hybrid_named_chain *c)
{
	unsigned int i;

	for (i = 0; i < c->nr_functions && ruby->nr_tries < MAX_TRIES; i++) {
		if (hybrid_named_function(c, i, 1) &&
		    is_found_by(ruby, hybrid_named_function(c, i, 0)))
			return;
	}
}

static void ruby_begin(struct hybrid_namer *namer, const struct hybrid_named_chain *c)
{
	struct ruby *ruby = container_of(namer, struct ruby, run_namer.namer);

	if (!ruby->evaluator.nr)
		find_evaluator(ruby, c);
	hybrid_run_namer__begin(&ruby->run_namer, c);
}

static u64 ip_of(struct hybrid_run_namer *run_namer, struct hybrid_names *names,
		 u64 function, u64 position)
{
	struct ruby *ruby = container_of(run_namer, struct ruby, run_namer);

	return ruby_functions__ip(&ruby->functions, names, function, position);
}

static u64 unknown(struct hybrid_run_namer *run_namer, struct hybrid_names *names)
{
	struct ruby *ruby = container_of(run_namer, struct ruby, run_namer);

	return ruby_functions__unknown(&ruby->functions, names);
}

static const struct hybrid_run_language ruby_language = {
	.runtime	= HYBRID_RUNTIME_RUBY,
	.ip_of		= ip_of,
	.unknown	= unknown,
	.begin		= ruby_begin,
	.names_first	= true,
};

static struct hybrid_namer *ruby_namer(void *data, u64 pass __maybe_unused,
				       struct hybrid_space *space)
{
	struct ruby *ruby = data;

	ruby->pm.space = space;
	ruby->run_namer.space = space;
	return &ruby->run_namer.namer;
}

static bool ruby_interpreter(void *data, const struct hybrid_mapping *mapping,
			     struct hybrid_walk_interpreter *interpreter)
{
	struct ruby *ruby = data;

	interpreter->language = HYBRID_WALK_RUBY;
	interpreter->ruby = ruby->layout->walk;
	interpreter->runtime = ruby->variable - mapping->start + mapping->pgoff;
	return true;
}

/*
 * The words that __tls_get_addr() takes for the variable with the thread's context, by the code of
 * rb_thread_current(): "data16 lea WORDS(%rip), %rdi", as ELF Handling For Thread-Local Storage
 * has it. 0: it is otherwise.
 */
static u64 find_variable(struct hybrid_process_memory *pm, u64 code)
{
	static const u8 lea[] = { 0x66, 0x48, 0x8d, 0x3d };
	u8 bytes[MAX_CODE];
	const u8 *found;
	s32 offset;

	if (hybrid_process_memory_read(pm, code, bytes, sizeof(bytes)))
		return 0;
	found = memmem(bytes, sizeof(bytes) - sizeof(offset), lea, sizeof(lea));
	if (!found)
		return 0;
	found += sizeof(lea);
	memcpy(&offset, found, sizeof(offset));
	return code + (found - bytes) + sizeof(offset) + offset;
}

static bool open_ruby(struct ruby *ruby, const struct hybrid_mapping *mapping, u64 bias)
{
	const struct hybrid_object *object = mapping->object;
	u64 version_at = hybrid_object_symbol(object, "ruby_version");
	u64 code = hybrid_object_symbol(object, "rb_thread_current");
	char version[HYBRID_PROCESS_STRING];

	if (!version_at || !code || hybrid_process_memory_map(&ruby->pm) ||
	    hybrid_process_memory_string(&ruby->pm, bias + version_at, version))
		return false;
	ruby->object_id = object->id;
	ruby->layout = ruby_layout__find(version);
	ruby->variable = find_variable(&ruby->pm, bias + code);
	if (!ruby->layout || !ruby->variable)
		return false;
	ruby->functions.layout = ruby->layout;
	ruby_symbols__init(&ruby->functions.symbols, object, bias);
	return true;
}

static void *ruby_open(const struct hybrid_process_memory *pm,
		       const struct hybrid_mapping *mapping, u64 bias)
{
	struct ruby *ruby = calloc(1, sizeof(*ruby));

	if (!ruby)
		return NULL;
	ruby->pm = *pm;
	ruby->functions.pm = &ruby->pm;
	hybrid_run_namer__init(&ruby->run_namer, &ruby_language, &ruby->evaluator);
	if (open_ruby(ruby, mapping, bias))
		return ruby;
	hybrid_process_memory_exit(&ruby->pm);
	free(ruby);
	return NULL;
}

static void ruby_close(void *data)
{
	struct ruby *ruby = data;

	hybrid_process_memory_exit(&ruby->pm);
	hybrid_run_namer__exit(&ruby->run_namer);
	free(ruby);
}

const struct hybrid_runtime_ops hybrid_ruby_ops = {
	.symbol		= "ruby_version",
	.language	= "Ruby",
	.open		= ruby_open,
	.close		= ruby_close,
	.interpreter	= ruby_interpreter,
	.namer		= ruby_namer,
};
