/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_NAMES_H
#define __PERF_HYBRID_NAMES_H

#include <stddef.h>
#include <linux/types.h>
#include "walk-interpreter.h"

/*
 * Names of frames that no file of the sampled process has: methods of Java and Ruby, functions
 * of Python. Each function gets a range of synthetic addresses. The callchain has an address of
 * that range, perf.data maps the ranges of a runtime in each process that uses them, and an
 * ELF file in perf's build-id cache has a symbol and a line table for them.
 *
 * No process has a mapping there: bit 56 is set and bit 63 is not, which is no canonical
 * address, with page tables of four levels and of five.
 */
#define HYBRID_NAMES_START	0x0100000000000000ULL
#define HYBRID_NAMES_SIZE	0x40000000ULL
#define HYBRID_NAMES_BUILD_ID	20

/* Functions, bytes of names and lines, and addresses that all processes may use. */
#define HYBRID_NAMES_NR			262144U
#define HYBRID_NAMES_BYTES		(64UL << 20)
/* One process may use this part of each. */
#define HYBRID_NAMES_SHARE		4
/* Bytes of one name, after control characters were escaped; a longer one is cut off. */
#define HYBRID_NAME_MAX			512
/* Places in one function: 64 KiB of bytecode in Java. */
#define HYBRID_NAMES_INDEXES		65536U
/* Entries of one function's line table; the others are dropped. */
#define HYBRID_NAMES_LINES		4096

struct hybrid_names;

/* An entry of a line table: the place @index, and those up to the next entry, are of @line. */
struct hybrid_name_line {
	u32	index;
	u32	line;
};

/**
 * struct hybrid_function - a function of a runtime, as its reader describes it
 * @name: the text that tools show, e.g. "java.util.HashMap.put"; may hold any byte but 0
 * @file: the source file, e.g. "java/util/HashMap.java"; NULL: unknown
 * @size: number of places in it: bytes of bytecode, or instructions; 0 counts as 1
 * @lines: its line table, in any order
 * @nr_lines: number of @lines
 */
struct hybrid_function {
	const char			*name;
	const char			*file;
	u32				 size;
	const struct hybrid_name_line	*lines;
	unsigned int			 nr_lines;
};

/**
 * struct hybrid_names_quota - what one process has added
 * @functions: number
 * @bytes: of names and line tables
 * @addresses: number
 * @refused: functions that were over the bounds, its own or those of all processes
 */
struct hybrid_names_quota {
	u32	functions;
	size_t	bytes;
	u64	addresses;
	u64	refused;
};

/**
 * hybrid_names__new - the names of a runtime's functions, for one recording
 * @runtime: decides about the addresses and the name of the mapping
 *
 * Return: an empty set; NULL if memory is short, or if no build-id can be made.
 */
struct hybrid_names *hybrid_names__new(enum hybrid_language language);

void hybrid_names__delete(struct hybrid_names *names);

/**
 * hybrid_names__function - the synthetic address of a function
 * @names: of its runtime
 * @quota: of the process that the function was found in; counts what is new
 * @function: name, file, size and lines; copied
 *
 * Two functions that are alike in all of it have one address, so that processes which run
 * the same program share their names.
 *
 * Return: the address of its first byte, for hybrid_names_ip(); 0 if there is no room.
 */
u64 hybrid_names__function(struct hybrid_names *names, struct hybrid_names_quota *quota,
			   const struct hybrid_function *function);

/**
 * hybrid_names_ip - the address of a frame
 * @function: from hybrid_names__function()
 * @size: of the function, as it was given there
 * @index: of the instruction that runs, or that has called; the last one if it is too large
 *
 * An instruction has two addresses, and a frame has the second of them. Some tools look a
 * caller up at its address and some at its address - 1: both find the instruction.
 */
static inline u64 hybrid_names_ip(u64 function, u32 size, u32 index)
{
	if (index >= size)
		index = size ? size - 1 : 0;
	return function + 2 * (u64)index + 1;
}

/* "java-methods": what tools show as the object that the functions are in. */
const char *hybrid_names__label(const struct hybrid_names *names);

/* DW_LANG_* of their language; 0: it has none. */
u16 hybrid_names__dwarf(const struct hybrid_names *names);

/*
 * Which native function's frame only runs the function of the language whose address comes next in
 * a callchain: "": any one; NULL: none.
 */
const char *hybrid_names__evaluator(enum hybrid_language language);

/* Address of the first byte of the mapping, which has HYBRID_NAMES_SIZE bytes. */
u64 hybrid_names__start(const struct hybrid_names *names);

/*
 * The mapping's offset in the file. libdw takes a file's addresses to begin at 0x10000
 * (OFFLINE_REDZONE), and perf's libdw__addr2line() finds no line at lower ones.
 */
#define HYBRID_NAMES_OFFSET	0x10000ULL

/* HYBRID_NAMES_BUILD_ID bytes. */
const u8 *hybrid_names__build_id(const struct hybrid_names *names);

/* How many functions there are: more than before means that the file is to be written. */
u32 hybrid_names__nr(const struct hybrid_names *names);

/**
 * hybrid_names__get - one of the functions
 * @names: that it is of
 * @number: less than hybrid_names__nr()
 * @start: out: its first address, less hybrid_names__start()
 * @size: out: number of addresses
 *
 * Return: its name, valid until the next function is added.
 */
const char *hybrid_names__get(const struct hybrid_names *names, u32 number, u64 *start, u64 *size);

#endif /* __PERF_HYBRID_NAMES_H */
