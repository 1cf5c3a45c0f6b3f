/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOADER_WORLD_H
#define LOADER_WORLD_H

#include <limits.h>
#include "file-loader.h"

/* Where files are mapped. */
#define AT	0x7f0000000000ULL

/* After this in a path is that of a file that the helper opens instead of the one of all others. */
#define LOADER_REAL	"/real"

/* The helper ends when it opens a file with this in its path. */
#define LOADER_DIES	"/dies"

/**
 * struct loader_world - a loader, and processes that open files for it
 * @objects: all have the same file
 * @loader: theirs
 * @budget: of @user, after loader_world_start_user()
 * @user: whose files they are
 * @started: how often the first of these processes was started
 * @is_broken: it can't be started
 * @file: the file
 */
struct loader_world {
	struct hybrid_objects	 objects;
	struct hybrid_loader	*loader;
	struct hybrid_file_budget budget;
	struct hybrid_file_user	*user;
	unsigned int		 started;
	bool			 is_broken;
	char			 file[PATH_MAX];
};

extern struct loader_world world;

/* Once, before the others. Return: false if memory is short. */
bool loader_world_init(void);

/* Files whose paths have a '!' are opened from now on, or not. */
void loader_world_answer(bool yes);

/* From now on the first of these processes takes @ms milliseconds to start. */
void loader_world_start_slowly(unsigned int ms);

/* Files that helpers have opened since loader_world_init(). */
unsigned int loader_world_opened(void);

/**
 * loader_world_start - a new loader
 *
 * What a path contains decides how it is opened:
 *
 *	'!'			it can't be found without waiting, and not before
 *				loader_world_answer()
 *	a second '/'		it is on a file system that is not local
 *	'[' at the beginning	it can't be found
 */
void loader_world_start(void);

/* The same; all files are of one user, and no share comes back with time. */
void loader_world_start_user(uid_t uid);
void loader_world_end(void);

/* A mapping of the file, by a path. */
struct hybrid_mapping loader_world_map(const char *path);

/* Opens a file, however long it takes. Return: a descriptor; or -1, with the loader's errno. */
int loader_world_open_at_last(struct hybrid_mapping *mapping);

#endif /* LOADER_WORLD_H */
