// SPDX-License-Identifier: GPL-2.0
/* Which files have the content that was mapped: before perf reads symbols, code or lines. */
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>
#include <sys/stat.h>
#include "../../build-id.h"
#include "../../debug.h"
#include "../../dso.h"
#include "../../event.h"
#include "../../machine.h"
#include "../../namespaces.h"
#include "../../session.h"
#include "../../symbol.h"
#include "../../util.h"
#include "../process/mount.h"
#include "../rules/content.h"
#include "../rules/file-id.h"
#include "identity.h"
#include "kept-names.h"

#ifdef HAVE_DSO_IDENTITY

/* Digits of the digest in the name of a file's folder in the cache. */
#define DIGITS	16

/* A file that has this name in the cache stands beside one that the user has put there. */
#define CHOSEN	"chosen"

enum found {
	UNKNOWN,	/* not looked for yet */
	ABSENT,
	RIGHT,
	WRONG,
};

/**
 * struct hybrid_identity - which file was mapped
 * @digest: of its content
 * @file: a file that has it
 * @is_live: there is no digest: the mapping is there now, see hybrid_identity__set_live()
 * @at_path: the file at the dso's path
 * @first: the file that the cache has by the build-id alone
 * @beside: the file that the cache has by the digest, too
 * @folder: of the right one of both in the cache
 * @line_file: of a file in another mount namespace; NULL: not looked for, or none
 */
struct hybrid_identity {
	u8			digest[HYBRID_DIGEST_SIZE];
	struct hybrid_file_id	file;
	bool			is_live;
	enum found		at_path;
	enum found		first;
	enum found		beside;
	char			*folder;
	char			*line_file;
};

/* In the table of build-ids, from the next multiple of 8 bytes after the path's NUL on. */
struct tail {
	char	magic[8];
	u32	namesake;
	u32	size;
	u8	digest[HYBRID_DIGEST_SIZE];
};

static const char magic[8] = "hybrid1";

static bool is_live;

void hybrid_identity__set_live(void)
{
	is_live = true;
}

void hybrid_identity__set(struct dso *dso, const u8 *digest, const struct hybrid_file_id *file)
{
	struct hybrid_identity *identity = dso__identity(dso);

	if (!identity)
		identity = zalloc(sizeof(*identity));
	if (!identity)
		return;
	memcpy(identity->digest, digest, sizeof(identity->digest));
	if (file)
		identity->file = *file;
	dso__set_identity(dso, identity);
}

void hybrid_identity__free(struct dso *dso)
{
	struct hybrid_identity *identity = dso__identity(dso);

	if (identity)
		free(identity->folder);
	if (identity)
		free(identity->line_file);
	free(identity);
	dso__set_identity(dso, NULL);
}

size_t hybrid_identity__tail(const struct dso *dso, void *out)
{
	const struct hybrid_identity *identity = dso__identity((struct dso *)dso);
	struct tail tail = { .size = sizeof(tail.digest) };

	BUILD_BUG_ON(sizeof(tail) > HYBRID_IDENTITY_TAIL || sizeof(tail) % sizeof(u64));
	if (!identity || identity->is_live)
		return 0;
	memcpy(tail.magic, magic, sizeof(magic));
	memcpy(tail.digest, identity->digest, sizeof(tail.digest));
	tail.namesake = dso__id_const(dso)->namesake;
	memcpy(out, &tail, sizeof(tail));
	return sizeof(tail);
}

/* Written by a machine of the other byte order: its digests are of files of that order. */
static bool is_foreign(const struct tail *tail)
{
	return tail->size != sizeof(tail->digest) || tail->namesake > USHRT_MAX;
}

bool hybrid_identity__read(struct perf_session *session,
			   const struct perf_record_header_build_id *entry, const char *path,
			   size_t size)
{
	size_t at = PERF_ALIGN(strlen(path) + 1, sizeof(u64));
	struct dso_id id = {};
	struct machine *machine;
	struct tail tail;
	struct dso *dso;

	if ((entry->header.misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER ||
	    !(entry->header.misc & PERF_RECORD_MISC_BUILD_ID_SIZE) ||
	    at + sizeof(tail) > size)
		return false;
	memcpy(&tail, path + at, sizeof(tail));
	if (memcmp(tail.magic, magic, sizeof(magic)) || is_foreign(&tail))
		return false;
	machine = perf_session__findnew_machine(session, entry->pid);
	if (!machine)
		return false;
	build_id__init(&id.build_id, entry->data, entry->size);
	id.namesake = tail.namesake;
	dso = machine__findnew_dso_id(machine, path, &id);
	if (!dso)
		return false;
	dso__set_header_build_id(dso, true);
	hybrid_identity__set(dso, tail.digest, NULL);
	dso__put(dso);
	return true;
}

static bool has_build_id(const char *path, struct dso *dso)
{
	struct build_id bid = { .size = 0, };

	return filename__read_build_id(path, &bid) > 0 && dso__build_id_equal(dso, &bid);
}

/* @right: O_PATH of a file with the content, which is read only here; -1: there is none. */
static bool has_content(struct hybrid_identity *identity, int fd, int right)
{
	int same = hybrid_open_found(fcntl(right, F_DUPFD_CLOEXEC, 0));
	u8 digest[HYBRID_DIGEST_SIZE];
	bool is_same;

	is_same = hybrid_content_is_same(same, fd);
	if (same >= 0)
		close(same);
	if (!is_same && (hybrid_content_digest(fd, digest) ||
			 memcmp(digest, identity->digest, sizeof(digest))))
		return false;
	/* The cache has links to the files at the paths. */
	hybrid_file_id_read(fd, &identity->file);
	return true;
}

/*
 * In the present mount namespace. @right: NULL; or the first file that was found to be right, -1:
 * none yet. Others are compared with it. The caller closes it.
 */
static enum found look_at(struct hybrid_identity *identity, const char *path, int *right)
{
	int fd = open(path, O_PATH | O_CLOEXEC);
	enum found is = ABSENT;

	if (fd >= 0 && identity->file.ino && hybrid_file_id_is_of(&identity->file, fd)) {
		is = RIGHT;
	} else {
		fd = hybrid_open_found(fd);
		if (fd >= 0)
			is = has_content(identity, fd, right ? *right : -1) ? RIGHT : WRONG;
	}
	if (is == RIGHT && right && *right < 0)
		*right = fd;
	else if (fd >= 0)
		close(fd);
	return is;
}

static void append_digits(const struct hybrid_identity *identity, char *to)
{
	unsigned int i;

	*to++ = '.';
	for (i = 0; i < DIGITS / 2; i++)
		to += sprintf(to, "%02x", identity->digest[i]);
}

/* The folder that the cache has for a build-id, or for that and the digest. */
static bool folder_of(const struct dso *dso, const struct hybrid_identity *identity, bool beside,
		      char *path)
{
	char sbuild_id[SBUILD_ID_SIZE];

	build_id__snprintf(dso__bid(dso), sbuild_id, sizeof(sbuild_id));
	if (!build_id_cache__linkname(sbuild_id, path, PATH_MAX - 2 * DIGITS))
		return false;
	if (beside)
		append_digits(identity, path + strlen(path));
	return true;
}

static bool is_chosen(const char *folder)
{
	char path[PATH_MAX + sizeof(CHOSEN)];

	scnprintf(path, sizeof(path), "%s/" CHOSEN, folder);
	return !access(path, F_OK);
}

static enum found look_in_cache(struct dso *dso, struct hybrid_identity *identity, bool beside,
				int *right)
{
	char folder[PATH_MAX], path[PATH_MAX + 8];
	enum found is;

	if (!folder_of(dso, identity, beside, folder))
		return ABSENT;
	scnprintf(path, sizeof(path), "%s/elf", folder);
	is = look_at(identity, path, right);
	if (is == WRONG && !beside && is_chosen(folder))
		is = RIGHT;
	if (is == RIGHT && !identity->folder)
		identity->folder = strdup(folder);
	return is;
}

static void look_at_path(struct dso *dso, struct hybrid_identity *identity, int *right)
{
	char path[PATH_MAX], *other;
	struct nscookie nsc;

	__symbol__join_symfs(path, sizeof(path), dso__long_name(dso));
	nsinfo__mountns_enter(dso__nsinfo(dso), &nsc);
	identity->at_path = look_at(identity, path, right);
	if (identity->at_path == ABSENT && errno == ENOENT && dso__nsinfo(dso)) {
		other = dso__filename_with_chroot(dso, path);
		if (other)
			identity->at_path = look_at(identity, other, right);
		free(other);
	}
	/* Another version is no file that claims to be this one. */
	if (identity->at_path == WRONG && !has_build_id(path, dso))
		identity->at_path = ABSENT;
	nsinfo__mountns_exit(&nsc);
	/* The user has named the folder: its files may be those from before they were stripped. */
	if (identity->at_path == WRONG && *symbol_conf.symfs)
		identity->at_path = RIGHT;
}

/* The file at the path is the mapped one, if it has the build-id that is known. */
static void look_live(struct dso *dso)
{
	struct hybrid_identity *identity;
	struct nscookie nsc;
	bool is_there;

	if (!is_live || dso__kernel(dso) || *dso__long_name(dso) != '/')
		return;
	nsinfo__mountns_enter(dso__nsinfo(dso), &nsc);
	is_there = dso__has_build_id(dso) ? has_build_id(dso__long_name(dso), dso) :
					    is_regular_file(dso__long_name(dso));
	nsinfo__mountns_exit(&nsc);
	identity = is_there ? zalloc(sizeof(*identity)) : NULL;
	if (!identity)
		return;
	identity->is_live = true;
	identity->at_path = RIGHT;
	identity->first = WRONG;
	dso__set_identity(dso, identity);
}

void hybrid_identity__look(struct dso *dso)
{
	struct hybrid_identity *identity = dso__identity(dso);
	int right = -1;

	if (!identity)
		look_live(dso);
	if (!identity || identity->first != UNKNOWN)
		return;
	/* The recording has left which file that is: it need not be read again. */
	look_at_path(dso, identity, &right);
	identity->first = look_in_cache(dso, identity, false, &right);
	identity->beside = identity->first == RIGHT ? ABSENT :
						      look_in_cache(dso, identity, true, &right);
	if (right >= 0)
		close(right);
	if (identity->first == WRONG || identity->at_path == WRONG)
		pr_debug("%s: %s is not the file that was mapped\n", dso__long_name(dso),
			 identity->at_path == WRONG ? "the file at its path" :
			 "the file of the build-id cache");
}

/* Is there a file that says it is this one, and none that is? */
static bool is_refuted(const struct hybrid_identity *identity)
{
	return !identity->folder && identity->at_path != RIGHT &&
	       (identity->first == WRONG || identity->at_path == WRONG);
}

bool hybrid_identity__refuses(struct dso *dso, int type)
{
	const struct hybrid_identity *identity = dso__identity(dso);

	if (!identity)
		return false;
	switch (type) {
	case DSO_BINARY_TYPE__BUILD_ID_CACHE:
	case DSO_BINARY_TYPE__BUILD_ID_CACHE_DEBUGINFO:
		return identity->is_live;
	case DSO_BINARY_TYPE__SYSTEM_PATH_DSO:
	case DSO_BINARY_TYPE__GNU_DEBUGDATA:
	case DSO_BINARY_TYPE__DEBUGLINK:
		return identity->at_path == WRONG;
	case DSO_BINARY_TYPE__FEDORA_DEBUGINFO:
	case DSO_BINARY_TYPE__UBUNTU_DEBUGINFO:
	case DSO_BINARY_TYPE__MIXEDUP_UBUNTU_DEBUGINFO:
	case DSO_BINARY_TYPE__OPENEMBEDDED_DEBUGINFO:
	case DSO_BINARY_TYPE__BUILDID_DEBUGINFO:
		return is_refuted(identity);
	default:
		return false;
	}
}

bool hybrid_identity__cached(struct dso *dso, const char *link, char *path)
{
	const struct hybrid_identity *identity;

	hybrid_identity__look(dso);
	identity = dso__identity(dso);
	if (!identity)
		return false;
	/* Without a right one there is the folder that one would have. */
	if (identity->is_live)
		strlcpy(path, "/dev/null", PATH_MAX);
	else if (identity->folder)
		strlcpy(path, identity->folder, PATH_MAX);
	else if (!folder_of(dso, identity, true, path))
		return false;
	return strcmp(path, link);
}

bool hybrid_identity__is_at_hand(const struct nsinfo *nsi, const char *path)
{
	pid_t pid = nsi && nsinfo__need_setns(nsi) ? nsinfo__pid(nsi) : 0;

	/* It is none, but what the kernel calls a mapping. */
	return *path != '/' || hybrid_path_is_at_hand(path, pid);
}

bool hybrid_identity__cache_as(struct dso *dso, const char *name, char *sbuild_id)
{
	struct hybrid_identity *identity = dso__identity(dso);
	struct nscookie nsc;
	bool is_right;

	if (!dso__kernel(dso) && !hybrid_identity__is_at_hand(dso__nsinfo(dso), name))
		return false;
	if (!identity)
		return true;
	hybrid_identity__look(dso);
	if (identity->folder)
		return false;
	nsinfo__mountns_enter(dso__nsinfo(dso), &nsc);
	is_right = look_at(identity, name, NULL) == RIGHT;
	nsinfo__mountns_exit(&nsc);
	if (is_right && identity->first == WRONG)
		append_digits(identity, sbuild_id + strlen(sbuild_id));
	return is_right;
}

void hybrid_identity__choose(const char *sbuild_id, const char *name)
{
	char folder[PATH_MAX - 16], path[PATH_MAX];
	struct hybrid_identity added = {};
	int fd = open(name, O_RDONLY | O_CLOEXEC), err;

	err = fd < 0 ? -errno : hybrid_content_digest(fd, added.digest);
	if (fd >= 0)
		close(fd);
	if (err || !build_id_cache__linkname(sbuild_id, folder, sizeof(folder)))
		return;
	scnprintf(path, sizeof(path), "%s/elf", folder);
	if (look_at(&added, path, NULL) != RIGHT) {
		pr_warning("The build-id cache has another file with the build-id of %s: see perf buildid-cache --update\n",
			   name);
		return;
	}
	scnprintf(path, sizeof(path), "%s/" CHOSEN, folder);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
}

static bool is_beside(const struct dirent *entry, const char *name)
{
	size_t size = strlen(name);

	return !strncmp(entry->d_name, name, size) && entry->d_name[size] == '.' &&
	       strlen(entry->d_name + size) == DIGITS + 1;
}

void hybrid_identity__remove(const char *sbuild_id)
{
	char path[PATH_MAX], full[SBUILD_ID_SIZE + DIGITS + 1];
	const struct dirent *entry;
	char *name;
	DIR *dir;

	/* One that stands beside another is removed by its own name. */
	if (strchr(sbuild_id, '.') || !build_id_cache__linkname(sbuild_id, path, sizeof(path)))
		return;
	name = strrchr(path, '/');
	*name++ = 0;
	dir = opendir(path);
	while (dir && (entry = readdir(dir)) != NULL) {
		if (!is_beside(entry, name))
			continue;
		scnprintf(full, sizeof(full), "%.2s%s", sbuild_id, entry->d_name);
		build_id_cache__remove_s(full);
	}
	if (dir)
		closedir(dir);
}

/* Of a file in another mount namespace: the right one of the cache, or by /proc/PID/root. */
static const char *in_own_namespace(struct dso *dso, struct hybrid_identity *identity)
{
	char path[PATH_MAX + 8], *chroot;

	if (identity->line_file)
		return identity->line_file;
	if (identity->folder) {
		scnprintf(path, sizeof(path), "%s/elf", identity->folder);
		identity->line_file = strdup(path);
		return identity->line_file;
	}
	chroot = dso__filename_with_chroot(dso, dso__long_name(dso));
	if (chroot && !identity->is_live && look_at(identity, chroot, NULL) != RIGHT)
		zfree(&chroot);
	identity->line_file = chroot;
	return chroot;
}

const char *hybrid_identity__line_file(struct dso *dso)
{
	struct hybrid_identity *identity = dso__identity(dso);
	static char names[64];

	if (hybrid_kept_names__path(dso__bid(dso), names, sizeof(names)))
		return names;
	if (!identity)
		return dso__long_name(dso);
	hybrid_identity__look(dso);
	/* It is opened in perf's own mount namespace, which may have another file at the path. */
	if (dso__nsinfo(dso) && nsinfo__need_setns(dso__nsinfo(dso)))
		return in_own_namespace(dso, identity);
	if (identity->at_path != WRONG)
		return dso__long_name(dso);
	return dso__symsrc_filename(dso);
}

#endif /* HAVE_DSO_IDENTITY */
