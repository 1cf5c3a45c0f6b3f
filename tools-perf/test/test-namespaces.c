// SPDX-License-Identifier: GPL-2.0
/*
 * Processes with other users, and in namespaces of their own: whose share their files are of, and
 * whether their mounts are of somebody in perf's own user namespace.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/wait.h>
#include "abi.h"
#include "file-user.h"
#include "mount.h"
#include "tap.h"

/* Users that are nobody's here. */
#define USER	12345
#define OTHER	12346

static struct hybrid_file_budget budget;
static struct hybrid_objects objects;
static struct hybrid_object *object;

static uid_t user_of(const struct hybrid_mapping *mapping)
{
	return hybrid_file_user_of(mapping)->uid;
}

static uid_t user_of_pid(pid_t pid)
{
	const struct hybrid_mapping mapping = { .object = object, .pid = pid };

	return user_of(&mapping);
}

/* A child that has become something, and waits for its end; 0: it may not. */
static pid_t start(bool (*become)(void))
{
	int ends[2];
	char is_so = 0;
	pid_t pid;

	if (pipe(ends))
		return 0;
	pid = fork();
	if (!pid) {
		is_so = become();
		if (write(ends[1], &is_so, 1) == 1)
			pause();
		_exit(0);
	}
	if (pid < 0 || read(ends[0], &is_so, 1) != 1)
		is_so = 0;
	close(ends[0]);
	close(ends[1]);
	if (pid > 0 && !is_so) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return is_so ? pid : 0;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static bool stay(void)
{
	return true;
}

/* As of a program with the set-user-ID bit. */
static bool have_real_uid(void)
{
	return !setresuid(USER, geteuid(), geteuid());
}

static bool have_user_namespace(void)
{
	return !unshare(CLONE_NEWUSER);
}

static bool have_mount_namespace(void)
{
	return !unshare(CLONE_NEWNS);
}

static bool have_both(void)
{
	return !unshare(CLONE_NEWUSER | CLONE_NEWNS);
}

/* The users or groups of a process's namespace are the same ones outside. */
static bool map_ids(pid_t pid, const char *file)
{
	static const char map[] = "0 0 65536";
	char path[32];
	bool is_mapped;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	is_mapped = fd >= 0 && write(fd, map, strlen(map)) == (ssize_t)strlen(map);
	close(fd);
	return is_mapped;
}

/* When there is a byte. */
static bool map_users(pid_t pid, int start)
{
	char byte;

	return read(start, &byte, 1) == 1 && map_ids(pid, "uid_map") && map_ids(pid, "gid_map");
}

/* Only who is outside may map more than one user. */
static bool have_mapped_namespace(void)
{
	pid_t pid = getpid(), outside;
	int ends[2], status = 1;

	if (pipe(ends))
		return false;
	outside = fork();
	if (!outside)
		_exit(!map_users(pid, ends[0]));
	if (!have_user_namespace() || write(ends[1], "", 1) != 1)
		kill(outside, SIGKILL);
	waitpid(outside, &status, 0);
	return !status;
}

static bool have_user_in_namespace(void)
{
	return have_mapped_namespace() && !setresuid(USER, USER, USER);
}

static bool have_nested(void)
{
	return have_user_in_namespace() && have_user_namespace();
}

/* Made by another user, who is the owner. */
static bool have_other_owner(void)
{
	return !setresuid(OTHER, OTHER, OTHER) && have_user_namespace();
}

static void users(void)
{
	struct {
		bool	(*become)(void);
		uid_t	user;
	} const cases[] = {
		{ stay, getuid() }, { have_real_uid, USER }, { have_user_namespace, geteuid() },
		{ have_user_in_namespace, geteuid() }, { have_nested, geteuid() },
		{ have_other_owner, OTHER }, { have_mount_namespace, getuid() },
	};
	unsigned int i;
	pid_t pid;

	same(user_of_pid(getpid()), getuid());
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		pid = start(cases[i].become);
		if (!pid)
			continue;
		same(user_of_pid(pid), cases[i].user);
		end(pid);
	}
	objects.budget = NULL;
	check(!hybrid_file_user_of(&(struct hybrid_mapping) { .object = object }));
	objects.budget = &budget;
}

/* The nearest ancestor that is there still. */
static void ancestors(void)
{
	struct hybrid_mapping mapping = { .object = object };
	pid_t gone = start(stay), there;
	unsigned int i;

	end(gone);
	there = start(have_real_uid);
	mapping.pid = gone;
	same(user_of(&mapping), HYBRID_FILE_NOBODY);
	for (i = 0; i < HYBRID_NR_ANCESTORS; i++) {
		mapping.ancestors[i] = getpid();
		same(user_of(&mapping), getuid());
		mapping.ancestors[i] = gone;
		same(user_of(&mapping), HYBRID_FILE_NOBODY);
	}
	if (!there)
		return;
	mapping.ancestors[1] = there;
	mapping.ancestors[2] = getpid();
	same(user_of(&mapping), USER);
	mapping.pid = getpid();
	same(user_of(&mapping), getuid());
	end(there);
}

static void mounts(void)
{
	struct {
		bool	(*become)(void);
		bool	are_own;
	} const cases[] = {
		{ stay, true }, { have_mount_namespace, true }, { have_both, false },
		{ have_user_namespace, true },
	};
	unsigned int i;
	pid_t pid;
	int fd;

	check(hybrid_mounts_are_own(getpid()));
	/* Of no process, whatever the descriptor 0 is, which stays open. */
	fd = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
	same(fd, 0);
	check(!hybrid_mounts_are_own(0x7fffffff));
	check(!close(fd));
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		pid = start(cases[i].become);
		if (!pid)
			continue;
		same(hybrid_mounts_are_own(pid), cases[i].are_own);
		end(pid);
		/* It is gone. */
		check(!hybrid_mounts_are_own(pid));
	}
}

/* By what the file system says of itself. */
static void local_files(void)
{
	int fd = memfd_create("test", MFD_CLOEXEC), ends[2];

	check(hybrid_file_is_local(fd));
	close(fd);
	check(!hybrid_file_is_local(fd));
	fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	check(fd >= 0 && !hybrid_file_is_local(fd));
	close(fd);
	check(!pipe(ends) && !hybrid_file_is_local(ends[0]));
	close(ends[0]);
	close(ends[1]);
}

/* Where children mount something in a namespace of their own. */
#define AT	"/mnt"

static bool mount_there(int namespaces, const char *type, const char *options)
{
	return !unshare(namespaces) && !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("none", AT, type, 0, options);
}

static bool have_own_terminals(void)
{
	return mount_there(CLONE_NEWNS, "devpts", NULL);
}

static bool have_terminals(void)
{
	return mount_there(CLONE_NEWUSER | CLONE_NEWNS, "devpts", "newinstance");
}

static bool have_memory(void)
{
	return mount_there(CLONE_NEWUSER | CLONE_NEWNS, "tmpfs", NULL);
}

/* Nobody serves it. */
static bool have_fuse(void)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[64];

	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	return fd >= 0 && mount_there(CLONE_NEWNS, "fuse", options);
}

/* In the process's own mounts. */
static bool fuse_is_at_hand(void)
{
	return have_fuse() && hybrid_path_is_at_hand(AT, 0);
}

/*
 * What is in another mount namespace is at hand if it is local, or if somebody in perf's own user
 * namespace has mounted it; FUSE never is.
 */
static void at_hand(void)
{
	struct {
		bool	(*become)(void);
		bool	is_at_hand;
	} const cases[] = {
		{ have_own_terminals, true }, { have_terminals, false }, { have_memory, true },
		{ have_fuse, false },
	};
	unsigned int i;
	pid_t pid;

	/* Whatever file system it is, and whether it is there. */
	check(hybrid_path_is_at_hand("/proc/self/maps", 0));
	check(hybrid_path_is_at_hand("/proc/self/none", 0));
	check(hybrid_path_is_at_hand("/none/at/all", getpid()));
	check(!start(fuse_is_at_hand));
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		pid = start(cases[i].become);
		if (!pid)
			continue;
		check(hybrid_path_is_at_hand(AT, 0));
		same(hybrid_path_is_at_hand(AT, pid), cases[i].is_at_hand);
		end(pid);
	}
}

/* What the next function finds on its stack is not 0. */
static noinline void use_stack(void)
{
	u64 words[512];
	unsigned int i;

	check(getrandom(words, sizeof(words), 0) == sizeof(words));
	for (i = 0; i < ARRAY_SIZE(words); i++)
		check(words[i]);
}

static void local_mounts(void)
{
	int fd = memfd_create("test", MFD_CLOEXEC), ends[2], other;
	pid_t pid;
	char path[32];

	/* It is on no mount that anybody sees. */
	check(hybrid_mount_is_local(fd, getpid()));
	check(hybrid_device_of(fd));
	/* Descriptor 0 is free, or not. */
	other = dup(fd);
	close(fd);
	check(!fd && other > 0 && hybrid_mount_is_local(other, getpid()));
	check(fcntl(0, F_GETFD) < 0);
	close(other);
	check(!hybrid_mount_is_local(-1, getpid()));
	same(hybrid_device_of(-1), 0);
	use_stack();
	same(hybrid_mount_id(-1), 0);
	fd = open("/proc/self/maps", O_PATH | O_CLOEXEC);
	check(!hybrid_mount_is_local(fd, getpid()));
	close(fd);
	check(!pipe(ends) && !hybrid_mount_is_local(ends[0], getpid()));
	close(ends[0]);
	close(ends[1]);
	pid = start(have_memory);
	if (!pid)
		return;
	snprintf(path, sizeof(path), "/proc/%d/root" AT, pid);
	fd = open(path, O_PATH | O_CLOEXEC);
	check(hybrid_mount_is_local(fd, pid));
	/* The mounts of another process do not have it. */
	check(!hybrid_mount_is_local(fd, getpid()));
	close(fd);
	end(pid);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "namespaces: whose share files are of", users },
		{ "namespaces: of a process that is gone", ancestors },
		{ "namespaces: whose mounts they are", mounts },
		{ "namespaces: files on disks and in memory", local_files },
		{ "namespaces: paths that lead to other mounts", at_hand },
		{ "namespaces: mounts on disks and in memory", local_mounts },
	};
	struct hybrid_ident ident = { .path = "/file" };
	int status;

	hybrid_file_budget_init(&budget);
	hybrid_objects_init(&objects, NULL, hybrid_x86_abi);
	objects.budget = &budget;
	object = hybrid_object_get(&objects, &ident);
	if (!object)
		return 2;
	status = tap_run(tests, ARRAY_SIZE(tests));
	hybrid_object_put(object);
	hybrid_objects_exit(&objects);
	return status;
}
