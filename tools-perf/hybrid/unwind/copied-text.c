// SPDX-License-Identifier: GPL-2.0
/*
 * Code of a file that its process has copied to memory that no file backs.
 */
#include <string.h>
#include <linux/kernel.h>
#include "../rules/rows.h"
#include "copied-text.h"

#define PAGES	64

/**
 * struct copy - what may be one
 * @memory: reads the process
 * @space: of the process
 * @start: of the mapping
 * @size: bytes of it
 * @pid: a process that has it
 * @of: the mapping of the file beside it
 * @pgoff: what it may be a copy of, in bytes from the start of the file
 */
struct copy {
	struct hybrid_memory		*memory;
	struct hybrid_space		*space;
	u64				 start;
	u64				 size;
	pid_t				 pid;
	const struct hybrid_mapping	*of;
	u64				 pgoff;
};

/* Is the page that many bytes behind the start the file's? -1 where it can't be read. */
static int compare_page(const struct copy *copy, u64 offset)
{
	const struct hybrid_page *page;
	u8 bytes[HYBRID_PAGE];

	if (hybrid_memory_copy(copy->memory, copy->space, copy->pid, copy->start + offset, bytes,
			       sizeof(bytes)))
		return -1;
	page = hybrid_page_read(copy->of->object, copy->pgoff + offset);
	return page && page->nr == sizeof(bytes) && !memcmp(page->bytes, bytes, sizeof(bytes));
}

static bool is_same(const struct copy *copy, u64 ip)
{
	u64 nr = copy->size / HYBRID_PAGE, step = max(nr / PAGES, (u64)1), i;

	if (compare_page(copy, (ip - copy->start) & ~(HYBRID_PAGE - 1ULL)) != 1)
		return false;
	for (i = 0; i < nr; i += step) {
		if (!compare_page(copy, i * HYBRID_PAGE))
			return false;
	}
	return hybrid_object_is_current(copy->of->object);
}

/* Does an executable segment of the file have all of it? */
static bool is_in_file(const struct copy *copy)
{
	u64 first, last;

	return !(copy->pgoff % HYBRID_PAGE) &&
	       hybrid_object_vaddr(copy->of->object, copy->pgoff, &first) &&
	       hybrid_object_vaddr(copy->of->object, copy->pgoff + copy->size - 1, &last) &&
	       last - first == copy->size - 1;
}

bool hybrid_copied_text(struct hybrid_memory *memory, struct hybrid_space *space,
			const struct hybrid_mapping *mapping, u64 ip)
{
	struct copy copy = {
		.memory = memory, .space = space, .start = mapping->start,
		.size = mapping->end - mapping->start, .pid = mapping->pid,
	};
	unsigned int behind;

	if (!memory || mapping->is_asked)
		return false;
	hybrid_space_set_asked(space, ip);
	for (behind = 0; behind < 2; behind++) {
		copy.of = hybrid_space_beside(space, hybrid_space_find(space, ip), behind);
		if (!copy.of || !copy.of->object || copy.of->is_copy || !copy.of->record ||
		    !hybrid_object_use(copy.of))
			continue;
		copy.pgoff = copy.of->pgoff + copy.start - copy.of->start;
		if (!is_in_file(&copy) || !is_same(&copy, ip))
			continue;
		hybrid_space_set_copy(space, copy.start, copy.of->object, copy.of->record,
				      copy.pgoff);
		return true;
	}
	return false;
}
