/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RUBY_FILE_H
#define __PERF_HYBRID_RUBY_FILE_H

#include "../../rules/object.h"
#include "ruby-layout.h"

/**
 * struct ruby_file - what the file of CRuby shows; addresses are as the ELF file numbers them
 * @layout: of its version
 * @data: of the two words by which __tls_get_addr() finds the variable with a thread's context; if
 *	@variable is set, of ruby_version
 * @variable: from what a thread is known by to that variable, in a program that CRuby is linked
 *	into; 0: it is a library
 * @symbols: of the table of names; 0: not known
 */
struct ruby_file {
	const struct ruby_layout	*layout;
	u64				 data;
	s32				 variable;
	u64				 symbols;
};

/**
 * ruby_file__read - read what the file of CRuby shows
 * @file: out
 * @object: of the file, open
 *
 * Nothing is read from a process, which may have just begun, or ended.
 *
 * Return: false if the version is not known, or the code is not as it should be.
 */
bool ruby_file__read(struct ruby_file *file, const struct hybrid_object *object);

/**
 * ruby_file__walk - what BPF is told
 * @file: that was read
 * @walk: out
 */
void ruby_file__walk(const struct ruby_file *file, struct hybrid_walk_ruby *walk);

#endif /* __PERF_HYBRID_RUBY_FILE_H */
