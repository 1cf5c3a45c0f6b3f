// SPDX-License-Identifier: GPL-2.0
/* Records of files that a process has copied to other memory. */
#include <string.h>
#include <sys/mman.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include "../../event.h"
#include "../../sample.h"
#include "../../synthetic-events.h"
#include "../rules/space.h"
#include "file-map.h"
#include "synthetic-map.h"

static void put_file(const struct hybrid_ident *ident, struct perf_record_mmap2 *event)
{
	if (ident->build_id_size) {
		event->header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
		event->build_id_size = ident->build_id_size;
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
	struct perf_sample fields = hybrid_synthetic__fields(attr->sample_type, sample);
	const struct hybrid_ident *ident = hybrid_mapping_ident(mapping);
	size_t length = strnlen(ident->path, PATH_MAX - 1), size;
	struct perf_record_mmap2 *event = out;

	memset(out, 0, HYBRID_FILE_MAP_SIZE);
	size = offsetof(struct perf_record_mmap2, filename) + PERF_ALIGN(length + 1, sizeof(u64));
	event->header.type = PERF_RECORD_MMAP2;
	event->header.misc = PERF_RECORD_MISC_USER;
	event->pid = pid;
	event->tid = pid;
	event->start = mapping->start;
	event->len = mapping->end - mapping->start;
	event->pgoff = mapping->pgoff;
	event->prot = PROT_READ | PROT_EXEC;
	event->flags = MAP_PRIVATE;
	put_file(ident, event);
	memcpy(event->filename, ident->path, length);
	if (attr->sample_id_all)
		size += perf_event__synthesize_id_sample(out + size, attr->sample_type, &fields);
	event->header.size = size;
	return size;
}
