// SPDX-License-Identifier: GPL-2.0
/*
 * A process that runs Perl. BPF reads at the sample which subs its thread is in; here they get
 * their names, and their places among the native frames.
 */
#include <stdlib.h>
#include <linux/kernel.h>
#include "../../rules/function.h"
#include "../../rules/rows.h"
#include "../../rules/symbol.h"
#include "../../x86/code.h"
#include "../evaluator.h"
#include "../run-namer.h"
#include "../runtime.h"
#include "perl-functions.h"
#include "perl-layout.h"

/**
 * struct perl - a process that runs Perl
 * @pm: its memory
 * @key: address of PL_thr_key
 * @layout: of its version
 * @evaluator: of the file: runops
 * @restart: of the file: docatch
 * @run_namer: names frames
 * @chain: that is being named: its functions are @frames
 * @frames: of the chain
 * @functions: of the process
 */
struct perl {
	struct hybrid_process_memory	 pm;
	u64				 key;
	const struct perl_layout	*layout;
	struct hybrid_evaluator		 evaluator;
	struct hybrid_evaluator		 restart;
	struct hybrid_run_namer		 run_namer;
	struct hybrid_named_chain	 chain;
	struct perl_frames		 frames;
	struct perl_functions		 functions;
};

static const void *functions_of(struct hybrid_run_namer *run_namer,
				const struct hybrid_named_chain *c, unsigned int *nr)
{
	struct perl *perl = container_of(run_namer, struct perl, run_namer);

	perl_frames__read(&perl->frames, c);
	*nr = perl->frames.nr;
	return perl->frames.runs;
}

static const struct hybrid_named_chain *first_of(struct hybrid_run_namer *run_namer,
						 const struct hybrid_named_chain *c,
						 unsigned int *nr)
{
	struct perl *perl = container_of(run_namer, struct perl, run_namer);

	*nr = perl_frames__read_first(&perl->frames, c);
	perl->chain = *c;
	perl->chain.functions = perl->frames.runs;
	perl->chain.nr_functions = perl->frames.nr;
	return &perl->chain;
}

static void perl_begin(struct hybrid_namer *namer, const struct hybrid_named_chain *c)
{
	struct perl *perl = container_of(namer, struct perl, run_namer.namer);

	perl_frames__read(&perl->frames, c);
	perl->chain = *c;
	perl->chain.functions = perl->frames.runs;
	perl->chain.nr_functions = perl->frames.nr;
	hybrid_run_namer__begin(&perl->run_namer, &perl->chain);
}

static u64 ip_of(struct hybrid_run_namer *run_namer, struct hybrid_names *names,
		 u64 function, u64 position __maybe_unused)
{
	struct perl *perl = container_of(run_namer, struct perl, run_namer);
	const struct perl_frame *frame = perl_frames__of(&perl->frames, function);

	return frame ? perl_functions__ip(&perl->functions, names, frame) : 0;
}

static u64 unknown(struct hybrid_run_namer *run_namer, struct hybrid_names *names)
{
	struct perl *perl = container_of(run_namer, struct perl, run_namer);

	return perl_functions__unknown(&perl->functions, names);
}

static void perl_text(struct hybrid_namer *namer, struct hybrid_names *names, const void *text,
		      size_t size)
{
	struct perl *perl = container_of(namer, struct perl, run_namer.namer);
	struct hybrid_told_text told;

	if (hybrid_told_text_read(&told, text, size))
		perl_functions__text(&perl->functions, names, &told);
}

static const struct hybrid_run_language perl_language = {
	.language	= HYBRID_LANGUAGE_PERL,
	.ip_of		= ip_of,
	.unknown	= unknown,
	.begin		= perl_begin,
	.text		= perl_text,
	.functions	= functions_of,
	.first		= first_of,
	.names_first	= true,
};

static struct hybrid_namer *perl_namer(void *data, u64 pass __maybe_unused,
				       struct hybrid_space *space)
{
	struct perl *perl = data;

	perl->pm.space = space;
	perl->run_namer.space = space;
	return &perl->run_namer.namer;
}

/*
 * docatch(), of which there is no symbol: it is what the operation of "eval BLOCK" ends with a jump
 * to. It runs the evaluator and has it go on with all that the evaluator before it would.
 */
static void find_restart(struct perl *perl, const struct hybrid_mapping *mapping, u64 entertry)
{
	const struct hybrid_fde *fde = hybrid_function_fde(mapping, entertry), *to;
	u64 at, next, target;

	for (at = fde ? fde->start : 0; fde && at < fde->end; at = next) {
		target = hybrid_code_jump(mapping->object, at, &next);
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
		hybrid_process_word(&perl->pm, table + number * sizeof(u64));

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

static void set_interpreter(const struct perl_layout *layout, u64 key,
			    const struct hybrid_mapping *mapping,
			    struct hybrid_walk_interpreter *interpreter)
{
	interpreter->language = HYBRID_LANGUAGE_PERL;
	interpreter->perl = layout->walk;
	interpreter->runtime = key - mapping->start + mapping->pgoff;
}

static bool perl_file_interpreter(const struct hybrid_mapping *mapping, u64 bias,
				  struct hybrid_walk_interpreter *interpreter)
{
	const struct perl_layout *layout = find_layout(mapping->object);
	u64 key = hybrid_object_symbol(mapping->object, "PL_thr_key");

	if (!layout || !key)
		return false;
	set_interpreter(layout, bias + key, mapping, interpreter);
	return true;
}

static bool open_perl(struct perl *perl, const struct hybrid_mapping *mapping, u64 bias)
{
	const struct hybrid_object *object = mapping->object;
	u64 key = hybrid_object_symbol(object, "PL_thr_key");
	u64 main = hybrid_object_symbol(object, "PL_curinterp"), entertry;

	perl->layout = find_layout(object);
	if (!key || !perl->layout)
		return false;
	hybrid_process_memory_map(&perl->pm);
	perl->key = bias + key;
	entertry = operation(perl, mapping, bias, "Perl_pp_entertry", perl->layout->entertry);
	perl->functions.nextstate = operation(perl, mapping, bias, "Perl_pp_nextstate",
					      perl->layout->nextstate);
	if (!entertry || !perl->functions.nextstate)
		return false;
	perl->functions.interpreter = main ? bias + main : 0;
	perl->functions.packages = perl->layout->packages;
	hybrid_evaluator__find(&perl->evaluator, mapping,
			       hybrid_object_symbol(object, "Perl_runops_standard"));
	find_restart(perl, mapping, entertry - bias);
	perl->evaluator.restart = &perl->restart;
	return perl->evaluator.nr;
}

static bool perl_interpreter(void *data, const struct hybrid_mapping *mapping,
			     struct hybrid_walk_interpreter *interpreter)
{
	const struct perl *perl = data;

	set_interpreter(perl->layout, perl->key, mapping, interpreter);
	return true;
}

static void *perl_open(const struct hybrid_process_memory *pm,
		       const struct hybrid_mapping *mapping, u64 bias)
{
	struct perl *perl = calloc(1, sizeof(*perl));

	if (!perl)
		return NULL;
	perl->pm = *pm;
	perl->functions.pm = &perl->pm;
	hybrid_run_namer__init(&perl->run_namer, &perl_language, &perl->evaluator);
	if (open_perl(perl, mapping, bias))
		return perl;
	hybrid_process_memory_exit(&perl->pm);
	free(perl);
	return NULL;
}

static void perl_close(void *data)
{
	struct perl *perl = data;

	hybrid_process_memory_exit(&perl->pm);
	perl_functions__exit(&perl->functions);
	hybrid_run_namer__exit(&perl->run_namer);
	free(perl);
}

const struct hybrid_runtime_ops hybrid_perl_ops = {
	.symbol		= "Perl_runops_standard",
	.language	= "Perl",
	.program	= "perl",
	.open		= perl_open,
	.close		= perl_close,
	.file_interpreter = perl_file_interpreter,
	.interpreter	= perl_interpreter,
	.namer		= perl_namer,
};
