/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_CODE_CACHE_H
#define __PERF_HYBRID_CODE_CACHE_H

#include "java-walk.h"
#include "vm-structs.h"

/* HotSpot has three heaps of code, or one (CodeCache::initialize_heaps()). */
#define JAVA_MAX_HEAPS	8

enum java_blob_kind {
	JAVA_BLOB_OTHER,	/* its frames differ from address to address, or are not known */
	JAVA_BLOB_METHOD,	/* a compiled method, or the wrapper of a native one */
	JAVA_BLOB_INTERPRETER,
	JAVA_BLOB_STUB,		/* called by compiled code, with a frame of one size */
	JAVA_BLOB_VTABLE,	/* jumps to a method, without a frame */
	JAVA_BLOB_HANDLES,	/* interpreted calls by a method handle: jumps, without a frame */
	JAVA_BLOB_ADAPTER,	/* between interpreted and compiled code, without a frame */
};

/**
 * struct java_blob - a piece of the code cache
 * @addr: of struct CodeBlob in the process
 * @kind: enum java_blob_kind
 * @name: address of its name
 * @is_native: the wrapper of a native method
 * @code: address of its first instruction
 * @end: address behind its code
 * @frame_complete: bytes from @code to where the frame stands; negative: never
 * @frame_size: bytes from sp to the CFA where it stands; 0: not known
 * @osr_entry: of a method that was compiled while it ran, where its loop goes on; else 0
 * @method: address of its struct Method; 0: it is of none
 * @compile_id: number of the compilation; 0: it is of no method
 * @hash_id: what stands in the place of that, in any blob: see hybrid_java_code_hash()
 */
struct java_blob {
	u64	addr;
	u8	kind;
	u64	name;
	bool	is_native;
	u64	code;
	u64	end;
	s32	frame_complete;
	u32	frame_size;
	u64	osr_entry;
	u64	method;
	u32	compile_id;
	u32	hash_id;
};

struct java_heap {
	u64	low;
	u64	high;
	u64	segmap;
	u64	segmap_size;
	u32	segment_bits;
};

#define JAVA_NAMED	8

/**
 * struct java_blob_name - what a blob's name says
 * @addr: of the name, a constant in libjvm.so; 0: none
 * @kind: enum java_blob_kind, a stub's if the name says nothing
 * @is_native: the wrapper of a native method
 */
struct java_blob_name {
	u64	addr;
	u8	kind;
	bool	is_native;
};

/**
 * struct java_code_cache - the code that a JVM has made
 * @heaps: as they were when java_code_cache__refresh() was called last
 * @nr_heaps: number of @heaps
 * @header_size: bytes of a blob that are read
 * @block_size: bytes of its block before it
 * @heap_size: bytes of a heap that are read
 * @named: kinds of blobs, by the address of their name
 * @next_named: of @named, to be replaced
 * @fields: where they are, see code-cache.c
 */
struct java_code_cache {
	struct java_heap	heaps[JAVA_MAX_HEAPS];
	unsigned int		nr_heaps;
	u32			header_size;
	u32			block_size;
	u32			heap_size;
	struct java_blob_name	named[JAVA_NAMED];
	unsigned int		next_named;
	struct java_field	fields[32];
};

/**
 * java_code_cache__init - find the fields that are needed
 * @cache: out
 * @vm: open
 *
 * Return: 0, or -1 if the tables lack one.
 */
int java_code_cache__init(struct java_code_cache *cache, struct java_vm *vm);

/**
 * java_code_cache__refresh - read where the heaps of code are
 * @cache: of @vm
 * @vm: open
 *
 * Return: 0, or -1 if that can't be read, and they are as they were.
 */
int java_code_cache__refresh(struct java_code_cache *cache, struct java_vm *vm);

/* Bytes of all heaps: they grow, and nothing else of them changes. */
u64 java_code_cache__size(const struct java_code_cache *cache);

/* Is an address in one of the heaps? */
bool java_code_cache__has(const struct java_code_cache *cache, u64 pc);

/**
 * java_code_cache__blob_at - the address of the blob whose memory holds an address now
 * @cache: of @vm
 * @vm: open
 * @pc: address of code
 *
 * Source: CodeHeap::find_block_for() in src/hotspot/share/memory/heap.cpp.
 *
 * Return: 0 if there is none, or it can't be read.
 */
u64 java_code_cache__blob_at(const struct java_code_cache *cache, struct java_vm *vm, u64 pc);

/**
 * java_code_cache__read - read a blob
 * @cache: of @vm
 * @vm: open
 * @addr: of the blob
 * @blob: out
 *
 * Return: false if it can't be read, if it is not in use, or its sizes can't be.
 */
bool java_code_cache__read(struct java_code_cache *cache, struct java_vm *vm, u64 addr,
			   struct java_blob *blob);

/**
 * java_code_cache__describe - what a walker in the kernel needs to find blobs by itself
 * @cache: that was refreshed
 * @jvm: out, but for the address space
 *
 * Return: false if it can't: a field is too far from the beginning of its blob.
 */
bool java_code_cache__describe(const struct java_code_cache *cache,
			       struct hybrid_walk_compiled *jvm);

/* The blob whose code holds an address now; as the two above. */
bool java_code_cache__find(struct java_code_cache *cache, struct java_vm *vm, u64 pc,
			   struct java_blob *blob);

#endif /* __PERF_HYBRID_CODE_CACHE_H */
