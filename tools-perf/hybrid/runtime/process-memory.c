// SPDX-License-Identifier: GPL-2.0
/*
 * Reads what a process has in memory: its own pages from the process, the others from the files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/kernel.h>
#include "../rules/clock.h"
#include "../rules/rows.h"
#include "process-memory.h"

#define PAGE		4096
#define FIRST_RANGES	64
#define MAX_RANGES	4096
#define MAX_FILES	8
#define MAX_MAPS	(4U << 20)

/* Pages that are kept while tables are read, a power of two: HotSpot's have 40, and their names. */
#define KEPT_PAGES	256

/* Mappings are read again after so long, then after twice that and so on, in ns. */
#define FIRST_WAIT	20000000ULL
#define LONGEST_WAIT	2000000000ULL

/**
 * struct hybrid_file_range - a mapping of a file
 * @start: first address
 * @end: address behind the last
 * @pgoff: offset of @start in the file, in bytes
 * @maj: of the file, as in /proc/PID/maps
 * @min: the same
 * @ino: the same
 * @path: as there
 */
struct hybrid_file_range {
	u64	start;
	u64	end;
	u64	pgoff;
	u32	maj;
	u32	min;
	u64	ino;
	char	path[256];
};

/**
 * struct hybrid_file_of - a file that ranges are of
 * @maj: see struct hybrid_file_range
 * @min: the same
 * @ino: the same
 * @object: stands for it where it is opened, referenced
 * @fd: descriptor; -1: it can't be opened; -2: not yet
 * @copy: an object that has a copy of what the process has mapped of it, referenced; NULL: there
 *	is none
 */
struct hybrid_file_of {
	u32			 maj;
	u32			 min;
	u64			 ino;
	struct hybrid_object	*object;
	int			 fd;
	struct hybrid_object	*copy;
};

/**
 * struct hybrid_kept_page - a page that was read
 * @addr: of it; 0: none was
 * @bytes: of it
 */
struct hybrid_kept_page {
	u64	addr;
	u8	bytes[PAGE];
};

/* There is room for FIRST_RANGES, then for twice as many and so on: most processes have few. */
static bool make_room(struct hybrid_process_memory *pm)
{
	struct hybrid_file_range *ranges;
	unsigned int nr = pm->nr_ranges;

	if (nr && (nr < FIRST_RANGES || nr & (nr - 1)))
		return true;
	ranges = realloc(pm->ranges, (nr ? 2 * nr : FIRST_RANGES) * sizeof(*ranges));
	if (!ranges)
		return false;
	pm->ranges = ranges;
	return true;
}

/* Returns false if memory is short. */
static bool add_range(struct hybrid_process_memory *pm, const char *line)
{
	struct hybrid_file_range *range;
	unsigned long long start, end, pgoff, ino;
	unsigned int maj, min;
	int at = 0;

	if (pm->nr_ranges == MAX_RANGES ||
	    sscanf(line, "%llx-%llx %*4s %llx %x:%x %llu %n", &start, &end, &pgoff, &maj, &min,
		   &ino, &at) < 6 || !ino || !at)
		return true;
	if (!make_room(pm))
		return false;
	range = &pm->ranges[pm->nr_ranges];
	*range = (struct hybrid_file_range) {
		.start = start, .end = end, .pgoff = pgoff, .maj = maj, .min = min, .ino = ino,
	};
	snprintf(range->path, sizeof(range->path), "%.*s", (int)strcspn(line + at, "\n"),
		 line + at);
	if (strlen(line + at) <= sizeof(range->path))
		pm->nr_ranges++;
	return true;
}

int hybrid_process_memory_map(struct hybrid_process_memory *pm)
{
	size_t room = 0, total = 0;
	char path[64], *line = NULL;
	bool has_room = true;
	ssize_t len;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pm->pid);
	maps = fopen(path, "re");
	if (!maps)
		return -1;
	pm->nr_ranges = 0;
	pm->read_at = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE);
	pm->wait = pm->wait ?: FIRST_WAIT;
	while (has_room && total < MAX_MAPS && (len = getline(&line, &room, maps)) > 0) {
		total += len;
		has_room = add_range(pm, line);
	}
	free(line);
	fclose(maps);
	return has_room ? 0 : -1;
}

void hybrid_process_memory_exit(struct hybrid_process_memory *pm)
{
	unsigned int i;

	for (i = 0; i < pm->nr_files; i++) {
		if (pm->files[i].fd >= 0)
			close(pm->files[i].fd);
		hybrid_object_put(pm->files[i].object);
		if (pm->files[i].copy)
			hybrid_object_put(pm->files[i].copy);
	}
	free(pm->files);
	free(pm->ranges);
	free(pm->pages);
	memset(pm, 0, sizeof(*pm));
}

/* By binary search: the kernel lists mappings by address. */
static const struct hybrid_file_range *find_range(const struct hybrid_process_memory *pm, u64 addr)
{
	unsigned int low = 0, high = pm->nr_ranges, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (addr >= pm->ranges[middle].end)
			low = middle + 1;
		else
			high = middle;
	}
	return low < pm->nr_ranges && addr >= pm->ranges[low].start ? &pm->ranges[low] : NULL;
}

static struct hybrid_file_of *add_file(struct hybrid_process_memory *pm,
				       const struct hybrid_file_range *range)
{
	struct hybrid_ident ident = {
		.path = range->path, .maj = range->maj, .min = range->min, .ino = range->ino,
	};
	struct hybrid_file_of *file;

	if (!pm->files)
		pm->files = calloc(MAX_FILES, sizeof(*pm->files));
	if (!pm->files || pm->nr_files == MAX_FILES)
		return NULL;
	file = &pm->files[pm->nr_files];
	*file = (struct hybrid_file_of) {
		.maj = range->maj, .min = range->min, .ino = range->ino, .fd = -2,
		.object = hybrid_object_get(pm->objects, &ident),
	};
	if (!file->object)
		return NULL;
	pm->nr_files++;
	return file;
}

static bool is_of(const struct hybrid_file_range *range, const struct hybrid_file_of *file)
{
	return range->ino == file->ino && range->maj == file->maj && range->min == file->min;
}

/* A mapping of the file's code; NULL: there is none. */
static const struct hybrid_mapping *code_of(const struct hybrid_process_memory *pm,
					    const struct hybrid_file_of *file)
{
	const struct hybrid_mapping *mapping;
	unsigned int i;

	for (i = 0; i < pm->nr_ranges; i++) {
		if (!is_of(&pm->ranges[i], file))
			continue;
		mapping = hybrid_space_find(pm->space, pm->ranges[i].start);
		if (mapping && mapping->object && !mapping->is_copy)
			return mapping;
	}
	return NULL;
}

/*
 * Opens the file, unless the object of the file's code has a copy: that has all segments that the
 * process may have mapped. Sets @file->copy then. Returns the descriptor; -1 if there is a copy, or
 * if the file can't be opened now.
 */
static int open_file(struct hybrid_process_memory *pm, struct hybrid_file_of *file,
		     const struct hybrid_file_range *range)
{
	struct hybrid_mapping mapping = {
		.start = range->start, .end = range->end, .pgoff = range->pgoff, .pid = pm->pid,
		.object = file->object,
	};
	const struct hybrid_mapping *code = code_of(pm, file);
	int fd;

	if (code && !hybrid_object_use_unawaited(code) && hybrid_object_waits(code->object))
		return -1;
	if (code && code->object->is_copy && code->object->fd >= 0) {
		file->copy = code->object;
		file->copy->refs++;
		return -1;
	}
	fd = pm->objects->open(&mapping);
	/* A copy of a file that is not ELF has only the file's beginning. */
	if (fd >= 0 && file->object->is_copy) {
		close(fd);
		hybrid_object_close(file->object);
		fd = -1;
	}
	return fd;
}

static int file_of(struct hybrid_process_memory *pm, const struct hybrid_file_range *range)
{
	struct hybrid_file_of *file = NULL;
	unsigned int i;

	for (i = 0; i < pm->nr_files && !file; i++) {
		if (is_of(range, &pm->files[i]))
			file = &pm->files[i];
	}
	if (!file)
		file = add_file(pm, range);
	if (!file)
		return -1;
	if (file->fd == -2 && !file->copy)
		file->fd = open_file(pm, file, range);
	return file->copy ? file->copy->fd : file->fd;
}

/*
 * The process may have been looked at before it had mapped all of its files, or divided a mapping
 * since, which is opened by its bounds. Returns false if its mappings were read a moment ago; how
 * long that is grows with each time.
 */
static bool read_again(struct hybrid_process_memory *pm)
{
	unsigned int i;

	if (hybrid_clock_ns(CLOCK_MONOTONIC_COARSE) - pm->read_at < pm->wait)
		return false;
	pm->wait = min_t(u64, 2 * pm->wait, LONGEST_WAIT);
	for (i = 0; i < pm->nr_files; i++) {
		if (pm->files[i].fd == -1)
			pm->files[i].fd = -2;
	}
	return !hybrid_process_memory_map(pm);
}

bool hybrid_process_memory_is_shared(struct hybrid_process_memory *pm, u64 addr)
{
	const struct hybrid_file_range *range = find_range(pm, addr);

	if (!range && read_again(pm))
		range = find_range(pm, addr);
	/* mm/shmem.c, shmem_zero_setup() */
	return range && !strcmp(range->path, "/dev/zero (deleted)");
}

static int read_part(struct hybrid_process_memory *pm, u64 addr, void *dst, size_t size)
{
	const struct hybrid_file_range *range;
	int fd;

	if (!hybrid_memory_copy(pm->memory, pm->space, pm->pid, addr, dst, size))
		return 0;
	range = find_range(pm, addr);
	fd = range ? file_of(pm, range) : -1;
	if (fd < 0 && read_again(pm)) {
		range = find_range(pm, addr);
		fd = range ? file_of(pm, range) : -1;
	}
	if (fd < 0 || range->end - addr < size)
		return -1;
	return pread(fd, dst, size, addr - range->start + range->pgoff) == (ssize_t)size ? 0 : -1;
}

void hybrid_process_memory_keep(struct hybrid_process_memory *pm, bool keep)
{
	free(pm->pages);
	pm->pages = keep ? calloc(KEPT_PAGES, sizeof(*pm->pages)) : NULL;
}

/* The same by pages that are kept. A page that can't be read whole is not. */
static int read_kept(struct hybrid_process_memory *pm, u64 addr, void *dst, size_t size)
{
	u64 start = addr & -(u64)PAGE;
	struct hybrid_kept_page *page;

	if (!pm->pages || !start)
		return read_part(pm, addr, dst, size);
	page = &pm->pages[start / PAGE % KEPT_PAGES];
	if (page->addr != start) {
		page->addr = 0;
		if (read_part(pm, start, page->bytes, PAGE))
			return read_part(pm, addr, dst, size);
		page->addr = start;
	}
	memcpy(dst, page->bytes + (addr - start), size);
	return 0;
}

int hybrid_process_memory_read(struct hybrid_process_memory *pm, u64 addr, void *dst, size_t size)
{
	size_t part;

	if (addr + size < addr)
		return -1;
	while (size) {
		part = min(size, (size_t)(PAGE - addr % PAGE));
		if (read_kept(pm, addr, dst, part))
			return -1;
		addr += part;
		dst += part;
		size -= part;
	}
	return 0;
}

u64 hybrid_process_word(struct hybrid_process_memory *pm, u64 addr)
{
	u64 word;

	return hybrid_process_memory_read(pm, addr, &word, sizeof(word)) ? 0 : word;
}

int hybrid_process_memory_string(struct hybrid_process_memory *pm, u64 addr, char *dst)
{
	size_t got = 0, part;

	while (got < HYBRID_PROCESS_STRING) {
		part = min_t(size_t, HYBRID_PROCESS_STRING - got, 64 - (addr + got) % 64);
		if (hybrid_process_memory_read(pm, addr + got, dst + got, part))
			return -1;
		if (memchr(dst + got, 0, part))
			return 0;
		got += part;
	}
	return -1;
}
