// SPDX-License-Identifier: GPL-2.0
/* The names of a runtime's functions in perf's build-id cache. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <linux/kernel.h>
#include "../../build-id.h"
#include "../../util.h"
#include "../runtime/names-file.h"
#include "../runtime/names.h"
#include "names-cache.h"

/* Folders of the cache, and what is behind them. */
#define PATH_SIZE	(PATH_MAX + 128)

static void build_id_of(const struct hybrid_names *names, char *sbuild_id)
{
	struct build_id bid;

	build_id__init(&bid, hybrid_names__build_id(names), HYBRID_NAMES_BUILD_ID);
	build_id__snprintf(&bid, sbuild_id, SBUILD_ID_SIZE);
}

static int make_folder(const char *path, mode_t mode)
{
	return mkdir(path, mode) && errno != EEXIST ? -errno : 0;
}

/* The folder of the object, as build_id_cache__cachedir() names it. */
static int make_folders(const struct hybrid_names *names, const char *sbuild_id, char *folder)
{
	int length, err;

	length = scnprintf(folder, PATH_SIZE, "%s/%s", buildid_dir, hybrid_names__mapping(names));
	if (mkdir_p(buildid_dir, 0755))
		return -errno;
	err = make_folder(folder, 0700);
	if (err)
		return err;
	scnprintf(folder + length, PATH_SIZE - length, "/%s", sbuild_id);
	return make_folder(folder, 0700);
}

static int write_file(const struct hybrid_names *names, const char *path)
{
	int err = 0, fd;
	FILE *file;

	/* Left by a recording that was killed. */
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	file = fdopen(fd, "w");
	if (!file) {
		close(fd);
		return -ENOMEM;
	}
	errno = 0;
	if (hybrid_names__file(names, file))
		err = errno ? -errno : -EIO;
	if (fclose(file) && !err)
		err = -errno;
	return err;
}

/* .build-id/xx/yyyy -> ../../[java]/xxyyyy */
static int make_link(const struct hybrid_names *names, const char *sbuild_id)
{
	char link[PATH_SIZE], target[64 + SBUILD_ID_SIZE];
	char *slash;

	if (!build_id_cache__linkname(sbuild_id, link, sizeof(link)))
		return -ENAMETOOLONG;
	slash = strrchr(link, '/');
	*slash = 0;
	if (mkdir_p(link, 0755))
		return -errno;
	*slash = '/';
	scnprintf(target, sizeof(target), "../../%s/%s", hybrid_names__mapping(names), sbuild_id);
	return symlink(target, link) && errno != EEXIST ? -errno : 0;
}

int hybrid_names__cache(const struct hybrid_names *names)
{
	char folder[PATH_SIZE], path[PATH_SIZE + 8], new[PATH_SIZE + 8];
	char sbuild_id[SBUILD_ID_SIZE];
	int err;

	build_id_of(names, sbuild_id);
	err = make_folders(names, sbuild_id, folder);
	if (err)
		return err;
	scnprintf(path, sizeof(path), "%s/elf", folder);
	scnprintf(new, sizeof(new), "%s/new", folder);
	err = write_file(names, new);
	if (!err && rename(new, path))
		err = -errno;
	if (err) {
		unlink(new);
		return err;
	}
	return make_link(names, sbuild_id);
}
