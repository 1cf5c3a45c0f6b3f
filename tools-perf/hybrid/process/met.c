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

#define FIRST_SLOTS	64

void hybrid_met_exit(struct hybrid_met *met)
{
	u32 i;

	for (i = 0; i < met->nr_files; i++)
		free((char *)met->files[i].ident.path);
	free(met->files);
	free(met->file_slots);
	free(met->pages);
}

static u32 hash_ident(const struct hybrid_ident *ident)
{
	u64 key = ident->ino;

	if (ident->build_id_size)
		memcpy(&key, ident->build_id, sizeof(key));
	return hybrid_hash(hybrid_hash_mix(hybrid_hash_string(ident->path), key), 32);
}

static bool is_same(const struct hybrid_ident *a, const struct hybrid_ident *b)
{
	if (a->build_id_size != b->build_id_size || strcmp(a->path, b->path))
		return false;
	if (a->build_id_size)
		return !memcmp(a->build_id, b->build_id, a->build_id_size);
	return a->ino == b->ino && a->maj == b->maj && a->min == b->min &&
	       a->ino_generation == b->ino_generation;
}

/*
 * The slot of the file, or the free one where it belongs. At least one is free. @number: out: how
 * many known files with that ident stand before it
 */
static u32 *file_slot(const struct hybrid_met *met, const struct hybrid_ident *ident,
		      const struct hybrid_file_id *file, u32 *number)
{
	u32 mask = met->nr_file_slots - 1, i;
	const struct hybrid_met_file *other;

	*number = 0;
	for (i = hash_ident(ident) & mask; met->file_slots[i]; i = (i + 1) & mask) {
		other = &met->files[met->file_slots[i] - 1];
		if (!is_same(&other->ident, ident))
			continue;
		if (hybrid_file_id_equal(&other->file, file))
			break;
		*number += !!other->file.ino;
	}
	return &met->file_slots[i];
}

/* Twice as many slots as there are files, at least; and room for another file. */
static bool make_room_for_file(struct hybrid_met *met)
{
	u32 nr = met->nr_file_slots ? 2 * met->nr_file_slots : FIRST_SLOTS, i, unused;
	struct hybrid_met_file *files;

	if (2 * (met->nr_files + 1) <= met->nr_file_slots)
		return true;
	files = realloc(met->files, nr / 2 * sizeof(*files));
	if (!files)
		return false;
	met->files = files;
	free(met->file_slots);
	met->file_slots = calloc(nr, sizeof(*met->file_slots));
	met->nr_file_slots = met->file_slots ? nr : 0;
	if (!met->file_slots)
		return false;
	for (i = 0; i < met->nr_files; i++)
		*file_slot(met, &met->files[i].ident, &met->files[i].file, &unused) = i + 1;
	return true;
}

struct hybrid_met_file *hybrid_met_file(struct hybrid_met *met, const struct hybrid_ident *ident,
					const struct hybrid_file_id *id, pid_t pid)
{
	static const struct hybrid_file_id unknown;
	struct hybrid_met_file *file;
	u32 *slot, number;

	/* What has failed once is of no use any more. */
	if (met->failed || !make_room_for_file(met)) {
		met->failed = true;
		return NULL;
	}
	id = id ?: &unknown;
	slot = file_slot(met, ident, id, &number);
	if (!*slot && number == HYBRID_MET_NAMESAKES) {
		id = &unknown;
		slot = file_slot(met, ident, id, &number);
	}
	if (*slot) {
		met->files[*slot - 1].pid = pid;
		return &met->files[*slot - 1];
	}
	file = &met->files[met->nr_files];
	memset(file, 0, sizeof(*file));
	file->ident = *ident;
	file->ident.path = strdup(ident->path);
	file->file = *id;
	file->number = id->ino ? number : 0;
	file->pid = pid;
	if (!file->ident.path) {
		met->failed = true;
		return NULL;
	}
	*slot = ++met->nr_files;
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

static u64 *page_slot(const struct hybrid_met *met, u64 page)
{
	u32 mask = met->nr_page_slots - 1, i;

	for (i = hybrid_hash(page, 32) & mask; met->pages[i]; i = (i + 1) & mask) {
		if (met->pages[i] == page)
			break;
	}
	return &met->pages[i];
}

static bool make_room_for_page(struct hybrid_met *met)
{
	u32 before = met->nr_page_slots, i;
	u64 *pages = met->pages;

	if (2 * (met->nr_pages + 1) <= before)
		return true;
	if (met->nr_pages == HYBRID_MET_PAGES)
		return false;
	met->nr_page_slots = before ? 2 * before : FIRST_SLOTS;
	met->pages = calloc(met->nr_page_slots, sizeof(*pages));
	for (i = 0; met->pages && i < before; i++) {
		if (pages[i])
			*page_slot(met, pages[i]) = pages[i];
	}
	free(pages);
	return met->pages;
}

void hybrid_met_kernel(struct hybrid_met *met, u64 ip)
{
	u64 page = ip >> HYBRID_MET_SHIFT;

	if (page == met->last_page || !page || met->failed)
		return;
	met->last_page = page;
	if (met->nr_page_slots && *page_slot(met, page))
		return;
	if (!make_room_for_page(met)) {
		met->failed = true;
		return;
	}
	*page_slot(met, page) = page;
	met->nr_pages++;
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
