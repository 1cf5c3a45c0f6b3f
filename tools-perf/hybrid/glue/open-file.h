/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_OPEN_FILE_H
#define __PERF_HYBRID_OPEN_FILE_H

struct hybrid_file_id;
struct hybrid_mapping;

/**
 * hybrid_open_live - open the file that a process has mapped
 * @mapping: with an object
 *
 * By the mapping itself (/proc/PID/map_files), which finds it deleted, replaced, or in another
 * mount namespace; else by its path in the process's root, in that of the processes that it is
 * of, where it is gone, or in ours. What is found must have the build-id or inode of the
 * mapping's record.
 *
 * Return: a file descriptor; -1, with ESTALE where it is not the file that the object was
 * identified as.
 */
int hybrid_open_live(const struct hybrid_mapping *mapping);

/**
 * hybrid_find_live - find that file without opening it, and without waiting for anyone
 * @mapping: with an object
 *
 * Return: a descriptor (O_PATH); -1 if it can't be found so: with EAGAIN if a file system would
 * have to be asked.
 */
int hybrid_find_live(const struct hybrid_mapping *mapping);

/**
 * hybrid_open_found_live - open what hybrid_find_live() has found
 * @mapping: the same
 * @found: on a local file system; closed
 *
 * Return: as hybrid_open_live().
 */
int hybrid_open_found_live(const struct hybrid_mapping *mapping, int found);

/**
 * hybrid_identify_live - which file that is, without waiting for anyone
 * @mapping: with an object
 * @id: out
 *
 * Return: 0, or -1 where it can't be found so.
 */
int hybrid_identify_live(const struct hybrid_mapping *mapping, struct hybrid_file_id *id);

/**
 * hybrid_open_stored - open the file that was mapped when a file was recorded
 * @mapping: with an object
 *
 * Where perf report looks: at the path, under --symfs, and in the build-id
 * cache.
 *
 * Return: a file descriptor, or -1.
 */
int hybrid_open_stored(const struct hybrid_mapping *mapping);

#endif /* __PERF_HYBRID_OPEN_FILE_H */
