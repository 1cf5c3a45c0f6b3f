// SPDX-License-Identifier: GPL-2.0
/*
 * A process that runs CRuby. BPF reads at the sample which functions its thread is in; here they
 * get their names, and their places among the native frames.
 */
#include <linux/kernel.h>
#include "../../rules/rows.h"
#include "../run-namer.h"
#include "../runtime.h"
#include "ruby-file.h"
#include "ruby-functions.h"

/* The evaluator has 23 KiB in 3.1; what is smaller is a cold part, or none. */
#define MIN_EVALUATOR	4096

/*
 * YJIT's code has pushed three registers when it runs: yjit/src/codegen.rs, gen_entry_prologue().
 * For some calls it pushes others.
 */
#define PUSHED		3
#define MAX_PUSHED	16

/* Code whose first instruction has not led to the evaluator. */
#define MAX_TRIES	1024

/**
 * struct ruby - a process that runs CRuby
 * @run_namer: names frames
 * @object_id: of the file
 * @nr_tries: of finding the evaluator
 * @functions: of the process
 */
struct ruby {
	struct hybrid_run_namer		 run_namer;
	u64				 object_id;
	unsigned int			 nr_tries;
	struct ruby_functions		 functions;
};

static struct ruby *ruby_of(struct hybrid_run_namer *run_namer)
{
	return container_of(run_namer, struct ruby, run_namer);
}

/* Returns whether the evaluator is found. @label: what code of the process begins with */
static bool is_found_by(struct ruby *ruby, u64 label)
{
	u64 vaddr;
	const struct hybrid_mapping *mapping = hybrid_space_find(ruby->run_namer.pm.space, label);
	struct hybrid_evaluator *evaluator = &ruby->run_namer.evaluator;

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
		    is_found_by(ruby, ruby_functions__label(&ruby->functions,
							    hybrid_named_function(c, i, 0))))
			return;
	}
}

static void begin_ruby(struct hybrid_namer *namer, const struct hybrid_named_chain *c)
{
	struct ruby *ruby = container_of(namer, struct ruby, run_namer.namer);

	if (!ruby->run_namer.evaluator.nr)
		find_evaluator(ruby, c);
	hybrid_run_namer__begin(&ruby->run_namer, c);
}

static u64 ruby_ip(struct hybrid_run_namer *run_namer, struct hybrid_names *names, u64 function,
		   u64 position)
{
	return ruby_functions__ip(&ruby_of(run_namer)->functions, names, function, position);
}

static void ruby_told(struct hybrid_run_namer *run_namer, struct hybrid_names *names,
		      struct hybrid_told_text *told)
{
	struct ruby *ruby = ruby_of(run_namer);

	if (!run_namer->evaluator.nr && told->label && ruby->nr_tries < MAX_TRIES)
		is_found_by(ruby, told->label);
	ruby_functions__text(&ruby->functions, names, told);
}

/* Is it a return address in the file? */
static bool is_return(struct ruby *ruby, struct hybrid_space *space, u64 ret)
{
	const struct hybrid_mapping *mapping = hybrid_space_find(space, ret);

	return mapping && mapping->object && mapping->object->id == ruby->object_id &&
	       hybrid_object_is_return(mapping, ret);
}

/* How many words code without a file has pushed; -1: it is not YJIT's, which CRuby has called. */
static int nr_pushed(struct ruby *ruby, const struct hybrid_unwind *u, unsigned int at)
{
	u64 sp = at ? u->frames[at - 1].cfa : u->regs.value[u->abi->sp], ret;
	int i;

	for (i = 0; sp && i <= MAX_PUSHED; i++, sp += sizeof(ret)) {
		if (hybrid_unwind_read(u, sp, sizeof(ret), &ret))
			break;
		if (is_return(ruby, u->space, ret))
			return i;
	}
	return -1;
}

/*
 * What YJIT has compiled has no CFI and no frame pointer. Methods that it calls have no native
 * frame: it jumps to them, and back.
 */
static bool ruby_rule(void *data, u64 pass __maybe_unused, const struct hybrid_unwind *u,
		      unsigned int at, struct hybrid_rule *rule)
{
	const struct hybrid_mapping *mapping = hybrid_space_find(u->space, u->frames[at].ip);
	struct ruby *ruby = data;
	int nr;

	nr = mapping && !mapping->object ? nr_pushed(ruby, u, at) : -1;
	if (nr < 0)
		return false;
	ruby->run_namer.evaluator.made_start = mapping->start;
	ruby->run_namer.evaluator.made_end = mapping->end;
	*rule = (struct hybrid_rule) {
		.kind = HYBRID_RULE_CFA, .base = HYBRID_BASE_SP, .bp = HYBRID_BP_SAME,
		.cfa_off = (nr + 1) * sizeof(u64), .ra_off = -(int)sizeof(u64),
	};
	return true;
}

static bool ruby_range(void *data, u64 pass, const struct hybrid_unwind *u, unsigned int at,
		       struct hybrid_runtime_range *range)
{
	struct ruby *ruby = data;

	return ruby_rule(data, pass, u, at, &range->rule) &&
	       range->rule.cfa_off == (PUSHED + 1) * sizeof(u64) &&
	       hybrid_run_namer__range(&ruby->run_namer, u->frames[at].ret, range);
}

static bool ruby_interpreter(void *data __maybe_unused, const struct hybrid_mapping *mapping,
			     u64 bias, struct hybrid_walk_interpreter *interpreter)
{
	struct ruby_file file;

	if (!ruby_file__read(&file, mapping->object))
		return false;
	interpreter->language = HYBRID_LANGUAGE_RUBY;
	ruby_file__walk(&file, &interpreter->ruby);
	interpreter->runtime = bias + file.data - mapping->start + mapping->pgoff;
	return true;
}

static bool open_ruby(struct hybrid_run_namer *run_namer, const struct hybrid_mapping *mapping,
		      u64 bias)
{
	struct ruby *ruby = ruby_of(run_namer);
	struct ruby_file file;

	/* The file has all that is needed: the process may have just begun, or ended. */
	if (!ruby_file__read(&file, mapping->object))
		return false;
	hybrid_process_memory_map(&run_namer->pm);
	run_namer->evaluator.made_restarts = true;
	ruby->object_id = mapping->object->id;
	ruby->functions.pm = &run_namer->pm;
	ruby->functions.layout = file.layout;
	ruby->functions.symbols.table = file.symbols ? bias + file.symbols : 0;
	return true;
}

static void close_ruby(struct hybrid_run_namer *run_namer)
{
	ruby_functions__exit(&ruby_of(run_namer)->functions);
}

static const struct hybrid_run_language ruby_language = {
	.language	= HYBRID_LANGUAGE_RUBY,
	.unknown	= "rb::[unknown]",
	.size		= sizeof(struct ruby),
	.open		= open_ruby,
	.close		= close_ruby,
	.ip_of		= ruby_ip,
	.begin		= begin_ruby,
	.told		= ruby_told,
	.names_first	= true,
	.lasts		= true,
};

static void *ruby_open(const struct hybrid_process_memory *pm,
		       const struct hybrid_mapping *mapping, u64 bias)
{
	return hybrid_run_namer__open(&ruby_language, pm, mapping, bias);
}

const struct hybrid_runtime_ops hybrid_ruby_ops = {
	.symbol		= "rb_thread_current",
	.language	= "Ruby",
	.program	= "ruby",
	.open		= ruby_open,
	.close		= hybrid_run_namer__close,
	.rule		= ruby_rule,
	.range		= ruby_range,
	.interpreter	= ruby_interpreter,
	.namer		= hybrid_run_namer__of,
};
