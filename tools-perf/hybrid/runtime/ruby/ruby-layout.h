/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RUBY_LAYOUT_H
#define __PERF_HYBRID_RUBY_LAYOUT_H

#include "../walk-interpreter.h"
#include "ruby-walk.h"

/**
 * struct ruby_layout - where CRuby has what is read of it
 * @walk: what BPF reads
 * @insns: in the body of code: the lines of its instructions; 16 behind it their number, and
 *	24 behind it the table of their positions
 * @line_shift: what the first line of code is shifted by: it is an object in 3.1
 */
struct ruby_layout {
	struct hybrid_walk_ruby walk;
	u16	insns;
	u8	line_shift;
};

/**
 * ruby_layout__find - where a version has what
 * @version: what ruby_version is, e.g. "3.1.2"
 *
 * Return: NULL if the version is not known.
 */
const struct ruby_layout *ruby_layout__find(const char *version);

#endif /* __PERF_HYBRID_RUBY_LAYOUT_H */
