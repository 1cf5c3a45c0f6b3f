// SPDX-License-Identifier: GPL-2.0
/*
 * Objects as the teacher sees them: which of their functions a store was taught.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../rules/debug-frame.h"
#include "../tasks/open.h"
#include "stored.h"

/*
 * Functions in one go: about 16 KiB of rows. The store does as much work for
 * one function of a large object as for so many.
 */
#define PART_FDES	256

#define LONG_BITS	(sizeof(unsigned long) * CHAR_BIT)

static u32 vdso_flags(const struct hybrid_object *object)
{
	if (!strcmp(object->ident.path, HYBRID_VDSO_64))
		return PERF_HYBRID_VDSO_64;
	return strcmp(object->ident.path, HYBRID_VDSO_32) ? 0 : PERF_HYBRID_VDSO_32;
}

struct hybrid_pupil *hybrid_pupil_new(const struct hybrid_object *object)
{
	struct hybrid_pupil *pupil = calloc(1, sizeof(*pupil));

	if (!pupil)
		return NULL;
	INIT_LIST_HEAD(&pupil->list);
	INIT_LIST_HEAD(&pupil->working);
	INIT_LIST_HEAD(&pupil->opened);
	pupil->epoch = 1;
	pupil->fd = object->fd;
	pupil->flags = vdso_flags(object);
	pupil->path = strdup(object->ident.path);
	if (!pupil->path) {
		free(pupil);
		return NULL;
	}
	return pupil;
}

static int open_file(struct hybrid_pupil *pupil, struct hybrid_object *object)
{
	if (hybrid_object_open(object, fcntl(pupil->fd, F_DUPFD_CLOEXEC, 0)))
		return -ENOEXEC;
	/* Who reads the rings has looked for one, and found it or did not. */
	object->debug_tried = true;
	if (pupil->want_debug)
		hybrid_debug_frame_open(object);
	if (hybrid_fdes_read(object, &pupil->fdes))
		return -ENOMEM;
	if (!pupil->taught)
		pupil->taught = calloc(pupil->fdes.nr / LONG_BITS + 1, sizeof(*pupil->taught));
	return pupil->taught ? 0 : -ENOMEM;
}

int hybrid_pupil_open(struct hybrid_pupil *pupil, struct hybrid_objects *objects)
{
	/* None is like another: each is opened for one pupil. */
	struct hybrid_ident ident = { .path = pupil->path, .ino = (u64)(uintptr_t)pupil };
	int err;

	if (pupil->object)
		return 0;
	pupil->object = hybrid_object_get(objects, &ident);
	if (!pupil->object)
		return -ENOMEM;
	/* When it is given back, it is gone. */
	pupil->object->is_old = true;
	err = open_file(pupil, pupil->object);
	if (err)
		hybrid_pupil_close(pupil);
	return err;
}

void hybrid_pupil_close(struct hybrid_pupil *pupil)
{
	if (pupil->object)
		hybrid_object_put(pupil->object);
	pupil->object = NULL;
	hybrid_fdes_exit(&pupil->fdes);
	list_del_init(&pupil->opened);
}

void hybrid_pupil_want_debug(struct hybrid_pupil *pupil)
{
	if (pupil->want_debug)
		return;
	pupil->want_debug = true;
	/* Its FDEs will be others. */
	hybrid_pupil_close(pupil);
	hybrid_pupil_forget(pupil);
}

static bool is_taught(const struct hybrid_pupil *pupil, size_t i)
{
	return pupil->taught[i / LONG_BITS] >> i % LONG_BITS & 1;
}

static void set_taught(struct hybrid_pupil *pupil, size_t i)
{
	pupil->taught[i / LONG_BITS] |= 1UL << i % LONG_BITS;
}

/* From FDE @i on, to the end of its part. */
static int part_lesson(struct hybrid_pupil *pupil, size_t i, struct hybrid_lesson *lesson)
{
	size_t end = min((i / PART_FDES + 1) * PART_FDES, pupil->fdes.nr);
	int err;

	for (; i < end; i++) {
		err = hybrid_lesson_fde(lesson, pupil->object, &pupil->fdes.fdes[i]);
		if (err == -EAGAIN)
			break;
		if (err)
			return err;
		set_taught(pupil, i);
	}
	return 0;
}

int hybrid_pupil_function(struct hybrid_pupil *pupil, u64 vaddr, bool part,
			  struct hybrid_lesson *lesson)
{
	const struct hybrid_fde *fde = hybrid_fdes_find(&pupil->fdes, vaddr);
	size_t i;
	int err;

	hybrid_lesson_clear(lesson);
	i = fde ? fde - pupil->fdes.fdes : 0;
	if (!fde || is_taught(pupil, i))
		return 0;
	if (part)
		return part_lesson(pupil, i - i % PART_FDES, lesson);
	err = hybrid_lesson_fde(lesson, pupil->object, fde);
	if (!err)
		set_taught(pupil, i);
	return err;
}

int hybrid_pupil_part(struct hybrid_pupil *pupil, struct hybrid_lesson *lesson)
{
	int err = 0;

	hybrid_lesson_clear(lesson);
	while (!err && !lesson->nr_rows && pupil->next < pupil->fdes.nr) {
		if (is_taught(pupil, pupil->next))
			pupil->next++;
		else
			err = part_lesson(pupil, pupil->next, lesson);
	}
	return err;
}

void hybrid_pupil_forget(struct hybrid_pupil *pupil)
{
	free(pupil->taught);
	pupil->taught = NULL;
	pupil->next = 0;
	/* It is needed while the file is open. */
	if (pupil->object)
		hybrid_pupil_close(pupil);
}

void hybrid_pupil_free(struct hybrid_pupil *pupil)
{
	hybrid_pupil_close(pupil);
	list_del(&pupil->list);
	list_del(&pupil->working);
	free(pupil->taught);
	free(pupil->path);
	free(pupil);
}
