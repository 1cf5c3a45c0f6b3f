/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_EVALUATOR_H
#define __PERF_HYBRID_EVALUATOR_H

#include "../rules/fde.h"
#include "../rules/space.h"

#define HYBRID_EVALUATOR_PARTS	8

/**
 * struct hybrid_evaluator - the code of the function that interprets a language
 * @object_id: of the file; 0: it was not looked for
 * @parts: where the compiler has put it, as the ELF file numbers addresses
 * @nr: number of @parts
 * @restart: a function of the same file that begins the evaluator anew and has it go on with what
 *	the evaluator ran that has called it; NULL: there is none
 * @made_start: where code begins that the process has made, and that runs in the evaluator's frame
 * @made_end: where it ends; the same: there is none
 * @made_restarts: that code has a frame of its own; if the evaluator has called it, it runs what
 *	that ran
 */
struct hybrid_evaluator {
	u64			object_id;
	struct hybrid_fde	parts[HYBRID_EVALUATOR_PARTS];
	unsigned int		nr;
	const struct hybrid_evaluator *restart;
	u64			made_start;
	u64			made_end;
	bool			made_restarts;
};

/**
 * hybrid_evaluator__find - find the evaluator's code
 * @evaluator: out; @nr is 0 if it is not found
 * @mapping: of the interpreter's code, its object open
 * @vaddr: an address in it, as the ELF file numbers them
 *
 * GCC moves code that seldom runs out of the function. The rest jumps to it, and no function begins
 * at the target.
 */
void hybrid_evaluator__find(struct hybrid_evaluator *evaluator,
			    const struct hybrid_mapping *mapping, u64 vaddr);

/* What an address is in; of a process that has mapped the file. */
#define HYBRID_EVALUATOR_OWN		1
#define HYBRID_EVALUATOR_RESTART	2

/**
 * hybrid_evaluator__of - is an address in the evaluator, or in what begins it anew?
 * @evaluator: of the file
 * @space: of the process
 * @ip: as struct hybrid_frame has it
 *
 * Return: 0 if it is in neither, else a mask of the above.
 */
unsigned int hybrid_evaluator__of(const struct hybrid_evaluator *evaluator,
				  struct hybrid_space *space, u64 ip);

/**
 * hybrid_evaluator__has_ended - was the evaluator's last call that at an address?
 * @evaluator: of the file
 * @space: of the process
 * @ip: of a native frame of the evaluator that has called, as struct hybrid_frame has it
 *
 * Return: true if the evaluator does nothing after the call but return.
 */
bool hybrid_evaluator__has_ended(const struct hybrid_evaluator *evaluator,
				 struct hybrid_space *space, u64 ip);

#endif /* __PERF_HYBRID_EVALUATOR_H */
