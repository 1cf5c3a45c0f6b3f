/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_PERL_SUB_H
#define __PERF_HYBRID_PERL_SUB_H

#include <stdbool.h>
#include "../process-memory.h"

/* Bytes of a string that are read, its end included. */
#define PERL_TEXT	HYBRID_PROCESS_STRING
/* Of a sub with its package. */
#define PERL_NAME	(2 * PERL_TEXT + 2)

/**
 * struct perl_sub - a sub, as a process has it
 * @root: address of its code, which closures of it share
 * @start: of what it begins with
 * @named: of its name, or of what has its name
 * @stash: of its package
 * @file: of the name of its file
 * @is_named: @named is of its name
 */
struct perl_sub {
	u64	root;
	u64	start;
	u64	named;
	u64	stash;
	u64	file;
	bool	is_named;
};

/**
 * perl_sub__read - read what a sub refers to
 * @pm: the process
 * @addr: of the sub
 * @sub: out
 *
 * Return: false if there is none, or it is one in C.
 */
bool perl_sub__read(struct hybrid_process_memory *pm, u64 addr, struct perl_sub *sub);

/**
 * perl_sub__name - the name of a sub
 * @pm: the process
 * @sub: the sub
 * @out: out, room for PERL_NAME: "List::Util::first", "main::__ANON__"
 *
 * Return: false if it can't be read.
 */
bool perl_sub__name(struct hybrid_process_memory *pm, const struct perl_sub *sub, char *out);

/**
 * perl_sub__line - the line that a sub begins at
 * @pm: the process
 * @sub: the sub
 * @nextstate: address of the code of statements
 *
 * Return: the line of its first statement; 0 if that is not found.
 */
u32 perl_sub__line(struct hybrid_process_memory *pm, const struct perl_sub *sub, u64 nextstate);

/**
 * perl_root__statement - the first statement of a sub, by the root of its code
 * @pm: the process
 * @root: its address
 * @nextstate: as perl_sub__line()
 *
 * Return: its address; 0: it is not found.
 */
u64 perl_root__statement(struct hybrid_process_memory *pm, u64 root, u64 nextstate);

/**
 * perl_statement__file - the file that a statement is of
 * @pm: the process
 * @statement: its address
 * @nextstate: as perl_sub__line()
 * @out: out, room for PERL_TEXT
 *
 * Return: false if there is no statement.
 */
bool perl_statement__file(struct hybrid_process_memory *pm, u64 statement, u64 nextstate,
			  char *out);

/**
 * perl_statement__package - the package that a statement is of
 * @pm: the process
 * @statement: its address
 * @packages: where an interpreter has the array of packages
 * @out: out, room for PERL_TEXT
 *
 * Return: false if it can't be read.
 */
bool perl_statement__package(struct hybrid_process_memory *pm, u64 statement, u64 packages,
			     char *out);

/* The line of a statement; 0: there is none at that address. */
u32 perl_statement__line(struct hybrid_process_memory *pm, u64 statement, u64 nextstate);

/* A file name as it is shown, in room for PERL_TEXT: that of an evaluated string has no number. */
void perl_file_text(char *file);

#endif /* __PERF_HYBRID_PERL_SUB_H */
