/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_PAGES_H
#define __PERF_HYBRID_PAGES_H

#include "arch.h"

#define HYBRID_PAGES_BITS	8

/**
 * struct hybrid_page - a page of code of a file
 * @id: of the object; 0: none
 * @offset: of the first byte in the file
 * @nr: bytes that were read; those behind them are int3
 * @bytes: the code
 */
struct hybrid_page {
	u64	id;
	u64	offset;
	u32	nr;
	u8	bytes[HYBRID_PAGE];
};

/**
 * hybrid_page_read - a page of an object's file, read once for many questions
 * @object: open
 * @offset: of its first byte in the file
 *
 * What is in the file is taken to stay, as it is for the rows that were compiled.
 *
 * Return: the page, valid until the next is asked for; NULL where nothing can be
 * read there.
 */
const struct hybrid_page *hybrid_page_read(const struct hybrid_object *object, u64 offset);

#endif /* __PERF_HYBRID_PAGES_H */
