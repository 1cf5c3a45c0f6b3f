// SPDX-License-Identifier: GPL-2.0
/*
 * Records that kernels make too long, as Linux 6.18 wrote them for the second of two
 * recordings.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <perf/event.h>
#include "../hybrid/records/record-size.h"
#include "tap.h"

/* tid, time, CPU, identifier */
#define ID_SIZE	32

/* Behind the four words are those of another recording. */
static const u64 ksymbol[] = {
	0x0078000000000011, 0xffffffffc00220a8, 0x000100010000002c, 0x676f72705f667062,
	0x316461313761325f, 0x3064636438663365, 0x0000000000000030, 0x000047fe000047fe,
	0x000026b8ad9d9c9d, 0x0000000000000000, 0x000000000002c7b2, 0x000000000000006f,
	0x0000475500004755, 0x000026b787787f6e, 0x0000000000000000,
};

static const u64 bpf_event[] = {
	0x0058000000000012, 0x00000f7500000002, 0xc09d8d3f1eda712a, 0x000047fe000047fe,
	0x000026b8ad9dec4b, 0x0000000000000000, 0x000000000002c7b2, 0x000000000003f8fa,
	0x0000000000000000, 0x0000000200000005, 0x62696c2f7273752f,
};

static u16 size_of(const void *record)
{
	return hybrid_record_size(record, ID_SIZE);
}

static void grown(void)
{
	same(sizeof(ksymbol), 0x78);
	same(size_of(ksymbol), 7 * 8 + ID_SIZE);
	same(size_of(bpf_event), 3 * 8 + ID_SIZE);
}

/* As the first recording has them, and later kernels. */
static void right(void)
{
	u64 record[16] = {};
	struct perf_event_header *header = (void *)record;

	memcpy(record, ksymbol, sizeof(ksymbol));
	header->size = 7 * 8 + ID_SIZE;
	same(size_of(record), header->size);
	memcpy(record, bpf_event, sizeof(bpf_event));
	header->size = 3 * 8 + ID_SIZE;
	same(size_of(record), header->size);
}

static void other_types(void)
{
	u64 record[16] = {};
	struct perf_record_text_poke_event *event = (void *)record;

	event->header.size = sizeof(record);
	event->header.type = PERF_RECORD_MMAP2;
	same(size_of(record), sizeof(record));
	event->header.type = PERF_RECORD_TEXT_POKE;
	event->old_len = 5;
	event->new_len = 5;
	same(size_of(record), 4 * 8 + ID_SIZE);
}

/* Never more than there is, whatever the record says. */
static void lies(void)
{
	u64 record[16];
	struct perf_event_header *header = (void *)record;
	unsigned int type, size;

	memset(record, 0xff, sizeof(record));
	for (type = 0; type <= PERF_RECORD_TEXT_POKE; type++) {
		for (size = 8; size <= sizeof(record); size += 8) {
			header->type = type;
			header->size = size;
			check(size_of(record) <= size);
		}
	}
}

/*
 * Every length of what stands before the identifier: the size is that and the identifier's, or
 * what there is.
 */
static void every_length(void)
{
	const unsigned int name = offsetof(struct perf_record_ksymbol, name);
	const unsigned int bytes = offsetof(struct perf_record_text_poke_event, bytes);
	u64 words[32] = {};
	struct perf_record_ksymbol *symbol = (void *)words;
	struct perf_record_text_poke_event *poke = (void *)words;
	unsigned int size, length, body;
	u8 *exact;

	for (size = 8; size <= 160; size += 8) {
		for (length = 0; length < 100; length++) {
			memset(words, 0, sizeof(words));
			symbol->header.type = PERF_RECORD_KSYMBOL;
			symbol->header.size = size;
			memset(symbol->name, 'x', length);
			/* The record is cut off at its size, and the name with it. */
			exact = malloc(size);
			memcpy(exact, words, size);
			body = name + (size < name + length ? size - name : length) / 8 * 8 + 8;
			same(size_of(exact), size <= name ? size : min(body + ID_SIZE, size));
			if (size <= name)
				same(hybrid_record_size((void *)exact, 0), size);
			free(exact);

			memset(words, 0, sizeof(words));
			poke->header.type = PERF_RECORD_TEXT_POKE;
			poke->header.size = size;
			if (size >= bytes) {
				poke->old_len = length / 3;
				poke->new_len = length - length / 3;
			}
			exact = malloc(size);
			memcpy(exact, words, size);
			body = (bytes + length + 7) / 8 * 8;
			same(size_of(exact), size < bytes ? size : min(body + ID_SIZE, size));
			if (size < bytes)
				same(hybrid_record_size((void *)exact, 0), size);
			free(exact);
		}
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "size: what stands behind the record is not its own", grown },
		{ "size: records as they should be", right },
		{ "size: other types", other_types },
		{ "size: lengths that lie", lies },
		{ "size: every length", every_length },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
