/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_PYTHON_CODE_OBJECT_H
#define __PERF_HYBRID_PYTHON_CODE_OBJECT_H

#include "../../rules/key-table.h"
#include "../names.h"
#include "layout.h"

/**
 * struct python_code - what is known of a code object
 * @key: its address and mark, as struct hybrid_walk_function has them; 0: none
 * @words: what it has, which shows that it is still the same one: the addresses of file name, name
 *	and line table, and the first line
 * @is_told: BPF has read its texts, and has looked whether it is the same one
 * @checked: when @words were compared with the process, in ns
 * @size: number of instructions
 * @function: see hybrid_names__function()
 */
struct python_code {
	u64	key;
	u64	words[4];
	bool	is_told;
	u64	checked;
	u32	size;
	u64	function;
};

/**
 * struct python_codes - the code objects of a process
 * @pm: the process
 * @parent: the one whose copy it is, if it is one: what @pm can't be asked for any more that may
 *	have still, under the same address; else its pid is 0
 * @layout: of its CPython
 * @type: address of PyCode_Type
 * @quota: what was added to the names
 * @known: struct python_code, by key
 */
struct python_codes {
	struct hybrid_process_memory	*pm;
	struct hybrid_process_memory	 parent;
	const struct python_layout	*layout;
	u64				 type;
	struct hybrid_names_quota	 quota;
	struct hybrid_key_table		 known;
};

/* Frees what belongs to it. */
void python_codes__exit(struct python_codes *codes);

/**
 * python_codes__inherit - a process begins with the code objects of another
 * @codes: empty, but for its @pm
 * @parent: of which the process is a copy
 *
 * Where memory is short it begins without.
 */
void python_codes__inherit(struct python_codes *codes, const struct python_codes *parent);

/**
 * python_codes__text - take the names of a code object that BPF has read
 * @codes: of the process
 * @names: that the function is added to
 * @raw: struct hybrid_walk_text, which need not be aligned, or be true
 * @size: of @raw, in bytes
 *
 * It has these names in samples from now on, and is not read any more.
 */
void python_codes__text(struct python_codes *codes, struct hybrid_names *names, const void *raw,
			size_t size);

/**
 * python_codes__ip - the address of a frame that runs a code object
 * @codes: of the process
 * @names: that the function is added to
 * @function: the code object, as struct hybrid_walk_function has it
 * @position: where in it, as a frame has it
 *
 * The memory may be another object's since the sample. That shows by the mark, for all but one in
 * 65,536; and once a second the object is looked at again, unless BPF has read its names.
 *
 * Return: by hybrid_names_ip(); 0 if it can't be read, or is another one.
 */
u64 python_codes__ip(struct python_codes *codes, struct hybrid_names *names, u64 function,
		     u64 position);

#endif /* __PERF_HYBRID_PYTHON_CODE_OBJECT_H */
