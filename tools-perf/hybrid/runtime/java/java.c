// SPDX-License-Identifier: GPL-2.0
/*
 * A JVM, as the unwinder asks for it.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include "../../rules/clock.h"
#include "java-code-hash.h"
#include "../named-chains.h"
#include "../runtime.h"
#include "continuation.h"
#include "frame-name.h"
#include "frame-rule.h"

#define KNOWN_BITS	13
#define BLOB_BITS	12

/* Bytes, as a binary logarithm, that are likely to be of one blob: HotSpot's segments have them. */
#define LINE_BITS	6

/* Where the heaps are is read again after so long, then after twice that and so on, in ns. */
#define FIRST_WAIT	100000000ULL
#define LONGEST_WAIT	3200000000ULL

/**
 * struct known - which blob a line of code is in
 * @line: number of the line: address >> LINE_BITS; 0: none
 * @blob: address of the blob; 0: it is in none
 * @compile_id: of that blob
 * @pass: over the rings in which it was looked up
 */
struct known {
	u64	line;
	u64	blob;
	u32	compile_id;
	u64	pass;
};

/**
 * struct known_blob - a blob that was read
 * @pass: over the rings in which it was read; 0: none was
 * @blob: as it was then
 */
struct known_blob {
	u64			pass;
	struct java_blob	blob;
};

/**
 * struct java - a JVM
 * @vm: what it says of its data
 * @cache: its code
 * @interpreter: a part of that
 * @pass: the current one over the rings
 * @refreshed: when @cache was refreshed, in ns
 * @wait: how long after that it is refreshed again, in ns
 * @is_outside: it was refreshed in this pass for an address that it did not have, or that is in no
 *	blob
 * @walk: as a walker in the kernel needs to know it
 * @is_described: @walk is valid
 * @is_gone: nothing can be read any more
 * @namer: names frames
 * @names: what @namer knows
 * @nr_partial: of @names, when the chain that is named began
 * @chains: that were named
 * @known: by the number of the line
 * @blobs: by address
 */
struct java {
	struct java_vm		vm;
	struct java_code_cache	cache;
	struct java_interpreter	interpreter;
	u64			pass;
	u64			refreshed;
	u64			wait;
	bool			is_outside;
	struct hybrid_walk_compiled	walk;
	bool			is_described;
	bool			is_gone;
	struct hybrid_namer	namer;
	struct java_names	names;
	u64			nr_partial;
	struct hybrid_named_chains chains;
	struct known		known[1 << KNOWN_BITS];
	struct known_blob	blobs[1 << BLOB_BITS];
};

static void refresh(struct java *java)
{
	u64 size = java_code_cache__size(&java->cache);

	hybrid_memory_look_again(java->vm.pm.memory, true);
	java->is_gone = java_code_cache__refresh(&java->cache, &java->vm);
	hybrid_memory_look_again(java->vm.pm.memory, false);
	java->refreshed = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE);
	if (java->wait && size == java_code_cache__size(&java->cache)) {
		java->wait = min_t(u64, 2 * java->wait, LONGEST_WAIT);
		return;
	}
	java->wait = FIRST_WAIT;
	java->is_described = java_code_cache__describe(&java->cache, &java->walk);
}

/* Begins to answer a question: @space is that of the process now. */
static void enter(struct java *java, u64 pass, struct hybrid_space *space)
{
	java->vm.pm.space = space;
	if (java->pass == pass)
		return;
	java->pass = pass;
	java->is_outside = false;
	if (java->is_gone ||
	    hybrid_clock_ns(CLOCK_MONOTONIC_COARSE) - java->refreshed >= java->wait)
		refresh(java);
	if (!java->interpreter.nr)
		java_interpreter__read(&java->interpreter, &java->vm);
}

/* Is what was read in that pass still to be used? Of a process that is gone it is all there is. */
static bool is_current(const struct java *java, u64 pass)
{
	return pass == java->pass || (pass && java->is_gone);
}

static const struct java_blob *read_blob(struct java *java, u64 addr)
{
	struct known_blob *known = &java->blobs[hash_64(addr, BLOB_BITS)];
	bool is_known = known->blob.addr == addr && known->pass, is_read;
	struct java_blob blob;

	if (is_known && is_current(java, known->pass))
		return &known->blob;
	hybrid_memory_look_again(java->vm.pm.memory, is_known);
	is_read = java_code_cache__read(&java->cache, &java->vm, addr, &blob);
	hybrid_memory_look_again(java->vm.pm.memory, false);
	/* Is the blob gone, or the process? */
	if (!is_read && is_known)
		refresh(java);
	if (!is_read && is_known && java->is_gone)
		return &known->blob;
	*known = (struct known_blob) {};
	if (!is_read)
		return NULL;
	known->blob = blob;
	known->pass = java->pass;
	return &known->blob;
}

static bool holds(const struct java_blob *blob, u64 pc)
{
	return blob && pc >= blob->code && pc < blob->end;
}

/* The process is gone: of the blobs that were read, the newest one whose code holds the address. */
static u64 find_known(const struct java *java, u64 pc)
{
	const struct known_blob *found = NULL, *at;

	for (at = java->blobs; at < java->blobs + (1 << BLOB_BITS); at++) {
		if (at->pass && holds(&at->blob, pc) && (!found || at->pass > found->pass))
			found = at;
	}
	return found ? found->blob.addr : 0;
}

/* The address of the blob whose code holds an address; 0: there is none. */
static u64 find_address(struct java *java, u64 pc)
{
	u64 addr = java_code_cache__blob_at(&java->cache, &java->vm, pc);

	if (!addr && !java->is_outside) {
		java->is_outside = true;
		refresh(java);
	}
	return addr || !java->is_gone ? addr : find_known(java, pc);
}

/* Looks the address's blob up in the process. */
static const struct java_blob *look_up(struct java *java, struct known *known, u64 pc)
{
	/* Of a line that is not known the blob may be; it is new if another one was there. */
	bool is_new = known->line == pc >> LINE_BITS && known->blob;
	const struct java_blob *blob;

	hybrid_memory_look_again(java->vm.pm.memory, !is_new);
	*known = (struct known) {
		.line = pc >> LINE_BITS, .pass = java->pass,
		.blob = find_address(java, pc),
	};
	hybrid_memory_look_again(java->vm.pm.memory, false);
	blob = known->blob ? read_blob(java, known->blob) : NULL;
	if (blob)
		known->compile_id = blob->compile_id;
	return holds(blob, pc) ? blob : NULL;
}

/* Is the address in a heap of code? Heaps only grow, mostly while the JVM starts. */
static bool is_code(struct java *java, u64 pc)
{
	const struct hybrid_mapping *mapping;

	if (java_code_cache__has(&java->cache, pc))
		return true;
	mapping = java->is_outside ? NULL : hybrid_space_find(java->vm.pm.space, pc);
	if (!mapping || mapping->object)
		return false;
	java->is_outside = true;
	refresh(java);
	return java_code_cache__has(&java->cache, pc);
}

/*
 * Code is freed, and its place used again: what was found is looked at again in each pass. A blob
 * that is gone is not in use, see java_code_cache__read(), or another one has its number.
 */
static const struct java_blob *find_blob(struct java *java, u64 pc)
{
	struct known *known = &java->known[hash_64(pc >> LINE_BITS, KNOWN_BITS)];
	const struct java_blob *blob;

	if (!is_code(java, pc))
		return NULL;
	if (known->line != pc >> LINE_BITS)
		return look_up(java, known, pc);
	blob = known->blob ? read_blob(java, known->blob) : NULL;
	if (blob && blob->compile_id == known->compile_id && holds(blob, pc)) {
		known->pass = java->pass;
		return blob;
	}
	return is_current(java, known->pass) && !blob ? NULL : look_up(java, known, pc);
}

/*
 * C2 pushes registers for some of its instructions and pops them after that: string_compare() in
 * c2_MacroAssembler_x86.cpp. Nothing describes them. Methods are called from code of the JVM alone:
 * of the words where the return address may be, take the first one that is an address of that.
 */
static void skip_pushed(const struct java *java, const struct hybrid_unwind *u, unsigned int at,
			struct hybrid_rule *rule)
{
	u64 sp = at ? u->frames[at - 1].cfa : u->regs.value[u->abi->sp], ret;
	unsigned int i;

	if (rule->kind != HYBRID_RULE_CFA || rule->base != HYBRID_BASE_SP || !sp)
		return;
	for (i = 0; i <= HYBRID_WALK_PUSHED; i++, sp += sizeof(ret)) {
		if (hybrid_unwind_read(u, sp + rule->cfa_off + rule->ra_off, sizeof(ret), &ret))
			return;
		if (!java_code_cache__has(&java->cache, ret))
			continue;
		rule->cfa_off += i * sizeof(ret);
		return;
	}
}

static bool java_rule(void *data, u64 pass, const struct hybrid_unwind *u, unsigned int at,
		      struct hybrid_rule *rule)
{
	const struct java_blob *blob;
	struct java *java = data;

	enter(java, pass, u->space);
	blob = find_blob(java, u->frames[at].ret);
	if (blob && blob->kind == JAVA_BLOB_OTHER && at &&
	    java_is_return_barrier(&java->vm, u->frames[at].ret))
		return java_continuation_rule(&java->cache, &java->vm, u, at, rule);
	if (!blob || !java_frame_rule(&java->vm, &java->interpreter, blob, u, at, rule))
		return false;
	if (blob->kind == JAVA_BLOB_METHOD && at <= 1)
		skip_pushed(java, u, at, rule);
	return true;
}

static bool java_range(void *data, u64 pass, const struct hybrid_unwind *u, unsigned int at,
		       struct hybrid_runtime_range *range)
{
	const struct hybrid_frame *frame = &u->frames[at];
	const struct java_blob *blob;
	struct java *java = data;

	enter(java, pass, u->space);
	blob = find_blob(java, frame->ret);
	if (!blob)
		return false;
	if (java->is_described && java_frame_is_walked(blob, !at || frame->ip == frame->ret)) {
		range->compiled = &java->walk;
		return true;
	}
	return java_frame_range(&java->vm, &java->interpreter, blob, frame->ret, range);
}

static unsigned int java_name(struct hybrid_namer *namer, struct hybrid_names *names,
			      const struct hybrid_frame *frame, u64 ip __maybe_unused,
			      u64 *out, unsigned int room)
{
	struct java *java = container_of(namer, struct java, namer);
	u64 ips[HYBRID_NAMES_OF_FRAME];
	const struct java_blob *blob;
	unsigned int nr;

	if (!java_code_cache__has(&java->cache, frame->ret))
		return 0;
	blob = find_blob(java, frame->ret);
	/* A new blob was asked for by find_blob(): of a known one there will be time. */
	hybrid_memory_look_again(java->vm.pm.memory, true);
	nr = blob ? java_names__frame(&java->names, names, blob, frame, ips) : 0;
	hybrid_memory_look_again(java->vm.pm.memory, false);
	namer->nr_unread += !nr;
	memcpy(out, ips, min(nr, room) * sizeof(*out));
	return nr;
}

/* A blob without a frame has no part in the code_hash, nor is it ever freed. */
static bool is_hashed(const struct java_blob *blob)
{
	return blob && blob->frame_size >= 2 * sizeof(u64);
}

/* The first frame of a chain whose blob is known. Returns false if it has to be looked up. */
static bool name_first(struct java *java, struct hybrid_names *names, struct hybrid_named_chain *c,
		       const struct java_blob_id *blob)
{
	const struct hybrid_frame *frame = &c->frames[0];
	u64 ips[HYBRID_NAMES_OF_FRAME];
	const struct java_blob *found;
	unsigned int nr = 0;

	if (java_code_cache__has(&java->cache, frame->ret)) {
		nr = blob->addr ? java_names__known(&java->names, blob, frame->ret, ips) : 0;
		found = nr ? NULL : find_blob(java, frame->ret);
		if (found && (!blob->addr || java_is_blob(found, blob)))
			nr = java_name(&java->namer, names, frame, frame->ip, ips,
				       ARRAY_SIZE(ips));
		if (!nr)
			return false;
		c->first = ips[0];
	} else {
		if (c->is_unseen && !c->knows_first)
			return false;
		ips[nr++] = c->chain[c->user];
	}
	if (nr > c->max - c->nr_out)
		return false;
	memcpy(c->out + c->nr_out, ips, nr * sizeof(*ips));
	c->nr_out += nr;
	return true;
}

/* Is the first user entry of the chain its first frame, and none whose function changes? */
static bool has_first(const struct hybrid_named_chain *c)
{
	return c->code_hash && c->frames && c->nr_frames && c->user < c->nr &&
	       c->chain[c->user] == c->frames[0].ip && !c->frames[0].function;
}

/*
 * Two chains with the same code_hash came through the same blobs. If the blobs, all callers and
 * what the interpreter runs are the same, the names are. The first frame may be at another address
 * of its blob.
 */
static struct hybrid_chain_key key_of(const struct hybrid_named_chain *c)
{
	return hybrid_chain_key(c, c->code_hash, c->walked, 2 * c->nr_walked);
}

static bool java_whole(struct hybrid_namer *namer, struct hybrid_names *names,
		       struct hybrid_named_chain *c)
{
	struct java *java = container_of(namer, struct java, namer);
	struct hybrid_kept_chain *chain;
	struct hybrid_chain_key key;
	struct java_blob_id first;

	java->nr_partial = java->names.nr_partial;
	if (!has_first(c))
		return false;
	key = key_of(c);
	chain = hybrid_named_chains__find(&java->chains, c, &key);
	if (!chain)
		return false;
	memcpy(&first, chain->first, sizeof(first));
	if (!name_first(java, names, c, &first))
		return false;
	c->rest = c->nr_out;
	c->is_named = hybrid_named_chains__put(chain, c);
	return c->is_named;
}

/* Only if the blobs that it was named by are those that the walk came through. */
static void java_keep(struct hybrid_namer *namer, const struct hybrid_named_chain *c)
{
	struct java *java = container_of(namer, struct java, namer);
	struct java_blob_id first = {};
	struct hybrid_kept_chain *chain;
	const struct java_blob *blob;
	struct hybrid_chain_key key;
	unsigned int i;
	u64 code_hash = 0;

	if (!has_first(c) || java->nr_partial != java->names.nr_partial)
		return;
	for (i = 0; i < c->nr_frames; i++) {
		if (!java_code_cache__has(&java->cache, c->frames[i].ret))
			continue;
		blob = find_blob(java, c->frames[i].ret);
		if (!is_hashed(blob))
			continue;
		code_hash = hybrid_java_code_hash(code_hash, blob->addr, blob->name, blob->hash_id,
						  blob->frame_size / sizeof(u64));
		if (!i)
			first = java_blob_id(blob);
	}
	if (code_hash != c->code_hash)
		return;
	key = key_of(c);
	chain = hybrid_named_chains__keep(&java->chains, c, &key);
	if (chain)
		memcpy(chain->first, &first, sizeof(first));
}

static void *java_open(const struct hybrid_process_memory *pm, const struct hybrid_mapping *mapping,
		       u64 bias)
{
	struct java *java = calloc(1, sizeof(*java));

	if (!java)
		return NULL;
	java->vm.pm = *pm;
	java->namer = (struct hybrid_namer) {
		.language = HYBRID_LANGUAGE_JAVA, .is_by_code = true, .name = java_name,
		.whole = java_whole, .keep = java_keep,
	};
	if (!hybrid_process_memory_map(&java->vm.pm) &&
	    !java_vm__open(&java->vm, mapping->object, bias) &&
	    !java_code_cache__init(&java->cache, &java->vm)) {
		java_names__init(&java->names, &java->vm);
		return java;
	}
	java_vm__close(&java->vm);
	hybrid_process_memory_exit(&java->vm.pm);
	free(java);
	return NULL;
}

static void java_close(void *data)
{
	struct java *java = data;

	hybrid_named_chains__exit(&java->chains);
	java_vm__close(&java->vm);
	hybrid_process_memory_exit(&java->vm.pm);
	free(java);
}

static struct hybrid_namer *java_namer(void *data, u64 pass, struct hybrid_space *space)
{
	struct java *java = data;

	enter(java, pass, space);
	return &java->namer;
}

const struct hybrid_runtime_ops hybrid_java_ops = {
	.symbol	= "gHotSpotVMStructs",
	.language = "Java",
	.open	= java_open,
	.close	= java_close,
	.rule	= java_rule,
	.range	= java_range,
	.namer	= java_namer,
};
