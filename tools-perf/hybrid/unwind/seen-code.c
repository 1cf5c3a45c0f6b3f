// SPDX-License-Identifier: GPL-2.0
/*
 * Code that no file has may be replaced between a sample and the moment at which perf reads it.
 * The walker in the kernel reads the code around the address at which its walk ends. That is what
 * proves where the caller of that frame is. If it differs from what the process has by now, its
 * page is one whose code is replaced: of such a page nothing but what a walker has read is used,
 * for a while.
 */
#include <string.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include "seen-code.h"

#define PAGE	4096ULL

bool hybrid_seen_code_differs(const struct hybrid_seen_code *seen, const u8 *now, u64 from, u64 to)
{
	u64 end = seen->start + seen->size;

	from = max(from, seen->start);
	to = min(to, end);
	return from < to && memcmp(seen->bytes + (from - seen->start), now + (from - seen->start),
				   to - from);
}

/* In all states of the space: a process may map other memory, and go on to replace its code. */
static struct hybrid_rewritten_page *page_of(const struct hybrid_seen_code *seen, pid_t pid,
					     u64 addr)
{
	u64 key = addr / PAGE + ((u64)pid << 32);

	return (void *)&seen->pages[hash_64(key, 8)];
}

void hybrid_seen_code_rewritten(struct hybrid_seen_code *seen, u64 pass)
{
	u64 addr = seen->start & -PAGE;

	*page_of(seen, seen->pid, addr) = (struct hybrid_rewritten_page) {
		.addr = addr, .pid = seen->pid, .pass = pass,
	};
}

bool hybrid_seen_code_is_rewritten(const struct hybrid_seen_code *seen, pid_t pid, u64 addr,
				   u64 pass)
{
	const struct hybrid_rewritten_page *page;

	addr &= -PAGE;
	page = page_of(seen, pid, addr);
	return page->pass && page->pid == pid && page->addr == addr &&
	       pass - page->pass < HYBRID_REWRITTEN_PASSES;
}

bool hybrid_seen_code_read(const struct hybrid_seen_code *seen, u64 gen, pid_t pid, u64 addr,
			   void *dst, unsigned int len)
{
	if (!seen->size || seen->gen != gen || seen->pid != pid || addr < seen->start ||
	    addr - seen->start > seen->size || len > seen->size - (addr - seen->start))
		return false;
	memcpy(dst, seen->bytes + (addr - seen->start), len);
	return true;
}
