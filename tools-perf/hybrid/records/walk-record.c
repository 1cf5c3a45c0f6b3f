// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/perf_unwind_rules.h>
#include "../bpf_skel/hybrid_interpreter.h"
#include "walk-record.h"

static u64 word_at(const void *from)
{
	u64 word;

	memcpy(&word, from, sizeof(word));
	return word;
}

/* The raw data of a record, and what stands before it. */
static const u8 *raw_of(u64 type, const struct perf_event_header *header,
			struct hybrid_walked *walked, u32 *size)
{
	const u8 *at = (const u8 *)(header + 1) + sizeof(u64);
	/* The identifier, the task, the time, and the size with what pads it. */
	u32 room, words = type & PERF_SAMPLE_CPU ? 5 : 4;

	if (header->size < sizeof(*header) + words * sizeof(u64))
		return NULL;
	walked->ids = word_at(at);
	walked->time = word_at(at + sizeof(u64));
	at += 2 * sizeof(u64);
	walked->cpu = 0;
	if (type & PERF_SAMPLE_CPU) {
		walked->cpu = word_at(at);
		at += sizeof(u64);
	}
	memcpy(size, at, sizeof(*size));
	at += sizeof(*size);
	room = (const u8 *)header + header->size - at;
	return *size <= room ? at : NULL;
}

static void parse_code(const u8 *raw, struct hybrid_made_code *code)
{
	u64 size;

	memcpy(&code->ip, raw + offsetof(struct hybrid_walk_dump, code_ip), sizeof(u64));
	memcpy(&code->start, raw + offsetof(struct hybrid_walk_dump, code_start), sizeof(u64));
	memcpy(&size, raw + offsetof(struct hybrid_walk_dump, code_size), sizeof(u64));
	code->bytes = raw + offsetof(struct hybrid_walk_dump, code);
	code->size = size <= HYBRID_SEEN_CODE ? size : 0;
}

/* A callchain of the kernel, and what to unwind; of a sleep that is one of user space alone. */
static int parse_dump(const u8 *raw, u32 size, struct hybrid_walked *walked)
{
	struct hybrid_walk_head *head = &walked->head;
	const u32 stack_at = offsetof(struct hybrid_walk_dump, stack);
	u32 room_ends;

	if (head->nr_kernel + head->nr_user > HYBRID_WALK_DUMP_IPS || size < stack_at ||
	    PERF_UNWIND_INFO_END(head->info) == PERF_UNWIND_END_OUTERMOST)
		return -EINVAL;
	memcpy(&walked->stack_room, raw + offsetof(struct hybrid_walk_dump, room), sizeof(u32));
	memcpy(&walked->stack_size, raw + offsetof(struct hybrid_walk_dump, size), sizeof(u32));
	memcpy(&walked->holes, raw + offsetof(struct hybrid_walk_dump, holes), sizeof(u32));
	memcpy(&room_ends, raw + offsetof(struct hybrid_walk_dump, room_ends), sizeof(u32));
	walked->room_ends = room_ends;
	memcpy(&walked->space, raw + offsetof(struct hybrid_walk_dump, space), sizeof(u64));
	if (walked->stack_room > HYBRID_WALK_STACK || walked->stack_size > walked->stack_room ||
	    walked->stack_room % 8 || walked->stack_size % 8 ||
	    walked->stack_size > size - stack_at)
		return -EINVAL;
	parse_code(raw, &walked->code);
	walked->dump = raw;
	walked->ips = raw + offsetof(struct hybrid_walk_dump, ips);
	return 0;
}

/* The texts of a function. A record that is too short for them has the language 0. */
static int parse_text(const u8 *raw, u32 size, struct hybrid_walked *walked)
{
	struct hybrid_walk_text text;

	if (size >= offsetof(struct hybrid_walk_text, bytes)) {
		memcpy(&text, raw, offsetof(struct hybrid_walk_text, bytes));
		walked->language = text.language;
	}
	walked->text = raw;
	walked->text_size = size;
	return 0;
}

/* Functions of a language. Returns false if there are too many. */
static bool add_language(struct hybrid_sample_functions *functions,
			 const struct hybrid_walk_part *part, const u8 *words)
{
	unsigned int i, nr = part->nr;

	for (i = 0; i < functions->nr; i++) {
		nr += functions->of[i].nr;
		if (functions->of[i].language == part->language)
			return true;
	}
	if (nr > HYBRID_WALK_FUNCTIONS)
		return false;
	if (!part->nr || !part->language || part->language >= HYBRID_NR_LANGUAGES ||
	    i == HYBRID_SAMPLE_LANGUAGES)
		return true;
	functions->nr++;
	functions->of[i] = (struct hybrid_functions) {
		.language = part->language, .words = words, .nr = part->nr,
		.are_whole = part->is_whole,
	};
	return true;
}

static int parse_parts(const u8 *at, u32 size, struct hybrid_walked *walked)
{
	struct hybrid_walk_part part;
	u32 words_size, i;

	for (i = 0; i < walked->head.nr_parts; i++) {
		if (size < sizeof(part))
			return -EINVAL;
		memcpy(&part, at, sizeof(part));
		at += sizeof(part);
		size -= sizeof(part);
		words_size = part.nr * sizeof(struct hybrid_walk_function);
		if (words_size > size)
			return -EINVAL;
		if (part.kind == HYBRID_WALK_PART_FRAMES) {
			walked->frames = at;
			walked->nr_frames = part.nr;
			walked->code_hash = part.code_hash;
		} else if (part.kind == HYBRID_WALK_PART_LANGUAGE &&
			   !add_language(&walked->functions, &part, at)) {
			return -EINVAL;
		}
		at += words_size;
		size -= words_size;
	}
	return 0;
}

/* The chain of a sample, and the functions; or these alone, or neither. */
static int parse_chain(const u8 *raw, u32 size, struct hybrid_walked *walked)
{
	const struct hybrid_walk_head *head = &walked->head;
	const u32 nr = head->nr_kernel + head->nr_user;
	const bool is_whole = PERF_UNWIND_INFO_END(head->info) == PERF_UNWIND_END_OUTERMOST;

	/* The kernel makes it larger, up to a multiple of 8 of the record. */
	if (nr * sizeof(u64) > size - sizeof(*head) || nr > HYBRID_WALK_IPS)
		return -EINVAL;
	if (head->kind != HYBRID_WALK_RECORD_SAMPLE && nr)
		return -EINVAL;
	if (head->kind == HYBRID_WALK_RECORD_SAMPLE && (!nr || is_whole == !head->nr_user))
		return -EINVAL;
	walked->ips = raw + sizeof(*head);
	return parse_parts(walked->ips + nr * sizeof(u64), size - sizeof(*head) - nr * sizeof(u64),
			   walked);
}

int hybrid_walked_parse(u64 type, const struct perf_event_header *header,
			struct hybrid_walked *walked)
{
	struct hybrid_walk_head *head = &walked->head;
	const u8 *raw;
	u32 size;

	raw = raw_of(type, header, walked, &size);
	if (!raw || size < sizeof(*head))
		return -EINVAL;
	memcpy(head, raw, sizeof(*head));
	/* Before Linux 6.3 the program is not told: it wrote the record at once. */
	if (!head->time)
		head->time = walked->time;
	walked->nr_frames = 0;
	walked->code_hash = 0;
	walked->functions.nr = 0;
	walked->frames = NULL;
	walked->text = NULL;
	walked->dump = NULL;
	walked->stack_room = 0;
	walked->stack_size = 0;
	walked->holes = 0;
	walked->room_ends = false;
	walked->space = 0;
	walked->code.size = 0;
	walked->language = HYBRID_NO_LANGUAGE;
	switch (head->kind) {
	case HYBRID_WALK_RECORD_SAMPLE:
	case HYBRID_WALK_RECORD_FUNCTIONS:
	case HYBRID_WALK_RECORD_NOTE:
		return parse_chain(raw, size, walked);
	case HYBRID_WALK_RECORD_DUMP:
		return parse_dump(raw, size, walked);
	case HYBRID_WALK_RECORD_TEXT:
		return parse_text(raw, size, walked);
	default:
		return -EINVAL;
	}
}

u64 hybrid_walked_time(u64 type, const struct perf_event_header *header)
{
	struct hybrid_walked walked;
	const u8 *raw;
	u32 size;

	raw = raw_of(type, header, &walked, &size);
	if (!raw || size < sizeof(walked.head))
		return 0;
	return word_at(raw + offsetof(struct hybrid_walk_head, time)) ?: walked.time;
}

static u8 *put(u8 *to, u64 word)
{
	memcpy(to, &word, sizeof(word));
	return to + sizeof(word);
}

static u8 *put_if(u8 *to, bool is_there, u64 word)
{
	return is_there ? put(to, word) : to;
}

/*
 * The kernel's callchain, and that the registers are those which it begins at: of a precise
 * event's sample they are others.
 */
static u8 *put_kernel_chain(u8 *to, const struct hybrid_walked *walked)
{
	u32 nr = walked->head.nr_kernel, front;

	for (front = 0; front < nr; front++) {
		if (word_at(walked->ips + front * sizeof(u64)) == PERF_CONTEXT_USER)
			break;
	}
	to = put(to, nr + 2);
	memcpy(to, walked->ips, front * sizeof(u64));
	to = put(to + front * sizeof(u64), PERF_CONTEXT_USER_RULES);
	to = put(to, walked->head.info);
	memcpy(to, walked->ips + front * sizeof(u64), (nr - front) * sizeof(u64));
	return to + (nr - front) * sizeof(u64);
}

static u8 *put_chain(u8 *to, const struct hybrid_walked *walked)
{
	u32 nr_kernel = walked->head.nr_kernel;

	if (walked->dump && !walked->head.nr_user)
		return put_kernel_chain(to, walked);
	to = put(to, nr_kernel + (walked->head.nr_user ? 3 + walked->head.nr_user : 0));
	memcpy(to, walked->ips, nr_kernel * sizeof(u64));
	to += nr_kernel * sizeof(u64);
	if (!walked->head.nr_user)
		return to;
	to = put(to, PERF_CONTEXT_USER_RULES);
	to = put(to, walked->head.info);
	to = put(to, PERF_CONTEXT_USER);
	memcpy(to, walked->ips + nr_kernel * sizeof(u64), walked->head.nr_user * sizeof(u64));
	return to + walked->head.nr_user * sizeof(u64);
}

/* Where struct pt_regs has what perf numbers. */
static const u8 reg_words[] = {
	[PERF_REG_X86_AX] = 10, [PERF_REG_X86_BX] = 5, [PERF_REG_X86_CX] = 11,
	[PERF_REG_X86_DX] = 12, [PERF_REG_X86_SI] = 13, [PERF_REG_X86_DI] = 14,
	[PERF_REG_X86_BP] = 4, [PERF_REG_X86_SP] = 19, [PERF_REG_X86_IP] = 16,
	[PERF_REG_X86_FLAGS] = 18, [PERF_REG_X86_CS] = 17, [PERF_REG_X86_SS] = 20,
	[PERF_REG_X86_R8] = 9, [PERF_REG_X86_R9] = 8, [PERF_REG_X86_R10] = 7,
	[PERF_REG_X86_R11] = 6, [PERF_REG_X86_R12] = 3, [PERF_REG_X86_R13] = 2,
	[PERF_REG_X86_R14] = 1, [PERF_REG_X86_R15] = 0,
};

#define USER32_CS	0x23

static u64 reg_of(const u8 *dump, unsigned int reg)
{
	const u8 *regs = dump + offsetof(struct hybrid_walk_dump, regs);

	return word_at(regs + reg_words[reg] * sizeof(u64));
}

u64 hybrid_walked_sp(const struct hybrid_walked *walked)
{
	return reg_of(walked->dump, PERF_REG_X86_SP);
}

void hybrid_walked_end_at_hole(struct hybrid_walked *walked)
{
	u32 end;

	if (!walked->dump || !walked->holes)
		return;
	end = (ffs(walked->holes) - 1) * HYBRID_WALK_PAGE;
	if (end)
		end -= hybrid_walked_sp(walked) % HYBRID_WALK_PAGE;
	walked->stack_size = min(walked->stack_size, end) & ~7U;
	walked->holes = 0;
}

u64 hybrid_walked_regs(const struct hybrid_walked *walked, u64 mask, u64 *regs)
{
	bool is_32 = (reg_of(walked->dump, PERF_REG_X86_CS) & 0xffff) == USER32_CS;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(reg_words); i++) {
		if (mask >> i & 1)
			*regs++ = reg_of(walked->dump, i);
	}
	return is_32 ? PERF_SAMPLE_REGS_ABI_32 : PERF_SAMPLE_REGS_ABI_64;
}

void hybrid_walked_chain(const struct hybrid_walked *walked, u64 *ips,
			 struct hybrid_kernel_chain *chain)
{
	u32 nr_kernel = walked->head.nr_kernel, nr = nr_kernel + walked->head.nr_user;

	if (nr)
		memcpy(ips, walked->ips, nr * sizeof(*ips));
	/* By frame pointers; registers and dump are those that it begins at. */
	if (!walked->head.nr_user) {
		hybrid_kernel_chain_parse(ips, nr, chain);
		chain->is_walked = walked->dump;
		chain->info = walked->dump ? walked->head.info : 0;
		return;
	}
	*chain = (struct hybrid_kernel_chain) {
		.kernel = ips, .nr_kernel = nr_kernel, .user = ips + nr_kernel,
		.nr_user = walked->head.nr_user,
		.has_user = true, .is_walked = true, .info = walked->head.info,
	};
}

static u8 *put_dump(u8 *to, const struct hybrid_walked *walked, u64 regs)
{
	u32 room = walked->stack_room, size = walked->stack_size;
	u64 abi = hybrid_walked_regs(walked, regs & HYBRID_BPF_ALL_REGS, (u64 *)to + 1);

	to = put(to, abi) + hweight64(regs & HYBRID_BPF_ALL_REGS) * sizeof(u64);
	to = put(to, room);
	if (!room)
		return to;
	memcpy(to, hybrid_walked_stack(walked), size);
	memset(to + size, 0, room - size);
	return put(to + room, size);
}

/* Returns where it ends. */
static u8 *put_head(const struct hybrid_walked *walked, u64 type, struct perf_event_header *made)
{
	const struct hybrid_walk_head *head = &walked->head;
	u8 *to = (u8 *)(made + 1);

	*made = (struct perf_event_header) {
		.type	= PERF_RECORD_SAMPLE,
		.misc	= head->misc,
	};
	to = put_if(to, type & PERF_SAMPLE_IDENTIFIER, head->id);
	to = put_if(to, type & PERF_SAMPLE_IP, head->ip);
	to = put_if(to, type & PERF_SAMPLE_TID, walked->ids);
	to = put_if(to, type & PERF_SAMPLE_TIME, head->time);
	to = put_if(to, type & PERF_SAMPLE_ADDR, head->addr);
	to = put_if(to, type & PERF_SAMPLE_ID, head->id);
	to = put_if(to, type & PERF_SAMPLE_CPU, walked->cpu);
	return put_if(to, type & PERF_SAMPLE_PERIOD, head->period);
}

void hybrid_walked_head(const struct hybrid_walked *walked, u64 type, u64 *head,
			struct hybrid_sample_parts *parts)
{
	struct perf_event_header *made = (struct perf_event_header *)head;

	made->size = put_head(walked, type, made) - (u8 *)made;
	*parts = (struct hybrid_sample_parts) {
		.event		= made,
		.ip		= walked->head.ip,
		.pid		= (u32)walked->ids,
		.tid		= walked->ids >> 32,
		.time		= walked->head.time,
		.chain_at	= made->size,
		.regs_at	= made->size,
		.rest_at	= made->size,
	};
}

void hybrid_walked_sample(const struct hybrid_walked *walked, u64 type, u64 regs,
			  struct perf_event_header *made)
{
	u8 *to = put_chain(put_head(walked, type, made), walked);

	if (walked->dump) {
		to = put_dump(to, walked, regs);
	} else {
		to = put(to, PERF_SAMPLE_REGS_ABI_NONE);
		to = put(to, 0);
	}
	made->size = to - (u8 *)made;
}
