// SPDX-License-Identifier: GPL-2.0
/*
 * What is read is the process's own, and may be anything: lists that go round, sizes
 * that are none, images that change while they are read. It is read as all words of
 * processes are, from pages that are there and of no file, so that nobody can make the
 * reader of the rings wait; what is read in a pass has a bound.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "../rules/image.h"
#include "jit-read.h"
#include "jit.h"

/* Bytes that are read in a pass over the rings. */
#define MAX_READ	(2 * HYBRID_JIT_BYTES)

/* https://sourceware.org/gdb/current/onlinedocs/gdb.html/Declarations.html, of 64 bits. */
struct descriptor {
	u32	version;
	u32	action;
	u64	relevant;
	u64	first;
};

struct entry {
	u64	next;
	u64	prev;
	u64	addr;
	u64	size;
};

static int copy(const struct hybrid_jit_read *read, u64 addr, void *dst, size_t size)
{
	*read->nr_bytes += size;
	if (*read->nr_bytes > MAX_READ)
		return -1;
	return hybrid_memory_copy(read->memory, read->space, read->pid, addr, dst, size);
}

static u64 hash_bytes(const u8 *bytes, u64 size)
{
	u64 hash = size, word, i;

	for (i = 0; i < size; i += sizeof(word)) {
		word = 0;
		memcpy(&word, bytes + i, min_t(u64, size - i, sizeof(word)));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 32;
	}
	return hash;
}

/*
 * LLVM registers what it compiled as it was before it was loaded, but for the addresses of
 * its sections: in memory .eh_frame is relocated. -1 where it can't be read.
 */
static int read_eh_frame(struct hybrid_jit_read *read, struct hybrid_jit_image *image)
{
	u64 offset, addr, size;

	if (!hybrid_image_is_relocatable(image->bytes, image->size))
		return 0;
	if (!hybrid_image_eh_frame(image->bytes, image->size, &offset, &addr, &size))
		return -1;
	return copy(read, addr, image->bytes + offset, size);
}

static void read_image(struct hybrid_jit_read *read, const struct entry *entry)
{
	struct hybrid_jit_image *image = &read->images[read->nr];

	if (entry->size < EI_NIDENT || entry->size > HYBRID_JIT_BYTES - read->size)
		return;
	image->bytes = malloc(entry->size);
	if (!image->bytes)
		return;
	read->size += entry->size;
	image->addr = entry->addr;
	image->size = entry->size;
	read->nr++;
	if (copy(read, image->addr, image->bytes, image->size) || read_eh_frame(read, image)) {
		free(image->bytes);
		read->nr--;
		return;
	}
	image->hash = hash_bytes(image->bytes, image->size);
}

/* -1 where it can't be read: the process is gone, or has never had it. */
static int read_first(struct hybrid_jit_read *read, u64 list, u64 *first)
{
	struct descriptor descriptor;

	if (copy(read, list, &descriptor, sizeof(descriptor)))
		return -1;
	*first = descriptor.version == 1 ? descriptor.first : 0;
	return 0;
}

int hybrid_jit_read(struct hybrid_jit_read *read, u64 list)
{
	u64 at, prev = 0;
	struct entry entry;

	if (read_first(read, list, &at))
		return -1;
	while (at && read->nr_entries++ < HYBRID_JIT_IMAGES) {
		/* One that is changed just now, or never was a list, ends here. */
		if (copy(read, at, &entry, sizeof(entry)) || entry.prev != prev)
			break;
		read_image(read, &entry);
		prev = at;
		at = entry.next;
	}
	/* It may have gone meanwhile. */
	return read_first(read, list, &at);
}
