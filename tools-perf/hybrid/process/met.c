// SPDX-License-Identifier: GPL-2.0
/*
 * The files and the pages of the kernel that the callchains of a recording led through.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include "../rules/keyed-hash.h"
#include "met.h"

/* As binary logarithms: slots of files, and of HYBRID_MET_PAGES pages. */
#define FILES_BITS	24
#define PAGES_BITS	17

void hybrid_met_exit(struct hybrid_met *met)
{
	u32 i;

	for (i = 0; i < met->nr_files; i++)
		free((char *)met->files[i].ident.path);
	free(met->files);
	hybrid_key_table__exit(&met->slots);
	hybrid_key_table__exit(&met->pages);
}

/* @file: NULL: of the ident alone */
static u64 key_of_file(const struct hybrid_ident *ident, const struct hybrid_file_id *file)
{
	const u64 numbers[] = { ident->maj, ident->min, ident->ino, ident->ino_generation };
	u64 key = hybrid_hash_string(ident->path), id[4];

	if (ident->build_id_size)
		key = hybrid_hash_bytes(key, ident->build_id, ident->build_id_size);
	else
		key = hybrid_hash_bytes(key, numbers, sizeof(numbers));
	if (file) {
		id[0] = file->dev;
		id[1] = file->ino;
		id[2] = file->ctime_sec;
		id[3] = file->ctime_nsec;
		key = hybrid_hash_bytes(key, id, sizeof(id));
	}
	return key ?: 1;
}

static bool is_same_ident(const struct hybrid_ident *a, const struct hybrid_ident *b)
{
	if (a->build_id_size != b->build_id_size || strcmp(a->path, b->path))
		return false;
	if (a->build_id_size)
		return !memcmp(a->build_id, b->build_id, a->build_id_size);
	return a->ino == b->ino && a->maj == b->maj && a->min == b->min &&
	       a->ino_generation == b->ino_generation;
}

static struct hybrid_met_file *find_file(struct hybrid_met *met, const struct hybrid_ident *ident,
					 const struct hybrid_file_id *id)
{
	u32 number = hybrid_key_table__number(&met->slots, key_of_file(ident, id));
	struct hybrid_met_file *file = number ? &met->files[number - 1] : NULL;

	return file && is_same_ident(&file->ident, ident) && hybrid_file_id_equal(&file->file, id) ?
	       file : NULL;
}

/* The number of files is a power of two each time that there is room for no more. */
static bool make_room_for_file(struct hybrid_met *met)
{
	size_t nr = max(2 * met->nr_files, 1U);
	struct hybrid_met_file *files;

	if (met->nr_files & (met->nr_files - 1))
		return true;
	files = realloc(met->files, nr * sizeof(*files));
	met->files = files ?: met->files;
	return files;
}

/* @number: how many known files have the ident; NULL if memory is short */
static struct hybrid_met_file *add_file(struct hybrid_met *met, const struct hybrid_ident *ident,
					const struct hybrid_file_id *id, u32 number)
{
	struct hybrid_met_file *file;
	const char *path;

	path = make_room_for_file(met) ? strdup(ident->path) : NULL;
	if (!path)
		return NULL;
	file = &met->files[met->nr_files];
	*file = (struct hybrid_met_file) {
		.ident = *ident, .file = *id, .number = id->ino ? number : 0,
	};
	file->ident.path = path;
	if (!hybrid_key_table__put_number(&met->slots, FILES_BITS, key_of_file(ident, id),
					  met->nr_files + 1) ||
	    (id->ino && !hybrid_key_table__put_number(&met->slots, FILES_BITS,
						      key_of_file(ident, NULL), number + 1))) {
		free((char *)path);
		return NULL;
	}
	met->nr_files++;
	return file;
}

struct hybrid_met_file *hybrid_met_file(struct hybrid_met *met, const struct hybrid_ident *ident,
					const struct hybrid_file_id *id, pid_t pid)
{
	static const struct hybrid_file_id unknown;
	struct hybrid_met_file *file;
	u32 number;

	/* What has failed once is of no use any more. */
	if (met->failed)
		return NULL;
	id = id ?: &unknown;
	number = hybrid_key_table__number(&met->slots, key_of_file(ident, NULL));
	file = find_file(met, ident, id);
	if (!file && number == HYBRID_MET_NAMESAKES) {
		id = &unknown;
		file = find_file(met, ident, id);
	}
	file = file ?: add_file(met, ident, id, number);
	met->failed = !file;
	if (file)
		file->pid = pid;
	return file;
}

/* Its mappings have the file's number, and perf computes its digest. */
static void note_mapping(struct hybrid_met *met, struct hybrid_mapping *mapping)
{
	const struct hybrid_ident *ident = hybrid_mapping_ident(mapping);
	struct hybrid_met_file *file;

	/* Without a build-id the record has the inode. */
	file = hybrid_met_file(met, ident, ident->build_id_size ? &mapping->file : NULL,
			       mapping->pid);
	if (!file)
		return;
	mapping->number = file->number;
	met->nr_numbered += !!file->number;
	if (met->add_digest && file->file.ino && !file->digest)
		file->digest = met->add_digest(met->arg, mapping);
}

void hybrid_met_user(struct hybrid_met *met, struct hybrid_space *space, u64 ip)
{
	const struct hybrid_ident *ident;
	struct hybrid_mapping *mapping;

	/* Functions of runtimes have addresses that no process has. */
	if (ip >> 56 == 1)
		return;
	/* Most frames are in the file that the frame before was in. */
	if (met->gen == space->gen && ip >= met->start && ip < met->end)
		return;
	mapping = hybrid_space_at(space, ip);
	if (!mapping)
		return;
	met->gen = space->gen;
	met->start = mapping->start;
	met->end = mapping->end;
	if (mapping->is_met || !mapping->object)
		return;
	mapping->is_met = true;
	ident = hybrid_mapping_ident(mapping);
	/* Its name is that of the other vDSO. */
	if (hybrid_met_is_low(mapping->start) && !strcmp(ident->path, HYBRID_MET_VDSO))
		met->in_low_vdso = true;
	else
		note_mapping(met, mapping);
}

void hybrid_met_kernel(struct hybrid_met *met, u64 ip)
{
	u64 page = ip >> HYBRID_MET_SHIFT;
	u64 *last = &met->last_pages[page % ARRAY_SIZE(met->last_pages)];

	if (page == *last || !page || met->failed)
		return;
	*last = page;
	if (hybrid_key_table__find(&met->pages, page))
		return;
	met->pages.size = sizeof(page);
	met->pages.most_bits = PAGES_BITS;
	met->failed = met->pages.nr == HYBRID_MET_PAGES ||
		      !hybrid_key_table__put(&met->pages, &page);
}

void hybrid_met_chain(struct hybrid_met *met, struct hybrid_space *space, const u64 *chain,
		      unsigned int nr)
{
	/* perf takes what stands before the first context word for user space, too. */
	u64 context = PERF_CONTEXT_USER;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (chain[i] >= (u64)PERF_CONTEXT_MAX)
			context = chain[i];
		else if (context == (u64)PERF_CONTEXT_USER && space)
			hybrid_met_user(met, space, chain[i]);
		else if (context == (u64)PERF_CONTEXT_KERNEL)
			hybrid_met_kernel(met, chain[i]);
	}
}
