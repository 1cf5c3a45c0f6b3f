/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RUN_NAMER_H
#define __PERF_HYBRID_RUN_NAMER_H

#include "process-memory.h"
#include "run-chains.h"
#include "told-text.h"

struct hybrid_run_namer;

/**
 * struct hybrid_run_language - the language of an interpreter
 * @language: of the names
 * @unknown: name of a function that can't be read
 * @size: of what perf knows of a process, which begins with struct hybrid_run_namer
 * @open: begin to read the process, whose memory is not mapped yet; as struct hybrid_runtime_ops.
 *	Returns false if it can't be read
 * @fork: have what is known of @parent, a process whose copy this one is; its evaluator is set.
 *	NULL: there is no such thing
 * @close: free what @open and names have added; also if @open has failed
 * @ip_of: the address of a frame, by struct hybrid_walk_function; 0: its function can't be read
 * @begin: as struct hybrid_namer has it; it calls hybrid_run_namer__begin(). NULL: that alone
 * @told: BPF has read a function: take its names from that
 * @text: the same, of a language whose texts are no struct hybrid_told_text; as struct hybrid_namer
 *	has it
 * @names_first: as struct hybrid_run_chains has it
 * @lasts: the same
 * @functions: as struct hybrid_run_names has it
 * @first: the same
 */
struct hybrid_run_language {
	enum hybrid_language	language;
	const char		*unknown;
	size_t			size;
	bool			(*open)(struct hybrid_run_namer *run_namer,
					const struct hybrid_mapping *mapping, u64 bias);
	void			(*fork)(struct hybrid_run_namer *run_namer,
					const struct hybrid_run_namer *parent);
	void			(*close)(struct hybrid_run_namer *run_namer);
	u64			(*ip_of)(struct hybrid_run_namer *run_namer,
					 struct hybrid_names *names, u64 function, u64 position);
	void			(*begin)(struct hybrid_namer *namer,
					 const struct hybrid_named_chain *c);
	void			(*told)(struct hybrid_run_namer *run_namer,
					struct hybrid_names *names, struct hybrid_told_text *told);
	void			(*text)(struct hybrid_namer *namer, struct hybrid_names *names,
					const void *text, size_t size);
	bool			names_first;
	bool			lasts;
	const void		*(*functions)(struct hybrid_run_namer *run_namer,
					      const struct hybrid_named_chain *c,
					      unsigned int *nr);
	const struct hybrid_named_chain *(*first)(struct hybrid_run_namer *run_namer,
						  const struct hybrid_named_chain *c,
						  unsigned int *nr);
};

/**
 * struct hybrid_run_namer - names the frames of a process by what its interpreter runs
 * @namer: the interface
 * @language: of the interpreter
 * @pm: memory of the process
 * @bias: what is added to addresses of the interpreter's file
 * @evaluator: of the process; it may be found later
 * @quota: of @language's @unknown
 * @runs: of the chain that is being named
 * @chains: that were named
 */
struct hybrid_run_namer {
	struct hybrid_namer			 namer;
	const struct hybrid_run_language	*language;
	struct hybrid_process_memory		 pm;
	u64					 bias;
	struct hybrid_evaluator			 evaluator;
	struct hybrid_names_quota		 quota;
	struct hybrid_runs			 runs;
	struct hybrid_run_chains		 chains;
};

/**
 * hybrid_run_namer__open - begin to read a process and to name its frames
 * @language: of the interpreter; must stay
 * @pm: as struct hybrid_runtime_ops has it
 * @mapping: the same
 * @bias: the same
 *
 * Return: to be given to hybrid_run_namer__close(), and to all that has a struct hybrid_run_namer;
 * NULL if the process can't be read, or memory is short.
 */
void *hybrid_run_namer__open(const struct hybrid_run_language *language,
			     const struct hybrid_process_memory *pm,
			     const struct hybrid_mapping *mapping, u64 bias);

/* As struct hybrid_runtime_ops' @fork, @close and @namer. */
void *hybrid_run_namer__fork(const void *data, const struct hybrid_process_memory *pm);
void hybrid_run_namer__close(void *data);
struct hybrid_namer *hybrid_run_namer__of(void *data, u64 pass, struct hybrid_space *space);

/**
 * hybrid_run_namer__range - the range of made code that has one rule
 * @run_namer: of the process; its evaluator has the bounds of that code
 * @ret: return address of a frame in it
 * @range: out, but for the rule
 *
 * Return: false if @ret is not in that code.
 */
bool hybrid_run_namer__range(const struct hybrid_run_namer *run_namer, u64 ret,
			     struct hybrid_runtime_range *range);

/* As struct hybrid_namer's @begin; @c stays until the chain is named. */
void hybrid_run_namer__begin(struct hybrid_run_namer *run_namer,
			     const struct hybrid_named_chain *c);

#endif /* __PERF_HYBRID_RUN_NAMER_H */
