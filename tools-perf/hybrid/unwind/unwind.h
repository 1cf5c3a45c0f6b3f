/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_UNWIND_H
#define __PERF_HYBRID_UNWIND_H

#include <string.h>
#include "../rules/arch.h"
#include "../rules/expr.h"
#include "../rules/space.h"
#include "jit.h"
#include "memory.h"

/* More than fits into a sample of 64 KiB. */
#define HYBRID_MAX_FRAMES	8000

enum hybrid_stop {
	HYBRID_STOP_OUTERMOST,	/* reached the end of the stack */
	HYBRID_STOP_LIMIT,	/* as many frames as were asked for */
	HYBRID_STOP_DUMP_END,	/* the stack goes on behind the dump */
	HYBRID_STOP_NO_MAP,	/* the address is in no known mapping */
	HYBRID_STOP_NO_CFI,	/* neither CFI nor a frame pointer */
	HYBRID_STOP_BAD_FRAME,	/* the CFI led nowhere: not upwards, or unreadable */
	HYBRID_STOP_UNREAD,	/* the file of the code is not there yet */
	HYBRID_STOP_NR,
};

/**
 * struct hybrid_frame - one frame of a chain
 * @ip: the sampled address, or one inside of the call that is being executed
 *	(the return address - 1), so that it belongs to the caller's function
 *	and row even where the call is the last instruction of both. After a
 *	signal frame it is the interrupted address itself.
 * @ret: the address as it was found; @ip or @ip + 1
 * @cfa: of this frame; 0 where it is not known
 * @function: of a frame of an interpreter, the function that it runs, as its process knows it:
 *	of HotSpot the address of a struct Method; of V8's code that may have no frame yet the
 *	pointer to a JSFunction, if it is one. Else 0
 * @position: where in @function, as the frame has it: an address of bytecode
 */
struct hybrid_frame {
	u64	ip;
	u64	ret;
	u64	cfa;
	u64	function;
	u64	position;
};

/**
 * struct hybrid_cache_entry - what is known of an address
 * @ip: the address, as struct hybrid_frame has it
 * @gen: of the space, when it was asked for
 * @is_caller: @row is no signal's, and a call stands before @ip + 1, or no file has the code: found
 *	by hybrid_kernel_walk_frames()
 * @is_known_first: hybrid_known_walk() may begin with it,
 * @is_known_caller: have it further out,
 * @is_known_last: and end with it
 * @called_by: return address whose call can lead here, from hybrid_cut_refuted(); 0: none yet
 * @row: that it has; NULL: none
 * @object: that it is in; NULL: none
 */
struct hybrid_cache_entry {
	u64			 ip;
	u64			 gen : 60;
	u64			 is_caller : 1;
	u64			 is_known_first : 1;
	u64			 is_known_caller : 1;
	u64			 is_known_last : 1;
	u64			 called_by;
	struct hybrid_row	*row;
	struct hybrid_object	*object;
};

#define HYBRID_CACHE_BITS	13

/**
 * struct hybrid_called_pair - a callee and its caller, of which hybrid_cut_refuted() has looked at
 *	the call
 * @gen: state of the address space
 * @callee: address in the callee
 * @ret: return address in the caller
 * @is_called: the call can lead to @callee, or to another address in its line of 64 bytes; false:
 *	it can't lead to @callee
 */
struct hybrid_called_pair {
	u64	gen;
	u64	callee;
	u64	ret;
	bool	is_called;
};

#define HYBRID_CALLED_BITS	10

/* Deep stacks change in a few inner frames from one sample to the next. */
#define HYBRID_LAST_WALK	1024

/**
 * struct hybrid_last_walk - the walk in the kernel that hybrid_known_walk() has known last
 * @gen: state of its address space
 * @nr: number of its addresses; 0: there is none
 * @ips: they end where this ends, with the outermost frame's
 */
struct hybrid_last_walk {
	u64		gen;
	unsigned int	nr;
	u64		ips[HYBRID_LAST_WALK];
};

struct hybrid_unwind;

struct hybrid_walk_compiled;

/**
 * struct hybrid_runtime_range - code that a runtime has made, whose frames are all of one kind
 * @start: first address
 * @end: behind the last
 * @rule: but for an innermost address behind instructions that may have left the frame
 * @compiled: where the process has its compiled methods: a walker that knows finds the rule by
 *	itself, and nothing else is valid. Until the next question. NULL: it does not
 */
struct hybrid_runtime_range {
	u64				   start;
	u64				   end;
	struct hybrid_rule		   rule;
	const struct hybrid_walk_compiled *compiled;
};

/* Asks the runtimes of processes how to leave frame @at of @u in code that they have made. */
typedef bool (*hybrid_runtime_rule_fn)(void *runtimes, const struct hybrid_unwind *u,
				       unsigned int at, struct hybrid_rule *rule);

/* And for the range of code that the frame is in. */
typedef bool (*hybrid_runtime_range_fn)(void *runtimes, const struct hybrid_unwind *u,
					unsigned int at, struct hybrid_runtime_range *range);

/**
 * struct hybrid_unwinder - what an unwinder keeps from sample to sample
 * @cache: rows by address and space; direct-mapped, 256 KiB
 * @called: by addresses of both; direct-mapped, 8 KiB
 * @is_call_unsure: of a call in the chain before, hybrid_cut_refuted() could not tell where it
 *	leads
 * @last_walk: of all spaces
 * @add_mapping: adds to a space the mapping that holds an address, where mappings
 *	come on demand; NULL where spaces are complete
 * @add_mapping_arg: for @add_mapping
 * @memory: what is read from processes; NULL where there are none
 * @jit: what processes say of the code that they compile; NULL where there are none
 * @runtime_rule: false if no runtime tells. NULL: nobody is asked
 * @runtime_range: false if there is none
 * @runtimes: for both
 * @copied: hybrid_copied_text() has found a copy; the caller's to clear
 */
struct hybrid_unwinder {
	struct hybrid_cache_entry	 cache[1 << HYBRID_CACHE_BITS];
	struct hybrid_called_pair	 called[1 << HYBRID_CALLED_BITS];
	bool				 is_call_unsure;
	struct hybrid_last_walk		 last_walk;
	void (*add_mapping)(struct hybrid_space *space, u64 ip, void *arg);
	void				*add_mapping_arg;
	struct hybrid_memory		*memory;
	struct hybrid_jit		*jit;
	hybrid_runtime_rule_fn		 runtime_rule;
	hybrid_runtime_range_fn		 runtime_range;
	void				*runtimes;
	bool				 copied;
};

/**
 * struct hybrid_unwind - one sample
 * @abi: of the task
 * @space: its mappings
 * @pid: its process, while that runs; 0 where there is none to be asked
 * @walker_space: what the walker in the kernel knows the address space by; 0: unknown
 * @regs: at the sample, by DWARF number
 * @dump: the stack from @dump_start on; may be unaligned
 * @dump_start: address; the sampled stack pointer
 * @dump_size: bytes
 * @dump_room: bytes that were to be copied; more than @dump_size where the kernel came to
 *	a page that is not there
 * @holes: pages of @dump that were not there, bit 0 for that with @dump_start
 * @room_ends: the mapping of the stack is known to end right after @dump_room bytes
 * @overwritten: another task may have written to the stack before it was copied:
 *	also what CFI led to needs a call that comes to what runs
 * @user: user part of the kernel's callchain, where return probes are; may be NULL
 * @nr_user: number of @user
 * @user_at: how far that was followed, and
 * @user_fp: where on the stack,
 * @user_plain: whether its frames begin behind the sampled address, and
 * @user_one_more: behind one more: hybrid_uretprobe_return()'s own
 * @code: around where the walker's walk has ended, as it has read it
 * @functions: of frames that a walk in the kernel has met, as struct hybrid_walk_record has them;
 *	they need not be aligned; NULL: none
 * @nr_functions: number of @functions
 * @max_frames: where to stop; at most HYBRID_MAX_FRAMES
 * @frames: out: innermost first; room for @max_frames, the caller's
 * @nr: out: number of @frames
 * @sure: out: of @nr, those that are shown by CFI, or confirmed; the others stand
 *	above a step that nothing refutes or confirms
 * @stop: out: enum hybrid_stop
 * @missing: out: where @stop is HYBRID_STOP_DUMP_END, the word that is not in the dump
 * @failed_in: out: where @stop is a failure, the object that it happened in; may
 *	be NULL; valid as long as @space is
 * @sp: out: stack pointer in the last frame
 * @bp: out: frame pointer register in the last frame
 * @bp_known: out: false where @bp could not be followed to there
 * @rule: out: of the last frame; kind NONE where there is none
 * @fiber_end: out: CFA of the last frame, if its return address shows that a fiber begins
 *	there; else 0
 * @fiber_ret: out: that return address
 * @by_code: out: where @stop is HYBRID_STOP_DUMP_END without a @rule, the code has told
 *	where the caller is; else a register did, which need not be a frame pointer
 * @is_refuted: out: the chain ends before a frame whose call leads elsewhere
 */
struct hybrid_unwind {
	const struct hybrid_abi		*abi;
	struct hybrid_space		*space;
	pid_t				 pid;
	u64				 walker_space;
	struct hybrid_regs		 regs;
	const u8			*dump;
	u64				 dump_start;
	u64				 dump_size;
	u64				 dump_room;
	u32				 holes;
	bool				 room_ends;
	bool				 overwritten;
	const u64			*user;
	unsigned int			 nr_user;
	unsigned int			 user_at;
	u64				 user_fp;
	bool				 user_plain;
	bool				 user_one_more;
	struct hybrid_made_code		 code;
	const void			*functions;
	unsigned int			 nr_functions;
	unsigned int			 max_frames;

	struct hybrid_frame		*frames;
	unsigned int			 nr;
	unsigned int			 sure;
	enum hybrid_stop		 stop;
	u64				 missing;
	struct hybrid_object		*failed_in;
	u64				 sp;
	u64				 bp;
	bool				 bp_known;
	struct hybrid_rule		 rule;
	u64				 fiber_end;
	u64				 fiber_ret;
	bool				 by_code;
	bool				 is_refuted;
};

/**
 * hybrid_unwind - unwind one sample from its registers and stack dump
 * @unwinder: caches
 * @u: the sample; see there for what goes in and comes out
 *
 * There is always at least one frame, the sampled address. No frame is made
 * up: a return address counts only if it lies in a known mapping and, where
 * anything else than CFI led to it, if a call stands before it that can have led
 * to what runs. Where CFI says that a function has called itself, or an address comes
 * again, the calls must be able to have led there, too: see hybrid_cut_refuted().
 */
void hybrid_unwind(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u);

/**
 * hybrid_unwind_row - the row for an address, through the cache
 * @unwinder: caches
 * @space: the mappings; may gain one by add_mapping()
 * @ip: as struct hybrid_frame has it
 * @mapped: out: false where no mapping holds @ip
 * @object: out: the object, NULL where there is none
 *
 * Return: the row, or NULL where there is none (no mapping, code made at run
 * time, an object that can't be read).
 */
struct hybrid_row *hybrid_unwind_row(struct hybrid_unwinder *unwinder,
				     struct hybrid_space *space, u64 ip,
				     bool *mapped, struct hybrid_object **object);

/* Bytes of a hole. */
#define HYBRID_HOLE	4096

/* Is it in a page that was not there? @offset: from dump_start, in the dump. */
static inline bool hybrid_unwind_is_hole(const struct hybrid_unwind *u, u64 offset)
{
	return u->holes >> ((u->dump_start % HYBRID_HOLE + offset) / HYBRID_HOLE) & 1;
}

/**
 * hybrid_unwind_read - a word or less from the stack dump
 * @u: the sample
 * @addr: in the task
 * @size: bytes, 1 to 8
 * @value: zero-extended
 *
 * Return: 0, or -1 where it is not all in the dump.
 */
static inline int hybrid_unwind_read(const struct hybrid_unwind *u, u64 addr, unsigned int size,
				     u64 *value)
{
	u64 offset = addr - u->dump_start;

	if (offset >= u->dump_size || u->dump_size - offset < size)
		return -1;
	if (u->holes && (hybrid_unwind_is_hole(u, offset) ||
			 hybrid_unwind_is_hole(u, offset + size - 1)))
		return -1;
	*value = 0;
	memcpy(value, u->dump + offset, size);
	return 0;
}

#endif /* __PERF_HYBRID_UNWIND_H */
