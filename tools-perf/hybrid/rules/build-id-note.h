/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_BUILD_ID_NOTE_H
#define __PERF_HYBRID_BUILD_ID_NOTE_H

#include <stdbool.h>
#include <string.h>
#include "elf-bounds.h"
#include "ident.h"

/**
 * struct hybrid_build_id - the build-id of a file
 * @bytes: of it
 * @size: number of @bytes; 0: it has none
 */
struct hybrid_build_id {
	u8	bytes[HYBRID_BUILD_ID_SIZE];
	u32	size;
};

/**
 * hybrid_build_id_read - read the build-id of a file
 * @fd: the file
 * @user: whose share it is; NULL: there is no bound
 * @elf: its headers
 * @id: out
 *
 * By the program headers, as the kernel does: a program needs no section headers to run.
 *
 * Return: false if it has none in the first 64 KiB of a note segment.
 */
bool hybrid_build_id_read(int fd, struct hybrid_file_user *user, Elf *elf,
			  struct hybrid_build_id *id);

/* The same of a debug file, by its section headers: what its program headers say is not there. */
bool hybrid_build_id_of_debug(int fd, struct hybrid_file_user *user, Elf *elf,
			      struct hybrid_build_id *id);

static inline bool hybrid_build_id_equal(const struct hybrid_build_id *id, const u8 *bytes,
					 size_t size)
{
	return id->size == size && !memcmp(id->bytes, bytes, size);
}

#endif /* __PERF_HYBRID_BUILD_ID_NOTE_H */
