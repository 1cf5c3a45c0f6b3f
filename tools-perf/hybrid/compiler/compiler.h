/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_COMPILER_H
#define __PERF_HYBRID_COMPILER_H

#include <stdio.h>
#include <linux/perf_unwind_rules.h>
#include "../runtime/walk-interpreter.h"
#include "../unwind/unwind.h"

struct hybrid_compiler;

/**
 * struct hybrid_store_ops - a store of rules, as /dev/perf_unwind_rules is
 * @begin: make what takes long. By the thread that loads, before all others. NULL: there is nothing
 * @load: PERF_UNWIND_LOAD; @file: as it was before its rows were read: what was
 *	changed since then must not be loaded. A kernel's store sees to that itself
 * @forget: PERF_UNWIND_UNLOAD
 * @put_code: use a rule at one address of code that no file has, for as long as the code there
 *	is the same. By the reading thread, beside all others. NULL: files alone have rules
 * @put_block: the same for some addresses of a block of such code
 * @put_copy: memory of no file has the code of @file: in the address space @key->space, from
 *	@key->ip on; @copy: but for its key
 * @put_range: use a rule for a stretch of code that a runtime has made; as @put_code
 * @put_interpreter: the file is an interpreter of a language; rules of it were loaded before.
 *	NULL: the store reads no functions
 * @put_compiled: find the frames of methods that a runtime has compiled by what is in its code
 *	cache; as @put_code
 * @takes_registers: a row may be HYBRID_WALK_REGISTER
 * @has: does the store still have the file's rules?
 * @add: use the rules of @file for @same, too, which has the same contents. NULL, and
 *	@has with it: the store finds files by their contents, and needs neither
 * @drop: perf no longer holds the file open. NULL: the store takes no file that is a copy
 * @takes_small: an update costs what its rows cost, however many the object has
 * @takes_codes: what code without CFI tells is loaded, too, and an update may leave as it
 *	was what lies between (HYBRID_TABLE_KEEP)
 *
 * The functions return 0 or a negative errno; @load 1 where nothing was known of the object,
 * which may be as it had to make room.
 */
struct hybrid_store_ops {
	void (*begin)(void *store);
	int (*load)(void *store, const struct perf_unwind_load *load,
		    const struct hybrid_pinned_file *file);
	int (*forget)(void *store, const struct perf_unwind_unload *forget);
	bool (*has)(void *store, const struct hybrid_pinned_file *file);
	int (*add)(void *store, const struct hybrid_pinned_file *file,
		   const struct hybrid_pinned_file *same);
	void (*drop)(void *store, const struct hybrid_pinned_file *file);
	int (*put_code)(void *store, const struct hybrid_walk_code_key *key,
			const struct hybrid_walk_code *code);
	int (*put_block)(void *store, const struct hybrid_walk_code_key *key,
			 const struct hybrid_walk_block *block);
	int (*put_copy)(void *store, const struct hybrid_pinned_file *file,
			const struct hybrid_walk_code_key *key, struct hybrid_walk_copy *copy);
	int (*put_range)(void *store, const struct hybrid_walk_code_key *key,
			 const struct hybrid_walk_range *range);
	int (*put_interpreter)(void *store, const struct hybrid_pinned_file *file,
			       const struct hybrid_walk_interpreter *interpreter);
	int (*put_compiled)(void *store, const struct hybrid_walk_compiled *compiled);
	bool takes_registers;
	bool takes_small;
	bool takes_codes;
};

/**
 * hybrid_compiler_new - load rules for what samples meet into a store
 * @objects: that the samples' spaces map; those that are loaded are followed
 *	until they go
 * @ops: how to reach the store
 * @store: for @ops
 *
 * A function is loaded when the first sample that needed its stack dump meets it. A whole
 * object is loaded once HYBRID_HOT_SAMPLES samples have met something new in it; of a large
 * one part of the functions must have been met, too. Where the kernel's walk came further
 * than a dump, and lacked a rule there, all that the process has mapped is loaded.
 *
 * Return: the compiler, NULL where memory is short.
 */
struct hybrid_compiler *hybrid_compiler_new(struct hybrid_objects *objects,
					    const struct hybrid_store_ops *ops, void *store);

/* Samples that met something new in an object before all of it is loaded. */
#define HYBRID_HOT_SAMPLES	8

/**
 * hybrid_compiler_start - have a thread of its own do the work
 * @compiler: new
 *
 * Return: 0, or -1 where there can be no thread; hybrid_compiler_work() works.
 */
int hybrid_compiler_start(struct hybrid_compiler *compiler);

/**
 * hybrid_compiler_sample - a sample that could not do without its dump
 * @compiler: nothing is done here but to note what is to be loaded
 * @unwinder: caches
 * @u: the sample, unwound
 * @guessed: frames behind those of @u that it may have had; only to be loaded
 * @info: the word behind PERF_CONTEXT_USER_RULES
 */
void hybrid_compiler_sample(struct hybrid_compiler *compiler, struct hybrid_unwinder *unwinder,
			    const struct hybrid_unwind *u, unsigned int guessed, u64 info);

/**
 * hybrid_compiler_interpreter - samples came through an interpreter of a language
 * @compiler: tells the store
 * @object: its file, open
 * @interpreter: where it has the frames of its functions
 * @vaddr: a function whose rules are loaded with it; 0: some of the object's were
 *
 * If that can't be noted now, as the file is still compared with others, @object's
 * @interpreter_told becomes false, so that a later sample tells it.
 */
void hybrid_compiler_interpreter(struct hybrid_compiler *compiler, struct hybrid_object *object,
				 const struct hybrid_walk_interpreter *interpreter, u64 vaddr);

/**
 * hybrid_compiler_whole - load all rules of a file, as a program that maps it is about to begin
 * @compiler: with a store
 * @object: the file, open
 *
 * Not of one with more than 16,384 functions: Node.js has 76,000, most of which are never met.
 */
void hybrid_compiler_whole(struct hybrid_compiler *compiler, struct hybrid_object *object);

/**
 * hybrid_compiler_hold - load nothing until hybrid_compiler_interpreter() is called
 * @compiler: before the first sample
 *
 * For a store by whose rules nothing but functions of interpreters is found.
 */
void hybrid_compiler_hold(struct hybrid_compiler *compiler);

/**
 * hybrid_compiler_may_guess - is it worth looking for what a sample's dump does not have?
 * @compiler: to be given what was found
 *
 * Less and less often while that shows nothing new.
 */
bool hybrid_compiler_may_guess(struct hybrid_compiler *compiler);

/**
 * hybrid_compiler_pass - the rings were read: hand over what was noted
 * @compiler: NULL does nothing
 */
void hybrid_compiler_pass(struct hybrid_compiler *compiler);

/* Gives what was noted to the thread, and wakes it; @compiler is not NULL. */
void hybrid_compiler_hand_over(struct hybrid_compiler *compiler);

/**
 * hybrid_compiler_wait - wait until the store has what was handed over
 * @compiler: with a thread; NULL does nothing
 * @ms: for how long, at most
 *
 * It does not wait for objects that are loaded whole.
 */
void hybrid_compiler_wait(struct hybrid_compiler *compiler, unsigned int ms);

/**
 * hybrid_compiler_work - load all functions handed over, and a part of an object
 * @compiler: without a thread
 *
 * Return: is there more to do?
 */
bool hybrid_compiler_work(struct hybrid_compiler *compiler);

/**
 * hybrid_compiler_stop - end the thread; what it has not got to is left
 * @compiler: NULL does nothing
 */
void hybrid_compiler_stop(struct hybrid_compiler *compiler);

/**
 * hybrid_compiler_print - what could not be loaded, and why
 * @compiler: stopped
 * @out: stream
 */
void hybrid_compiler_print(const struct hybrid_compiler *compiler, FILE *out);

void hybrid_compiler_delete(struct hybrid_compiler *compiler);

#endif /* __PERF_HYBRID_COMPILER_H */
