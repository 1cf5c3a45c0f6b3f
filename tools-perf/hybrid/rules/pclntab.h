/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_PCLNTAB_H
#define __PERF_HYBRID_PCLNTAB_H

#include <stdbool.h>
#include <linux/types.h>

struct hybrid_fde;
struct hybrid_object;
struct hybrid_row;

#define HYBRID_NR_SITES	16

/**
 * struct hybrid_site - where a function is called that leaves its stack
 * @ret: a return address that the caller's frame has
 * @callee: where the function begins
 * @called: and what it has called; 0: unknown
 * @site: the return address of the call to it; 0: not known
 */
struct hybrid_site {
	u64	ret;
	u64	callee;
	u64	called;
	u64	site;
};

/**
 * struct hybrid_pclntab - the table of functions that each Go program has
 * @tried: it was looked for
 * @nr: functions; 0: there is no table
 * @at: offset in the file of the table's header
 * @size: bytes from there on that may be the table's
 * @text: address that the functions' offsets count from
 * @names: offset in the table of the functions' names
 * @pctab: and of what is encoded by address
 * @functab: and of the functions, by address
 * @flag_at: offset in a function's entry of its flags
 * @sites: what unwind/stack-switch.c found last
 */
struct hybrid_pclntab {
	bool	tried;
	u32	nr;
	u64	at;
	u64	size;
	u64	text;
	u64	names;
	u64	pctab;
	u64	functab;
	u8	flag_at;
	struct hybrid_site	sites[HYBRID_NR_SITES];
};

/**
 * hybrid_pclntab_find - look for the table of an object
 * @object: open; the table is noted in it, once
 *
 * Return: false where there is none that can be read.
 */
bool hybrid_pclntab_find(struct hybrid_object *object);

/**
 * hybrid_pclntab_read - bytes of the table
 * @object: open
 * @at: offset in the table
 * @dst: to
 * @size: so many
 *
 * Return: false where the table, or the file, has less.
 */
bool hybrid_pclntab_read(const struct hybrid_object *object, u64 at, void *dst, unsigned int size);

/**
 * hybrid_pclntab_row - the row for one address
 * @object: open, with a table
 * @vaddr: as the ELF file numbers them
 * @row: out; rule.kind is HYBRID_RULE_NONE where it may be on another stack
 *
 * Return: false where no function of the table holds @vaddr.
 */
bool hybrid_pclntab_row(struct hybrid_object *object, u64 vaddr, struct hybrid_row *row);

/**
 * hybrid_pclntab_around - the function that holds an address
 * @object: open
 * @vaddr: as the ELF file numbers them
 * @fde: out
 *
 * Return: false where there is no table, or no such function in it.
 */
bool hybrid_pclntab_around(struct hybrid_object *object, u64 vaddr, struct hybrid_fde *fde);

/**
 * hybrid_pclntab_parent - the function that a closure was written in
 * @object: open
 * @vaddr: where the closure begins
 * @fde: out
 *
 * The compiler names it after that: runtime.gcBgMarkWorker.func2 (src/cmd/compile,
 * closureName()). They are of one package, whose functions stand side by side.
 *
 * Return: false where it has no such name, or there is none near it.
 */
bool hybrid_pclntab_parent(struct hybrid_object *object, u64 vaddr, struct hybrid_fde *fde);

/**
 * hybrid_pclntab_function - the addresses of a function
 * @object: open, with a table
 * @i: below its @nr
 * @fde: out
 *
 * Return: false where the table lies.
 */
bool hybrid_pclntab_function(const struct hybrid_object *object, u32 i, struct hybrid_fde *fde);

#endif /* __PERF_HYBRID_PCLNTAB_H */
