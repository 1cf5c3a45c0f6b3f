// SPDX-License-Identifier: GPL-2.0
/* Records are written to the file many at a time. */
#include <errno.h>
#include <string.h>
#include <linux/perf_event.h>
#include "output.h"

int hybrid_output_flush(struct hybrid_output *out)
{
	size_t size = out->used;

	out->used = 0;
	return size ? out->write(out->arg, out->bytes, size) : 0;
}

void *hybrid_output_room(struct hybrid_output *out, size_t size)
{
	if (out->used + size > sizeof(out->bytes) && hybrid_output_flush(out) < 0)
		return NULL;
	return out->bytes + out->used;
}

int hybrid_output_copy(struct hybrid_output *out, const struct perf_event_header *record)
{
	void *room = hybrid_output_room(out, record->size);

	if (!room)
		return -EIO;
	memcpy(room, record, record->size);
	out->used += record->size;
	return 0;
}
