// SPDX-License-Identifier: GPL-2.0
/*
 * A process that runs the toy language: program.c has its structures.
 */
#include <stdio.h>
#include <linux/kernel.h>
#include "../../rules/symbol.h"
#include "../run-namer.h"
#include "../runtime.h"
#include "toy-walk.h"

static const struct hybrid_walk_toy layout = { .function = 8, .name = 8 };

/* As many as program.c has. */
#define NR_TOLD		4

/**
 * struct toy - a process
 * @run_namer: names frames
 * @nr_told: number of @functions
 * @functions: that BPF has read, as struct hybrid_walk_function has them
 * @ips: the addresses that stand for them in callchains
 */
struct toy {
	struct hybrid_run_namer	run_namer;
	unsigned int		nr_told;
	u64			functions[NR_TOLD];
	u64			ips[NR_TOLD];
};

static u64 add_name(struct hybrid_run_namer *run_namer, struct hybrid_names *names,
		    const char *name)
{
	char text[HYBRID_NAME_MAX];
	const struct hybrid_function function = { .name = text, .size = 1 };
	u64 ip;

	snprintf(text, sizeof(text), "toy::%s", name);
	ip = hybrid_names__function(names, &run_namer->quota, &function);
	return ip ? hybrid_names_ip(ip, 1, 0) : 0;
}

static u64 toy_ip(struct hybrid_run_namer *run_namer, struct hybrid_names *names, u64 function,
		  u64 position __maybe_unused)
{
	struct toy *toy = container_of(run_namer, struct toy, run_namer);
	struct hybrid_process_memory *pm = &run_namer->pm;
	u64 addr = function & HYBRID_WALK_FUNCTION_ADDR;
	char text[HYBRID_PROCESS_STRING];
	unsigned int i;
	u64 name;

	for (i = 0; i < toy->nr_told; i++) {
		if (toy->functions[i] == (function & ~HYBRID_WALK_RUN_ENDS))
			return toy->ips[i];
	}
	name = hybrid_process_word(pm, addr + layout.name);
	if (HYBRID_WALK_FUNCTION_MARK(name) != (function & ~(HYBRID_WALK_FUNCTION_ADDR | 7)) ||
	    hybrid_process_memory_string(pm, name, text))
		return 0;
	return add_name(run_namer, names, text);
}

static void toy_told(struct hybrid_run_namer *run_namer, struct hybrid_names *names,
		     struct hybrid_told_text *told)
{
	struct toy *toy = container_of(run_namer, struct toy, run_namer);
	u64 ip = add_name(run_namer, names, told->pieces[HYBRID_TOLD_PIECES - 1]);

	if (!ip || toy->nr_told == NR_TOLD)
		return;
	toy->functions[toy->nr_told] = told->function;
	toy->ips[toy->nr_told++] = ip;
}

static bool toy_interpreter(void *data __maybe_unused, const struct hybrid_mapping *mapping,
			    u64 bias, struct hybrid_walk_interpreter *interpreter)
{
	u64 thread = hybrid_object_symbol(mapping->object, "toy_frames");

	if (!thread)
		return false;
	interpreter->language = HYBRID_LANGUAGE_TOY;
	interpreter->toy = layout;
	interpreter->runtime = bias + thread - mapping->start + mapping->pgoff;
	return true;
}

static bool open_toy(struct hybrid_run_namer *run_namer, const struct hybrid_mapping *mapping,
		     u64 bias __maybe_unused)
{
	hybrid_process_memory_map(&run_namer->pm);
	hybrid_evaluator__find(&run_namer->evaluator, mapping,
			       hybrid_object_symbol(mapping->object, "toy_run"));
	return run_namer->evaluator.nr;
}

static void close_toy(struct hybrid_run_namer *run_namer __maybe_unused)
{
}

static const struct hybrid_run_language toy_language = {
	.language	= HYBRID_LANGUAGE_TOY,
	.unknown	= "toy::[unknown]",
	.size		= sizeof(struct toy),
	.open		= open_toy,
	.close		= close_toy,
	.ip_of		= toy_ip,
	.told		= toy_told,
	.names_first	= true,
};

static void *toy_open(const struct hybrid_process_memory *pm, const struct hybrid_mapping *mapping,
		      u64 bias)
{
	return hybrid_run_namer__open(&toy_language, pm, mapping, bias);
}

const struct hybrid_runtime_ops hybrid_toy_ops = {
	.symbol		= "toy_run",
	.language	= "Toy",
	.program	= "toy",
	.open		= toy_open,
	.close		= hybrid_run_namer__close,
	.interpreter	= toy_interpreter,
	.namer		= hybrid_run_namer__of,
};
