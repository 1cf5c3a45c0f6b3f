/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_JIT_READ_H
#define __PERF_HYBRID_JIT_READ_H

#include "memory.h"

/**
 * struct hybrid_jit_image - an ELF file in a process's memory
 * @addr: of its first byte
 * @size: bytes
 * @hash: of these
 * @start: of its code
 * @end: behind its code
 * @bytes: as read, until they are an object's; owned
 * @object: its CFI; NULL: it can't be read
 */
struct hybrid_jit_image {
	u64			 addr;
	u64			 size;
	u64			 hash;
	u64			 start;
	u64			 end;
	void			*bytes;
	struct hybrid_object	*object;
};

/**
 * struct hybrid_jit_read - the lists of a process, as they are read
 * @memory: reads from processes
 * @space: of the process
 * @pid: process
 * @nr_bytes: read in this pass over the rings, of all processes
 * @images: found; room for HYBRID_JIT_IMAGES
 * @nr: number of @images
 * @nr_entries: of lists, whatever they say
 * @size: bytes of @images
 */
struct hybrid_jit_read {
	struct hybrid_memory		*memory;
	struct hybrid_space		*space;
	pid_t				 pid;
	u64				*nr_bytes;
	struct hybrid_jit_image		*images;
	unsigned int			 nr;
	unsigned int			 nr_entries;
	u64				 size;
};

/**
 * hybrid_jit_read - the images of a list
 * @read: gains those that can be read, without an object yet
 * @list: address of the descriptor
 *
 * Return: 0; -1 where the list can't be read: the process is gone, or this pass has read
 * enough.
 */
int hybrid_jit_read(struct hybrid_jit_read *read, u64 list);

#endif /* __PERF_HYBRID_JIT_READ_H */
