// SPDX-License-Identifier: GPL-2.0
/*
 * A process that runs Perl. BPF reads at the sample which subs its thread is in; here they get
 * their names, and their places among the native frames.
 */
#include <linux/kernel.h>
#include "../../rules/function.h"
#include "../../rules/rows.h"
#include "../../rules/symbol.h"
#include "../run-namer.h"
#include "../runtime.h"
#include "perl-functions.h"
#include "perl-layout.h"

/**
 * struct perl - a process that runs Perl
 * @run_namer: names frames; its evaluator is runops
 * @restart: of the file: docatch
 * @chain: that is being named: its functions are @frames
 * @frames: of the chain
 * @functions: of the process
 */
struct perl {
	struct hybrid_run_namer		 run_namer;
	struct hybrid_evaluator		 restart;
	struct hybrid_named_chain	 chain;
	struct perl_frames		 frames;
	struct perl_functions		 functions;
};

static struct perl *perl_of(struct hybrid_run_namer *run_namer)
{
	return container_of(run_namer, struct perl, run_namer);
}

static const void *all_functions(struct hybrid_run_namer *run_namer,
				 const struct hybrid_named_chain *c, unsigned int *nr)
{
	struct perl *perl = perl_of(run_namer);

	perl_frames__read(&perl->frames, c);
	*nr = perl->frames.nr;
	return perl->frames.runs;
}

/* The chain with the functions that were read. */
static const struct hybrid_named_chain *with_frames(struct perl *perl,
						    const struct hybrid_named_chain *c)
{
	perl->chain = *c;
	perl->chain.functions = perl->frames.runs;
	perl->chain.nr_functions = perl->frames.nr;
	return &perl->chain;
}

static const struct hybrid_named_chain *first_run(struct hybrid_run_namer *run_namer,
						  const struct hybrid_named_chain *c,
						  unsigned int *nr)
{
	struct perl *perl = perl_of(run_namer);

	*nr = perl_frames__read_first(&perl->frames, c);
	return with_frames(perl, c);
}

static void begin_perl(struct hybrid_namer *namer, const struct hybrid_named_chain *c)
{
	struct perl *perl = container_of(namer, struct perl, run_namer.namer);

	perl_frames__read(&perl->frames, c);
	hybrid_run_namer__begin(&perl->run_namer, with_frames(perl, c));
}

static u64 perl_ip(struct hybrid_run_namer *run_namer, struct hybrid_names *names, u64 function,
		   u64 position __maybe_unused)
{
	struct perl *perl = perl_of(run_namer);
	const struct perl_frame *frame = perl_frames__of(&perl->frames, function);

	return frame ? perl_functions__ip(&perl->functions, names, frame) : 0;
}

static void perl_told(struct hybrid_run_namer *run_namer, struct hybrid_names *names,
		      struct hybrid_told_text *told)
{
	perl_functions__text(&perl_of(run_namer)->functions, names, told);
}

/*
 * docatch(), of which there is no symbol: it is what the operation of "eval BLOCK" ends with a jump
 * to. It runs the evaluator and has it go on with all that the evaluator before it would.
 */
static void find_restart(struct perl *perl, const struct hybrid_mapping *mapping, u64 entertry)
{
	const struct hybrid_fde *fde = hybrid_function_fde(mapping, entertry), *to;
	struct hybrid_code code = hybrid_object_code(mapping->object);
	u64 at, next, target;

	for (at = fde ? fde->start : 0; fde && at < fde->end; at = next) {
		target = mapping->object->cfi.abi->arch->jump(&code, at, &next);
		if (!next)
			return;
		to = target ? hybrid_function_fde(mapping, target) : NULL;
		if (to && to->start == target && target != fde->start) {
			hybrid_evaluator__find(&perl->restart, mapping, target);
			return;
		}
	}
}

/* The code of an operation; 0: the process has just begun, and the table is not relocated yet. */
static u64 operation(struct perl *perl, const struct hybrid_mapping *mapping, u64 bias,
		     const char *name, u16 number)
{
	u64 symbol = hybrid_object_symbol(mapping->object, name);
	u64 table = bias + hybrid_object_symbol(mapping->object, "PL_ppaddr");
	u64 code = symbol ? bias + symbol :
		hybrid_process_word(&perl->run_namer.pm, table + number * sizeof(u64));

	return code >= mapping->start && code < mapping->end ? code : 0;
}

/* The file has all that is needed: the process may have just begun, or ended. */
static const struct perl_layout *find_layout(const struct hybrid_object *object)
{
	u16 size;
	u8 version;

	if (!hybrid_object_constant(object, "PL_version", &version, sizeof(version)) ||
	    !hybrid_object_constant(object, "PL_interp_size", &size, sizeof(size)))
		return NULL;
	return perl_layout__find(version, size);
}

static bool perl_interpreter(void *data __maybe_unused, const struct hybrid_mapping *mapping,
			     u64 bias, struct hybrid_walk_interpreter *interpreter)
{
	const struct perl_layout *layout = find_layout(mapping->object);
	u64 key = hybrid_object_symbol(mapping->object, "PL_thr_key");

	if (!layout || !key)
		return false;
	interpreter->language = HYBRID_LANGUAGE_PERL;
	interpreter->perl = layout->walk;
	interpreter->runtime = bias + key - mapping->start + mapping->pgoff;
	return true;
}

static bool open_perl(struct hybrid_run_namer *run_namer, const struct hybrid_mapping *mapping,
		      u64 bias)
{
	const struct hybrid_object *object = mapping->object;
	const struct perl_layout *layout = find_layout(object);
	u64 main = hybrid_object_symbol(object, "PL_curinterp"), entertry;
	struct perl *perl = perl_of(run_namer);

	if (!layout || !hybrid_object_symbol(object, "PL_thr_key"))
		return false;
	hybrid_process_memory_map(&run_namer->pm);
	perl->functions.pm = &run_namer->pm;
	entertry = operation(perl, mapping, bias, "Perl_pp_entertry", layout->entertry);
	perl->functions.nextstate = operation(perl, mapping, bias, "Perl_pp_nextstate",
					      layout->nextstate);
	if (!entertry || !perl->functions.nextstate)
		return false;
	perl->functions.interpreter = main ? bias + main : 0;
	perl->functions.packages = layout->packages;
	hybrid_evaluator__find(&run_namer->evaluator, mapping,
			       hybrid_object_symbol(object, "Perl_runops_standard"));
	find_restart(perl, mapping, entertry - bias);
	run_namer->evaluator.restart = &perl->restart;
	return run_namer->evaluator.nr;
}

static void close_perl(struct hybrid_run_namer *run_namer)
{
	perl_functions__exit(&perl_of(run_namer)->functions);
}

static const struct hybrid_run_language perl_language = {
	.language	= HYBRID_LANGUAGE_PERL,
	.unknown	= "pl::[unknown]",
	.size		= sizeof(struct perl),
	.open		= open_perl,
	.close		= close_perl,
	.ip_of		= perl_ip,
	.begin		= begin_perl,
	.told		= perl_told,
	.functions	= all_functions,
	.first		= first_run,
	.names_first	= true,
};

static void *perl_open(const struct hybrid_process_memory *pm,
		       const struct hybrid_mapping *mapping, u64 bias)
{
	return hybrid_run_namer__open(&perl_language, pm, mapping, bias);
}

const struct hybrid_runtime_ops hybrid_perl_ops = {
	.symbol		= "Perl_runops_standard",
	.language	= "Perl",
	.program	= "perl",
	.open		= perl_open,
	.close		= hybrid_run_namer__close,
	.interpreter	= perl_interpreter,
	.namer		= hybrid_run_namer__of,
};
