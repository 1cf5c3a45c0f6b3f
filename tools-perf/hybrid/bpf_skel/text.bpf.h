/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_TEXT_BPF_H
#define __HYBRID_TEXT_BPF_H

/*
 * perf is told the texts of a function once, before the first sample in it: when perf reads that
 * sample, the process may have ended. Those of Perl, PHP and Ruby are three strings: package or
 * class, name, and file. A Perl program's outermost code has the file alone. Python and V8 have
 * files of their own.
 */
#include "mark.bpf.h"
#include "output.bpf.h"
#include "perl-object.h"
#include "php-object.h"
#include "ruby-text.bpf.h"

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
	const __u32 most = sizeof(text->bytes) - HYBRID_PYTHON_TABLE;

	barrier_var(used);
	barrier_var(size);
	return used <= most && size <= HYBRID_PYTHON_TABLE &&
	       !bpf_probe_read_user(&text->bytes[used], size, (void *)from);
}

/* The word of which the upper half is the 32 bits at an offset. */
#define WORD_OF(offset)	((offset) - 4)

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

/* A name of Perl: its length is 32 bits, in the upper half of its first word. */
static __always_inline void find_perl_name(struct state *st, __u32 i, __u64 name)
{
	st->pieces[i].at = name + PERL_NAME_TEXT;
	st->pieces[i].size = name ? user_word(name + WORD_OF(PERL_NAME_LENGTH)) >> 32 : 0;
}

/* Several names: the first one is what the package was made as, if that is still one. */
static __always_inline void find_package(struct state *st, __u64 stash)
{
	__u64 body = user_word(stash), name = user_word(body + PERL_HV_NAME);
	__s32 nr = user_word(body + WORD_OF(PERL_HV_NR_NAMES)) >> 32;

	if (!(user_word(stash + WORD_OF(PERL_SV_FLAGS)) >> 32 & PERL_HV_HAS_NAME))
		return;
	if (nr)
		name = user_word(name + (nr < 0 ? sizeof(name) : 0));
	find_perl_name(st, 0, name);
}

/* Package, name and file, which is no name: its length is not known. */
__noinline int find_perl_strings(struct state *st, __u64 sub)
{
	__u64 body = user_word(sub), named = user_word(body + PERL_CV_NAMED);
	__u64 stash = user_word(body + PERL_CV_STASH), has_name;
	struct hybrid_walk_text *text;

	if (!st)
		return 0;
	text = (void *)&st->record.ips[TEXT_AT];
	text->type = named;
	text->line = user_word(user_word(body + PERL_CV_START) + WORD_OF(PERL_COP_LINE)) >> 32;
	if (user_word(body + WORD_OF(PERL_CV_FLAGS)) >> 32 & PERL_CV_IS_NAMED) {
		find_perl_name(st, 1, named);
	} else if (named) {
		has_name = user_word(named);
		find_perl_name(st, 1, user_word(has_name + PERL_GV_NAME));
		stash = user_word(has_name + PERL_GV_STASH);
	}
	find_package(st, stash);
	st->pieces[2].at = user_word(body + PERL_CV_FILE);
	return 0;
}

static __always_inline void find_php_string(struct state *st, __u32 i, __u64 string)
{
	st->pieces[i].at = string + PHP_STRING_BYTES;
	st->pieces[i].size = string ? user_word(string + PHP_STRING_LENGTH) : 0;
}

/* Class, name and file; of the outermost code of a file that alone. */
__noinline int find_php_strings(struct state *st, __u64 function, bool is_file)
{
	const struct hybrid_walk_php *in;
	struct hybrid_walk_text *text;
	__u64 class, code;

	if (!st)
		return 0;
	in = &st->interpreter.php;
	text = (void *)&st->record.ips[TEXT_AT];
	if (is_file) {
		find_php_string(st, 2, function);
		return 0;
	}
	class = user_word(function + PHP_FUNCTION_SCOPE);
	if (class)
		find_php_string(st, 0, user_word(class + PHP_CLASS_NAME));
	find_php_string(st, 1, user_word(function + PHP_FUNCTION_NAME));
	/* An internal one has no code. */
	if ((__u8)user_word(function) == PHP_INTERNAL)
		return 0;
	find_php_string(st, 2, user_word(function + in->file));
	code = user_word(function + in->code);
	text->line = user_word(code + PHP_OP_LINE);
	return 0;
}

/* One piece more, after the others. Returns its bytes. */
static __always_inline __u32 put_piece(struct state *st, struct hybrid_walk_text *text, __u32 i,
				       __u32 used)
{
	__u64 size = st->pieces[i].size;

	if (size > HYBRID_PYTHON_STRING)
		size = HYBRID_PYTHON_STRING;
	return size && put_bytes(text, used, st->pieces[i].at, size) ? size : 0;
}

/* The last piece, of Perl. */
static __always_inline __u32 put_c_string(struct state *st, struct hybrid_walk_text *text,
					  __u32 used)
{
	long size;

	if (used > 2 * HYBRID_PYTHON_STRING)
		return 0;
	size = bpf_probe_read_user_str(&text->bytes[used], HYBRID_PYTHON_STRING,
				       (void *)st->pieces[2].at);
	return size > 0 && size <= HYBRID_PYTHON_STRING ? size - 1 : 0;
}

/* Reads the strings to the record. Returns the record's bytes; 0: there is no name. */
__noinline __u64 put_strings(struct state *st, __u64 function, __u64 word)
{
	struct hybrid_walk_text *text;
	__u32 used, size, language;

	if (!st)
		return 0;
	text = (void *)&st->record.ips[TEXT_AT];
	language = st->interpreter.language;
	__builtin_memset(st->pieces, 0, sizeof(st->pieces));
	begin_text(st, text, word, language);
	text->type = 0;
	text->size = 0;
	text->line = 0;
	text->states[0] = 0;
	text->states[1] = 0;
	if (language == HYBRID_LANGUAGE_RUBY)
		find_ruby_strings(st, function);
	else if (language == HYBRID_LANGUAGE_PERL && word & HYBRID_WALK_PERL_CODE)
		st->pieces[2].at = user_word(function + PERL_COP_FILE);
	else if (language == HYBRID_LANGUAGE_PERL)
		find_perl_strings(st, function);
	else
		find_php_strings(st, function, word & HYBRID_WALK_PHP_FILE);
	used = put_piece(st, text, 0, 0);
	text->sizes[0] = used;
	size = put_piece(st, text, 1, used);
	text->sizes[1] = size;
	used += size;
	size = language == HYBRID_LANGUAGE_PERL ? put_c_string(st, text, used) :
	       put_piece(st, text, 2, used);
	text->sizes[2] = size;
	used += size;
	return used ? used + offsetof(struct hybrid_walk_text, bytes) : 0;
}

/* Tells perf the strings of one function. @i: less than NR_UNTOLD. */
static __always_inline void tell_strings(struct text_loop *loop, __u32 i)
{
	struct state *st = loop->st;
	struct hybrid_walk_text *text = (void *)&st->record.ips[TEXT_AT];
	__u64 size;

	st->telling.identity = st->untold[i].identity;
	size = put_strings(st, st->untold[i].code, st->telling.identity);
	if (size)
		tell_text(loop, text, size, st->telling.identity & HYBRID_WALK_FUNCTION_ADDR);
}

#endif /* __HYBRID_TEXT_BPF_H */
