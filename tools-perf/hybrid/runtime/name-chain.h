/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_NAME_CHAIN_H
#define __PERF_HYBRID_NAME_CHAIN_H

#include <stdbool.h>
#include "../unwind/unwind.h"
#include "names.h"

/* Functions that one compiled frame may stand for: what was inlined, and what it is in. */
#define HYBRID_NAMES_OF_FRAME	64

struct hybrid_named_chain;

/**
 * struct hybrid_namer - names the frames of a process that has a runtime
 * @language: of the names
 * @is_by_code: it names frames by their code, and needs no functions that BPF reads
 * @nr_unread: frames whose functions could not be read, since it was set to 0
 * @begin: the frames of a chain are about to be named one by one, the innermost first; NULL: it
 *	need not know
 * @whole: name all user frames of a chain at once, into @out from @user on, as another one was
 *	named; returns false if it can't. NULL: there is no such thing
 * @keep: the chain was named frame by frame, for @whole; NULL as that
 * @text: BPF has read a function: take its names from that; NULL: it reads none
 *	@text: struct hybrid_walk_text, which need not be aligned, or be true
 *	@size: of @text, in bytes
 * @name: which functions a frame is in
 *	@namer: this one
 *	@names: of @language; the functions are added to them
 *	@frame: the frame; its addresses alone are known if there was no stack to unwind
 *	@ip: its address in the callchain
 *	@out: out: addresses by hybrid_names_ip(), the innermost first
 *	@room: for @out
 *	Returns how many; 0 if the frame keeps its address; more than @room if there are more.
 */
struct hybrid_namer {
	enum hybrid_language	language;
	bool			is_by_code;
	u64			nr_unread;
	void			(*begin)(struct hybrid_namer *namer,
					 const struct hybrid_named_chain *c);
	bool			(*whole)(struct hybrid_namer *namer, struct hybrid_names *names,
					 struct hybrid_named_chain *c);
	void			(*keep)(struct hybrid_namer *namer,
					const struct hybrid_named_chain *c);
	void			(*text)(struct hybrid_namer *namer, struct hybrid_names *names,
					const void *text, size_t size);
	unsigned int		(*name)(struct hybrid_namer *namer, struct hybrid_names *names,
					const struct hybrid_frame *frame, u64 ip, u64 *out,
					unsigned int room);
};

/**
 * struct hybrid_named_chain - a callchain whose frames are to be named
 * @chain: as hybrid_merge() has made it
 * @nr: number of @chain
 * @frames: that its user part was made of, in the same order; NULL: there are none
 * @nr_frames: number of @frames
 * @is_whole: @chain comes to the outermost frame
 * @functions: of an interpreter, as struct hybrid_walk_function has them; need not be aligned
 * @nr_functions: number of @functions
 * @functions_are_whole: the last one is the outermost
 * @code_hash: of a runtime's code that the walk met: hybrid_java_code_hash(); 0: unknown
 * @gen: of the process's space, if the chain is complete and nothing but its addresses decided
 *	that; else 0
 * @is_unseen: @chain is as the walk in the kernel found it, and only its first frame is in
 *	@frames: it counts if the same one had this @gen
 * @knows_first: with @is_unseen: its first frame is known to be one, if it is in a file
 * @walked: what frames of interpreters run that the walk met, as struct hybrid_unwind has it
 * @nr_walked: number of @walked, each two words
 * @user: out: index of the first user frame, in @chain and in @out
 * @rest: out: index in @out of the first entry after the functions of that frame
 * @out: out: the callchain, with a frame for each function; not @chain
 * @max: room in @out; at least @nr
 * @nr_out: out: number of @out
 * @is_named: out: a frame was named; else @out is @chain
 * @first: out: the address that the innermost user frame has now; 0: the same
 * @is_cut_off: out: @out was too small, and its last frame is the mark that says so
 */
struct hybrid_named_chain {
	const u64		  *chain;
	unsigned int		   nr;
	const struct hybrid_frame *frames;
	unsigned int		   nr_frames;
	bool			   is_whole;
	const void		  *functions;
	unsigned int		   nr_functions;
	bool			   functions_are_whole;
	u64			   code_hash;
	u64			   gen;
	bool			   is_unseen;
	bool			   knows_first;
	const void		  *walked;
	unsigned int		   nr_walked;
	unsigned int		   user;
	unsigned int		   rest;
	u64			  *out;
	unsigned int		   max;
	unsigned int		   nr_out;
	bool			   is_named;
	u64			   first;
	bool			   is_cut_off;
};

/**
 * hybrid_name_chain - put the functions of a runtime into a callchain
 * @namer: of the process
 * @names: of its runtime
 * @c: what goes in and comes out
 */
void hybrid_name_chain(struct hybrid_namer *namer, struct hybrid_names *names,
		       struct hybrid_named_chain *c);

/**
 * hybrid_name_known - the same of a chain that @namer has named before
 * @namer: of the process
 * @names: of its runtime
 * @c: what goes in and comes out
 *
 * Return: false if it has not; @c's results are not valid then.
 */
bool hybrid_name_known(struct hybrid_namer *namer, struct hybrid_names *names,
		       struct hybrid_named_chain *c);

/**
 * hybrid_named_chain_put_first - the first user frame of a chain was named
 * @c: the chain; @out has nothing from @user on yet
 * @nr: addresses that were put at @out + @nr_out for it; 0: it keeps its own, for which there is
 *	room
 */
void hybrid_named_chain_put_first(struct hybrid_named_chain *c, unsigned int nr);

/**
 * hybrid_named_chain_count - how many user frames of a chain are of a kind
 * @c: the chain
 * @is: is an address, as struct hybrid_frame's @ip?
 * @arg: for @is
 */
unsigned int hybrid_named_chain_count(const struct hybrid_named_chain *c,
				      bool (*is)(u64 ip, void *arg), void *arg);

#endif /* __PERF_HYBRID_NAME_CHAIN_H */
