// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/sysmacros.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/time64.h>
#include "../rules/clock.h"
#include "../rules/space.h"
#include "file-loader.h"
#include "helper-pool.h"
#include "mount.h"

/* A file that is at hand is there in less, in ns: no sample has to be looked at twice. */
#define FIRST_WAIT	10000000ULL

/* A recording ends so long after its program, in ns, whatever does not answer. */
#define END_WAIT	1000000000ULL

struct hybrid_loader *hybrid_loader_new(const struct hybrid_loader_ops *ops)
{
	struct hybrid_loader *loader = calloc(1, sizeof(*loader));

	if (!loader)
		return NULL;
	INIT_LIST_HEAD(&loader->queue);
	loader->socket = -1;
	loader->ops = *ops;
	return loader;
}

void hybrid_loader_delete(struct hybrid_loader *loader)
{
	struct hybrid_load *load, *next;

	if (!loader)
		return;
	list_for_each_entry_safe(load, next, &loader->queue, list)
		hybrid_load_free(load);
	hybrid_helpers_exit(loader);
	free(loader);
}

/* Is what was found on a file system that waits for nobody? */
static bool is_local(struct hybrid_loader *loader, int found, dev_t dev, pid_t pid)
{
	u64 mount = hybrid_mount_id(found);
	unsigned int i;
	bool is;

	for (i = 0; i < loader->nr_devices; i++) {
		if (loader->devices[i].dev == dev && loader->devices[i].mount == mount)
			return loader->devices[i].is_local;
	}
	is = hybrid_mount_is_local(found, pid);
	/* Who unmounts one and mounts another one may get its number. */
	if (!mount && !major(dev))
		return is;
	i = loader->nr_devices < HYBRID_MAX_DEVICES ? loader->nr_devices++ :
	    (dev + mount) % HYBRID_MAX_DEVICES;
	loader->devices[i] = (struct hybrid_device) { dev, mount, is };
	return is;
}

static struct hybrid_load *new_load(u32 kind)
{
	struct hybrid_load *load = calloc(1, sizeof(*load));

	if (!load)
		return NULL;
	INIT_LIST_HEAD(&load->list);
	load->is_wanted = true;
	load->request.kind = kind;
	load->asked = hybrid_clock_ns(CLOCK_MONOTONIC);
	load->waited = load->asked;
	load->fd = -1;
	return load;
}

static void give_up(struct hybrid_load *load)
{
	if (load->late)
		return;
	load->late = true;
	hybrid_file_left_out(load->user, HYBRID_FILE_WAITS);
	if (load->object->state == HYBRID_OBJECT_NEW)
		load->object->why = "its file system did not answer in time";
}

/*
 * Have samples waited for it as long as they do? A user whose files answer slowly has a share. No
 * time is counted until a process runs that can open it.
 */
static bool is_over(const struct hybrid_loader *loader, struct hybrid_load *load)
{
	u64 now = hybrid_clock_ns(CLOCK_MONOTONIC), waited = now - load->waited;

	load->waited = now;
	if (hybrid_helpers_are_starting(loader)) {
		load->asked += waited;
		return false;
	}
	return now - load->asked >= HYBRID_LOAD_WAIT_NS ||
	       !hybrid_file_take(load->user, HYBRID_FILE_WAITED, waited + 1) ||
	       hybrid_helpers_use(loader, load->dev).is_silent;
}

/* No helper can be asked. */
static bool is_refused(const struct hybrid_loader *loader, struct hybrid_load *load)
{
	if (!loader->is_broken || load->done)
		return false;
	list_del_init(&load->list);
	load->error = ENOENT;
	hybrid_load_end(load);
	return true;
}

/* Asks for it, and gives it a moment. */
static void ask(struct hybrid_loader *loader, struct hybrid_object *object,
		struct hybrid_load *load)
{
	object->load = load;
	load->object = object;
	load->is_counted = hybrid_file_take(load->user, HYBRID_FILE_ASKED, 1);
	if (!load->is_counted) {
		hybrid_load_set_over(load, HYBRID_FILE_ASKED);
		hybrid_load_end(load);
		return;
	}
	list_add_tail(&load->list, &loader->queue);
	hybrid_helpers_read(loader);
	if (is_refused(loader, load))
		return;
	if (is_over(loader, load)) {
		give_up(load);
		return;
	}
	while (!load->done && hybrid_clock_ns(CLOCK_MONOTONIC) < load->asked + FIRST_WAIT)
		hybrid_helpers_wait(loader, load->asked + FIRST_WAIT);
}

static int take_load(struct hybrid_object *object)
{
	struct hybrid_load *load = object->load;
	int fd = load->fd, error = load->error;

	hybrid_unpin_file(&object->hold);
	object->hold = load->hold;
	load->hold.page = NULL;
	load->fd = -1;
	if (fd >= 0) {
		object->is_copy = load->copied;
		object->copied = load->size;
		load->size = 0;
	}
	if (fd >= 0 ? load->copied : error == EDQUOT)
		object->user = load->user;
	object->load = NULL;
	hybrid_load_free(load);
	errno = error;
	return fd;
}

void hybrid_loader_cancel(struct hybrid_object *object)
{
	struct hybrid_load *load = object->load;

	object->load = NULL;
	if (load)
		hybrid_load_forget(load);
}

static struct hybrid_load *load_of(const struct hybrid_mapping *mapping, u32 kind, dev_t dev)
{
	const struct hybrid_ident *ident = hybrid_mapping_ident(mapping);
	struct hybrid_objects *objects = mapping->object->objects;
	struct hybrid_load *load = new_load(kind);

	if (!load)
		return NULL;
	load->dev = dev;
	load->user = objects->user_of ? objects->user_of(mapping) : NULL;
	load->request.mapping = *mapping;
	load->request.mapping.object = NULL;
	load->request.mapping.record = NULL;
	load->request.ident = *ident;
	load->request.ident.path = NULL;
	load->request.file = mapping->object->file;
	strncpy(load->request.path, ident->path, sizeof(load->request.path) - 1);
	return load;
}

/* Found (O_PATH) on a local file system; else -1, with EAGAIN if only a helper can open it. */
static int find_local(struct hybrid_loader *loader, const struct hybrid_mapping *mapping,
		      dev_t *dev)
{
	int found = loader->ops.find(mapping);

	*dev = 0;
	if (found < 0)
		return -1;
	*dev = hybrid_device_of(found);
	if (is_local(loader, found, *dev, mapping->pid))
		return found;
	close(found);
	errno = EAGAIN;
	return -1;
}

int hybrid_loader_open(const struct hybrid_mapping *mapping)
{
	struct hybrid_object *object = mapping->object;
	struct hybrid_loader *loader = object->objects->open_arg;
	struct hybrid_load *load = object->load;
	dev_t dev;
	int found;

	/* It is read from the process. */
	if (!strcmp(object->ident.path, HYBRID_VDSO_64) ||
	    !strcmp(object->ident.path, HYBRID_VDSO_32))
		return loader->ops.open(mapping);
	/* It was closed while debuginfod was asked. */
	if (load && load->request.kind == HYBRID_HELPER_DEBUG) {
		hybrid_loader_cancel(object);
		load = NULL;
	}
	if (load) {
		hybrid_helpers_read(loader);
		return load->done ? take_load(object) : HYBRID_OPEN_LATER;
	}
	object->is_copy = false;
	found = find_local(loader, mapping, &dev);
	if (found >= 0)
		return loader->ops.open_found(mapping, found);
	if (errno != EAGAIN)
		return -1;
	load = load_of(mapping, HYBRID_HELPER_OPEN, dev);
	if (!load) {
		errno = ENOMEM;
		return -1;
	}
	ask(loader, object, load);
	return load->done ? take_load(object) : HYBRID_OPEN_LATER;
}

struct hybrid_load *hybrid_loader_digest(struct hybrid_loader *loader,
					 const struct hybrid_mapping *mapping, int *found)
{
	struct hybrid_load *load;
	dev_t dev;

	*found = find_local(loader, mapping, &dev);
	if (*found >= 0 || errno != EAGAIN)
		return NULL;
	load = load_of(mapping, HYBRID_HELPER_DIGEST, dev);
	if (!load)
		return NULL;
	load->request.file = mapping->file;
	list_add_tail(&load->list, &loader->queue);
	hybrid_helpers_read(loader);
	is_refused(loader, load);
	return load;
}

/* The file is read at once, and closed. */
static int take_debug(struct hybrid_object *object)
{
	struct hybrid_load *load = object->load;
	int fd = load->done ? load->fd : -1;

	if (fd >= 0)
		load->fd = -1;
	hybrid_loader_cancel(object);
	return fd;
}

int hybrid_loader_fetch(struct hybrid_object *object, const u8 *build_id, size_t size)
{
	struct hybrid_loader *loader = object->objects->open_arg;
	struct hybrid_load *load = object->load;

	if (!load) {
		load = new_load(HYBRID_HELPER_DEBUG);
		if (!load)
			return -1;
		memcpy(load->request.ident.build_id, build_id, size);
		load->request.ident.build_id_size = size;
		load->user = object->user;
		ask(loader, object, load);
	}
	hybrid_helpers_read(loader);
	if (!load->done && !load->late)
		return HYBRID_OPEN_LATER;
	return take_debug(object);
}

static bool is_local_here(void *arg, int found)
{
	return is_local(arg, found, hybrid_device_of(found), getpid());
}

int hybrid_loader_open_path(struct hybrid_objects *objects, const char *path)
{
	return hybrid_open_local("/", path, is_local_here, objects->open_arg);
}

void hybrid_loader_give_up(struct hybrid_object *object)
{
	if (object->load)
		give_up(object->load);
}

enum hybrid_load_state hybrid_loader_state(struct hybrid_object *object, bool wait)
{
	struct hybrid_loader *loader = object->objects->open_arg;
	struct hybrid_load *load = object->load;
	u64 until;

	if (!load)
		return HYBRID_LOAD_DONE;
	hybrid_helpers_read(loader);
	if (wait && !loader->wait_until)
		loader->wait_until = hybrid_clock_ns(CLOCK_MONOTONIC) + END_WAIT;
	until = load->asked + HYBRID_LOAD_WAIT_NS;
	if (loader->wait_until)
		until = min(until, loader->wait_until);
	while (wait && !load->done && !load->late &&
	       hybrid_clock_ns(CLOCK_MONOTONIC) < until)
		hybrid_helpers_wait(loader, until);
	if (load->done)
		return HYBRID_LOAD_DONE;
	if (wait || (!load->late && is_over(loader, load)))
		give_up(load);
	return load->late ? HYBRID_LOAD_LATE : HYBRID_LOAD_WAIT;
}
