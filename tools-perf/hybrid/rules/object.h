/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_OBJECT_H
#define __PERF_HYBRID_OBJECT_H

#include <linux/list.h>
#include "arch.h"
#include "cfi.h"
#include "file-budget.h"
#include "file-id.h"
#include "ident.h"
#include "pages.h"
#include "pclntab.h"
#include "pinned-file.h"

struct hybrid_comparison;
struct hybrid_fde;
struct hybrid_load;
struct hybrid_mapping;
struct hybrid_object_sections;
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
 * @hash: in the table of struct hybrid_objects, by @file, or by @ident where that is not known
 * @namesake: in the table of struct hybrid_objects of files with a build-id
 * @idle: on the list of objects that no mapping shows any more
 * @idle_since: when it came there, as @objects counts time
 * @opened: on the list of those that are open
 * @objects: owner
 * @id: never used again for another object: what caches key by
 * @ident: with a path of its own
 * @file: the file, when it was identified or opened first
 * @refs: mappings that show it
 * @state: enum hybrid_object_state
 * @why: one line, where @state is HYBRID_OBJECT_FAILED, or samples wait no more
 * @load: it is asked for; NULL: not
 * @debug_tried: .debug_frame was looked for
 * @has_debug: and found
 * @is_old: the file was changed since, or is not found for other mappings; what it is has to
 *	be asked anew
 * @is_settled: mappings that show it may go on to use it without hybrid_identify()
 * @same: one that is a copy of what the file holds, referenced; its rows serve this one's
 *	mappings. While @comparison is under way: one whose file may hold the same
 * @comparison: of the file with that of @same; NULL: none is under way
 * @is_copy: @fd is a copy of what is needed of the file
 * @is_shared: its rows serve mappings of other files, too. Without @file: a copy that was made
 *	for that, and is none's own
 * @is_late: samples wait for the result of @comparison no more
 * @hold: the file that it is a copy of, unless that has changed since, or was given to
 *	@stored; else nothing
 * @fd: the file, -1 where it is not open
 * @user: whose share what is read of the file is of; NULL: there is no bound
 * @copied: bytes of HYBRID_FILE_COPIES that @fd takes
 * @is_left_out: the user was over his share: the chain ends here
 * @retry: when perf tries to open it again, in ns by the clock of the budget
 * @over: for want of what, if its open said EDQUOT
 * @was_left_out: that was counted
 * @elf: its headers, from hybrid_elf_begin(); all of @image
 * @sections: others of its sections that were read; see hybrid_object_section()
 * @dwarf: owns the CFI of .debug_frame
 * @debug_elf: a file in memory that has .debug_frame; NULL where there is none
 * @has_debug_file: it is of a separate file
 * @image: what a process has in memory, where there is no file; owned; else NULL
 * @image_size: bytes of @image
 * @jit_tried: @jit was looked for
 * @jit: address of its list of images of what it compiles, as the ELF file numbers them;
 *	0: it has none
 * @runtime_tried: @runtime was looked for
 * @runtime: number of the runtime that the file is of, from 1 on; 0: of none
 * @runtime_met: a walk came through it, and it is of a runtime
 * @interpreter_told: it has no frames that BPF reads, or BPF was told where they are
 * @cfi: what libdw reads
 * @compiled_at: when a row was compiled last, by struct hybrid_objects::now
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
 * @functions_size: bytes of memory that they take
 * @functions_user: of whose share
 * @functions_read: they were asked for
 * @stored: what was loaded of it into a store, see compiler.h; NULL for nothing
 */
struct hybrid_object {
	struct hlist_node	 hash;
	struct hlist_node	 namesake;
	struct list_head	 idle;
	u64			 idle_since;
	struct list_head	 opened;
	struct hybrid_objects	*objects;
	u64			 id;
	struct hybrid_ident	 ident;
	struct hybrid_file_id	 file;
	unsigned int		 refs;
	u8			 state;
	bool			 debug_tried;
	bool			 has_debug;
	bool			 is_old;
	bool			 is_settled;
	bool			 is_copy;
	bool			 is_shared;
	bool			 is_late;
	struct hybrid_object	*same;
	struct hybrid_comparison *comparison;
	struct hybrid_pinned_file	 hold;
	const char		*why;
	struct hybrid_load	*load;
	int			 fd;
	struct hybrid_file_user	*user;
	u64			 copied;
	bool			 is_left_out;
	bool			 was_left_out;
	u64			 retry;
	enum hybrid_file_cost	 over;
	Elf			*elf;
	struct hybrid_object_sections *sections;
	Dwarf			*dwarf;
	Elf			*debug_elf;
	bool			 has_debug_file;
	void			*image;
	size_t			 image_size;
	bool			 jit_tried;
	bool			 runtime_tried;
	u8			 runtime;
	bool			 runtime_met;
	bool			 interpreter_told;
	u64			 jit;
	struct hybrid_cfi	 cfi;
	u64			 compiled_at;
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
	u64			 functions_size;
	struct hybrid_file_user	*functions_user;
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

/**
 * typedef hybrid_identify_fn - find out which file a mapping shows, without waiting for anyone
 * @mapping: one that shows it now, or did; @is_moved: by its path alone
 * @id: out
 *
 * Return: 0; -1 where that can't be found so.
 */
typedef int (*hybrid_identify_fn)(const struct hybrid_mapping *mapping,
				  struct hybrid_file_id *id);

/**
 * struct hybrid_compare_ops - do two files hold the same?
 * @start: compares the files of two objects that are open, in the background; NULL where
 *	that can't be begun now
 * @result: 1: they do; 0: they don't, or one was changed meanwhile; -EINPROGRESS
 * @copy: of what both hold, for the caller to close; -1 where one of the objects is a copy;
 *	@hold: the file that it is a copy of, the caller's; @size: bytes of HYBRID_FILE_COPIES
 *	that it takes, of the share of the first object's user
 * @end: of no use any more, whether there is a result or not
 */
struct hybrid_compare_ops {
	struct hybrid_comparison *(*start)(const struct hybrid_object *a,
					   const struct hybrid_object *b);
	int (*result)(const struct hybrid_comparison *comparison);
	int (*copy)(struct hybrid_comparison *comparison, struct hybrid_pinned_file *hold,
		    u64 *size);
	void (*end)(struct hybrid_comparison *comparison);
};

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
 * @hash: by file, or by ident where that is not known
 * @namesakes: those with a build-id, by that
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
 * @identify: how to find out which file a mapping shows. NULL: records alone tell files apart,
 *	by their idents
 * @compare: how to find out whether two files hold the same; NULL: none has another's rows
 * @find_abi: finds the ABI of an ELF file
 * @budget: what the files may cost; NULL: there are no bounds
 * @user_of: finds whose share the file of a mapping is of; NULL: that of who runs this
 * @open_path: opens a regular file without waiting for anyone, -1 if it can't; NULL:
 *	hybrid_open_regular()
 * @fetch: asks debuginfod for a debug file; as @open. NULL: hybrid_debuginfod_find(), which waits
 * @open_arg: the owner's
 * @cancel: an object goes, or is opened, that @open has said HYBRID_OPEN_LATER of
 * @waiting: the last object that @open has said that of, or of which a row was asked for that
 *	waits for a comparison
 * @release: an object with @stored goes
 * @release_arg: the owner's
 */
struct hybrid_objects {
	struct hlist_head	hash[HYBRID_OBJECT_HASH];
	struct hlist_head	namesakes[HYBRID_OBJECT_HASH];
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
	hybrid_identify_fn	identify;
	const struct hybrid_compare_ops *compare;
	hybrid_abi_fn		find_abi;
	struct hybrid_file_budget *budget;
	struct hybrid_file_user	*(*user_of)(const struct hybrid_mapping *mapping);
	int (*open_path)(struct hybrid_objects *objects, const char *path);
	int (*fetch)(struct hybrid_object *object, const u8 *build_id, size_t size);
	void			*open_arg;
	void (*cancel)(struct hybrid_object *object);
	struct hybrid_object	*waiting;
	void (*release)(struct hybrid_object *object);
	void			*release_arg;
};

/* Is it open, and not known yet whether another object's rows serve its mappings? */
static inline bool hybrid_object_is_compared(const struct hybrid_object *object)
{
	return !object->is_settled && object->state == HYBRID_OBJECT_READY && !object->is_old &&
	       (object->comparison ? !object->is_late : !object->same);
}

/* Is it no file, or are files told apart by their idents? Then it is compared with no other one. */
static inline bool hybrid_object_is_alone(const struct hybrid_object *object)
{
	return !object->objects->identify || object->ident.path[0] == '[';
}

/*
 * Do samples wait for the object's file, or for what it is compared with? True also for a file that
 * was left out, as its user was over his share.
 */
static inline bool hybrid_object_waits(const struct hybrid_object *object)
{
	bool is_unread = object && (object->state == HYBRID_OBJECT_NEW ||
				    (object->state == HYBRID_OBJECT_READY && !object->debug_tried));

	return object && ((object->load && is_unread) || object->is_left_out ||
			  hybrid_object_is_compared(object));
}

/* A copy that was made to serve several files. */
static inline bool hybrid_object_is_made(const struct hybrid_object *object)
{
	return object->is_shared && !object->file.ino;
}

/*
 * May another file come to be behind the same ident? A vdso is no file: what is read of it is
 * a copy, and any process's is the same. A file that a build-id finds, long after it was
 * mapped, has other numbers each time.
 */
static inline bool hybrid_object_may_change(const struct hybrid_object *object)
{
	return object->ident.path[0] != '[' &&
	       (!object->ident.build_id_size || object->objects->identify);
}

void hybrid_objects_init(struct hybrid_objects *objects, hybrid_open_fn open,
			 hybrid_abi_fn find_abi);
void hybrid_objects_exit(struct hybrid_objects *objects);

/* Rows of objects whose mappings use those of another one: they were compiled twice. */
size_t hybrid_objects_out_of_use(const struct hybrid_objects *objects);

/**
 * hybrid_object_get - the object of an ident, with a reference
 * @objects: session
 * @ident: copied
 *
 * Where @objects->identify is set the object only stands for one until hybrid_identify()
 * knows the file.
 *
 * Return: the object, to be given back by hybrid_object_put(), or NULL where
 * memory is short.
 */
struct hybrid_object *hybrid_object_get(struct hybrid_objects *objects,
					const struct hybrid_ident *ident);
void hybrid_object_put(struct hybrid_object *object);

/**
 * hybrid_object_of_file - the object of a file, with a reference
 * @objects: session
 * @ident: what the mapping's record says of it
 * @file: the file
 *
 * Return: as hybrid_object_get().
 */
struct hybrid_object *hybrid_object_of_file(struct hybrid_objects *objects,
					    const struct hybrid_ident *ident,
					    const struct hybrid_file_id *file);

/* As hybrid_object_of_file(), without a reference. Return: NULL if there is no such object yet. */
struct hybrid_object *hybrid_object_known(struct hybrid_objects *objects,
					  const struct hybrid_ident *ident,
					  const struct hybrid_file_id *file);

/**
 * hybrid_object_is_other - is a file known to be another than a record tells of?
 * @objects: session
 * @ident: what the record says
 * @file: the file
 *
 * Return: true: it was opened, and has another build-id.
 */
bool hybrid_object_is_other(struct hybrid_objects *objects, const struct hybrid_ident *ident,
			    const struct hybrid_file_id *file);

/**
 * hybrid_object_namesake - an object that may hold the same
 * @object: with a build-id
 *
 * Return: an older object with that build-id, open, with a reference; NULL: there is none that
 * does not use another's rows itself.
 */
struct hybrid_object *hybrid_object_namesake(struct hybrid_object *object);

/**
 * hybrid_object_of_copy - an object that may serve mappings of several files
 * @of: one whose file holds what was copied
 * @fd: the copy, which nobody else can write to; the object's from now on
 * @hold: the file that it is a copy of; the object's from now on
 * @size: bytes of HYBRID_FILE_COPIES that it takes; the object's from now on
 *
 * Return: the object, with a reference; hybrid_object_namesake() finds it. NULL where memory
 * is short, or it can't be read.
 */
struct hybrid_object *hybrid_object_of_copy(const struct hybrid_object *of, int fd,
					    const struct hybrid_pinned_file *hold, u64 size);

/**
 * hybrid_object_share - let an object's rows serve mappings of other files
 * @object: open; nobody can write to its file, or it is a copy
 *
 * It stays open: these mappings could not open it again.
 */
void hybrid_object_share(struct hybrid_object *object);

/* An object uses no other's rows any more. */
void hybrid_object_part(struct hybrid_object *object);

/* What the file is has to be asked anew. */
static inline void hybrid_object_set_old(struct hybrid_object *object)
{
	object->is_old = true;
	object->is_settled = !object->objects->identify;
}

/**
 * hybrid_object_is_current - is what was read of an object's file still what it holds?
 * @object: open
 *
 * Asked behind each reading. What is written through a mapping that is shared is not seen.
 *
 * Return: false: it was changed; @object->is_old is set then.
 */
bool hybrid_object_is_current(struct hybrid_object *object);

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

/**
 * hybrid_object_forget_cfi - give back the memory of what libelf and libdw have read of a file
 * @object: any
 *
 * The rows stay. The file stays open, and is read again for the next row. Nothing is done if it
 * was changed, or has a debug file.
 *
 * Return: true if something was given back.
 */
bool hybrid_object_forget_cfi(struct hybrid_object *object);

/**
 * hybrid_object_forget_copy - close the copy of a file whose content another object has, too
 * @object: with @same, whose rows serve its mappings
 *
 * The object is as before it was opened then, except that @hold still holds its file. Does nothing
 * if @object has rows, or was loaded into a store.
 */
void hybrid_object_forget_copy(struct hybrid_object *object);

/* For so long an object keeps what it has read of its file for rows, in ns. */
#define HYBRID_OBJECT_CFI	2000000000ULL

/* How long an object that nobody maps stays open, in ns; it is looked at each second. */
#define HYBRID_OBJECT_IDLE	10000000000ULL
#define HYBRID_OBJECT_AGE	1000000000ULL

/**
 * hybrid_objects_age - close objects that nobody has mapped for long, and forget CFI
 * @objects: session
 * @now: on any clock that goes on, in ns
 *
 * What was compiled of one stays for the next process, if a build-id tells that it is
 * the same file; without one the object goes. What a store has rules of stays open:
 * the next process would have it loaded anew.
 */
void hybrid_objects_age(struct hybrid_objects *objects, u64 now);

/**
 * hybrid_object_read - read a part of an object's file
 * @object: open
 * @dst: out
 * @size: bytes
 * @offset: in the file
 *
 * Return: as pread(); -1 if the file's user is over his share.
 */
ssize_t hybrid_object_read(const struct hybrid_object *object, void *dst, size_t size, u64 offset);

/**
 * hybrid_object_section - the data of a section of an object's file
 * @object: open
 * @index: of the section
 *
 * Return: as libelf has it, until others are read; NULL if there is none, or it is too large.
 */
Elf_Data *hybrid_object_section(const struct hybrid_object *object, size_t index);

/* Was something of an object's file not read, as its user was over his share? */
bool hybrid_object_is_refused(const struct hybrid_object *object);

/**
 * hybrid_objects_make_room - give back memory of other objects of an object's user
 * @object: that has no more of it
 *
 * Return: false if there is none.
 */
bool hybrid_objects_make_room(struct hybrid_object *object);

/**
 * hybrid_object_leave_out - end chains at an object, as its user is over his share
 * @object: any
 * @cost: of what
 */
void hybrid_object_leave_out(struct hybrid_object *object, enum hybrid_file_cost cost);

/* Lets the next lookup of a row open the file of a failed object once more. */
void hybrid_object_try_again(struct hybrid_object *object);

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
