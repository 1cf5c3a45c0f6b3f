// SPDX-License-Identifier: GPL-2.0
/*
 * Has the program that this is linked into run from a copy of its code in anonymous memory, but
 * for the first page and the last one: as iodlr and node --use-largepages do.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE	4096

/* The mapping that this code is in. */
static void find_text(uintptr_t *start, uintptr_t *end)
{
	uintptr_t here = (uintptr_t)find_text;
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[8192];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx", start, end) == 2 && here >= *start && here < *end) {
			fclose(maps);
			return;
		}
	}
	fprintf(stderr, "copied: the program's own code is not in /proc/self/maps\n");
	exit(1);
}

__attribute__((constructor)) static void copy_text(void)
{
	uintptr_t start, end;
	size_t size;
	void *copy;

	find_text(&start, &end);
	start += PAGE;
	size = end - PAGE - start;
	copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy != MAP_FAILED)
		memcpy(copy, (void *)start, size);
	if (copy == MAP_FAILED || mprotect(copy, size, PROT_READ | PROT_EXEC) ||
	    mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)start) ==
	    MAP_FAILED) {
		perror("copied: the code can't be copied");
		exit(1);
	}
}
