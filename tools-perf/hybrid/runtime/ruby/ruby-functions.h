/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RUBY_FUNCTIONS_H
#define __PERF_HYBRID_RUBY_FUNCTIONS_H

#include "../../rules/key-table.h"
#include "../names.h"
#include "../told-text.h"
#include "ruby-symbols.h"

/**
 * struct ruby_function - what is known of code, or of a method
 * @key: its address and its mark, as struct hybrid_walk_function has them
 * @encoded: address of the first word of code; 0: a method in C
 * @function: see hybrid_names__function()
 * @size: number of these words
 */
struct ruby_function {
	u64	key;
	u64	encoded;
	u64	function;
	u32	size;
};

/**
 * struct ruby_functions - the functions of a process
 * @pm: the process
 * @layout: of its CRuby
 * @symbols: of the process
 * @quota: what was added to the names
 * @known: struct ruby_function, by @key
 */
struct ruby_functions {
	struct hybrid_process_memory	*pm;
	const struct ruby_layout	*layout;
	struct ruby_symbols		 symbols;
	struct hybrid_names_quota	 quota;
	struct hybrid_key_table		 known;
};

/**
 * ruby_functions__ip - the address of a frame
 * @functions: of the process
 * @names: that the function is added to
 * @function: the code, or the method's entry, as struct hybrid_walk_function has it
 * @position: address behind the instruction; 0: it is a method in C
 *
 * The mark is a hash of what the object has, hybrid_ruby_identity(). So what is known stays true.
 *
 * Return: by hybrid_names_ip(); 0 if it can't be read, or is another one.
 */
u64 ruby_functions__ip(struct ruby_functions *functions, struct hybrid_names *names, u64 function,
		       u64 position);

/**
 * ruby_functions__text - take what BPF has read of code, or of a method
 * @functions: of the process
 * @names: that the function is added to
 * @told: what was read
 *
 * Lines are read from the process. If that is gone, the function has the line that it begins at.
 */
void ruby_functions__text(struct ruby_functions *functions, struct hybrid_names *names,
			  const struct hybrid_told_text *told);

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

void ruby_functions__exit(struct ruby_functions *functions);

#endif /* __PERF_HYBRID_RUBY_FUNCTIONS_H */
