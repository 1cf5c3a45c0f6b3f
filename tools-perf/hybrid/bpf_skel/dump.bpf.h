/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_DUMP_BPF_H
#define __HYBRID_DUMP_BPF_H

/*
 * What perf unwinds where a walk did not come to the outermost frame: registers, and as
 * much of the stack as there is. The kernel's own dump takes its whole size in the ring.
 */
#include "mapping.bpf.h"
#include "output.bpf.h"

/* Smaller rings have no room for a dump of two pages. */
#define SMALL_RING	(4 * PAGE)

/* perf's: of a dump, at most. */
const volatile __u32 dump_pages = 2;

/*
 * A page of the stack, the first one from sp on. One that is not in memory is a hole, and
 * zeroes: functions with large arrays leave pages alone.
 */
static long copy_page(__u32 i, void *arg)
{
	struct loop *loop = arg;
	struct state *st = loop->st;
	__u64 sp = READ_WORD(&st->sp), in_page = sp & (PAGE - 1);
	__u64 from = i ? i * PAGE - in_page : 0, size = i ? PAGE : PAGE - in_page;
	__u64 most = READ_WORD(&st->dump_most);

	if (from + size > most)
		size = most - from;
	barrier_var(from);
	barrier_var(size);
	if (from >= most || from > HYBRID_WALK_STACK - PAGE || size > PAGE)
		return 1;
	if (bpf_probe_read_user(&st->dump.stack[from], size, (void *)(sp + from)))
		st->dump.holes |= 1U << (i & 31);
	else
		st->dump.size = from + size;
	return 0;
}

/* The code at the address that no rule was found for, of one page, in whole words. */
static __always_inline void copy_code(struct state *st)
{
	__u64 ip = READ_WORD(&st->unknown), page = ip & ~(PAGE - 1ULL);
	__u64 from = ip - page < HYBRID_SEEN_BEFORE ? page : (ip - HYBRID_SEEN_BEFORE) & ~7ULL;
	__u64 size = page + PAGE - from;

	st->dump.code_ip = ip;
	st->dump.code_start = from;
	st->dump.code_size = 0;
	if (size > HYBRID_SEEN_CODE)
		size = HYBRID_SEEN_CODE;
	barrier_var(size);
	if (ip && size <= HYBRID_SEEN_CODE &&
	    !bpf_probe_read_user(st->dump.code, size, (void *)from))
		st->dump.code_size = size;
}

/* Pages of the stack from that with sp on, as far as it is mapped. */
static __always_inline __u64 stack_pages(struct state *st, __u64 sp)
{
	struct vm_area_struct___h *vma = (void *)find_vma(st, sp);
	__u64 end = vma ? BPF_CORE_READ(vma, vm_end) : 0;

	return end > sp ? (end - (sp & ~(PAGE - 1))) / PAGE : ~0ULL;
}

/*
 * Writes the dump. Its callchain is there already, with the number of its entries. Returns the
 * dump's size, or the error of bpf_perf_event_output(). @most: bytes of the stack, a multiple of 8.
 */
static __always_inline long write_dump(void *ctx, struct state *st, struct mm_struct___h *mm,
				       __u64 pages, __u64 most)
{
	struct pt_regs___h *user = (void *)st->regs;
	__u64 sp = BPF_CORE_READ(user, sp), mapped, size;
	struct loop loop = { .st = st };
	long err;

	/* As a number: the verifier does not let the pointer be reckoned with. */
	*(volatile __u64 *)&st->mm = (__u64)mm;
	mapped = stack_pages(st, sp);
	st->dump.head.kind = HYBRID_WALK_RECORD_DUMP;
	if (sp % 8 || bpf_probe_read_kernel(st->dump.regs, sizeof(st->dump.regs), user))
		return -EFAULT;
	if (pages > mapped)
		pages = mapped;
	if (pages > HYBRID_WALK_STACK / PAGE)
		pages = HYBRID_WALK_STACK / PAGE;
	st->sp = sp;
	st->dump_most = most;
	st->dump.room = pages * PAGE - (sp & (PAGE - 1));
	if (st->dump.room > st->dump_most)
		st->dump.room = st->dump_most;
	st->dump.room_ends = st->dump.room == mapped * PAGE - (sp & (PAGE - 1));
	st->dump.size = 0;
	st->dump.holes = 0;
	st->dump.space = st->code_key.space;
	copy_code(st);
	bpf_loop(pages, copy_page, &loop, 0);
	size = offsetof(struct hybrid_walk_dump, stack) + st->dump.size;
	/* What is compared is what is passed: the verifier of 6.1 sees no other way. */
	barrier_var(size);
	if (size > sizeof(st->dump))
		return -E2BIG;
	if (is_urgent(st))
		err = bpf_perf_event_output(ctx, &waking, st->output, &st->dump, size);
	else
		err = bpf_perf_event_output(ctx, &output, st->output, &st->dump, size);
	return err ?: size;
}

/*
 * Bytes of the event's ring that dumps may still take. One half is for dumps, and the other
 * one for what is small: that is not to be lost where perf is late. @most: bytes of one dump.
 * Rings of one or two pages have no room for a page of the stack. From a part of it perf
 * learns which rules to load.
 */
static __always_inline __u64 room_for_dumps(const struct state *st, __u64 *most)
{
	struct perf_event___h *event = (void *)st->event;
	struct perf_event___h *parent = BPF_CORE_READ(event, parent);
	struct perf_event_mmap_page *page = BPF_CORE_READ(parent ?: event, rb, user_page);
	struct {
		__u64 head;
		__u64 tail;
		__u64 offset;
		__u64 size;
	} data;
	__u64 used;

	*most = HYBRID_WALK_STACK;
	if (!page || bpf_probe_read_kernel(&data, sizeof(data), &page->data_head))
		return ~0ULL;
	if (data.size < SMALL_RING)
		*most = data.size / 4;
	used = data.head - data.tail;
	return used < data.size / 2 ? data.size / 2 - used : 0;
}

#endif /* __HYBRID_DUMP_BPF_H */
