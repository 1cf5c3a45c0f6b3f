// SPDX-License-Identifier: GPL-2.0
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
#include "mark.h"

static const char * const names[HYBRID_NR_MARKS] = {
	[HYBRID_MARK_CUT_OFF]	= "[cut off]",
	[HYBRID_MARK_GUESSED]	= "[guessed]",
};

const char *hybrid_mark_name(enum hybrid_mark mark)
{
	return names[mark];
}

bool hybrid_mark_in_chain(const struct ip_callchain *chain)
{
	unsigned int mark;
	u64 i;

	for (i = 0; chain && i < chain->nr; i++) {
		for (mark = 0; mark < HYBRID_NR_MARKS; mark++) {
			if (chain->ips[i] == hybrid_mark_ip(mark))
				return true;
		}
	}
	return false;
}

struct perf_sample hybrid_mark__fields(u64 type, const struct perf_event_header *event)
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

size_t hybrid_mark__event(enum hybrid_mark mark, const struct perf_event_attr *attr,
			  const struct perf_event_header *sample, pid_t pid, void *out)
{
	struct perf_sample fields = hybrid_mark__fields(attr->sample_type, sample);
	struct perf_record_mmap2 *event = out;
	size_t size;

	memset(out, 0, HYBRID_MARK_EVENT_SIZE);
	size = offsetof(struct perf_record_mmap2, filename) +
	       PERF_ALIGN(strlen(names[mark]) + 1, sizeof(u64));
	event->header.type = PERF_RECORD_MMAP2;
	event->header.misc = PERF_RECORD_MISC_USER;
	event->pid = pid;
	event->tid = pid;
	event->start = hybrid_mark_start(mark);
	event->len = HYBRID_MARK_SIZE;
	event->prot = PROT_READ | PROT_EXEC;
	event->flags = MAP_PRIVATE;
	memcpy(event->filename, names[mark], strlen(names[mark]) + 1);
	if (attr->sample_id_all)
		size += perf_event__synthesize_id_sample(out + size, attr->sample_type, &fields);
	event->header.size = size;
	return size;
}

bool hybrid_mark__load(struct dso *dso)
{
	struct symbol *symbol;
	unsigned int mark;

	for (mark = 0; mark < HYBRID_NR_MARKS; mark++) {
		if (!strcmp(dso__long_name(dso), names[mark]))
			break;
	}
	if (mark == HYBRID_NR_MARKS)
		return false;
	symbol = symbol__new(0, HYBRID_MARK_SIZE, STB_LOCAL, STT_FUNC, names[mark]);
	if (symbol)
		symbols__insert(dso__symbols(dso), symbol);
	return true;
}
