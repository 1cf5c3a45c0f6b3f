/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_STORED_H
#define __PERF_HYBRID_STORED_H

#include <linux/list.h>
#include "batch.h"
#include "compiler.h"

/**
 * struct hybrid_twin - a file with the build-id of another, by which objects are told
 * @list: of struct hybrid_stored's @twins, once it is known to hold the same
 * @fd: the file, or a copy of it; -1: it is known to hold the same
 * @hold: it
 * @user: whose share a copy is of
 * @copied: bytes of HYBRID_FILE_COPIES that it takes
 */
struct hybrid_twin {
	struct list_head	list;
	int			fd;
	struct hybrid_pinned_file	hold;
	struct hybrid_file_user	*user;
	u64			copied;
};

enum hybrid_stored_state {
	HYBRID_STORED_LEARNS,
	HYBRID_STORED_KNOWS,	/* all of the object */
	HYBRID_STORED_FAILED,	/* it can't be loaded */
	HYBRID_STORED_STALE,	/* the same, as its file was changed too often */
};

/**
 * struct hybrid_stored - an object as the store has it
 *
 * Who reads the rings has the first part, who loads the last. The two have an
 * ELF handle each: libdw's are for one thread. What they share is atomic.
 *
 * @epoch: a row was asked for if its asked is this; never 0
 * @generation: of the store's contents that @epoch counts for
 * @met: samples that met something new
 * @last_sample: the last of them
 * @deep: samples in it of deep stacks
 * @last_deep: the last of them
 * @whole: all of it was asked for
 * @again_at: pass from which on it may be loaded anew
 * @again: how often it was
 * @twins_seen: @nr_twins then
 * @twin: the file that was noted last as one that holds the same
 * @twin_pass: when that was
 * @twin_at: pass from which on @twin may be noted again
 * @twin_tries: how often it was
 * @awaited: stands for the file of a twin while perf opens it; NULL: perf opens none
 * @asked_nr: number of the last thing asked for
 *
 * @state: enum hybrid_stored_state; shared
 * @nr_twins: of @twins; shared
 * @done_nr: number of the last thing done; shared
 * @done_pass: when that was; shared
 *
 * @list: among all of the compiler's
 * @working: among those being loaded whole
 * @opened: among those that are open, longest unused first
 * @used_at: when it was used last, in ns, if it is open
 * @seen_nr: number of the last thing that the compiler has seen
 * @fd: the file; the reader's object's, until that goes
 * @flags: PERF_UNWIND_VDSO_*
 * @path: for messages
 * @want_debug: the file's .debug_frame has to be looked for
 * @user: whose share what is read of it is of
 * @hold: the file, as it was when @object was opened; @fd may be a copy of it
 * @twins: other files, of which the store knows that they hold the same
 * @begun: the store knows something of it
 * @is_interpreter: it is an interpreter of a language
 * @interpreter: where that has the frames of its functions
 * @changes: how often it was another one, while the object was loaded
 * @object: the compiler's own view of the file; NULL: not opened, or closed again
 * @fdes: its FDEs
 * @loaded: a bit for each of @fdes
 * @next: index of the FDE with which loading all goes on
 * @blocks: a bit for each block of the file (code-rows.c) whose code without CFI was loaded
 * @nr_blocks: words of @blocks
 * @hot: samples meet something new in it again and again
 * @nr_functions: that samples met
 */
struct hybrid_stored {
	u32			 epoch;
	u32			 generation;
	unsigned int		 met;
	u64			 last_sample;
	unsigned int		 deep;
	u64			 last_deep;
	bool			 whole;
	u64			 again_at;
	unsigned int		 again;
	u32			 twins_seen;
	struct hybrid_file_id	 twin;
	u64			 twin_pass;
	u64			 twin_at;
	unsigned int		 twin_tries;
	struct hybrid_object	*awaited;
	u64			 asked_nr;

	u32			 state;
	u32			 nr_twins;
	u64			 done_nr;
	u64			 done_pass;

	struct list_head	 list;
	struct list_head	 working;
	struct list_head	 opened;
	u64			 used_at;
	u64			 seen_nr;
	int			 fd;
	struct hybrid_file_user	*user;
	u32			 flags;
	char			*path;
	bool			 want_debug;
	struct hybrid_pinned_file	 hold;
	struct list_head	 twins;
	bool			 begun;
	bool			 is_interpreter;
	struct hybrid_walk_interpreter interpreter;
	unsigned int		 changes;
	struct hybrid_object	*object;
	struct hybrid_fdes	 fdes;
	unsigned long		*loaded;
	size_t			 next;
	unsigned long		*blocks;
	size_t			 nr_blocks;
	bool			 hot;
	size_t			 nr_functions;
};

/**
 * hybrid_stored_new - for an object that is open
 * @object: the reader's
 *
 * Return: NULL where memory is short.
 */
struct hybrid_stored *hybrid_stored_new(struct hybrid_object *object);

/**
 * hybrid_stored_open - the compiler's own view of the file
 * @stored: opened now if it was not yet
 * @objects: the compiler's
 *
 * Return: 0, or a negative errno.
 */
int hybrid_stored_open(struct hybrid_stored *stored, struct hybrid_objects *objects);

/* Closes the compiler's view; what was loaded of it stays known. */
void hybrid_stored_close(struct hybrid_stored *stored);

/* Have the file's .debug_frame looked for when it is opened next. */
void hybrid_stored_want_debug(struct hybrid_stored *stored);

/**
 * hybrid_stored_function - the rows of the function that holds an address
 * @stored: open
 * @vaddr: as the ELF file numbers them
 * @part: of the whole part of the object that the function is in
 * @batch: out; empty where there is nothing to load
 *
 * Return: 0, or -ENOMEM.
 */
int hybrid_stored_function(struct hybrid_stored *stored, u64 vaddr, bool part,
			   struct hybrid_batch *batch);

/**
 * hybrid_stored_part - the rows of the next part that is not loaded
 * @stored: open; its @next moves on
 * @batch: out; empty where there is nothing left
 *
 * Return: 0, or -ENOMEM.
 */
int hybrid_stored_part(struct hybrid_stored *stored, struct hybrid_batch *batch);

/* Has it more than 16,384 functions? @stored: open */
bool hybrid_stored_is_large(const struct hybrid_stored *stored);

/**
 * hybrid_stored_is_worth - is all of a hot object to be loaded?
 * @stored: open
 *
 * To load a function takes as long as to unwind some dumps, and of a large object most are
 * never met: cc1 has 40,000. So all is loaded once a part of them was met. All samples of an
 * interpreter are in the same few of its functions, and its stacks are deep: all of it is loaded,
 * if it is not large.
 */
bool hybrid_stored_is_worth(const struct hybrid_stored *stored);

/* The store has forgotten all. */
void hybrid_stored_forget(struct hybrid_stored *stored);

void hybrid_stored_free(struct hybrid_stored *stored);

/**
 * hybrid_stored_twin - the file that a process has mapped in place of an object's
 * @stored: the object's, the reader's side
 * @mapping: of the object
 * @twin: out: NULL where it can't be opened
 *
 * Return: false: it is being opened, ask again.
 */
bool hybrid_stored_twin(struct hybrid_stored *stored, const struct hybrid_mapping *mapping,
			struct hybrid_twin **twin);

/* A twin is awaited no more. */
void hybrid_stored_cancel(struct hybrid_stored *stored);

/* Closes the twin's file or copy, after perf has compared it. */
void hybrid_twin_close(struct hybrid_twin *twin);

void hybrid_twin_free(struct hybrid_twin *twin);

#endif /* __PERF_HYBRID_STORED_H */
