// SPDX-License-Identifier: GPL-2.0
/*
 * A process that runs V8. BPF reads at the sample which functions its native frames run; here they
 * get their names.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include "../../rules/rows.h"
#include "../named-chains.h"
#include "../runs.h"
#include "../runtime.h"
#include "v8-function.h"
#include "v8-inlined.h"

/* Functions of BPF's that no frame has: of native code that has words as they have. */
#define MAX_SKIPPED	16

/**
 * struct v8 - a process that runs V8
 * @pm: its memory
 * @layout: of its V8
 * @object_id: of the file that has that
 * @code: an address in its code
 * @namer: names frames
 * @chain: that is being named
 * @at: index of the next one of @chain's functions
 * @frame: number of the next frame
 * @behind_first: what @at was behind the first frame
 * @unread: what @namer.nr_unread was when @chain began
 * @pass: in which it was asked for last
 * @names_itself: it writes a map of its code for perf, whose names stay
 * @functions: that it runs
 * @addresses: in the code that it has compiled
 * @chains: that were named
 */
struct v8 {
	struct hybrid_process_memory	 pm;
	struct v8_layout		 layout;
	u64				 object_id;
	u64				 code;
	struct hybrid_namer		 namer;
	const struct hybrid_named_chain	*chain;
	unsigned int			 at;
	unsigned int			 frame;
	unsigned int			 behind_first;
	u64				 unread;
	u64				 pass;
	bool				 names_itself;
	struct v8_functions		 functions;
	struct v8_addresses		 addresses;
	struct hybrid_named_chains	 chains;
};

static void v8_begin(struct hybrid_namer *namer, const struct hybrid_named_chain *c)
{
	struct v8 *v8 = container_of(namer, struct v8, namer);

	v8->chain = c;
	v8->at = 0;
	v8->frame = 0;
	v8->behind_first = 0;
	v8->unread = v8->namer.nr_unread;
}

/*
 * Is it code of V8's builtins? V8 may map them once more, near the code that it compiles
 * (src/execution/isolate.cc: MaybeRemapEmbeddedBuiltinsIntoCodeRange()).
 */
static bool is_builtin(const struct v8 *v8, const struct hybrid_mapping *mapping, u64 ip)
{
	u64 offset = ip - mapping->start + mapping->pgoff;

	return mapping->object && mapping->object->id == v8->object_id &&
	       offset >= v8->layout.walk.code && offset < v8->layout.walk.code_end;
}

/* Is the function, by its second word, that of the frame, of which this is the number? */
static bool is_of(u64 position, const struct hybrid_frame *frame, unsigned int number)
{
	if (frame->cfa)
		return HYBRID_WALK_NATIVE_CFA_OF(position) == HYBRID_WALK_NATIVE_CFA(frame->cfa);
	return HYBRID_WALK_NATIVE_FRAME(position) == number;
}

/* Which function is the frame's? They are in the order of frames. -1: none. */
static int find_function(struct v8 *v8, const struct hybrid_frame *frame, unsigned int number)
{
	const struct hybrid_named_chain *c = v8->chain;
	unsigned int i, skipped = 0;

	for (i = v8->at; i < c->nr_functions && skipped < MAX_SKIPPED; i++) {
		if (HYBRID_WALK_IS_NATIVE_LINK(hybrid_named_function(c, i, 0)))
			continue;
		skipped++;
		if (!is_of(hybrid_named_function(c, i, 1), frame, number))
			continue;
		v8->at = i + 1;
		return i;
	}
	return -1;
}

static u64 ip_of(struct v8 *v8, struct hybrid_names *names, const struct v8_function *function,
		 u32 place)
{
	v8->namer.nr_unread += !function || v8_function__may_change(function);
	return function ? v8_function__ip(function, place) :
		v8_functions__unknown(&v8->functions, names);
}

/**
 * struct output - where the addresses of a frame's functions go
 * @out: their place
 * @room: for @out
 * @nr: number of them; those that there is no room for are counted, too
 */
struct output {
	u64		*out;
	unsigned int	 room;
	unsigned int	 nr;
};

static void put(struct output *to, u64 ip)
{
	if (!ip)
		return;
	if (to->nr < to->room)
		to->out[to->nr] = ip;
	to->nr++;
}

/*
 * The functions of compiled code are those that V8 has noted for it, if the outermost one is that
 * which the frame has: the code may be another one now.
 */
static void put_compiled(struct v8 *v8, struct hybrid_names *names, struct output *to,
			 const struct v8_address *address, int i)
{
	u64 word = hybrid_named_function(v8->chain, i, 0);
	u64 position = hybrid_named_function(v8->chain, i, 1);
	u32 place = HYBRID_WALK_NO_PLACE;
	unsigned int at;

	/* What optimised code has where the interpreter has the place is something else. */
	if (address && address->is_interpreter)
		place = HYBRID_WALK_NATIVE_PLACE(position);
	if (!address || !address->nr ||
	    address->list[address->nr - 1].shared != (word & HYBRID_WALK_FUNCTION_ADDR)) {
		put(to, ip_of(v8, names, v8_functions__get(&v8->functions, names, word, position),
			      place));
		return;
	}
	for (at = 0; at < address->nr; at++)
		put(to, ip_of(v8, names, v8_functions__at(&v8->functions, names,
							  address->list[at].shared),
			      address->list[at].place));
}

/* What can be told of a frame's function without the frame. */
struct unframed {
	const struct v8_address	*address;
	u64			 callee;
	bool			 is_innermost;
};

/*
 * The code has no frame yet, or none any more: so BPF has read no function. The code's own data
 * names it, or a register has it, whose function has this code. The code can't have moved, but may
 * have been replaced since the sample.
 */
static void put_unframed(struct v8 *v8, struct hybrid_names *names, struct output *to,
			 const struct unframed *frame)
{
	const struct v8_address *address = frame->address;
	const struct v8_function *function = NULL;
	u64 shared = 0;

	if (!address)
		return;
	if (frame->is_innermost)
		shared = address->shared;
	if (!shared && frame->callee)
		shared = v8_code__shared(&v8->addresses.codes.known[address->code],
					 &v8->functions.heap, frame->callee);
	if (shared)
		function = v8_functions__at(&v8->functions, names, shared);
	if (function)
		put(to, v8_function__ip(function, HYBRID_WALK_NO_PLACE));
	else if (address->is_regexp)
		put(to, v8_functions__regexp(&v8->functions, names));
}

/* The mapping of V8's code, its file open; NULL: it is not there any more. */
static const struct hybrid_mapping *v8_file(const struct v8 *v8)
{
	const struct hybrid_mapping *mapping = hybrid_space_find(v8->pm.space, v8->code);

	return mapping && mapping->object && mapping->object->id == v8->object_id &&
	       hybrid_object_use(mapping) ? mapping : NULL;
}

static void v8_text_told(struct hybrid_namer *namer, struct hybrid_names *names,
			 const void *text, size_t size)
{
	struct v8 *v8 = container_of(namer, struct v8, namer);

	v8_functions__text(&v8->functions, names, v8_file(v8), text, size);
}

static unsigned int v8_name(struct hybrid_namer *namer, struct hybrid_names *names,
			    const struct hybrid_frame *frame, u64 ip, u64 *out, unsigned int room)
{
	struct v8 *v8 = container_of(namer, struct v8, namer);
	const struct hybrid_mapping *mapping = hybrid_space_find(v8->pm.space, frame->ip);
	/* What V8 has compiled is in no file. */
	bool compiled = mapping && !mapping->object;
	struct output to = { .out = out, .room = room };
	const struct v8_address *address = NULL;
	unsigned int number = v8->frame++;
	int i;

	if (!mapping || (!compiled && !is_builtin(v8, mapping, frame->ip)))
		return 0;
	i = find_function(v8, frame, number);
	if (!number)
		v8->behind_first = v8->at;
	if (i < 0 && (!compiled || (number && !frame->function)))
		return 0;
	if (!compiled || v8->names_itself)
		put(&to, ip);
	if (compiled) {
		address = v8_addresses__find(&v8->addresses, &v8->functions.heap, mapping->start,
					     frame->ret, !number);
		if (i < 0)
			put_unframed(v8, names, &to, &(struct unframed) {
				address, frame->function, !number
			});
		else
			put_compiled(v8, names, &to, address, i);
		return to.nr;
	}
	put(&to, ip_of(v8, names,
		       v8_functions__get(&v8->functions, names,
					 hybrid_named_function(v8->chain, i, 0),
					 hybrid_named_function(v8->chain, i, 1)),
		       HYBRID_WALK_NATIVE_PLACE(hybrid_named_function(v8->chain, i, 1))));
	return to.nr;
}

/* Has BPF walked it? Then its functions are found by the numbers of their frames alone. */
static bool is_walked(const struct hybrid_named_chain *c)
{
	unsigned int i;

	for (i = 0; i < c->nr_frames; i++) {
		if (c->frames[i].cfa)
			return false;
	}
	return c->nr_frames && c->nr_functions && c->user < c->nr &&
	       c->chain[c->user] == c->frames[0].ret;
}

static struct hybrid_chain_key key_of(const struct v8 *v8, const struct hybrid_named_chain *c)
{
	return hybrid_chain_key(c, 0, c->functions + 2 * sizeof(u64) * v8->behind_first,
				2 * (c->nr_functions - v8->behind_first));
}

/* Returns false if its callers are not known. */
static bool name_known(struct v8 *v8, struct hybrid_names *names, struct hybrid_named_chain *c)
{
	unsigned int room = c->max - c->nr_out, nr;
	struct hybrid_kept_chain *chain;
	struct hybrid_chain_key key;

	nr = v8_name(&v8->namer, names, &c->frames[0], c->chain[c->user], c->out + c->nr_out,
		     room);
	if (nr > room || !room)
		return false;
	hybrid_named_chain_put_first(c, nr);
	key = key_of(v8, c);
	chain = hybrid_named_chains__find(&v8->chains, c, &key);
	return chain && hybrid_named_chains__put(chain, c);
}

/* The first frame is named as any, as its place changes; the others as they were before. */
static bool v8_whole(struct hybrid_namer *namer, struct hybrid_names *names,
		     struct hybrid_named_chain *c)
{
	struct v8 *v8 = container_of(namer, struct v8, namer);

	if (!is_walked(c) || (c->is_unseen && !c->knows_first))
		return false;
	v8_begin(namer, c);
	c->is_named = name_known(v8, names, c);
	return c->is_named;
}

static void v8_keep(struct hybrid_namer *namer, const struct hybrid_named_chain *c)
{
	struct v8 *v8 = container_of(namer, struct v8, namer);
	struct hybrid_chain_key key;

	if (!is_walked(c) || v8->unread != v8->namer.nr_unread)
		return;
	key = key_of(v8, c);
	hybrid_named_chains__keep(&v8->chains, c, &key);
}

/* --perf-basic-prof, src/diagnostics/perf-jit.cc and src/logging/log.cc: PerfBasicLogger. */
static bool has_map(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
	return !access(path, R_OK);
}

/* src/deoptimizer/deoptimizer.cc: frames go on in InterpreterEnterAtNextBytecode. */
static void set_entries(struct v8 *v8)
{
	v8->pm.space->entries_id = v8->object_id;
	v8->pm.space->entries = v8->layout.walk.code;
	v8->pm.space->entries_end = v8->layout.walk.code_end;
}

static struct hybrid_namer *v8_namer(void *data, u64 pass, struct hybrid_space *space)
{
	struct v8 *v8 = data;

	v8->pm.space = space;
	set_entries(v8);
	/* V8 writes it when it has compiled something. */
	if (pass != v8->pass && !v8->names_itself)
		v8->names_itself = has_map(v8->pm.pid);
	v8->pass = pass;
	return &v8->namer;
}

static bool v8_interpreter(void *data, const struct hybrid_mapping *mapping,
			   u64 bias __maybe_unused, struct hybrid_walk_interpreter *interpreter)
{
	const struct v8 *v8 = data;
	struct v8_layout layout;

	if (!v8 && v8_layout__read(&layout, mapping->object))
		return false;
	interpreter->language = HYBRID_LANGUAGE_V8;
	interpreter->v8 = v8 ? v8->layout.walk : layout.walk;
	return true;
}

static void v8_close(void *data)
{
	struct v8 *v8 = data;

	hybrid_process_memory_exit(&v8->pm);
	v8_functions__exit(&v8->functions);
	v8_addresses__exit(&v8->addresses);
	hybrid_named_chains__exit(&v8->chains);
	free(v8);
}

static void *v8_open(const struct hybrid_process_memory *pm, const struct hybrid_mapping *mapping,
		     u64 bias __maybe_unused)
{
	struct v8 *v8 = calloc(1, sizeof(*v8));

	if (!v8)
		return NULL;
	v8->pm = *pm;
	v8->functions.heap.pm = &v8->pm;
	v8->functions.heap.layout = &v8->layout;
	v8->namer = (struct hybrid_namer) {
		.language = HYBRID_LANGUAGE_V8, .begin = v8_begin, .whole = v8_whole,
		.keep = v8_keep, .name = v8_name, .text = v8_text_told,
	};
	v8->object_id = mapping->object->id;
	v8->code = mapping->start;
	/* The file has all that is needed: the process may have ended. */
	hybrid_process_memory_map(&v8->pm);
	if (v8_layout__read(&v8->layout, mapping->object)) {
		v8_close(v8);
		return NULL;
	}
	set_entries(v8);
	return v8;
}

const struct hybrid_runtime_ops hybrid_v8_ops = {
	.symbol		= "v8dbg_off_fp_function",
	.function	= "_ZN2v87Isolate3NewERKNS0_12CreateParamsE",
	.language	= "JavaScript",
	.program	= "node",
	.open		= v8_open,
	.close		= v8_close,
	.interpreter	= v8_interpreter,
	.namer		= v8_namer,
};
