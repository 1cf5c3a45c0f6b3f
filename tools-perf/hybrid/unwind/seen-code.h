/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_SEEN_CODE_H
#define __PERF_HYBRID_SEEN_CODE_H

#include <stdbool.h>
#include <sys/types.h>
#include <linux/types.h>
#include "../bpf_skel/made-code.h"

#define HYBRID_REWRITTEN_PAGES	256

/* Passes over the rings for which a page whose code was replaced counts as one of those. */
#define HYBRID_REWRITTEN_PASSES	256

/**
 * struct hybrid_rewritten_page - a page of code that is not as a sample had it
 * @addr: of its first byte
 * @pid: of the process
 * @pass: over the rings, in which that was seen last; 0: never
 */
struct hybrid_rewritten_page {
	u64	addr;
	pid_t	pid;
	u64	pass;
};

/**
 * struct hybrid_seen_code - code that no file has, as it was when the sample was taken
 * @gen: of the sample's space
 * @pid: of its process
 * @start: address of @bytes
 * @size: of @bytes; 0: there are none
 * @bytes: read by the walker in the kernel, around the address at which its walk ended
 * @pages: by a hash of address and process
 */
struct hybrid_seen_code {
	u64				 gen;
	pid_t				 pid;
	u64				 start;
	u32				 size;
	u8				 bytes[HYBRID_SEEN_CODE];
	struct hybrid_rewritten_page	 pages[HYBRID_REWRITTEN_PAGES];
};

/**
 * hybrid_seen_code_differs - is code another one than the sample had?
 * @seen: of the sample
 * @now: as many bytes as the sample has, as they are by now
 * @from: address of the code that counts: a runtime may have written other code next to it
 * @to: where it ends
 */
bool hybrid_seen_code_differs(const struct hybrid_seen_code *seen, const u8 *now, u64 from,
			      u64 to);

/* The page of the sample's code is not as the sample had it. @pass: over the rings */
void hybrid_seen_code_rewritten(struct hybrid_seen_code *seen, u64 pass);

/* Was that so of the page at @addr lately? */
bool hybrid_seen_code_is_rewritten(const struct hybrid_seen_code *seen, pid_t pid, u64 addr,
				   u64 pass);

/**
 * hybrid_seen_code_read - code as the sample had it
 * @seen: of the sample
 * @gen: of the space that is read
 * @pid: of the process
 * @addr: of the first byte
 * @dst: out
 * @len: bytes
 *
 * Return: false if the walker has not read all of it.
 */
bool hybrid_seen_code_read(const struct hybrid_seen_code *seen, u64 gen, pid_t pid, u64 addr,
			   void *dst, unsigned int len);

#endif /* __PERF_HYBRID_SEEN_CODE_H */
