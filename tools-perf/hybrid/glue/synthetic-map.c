// SPDX-License-Identifier: GPL-2.0
/* The mappings and symbols of synthetic frames: records for the file, and their dso. */
#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include "../../dso.h"
#include "../../event.h"
#include "../../sample.h"
#include "../../symbol.h"
#include "../../synthetic-events.h"
#include "synthetic-map.h"

static const char * const names[HYBRID_NR_SYNTHETIC] = {
	[HYBRID_SYNTHETIC_CUT_OFF]	= "[cut off]",
	[HYBRID_SYNTHETIC_GUESSED]	= "[guessed]",
};

bool hybrid_synthetic_in_chain(const struct ip_callchain *chain)
{
	unsigned int mark;
	u64 i;

	for (i = 0; chain && i < chain->nr; i++) {
		for (mark = 0; mark < HYBRID_NR_SYNTHETIC; mark++) {
			if (chain->ips[i] == hybrid_synthetic_ip(mark))
				return true;
		}
	}
	return false;
}

struct perf_sample hybrid_synthetic__fields(u64 type, const struct perf_event_header *event)
{
	const u64 *field = (const u64 *)(event + 1);
	struct perf_sample sample = {};
	const u32 *half;

	if (type & PERF_SAMPLE_IDENTIFIER)
		sample.id = *field++;
	field += !!(type & PERF_SAMPLE_IP);
	half = (const u32 *)field;
	if (type & PERF_SAMPLE_TID) {
		sample.pid = half[0];
		sample.tid = half[1];
		field++;
	}
	if (type & PERF_SAMPLE_TIME)
		sample.time = *field++;
	field += !!(type & PERF_SAMPLE_ADDR);
	if (type & PERF_SAMPLE_ID)
		sample.id = *field++;
	if (type & PERF_SAMPLE_STREAM_ID)
		sample.stream_id = *field++;
	if (type & PERF_SAMPLE_CPU)
		sample.cpu = *(const u32 *)field;
	return sample;
}

size_t hybrid_map__event(struct perf_record_mmap2 *event, const char *name,
			 const struct perf_event_attr *attr,
			 const struct perf_event_header *sample, pid_t pid)
{
	struct perf_sample fields = hybrid_synthetic__fields(attr->sample_type, sample);
	size_t length = strnlen(name, PATH_MAX - 1);
	size_t size = offsetof(struct perf_record_mmap2, filename) +
		      PERF_ALIGN(length + 1, sizeof(u64));

	event->header.type = PERF_RECORD_MMAP2;
	event->header.misc |= PERF_RECORD_MISC_USER;
	event->pid = pid;
	event->tid = pid;
	event->prot = PROT_READ | PROT_EXEC;
	event->flags = MAP_PRIVATE;
	memcpy(event->filename, name, length);
	if (attr->sample_id_all)
		size += perf_event__synthesize_id_sample((void *)event + size, attr->sample_type,
							 &fields);
	event->header.size = size;
	return size;
}

size_t hybrid_synthetic__event(enum hybrid_synthetic mark, const struct perf_event_attr *attr,
			       const struct perf_event_header *sample, pid_t pid, void *out)
{
	struct perf_record_mmap2 *event = out;

	memset(out, 0, HYBRID_SYNTHETIC_EVENT_SIZE);
	event->start = hybrid_synthetic_start(mark);
	event->len = HYBRID_SYNTHETIC_SIZE;
	return hybrid_map__event(event, names[mark], attr, sample, pid);
}

bool hybrid_synthetic__load(struct dso *dso)
{
	struct symbol *symbol;
	unsigned int mark;

	for (mark = 0; mark < HYBRID_NR_SYNTHETIC; mark++) {
		if (!strcmp(dso__long_name(dso), names[mark]))
			break;
	}
	if (mark == HYBRID_NR_SYNTHETIC)
		return false;
	symbol = symbol__new(0, HYBRID_SYNTHETIC_SIZE, STB_LOCAL, STT_FUNC, names[mark]);
	if (symbol)
		symbols__insert(dso__symbols(dso), symbol);
	return true;
}
