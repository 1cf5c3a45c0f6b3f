// SPDX-License-Identifier: GPL-2.0
/*
 * Digests that threads and helpers compute while a recording goes on.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include "elf-file.h"
#include "file-digest.h"
#include "loader-world.h"
#include "rows.h"
#include "short-memory.h"
#include "tap.h"

#define LONG	60000000000ULL

/* Users: root, and another one. */
#define OTHER	1000

static struct hybrid_digests *digests;
static u8 expected[HYBRID_DIGEST_SIZE];
static u64 file_size;

static void start(void)
{
	loader_world_start_user(OTHER);
	digests = hybrid_digests_new(world.loader);
}

static void end(void)
{
	hybrid_digests_delete(digests);
	loader_world_end();
}

/* @later: the file changed after it was mapped, by so many seconds. */
static struct hybrid_mapping map(const char *path, s64 later)
{
	struct hybrid_mapping mapping = loader_world_map(path);
	int fd = open(world.file, O_PATH | O_CLOEXEC);

	same(hybrid_file_id_read(fd, &mapping.file), 0);
	close(fd);
	mapping.file.ctime_sec -= later;
	return mapping;
}

static u32 add(const char *path, s64 later)
{
	const struct hybrid_mapping mapping = map(path, later);

	return hybrid_digests_add(digests, &mapping);
}

static bool is_known(u32 number)
{
	u8 digest[HYBRID_DIGEST_SIZE] = {};

	if (!hybrid_digests_get(digests, number, digest))
		return false;
	check(!memcmp(digest, expected, sizeof(digest)));
	return true;
}

/* The first path is local, the second one is read by a helper. */
static const char * const paths[] = { "/a", "/far/a" };

static void known(void)
{
	static u32 numbers[3 * HYBRID_DIGESTS_UNREAD];
	u32 stale, i, j;

	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		start();
		for (j = 0; j < ARRAY_SIZE(numbers); j++) {
			/* There is room when others have ended. */
			while (!(numbers[j] = add(paths[i], 0)))
				hybrid_digests_wait(digests, LONG);
		}
		hybrid_digests_wait(digests, LONG);
		same(world.started, i);
		stale = add(paths[i], 1);
		check(stale);
		hybrid_digests_wait(digests, LONG);
		for (j = 0; j < ARRAY_SIZE(numbers); j++)
			check(is_known(numbers[j]));
		check(!is_known(stale) && !is_known(0));
		check(!hybrid_digests_get(NULL, 1, expected));
		same(world.budget.others[HYBRID_FILE_UNREAD], 0);
		end();
	}
}

/* Without memory for one file there is no digest of it; there is one of the next. */
static void short_of_memory(void)
{
	struct hybrid_mapping mapping;
	unsigned int nr;

	for (nr = 0; nr < 2; nr++) {
		start();
		mapping = map(paths[0], 0);
		short_memory_begin(nr);
		same(hybrid_digests_add(digests, &mapping), 0);
		check(short_memory_end());
		same(world.budget.others[HYBRID_FILE_UNREAD], 0);
		same(world.budget.users[0].used[HYBRID_FILE_UNREAD], 0);
		check(add(paths[0], 0));
		hybrid_digests_wait(digests, LONG);
		end();
	}
}

static void unknown_files(void)
{
	struct hybrid_mapping mapping;

	start();
	mapping = map("/a", 0);
	mapping.file = (struct hybrid_file_id) {};
	same(hybrid_digests_add(digests, &mapping), 0);
	mapping = map("/a", 0);
	same(hybrid_digests_add(NULL, &mapping), 0);
	hybrid_digests_wait(NULL, LONG);
	end();
}

/* With what still reads. */
static void goes(void)
{
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		start();
		for (j = 0; j < 20; j++)
			add(paths[i], 0);
		end();
	}
}

/* What one user's file systems don't answer delays neither another one's digests nor samples. */
static void does_not_answer(void)
{
	struct hybrid_mapping mapping;
	u32 slow[100], far, near, i;
	unsigned int nr = 0;

	start();
	for (i = 0; i < ARRAY_SIZE(slow); i++) {
		slow[i] = add("/slow!", 0);
		nr += !!slow[i];
	}
	same(nr, hybrid_file_limits[HYBRID_FILE_UNREAD].user);
	mapping = map("/far/b", 0);
	while (!hybrid_object_row(&mapping, AT + elf_file_symbol("frames.so", "leaf_at")))
		usleep(1000);
	world.user = hybrid_file_user_get(&world.budget, OTHER + 1);
	far = add("/far/a", 0);
	near = add("/a", 0);
	while (!is_known(far) || !is_known(near))
		hybrid_digests_wait(digests, 1000000);
	for (i = 0; i < ARRAY_SIZE(slow); i++)
		check(!is_known(slow[i]));
	/* When they do, the digests are there. */
	loader_world_answer(true);
	hybrid_digests_wait(digests, LONG);
	for (i = 0; i < ARRAY_SIZE(slow); i++)
		same(is_known(slow[i]), !!slow[i]);
	end();
	/* Those that do not are not waited for. */
	start();
	add("/slow!", 0);
	hybrid_digests_wait(digests, 1000);
	end();
}

/* Files that only root can write are of root's share, if they are local. */
static struct hybrid_file_user *user_for(const char *path)
{
	const struct hybrid_mapping mapping = map(path, 0);
	int fd = open(world.file, O_PATH | O_CLOEXEC);
	struct hybrid_file_user *of;

	of = strcmp(path, paths[0]) ? world.user : hybrid_mapping_user(&mapping, fd);
	close(fd);
	return of;
}

/* What is read is of the user's share, and given back by nobody. */
static void shares(void)
{
	const u64 limit = hybrid_file_limits[HYBRID_FILE_DIGESTS].user;
	struct hybrid_file_user *of;
	u32 first, second, i;

	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		start();
		of = user_for(paths[i]);
		check(hybrid_file_take(of, HYBRID_FILE_DIGESTS, limit - 2 * file_size + 1));
		first = add(paths[i], 0);
		hybrid_digests_wait(digests, LONG);
		second = add(paths[i], 0);
		hybrid_digests_wait(digests, LONG);
		check(is_known(first) && second && !is_known(second));
		same(of->left_out, 1);
		same(of->used[HYBRID_FILE_DIGESTS], limit - file_size + 1);
		same(of->used[HYBRID_FILE_UNREAD], 0);
		/* Another one has his. */
		world.user = hybrid_file_user_get(&world.budget, OTHER + 1);
		first = add(paths[1], 0);
		hybrid_digests_wait(digests, LONG);
		check(is_known(first));
		end();
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "digest: local files, and others", known },
		{ "digest: no memory", short_of_memory },
		{ "digest: files that are not known", unknown_files },
		{ "digest: the end, while files are read", goes },
		{ "digest: a file system that does not answer", does_not_answer },
		{ "digest: shares of users", shares },
	};
	int fd;

	if (!loader_world_init())
		return 2;
	fd = open(world.file, O_RDONLY | O_CLOEXEC);
	file_size = lseek(fd, 0, SEEK_END);
	if (hybrid_content_digest(fd, expected))
		return 2;
	close(fd);
	return tap_run(tests, ARRAY_SIZE(tests));
}
