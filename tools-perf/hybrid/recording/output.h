/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_OUTPUT_H
#define __PERF_HYBRID_OUTPUT_H

#include <stddef.h>
#include <linux/compiler.h>
#include <linux/types.h>
#include "record.h"

struct perf_event_header;

/**
 * struct hybrid_output - records on their way to the file
 * @write: where they go
 * @arg: for @write
 * @used: bytes of @bytes
 * @flushed: when @bytes was last written, in ns
 * @bytes: whole records
 */
struct hybrid_output {
	hybrid_write_fn	 write;
	void		*arg;
	size_t		 used;
	u64		 flushed;
	u8		 bytes[HYBRID_OUT_SIZE] __aligned(8);
};

/**
 * hybrid_output_room - room for one more record
 * @out: may be written to make room
 * @size: bytes, at most
 *
 * The caller fills the room and adds to @out->used what it has filled.
 *
 * Return: NULL if writing failed.
 */
void *hybrid_output_room(struct hybrid_output *out, size_t size);

/* Return: 0 or what hybrid_write_fn returned; nothing is left in @out. */
int hybrid_output_flush(struct hybrid_output *out);

/* Adds a record as it is. Return: 0, or -EIO if writing failed. */
int hybrid_output_copy(struct hybrid_output *out, const struct perf_event_header *record);

#endif /* __PERF_HYBRID_OUTPUT_H */
