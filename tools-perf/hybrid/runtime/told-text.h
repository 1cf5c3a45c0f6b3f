/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_TOLD_TEXT_H
#define __PERF_HYBRID_TOLD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/* Pieces of a record, and bytes of each that are kept, its end included. */
#define HYBRID_TOLD_PIECES	3
#define HYBRID_TOLD_TEXT	256

/**
 * struct hybrid_told_text - a function of Perl, PHP or Ruby, as BPF has read it
 * @function: as struct hybrid_walk_function has it
 * @named: of Perl: as struct perl_sub has it; of Ruby: address of its words
 * @label: of Ruby: the first of these
 * @line: of its first line; 0: not known. Of Ruby: as the process has it
 * @size: of Ruby: number of its words
 * @is_own: of Ruby: it is a method of the class itself
 * @pieces: package or class, name, and file; each may be empty
 */
struct hybrid_told_text {
	u64	function;
	u64	named;
	u64	label;
	u32	line;
	u32	size;
	bool	is_own;
	char	pieces[HYBRID_TOLD_PIECES][HYBRID_TOLD_TEXT];
};

/**
 * hybrid_told_text_read - read a record
 * @told: out
 * @raw: struct hybrid_walk_text, which need not be aligned, or be true
 * @size: of @raw, in bytes
 *
 * Return: false if it is too short for what it says.
 */
bool hybrid_told_text_read(struct hybrid_told_text *told, const void *raw, size_t size);

#endif /* __PERF_HYBRID_TOLD_TEXT_H */
