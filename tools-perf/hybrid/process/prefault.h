/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_PREFAULT_H
#define __PERF_HYBRID_PREFAULT_H

#include <stdbool.h>
#include <sys/types.h>
#include <linux/types.h>

struct hybrid_prefault;

/**
 * hybrid_prefault_new - makes pages of stacks be there
 *
 * A function may leave pages of its frame alone; the kernel's copy of the stack ends at
 * the first of them. Reading such a page from outside makes it the kernel's page of
 * zeroes, which takes no memory, and the next samples' copies go on behind it.
 *
 * Return: to be given to hybrid_prefault_delete(), or NULL where memory is short.
 */
struct hybrid_prefault *hybrid_prefault_new(void);

/* What waits is dropped; nobody is waited for. */
void hybrid_prefault_delete(struct hybrid_prefault *touch);

/**
 * hybrid_prefault_pages - have a thread read one byte of each page
 * @touch: may be NULL
 * @pid: of the process; 0: there is none
 * @from: an address in the first page
 * @to: an address in the last one
 *
 * By a thread, as reading may take for ever where the process answers for the page
 * itself (userfaultfd). Then no more than some requests wait behind it.
 *
 * Return: false where it is not done: too many pages, or requests.
 */
bool hybrid_prefault_pages(struct hybrid_prefault *touch, pid_t pid, u64 from, u64 to);

/**
 * hybrid_prefault_stack - have a thread read one byte of each page of a stack
 * @touch: may be NULL
 * @pid: of the process
 * @sp: where the stack is in use
 *
 * As far as the largest dump reaches to either side, and no further than the mapping
 * that @sp is in: before the functions with large frames are called.
 *
 * Return: false where it is not done.
 */
bool hybrid_prefault_stack(struct hybrid_prefault *touch, pid_t pid, u64 sp);

#endif /* __PERF_HYBRID_PREFAULT_H */
