// SPDX-License-Identifier: GPL-2.0
/*
 * Compiled code: V8 has the instructions in an object of the type InstructionStream, and what it
 * knows of them in a Code, src/objects/instruction-stream.h and code.h.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include "../../rules/clock.h"
#include "v8-code.h"

/* src/common/globals.h: kCodeAlignment. Instructions begin there. */
#define ALIGNMENT	64

/* Bytes of one piece of code. */
#define MAX_CODE	(512U << 10)

/* Bytes of tables, and of code that is copied. */
#define MAX_TABLE	(256U << 10)
#define MAX_LITERALS	8192
#define MAX_EXITS	8192

/* ns */
#define CHECK_AFTER	1000000000ULL

/* Bytes of a page, and how often code is looked for in one that has none, in CHECK_AFTER. */
#define PAGE_SIZE	4096
#define MAX_MISSED	4

#define KIND_MASK	15

/* A SharedFunctionInfoWrapper has the function here, src/objects/shared-function-info.tq. */
#define WRAPPED		8

/* From a function's data to its code, src/objects/shared-function-info-inl.h: baseline_code(). */
#define MAX_HOPS	3
#define FIRST_FIELD	8

/* Words of the deoptimisation data, in order after that with the inlining positions. */
#define EXIT_START	1
#define NR_EAGER	2
#define NR_LAZY		3
#define FIRST_EXIT	4
#define EXIT_WORDS	3

/**
 * struct deopt - the data for leaving optimised code, src/objects/deoptimization-data.h
 * @words: the array's; owned
 * @nr: number of @words
 * @exits: of the code
 * @first: index of the first exit's words
 */
struct deopt {
	u64		*words;
	u32		 nr;
	struct v8_exits	 exits;
	u32		 first;
};

/* The words of an array, whatever its type; NULL if it has more than @max, or can't be read. */
static u64 *read_array(const struct v8_heap *heap, u64 word, u32 max, u32 *nr)
{
	u64 addr, length, *words;
	u16 type;

	addr = v8_object(heap, word, &type);
	length = addr ? v8_word(heap, addr + heap->layout->array_length) : 1;
	if (!v8_is_smi(length) || v8_smi(length) <= 0 || v8_smi(length) > (s32)max)
		return NULL;
	*nr = v8_smi(length);
	words = malloc(*nr * sizeof(*words));
	if (words && hybrid_process_memory_read(heap->pm, addr + heap->layout->array_data, words,
						*nr * sizeof(*words))) {
		free(words);
		words = NULL;
	}
	return words;
}

static u8 *read_bytes(const struct v8_heap *heap, u64 addr, u32 size)
{
	u8 *bytes = size && size <= MAX_TABLE ? malloc(size) : NULL;

	if (bytes && hybrid_process_memory_read(heap->pm, addr, bytes, size)) {
		free(bytes);
		bytes = NULL;
	}
	return bytes;
}

static bool read_deopt(const struct v8_heap *heap, u64 word, struct deopt *deopt)
{
	u32 at = heap->layout->deopt_inlining, i;
	s64 nr[FIRST_EXIT];

	memset(deopt, 0, sizeof(*deopt));
	deopt->words = read_array(heap, word, FIRST_EXIT + 16 + EXIT_WORDS * MAX_EXITS, &deopt->nr);
	deopt->first = at + FIRST_EXIT;
	if (!deopt->words || deopt->nr < deopt->first)
		return false;
	for (i = EXIT_START; i < FIRST_EXIT; i++) {
		if (!v8_is_smi(deopt->words[at + i]))
			return false;
		nr[i] = v8_smi(deopt->words[at + i]);
	}
	if (nr[NR_EAGER] < 0 || nr[NR_LAZY] < 0 ||
	    deopt->first + EXIT_WORDS * (nr[NR_EAGER] + nr[NR_LAZY]) != deopt->nr)
		return false;
	deopt->exits = (struct v8_exits) {
		.start = nr[EXIT_START], .nr_eager = nr[NR_EAGER],
		.nr = nr[NR_EAGER] + nr[NR_LAZY],
	};
	return true;
}

/* Each exit has three words, the second one of which is the index of its description. */
static bool read_starts(struct v8_code *code, const struct deopt *deopt)
{
	u64 word;
	u32 i;

	code->exits = deopt->exits;
	code->starts = calloc(code->exits.nr ?: 1, sizeof(*code->starts));
	for (i = 0; code->starts && i < code->exits.nr; i++) {
		word = deopt->words[deopt->first + EXIT_WORDS * i + 1];
		if (!v8_is_smi(word) || v8_smi(word) < 0)
			return false;
		code->starts[i] = v8_smi(word);
	}
	return code->starts;
}

static bool read_translation(const struct v8_heap *heap, struct v8_code *code, u64 word)
{
	const struct v8_layout *layout = heap->layout;
	u64 addr, length;
	u16 type;

	addr = v8_object(heap, word, &type);
	length = addr ? v8_word(heap, addr + layout->array_length) : 1;
	if (!v8_is_smi(length) || v8_smi(length) <= 0)
		return false;
	code->translation.size = v8_smi(length);
	code->translation.bytes = read_bytes(heap, addr + layout->array_data,
					     code->translation.size);
	return code->translation.bytes &&
	       v8_translation__choose(&code->translation, layout->version);
}

/* The table of calls begins where the instructions end. */
static bool read_points(const struct v8_heap *heap, struct v8_code *code, u32 table_size)
{
	const struct v8_safepoints safepoints = {
		.bytes = read_bytes(heap, code->start + code->size, table_size),
		.size = table_size,
		.is_maglev = (s32)code->kind == heap->layout->code_kind_baseline + 1,
		.is_new = heap->layout->version >= 13 << 8,
	};
	bool is_read;

	is_read = safepoints.bytes &&
		  v8_points__read(&code->points, &safepoints, &code->exits, code->size);
	free((u8 *)safepoints.bytes);
	return is_read;
}

static void forget(struct v8_code *code)
{
	v8_points__free(&code->points);
	free(code->instructions);
	free((u8 *)code->translation.bytes);
	free(code->starts);
	free(code->literals);
	memset(code, 0, sizeof(*code));
}

/* The word before that with the inlining positions: the function, or, from 12.5 on, its wrapper. */
static u64 find_shared(const struct v8_heap *heap, const struct deopt *deopt)
{
	const struct v8_layout *layout = heap->layout;
	u64 addr;
	u16 type;

	addr = layout->deopt_inlining ?
	       v8_object(heap, deopt->words[layout->deopt_inlining - 1], &type) : 0;
	if (addr && type != layout->type_shared)
		addr = v8_object(heap, v8_word(heap, addr + WRAPPED), &type);
	return addr && type == layout->type_shared ? addr : 0;
}

/* What optimised code stands for. Other code has no such data. */
static void read_inlined(const struct v8_heap *heap, struct v8_code *code, u32 table_size)
{
	bool has_deopt;
	struct deopt deopt;

	has_deopt = read_deopt(heap, code->deopt, &deopt);
	code->shared = has_deopt ? find_shared(heap, &deopt) : 0;
	if (has_deopt && read_starts(code, &deopt) &&
	    read_translation(heap, code, deopt.words[0])) {
		code->literals = read_array(heap, deopt.words[heap->layout->deopt_literals],
					    MAX_LITERALS, &code->nr_literals);
		code->instructions = read_bytes(heap, code->start, code->size);
		if (!code->literals || !read_points(heap, code, table_size))
			v8_points__free(&code->points);
	}
	free(deopt.words);
}

/* Is @ip in the instructions of this object? */
static bool read_code(const struct v8_heap *heap, struct v8_code *code, u64 stream, u64 ip)
{
	const struct v8_layout *layout = heap->layout;
	u32 sizes[2];
	u64 addr;
	u16 type;

	memset(code, 0, sizeof(*code));
	code->words[0] = v8_word(heap, stream);
	code->words[1] = v8_word(heap, stream + 8);
	addr = layout->type_stream == layout->type_code ?
	       stream : v8_object(heap, code->words[1], &type);
	if (!addr || (addr != stream && type != layout->type_code) ||
	    hybrid_process_memory_read(heap->pm, addr + layout->code_size, sizes, sizeof(sizes)))
		return false;
	code->start = stream + layout->stream_start;
	code->size = sizes[0];
	if (ip < code->start || ip - code->start > code->size || code->size > MAX_CODE)
		return false;
	code->stream = stream;
	code->kind = v8_u32(heap, addr + layout->code_flags) & KIND_MASK;
	code->deopt = v8_word(heap, addr + layout->code_deopt);
	code->checked = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE);
	if ((s32)code->kind > layout->code_kind_baseline)
		read_inlined(heap, code, sizes[1]);
	return true;
}

/* Does an object with instructions begin at @at? */
static bool is_stream(struct v8_codes *codes, const struct v8_heap *heap, u64 at, u64 word)
{
	u16 type;

	if (codes->map)
		return word == codes->map;
	if ((word & V8_TAG_MASK) != V8_TAG || v8_object(heap, at + V8_TAG, &type) != at ||
	    type != heap->layout->type_stream)
		return false;
	codes->map = word;
	return true;
}

/*
 * The object that @ip is in is the nearest one below it. As instructions begin at a multiple of 64,
 * so do these objects, but for a constant.
 */
static u64 find_stream(struct v8_codes *codes, const struct v8_heap *heap, u64 from, u64 ip)
{
	u64 start = heap->layout->stream_start, at = ip / ALIGNMENT * ALIGNMENT - start, word;

	for (; start && at >= from && ip - at < MAX_CODE; at -= ALIGNMENT) {
		if (hybrid_process_memory_read(heap->pm, at, &word, sizeof(word)))
			return 0;
		if (is_stream(codes, heap, at, word))
			return at;
	}
	return 0;
}

u64 v8_code__shared(const struct v8_code *code, const struct v8_heap *heap, u64 function)
{
	u64 addr, shared, data;
	unsigned int hops;
	u16 type;

	addr = v8_object(heap, function, &type);
	shared = addr ? v8_object(heap, v8_word(heap, addr + heap->layout->function_shared),
				  &type) : 0;
	if (!shared || type != heap->layout->type_shared || !code->stream)
		return 0;
	data = v8_word(heap, shared + heap->layout->shared_data);
	/* Of the baseline compiler it is the code, in later versions without an object between. */
	for (hops = 0; hops < MAX_HOPS; hops++) {
		addr = v8_object(heap, data, &type);
		if (!addr)
			return 0;
		if (addr == code->stream || data == code->words[1])
			return shared;
		data = v8_word(heap, addr + FIRST_FIELD);
	}
	return 0;
}

bool v8_code__is_current(struct v8_code *code, const struct v8_heap *heap)
{
	u64 time = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE), words[2];

	if (!code->stream)
		return false;
	if (time - code->checked < CHECK_AFTER)
		return true;
	code->checked = time;
	/* If nothing can be read the process has ended, and nothing has changed. */
	if (hybrid_process_memory_read(heap->pm, code->stream, words, sizeof(words)) ||
	    !memcmp(words, code->words, sizeof(words)))
		return true;
	forget(code);
	return false;
}

/*
 * To find nothing takes thousands of reads. The place of code that is no object of V8's heap, as
 * WebAssembly's, has none later, either.
 */
static bool is_missed(struct v8_missed *missed, u64 page)
{
	u64 time = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE);

	if (missed->page != page || (s64)(time - missed->time) >= (s64)CHECK_AFTER)
		*missed = (struct v8_missed) { .page = page, .time = time };
	return missed->nr >= MAX_MISSED;
}

struct v8_code *v8_codes__find(struct v8_codes *codes, const struct v8_heap *heap, u64 from, u64 ip)
{
	u64 page = ip - ip % PAGE_SIZE, stream;
	struct v8_code *code, found;
	struct v8_missed *missed;
	unsigned int i;

	for (i = 0; i < V8_CODES; i++) {
		code = &codes->known[i];
		if (code->stream && ip >= code->start && ip - code->start <= code->size &&
		    v8_code__is_current(code, heap))
			return code;
	}
	missed = &codes->missed[hash_64(page, V8_MISSED_BITS)];
	if (is_missed(missed, page))
		return NULL;
	stream = find_stream(codes, heap, from, ip);
	if (!stream || !read_code(heap, &found, stream, ip)) {
		missed->nr++;
		return NULL;
	}
	missed->nr = 0;
	code = &codes->known[codes->next++ % V8_CODES];
	forget(code);
	*code = found;
	code->serial = ++codes->serial;
	return code;
}

void v8_codes__exit(struct v8_codes *codes)
{
	unsigned int i;

	for (i = 0; i < V8_CODES; i++)
		forget(&codes->known[i]);
}
