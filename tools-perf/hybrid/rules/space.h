/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_SPACE_H
#define __PERF_HYBRID_SPACE_H

#include <sys/types.h>
#include "object.h"

/*
 * How the name begins of the mapping with the kernel's code for optimized uprobes, from
 * Linux 6.18 on: [uprobes-trampoline], of which a record has 15 characters.
 */
#define HYBRID_UPROBES	"[uprobes-trampo"

/* A compiler's driver, the shell that make started, and make. */
#define HYBRID_NR_ANCESTORS	3

/**
 * struct hybrid_mapping - an executable mapping
 * @start: first address
 * @end: address behind the last
 * @pgoff: offset of @start in the file, in bytes
 * @since: hybrid_space_map() sets it: of two mappings of a space the newer one has more
 * @pid: a process that has it, for /proc/PID
 * @ancestors: of that process, the nearest first, for the files that it had in its root when it
 *	is gone; 0: none is known
 * @object: the file, referenced; NULL: anonymous memory, code made at run time
 * @record: what stood for the file before @object was found, referenced if it is another: it has
 *	the ident of the mapping's record. NULL: @object stands for it still, see identify.h
 * @file: which file it shows, as it was found for @object; no file: not known
 * @number: of that file among those with its ident, see struct hybrid_met_file
 * @is_moved: what the process has mapped there by now was found to be another file
 * @is_uprobes: the kernel's code that optimized uprobes call
 * @is_copy: anonymous memory in the place of a part of @object's file, with the same contents
 * @is_asked: whether it is that was looked at, see hybrid_copied_text()
 * @is_told: a record of the file that it is a copy of was written
 * @is_met: its file is noted as one that samples were in, see struct hybrid_met
 */
struct hybrid_mapping {
	u64			 start;
	u64			 end;
	u64			 pgoff;
	u64			 since;
	pid_t			 pid;
	pid_t			 ancestors[HYBRID_NR_ANCESTORS];
	struct hybrid_object	*object;
	struct hybrid_object	*record;
	struct hybrid_file_id	 file;
	u32			 number;
	bool			 is_moved;
	bool			 is_uprobes;
	bool			 is_copy;
	bool			 is_asked;
	bool			 is_told;
	bool			 is_met;
};

/* What the mapping's record says of its file; @object may be that of another with its rows. */
static inline const struct hybrid_ident *hybrid_mapping_ident(const struct hybrid_mapping *mapping)
{
	return mapping->record ? &mapping->record->ident : &mapping->object->ident;
}

/**
 * struct hybrid_space - the executable mappings of an address space
 *
 * Shared by the processes that fork made, until one of them changes it.
 *
 * @refs: processes
 * @gen: number of this state of this space, never used again for another: what
 *	caches key by
 * @mappings: by address, none overlapping
 * @nr: of @mappings
 * @alloc: room in @mappings
 * @entries_id: number of the object with code of a runtime to whose functions' first instructions
 *	frames return, though no call stands before them; 0: there is none
 * @entries: offset of that code in the file; all functions begin at a multiple of
 *	HYBRID_ENTRY_ALIGN
 * @entries_end: offset behind it
 */
struct hybrid_space {
	unsigned int		 refs;
	u64			 gen;
	struct hybrid_mapping	*mappings;
	size_t			 nr;
	size_t			 alloc;
	u64			 entries_id;
	u64			 entries;
	u64			 entries_end;
};

/**
 * hybrid_space_new - an empty space with one reference
 *
 * Return: the space, or NULL where memory is short.
 */
struct hybrid_space *hybrid_space_new(void);

/**
 * hybrid_space_copy - a copy with references of its own to the objects
 * @space: of which
 *
 * Return: the copy, or NULL where memory is short.
 */
struct hybrid_space *hybrid_space_copy(const struct hybrid_space *space);

void hybrid_space_put(struct hybrid_space *space);
void hybrid_space_clear(struct hybrid_space *space);

/**
 * hybrid_space_map - a new mapping, as the kernel makes them: what it overlaps
 *	is cut or gone
 * @space: with one reference, the caller's
 * @new: an empty range is no error; its object is referenced here
 * @exec: false: only cut what it overlaps
 *
 * Return: 0, or -ENOMEM (then nothing has changed).
 */
int hybrid_space_map(struct hybrid_space *space, const struct hybrid_mapping *new, bool exec);

/**
 * hybrid_mapping_replaces - is a mapping what a library was loaded as again?
 * @mapping: of a file
 * @old: another one of the same space
 *
 * Events have no record of munmap(), so the mappings of a library that dlclose() has unmapped stay
 * in the space. Other mappings of a part of the file, such as V8's, replace nothing.
 *
 * Return: true if @mapping is newer, and has all of the file that @old has.
 */
bool hybrid_mapping_replaces(const struct hybrid_mapping *mapping,
			     const struct hybrid_mapping *old);

/**
 * hybrid_space_find - the mapping that holds an address
 * @space: to look in
 * @ip: any address
 *
 * Its file is identified now if it was not yet.
 *
 * Return: the mapping, valid until @space changes, or NULL.
 */
const struct hybrid_mapping *hybrid_space_find(struct hybrid_space *space, u64 ip);

/**
 * hybrid_space_at - the mapping that holds an address, as its record told of it
 * @space: to look in
 * @ip: any address
 *
 * Its file is not identified by that.
 *
 * Return: the mapping, valid until @space changes, or NULL.
 */
struct hybrid_mapping *hybrid_space_at(const struct hybrid_space *space, u64 ip);

/**
 * hybrid_space_beside - the mapping of a file that ends or begins where another mapping does
 * @space: of both
 * @mapping: anonymous memory
 * @behind: the one behind it is asked for, else the one before
 *
 * Return: the mapping, its file identified; NULL where there is none.
 */
const struct hybrid_mapping *hybrid_space_beside(struct hybrid_space *space,
						 const struct hybrid_mapping *mapping,
						 bool behind);

/**
 * hybrid_space_set_copy - a mapping is a copy of a part of a file
 * @space: changed by that
 * @start: of the mapping, anonymous memory
 * @object: the file, referenced here
 * @record: as struct hybrid_mapping has it, referenced here
 * @pgoff: what it is a copy of, in bytes from the start of the file
 */
void hybrid_space_set_copy(struct hybrid_space *space, u64 start, struct hybrid_object *object,
			   struct hybrid_object *record, u64 pgoff);

/**
 * hybrid_mapping_bias - what is added to a file's addresses where a mapping shows it
 * @mapping: with an object that is open
 * @bias: out
 *
 * By the segment that the mapping shows: it may begin behind the mapping, or before it.
 *
 * Return: false if it shows none.
 */
bool hybrid_mapping_bias(const struct hybrid_mapping *mapping, u64 *bias);

/* hybrid_copied_text() need not look at the mapping that holds an address again. */
void hybrid_space_set_asked(struct hybrid_space *space, u64 ip);

#define HYBRID_ENTRY_ALIGN	64

/**
 * hybrid_space_is_entry - is a return address the first one of such a function?
 * @space: of the process
 * @mapping: of it, that holds @ret
 * @ret: return address
 *
 * V8 replaces a frame of compiled code that is no longer valid by one of the interpreter. It makes
 * that frame's callee return to a builtin that goes on with the bytecode. Builtins may be mapped
 * twice (src/codegen/code-range.cc: CodeRange::RemapEmbeddedBuiltins()).
 */
bool hybrid_space_is_entry(const struct hybrid_space *space, const struct hybrid_mapping *mapping,
			   u64 ret);

/**
 * hybrid_space_is_framed - does all code there that calls keep a frame with bp?
 * @space: of the process
 * @mapping: of it, that holds @ip
 * @ip: address of a call
 *
 * V8's builtins, wherever they are mapped, and what it has compiled, which is in no file:
 * src/execution/frame-constants.h. Its stack walker relies on bp, too (src/execution/frames.cc:
 * StackFrameIteratorBase). Other code that a process with V8 compiles is taken for V8's.
 *
 * Return: true if it does. Code of a call alone: a function that calls none may have no frame.
 */
bool hybrid_space_is_framed(const struct hybrid_space *space, const struct hybrid_mapping *mapping,
			    u64 ip);

#endif /* __PERF_HYBRID_SPACE_H */
