// SPDX-License-Identifier: GPL-2.0
#include <stddef.h>
#include <string.h>
#include <linux/align.h>
#include <linux/kernel.h>
#include <perf/event.h>
#include "record-size.h"

/* Bytes of a record that stand before its id and time; 0: they are what header.size says. */
static size_t body_size(const struct perf_event_header *header)
{
	const union perf_event *event = (const union perf_event *)header;
	const size_t name = offsetof(struct perf_record_ksymbol, name);
	const size_t text = offsetof(struct perf_record_text_poke_event, bytes);
	size_t size = header->size;

	switch (header->type) {
	case PERF_RECORD_KSYMBOL:
		return size <= name ? 0 :
			name + ALIGN(strnlen(event->ksymbol.name, size - name) + 1, 8);
	case PERF_RECORD_BPF_EVENT:
		return sizeof(struct perf_record_bpf_event);
	case PERF_RECORD_TEXT_POKE:
		return size < text ? 0 :
			ALIGN(text + event->text_poke.old_len + event->text_poke.new_len, 8);
	default:
		return 0;
	}
}

u16 hybrid_record_size(const struct perf_event_header *event, u16 id_size)
{
	size_t size = body_size(event);

	return size ? min(size + id_size, (size_t)event->size) : event->size;
}
