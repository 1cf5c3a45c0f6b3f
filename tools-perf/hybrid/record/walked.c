// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/perf_hybrid.h>
#include "walked.h"

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
	u32 room;

	if (header->size < sizeof(*header) + hweight64(type) * sizeof(u64))
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

/* Of a task that went to sleep: the kernel's frame pointer chain, and what to unwind. */
static int parse_dump(const u8 *raw, u32 size, struct hybrid_walked *walked)
{
	struct hybrid_walk_head *head = &walked->head;
	const u32 stack_at = offsetof(struct hybrid_walk_dump, stack);

	if (head->nr_kernel > HYBRID_WALK_FP_IPS || size < stack_at || head->period % 8 ||
	    head->period > HYBRID_WALK_STACK || head->period > size - stack_at)
		return -EINVAL;
	walked->dump = raw;
	walked->ips = raw + offsetof(struct hybrid_walk_dump, ips);
	walked->nr_user = head->nr_kernel;
	head->nr_kernel = 0;
	return 0;
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
	walked->nr_user = 0;
	walked->dump = NULL;
	if (!head->id && PERF_HYBRID_INFO_END(head->info) != PERF_HYBRID_END_OUTERMOST)
		return parse_dump(raw, size, walked);
	walked->ips = raw + sizeof(*head);
	if (PERF_HYBRID_INFO_END(head->info) == PERF_HYBRID_END_OUTERMOST)
		walked->nr_user = PERF_HYBRID_INFO_FRAMES(head->info) + 1;
	size -= sizeof(*head);
	/* The kernel makes it larger, up to a multiple of 8 of the record. */
	return (walked->nr_user + head->nr_kernel) * sizeof(u64) <= size &&
	       walked->nr_user + head->nr_kernel <= HYBRID_WALK_IPS ? 0 : -EINVAL;
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

static u8 *put_chain(u8 *to, const struct hybrid_walked *walked)
{
	u32 nr_kernel = walked->head.nr_kernel;

	to = put(to, nr_kernel + (walked->nr_user ? 3 + walked->nr_user : 0));
	memcpy(to, walked->ips, nr_kernel * sizeof(u64));
	to += nr_kernel * sizeof(u64);
	if (!walked->nr_user)
		return to;
	to = put(to, PERF_CONTEXT_USER_HYBRID);
	to = put(to, walked->head.info);
	to = put(to, PERF_CONTEXT_USER);
	memcpy(to, walked->ips + nr_kernel * sizeof(u64), walked->nr_user * sizeof(u64));
	return to + walked->nr_user * sizeof(u64);
}

/* What struct pt_regs has, in the order of HYBRID_BPF_REGS. */
static const u8 reg_words[] = {
	10, 5, 11, 12, 13, 14, 4, 19, 16,	/* ax, bx, cx, dx, si, di, bp, sp, ip */
	9, 8, 7, 6, 3, 2, 1, 0,			/* r8 to r15 */
};

#define CS_WORD		17
#define USER32_CS	0x23

static u64 reg_of(const u8 *dump, unsigned int word)
{
	return word_at(dump + offsetof(struct hybrid_walk_dump, regs) + word * sizeof(u64));
}

static u8 *put_dump(u8 *to, const u8 *dump, u64 size)
{
	bool is_32 = (reg_of(dump, CS_WORD) & 0xffff) == USER32_CS;
	unsigned int i;

	to = put(to, is_32 ? PERF_SAMPLE_REGS_ABI_32 : PERF_SAMPLE_REGS_ABI_64);
	for (i = 0; i < ARRAY_SIZE(reg_words); i++)
		to = put(to, reg_of(dump, reg_words[i]));
	to = put(to, size);
	if (!size)
		return to;
	memcpy(to, dump + offsetof(struct hybrid_walk_dump, stack), size);
	return put(to + size, size);
}

void hybrid_walked_sample(const struct hybrid_walked *walked, u64 type,
			  struct perf_event_header *made)
{
	const struct hybrid_walk_head *head = &walked->head;
	u8 *to = (u8 *)(made + 1);

	to = put_if(to, type & PERF_SAMPLE_IDENTIFIER, head->id);
	to = put_if(to, type & PERF_SAMPLE_IP, head->ip);
	to = put_if(to, type & PERF_SAMPLE_TID, walked->ids);
	to = put_if(to, type & PERF_SAMPLE_TIME, head->time);
	to = put_if(to, type & PERF_SAMPLE_ADDR, head->addr);
	to = put_if(to, type & PERF_SAMPLE_ID, head->id);
	to = put_if(to, type & PERF_SAMPLE_CPU, walked->cpu);
	to = put_if(to, type & PERF_SAMPLE_PERIOD, head->period);
	to = put_chain(to, walked);
	if (walked->dump) {
		to = put_dump(to, walked->dump, head->period);
	} else {
		to = put(to, PERF_SAMPLE_REGS_ABI_NONE);
		to = put(to, 0);
	}
	*made = (struct perf_event_header) {
		.type	= PERF_RECORD_SAMPLE,
		.misc	= head->misc,
		.size	= to - (u8 *)made,
	};
}
