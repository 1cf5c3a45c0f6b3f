/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RUBY_LAYOUT_H
#define __PERF_HYBRID_RUBY_LAYOUT_H

#include "../../bpf_skel/hybrid_interpreter.h"

/**
 * struct ruby_layout - where CRuby has what is read of it
 * @walk: what BPF reads
 * @insns: in the body of code: the lines of its instructions; 16 behind it their number, and
 *	24 behind it the table of their positions
 * @attached: in a singleton class: the object that it is of; 0: it is a variable of the class
 * @classpath: in a class: its name; 0: the same
 * @has_length: a string has its length always
 */
struct ruby_layout {
	struct hybrid_walk_ruby walk;
	u16	insns;
	u16	attached;
	u16	classpath;
	bool	has_length;
};

/*
 * The same in all versions: in code, and in the entry of a method, what that has of its own; in a
 * body: number of words, the words, the file, and the name.
 */
#define RUBY_OWN	16
#define RUBY_SIZE	4
#define RUBY_ENCODED	8
#define RUBY_PATH	64
#define RUBY_LABEL	80

/**
 * ruby_layout__find - where a version has what
 * @version: what ruby_version is, e.g. "3.1.2"
 *
 * Return: NULL if the version is not known.
 */
const struct ruby_layout *ruby_layout__find(const char *version);

#endif /* __PERF_HYBRID_RUBY_LAYOUT_H */
