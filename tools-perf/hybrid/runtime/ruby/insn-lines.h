/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RUBY_INSN_LINES_H
#define __PERF_HYBRID_RUBY_INSN_LINES_H

#include "../names.h"
#include "../process-memory.h"

/**
 * ruby_lines - which lines the words of code are of
 * @pm: the process
 * @insns: address of the body's struct iseq_insn_info
 * @size: words of the code
 * @lines: out, by word
 * @max: room in @lines
 *
 * CRuby's iseq.c, succ_index_table_create().
 *
 * Return: number of @lines.
 */
unsigned int ruby_lines(struct hybrid_process_memory *pm, u64 insns, u32 size,
			struct hybrid_name_line *lines, unsigned int max);

#endif /* __PERF_HYBRID_RUBY_INSN_LINES_H */
