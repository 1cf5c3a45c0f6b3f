// SPDX-License-Identifier: GPL-2.0
/*
 * All objects of a session. One serves all processes that map its file, and is kept for
 * the next process when nobody has it mapped any more.
 */
#include <malloc.h>
#include <string.h>
#include <unistd.h>
#include <sys/resource.h>
#include "keyed-hash.h"
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
	for (i = 0; i < HYBRID_OBJECT_HASH; i++) {
		INIT_HLIST_HEAD(&objects->hash[i]);
		INIT_HLIST_HEAD(&objects->namesakes[i]);
	}
	INIT_LIST_HEAD(&objects->idle);
	INIT_LIST_HEAD(&objects->opened);
	objects->max_opened = max_opened();
	objects->open = open;
	objects->find_abi = find_abi;
	elf_version(EV_CURRENT);
}

static struct hlist_head *bucket(struct hlist_head *table, u64 key)
{
	return &table[hybrid_hash(key, 32) % HYBRID_OBJECT_HASH];
}

static u64 key_of_file(const struct hybrid_file_id *file)
{
	return file->ino ^ (u64)file->dev << 32;
}

static u64 key_of_build_id(const struct hybrid_ident *ident)
{
	u64 key;

	memcpy(&key, ident->build_id, sizeof(key));
	return key;
}

static u64 key_of_ident(const struct hybrid_ident *ident)
{
	if (ident->build_id_size)
		return key_of_build_id(ident) ^ hybrid_hash_string(ident->path);
	return ident->ino ?: hybrid_hash_string(ident->path);
}

static bool same_build_id(const struct hybrid_ident *a, const struct hybrid_ident *b)
{
	return a->build_id_size == b->build_id_size &&
	       !memcmp(a->build_id, b->build_id, a->build_id_size);
}

/* Of the same machine: do the records tell of the same file, as far as they go? */
static bool same_numbers(const struct hybrid_ident *a, const struct hybrid_ident *b)
{
	if (a->build_id_size || b->build_id_size)
		return same_build_id(a, b);
	return a->ino == b->ino && a->maj == b->maj && a->min == b->min &&
	       a->ino_generation == b->ino_generation;
}

static bool same_ident(const struct hybrid_ident *a, const struct hybrid_ident *b)
{
	return same_numbers(a, b) && !strcmp(a->path, b->path);
}

/* Stands for files that are not identified yet. */
static bool is_unidentified(const struct hybrid_object *object)
{
	return object->objects->identify && !object->file.ino && !object->is_shared &&
	       object->ident.path[0] != '[';
}

static bool is_of_ident(const struct hybrid_object *object, const struct hybrid_ident *ident)
{
	return (is_unidentified(object) || !object->objects->identify ||
		object->ident.path[0] == '[') && !object->is_old &&
	       same_ident(&object->ident, ident);
}

/* Where idents alone tell: a file that was written to in place has the same. */
static bool is_stale(struct hybrid_object *object)
{
	if (object->objects->identify || !hybrid_object_may_change(object))
		return false;
	/* Closed for want of descriptors, and nobody has it mapped: its inode may be another's. */
	if (object->state == HYBRID_OBJECT_CLOSED)
		return !object->refs;
	return object->state == HYBRID_OBJECT_READY && !hybrid_object_is_current(object);
}

static struct hybrid_object *use(struct hybrid_object *object)
{
	if (!list_empty(&object->idle)) {
		list_del_init(&object->idle);
		object->objects->nr_idle--;
	}
	/* It may be reachable through the mapping that this is for. */
	if (object->state == HYBRID_OBJECT_FAILED)
		hybrid_object_try_again(object);
	object->refs++;
	return object;
}

static struct hybrid_object *add(struct hybrid_object *object, struct hlist_head *chain)
{
	if (object) {
		hlist_add_head(&object->hash, chain);
		object->refs = 1;
	}
	return object;
}

struct hybrid_object *hybrid_object_get(struct hybrid_objects *objects,
					const struct hybrid_ident *ident)
{
	struct hlist_head *chain = bucket(objects->hash, key_of_ident(ident));
	struct hybrid_object *object;

	hlist_for_each_entry(object, chain, hash) {
		if (!is_of_ident(object, ident))
			continue;
		if (is_stale(object))
			object->is_old = true;
		else
			return use(object);
	}
	return add(hybrid_object_new(objects, ident), chain);
}

struct hybrid_object *hybrid_object_known(struct hybrid_objects *objects,
					  const struct hybrid_ident *ident,
					  const struct hybrid_file_id *file)
{
	struct hybrid_object *object;

	hlist_for_each_entry(object, bucket(objects->hash, key_of_file(file)), hash) {
		if (!object->is_old && hybrid_file_id_equal(&object->file, file) &&
		    same_numbers(&object->ident, ident))
			return object;
	}
	return NULL;
}

struct hybrid_object *hybrid_object_of_file(struct hybrid_objects *objects,
					    const struct hybrid_ident *ident,
					    const struct hybrid_file_id *file)
{
	struct hybrid_object *object = hybrid_object_known(objects, ident, file);

	if (object)
		return use(object);
	object = add(hybrid_object_new(objects, ident), bucket(objects->hash, key_of_file(file)));
	if (!object)
		return NULL;
	object->file = *file;
	if (ident->build_id_size)
		hlist_add_head(&object->namesake,
			       bucket(objects->namesakes, key_of_build_id(ident)));
	return object;
}

bool hybrid_object_is_other(struct hybrid_objects *objects, const struct hybrid_ident *ident,
			    const struct hybrid_file_id *file)
{
	struct hybrid_object *object;
	bool is_other = false;

	hlist_for_each_entry(object, bucket(objects->hash, key_of_file(file)), hash) {
		if (!hybrid_file_id_equal(&object->file, file) || object->is_old)
			continue;
		if (same_numbers(&object->ident, ident))
			return false;
		is_other = is_other || (ident->build_id_size && object->ident.build_id_size &&
					(object->state == HYBRID_OBJECT_READY ||
					 object->state == HYBRID_OBJECT_CLOSED));
	}
	return is_other;
}

struct hybrid_object *hybrid_object_of_copy(const struct hybrid_object *of, int fd,
					    const struct hybrid_pinned_file *hold, u64 size)
{
	struct hybrid_object *object = hybrid_object_new(of->objects, &of->ident);

	if (!object) {
		hybrid_file_give(of->user, HYBRID_FILE_COPIES, size);
		close(fd);
		return NULL;
	}
	object->refs = 1;
	object->user = of->user;
	object->copied = size;
	object->is_copy = true;
	object->is_shared = true;
	object->is_settled = true;
	object->hold = *hold;
	if (hybrid_object_open(object, fd)) {
		hybrid_object_free(object);
		return NULL;
	}
	hlist_add_head(&object->namesake,
		       bucket(of->objects->namesakes, key_of_build_id(&of->ident)));
	return object;
}

/* More files of one build-id that differ are nobody's but who wants them to. */
#define MAX_NAMESAKES	64

struct hybrid_object *hybrid_object_namesake(struct hybrid_object *object)
{
	struct hlist_head *chain = bucket(object->objects->namesakes,
					  key_of_build_id(&object->ident));
	struct hybrid_object *other, *found = NULL;
	unsigned int nr = 0;

	hlist_for_each_entry(other, chain, namesake) {
		if (nr++ == MAX_NAMESAKES)
			break;
		if ((other->id < object->id || other->is_shared) && !other->is_old &&
		    !other->same && other->state == HYBRID_OBJECT_READY &&
		    same_build_id(&other->ident, &object->ident) &&
		    (!found || !strcmp(other->ident.path, object->ident.path)))
			found = other;
	}
	return found ? use(found) : NULL;
}

static void free_idle(struct hybrid_object *object)
{
	list_del(&object->idle);
	object->objects->nr_idle--;
	hybrid_object_part(object);
	hybrid_object_free(object);
}

void hybrid_object_put(struct hybrid_object *object)
{
	struct hybrid_objects *objects = object->objects;

	if (--object->refs)
		return;
	if (is_unidentified(object) || hybrid_object_is_made(object) ||
	    (object->is_old && !objects->identify)) {
		hybrid_object_free(object);
		return;
	}
	/* Where it is old the chain that showed that may still have rows of it. */
	object->idle_since = objects->now;
	list_add_tail(&object->idle, &objects->idle);
	if (++objects->nr_idle > MAX_IDLE)
		free_idle(list_first_entry(&objects->idle, struct hybrid_object, idle));
}

void hybrid_object_part(struct hybrid_object *object)
{
	struct hybrid_object *same = object->same;

	if (object->comparison)
		object->objects->compare->end(object->comparison);
	object->comparison = NULL;
	object->same = NULL;
	if (same)
		hybrid_object_put(same);
}

size_t hybrid_objects_out_of_use(const struct hybrid_objects *objects)
{
	const struct hybrid_object *object;
	size_t nr = 0;
	unsigned int i;

	for (i = 0; i < HYBRID_OBJECT_HASH; i++) {
		hlist_for_each_entry(object, &objects->hash[i], hash)
			nr += object->same && !object->comparison ? object->nr_rows : 0;
	}
	return nr;
}

void hybrid_objects_exit(struct hybrid_objects *objects)
{
	struct hybrid_object *object;
	struct hlist_node *next;
	unsigned int i;

	while (!list_empty(&objects->idle))
		free_idle(list_first_entry(&objects->idle, struct hybrid_object, idle));
	for (i = 0; i < HYBRID_OBJECT_HASH; i++) {
		hlist_for_each_entry_safe(object, next, &objects->hash[i], hash)
			hybrid_object_free(object);
	}
}

/* Has what is known of it no use for the next process that maps the file? */
static bool is_useless(const struct hybrid_object *object)
{
	return object->is_old || object->is_copy ||
	       (!object->objects->identify && hybrid_object_may_change(object));
}

bool hybrid_objects_make_room(struct hybrid_object *object)
{
	struct hybrid_objects *objects = object->objects;
	struct hybrid_object *other;
	bool is_any = false;
	unsigned int i;

	for (i = 0; i < HYBRID_OBJECT_HASH; i++) {
		hlist_for_each_entry(other, &objects->hash[i], hash) {
			if (other != object && other->user == object->user)
				is_any |= hybrid_object_forget_cfi(other);
		}
	}
	return is_any;
}

static void forget_cfi(struct hybrid_objects *objects)
{
	struct hybrid_object *object;
	bool is_any = false;
	unsigned int i;

	for (i = 0; i < HYBRID_OBJECT_HASH; i++) {
		hlist_for_each_entry(object, &objects->hash[i], hash) {
			if (objects->now - object->compiled_at >= HYBRID_OBJECT_CFI)
				is_any |= hybrid_object_forget_cfi(object);
		}
	}
#ifdef __GLIBC__
	/* It keeps large blocks for the next ones of their size. */
	if (is_any)
		malloc_trim(0);
#endif
}

/*
 * Can an idle object be closed, or freed? An object that a store has stays open. Other objects have
 * nothing to close if their file was not opened, unless hybrid_object_forget_copy() has left @same.
 */
static bool may_age(const struct hybrid_object *object)
{
	return !object->stored && (object->state == HYBRID_OBJECT_READY ||
				   (object->state == HYBRID_OBJECT_NEW && object->is_copy &&
				    object->same));
}

void hybrid_objects_age(struct hybrid_objects *objects, u64 now)
{
	struct hybrid_object *object, *next;

	if (now - objects->now < HYBRID_OBJECT_AGE)
		return;
	objects->now = now;
	forget_cfi(objects);
	list_for_each_entry_safe(object, next, &objects->idle, idle) {
		if (now - object->idle_since < HYBRID_OBJECT_IDLE)
			return;
		if (!may_age(object))
			continue;
		/* One that is closed is not asked whether it is still the same. */
		if (is_useless(object)) {
			free_idle(object);
			continue;
		}
		if (object->same && hybrid_object_is_made(object->same)) {
			hybrid_object_part(object);
			object->is_settled = true;
		}
		hybrid_object_close(object);
		object->state = HYBRID_OBJECT_CLOSED;
		object->is_shared = false;
	}
}
