/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_PHP_FUNCTIONS_H
#define __PERF_HYBRID_PHP_FUNCTIONS_H

#include "../../rules/key-table.h"
#include "../names.h"
#include "../told-text.h"
#include "php-layout.h"

/**
 * struct php_function - what is known of a function
 * @key: its address, and its mark as struct hybrid_walk_function has it; 0: none
 * @words: name, class, instructions and file, which show that it is still the same one
 * @checked: when @words were compared with the process, in ns
 * @is_internal: it is C code, and has no instructions
 * @is_alike: it is not at its address any more; another one has the same instructions
 * @is_told: BPF has read its name, and the process could not be read; its lines are not known
 * @size: number of instructions
 * @function: see hybrid_names__function()
 */
struct php_function {
	u64	key;
	u64	words[4];
	u64	checked;
	bool	is_internal;
	bool	is_alike;
	bool	is_told;
	u32	size;
	u64	function;
};

/**
 * struct php_functions - the functions of a process
 * @pm: the process
 * @layout: of its PHP
 * @quota: what was added to the names
 * @known: struct php_function, by @key
 * @places: keys of functions, by the addresses of their instructions
 */
struct php_functions {
	struct hybrid_process_memory	*pm;
	const struct php_layout		*layout;
	struct hybrid_names_quota	 quota;
	struct hybrid_key_table		 known;
	struct hybrid_key_table		 places;
};

/**
 * php_functions__file_ip - the address of a frame of a file's outermost code
 * @functions: of the process
 * @names: that the code is added to
 * @file: as struct hybrid_walk_function has it, with HYBRID_WALK_PHP_FILE
 * @line: in it
 *
 * Return: as php_functions__ip().
 */
u64 php_functions__file_ip(struct php_functions *functions, struct hybrid_names *names, u64 file,
			   u64 line);

/**
 * php_functions__ip - the address of a frame
 * @functions: of the process
 * @names: that the function is added to
 * @function: as struct hybrid_walk_function has it
 * @position: address of the instruction; of an internal function anything
 *
 * A closure has a copy of its function, whose memory is used again when the closure is gone. Then
 * the function that is known to have these instructions is taken: those that a function makes are
 * read with it.
 *
 * Return: by hybrid_names_ip(); 0 if it can't be read, or is another one.
 */
u64 php_functions__ip(struct php_functions *functions, struct hybrid_names *names, u64 function,
		      u64 position);

/**
 * php_functions__text - take what BPF has read of a function, or of a file's name
 * @functions: of the process
 * @names: that the function is added to
 * @told: what was read
 *
 * It is read from the process, as that has its lines, too, if that is there still.
 */
void php_functions__text(struct php_functions *functions, struct hybrid_names *names,
			 const struct hybrid_told_text *told);

/**
 * php_functions__inherit - a process is a copy of another one
 * @functions: of the copy; @pm, @layout and @quota are set
 * @parent: of the other one
 *
 * It knows what that knew: it may end before it can be read.
 */
void php_functions__inherit(struct php_functions *functions, const struct php_functions *parent);

/* Free what belongs to it. */
void php_functions__exit(struct php_functions *functions);

#endif /* __PERF_HYBRID_PHP_FUNCTIONS_H */
