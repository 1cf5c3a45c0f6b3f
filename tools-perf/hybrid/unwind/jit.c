// SPDX-License-Identifier: GPL-2.0
/*
 * Code that describes itself, by GDB's JIT interface: who has it, and when that is read.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "../rules/image.h"
#include "../rules/rows.h"
#include "../rules/symbol.h"
#include "jit-read.h"
#include "jit.h"

/* Processes whose images are kept; those that were asked for longest ago go. */
#define MAX_PROCESSES	32

/* Lists of a process: each of its libraries may have one. */
#define MAX_LISTS	4

/* In a pass over the rings: files, and looks at one process. */
#define MAX_FILES	32
#define MAX_LOOKS	8

/**
 * struct process - what a process has
 * @pid: process; 0: none
 * @gen: of its space, and
 * @pass: when it was looked at last
 * @looks: in that pass
 * @asked: when it was asked for last, by hybrid_jit's count
 * @lists: addresses of its descriptors
 * @nr_lists: number of @lists
 * @read: these were read, once at least
 * @images: in the order of the lists
 * @nr_images: number of @images
 */
struct process {
	pid_t		 pid;
	u64		 gen;
	u64		 pass;
	unsigned int	 looks;
	u64		 asked;
	u64		 lists[MAX_LISTS];
	unsigned int	 nr_lists;
	bool		 read;
	struct hybrid_jit_image	*images;
	unsigned int	 nr_images;
};

/**
 * struct hybrid_jit - what processes have compiled
 * @objects: of the session
 * @memory: reads from processes
 * @pass: counts those over the rings; never 0
 * @asked: counts questions
 * @nr_bytes: read in this pass
 * @nr_files: whose symbols were read in this pass
 * @processes: those that were asked for lately
 */
struct hybrid_jit {
	struct hybrid_objects	*objects;
	struct hybrid_memory	*memory;
	u64			 pass;
	u64			 asked;
	u64			 nr_bytes;
	unsigned int		 nr_files;
	struct process		 processes[MAX_PROCESSES];
};

struct hybrid_jit *hybrid_jit_new(struct hybrid_objects *objects, struct hybrid_memory *memory)
{
	struct hybrid_jit *jit = calloc(1, sizeof(*jit));

	if (jit) {
		jit->objects = objects;
		jit->memory = memory;
		jit->pass = 1;
	}
	return jit;
}

static void free_images(struct hybrid_jit_image *images, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		free(images[i].bytes);
		if (images[i].object)
			hybrid_object_free(images[i].object);
	}
	free(images);
}

void hybrid_jit_delete(struct hybrid_jit *jit)
{
	unsigned int i;

	if (!jit)
		return;
	for (i = 0; i < MAX_PROCESSES; i++)
		free_images(jit->processes[i].images, jit->processes[i].nr_images);
	free(jit);
}

void hybrid_jit_forget(struct hybrid_jit *jit)
{
	if (!jit)
		return;
	jit->pass++;
	jit->nr_bytes = 0;
	jit->nr_files = 0;
}

static bool has_list(struct hybrid_jit *jit, const struct hybrid_mapping *mapping)
{
	struct hybrid_object *object = mapping->object;

	if (object->jit_tried || object->state == HYBRID_OBJECT_FAILED)
		return object->jit;
	if (jit->nr_files == MAX_FILES)
		return false;
	jit->nr_files++;
	if (!hybrid_object_use_unawaited(mapping))
		return false;
	object->jit = hybrid_object_symbol(object, "__jit_debug_descriptor");
	object->jit_tried = true;
	return object->jit;
}

/* A file is mapped in pieces, of which several may be code. */
static void add_list(u64 *lists, unsigned int *nr, const struct hybrid_mapping *mapping)
{
	unsigned int i;
	u64 list;

	if (!hybrid_mapping_bias(mapping, &list))
		return;
	list += mapping->object->jit;
	for (i = 0; i < *nr && lists[i] != list; i++)
		;
	if (i == *nr && i < MAX_LISTS)
		lists[(*nr)++] = list;
}

/* Those that it had, and has still, are kept: it may be gone by now. */
static void find_lists(struct hybrid_jit *jit, struct process *process,
		       struct hybrid_space *space)
{
	u64 lists[MAX_LISTS] = {};
	unsigned int nr = 0;
	size_t i;

	for (i = 0; i < space->nr; i++) {
		const struct hybrid_mapping *mapping;

		mapping = hybrid_space_find(space, space->mappings[i].start);
		if (mapping->object && has_list(jit, mapping))
			add_list(lists, &nr, mapping);
	}
	if (nr != process->nr_lists || memcmp(lists, process->lists, sizeof(lists))) {
		free_images(process->images, process->nr_images);
		process->images = NULL;
		process->nr_images = 0;
		process->read = false;
	}
	memcpy(process->lists, lists, sizeof(lists));
	process->nr_lists = nr;
}

/* As it was at the last look, with the rows that are compiled; else anew. */
static void open_image(struct hybrid_jit *jit, struct process *process,
		       struct hybrid_jit_image *image)
{
	unsigned int i;

	for (i = 0; i < process->nr_images; i++) {
		struct hybrid_jit_image *old = &process->images[i];

		if (!old->object || old->addr != image->addr || old->hash != image->hash)
			continue;
		free(image->bytes);
		*image = *old;
		old->object = NULL;
		return;
	}
	image->object = hybrid_object_of_image(jit->objects, image->bytes, image->size);
	image->bytes = NULL;
	if (image->object)
		hybrid_image_code(image->object, &image->start, &image->end);
}

/* What was read before stays where the process is gone. */
static void read_lists(struct hybrid_jit *jit, struct process *process,
		       struct hybrid_space *space)
{
	struct hybrid_jit_read read = {
		.memory = jit->memory, .space = space, .pid = process->pid,
		.nr_bytes = &jit->nr_bytes,
	};
	unsigned int i;

	read.images = calloc(HYBRID_JIT_IMAGES, sizeof(*read.images));
	if (!read.images)
		return;
	for (i = 0; i < process->nr_lists; i++) {
		if (hybrid_jit_read(&read, process->lists[i])) {
			free_images(read.images, read.nr);
			return;
		}
	}
	for (i = 0; i < read.nr; i++)
		open_image(jit, process, &read.images[i]);
	free_images(process->images, process->nr_images);
	process->images = read.images;
	process->nr_images = read.nr;
	process->read = true;
}

static struct process *find_process(struct hybrid_jit *jit, pid_t pid)
{
	unsigned int i;

	for (i = 0; i < MAX_PROCESSES; i++) {
		if (jit->processes[i].pid == pid)
			return &jit->processes[i];
	}
	return NULL;
}

static struct process *get_process(struct hybrid_jit *jit, pid_t pid)
{
	struct process *process = find_process(jit, pid), *oldest = &jit->processes[0];
	unsigned int i;

	if (process)
		return process;
	for (i = 0; i < MAX_PROCESSES; i++) {
		if (jit->processes[i].asked < oldest->asked)
			oldest = &jit->processes[i];
	}
	free_images(oldest->images, oldest->nr_images);
	memset(oldest, 0, sizeof(*oldest));
	oldest->pid = pid;
	return oldest;
}

/* Once in a pass, and where what it has mapped has changed since. */
static struct process *look_at(struct hybrid_jit *jit, struct hybrid_space *space, pid_t pid)
{
	struct process *process = get_process(jit, pid);

	process->asked = ++jit->asked;
	if (process->pass != jit->pass) {
		process->pass = jit->pass;
		process->looks = 0;
	} else if (process->gen == space->gen) {
		return process;
	}
	if (process->looks == MAX_LOOKS)
		return NULL;
	process->looks++;
	find_lists(jit, process, space);
	process->gen = space->gen;
	read_lists(jit, process, space);
	return process;
}

/* Of who is gone before anything was read of it: who mapped the code, as fork copied it. */
static struct process *find_mapper(struct hybrid_jit *jit, struct hybrid_space *space, u64 ip)
{
	const struct hybrid_mapping *mapping = hybrid_space_find(space, ip);

	return mapping ? find_process(jit, mapping->pid) : NULL;
}

struct hybrid_row *hybrid_jit_row(struct hybrid_jit *jit, struct hybrid_space *space,
				  pid_t pid, const struct hybrid_abi *abi, u64 ip,
				  struct hybrid_cfi **cfi)
{
	struct process *process;
	struct hybrid_row *row;
	unsigned int i;

	if (!jit || pid <= 0)
		return NULL;
	process = look_at(jit, space, pid);
	if (process && process->nr_lists && !process->read)
		process = find_mapper(jit, space, ip);
	for (i = 0; process && i < process->nr_images; i++) {
		const struct hybrid_jit_image *image = &process->images[i];

		if (!image->object || image->object->cfi.abi != abi ||
		    ip < image->start || ip >= image->end)
			continue;
		row = hybrid_image_row(image->object, ip);
		if (!row || row->rule.kind == HYBRID_RULE_NONE)
			continue;
		*cfi = &image->object->cfi;
		return row;
	}
	return NULL;
}
