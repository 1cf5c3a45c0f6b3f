// SPDX-License-Identifier: GPL-2.0
/* Records that map the names of a runtime's functions. */
#include <string.h>
#include <linux/perf_event.h>
#include "../../event.h"
#include "../runtime/names.h"
#include "names-map.h"
#include "synthetic-map.h"

size_t hybrid_names__event(const struct hybrid_names *names, const char *path,
			   const struct perf_event_attr *attr,
			   const struct perf_event_header *sample, pid_t pid, void *out)
{
	struct perf_record_mmap2 *event = out;

	memset(out, 0, HYBRID_NAMES_EVENT_SIZE);
	event->start = hybrid_names__start(names);
	event->len = HYBRID_NAMES_SIZE;
	event->pgoff = HYBRID_NAMES_OFFSET;
	event->header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	event->build_id_size = HYBRID_NAMES_BUILD_ID;
	memcpy(event->build_id, hybrid_names__build_id(names), HYBRID_NAMES_BUILD_ID);
	return hybrid_map__event(event, path, attr, sample, pid);
}
