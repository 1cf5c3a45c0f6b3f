/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_PERL_FUNCTIONS_H
#define __PERF_HYBRID_PERL_FUNCTIONS_H

#include "../../rules/key-table.h"
#include "../names.h"
#include "../told-text.h"
#include "perl-frames.h"
#include "perl-sub.h"

/**
 * struct perl_place - a statement of a sub, a line of code that is no sub, or a sub
 * @key: which one, see perl_functions__ip(); 0: none
 * @sub: of a statement: key of its sub, 0 if it has none; of a sub: its address
 * @named: what the sub had as its name
 * @ip: see hybrid_names_ip(); of a sub: of its first byte, 0 if it is to be read again
 * @checked: of a sub: when @named was compared with the process, in ns
 * @first: of a sub: the line that it begins at
 */
struct perl_place {
	u64	key;
	u64	sub;
	u64	named;
	u64	ip;
	u64	checked;
	u32	first;
};

/**
 * struct perl_functions - the functions of a process
 * @pm: the process
 * @nextstate: address of the code of statements
 * @interpreter: where the address of the first thread's interpreter is
 * @packages: see struct perl_layout
 * @quota: what was added to the names
 * @known: struct perl_place of places and subs, by their key
 * @program: file of the program, as BPF has read it; empty: it has not
 */
struct perl_functions {
	struct hybrid_process_memory	*pm;
	u64				 nextstate;
	u64				 interpreter;
	u64				 packages;
	struct hybrid_names_quota	 quota;
	struct hybrid_key_table		 known;
	char				 program[PERL_TEXT];
};

/**
 * perl_functions__ip - the address of a frame
 * @functions: of the process
 * @names: that the function is added to
 * @frame: the frame
 *
 * A statement of a sub is known by its address, and by a part of the address of the sub's code: so
 * one closure's name is that of all. Of a sub that is known, only the lines of new statements are
 * read, and once a second what has its name.
 *
 * Return: by hybrid_names_ip(); 0 if it can't be read, or is another one.
 */
u64 perl_functions__ip(struct perl_functions *functions, struct hybrid_names *names,
		       const struct perl_frame *frame);

/**
 * perl_functions__text - take what BPF has read of a sub
 * @functions: of the process
 * @names: that the sub is added to
 * @told: what was read; changed
 *
 * Lines of statements are read from the process, as those of other subs are.
 */
void perl_functions__text(struct perl_functions *functions, struct hybrid_names *names,
			  struct hybrid_told_text *told);

void perl_functions__exit(struct perl_functions *functions);

#endif /* __PERF_HYBRID_PERL_FUNCTIONS_H */
