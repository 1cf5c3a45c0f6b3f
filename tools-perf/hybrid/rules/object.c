// SPDX-License-Identifier: GPL-2.0
/*
 * Objects: mapped ELF files. One serves all processes that map the file.
 */
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/resource.h>
#include <linux/hash.h>
#include "debug-frame.h"
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

void hybrid_objects_init(struct hybrid_objects *objects, hybrid_open_fn open)
{
	unsigned int i;

	memset(objects, 0, sizeof(*objects));
	for (i = 0; i < HYBRID_OBJECT_HASH; i++)
		INIT_HLIST_HEAD(&objects->hash[i]);
	INIT_LIST_HEAD(&objects->idle);
	INIT_LIST_HEAD(&objects->opened);
	objects->max_opened = max_opened();
	objects->open = open;
	elf_version(EV_CURRENT);
}

static void free_rows(struct hybrid_object *object)
{
	struct rb_node *node = rb_first(&object->rows);

	while (node) {
		struct hybrid_row *row = rb_entry(node, struct hybrid_row, node);

		node = rb_next(node);
		rb_erase(&row->node, &object->rows);
		hybrid_row_exit(row);
		free(row);
	}
	object->objects->nr_rows -= object->nr_rows;
	object->nr_rows = 0;
}

static void object_close(struct hybrid_object *object)
{
	hybrid_debug_frame_close(object);
	if (object->cfi.eh)
		dwarf_cfi_end(object->cfi.eh);
	object->cfi.eh = NULL;
	object->cfi.eh_tried = false;
	object->cfi.eh_frame.tried = false;
	elf_end(object->elf);
	object->elf = NULL;
	free(object->image);
	object->image = NULL;
	hybrid_hold_exit(&object->hold);
	if (object->fd >= 0)
		close(object->fd);
	object->fd = -1;
	if (!list_empty(&object->opened)) {
		list_del_init(&object->opened);
		object->objects->nr_opened--;
	}
}

bool hybrid_objects_close_one(struct hybrid_objects *objects)
{
	struct hybrid_object *object;

	list_for_each_entry(object, &objects->opened, opened) {
		/* The compiler's thread reads that, too. */
		if (object->stored)
			continue;
		object_close(object);
		object->state = HYBRID_OBJECT_CLOSED;
		return true;
	}
	return false;
}

void hybrid_object_free(struct hybrid_object *object)
{
	if (object->load)
		object->objects->cancel(object);
	if (object->stored)
		object->objects->release(object);
	free_rows(object);
	object_close(object);
	/* An image is not among those that mappings show. */
	hlist_del_init(&object->hash);
	object->objects->nr--;
	free(object->functions);
	free(object->segments);
	free((char *)object->ident.path);
	free(object);
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

static struct hybrid_object *object_new(struct hybrid_objects *objects,
					const struct hybrid_ident *ident)
{
	struct hybrid_object *object = calloc(1, sizeof(*object));

	if (!object)
		return NULL;
	object->objects = objects;
	object->id = ++objects->last_id;
	object->ident = *ident;
	object->ident.path = strdup(ident->path);
	if (!object->ident.path) {
		free(object);
		return NULL;
	}
	object->fd = -1;
	object->rows = RB_ROOT;
	INIT_LIST_HEAD(&object->idle);
	INIT_LIST_HEAD(&object->opened);
	hlist_add_head(&object->hash, &objects->hash[hash_ident(ident)]);
	objects->nr++;
	return object;
}

/* A vdso is no file: what is read of it is a copy, and any process's is the same. */
static bool may_change(const struct hybrid_object *object)
{
	return !object->ident.build_id_size && object->ident.path[0] != '[';
}

/*
 * With no build-id to tell, a file that was written to in place is known by
 * its time of change: the rows compiled from what it held before are wrong.
 */
static bool is_stale(const struct hybrid_object *object)
{
	struct stat now;

	if (!may_change(object))
		return false;
	/* Closed for want of descriptors, and nobody has it mapped: its inode may be another's. */
	if (object->state == HYBRID_OBJECT_CLOSED)
		return !object->refs;
	if (object->state != HYBRID_OBJECT_READY || fstat(object->fd, &now))
		return false;
	return now.st_mtim.tv_sec != object->mtime.tv_sec ||
	       now.st_mtim.tv_nsec != object->mtime.tv_nsec;
}

struct hybrid_object *hybrid_object_get(struct hybrid_objects *objects,
					const struct hybrid_ident *ident)
{
	struct hybrid_object *object;

	hlist_for_each_entry(object, &objects->hash[hash_ident(ident)], hash) {
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
	object = object_new(objects, ident);
	if (object)
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
		if (may_change(object) || object->is_copy) {
			free_idle(object);
			continue;
		}
		object_close(object);
		object->state = HYBRID_OBJECT_CLOSED;
	}
}

static int fail(struct hybrid_object *object, const char *why)
{
	object->state = HYBRID_OBJECT_FAILED;
	object->why = why;
	object_close(object);
	return -1;
}

static int read_segments(struct hybrid_object *object)
{
	size_t nr, i;
	GElf_Phdr phdr;

	if (elf_getphdrnum(object->elf, &nr) || !nr)
		return -1;
	free(object->segments);
	object->nr_segments = 0;
	object->segments = calloc(nr, sizeof(*object->segments));
	if (!object->segments)
		return -1;
	for (i = 0; i < nr; i++) {
		struct hybrid_segment *seg = &object->segments[object->nr_segments];

		if (!gelf_getphdr(object->elf, i, &phdr) || phdr.p_type != PT_LOAD ||
		    !(phdr.p_flags & PF_X))
			continue;
		/* One that wraps around is a lie; a row at its end would, too. */
		if (phdr.p_vaddr + phdr.p_filesz < phdr.p_vaddr ||
		    phdr.p_offset + phdr.p_filesz < phdr.p_offset)
			continue;
		seg->offset = phdr.p_offset;
		seg->vaddr = phdr.p_vaddr;
		seg->size = phdr.p_filesz;
		object->nr_segments++;
	}
	return object->nr_segments ? 0 : -1;
}

static void add_opened(struct hybrid_object *object)
{
	struct hybrid_objects *objects = object->objects;

	object->state = HYBRID_OBJECT_READY;
	/* Its next copy could not be told from that of another file. */
	if (object->is_copy)
		return;
	if (objects->nr_opened >= objects->max_opened)
		hybrid_objects_close_one(objects);
	list_add_tail(&object->opened, &objects->opened);
	objects->nr_opened++;
}

/* The rows that were compiled are of the file as it was. */
static int open_again(struct hybrid_object *object, int fd)
{
	struct stat st;

	object->fd = fd;
	if (fd < 0)
		return -1;
	if (may_change(object) &&
	    (fstat(fd, &st) || st.st_mtim.tv_sec != object->mtime.tv_sec ||
	     st.st_mtim.tv_nsec != object->mtime.tv_nsec))
		object->is_old = true;
	else
		object->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!object->elf) {
		object_close(object);
		return -1;
	}
	object->cfi.elf = object->elf;
	if (object->has_debug)
		hybrid_debug_frame_open(object);
	add_opened(object);
	return 0;
}

static int read_header(struct hybrid_object *object, GElf_Ehdr *ehdr)
{
	if (!object->elf || !gelf_getehdr(object->elf, ehdr))
		return fail(object, "not an ELF file");
	if (ehdr->e_machine == EM_X86_64)
		object->cfi.abi = &hybrid_abi_64;
	else if (ehdr->e_machine == EM_386)
		object->cfi.abi = &hybrid_abi_32;
	else
		return fail(object, "an ELF file of another architecture");
	return 0;
}

int hybrid_object_open(struct hybrid_object *object, int fd)
{
	struct stat st;
	GElf_Ehdr ehdr;

	if (object->state == HYBRID_OBJECT_CLOSED)
		return open_again(object, fd);
	object->fd = fd;
	object->why = NULL;
	if (object->fd < 0)
		return fail(object, "the file can't be opened");
	if (!fstat(object->fd, &st))
		object->mtime = st.st_mtim;
	object->elf = elf_begin(object->fd, ELF_C_READ, NULL);
	if (read_header(object, &ehdr))
		return -1;
	if (read_segments(object))
		return fail(object, "no executable segment in the program headers");
	object->entry = ehdr.e_entry;
	object->entry_tried = false;
	memset(&object->pclntab, 0, sizeof(object->pclntab));
	object->cfi.elf = object->elf;
	add_opened(object);
	return 0;
}

struct hybrid_object *hybrid_object_of_image(struct hybrid_objects *objects, void *image,
					     size_t size)
{
	static const struct hybrid_ident ident = { .path = "[image]" };
	struct hybrid_object *object = object_new(objects, &ident);
	GElf_Ehdr ehdr;

	if (!object) {
		free(image);
		return NULL;
	}
	hlist_del_init(&object->hash);
	object->image = image;
	object->image_size = size;
	object->elf = elf_memory(image, size);
	if (read_header(object, &ehdr)) {
		hybrid_object_free(object);
		return NULL;
	}
	/* What is relocatable has no addresses in .debug_frame yet. */
	object->debug_tried = ehdr.e_type == ET_REL;
	object->cfi.elf = object->elf;
	/* There is no descriptor to be given back. */
	object->is_copy = true;
	object->state = HYBRID_OBJECT_READY;
	return object;
}

bool hybrid_object_vaddr(const struct hybrid_object *object, u64 offset, u64 *vaddr)
{
	size_t i;

	for (i = 0; i < object->nr_segments; i++) {
		const struct hybrid_segment *seg = &object->segments[i];

		if (offset - seg->offset < seg->size) {
			*vaddr = offset - seg->offset + seg->vaddr;
			return true;
		}
	}
	return false;
}

bool hybrid_object_offset(const struct hybrid_object *object, u64 vaddr, u64 *offset)
{
	size_t i;

	for (i = 0; i < object->nr_segments; i++) {
		const struct hybrid_segment *seg = &object->segments[i];

		if (vaddr - seg->vaddr < seg->size) {
			*offset = vaddr - seg->vaddr + seg->offset;
			return true;
		}
	}
	return false;
}
