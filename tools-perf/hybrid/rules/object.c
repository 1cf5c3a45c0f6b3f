// SPDX-License-Identifier: GPL-2.0
/*
 * One mapped ELF file: opened, its headers read, closed when others need its descriptor.
 */
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/time64.h>
#include "debug-frame.h"
#include "elf-bounds.h"
#include "object.h"

struct hybrid_object *hybrid_object_new(struct hybrid_objects *objects,
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
	object->cfi.fd = -1;
	object->rows = RB_ROOT;
	INIT_LIST_HEAD(&object->idle);
	INIT_LIST_HEAD(&object->opened);
	object->is_settled = hybrid_object_is_alone(object);
	objects->nr++;
	return object;
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

static void remove_opened(struct hybrid_object *object)
{
	if (list_empty(&object->opened))
		return;
	list_del_init(&object->opened);
	object->objects->nr_opened--;
}

/* Two of relocations, and of the symbols of each. */
#define MAX_SECTIONS	4

/**
 * struct hybrid_object_sections - sections of a file that were read
 * @index: of each in the file
 * @part: that has it as section 1; NULL: it is too large, or none
 * @nr: how many were read; the last MAX_SECTIONS are kept
 * @is_refused: something was not read, as the user was over his share
 */
struct hybrid_object_sections {
	size_t	index[MAX_SECTIONS];
	Elf	*part[MAX_SECTIONS];
	u32	nr;
	bool	is_refused;
};

static void forget_sections(struct hybrid_object *object)
{
	unsigned int i;

	for (i = 0; object->sections && i < MAX_SECTIONS; i++)
		hybrid_elf_end(object->sections->part[i]);
	free(object->sections);
	object->sections = NULL;
}

Elf_Data *hybrid_object_section(const struct hybrid_object *object, size_t index)
{
	struct hybrid_object_sections *sections = object->sections;
	unsigned int i;

	if (!sections)
		return object->image ? elf_getdata(elf_getscn(object->elf, index), NULL) : NULL;
	for (i = 0; i < MAX_SECTIONS; i++) {
		if (sections->index[i] == index && index)
			return elf_getdata(elf_getscn(sections->part[i], 1), NULL);
	}
	i = sections->nr++ % MAX_SECTIONS;
	hybrid_elf_end(sections->part[i]);
	sections->index[i] = index;
	errno = 0;
	sections->part[i] = hybrid_elf_part(object->fd, object->user, object->elf, &index, 1);
	if (!sections->part[i] && errno == EDQUOT)
		sections->is_refused = true;
	return elf_getdata(elf_getscn(sections->part[i], 1), NULL);
}

ssize_t hybrid_object_read(const struct hybrid_object *object, void *dst, size_t size, u64 offset)
{
	ssize_t got = hybrid_file_read(object->is_copy ? NULL : object->user, object->fd, dst, size,
				       offset);

	if (got < 0 && errno == EDQUOT && object->sections)
		object->sections->is_refused = true;
	return got;
}

bool hybrid_object_is_refused(const struct hybrid_object *object)
{
	return object->cfi.is_refused || (object->sections && object->sections->is_refused);
}

static void close_elf(struct hybrid_object *object)
{
	forget_sections(object);
	hybrid_cfi_forget(&object->cfi);
	if (object->image)
		elf_end(object->elf);
	else
		hybrid_elf_end(object->elf);
	object->elf = NULL;
}

void hybrid_object_close(struct hybrid_object *object)
{
	hybrid_debug_frame_close(object);
	close_elf(object);
	free(object->image);
	object->image = NULL;
	hybrid_unpin_file(&object->hold);
	if (object->fd >= 0)
		close(object->fd);
	object->fd = -1;
	hybrid_file_give(object->user, HYBRID_FILE_COPIES, object->copied);
	object->copied = 0;
	remove_opened(object);
}

void hybrid_object_free(struct hybrid_object *object)
{
	if (object->comparison)
		object->objects->compare->end(object->comparison);
	if (object->load)
		object->objects->cancel(object);
	if (object->stored)
		object->objects->release(object);
	free_rows(object);
	hybrid_object_close(object);
	/* An image is not among those that mappings show. */
	hlist_del_init(&object->hash);
	hlist_del_init(&object->namesake);
	object->objects->nr--;
	hybrid_file_give(object->functions_user, HYBRID_FILE_MEMORY, object->functions_size);
	free(object->functions);
	free(object->segments);
	free((char *)object->ident.path);
	free(object);
}

static int fail(struct hybrid_object *object, const char *why)
{
	object->state = HYBRID_OBJECT_FAILED;
	object->why = why;
	hybrid_object_close(object);
	return -1;
}

void hybrid_object_leave_out(struct hybrid_object *object, enum hybrid_file_cost cost)
{
	if (!object->was_left_out)
		hybrid_file_left_out(object->user, cost);
	object->was_left_out = true;
	object->is_left_out = true;
	if (object->user)
		object->retry = object->user->budget->clock() + NSEC_PER_SEC;
	fail(object, "its user has had his share of what files may cost");
}

void hybrid_object_try_again(struct hybrid_object *object)
{
	object->state = HYBRID_OBJECT_NEW;
	object->is_left_out = false;
	object->is_settled = hybrid_object_is_alone(object);
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

bool hybrid_objects_close_one(struct hybrid_objects *objects)
{
	struct hybrid_object *object;

	list_for_each_entry(object, &objects->opened, opened) {
		/* The compiler's thread reads that, too. */
		if (object->stored)
			continue;
		hybrid_object_close(object);
		object->state = HYBRID_OBJECT_CLOSED;
		return true;
	}
	return false;
}

void hybrid_object_share(struct hybrid_object *object)
{
	object->is_shared = true;
	remove_opened(object);
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

bool hybrid_object_is_current(struct hybrid_object *object)
{
	if (object->is_copy || !hybrid_object_may_change(object) ||
	    hybrid_file_id_is_of(&object->file, object->fd))
		return true;
	hybrid_object_set_old(object);
	return false;
}

static int open_elf(struct hybrid_object *object)
{
	object->elf = hybrid_elf_begin(object->fd, object->user);
	object->sections = object->elf ? calloc(1, sizeof(*object->sections)) : NULL;
	object->cfi.elf = object->elf;
	object->cfi.fd = object->fd;
	object->cfi.user = object->user;
	return object->sections ? 0 : -1;
}

/* The rows that were compiled are of the file as it was. */
static int open_again(struct hybrid_object *object, int fd)
{
	object->fd = fd;
	if (fd < 0)
		return -1;
	if (!hybrid_object_is_current(object) || open_elf(object)) {
		hybrid_object_close(object);
		return -1;
	}
	if (object->has_debug)
		hybrid_debug_frame_open(object);
	add_opened(object);
	return 0;
}

bool hybrid_object_forget_cfi(struct hybrid_object *object)
{
	if (object->state != HYBRID_OBJECT_READY || object->fd < 0 || object->has_debug ||
	    !hybrid_cfi_is_read(&object->cfi))
		return false;
	if (hybrid_object_may_change(object) && !object->is_copy &&
	    !hybrid_file_id_is_of(&object->file, object->fd))
		return false;
	hybrid_cfi_forget(&object->cfi);
	return true;
}

void hybrid_object_forget_copy(struct hybrid_object *object)
{
	struct hybrid_pinned_file hold = object->hold;

	if (object->state != HYBRID_OBJECT_READY || !object->is_copy || object->nr_rows ||
	    object->stored || object->debug_tried)
		return;
	object->hold.page = NULL;
	hybrid_object_close(object);
	object->hold = hold;
	object->state = HYBRID_OBJECT_NEW;
}

static int read_header(struct hybrid_object *object, GElf_Ehdr *ehdr)
{
	if (!object->elf || !gelf_getehdr(object->elf, ehdr))
		return fail(object, "not an ELF file");
	object->cfi.abi = object->objects->find_abi(ehdr->e_machine);
	return object->cfi.abi ? 0 : fail(object, "an ELF file of another architecture");
}

int hybrid_object_open(struct hybrid_object *object, int fd)
{
	GElf_Ehdr ehdr;

	if (object->state == HYBRID_OBJECT_CLOSED)
		return open_again(object, fd);
	object->fd = fd;
	object->why = NULL;
	object->is_left_out = false;
	if (object->fd < 0)
		return fail(object, "the file can't be opened");
	if (!object->file.ino && !object->is_copy && hybrid_object_may_change(object))
		hybrid_file_id_read(fd, &object->file);
	errno = 0;
	if (open_elf(object) && errno == EDQUOT) {
		hybrid_object_leave_out(object, hybrid_file_refused(object->user));
		return -1;
	}
	if (read_header(object, &ehdr))
		return -1;
	if (read_segments(object))
		return fail(object, "no executable segment in the program headers");
	object->entry = ehdr.e_entry;
	object->entry_tried = false;
	memset(&object->pclntab, 0, sizeof(object->pclntab));
	add_opened(object);
	return 0;
}

struct hybrid_object *hybrid_object_of_image(struct hybrid_objects *objects, void *image,
					     size_t size)
{
	static const struct hybrid_ident ident = { .path = "[image]" };
	struct hybrid_object *object = hybrid_object_new(objects, &ident);
	GElf_Ehdr ehdr;

	if (!object) {
		free(image);
		return NULL;
	}
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
