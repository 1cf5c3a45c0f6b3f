/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_OBJECT_H
#define __PERF_HYBRID_OBJECT_H

#include <sys/stat.h>
#include <linux/list.h>
#include "arch.h"
#include "cfi.h"
#include "pages.h"
#include "pclntab.h"
#include "pinned-file.h"

#define HYBRID_BUILD_ID_SIZE	20

/**
 * struct hybrid_ident - which file a mapping shows
 *
 * Two mappings of one file, in whatever processes, have the same ident and
 * share one object and its compiled rows.
 *
 * @path: as the mapping names it; never NULL
 * @build_id_size: bytes of @build_id; 0: the numbers below tell files apart
 * @maj: device
 * @min: device
 * @ino: inode; with no build-id and inode 0, @path alone tells files apart
 * @ino_generation: of the inode
 */
struct hybrid_ident {
	const char	*path;
	u8		 build_id[HYBRID_BUILD_ID_SIZE];
	u8		 build_id_size;
	u32		 maj;
	u32		 min;
	u64		 ino;
	u64		 ino_generation;
};

struct hybrid_fde;
struct hybrid_load;
struct hybrid_mapping;
struct hybrid_objects;
struct hybrid_stored;

enum hybrid_object_state {
	HYBRID_OBJECT_NEW,	/* not opened yet, or asked for */
	HYBRID_OBJECT_READY,
	HYBRID_OBJECT_CLOSED,	/* was READY; others needed its descriptor */
	HYBRID_OBJECT_FAILED,	/* see why */
};

struct hybrid_segment {
	u64	offset;
	u64	vaddr;
	u64	size;
};

/**
 * struct hybrid_object - a mapped ELF file and its compiled rows
 * @hash: in the table of struct hybrid_objects
 * @idle: on the list of objects that no mapping shows any more
 * @idle_since: when it came there, as @objects counts time
 * @opened: on the list of those that are open
 * @objects: owner
 * @id: never used again for another object: what caches key by
 * @ident: with a path of its own
 * @refs: mappings that show it
 * @state: enum hybrid_object_state
 * @why: one line, where @state is HYBRID_OBJECT_FAILED, or samples wait no more
 * @load: it is asked for; NULL: not
 * @debug_tried: .debug_frame was looked for
 * @has_debug: and found
 * @is_old: the file was written to since; kept for the mappings it has
 * @is_copy: @fd is a copy of what is needed of the file
 * @hold: the file that it is a copy of, unless that has changed since, or was given to
 *	@stored; else nothing
 * @mtime: of the file, when opened
 * @fd: the file, -1 where it is not open
 * @elf: read, not mapped: a file cut short under a mapping would kill us
 * @dwarf: owns the CFI of .debug_frame
 * @debug_elf: the file that .debug_frame is in, read anew; NULL where there is none
 * @debug_fd: of @debug_elf; the same as @fd where that has it
 * @image: what a process has in memory, where there is no file; owned; else NULL
 * @image_size: bytes of @image
 * @jit_tried: @jit was looked for
 * @jit: address of its list of images of what it compiles, as the ELF file numbers them;
 *	0: it has none
 * @cfi: what libdw reads
 * @pclntab: what a Go program has in place of CFI
 * @segments: executable ones
 * @nr_segments: number of @segments
 * @entry: address of the code that a process begins with
 * @entry_tried: @entry_size is valid
 * @entry_size: bytes of it that have no caller, but for what has CFI
 * @rows: compiled rows by address
 * @nr_rows: number of @rows
 * @functions: its FDEs, by address, once one was asked for; owned
 * @nr_functions: number of @functions
 * @functions_read: they were asked for
 * @stored: what a kernel store was taught of it, see compiler.h; NULL for nothing
 */
struct hybrid_object {
	struct hlist_node	 hash;
	struct list_head	 idle;
	u64			 idle_since;
	struct list_head	 opened;
	struct hybrid_objects	*objects;
	u64			 id;
	struct hybrid_ident	 ident;
	unsigned int		 refs;
	u8			 state;
	bool			 debug_tried;
	bool			 has_debug;
	bool			 is_old;
	bool			 is_copy;
	struct hybrid_pinned_file	 hold;
	struct timespec		 mtime;
	const char		*why;
	struct hybrid_load	*load;
	int			 fd;
	Elf			*elf;
	Dwarf			*dwarf;
	Elf			*debug_elf;
	int			 debug_fd;
	void			*image;
	size_t			 image_size;
	bool			 jit_tried;
	u64			 jit;
	struct hybrid_cfi	 cfi;
	struct hybrid_pclntab	 pclntab;
	struct hybrid_segment	*segments;
	size_t			 nr_segments;
	u64			 entry;
	bool			 entry_tried;
	u64			 entry_size;
	struct rb_root		 rows;
	size_t			 nr_rows;
	struct hybrid_fde	*functions;
	size_t			 nr_functions;
	bool			 functions_read;
	struct hybrid_stored	*stored;
};

/* Paths of the vDSO as struct hybrid_ident has them: one for each ABI. */
#define HYBRID_VDSO_64	"[vdso]"
#define HYBRID_VDSO_32	"[vdso32]"

/**
 * typedef hybrid_open_fn - open the file that a mapping shows
 * @mapping: one that shows it now
 *
 * Return: a file descriptor, owned by the caller; -1; or HYBRID_OPEN_LATER.
 */
typedef int (*hybrid_open_fn)(const struct hybrid_mapping *mapping);

/* The file is not there yet: it is to be opened by the next who needs it. */
#define HYBRID_OPEN_LATER	(-2)

#define HYBRID_OBJECT_HASH	512

/* What was found at an address of an object; of no object: @id is 0. */
struct hybrid_found_row {
	u64			 id;
	u64			 vaddr;
	struct hybrid_row	*row;
};

struct hybrid_found_return {
	u64	id;
	u64	vaddr : 63;
	u64	is_return : 1;
};

struct hybrid_found_leads {
	u64			 id;
	u64			 ret;
	u64			 callee;
	enum hybrid_reach	 leads;
};

#define HYBRID_FOUND_LEADS_BITS		11
#define HYBRID_FOUND_ROWS_BITS		13
#define HYBRID_FOUND_RETURNS_BITS	11

/**
 * struct hybrid_objects - all objects of a session
 * @hash: by ident
 * @idle: not mapped any more, longest first; kept for the next short process
 * @nr_idle: on @idle
 * @now: when hybrid_objects_age() last looked at them, in ns
 * @opened: those that are open, the one that was asked longest ago first
 * @nr_opened: on @opened
 * @max_opened: of those that the kernel's store has not
 * @nr: objects, idle ones included
 * @nr_rows: rows compiled, of all objects
 * @last_id: of the newest object
 * @pages: code of their files
 * @found_rows: rows by object and address, whatever process they were met in
 * @found_returns: does a call stand before an address? by object and address, too
 * @found_leads: what that call leads to; by the address of the callee, too
 * @open: how to open a file
 * @find_abi: finds the ABI of an ELF file
 * @open_arg: the owner's
 * @cancel: an object goes, or is opened, that @open has said HYBRID_OPEN_LATER of
 * @waiting: the last object that @open has said that of
 * @release: an object with @stored goes
 * @release_arg: the owner's
 */
struct hybrid_objects {
	struct hlist_head	hash[HYBRID_OBJECT_HASH];
	struct list_head	idle;
	size_t			nr_idle;
	u64			now;
	struct list_head	opened;
	unsigned int		nr_opened;
	unsigned int		max_opened;
	size_t			nr;
	size_t			nr_rows;
	u64			last_id;
	struct hybrid_page	pages[1 << HYBRID_PAGES_BITS];
	struct hybrid_found_row	found_rows[1 << HYBRID_FOUND_ROWS_BITS];
	struct hybrid_found_return found_returns[1 << HYBRID_FOUND_RETURNS_BITS];
	struct hybrid_found_leads found_leads[1 << HYBRID_FOUND_LEADS_BITS];
	hybrid_open_fn		open;
	hybrid_abi_fn		find_abi;
	void			*open_arg;
	void (*cancel)(struct hybrid_object *object);
	struct hybrid_object	*waiting;
	void (*release)(struct hybrid_object *object);
	void			*release_arg;
};

/* Is the object's file asked for, and not there yet? */
static inline bool hybrid_object_waits(const struct hybrid_object *object)
{
	return object && object->load && object->state == HYBRID_OBJECT_NEW;
}

/*
 * May the file be written to in place, and be another behind the same ident? A vdso is no
 * file: what is read of it is a copy, and any process's is the same.
 */
static inline bool hybrid_object_may_change(const struct hybrid_object *object)
{
	return !object->ident.build_id_size && object->ident.path[0] != '[';
}

/* Was the file written to since it was opened first? @now is what fstat() says of it. */
static inline bool hybrid_object_was_written(const struct hybrid_object *object,
					     const struct stat *now)
{
	return now->st_mtim.tv_sec != object->mtime.tv_sec ||
	       now->st_mtim.tv_nsec != object->mtime.tv_nsec;
}

void hybrid_objects_init(struct hybrid_objects *objects, hybrid_open_fn open,
			 hybrid_abi_fn find_abi);
void hybrid_objects_exit(struct hybrid_objects *objects);

/**
 * hybrid_object_get - the object of an ident, with a reference
 * @objects: session
 * @ident: copied
 *
 * Return: the object, to be given back by hybrid_object_put(), or NULL where
 * memory is short.
 */
struct hybrid_object *hybrid_object_get(struct hybrid_objects *objects,
					const struct hybrid_ident *ident);
void hybrid_object_put(struct hybrid_object *object);

/**
 * hybrid_object_new - an object that is not opened yet
 * @objects: session; it is not among what hybrid_object_get() finds
 * @ident: copied
 *
 * Return: the object, to be given to hybrid_object_free(); NULL where memory is short.
 */
struct hybrid_object *hybrid_object_new(struct hybrid_objects *objects,
					const struct hybrid_ident *ident);

/**
 * hybrid_object_open - read an object from a file
 * @object: new, or closed
 * @fd: the file; the object's from now on; -1: there is none
 *
 * One that is closed must find the file as it was.
 *
 * Return: 0; -1 where it can't be read (its state is then HYBRID_OBJECT_FAILED, or
 * HYBRID_OBJECT_CLOSED still).
 */
int hybrid_object_open(struct hybrid_object *object, int fd);

/**
 * hybrid_object_of_image - an object that no file has
 * @objects: session
 * @image: an ELF file; the object's from now on, freed where there is none
 * @size: bytes of @image
 *
 * Only its CFI is of use: addresses are those of the process that @image was read from.
 *
 * Return: the object, to be given to hybrid_object_free(); NULL where it can't be read,
 * or memory is short.
 */
struct hybrid_object *hybrid_object_of_image(struct hybrid_objects *objects, void *image,
					     size_t size);
void hybrid_object_free(struct hybrid_object *object);

/**
 * hybrid_object_close - give up the descriptor, and what libelf and libdw hold
 * @object: what was compiled of it stays; its state is the caller's to set
 */
void hybrid_object_close(struct hybrid_object *object);

/**
 * hybrid_objects_close_one - give a descriptor back
 * @objects: session
 *
 * Closes the object that was asked longest ago. What was compiled of it stays.
 *
 * Return: false where none can be closed.
 */
bool hybrid_objects_close_one(struct hybrid_objects *objects);

/* How long an object that nobody maps stays open, in ns; it is looked at each second. */
#define HYBRID_OBJECT_IDLE	10000000000ULL
#define HYBRID_OBJECT_AGE	1000000000ULL

/**
 * hybrid_objects_age - close objects that nobody has mapped for long
 * @objects: session
 * @now: on any clock that goes on, in ns
 *
 * What was compiled of one stays for the next process, if a build-id tells that it is
 * the same file; without one the object goes. What a store was taught of stays open:
 * the next process would have it taught anew.
 */
void hybrid_objects_age(struct hybrid_objects *objects, u64 now);

/**
 * hybrid_object_offset - where an address of the ELF file is in the file
 * @object: open
 * @vaddr: as the ELF file numbers them
 * @offset: out: bytes
 *
 * Return: false where no executable segment holds @vaddr.
 */
bool hybrid_object_offset(const struct hybrid_object *object, u64 vaddr, u64 *offset);

/**
 * hybrid_object_vaddr - where a place in the file is in the ELF file's addresses
 * @object: open
 * @offset: bytes
 * @vaddr: out
 *
 * Return: false where no executable segment holds @offset.
 */
bool hybrid_object_vaddr(const struct hybrid_object *object, u64 offset, u64 *vaddr);

#endif /* __PERF_HYBRID_OBJECT_H */
