/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_FDE_H
#define __PERF_HYBRID_FDE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

struct hybrid_file_user;
struct hybrid_object;

/**
 * struct hybrid_fde - the addresses that one FDE is about: a function, mostly
 * @start: first address, as the ELF file numbers them
 * @end: address behind the last
 */
struct hybrid_fde {
	u64	start;
	u64	end;
};

/**
 * struct hybrid_fdes - all FDEs of an object
 * @fdes: by address, none overlapping
 * @nr: of @fdes
 * @alloc: room in @fdes
 * @user: whose share of memory they are of; NULL: nobody's
 */
struct hybrid_fdes {
	struct hybrid_fde	*fdes;
	size_t			 nr;
	size_t			 alloc;
	struct hybrid_file_user	*user;
};

/**
 * hybrid_fdes_read - list the FDEs of an object
 * @object: open; its .debug_frame is read, too, where it was looked for
 * @fdes: out; to be given to hybrid_fdes_exit()
 *
 * libdw finds the FDE of an address, and lists none. Code at a program's entry
 * that no FDE covers counts as one, too.
 *
 * Return: 0; -ENOMEM; -EDQUOT if the file's user is over his share.
 */
int hybrid_fdes_read(struct hybrid_object *object, struct hybrid_fdes *fdes);

/**
 * hybrid_fdes_find - the FDE that holds an address
 * @fdes: to look in
 * @vaddr: as the ELF file numbers them
 *
 * Return: the FDE, or NULL.
 */
const struct hybrid_fde *hybrid_fdes_find(const struct hybrid_fdes *fdes, u64 vaddr);

/**
 * hybrid_fdes_gap - the addresses around one that no FDE holds
 * @fdes: to look in
 * @vaddr: as the ELF file numbers them
 * @gap: out: from the FDE before to the one behind, or from 0 and to the last address
 *
 * Return: false where an FDE holds @vaddr.
 */
bool hybrid_fdes_gap(const struct hybrid_fdes *fdes, u64 vaddr, struct hybrid_fde *gap);

void hybrid_fdes_exit(struct hybrid_fdes *fdes);

#endif /* __PERF_HYBRID_FDE_H */
