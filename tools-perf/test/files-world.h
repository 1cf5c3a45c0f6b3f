/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __HYBRID_TEST_FILES_WORLD_H
#define __HYBRID_TEST_FILES_WORLD_H

#include "elf-file.h"
#include "rows.h"

struct tap_test;

#define FILES_BUILD_ID	"01234567890123456789"

/**
 * struct files_world - processes that map files of a directory, which change under them
 * @ps: each process maps one file, at 0
 * @at: the address whose row files_row() returns
 * @is_open: others than root and the user may write to new files
 * @is_hidden: nobody can find out which file a mapping shows
 * @is_elsewhere: in the place of "a" processes have mapped "b"
 * @changes: "a" changes before it is opened the next time
 */
struct files_world {
	struct hybrid_processes	ps;
	u64			at;
	bool			is_open;
	bool			is_hidden;
	bool			is_elsewhere;
	bool			changes;
};

extern struct files_world files;

/* Tests in a new directory, which is removed with the files "a" and "b". */
int files_run(const struct tap_test *tests, unsigned int nr);

/* Without processes; small.so is "a", and @at its pushed_at. */
void files_start(bool open);

/* Valid until the next call but one. */
const char *files_path(const char *name);

/* A copy of one of the tests' ELF files; its ctime is no other one's. */
void files_copy(const char *name, const char *to);

/* What any other process may do to a file of its own. */
void files_touch(const char *name);

void files_map(pid_t pid, const char *name);
void files_map_build_id(pid_t pid, const char *name, const char *build_id);
const struct hybrid_mapping *files_mapping(pid_t pid);

/* As the last samples of a recording have it: they wait here. */
const struct hybrid_row *files_row_at(pid_t pid, u64 ip);

/* The row for @at; NULL: it is another one than that of small.so. */
const struct hybrid_row *files_row(pid_t pid);

/* The object, once it is known whether another one's rows serve the mapping. */
struct hybrid_object *files_settled(pid_t pid);

#endif /* __HYBRID_TEST_FILES_WORLD_H */
