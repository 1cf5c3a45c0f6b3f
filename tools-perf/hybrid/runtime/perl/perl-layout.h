/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_PERL_LAYOUT_H
#define __PERF_HYBRID_PERL_LAYOUT_H

#include "../walk-interpreter.h"

/**
 * struct perl_layout - where a version of Perl has what is read of it
 * @walk: what BPF reads
 * @interpreter: bytes of an interpreter
 * @packages: in an interpreter: the array of packages that statements refer to, and its size
 * @nextstate: number of the operation that a statement begins with
 * @entertry: of the one that eval with a block begins with
 */
struct perl_layout {
	struct hybrid_walk_perl walk;
	u32	interpreter;
	u16	packages;
	u16	nextstate;
	u16	entertry;
};

/**
 * perl_layout__find - where a version has what
 * @version: what PL_version is, e.g. 36
 * @interpreter: what PL_interp_size is
 *
 * Return: NULL if the version is not known, or its interpreters have another size.
 */
const struct perl_layout *perl_layout__find(unsigned int version, unsigned int interpreter);

#endif /* __PERF_HYBRID_PERL_LAYOUT_H */
