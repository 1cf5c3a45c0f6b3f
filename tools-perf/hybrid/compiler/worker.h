/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_WORKER_H
#define __PERF_HYBRID_WORKER_H

#include <pthread.h>
#include <linux/perf_event.h>
#include "compiler.h"
#include "memory-code.h"
#include "stored.h"

enum hybrid_request_kind {
	HYBRID_REQUEST_NEW,	/* the object is new here */
	HYBRID_REQUEST_FUNCTION,	/* load the function at vaddr */
	HYBRID_REQUEST_CODE,	/* load what the code at vaddr tells, and around it */
	HYBRID_REQUEST_HOT,	/* load all, once that is worth its while */
	HYBRID_REQUEST_WHOLE,	/* load all */
	HYBRID_REQUEST_EARLY,	/* load all before samples meet it, unless it is large */
	HYBRID_REQUEST_DEBUG,	/* it has a .debug_frame */
	HYBRID_REQUEST_AGAIN,	/* what was loaded is lost, or of another file */
	HYBRID_REQUEST_TWIN,	/* another file holds the same */
	HYBRID_REQUEST_COPY,	/* a process has moved its code to memory of no file */
	HYBRID_REQUEST_INTERPRETER,	/* it is an interpreter of a language */
	HYBRID_REQUEST_GONE,	/* the reader's object is gone: the file is ours */
};

/**
 * struct hybrid_request - what is to be done, in the order of the notes
 * @stored: of which object
 * @vaddr: for HYBRID_REQUEST_FUNCTION and HYBRID_REQUEST_CODE
 * @at: for HYBRID_REQUEST_CODE: of the next instruction
 * @key: for HYBRID_REQUEST_COPY: the address space, and where the memory begins
 * @copy: for HYBRID_REQUEST_COPY: what is there
 * @interpreter: for HYBRID_REQUEST_INTERPRETER: where it has its functions
 * @twin: for HYBRID_REQUEST_AGAIN: what showed it was in this file; NULL: it can't be told. For
 *	HYBRID_REQUEST_TWIN: the other file
 * @nr: counts the notes on an object
 * @kind: enum hybrid_request_kind
 */
struct hybrid_request {
	struct hybrid_stored	*stored;
	u64			 vaddr;
	u64			 at;
	struct hybrid_walk_code_key key;
	union {
		struct hybrid_walk_copy		copy;
		struct hybrid_walk_interpreter	interpreter;
	};
	struct hybrid_twin	*twin;
	u64			 nr;
	u8			 kind;
};

struct hybrid_requests {
	struct hybrid_request	*notes;
	size_t			 nr;
	size_t			 alloc;
};

struct hybrid_refusal {
	char	*path;
	int	 err;
};

/**
 * struct hybrid_compiler - what compiles rows for a store, and hands them over
 * @ops: how to reach it
 * @store: for @ops
 *
 * The reader's:
 *
 * @noted: since the last pass
 * @memory_code: what the store was given of code that no file has
 * @nr_samples: seen
 * @guess_at: the sample from which on it may be guessed what a dump does not have
 * @guess_wait: by how many guesses in a row nothing new was met
 * @space_gen: the state of a space that was last loaded as a whole, 0 for none
 * @walker_space: of the sample, see struct hybrid_unwind
 * @copy: the copy that was noted last
 * @copy_at: pass from which on it may be noted again
 * @pass: number of passes over the rings; shared, the reader's to change
 * @is_urgent: an interpreter is among @noted
 * @holds: nothing is loaded until an interpreter of a language was met
 *
 * Shared:
 *
 * @generation: of the store's contents: how often all was forgotten
 * @full: the store has no room for more rules even so: nothing is loaded
 * @lock: for @handed, @nr_handed, @nr_followed, @tid, @raised, @stop
 * @wake: something was handed over, or @stop
 * @followed: what was handed over is done, but for objects that are loaded whole
 * @handed: noted and not yet taken
 * @nr_handed: counts what was handed over
 * @nr_followed: @nr_handed when the last of it that is done was taken
 * @tid: of the thread; 0: it has not begun
 * @raised: it runs before others, as an interpreter was handed over: see hybrid_priority_raise()
 * @stop: the thread is to end
 *
 * The thread's:
 *
 * @threaded: there is one
 * @thread: who works
 * @taken: what is being worked on
 * @around: addresses without CFI that were loaded, but those around them were not
 * @next_around: of @around
 * @objects: the files of @stored_objects, opened once more
 * @stored_objects: all
 * @working: those being loaded whole
 * @opened: those whose files are open, longest unused first
 * @nr_opened: of @opened
 * @batch: what is being loaded
 * @refusals: objects that could not be loaded
 * @nr_refusals: of @refusals
 * @functions: that were loaded one by one
 * @codes: addresses without CFI that were loaded, but for those around them
 * @wholes: objects that were loaded whole
 */
struct hybrid_compiler {
	const struct hybrid_store_ops	*ops;
	void				*store;

	struct hybrid_requests		 noted;
	struct hybrid_memory_code	 memory_code;
	u64				 nr_samples;
	u64				 guess_at;
	unsigned int			 guess_wait;
	u64				 space_gen;
	u64				 walker_space;
	struct hybrid_walk_code_key	 copy;
	u64				 copy_at;
	u64				 pass;
	bool				 is_urgent;
	bool				 holds;

	u32				 generation;
	bool				 full;
	pthread_mutex_t			 lock;
	pthread_cond_t			 wake;
	pthread_cond_t			 followed;
	struct hybrid_requests		 handed;
	u64				 nr_handed;
	u64				 nr_followed;
	pid_t				 tid;
	bool				 raised;
	bool				 stop;

	bool				 threaded;
	pthread_t			 thread;
	struct hybrid_requests		 taken;
	struct hybrid_requests		 around;
	size_t				 next_around;
	struct hybrid_objects		 objects;
	struct list_head		 stored_objects;
	struct list_head		 working;
	struct list_head		 opened;
	unsigned int			 nr_opened;
	struct hybrid_batch		 batch;
	struct hybrid_refusal		*refusals;
	size_t				 nr_refusals;
	u64				 functions;
	u64				 codes;
	u64				 wholes;
};

/* Return: 0, or -ENOMEM. */
int hybrid_requests_add(struct hybrid_requests *notes, const struct hybrid_request *note);

void hybrid_worker_init(struct hybrid_compiler *compiler);

#endif /* __PERF_HYBRID_WORKER_H */
