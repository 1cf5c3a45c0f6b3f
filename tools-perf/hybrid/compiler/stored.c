// SPDX-License-Identifier: GPL-2.0
/*
 * Objects as the compiler sees them: which of their functions a store has.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/bitmap.h>
#include "../rules/debug-frame.h"
#include "stored.h"

/*
 * Functions in one go: about 16 KiB of rows. The store does as much work for
 * one function of a large object as for so many.
 */
#define PART_FDES	256

/* One of so many functions is to be met before all are loaded; of so many always. */
#define MET_SHARE	16
#define SMALL_FDES	128

/* Interpreters with more functions are not loaded whole before samples have met a part of them. */
#define LARGE_FDES	16384

static u32 vdso_flags(const struct hybrid_object *object)
{
	if (!strcmp(object->ident.path, HYBRID_VDSO_64))
		return PERF_UNWIND_VDSO_64;
	return strcmp(object->ident.path, HYBRID_VDSO_32) ? 0 : PERF_UNWIND_VDSO_32;
}

struct hybrid_stored *hybrid_stored_new(struct hybrid_object *object)
{
	struct hybrid_stored *stored = calloc(1, sizeof(*stored));

	if (!stored)
		return NULL;
	INIT_LIST_HEAD(&stored->list);
	INIT_LIST_HEAD(&stored->working);
	INIT_LIST_HEAD(&stored->opened);
	INIT_LIST_HEAD(&stored->twins);
	stored->epoch = 1;
	stored->fd = object->fd;
	stored->user = object->user;
	stored->flags = vdso_flags(object);
	stored->path = strdup(object->ident.path);
	if (!stored->path) {
		free(stored);
		return NULL;
	}
	stored->hold = object->hold;
	object->hold.page = NULL;
	return stored;
}

static int open_file(struct hybrid_stored *stored, struct hybrid_object *object)
{
	int err;

	/* Before anything is read of it. */
	err = stored->hold.copied ? 0 : hybrid_pin_file(&stored->hold, stored->fd);
	if (err)
		return err;
	object->user = stored->user;
	if (hybrid_object_open(object, fcntl(stored->fd, F_DUPFD_CLOEXEC, 0)))
		return -ENOEXEC;
	/* Who reads the rings has looked for one, and found it or did not. */
	object->debug_tried = true;
	if (stored->want_debug)
		hybrid_debug_frame_open(object);
	err = hybrid_fdes_read(object, &stored->fdes);
	if (err)
		return err;
	if (!stored->loaded)
		stored->loaded = bitmap_zalloc(stored->fdes.nr + 1);
	return stored->loaded ? 0 : -ENOMEM;
}

int hybrid_stored_open(struct hybrid_stored *stored, struct hybrid_objects *objects)
{
	/* None is like another: each is opened for one of them. */
	struct hybrid_ident ident = { .path = stored->path, .ino = (u64)(uintptr_t)stored };
	int err;

	if (stored->object)
		return 0;
	stored->object = hybrid_object_get(objects, &ident);
	if (!stored->object)
		return -ENOMEM;
	/* When it is given back, it is gone. */
	stored->object->is_old = true;
	err = open_file(stored, stored->object);
	if (err)
		hybrid_stored_close(stored);
	return err;
}

void hybrid_stored_close(struct hybrid_stored *stored)
{
	if (stored->object)
		hybrid_object_put(stored->object);
	stored->object = NULL;
	hybrid_fdes_exit(&stored->fdes);
	list_del_init(&stored->opened);
}

void hybrid_stored_want_debug(struct hybrid_stored *stored)
{
	if (stored->want_debug)
		return;
	stored->want_debug = true;
	/* Its FDEs will be others. */
	hybrid_stored_close(stored);
	hybrid_stored_forget(stored);
}

/* From FDE @i on, to the end of its part. */
static int part_batch(struct hybrid_stored *stored, size_t i, struct hybrid_batch *batch)
{
	size_t end = min((i / PART_FDES + 1) * PART_FDES, stored->fdes.nr);
	int err;

	for (; i < end; i++) {
		err = hybrid_batch_fde(batch, stored->object, &stored->fdes.fdes[i]);
		if (err == -EAGAIN)
			break;
		if (err)
			return err;
		__set_bit(i, stored->loaded);
	}
	return 0;
}

int hybrid_stored_function(struct hybrid_stored *stored, u64 vaddr, bool part,
			   struct hybrid_batch *batch)
{
	const struct hybrid_fde *fde = hybrid_fdes_find(&stored->fdes, vaddr);
	size_t i;
	int err;

	hybrid_batch_clear(batch);
	i = fde ? fde - stored->fdes.fdes : 0;
	if (!fde || test_bit(i, stored->loaded))
		return 0;
	if (part)
		return part_batch(stored, i - i % PART_FDES, batch);
	err = hybrid_batch_fde(batch, stored->object, fde);
	if (!err)
		__set_bit(i, stored->loaded);
	return err;
}

int hybrid_stored_part(struct hybrid_stored *stored, struct hybrid_batch *batch)
{
	int err = 0;

	hybrid_batch_clear(batch);
	while (!err && !batch->nr_rows && stored->next < stored->fdes.nr) {
		if (test_bit(stored->next, stored->loaded))
			stored->next++;
		else
			err = part_batch(stored, stored->next, batch);
	}
	return err;
}

bool hybrid_stored_is_large(const struct hybrid_stored *stored)
{
	return stored->fdes.nr > LARGE_FDES;
}

bool hybrid_stored_is_worth(const struct hybrid_stored *stored)
{
	return stored->fdes.nr <= SMALL_FDES ||
	       (stored->is_interpreter && !hybrid_stored_is_large(stored)) ||
	       stored->nr_functions * MET_SHARE >= stored->fdes.nr;
}

void hybrid_stored_forget(struct hybrid_stored *stored)
{
	free(stored->loaded);
	stored->loaded = NULL;
	free(stored->blocks);
	stored->blocks = NULL;
	stored->nr_blocks = 0;
	stored->next = 0;
	stored->begun = false;
	/* It is needed while the file is open. */
	if (stored->object)
		hybrid_stored_close(stored);
}

/* Makes a twin that takes over descriptor and hold of @file. NULL if @file can't be held. */
static struct hybrid_twin *new_twin(struct hybrid_object *file)
{
	struct hybrid_twin *twin;

	if (!file->is_copy && file->fd >= 0)
		hybrid_pin_file(&file->hold, file->fd);
	twin = file->hold.page ? calloc(1, sizeof(*twin)) : NULL;
	if (!twin)
		return NULL;
	INIT_LIST_HEAD(&twin->list);
	twin->fd = file->fd;
	twin->hold = file->hold;
	twin->user = file->user;
	twin->copied = file->copied;
	file->fd = -1;
	file->hold.page = NULL;
	file->copied = 0;
	return twin;
}

/*
 * Returns what holds the mapping's file, if perf has a copy of the file or has compared the file
 * with the copy that the object has; else NULL.
 */
static const struct hybrid_pinned_file *hold_of(const struct hybrid_stored *stored,
						const struct hybrid_mapping *mapping)
{
	const struct hybrid_object *object = mapping->object, *same;
	const struct hybrid_pinned_file *hold = &stored->hold;

	if (!hybrid_file_id_equal(&object->file, &mapping->file)) {
		same = hybrid_object_known(object->objects, hybrid_mapping_ident(mapping),
					   &mapping->file);
		if (!same || same->same != object || same->comparison)
			return NULL;
		hold = &same->hold;
	}
	return hold->copied && hold->page ? hold : NULL;
}

bool hybrid_stored_twin(struct hybrid_stored *stored, const struct hybrid_mapping *mapping,
			struct hybrid_twin **twin)
{
	struct hybrid_objects *objects = mapping->object->objects;
	const struct hybrid_pinned_file *known = hold_of(stored, mapping);
	struct hybrid_object *file = stored->awaited;
	struct hybrid_mapping same = *mapping;

	*twin = NULL;
	if (!file)
		file = hybrid_object_new(objects, hybrid_mapping_ident(mapping));
	if (!file)
		return true;
	stored->awaited = file;
	if (!known || hybrid_pin_again(&file->hold, known)) {
		same.object = file;
		same.record = NULL;
		file->fd = objects->open(&same);
	}
	if (file->fd == HYBRID_OPEN_LATER)
		return false;
	*twin = new_twin(file);
	hybrid_stored_cancel(stored);
	return true;
}

void hybrid_stored_cancel(struct hybrid_stored *stored)
{
	if (stored->awaited)
		hybrid_object_free(stored->awaited);
	stored->awaited = NULL;
}

void hybrid_twin_close(struct hybrid_twin *twin)
{
	if (twin->fd >= 0)
		close(twin->fd);
	twin->fd = -1;
	hybrid_file_give(twin->user, HYBRID_FILE_COPIES, twin->copied);
	twin->copied = 0;
}

void hybrid_twin_free(struct hybrid_twin *twin)
{
	if (!twin)
		return;
	list_del(&twin->list);
	hybrid_unpin_file(&twin->hold);
	hybrid_twin_close(twin);
	free(twin);
}

void hybrid_stored_free(struct hybrid_stored *stored)
{
	struct hybrid_twin *twin, *next;

	list_for_each_entry_safe(twin, next, &stored->twins, list)
		hybrid_twin_free(twin);
	hybrid_stored_close(stored);
	list_del(&stored->list);
	list_del(&stored->working);
	hybrid_unpin_file(&stored->hold);
	free(stored->loaded);
	free(stored->blocks);
	free(stored->path);
	free(stored);
}
