/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_NAMES_PRIVATE_H
#define __PERF_HYBRID_NAMES_PRIVATE_H

#include "../rules/key-table.h"
#include "names.h"

/**
 * struct names_entry - a function
 * @name: where in the text it is
 * @file: number of the source file, from 1; 0: unknown
 * @start: its first address, less that of the mapping
 * @size: number of places in it
 * @line: index of the first of its lines
 * @nr_lines: number of its lines
 */
struct names_entry {
	u32	name;
	u32	file;
	u32	start;
	u32	size;
	u32	line;
	u32	nr_lines;
};

/**
 * struct hybrid_names - the names of a runtime's functions, for one recording
 * @runtime: which one
 * @build_id: of the file
 * @by_content: finds entries
 * @entries: functions, in the order of their addresses
 * @nr: number of @entries
 * @room: for @entries
 * @by_file: finds source files
 * @files: where in @text their names are
 * @nr_files: number of @files
 * @files_room: for @files
 * @text: names of functions and files, each with a 0 at its end
 * @text_size: bytes
 * @text_room: bytes
 * @lines: line tables
 * @nr_lines: number of @lines
 * @lines_room: for @lines
 * @used: addresses that functions have
 */
struct hybrid_names {
	enum hybrid_language	 language;
	u8			 build_id[HYBRID_NAMES_BUILD_ID];
	struct hybrid_key_table	 by_content;
	struct names_entry	*entries;
	u32			 nr;
	u32			 room;
	struct hybrid_key_table	 by_file;
	u32			*files;
	u32			 nr_files;
	u32			 files_room;
	char			*text;
	u32			 text_size;
	u32			 text_room;
	struct hybrid_name_line	*lines;
	u32			 nr_lines;
	u32			 lines_room;
	u64			 used;
};

#endif /* __PERF_HYBRID_NAMES_PRIVATE_H */
