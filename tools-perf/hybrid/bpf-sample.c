// SPDX-License-Identifier: GPL-2.0
/*
 * The records of the BPF program become the samples that the kernel would have written:
 * with a chain by taught rules, and without registers and dump. What reads samples sees
 * no difference.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_hybrid.h>
#include "../debug.h"
#include "../event.h"
#include "../evlist.h"
#include "../evsel.h"
#include "bpf.h"
#include "bpf-record.h"
#include "recorder.h"

static u64 word_at(const void *from)
{
	u64 word;

	memcpy(&word, from, sizeof(word));
	return word;
}

bool hybrid_bpf__is_record(const struct hybrid_bpf *bpf, const struct perf_event_header *header)
{
	return bpf && header->type == PERF_RECORD_SAMPLE &&
	       header->size >= sizeof(*header) + sizeof(u64) &&
	       hybrid_bpf__is_id(bpf, word_at(header + 1));
}

/* The raw data of a record, and what stands before it. */
static const u8 *raw_of(const struct hybrid_bpf *bpf, const struct perf_event_header *header,
			struct hybrid_bpf_record *written, u32 *size)
{
	u64 type = hybrid_bpf__sample_type(bpf);
	const u8 *at = (const u8 *)(header + 1) + sizeof(u64);
	u32 room;

	if (header->size < sizeof(*header) + hweight64(type) * sizeof(u64))
		return NULL;
	written->ids = word_at(at);
	written->time = word_at(at + sizeof(u64));
	at += 2 * sizeof(u64);
	written->cpu = 0;
	if (type & PERF_SAMPLE_CPU) {
		written->cpu = word_at(at);
		at += sizeof(u64);
	}
	memcpy(size, at, sizeof(*size));
	at += sizeof(*size);
	room = (const u8 *)header + header->size - at;
	return *size <= room ? at : NULL;
}

/* Of a task that went to sleep: the kernel's frame pointer chain, and what to unwind. */
static int parse_dump(const u8 *raw, u32 size, struct hybrid_bpf_record *written)
{
	struct hybrid_walk_head *head = &written->head;
	const u32 stack_at = offsetof(struct hybrid_walk_dump, stack);

	if (head->nr_kernel > HYBRID_WALK_FP_IPS || size < stack_at || head->period % 8 ||
	    head->period > HYBRID_WALK_STACK || head->period > size - stack_at)
		return -EINVAL;
	written->dump = raw;
	written->ips = raw + offsetof(struct hybrid_walk_dump, ips);
	written->nr_user = head->nr_kernel;
	head->nr_kernel = 0;
	return 0;
}

int hybrid_bpf__parse(const struct hybrid_bpf *bpf, const struct perf_event_header *header,
		      struct hybrid_bpf_record *written)
{
	struct hybrid_walk_head *head = &written->head;
	const u8 *raw;
	u32 size;

	raw = raw_of(bpf, header, written, &size);
	if (!raw || size < sizeof(*head))
		return -EINVAL;
	memcpy(head, raw, sizeof(*head));
	/* Before Linux 6.3 the program is not told: it wrote the record at once. */
	if (!head->time)
		head->time = written->time;
	written->nr_user = 0;
	written->dump = NULL;
	if (!head->id && PERF_HYBRID_INFO_END(head->info) != PERF_HYBRID_END_OUTERMOST)
		return parse_dump(raw, size, written);
	written->ips = raw + sizeof(*head);
	if (PERF_HYBRID_INFO_END(head->info) == PERF_HYBRID_END_OUTERMOST)
		written->nr_user = PERF_HYBRID_INFO_FRAMES(head->info) + 1;
	size -= sizeof(*head);
	/* The kernel makes it larger, up to a multiple of 8 of the record. */
	return (written->nr_user + head->nr_kernel) * sizeof(u64) <= size &&
	       written->nr_user + head->nr_kernel <= HYBRID_WALK_IPS ? 0 : -EINVAL;
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

static u8 *put_chain(u8 *to, const struct hybrid_bpf_record *written)
{
	u32 nr_kernel = written->head.nr_kernel;

	to = put(to, nr_kernel + (written->nr_user ? 3 + written->nr_user : 0));
	memcpy(to, written->ips, nr_kernel * sizeof(u64));
	to += nr_kernel * sizeof(u64);
	if (!written->nr_user)
		return to;
	to = put(to, PERF_CONTEXT_USER_HYBRID);
	to = put(to, written->head.info);
	to = put(to, PERF_CONTEXT_USER);
	memcpy(to, written->ips + nr_kernel * sizeof(u64), written->nr_user * sizeof(u64));
	return to + written->nr_user * sizeof(u64);
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

void hybrid_bpf__make_sample(const struct hybrid_bpf_record *written, u64 type,
			     struct perf_event_header *made)
{
	const struct hybrid_walk_head *head = &written->head;
	u8 *to = (u8 *)(made + 1);

	to = put_if(to, type & PERF_SAMPLE_IDENTIFIER, head->id);
	to = put_if(to, type & PERF_SAMPLE_IP, head->ip);
	to = put_if(to, type & PERF_SAMPLE_TID, written->ids);
	to = put_if(to, type & PERF_SAMPLE_TIME, head->time);
	to = put_if(to, type & PERF_SAMPLE_ADDR, head->addr);
	to = put_if(to, type & PERF_SAMPLE_ID, head->id);
	to = put_if(to, type & PERF_SAMPLE_CPU, written->cpu);
	to = put_if(to, type & PERF_SAMPLE_PERIOD, head->period);
	to = put_chain(to, written);
	if (written->dump) {
		to = put_dump(to, written->dump, head->period);
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

/* Of a task that went to sleep: in the kernel. */
static int deliver_asleep(struct hybrid_record *hr, struct hybrid_ring *ring,
			  struct hybrid_bpf_record *written)
{
	struct perf_event_header *made = (void *)hr->made;
	u64 word = written->head.addr;

	if (!hr->off_cpu.event)
		return 0;
	written->head.id = hr->off_cpu.id;
	written->head.misc = PERF_RECORD_MISC_KERNEL;
	hybrid_bpf__make_sample(written, hr->off_cpu.event->layout.attr.sample_type, made);
	return hybrid_off_cpu_chain(hr, ring, made, word);
}

int hybrid_bpf__deliver(struct hybrid_record *hr, struct hybrid_ring *ring,
			const struct perf_event_header *header)
{
	struct perf_event_header *made = (void *)hr->made;
	struct hybrid_bpf_record written;
	struct evsel *evsel;
	u64 type;

	if (hybrid_bpf__parse(hr->teaching.bpf, header, &written)) {
		hybrid_stats_read(&hr->stats, header->size);
		hr->stats.bad++;
		hr->stats.shed++;
		return 0;
	}
	if (!written.head.id)
		return deliver_asleep(hr, ring, &written);
	ring->note_id = written.head.id;
	ring->note = written.head.info;
	if (!hybrid_bpf__is_sample(&written))
		return 0;
	evsel = evlist__id2evsel(hr->evlist, written.head.id);
	if (!evsel || !hr->events[evsel->core.idx].hybrid)
		return 0;
	if (!written.nr_user)
		hr->stats.shed_dumps++;
	type = hr->events[evsel->core.idx].layout.attr.sample_type;
	hybrid_bpf__make_sample(&written, type, made);
	return hybrid_deliver_sample(hr, ring, made, header->size);
}

u64 hybrid_bpf__time(const struct hybrid_bpf *bpf, const struct perf_event_header *header)
{
	struct hybrid_bpf_record written;

	return hybrid_bpf__parse(bpf, header, &written) ? 0 : written.head.time;
}

union perf_event *hybrid_bpf__rename_lost(const struct hybrid_bpf *bpf, u64 id,
					  union perf_event *event, void *room)
{
	u16 size = event->header.size;
	union perf_event *renamed = room;

	if (!bpf || size < sizeof(event->lost) + sizeof(u64) ||
	    !hybrid_bpf__is_id(bpf, word_at((const u8 *)event + size - sizeof(u64))))
		return event;
	memcpy(renamed, event, size);
	renamed->lost.id = id;
	put((u8 *)renamed + size - sizeof(u64), id);
	return renamed;
}

void hybrid_bpf__print(const struct hybrid_walk_counts *walks)
{
	pr_debug("hybrid: BPF walked %" PRIu64 " samples, left %" PRIu64 " to the kernel, ",
		 (u64)walks->whole, (u64)walks->dumped);
	pr_debug("had no room for the dumps of %" PRIu64 " and lost %" PRIu64 "\n",
		 (u64)walks->shed, (u64)walks->full);
}
