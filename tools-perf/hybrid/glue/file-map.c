// SPDX-License-Identifier: GPL-2.0
/*
 * Records that map a file: where a process runs a copy of it, or where the kernel's record does not
 * tell it from another one.
 */
#include <string.h>
#include <linux/perf_event.h>
#include "../../event.h"
#include "../rules/space.h"
#include "file-map.h"
#include "synthetic-map.h"

static void put_file(const struct hybrid_ident *ident, u32 number,
		     struct perf_record_mmap2 *event)
{
	if (ident->build_id_size) {
		event->header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
		event->build_id_size = ident->build_id_size;
		event->__reserved_2 = number;
		memcpy(event->build_id, ident->build_id, ident->build_id_size);
		return;
	}
	event->maj = ident->maj;
	event->min = ident->min;
	event->ino = ident->ino;
	event->ino_generation = ident->ino_generation;
}

size_t hybrid_file_map__event(const struct hybrid_mapping *mapping,
			      const struct perf_event_attr *attr,
			      const struct perf_event_header *sample, pid_t pid, void *out)
{
	const struct hybrid_ident *ident = hybrid_mapping_ident(mapping);
	struct perf_record_mmap2 *event = out;

	memset(out, 0, HYBRID_FILE_MAP_SIZE);
	event->start = mapping->start;
	event->len = mapping->end - mapping->start;
	event->pgoff = mapping->pgoff;
	put_file(ident, mapping->number, event);
	return hybrid_map__event(event, ident->path, attr, sample, pid);
}
