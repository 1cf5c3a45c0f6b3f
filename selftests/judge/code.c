// SPDX-License-Identifier: GPL-2.0
/* Where control goes, by what the code says. */
#include <stdlib.h>
#include <string.h>

#include "../frame/flow.h"
#include "code.h"

#define MAX_INSNS	50000
#define MAX_BLOCK	(1 << 18)
/* Where no table tells functions apart. */
#define MAX_GAP		4096
#define MAX_INSN_SIZE	15

/**
 * struct block - decoded code: a function, or what has no unwind table
 * @start: its first address
 * @next: in the list of the object's
 * @flow: its instructions
 * @cut: the code is longer: only so much is decoded in one piece
 */
struct block {
	u64		start;
	struct block	*next;
	struct flow	flow;
	bool		cut;
};

/* The code from an address on, up to the next function. */
static u64 end_of_gap(const struct object *object, u64 addr)
{
	const struct function *next = object_function_behind(object, addr);
	u64 end = object->image.base + object->image.size;

	return next && next->start < end ? next->start : end;
}

/* As much of the code from @start to @end as @most. */
static struct block *block_from(struct object *object, u64 start, u64 end, u64 most)
{
	const bool cut = end > start + most;
	struct block **list = &object->blocks[start % OBJECT_LISTS], *block;
	const u8 *code;

	for (block = *list; block; block = block->next) {
		if (block->start == start)
			return block;
	}
	if (cut)
		end = start + most;
	code = end > start ? object_bytes(object, start, end - start) : NULL;
	block = code ? calloc(1, sizeof(*block)) : NULL;
	if (!block || flow_decode(&block->flow, code, end - start, object->image.is_64bit)) {
		free(block);
		return NULL;
	}
	block->start = start;
	block->cut = cut;
	block->next = *list;
	*list = block;
	return block;
}

/* NULL also if no unwind table names a function at @addr. */
static struct block *function_block(struct object *object, u64 addr)
{
	const struct function *function = object_function(object, addr);

	return function ? block_from(object, function->start, function->end, MAX_BLOCK) : NULL;
}

static struct block *block_at(struct object *object, u64 addr)
{
	if (object_function(object, addr))
		return function_block(object, addr);
	return object_is_code(object, addr) ?
		block_from(object, addr, end_of_gap(object, addr), MAX_GAP) : NULL;
}

/* The address that an instruction names relative to its end: its last four bytes. */
static u64 relative(const u8 *end, u64 addr)
{
	s32 off;

	memcpy(&off, end - 4, sizeof(off));
	return addr + off;
}

static bool is_prefix(u8 byte)
{
	return (byte & 0xf0) == 0x40 || byte == 0x66 || byte == 0x67 || byte == 0xf2 ||
	       byte == 0xf3 || byte == 0x2e || byte == 0x3e;
}

/* Is it, up to @size bytes, @op and four bytes, with prefixes? */
static bool has_op(const u8 *code, u8 size, const u8 *op, u8 op_size)
{
	int i, first = size - 4 - op_size;

	if (first < 0 || memcmp(code + first, op, op_size))
		return false;
	for (i = 0; i < first; i++) {
		if (!is_prefix(code[i]))
			return false;
	}
	return true;
}

static void through_slot(const struct object *object, u64 at, struct call *call)
{
	const struct slot *slot = object_slot(object, at);

	if (!slot || !object->image.is_64bit)
		return;
	call->known = slot->name || slot->value;
	call->name = slot->name;
	call->target = slot->value;
}

/* What a call of @size bytes says. */
static void decode_call(const struct object *object, const u8 *code, u8 size, struct call *call)
{
	static const u8 direct[] = { 0xe8 }, by_slot[] = { 0xff, 0x15 };

	call->known = false;
	call->name = NULL;
	if (has_op(code, size, direct, sizeof(direct))) {
		call->known = true;
		call->target = relative(code + size, call->ret);
		if (!object->image.is_64bit)
			call->target = (u32)call->target;
	} else if (has_op(code, size, by_slot, sizeof(by_slot))) {
		through_slot(object, relative(code + size, call->ret), call);
	}
}

/*
 * Without a function's begin nothing tells where instructions begin: it is a call if
 * the bytes can be one, and says where it goes if they can be no other one.
 */
static bool guess_call(struct object *object, struct call *call)
{
	static const u8 lengths[] = { 2, 3, 4, 6, 7 };
	bool direct = false, indirect = false;
	const u8 *code;
	size_t i;

	code = object_bytes(object, call->ret - 5, 5);
	direct = code && code[0] == 0xe8;
	for (i = 0; i < sizeof(lengths); i++) {
		struct flow flow;

		code = object_bytes(object, call->ret - lengths[i], lengths[i]);
		if (!code || code[0] != 0xff ||
		    flow_decode(&flow, code, lengths[i], object->image.is_64bit))
			continue;
		indirect |= flow.nr == 1 && flow.insns[0].is_call;
		flow_free(&flow);
	}
	call->known = false;
	if (direct && !indirect)
		decode_call(object, object_bytes(object, call->ret - 5, 5), 5, call);
	return direct || indirect;
}

bool code_call(struct object *object, u64 ret, struct call *call)
{
	struct block *block = function_block(object, ret - 1);
	const struct flow_insn *insn;
	s32 index, at;

	*call = (struct call) { .ret = ret };
	if (!block)
		return guess_call(object, call);
	/* The instruction that ends there. */
	for (at = ret - block->start - 1, index = -1; at >= 0 && index < 0; at--)
		index = block->flow.index[at];
	if (index < 0)
		return guess_call(object, call);
	insn = &block->flow.insns[index];
	if (insn->off + insn->len != ret - block->start)
		return insn->off + insn->len < ret - block->start && guess_call(object, call);
	if (!insn->is_call)
		return false;
	decode_call(object, block->flow.code + insn->off, insn->len, call);
	return true;
}

/* Is it a return, or a jump to another function or to an unknown target? */
static bool leaves(const struct flow *flow, const struct flow_insn *insn)
{
	u8 op = flow->code[insn->off];

	if (insn->target != FLOW_NONE)
		return insn->target < 0 || insn->target >= (s32)flow->size;
	/* int3, hlt, ud2 */
	return insn->ends && op != 0xcc && op != 0xf4 && op != 0x0f;
}

/* True if no instruction leaves the function, and control does not run on into the next one. */
static bool never_returns(const struct flow *flow)
{
	u32 i;

	for (i = 0; i < flow->nr; i++) {
		if (leaves(flow, &flow->insns[i]))
			return false;
	}
	return i && (flow->insns[i - 1].is_call || flow->insns[i - 1].ends);
}

/* Do any five bytes of the file look like a direct call of @target? */
static bool may_be_called(const struct object *object, u64 target)
{
	const struct elf_image *image = &object->image;
	u64 i;

	for (i = 0; i + 5 <= image->size; i++) {
		if (image->bytes[i] == 0xe8 &&
		    relative(image->bytes + i + 5, image->base + i + 5) == target)
			return true;
	}
	return false;
}

bool code_may_begin_stack(struct object *object, u64 addr)
{
	struct block *block = function_block(object, addr);
	size_t i;

	if (!block || block->cut || !never_returns(&block->flow))
		return false;
	for (i = 0; i < object->nr_exports; i++) {
		if (object->exports[i].value == block->start)
			return false;
	}
	return !may_be_called(object, block->start);
}

/* What is being worked out: @todo has addresses to go on at. */
struct work {
	struct object	*object;
	struct reach	*reach;
	u64		*seen;
	size_t		nr_seen;
	u64		todo[1024];
	unsigned int	nr_todo;
};

/* A table of twice as many places as there may be instructions. */
#define SEEN_SIZE	(1 << 17)

/* Notes an address; false where it was noted before. */
static bool note(struct work *work, u64 addr)
{
	size_t i = addr * 0x9e3779b97f4a7c15ull >> 47;

	while (work->seen[i] && work->seen[i] != addr)
		i = (i + 1) % SEEN_SIZE;
	if (work->seen[i])
		return false;
	work->seen[i] = addr;
	work->nr_seen++;
	return true;
}

static void go_on_at(struct work *work, u64 addr)
{
	if (work->nr_todo == 1024)
		work->reach->open = true;
	else
		work->todo[work->nr_todo++] = addr;
}

static void add_insn(struct reach *reach, u64 addr, u8 size)
{
	if (!(reach->nr & (reach->nr - 1))) {
		size_t room = reach->nr ? reach->nr * 2 : 1;

		reach->starts = realloc(reach->starts, room * sizeof(*reach->starts));
		reach->sizes = realloc(reach->sizes, room);
		if (!reach->starts || !reach->sizes)
			abort();
	}
	reach->starts[reach->nr] = addr;
	reach->sizes[reach->nr++] = size;
}

static void add_name(struct reach *reach, const char *name)
{
	reach->names = realloc(reach->names, (reach->nr_names + 1) * sizeof(*reach->names));
	if (!reach->names)
		abort();
	reach->names[reach->nr_names++] = name;
}

/* A jump through memory or a register. */
static void jump_indirect(struct work *work, const u8 *code, u8 size, u64 end)
{
	static const u8 by_slot[] = { 0xff, 0x25 };
	struct call to = {};

	if (has_op(code, size, by_slot, sizeof(by_slot)))
		through_slot(work->object, relative(code + size, end), &to);
	if (!to.known)
		work->reach->open = true;
	else if (to.name)
		add_name(work->reach, to.name);
	else
		go_on_at(work, to.target);
}

/*
 * Go's runtime returns from a function that has recovered a panic to its call of
 * deferreturn(). That stands behind the function's end, where no jump leads.
 */
static bool is_after_recovery(const struct object *object, const struct flow *flow, u32 index)
{
	return object->is_go && index < flow->nr && flow->insns[index].is_call;
}

/* From one instruction on, until it ends or is known. */
static void follow(struct work *work, u64 addr)
{
	struct block *block = block_at(work->object, addr);
	s32 index = block ? block->flow.index[addr - block->start] : -1;

	if (index < 0) {
		work->reach->open = true;
		return;
	}
	for (; (u32)index < block->flow.nr; index++) {
		const struct flow_insn *insn = &block->flow.insns[index];
		u64 at = block->start + insn->off;

		if (work->nr_seen == MAX_INSNS)
			work->reach->open = true;
		if (work->nr_seen == MAX_INSNS || !note(work, at))
			return;
		add_insn(work->reach, at, insn->len);
		if (insn->target != FLOW_NONE)
			go_on_at(work, block->start + insn->target);
		if (insn->is_indirect)
			jump_indirect(work, block->flow.code + insn->off, insn->len,
				      at + insn->len);
		if (insn->ends) {
			if (is_after_recovery(work->object, &block->flow, index + 1))
				go_on_at(work, at + insn->len);
			return;
		}
	}
	index--;
	addr = block->flow.insns[index].off + block->flow.insns[index].len;
	if (addr + MAX_INSN_SIZE <= block->flow.size)
		work->reach->open = true;
	else if (block->cut || !block->flow.insns[index].is_call)
		go_on_at(work, block->start + addr);
}

struct insn_at {
	u64	start;
	u8	size;
};

static int by_address(const void *a, const void *b)
{
	const struct insn_at *i = a, *j = b;

	return (i->start > j->start) - (i->start < j->start);
}

static void sort(struct reach *reach)
{
	struct insn_at *insns = malloc((reach->nr + 1) * sizeof(*insns));
	size_t i;

	if (!insns)
		abort();
	for (i = 0; i < reach->nr; i++)
		insns[i] = (struct insn_at) { reach->starts[i], reach->sizes[i] };
	qsort(insns, reach->nr, sizeof(*insns), by_address);
	for (i = 0; i < reach->nr; i++) {
		reach->starts[i] = insns[i].start;
		reach->sizes[i] = insns[i].size;
	}
	free(insns);
}

const struct reach *code_reach(struct object *object, u64 from)
{
	struct reach **list = &object->reaches[from % OBJECT_LISTS], *reach;
	struct work work = { .object = object };

	for (reach = *list; reach; reach = reach->next) {
		if (reach->from == from)
			return reach;
	}
	reach = calloc(1, sizeof(*reach));
	work.seen = calloc(SEEN_SIZE, sizeof(*work.seen));
	if (!reach || !work.seen)
		abort();
	work.reach = reach;
	reach->from = from;
	reach->next = *list;
	*list = reach;
	go_on_at(&work, from);
	while (work.nr_todo)
		follow(&work, work.todo[--work.nr_todo]);
	free(work.seen);
	sort(reach);
	return reach;
}

/* Index of the first instruction that begins behind an address. */
static size_t first_behind(const struct reach *reach, u64 addr)
{
	size_t low = 0, high = reach->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (reach->starts[mid] <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool code_reaches(const struct object *object, const struct reach *reach, u64 addr)
{
	const struct function *function = object_function(object, addr);
	size_t i = first_behind(reach, addr);

	if (i && addr - reach->starts[i - 1] < reach->sizes[i - 1])
		return true;
	if (!function || !function->start)
		return false;
	i = first_behind(reach, function->start - 1);
	return i < reach->nr && reach->starts[i] < function->end;
}
