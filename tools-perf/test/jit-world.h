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

/* The list has one image, that file, the code of which is where it says; and all of it gone. */
void jit_begin(const char *name, pid_t pid);
void jit_end(void);

/* The next pass over the rings. */
void jit_pass(void);

/* The address of a label of the image. */
u64 jit_at(const char *label);

void jit_say(struct jit_entry *entry, const void *addr, u64 size);

/* In leaf(), which middle() has called, which root() has called. */
enum hybrid_stop jit_unwind_leaf(void);
bool jit_is_known(void);

Elf64_Shdr *jit_section(const char *name);

/*
 * The linker's work, in memory alone: only where sections are does the image say. Returns
 * where .eh_frame is.
 */
u8 *jit_load(void);

#endif /* __HYBRID_TEST_JIT_WORLD_H */
