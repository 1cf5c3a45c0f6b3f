/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RUBY_FUNCTIONS_H
#define __PERF_HYBRID_RUBY_FUNCTIONS_H

#include "../names.h"
#include "ruby-symbols.h"

#define RUBY_FUNCTIONS_BITS	12

/**
 * struct ruby_function - what is known of code, or of a method
 * @addr: of the code, or of the method's entry; 0: none
 * @words: what it has, which shows that it is still the same one: the first one is its mark
 * @checked: when @words were compared with the process, in ns
 * @encoded: address of the first word of code; 0: a method in C
 * @size: number of these words
 * @function: see hybrid_names__function()
 */
struct ruby_function {
	u64	addr;
	u64	words[3];
	u64	checked;
	u64	encoded;
	u32	size;
	u64	function;
};

/**
 * struct ruby_functions - the functions of a process
 * @pm: the process
 * @layout: of its CRuby
 * @symbols: of the process
 * @quota: what was added to the names
 * @known: by address
 */
struct ruby_functions {
	struct hybrid_process_memory	*pm;
	const struct ruby_layout	*layout;
	struct ruby_symbols		 symbols;
	struct hybrid_names_quota	 quota;
	struct ruby_function		 known[1 << RUBY_FUNCTIONS_BITS];
};

/* The address of a frame whose function can't be read, or is another one; 0: no room. */
u64 ruby_functions__unknown(struct ruby_functions *functions, struct hybrid_names *names);

/**
 * ruby_functions__ip - the address of a frame
 * @functions: of the process
 * @names: that the function is added to
 * @function: the code, or the method's entry, as struct hybrid_walk_interpreted has it
 * @position: address behind the instruction; 0: it is a method in C
 *
 * As python_codes__ip(), it compares the mark, and once a second what it has read.
 *
 * Return: by hybrid_names_ip(); 0 if it can't be read, or is another one.
 */
u64 ruby_functions__ip(struct ruby_functions *functions, struct hybrid_names *names, u64 function,
		       u64 position);

/**
 * ruby_functions__label - an address in the evaluator
 * @functions: of the process
 * @function: as there
 *
 * The first word of code is the address of the evaluator's part for that instruction.
 *
 * Return: the address; 0 if it can't be read.
 */
u64 ruby_functions__label(struct ruby_functions *functions, u64 function);

#endif /* __PERF_HYBRID_RUBY_FUNCTIONS_H */
