/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __HYBRID_TEST_JIT_WORLD_H
#define __HYBRID_TEST_JIT_WORLD_H

#include <elf.h>
#include "process.h"
#include "unwind.h"

#define PAGE	4096UL
#define CODE	0x10000000UL
#define STACK	0x7ffc00010000ULL

/* As GDB's interface has them ("JIT Compilation Interface", in its manual). */
struct jit_entry {
	u64	next;
	u64	prev;
	u64	addr;
	u64	size;
};

struct jit_descriptor {
	u32	version;
	u32	action;
	u64	relevant;
	u64	first;
};

/* What the process says: the list that @descriptor begins, and an image of its code. */
struct jit_world {
	struct hybrid_processes	 ps;
	struct hybrid_unwinder	 unwinder;
	struct hybrid_frame	 frames[16];
	struct hybrid_unwind	 u;
	struct jit_descriptor	*descriptor;
	struct jit_entry	 entries[4];
	u64			 stack[64];
	u8			*image;
	size_t			 image_size;
	const char		*image_name;
};

/* That of the running test. */
extern struct jit_world jit;

/* Begins a test: the list has one image, of that file, whose code is at its addresses. */
void jit_begin(const char *name);
/* Frees all that, and looks that no rows are left. */
void jit_end(void);

/* The next pass over the rings. */
void jit_pass(void);

/* The address of a label of the image. */
u64 jit_at(const char *label);

/* An entry of the list, with neither neighbour. */
void jit_say(struct jit_entry *entry, const void *addr, u64 size);

/* Unwinds from leaf(), which middle() has called, which root() has called. */
enum hybrid_stop jit_unwind_leaf(void);
/* Does that lead to the root? */
bool jit_is_known(void);

/* The header of a section of the image. */
Elf64_Shdr *jit_section(const char *name);

/*
 * Relocates an image that is not linked: where its sections are loaded, and nowhere else.
 * The image has no more than their addresses. Returns where .eh_frame is.
 */
u8 *jit_load(void);

#endif /* __HYBRID_TEST_JIT_WORLD_H */
