// SPDX-License-Identifier: GPL-2.0
/*
 * All objects of a session. One serves all processes that map its file, and is kept for
 * the next process when nobody has it mapped any more.
 */
#include <string.h>
#include <sys/resource.h>
#include <linux/hash.h>
#include "object.h"

/* Objects that nobody maps are kept for the next process, up to this many. */
#define MAX_IDLE	64

/* Of perf's descriptors a quarter may be objects', but in these bounds. */
#define MIN_OPENED	8
#define MAX_OPENED	256

static unsigned int max_opened(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur > 4 * MAX_OPENED)
		return MAX_OPENED;
	return max((unsigned int)limit.rlim_cur / 4, (unsigned int)MIN_OPENED);
}

void hybrid_objects_init(struct hybrid_objects *objects, hybrid_open_fn open,
			 hybrid_abi_fn find_abi)
{
	unsigned int i;

	memset(objects, 0, sizeof(*objects));
	for (i = 0; i < HYBRID_OBJECT_HASH; i++)
		INIT_HLIST_HEAD(&objects->hash[i]);
	INIT_LIST_HEAD(&objects->idle);
	INIT_LIST_HEAD(&objects->opened);
	objects->max_opened = max_opened();
	objects->open = open;
	objects->find_abi = find_abi;
	elf_version(EV_CURRENT);
}

void hybrid_objects_exit(struct hybrid_objects *objects)
{
	struct hybrid_object *object;
	struct hlist_node *next;
	unsigned int i;

	for (i = 0; i < HYBRID_OBJECT_HASH; i++) {
		hlist_for_each_entry_safe(object, next, &objects->hash[i], hash)
			hybrid_object_free(object);
	}
	INIT_LIST_HEAD(&objects->idle);
	objects->nr_idle = 0;
}

static u32 hash_path(const char *path)
{
	u32 hash = 0;

	while (*path)
		hash = hash * 31 + *path++;
	return hash;
}

static u32 hash_ident(const struct hybrid_ident *ident)
{
	u64 key;

	if (ident->build_id_size)
		memcpy(&key, ident->build_id, sizeof(key));
	else if (ident->ino)
		key = ident->ino;
	else
		key = hash_path(ident->path);
	return hash_64(key, 32) % HYBRID_OBJECT_HASH;
}

static bool same_file(const struct hybrid_ident *a, const struct hybrid_ident *b)
{
	if (a->build_id_size || b->build_id_size)
		return a->build_id_size == b->build_id_size &&
		       !memcmp(a->build_id, b->build_id, a->build_id_size);
	if (a->ino || b->ino)
		return a->ino == b->ino && a->maj == b->maj && a->min == b->min &&
		       a->ino_generation == b->ino_generation &&
		       !strcmp(a->path, b->path);
	return !strcmp(a->path, b->path);
}

/*
 * With no build-id to tell, a file that was written to in place is known by
 * its time of change: the rows compiled from what it held before are wrong.
 */
static bool is_stale(const struct hybrid_object *object)
{
	struct stat now;

	if (!hybrid_object_may_change(object))
		return false;
	/* Closed for want of descriptors, and nobody has it mapped: its inode may be another's. */
	if (object->state == HYBRID_OBJECT_CLOSED)
		return !object->refs;
	if (object->state != HYBRID_OBJECT_READY || fstat(object->fd, &now))
		return false;
	return hybrid_object_was_written(object, &now);
}

struct hybrid_object *hybrid_object_get(struct hybrid_objects *objects,
					const struct hybrid_ident *ident)
{
	struct hlist_head *chain = &objects->hash[hash_ident(ident)];
	struct hybrid_object *object;

	hlist_for_each_entry(object, chain, hash) {
		if (object->is_old || !same_file(&object->ident, ident))
			continue;
		if (is_stale(object)) {
			object->is_old = true;
			continue;
		}
		if (!list_empty(&object->idle)) {
			list_del_init(&object->idle);
			objects->nr_idle--;
		}
		/* It may be reachable through the mapping that this is for. */
		if (object->state == HYBRID_OBJECT_FAILED)
			object->state = HYBRID_OBJECT_NEW;
		object->refs++;
		return object;
	}
	object = hybrid_object_new(objects, ident);
	if (!object)
		return NULL;
	hlist_add_head(&object->hash, chain);
	object->refs = 1;
	return object;
}

static void free_idle(struct hybrid_object *object)
{
	list_del(&object->idle);
	object->objects->nr_idle--;
	hybrid_object_free(object);
}

void hybrid_object_put(struct hybrid_object *object)
{
	struct hybrid_objects *objects = object->objects;

	if (--object->refs)
		return;
	if (object->is_old) {
		hybrid_object_free(object);
		return;
	}
	object->idle_since = objects->now;
	list_add_tail(&object->idle, &objects->idle);
	if (++objects->nr_idle > MAX_IDLE)
		free_idle(list_first_entry(&objects->idle, struct hybrid_object, idle));
}

void hybrid_objects_age(struct hybrid_objects *objects, u64 now)
{
	struct hybrid_object *object, *next;

	if (now - objects->now < HYBRID_OBJECT_AGE)
		return;
	objects->now = now;
	list_for_each_entry_safe(object, next, &objects->idle, idle) {
		if (now - object->idle_since < HYBRID_OBJECT_IDLE)
			return;
		if (object->state != HYBRID_OBJECT_READY || object->stored)
			continue;
		/* One that is closed is not asked whether it is still the same. */
		if (hybrid_object_may_change(object) || object->is_copy) {
			free_idle(object);
			continue;
		}
		hybrid_object_close(object);
		object->state = HYBRID_OBJECT_CLOSED;
	}
}
