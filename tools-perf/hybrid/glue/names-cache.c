// SPDX-License-Identifier: GPL-2.0
/*
 * The names of a runtime's functions in perf's build-id cache:
 *
 *	.build-id/xx/yyyy		-> ../../runtimes/xxyyyy
 *	runtimes/xxyyyy/elf		which readers find by the build-id
 *	runtimes/xxyyyy/java-methods	-> elf, which records of mappings name
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <linux/kernel.h>
#include "../../build-id.h"
#include "../../util.h"
#include "../runtime/names-file.h"
#include "../runtime/names.h"
#include "kept-names.h"
#include "names-cache.h"

#define FOLDER	"runtimes"

static void build_id_of(const struct hybrid_names *names, char *sbuild_id)
{
	struct build_id bid;

	build_id__init(&bid, hybrid_names__build_id(names), HYBRID_NAMES_BUILD_ID);
	build_id__snprintf(&bid, sbuild_id, SBUILD_ID_SIZE);
}

/* mkdir_p() need not set errno. */
static int error(void)
{
	return errno ? -errno : -EINVAL;
}

static int make_link(const char *target, const char *path)
{
	return symlink(target, path) && errno != EEXIST ? -errno : 0;
}

static int make_folder(const char *path, mode_t mode)
{
	return mkdir(path, mode) && errno != EEXIST ? -errno : 0;
}

/* By which readers find the folder. */
static int link_build_id(const char *sbuild_id)
{
	char link[PATH_MAX], target[64 + SBUILD_ID_SIZE];
	char *slash;

	if (!build_id_cache__linkname(sbuild_id, link, sizeof(link)))
		return -ENAMETOOLONG;
	slash = strrchr(link, '/');
	*slash = 0;
	errno = 0;
	if (mkdir_p(link, 0755))
		return error();
	*slash = '/';
	scnprintf(target, sizeof(target), "../../" FOLDER "/%s", sbuild_id);
	return make_link(target, link);
}

/* @path: room for PATH_MAX */
static int make_folders(const char *sbuild_id, const char *label, char *path)
{
	char cache[PATH_MAX];
	int length, err;

	if (hybrid_kept_names__no_cache())
		return -ENOENT;
	errno = 0;
	err = make_folder(buildid_dir, 0755);
	if (err || !realpath(buildid_dir, cache))
		return err ?: error();
	length = snprintf(path, PATH_MAX, "%s/" FOLDER, cache);
	if (length + strlen(sbuild_id) + strlen(label) + 3 > PATH_MAX)
		return -ENAMETOOLONG;
	err = make_folder(path, 0700);
	if (err)
		return err;
	length += sprintf(path + length, "/%s", sbuild_id);
	err = make_folder(path, 0700);
	if (err)
		return err;
	sprintf(path + length, "/%s", label);
	return make_link("elf", path);
}

int hybrid_names__path(const struct hybrid_names *names, char *path)
{
	const char *label = hybrid_names__label(names);
	char sbuild_id[SBUILD_ID_SIZE];
	int err;

	build_id_of(names, sbuild_id);
	err = make_folders(sbuild_id, label, path);
	if (!err)
		err = link_build_id(sbuild_id);
	if (err)
		scnprintf(path, PATH_MAX, "%s", label);
	return err;
}

static int write_file(const struct hybrid_names *names, const char *path)
{
	int err = 0, fd;
	FILE *file;

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
		err = error();
	if (fclose(file) && !err)
		err = -errno;
	return err;
}

int hybrid_names__cache(const struct hybrid_names *names, const char *path)
{
	size_t folder = strrchr(path, '/') - path;
	char file[PATH_MAX], new[PATH_MAX];
	int err;

	/* The label is longer than both. */
	scnprintf(file, sizeof(file), "%.*s/elf", (int)folder, path);
	scnprintf(new, sizeof(new), "%.*s/new", (int)folder, path);
	err = write_file(names, new);
	if (!err && rename(new, file))
		err = -errno;
	if (err)
		unlink(new);
	return err;
}
