/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_TEXT_BPF_H
#define __HYBRID_TEXT_BPF_H

/*
 * perf is told the texts of a function once, before the first sample in it: when perf reads that
 * sample, the process may have ended. They are three strings, package or class, name, and file, but
 * where the language has more.
 */
#include "language.bpf.h"
#include "output.bpf.h"

/* Functions whose texts perf has. */
#define MAX_TOLD	16384

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__type(key, struct hybrid_walk_code_key);
	__type(value, struct told_code);
	__uint(max_entries, MAX_TOLD);
} told SEC(".maps");

/* What the function that bpf_loop() calls is given. */
struct text_loop {
	struct state *st;
	void *ctx;
};

static __always_inline void begin_text(const struct state *st, struct hybrid_walk_text *text,
				       __u64 function, __u32 language)
{
	text->head = st->record.head;
	text->head.info = 0;
	text->head.kind = HYBRID_WALK_RECORD_TEXT;
	text->head.nr_kernel = 0;
	text->function = function;
	text->language = language;
}

/* Writes a record of @size bytes, if there is room. Returns false if perf does not get it. */
static __always_inline bool tell_text(struct text_loop *loop, struct hybrid_walk_text *text,
				      __u64 size, __u64 function)
{
	struct state *st = loop->st;

	barrier_var(size);
	if (size > st->text_room || size > sizeof(*text) ||
	    bpf_perf_event_output(loop->ctx, &output, st->output, text, size))
		return false;
	st->text_room -= size;
	st->code_key.ip = function;
	bpf_map_update_elem(&told, &st->code_key, &st->telling, BPF_ANY);
	return true;
}

/* Appends bytes of user space to the @used ones that a record has. */
static __always_inline bool put_bytes(struct hybrid_walk_text *text, __u32 used, __u64 from,
				      __u64 size)
{
	const __u32 most = sizeof(text->bytes) - HYBRID_WALK_TABLE;

	barrier_var(used);
	barrier_var(size);
	return used <= most && size <= HYBRID_WALK_TABLE &&
	       !bpf_probe_read_user(&text->bytes[used], size, (void *)from);
}

/* What perf was told of the function at an address. */
static __always_inline const struct told_code *find_told(const struct state *st, __u64 function)
{
	struct hybrid_walk_code_key key = { .space = st->code_key.space, .ip = function };

	return bpf_map_lookup_elem(&told, &key);
}

/*
 * A function whose mark is new is to be told. @function: address of what is read. @word: as records
 * have it. If perf was told of another word at that address, it is told again.
 */
__noinline int meet_function(struct state *st, __u64 function, __u64 word)
{
	const struct told_code *known;
	__u32 at;

	if (!st)
		return 0;
	known = find_told(st, word & HYBRID_WALK_FUNCTION_ADDR);
	at = st->nr_untold;
	if (at >= NR_UNTOLD || (known && known->identity == word))
		return 0;
	st->untold[at].code = function;
	st->untold[at].identity = word;
	st->untold[at].language = st->language;
	st->nr_untold = at + 1;
	return 0;
}

/* One piece more, after the others. Returns its bytes. */
static __always_inline __u32 put_piece(struct state *st, struct hybrid_walk_text *text, __u32 i,
				       __u32 used)
{
	__u64 size = st->pieces[i].size;

	if (size > HYBRID_WALK_STRING)
		size = HYBRID_WALK_STRING;
	return size && put_bytes(text, used, st->pieces[i].at, size) ? size : 0;
}

/* The last piece, if it ends with 0. */
static __always_inline __u32 put_c_string(struct state *st, struct hybrid_walk_text *text,
					  __u32 used)
{
	long size;

	if (used > 2 * HYBRID_WALK_STRING)
		return 0;
	size = bpf_probe_read_user_str(&text->bytes[used], HYBRID_WALK_STRING,
				       (void *)st->c_string);
	return size > 0 && size <= HYBRID_WALK_STRING ? size - 1 : 0;
}

/* Is @st->interpreter that of the language, of the address space? */
static __always_inline bool is_interpreter(struct state *st, __u32 language)
{
	return st->interpreter.language == language || find_interpreter(st, language);
}

/* The record of one function begins; false: its interpreter is not known. @i: of @st->untold. */
__noinline int begin_strings(struct state *st, __u32 i, __u32 language)
{
	struct hybrid_walk_text *text;

	if (!st || i >= NR_UNTOLD || !is_interpreter(st, language))
		return false;
	text = (void *)&st->record.ips[TEXT_AT];
	__builtin_memset(st->pieces, 0, sizeof(st->pieces));
	st->c_string = 0;
	st->telling.identity = st->untold[i].identity;
	begin_text(st, text, st->telling.identity, language);
	text->type = 0;
	text->size = 0;
	text->line = 0;
	text->states[0] = 0;
	text->states[1] = 0;
	return true;
}

/* Reads the strings to the record. Returns the record's bytes; 0: there is no name. */
__noinline __u64 put_strings(struct state *st)
{
	struct hybrid_walk_text *text;
	__u32 used, size;

	if (!st)
		return 0;
	text = (void *)&st->record.ips[TEXT_AT];
	used = put_piece(st, text, 0, 0);
	text->sizes[0] = used;
	size = put_piece(st, text, 1, used);
	text->sizes[1] = size;
	used += size;
	size = st->c_string ? put_c_string(st, text, used) : put_piece(st, text, 2, used);
	text->sizes[2] = size;
	used += size;
	return used ? used + offsetof(struct hybrid_walk_text, bytes) : 0;
}

/* Tells perf the strings at @st->pieces; @st->c_string, if it is set, stands for the last one. */
static __always_inline void tell_strings(struct text_loop *loop)
{
	struct state *st = loop->st;
	__u64 size = put_strings(st);

	if (size)
		tell_text(loop, (void *)&st->record.ips[TEXT_AT], size,
			  st->telling.identity & HYBRID_WALK_FUNCTION_ADDR);
}

#endif /* __HYBRID_TEXT_BPF_H */
