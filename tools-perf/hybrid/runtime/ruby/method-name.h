/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RUBY_METHOD_NAME_H
#define __PERF_HYBRID_RUBY_METHOD_NAME_H

#include "ruby-symbols.h"

/* With the class. */
#define RUBY_NAME	(2 * RUBY_TEXT)

/**
 * ruby_entry_name - the name of a method
 * @pm: the process
 * @layout: of its CRuby
 * @symbols: of the process
 * @entry: of the method
 * @out: out, room for RUBY_NAME: "Array#each", "Process.clock_gettime"
 *
 * Return: false if it can't be read.
 */
bool ruby_entry_name(struct hybrid_process_memory *pm, const struct ruby_layout *layout,
		     const struct ruby_symbols *symbols, u64 entry, char *out);

#endif /* __PERF_HYBRID_RUBY_METHOD_NAME_H */
