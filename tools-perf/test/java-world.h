/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __HYBRID_TEST_JAVA_WORLD_H
#define __HYBRID_TEST_JAVA_WORLD_H

#include "process.h"
#include "runtime.h"

#define JAVA_CODE	0x30000000ULL
#define JAVA_CODE_SIZE	0x10000U
#define JAVA_STACK	0x7ffc00010000ULL
#define JAVA_SEGMENT	128

/* Where a method's frame is whole, and what it takes. */
#define JAVA_FRAME	48

/* As java-world.c tells of them: of HotSpot's types only what is read. */
struct java_test_blob {
	const char	*name;
	u64		 code;
	u32		 size;
	s16		 complete;
	u16		 entry_bci;
	s32		 frame_size;
	u32		 data_offset;
	u64		 method;
	u64		 osr_entry;
	u32		 compile_id;
};

/* The same of the heap of code, and of the array of such heaps. */
struct java_test_space {
	u64	low;
	u64	high;
	u64	reserved;
};

struct java_test_heap {
	struct java_test_space	memory;
	struct java_test_space	segmap;
	u32			bits;
};

struct java_test_array {
	s32			  len;
	struct java_test_heap	**data;
};

/* The process: this one, which says that it is a JVM. */
struct java_world {
	struct hybrid_processes		 ps;
	struct hybrid_unwinder		 unwinder;
	struct hybrid_frame		 frames[16];
	struct hybrid_unwind		 u;
	u64				 stack[64];
};

/* That of the running test. */
extern struct java_world java;

/* Begins a test, with a JVM that has no code yet. */
void java_begin(void);
void java_end(void);

/*
 * More of what the process's tables have: before it is looked at for the first time. @of: the
 * field's type.
 */
void java_add_field(const char *type, const char *field, const char *of, u64 offset);
void java_add_static(const char *type, const char *field, void *address);
/* An entry of that name is changed, if there is one. */
void java_add_type(const char *name, u64 size);
void java_add_int(const char *name, s32 value);

/* The tables have no field of that name; also before. */
void java_drop_field(const char *field);

/* The next pass over the rings. */
void java_pass(void);

/*
 * Adds a blob of one segment or more, whose code are those bytes. Returns it, to be changed; it is
 * at JAVA_CODE + @at, and its code behind it, at java_code_at(@at).
 */
struct java_test_blob *java_add(unsigned int at, const char *name, const u8 *code,
				unsigned int size);
u64 java_code_at(unsigned int at);

/* Frees the blob at @at. */
void java_remove(unsigned int at);

/* So much of the heap of code is memory; at first all of what is reserved, JAVA_CODE_SIZE. */
void java_commit(unsigned int size);

/* The process ends: nothing can be read of its code any more. */
void java_gone(void);

/* Words of the process's tables, by the name of their symbol. */
u64 *java_word(const char *symbol);

/* Where a method enters a virtual thread: ContinuationEntry::_return_pc. */
u64 *java_return_pc(void);

/* A segment of the code's map. */
u8 *java_segment(unsigned int number);

/* Adds the code of calls of interpreted methods, at JAVA_CODE + @at. */
void java_add_interpreter(unsigned int at);

/*
 * What that has, from its blob's code on, where the header of a codelet stands: in the entry of a
 * method the instructions that move the return address and make the frame; code with a frame; and
 * how a frame is left.
 */
#define JAVA_ENTRY_START	16
#define JAVA_ENTRY_POP		20
#define JAVA_ENTRY_PUSH		21
#define JAVA_ENTRY_ENTER	22
#define JAVA_ENTRY_SAVE		26
#define JAVA_ENTRY_WHOLE	28
#define JAVA_LOOP		64
#define JAVA_LEAVE		80

/* Unwinds a sample at @ip; java.stack is at JAVA_STACK. Returns why it ended. */
enum hybrid_stop java_unwind(u64 ip);

#endif /* __HYBRID_TEST_JAVA_WORLD_H */
