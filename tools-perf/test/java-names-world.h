/* SPDX-License-Identifier: GPL-2.0 */
#ifndef JAVA_NAMES_WORLD_H
#define JAVA_NAMES_WORLD_H

/*
 * A JVM that says of its frames which methods they are of: this process.
 */
#include "java-world.h"

/* Where the interpreter has its code, from java_code_at(0). */
#define NAMED_INTERPRETER	0x3000

struct named_symbol {
	u32	hash;
	u16	length;
	u8	body[64];
};

struct named_klass {
	u64			 first;
	struct named_symbol	*name;
};

struct named_pool {
	struct named_klass	*holder;
	u32			 length;
	u16			 source;
	struct named_symbol	*entries[8];
};

struct named_const_method {
	struct named_pool	*pool;
	u32			 size;
	u32			 flags;
	u16			 code_size;
	u16			 name;
	u32			 pad;
};

/* Its bytecode, and behind that its line table. */
struct named_whole_method {
	struct named_const_method	m;
	u8				bytes[52];
};

struct named_method {
	u64				 first;
	struct named_whole_method	*m;
};

/* A description of an address, as HotSpot has it. */
struct named_desc {
	s32	pc;
	s32	scope;
	s32	objects;
	s32	flags;
};

/* What stands in the blob of a compiled method, in place of its code's end. */
struct named_tail {
	u64	scopes_data;	/* until JDK 22 */
	u64	immutable;	/* since */
	u64	mutable;
	s32	immutable_size;
	s32	mutable_size;
	s32	relocation_size;
	s32	metadata;
	s32	pcs;
	s32	dependencies;
	s32	data;
};

/* Behind 16 bytes of something else, the methods; the descriptions, and then the scopes. */
struct named_data {
	u64			 relocation[2];
	struct named_method	*metadata[4];
	struct named_desc	 pcs[5];
	u8			 scopes[64];
};

/**
 * struct named_world - the JVM, with three methods
 * @symbols: names of the class, the methods, and the source file
 * @klass: of all methods
 * @pool: of constants of @klass
 * @bodies: of @methods
 * @methods: zero(), one() and two() of org.example.Main
 * @outside: data of the compiled method, since JDK 22
 * @data: the same, of any version
 * @tail: in the blob of the compiled method, which is methods[0]
 * @version: of the JDK
 * @names: that frames are named to
 * @quota: of @names
 */
struct named_world {
	struct named_symbol		 symbols[8];
	struct named_klass		 klass;
	struct named_pool		 pool;
	struct named_whole_method	 bodies[3];
	struct named_method		 methods[3];
	struct named_data		 outside;
	struct named_data		*data;
	struct named_tail		*tail;
	u32				 version;
	struct hybrid_names		*names;
	struct hybrid_names_quota	 quota;
};

extern struct named_world named;

/* @jdk: its version, 17 or 25 */
void named_begin(u32 jdk);
void named_end(void);

/**
 * named_frame - the functions of a frame that a walk has met
 * @ip: address of the frame
 * @method: of one of the interpreter's: address of the method, or 0
 * @position: of the same: address of its bytecode
 * @out: out: HYBRID_NAMES_OF_FRAME at most, the innermost one first
 *
 * Return: how many.
 */
unsigned int named_frame(u64 ip, u64 method, u64 position, u64 *out);

/* What named_frame() returns for a place of a method, e.g. "org.example.Main.one". */
u64 named_function(const char *method, u32 bci);

/* An address in the code of the compiled method, @at bytes from its beginning on. */
u64 named_compiled(unsigned int at);

#endif /* JAVA_NAMES_WORLD_H */
