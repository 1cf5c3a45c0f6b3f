// SPDX-License-Identifier: GPL-2.0
/*
 * The first program of a guest of scripts/vm.
 *
 * It mounts the host's root over read-only 9p, the project's out/ writable, and
 * what a running system has beside them, moves there, and runs one command.
 * The file /command beside it holds NUL-terminated strings: the project's
 * directory, that of out/, and the command with its arguments.
 *
 * The command's output goes through pipes of its own, so that a program may
 * open /dev/stdout again, to the virtio ports "stdout" and "stderr". The port
 * "status" gets the words "up" before and "exit N" after the command; only they
 * tell the host how the run went.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROOT		"/host"
#define P9_OPTIONS	"trans=virtio,version=9p2000.L,msize=512000,"
#define MAX_ARGS	1024

static void __attribute__((noreturn)) leave(void)
{
	sync();
	/* QEMU is told to end where a PC would start again. */
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

static void __attribute__((noreturn, format(printf, 1, 2)))
fail(const char *fmt, ...)
{
	int err = errno;
	va_list ap;

	fputs("vm-init: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, ": %s\n", strerror(err));
	leave();
}

static void make_dirs(const char *path)
{
	char copy[PATH_MAX];
	char *p;

	snprintf(copy, sizeof(copy), "%s", path);
	for (p = copy + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		mkdir(copy, 0755);
		*p = '/';
	}
	mkdir(copy, 0755);
}

static void do_mount(const char *what, const char *where, const char *type,
		     unsigned long flags, const char *options)
{
	if (mount(what, where, type, flags, options))
		fail("mount %s on %s", what, where);
}

/* What a kernel may have been built without, or a host have no directory for. */
static void try_mount(const char *type, const char *where, const char *options)
{
	mount(type, where, type, 0, options);
}

/* A file of the initramfs, whole, with a NUL behind it. */
static char *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "r");
	size_t alloc = 1 << 20;
	char *text = malloc(alloc);

	if (!file || !text)
		fail("%s", path);
	*size = fread(text, 1, alloc - 1, file);
	text[*size] = '\0';
	fclose(file);
	return text;
}

/* Modules for a kernel that has what we need as modules, in their order. */
static void load_modules(void)
{
	char *list, *path, *save = NULL;
	size_t size;
	int fd;

	if (access("/modules", F_OK))
		return;
	list = read_file("/modules", &size);
	for (path = strtok_r(list, "\n", &save); path;
	     path = strtok_r(NULL, "\n", &save)) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST))
			fail("module %s", path);
		close(fd);
	}
	free(list);
}

static bool port_is_named(const char *port, const char *name)
{
	char path[512], text[64] = "";
	int fd, len;

	snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name", port);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	return len > 0 && !strncmp(text, name, len - 1) && !name[len - 1];
}

/* The ports come up beside us: wait a while. */
static int open_port(const char *name)
{
	char path[512];
	struct dirent *entry;
	int tries, fd;
	DIR *dir;

	for (tries = 0; tries < 1000; tries++) {
		dir = opendir("/sys/class/virtio-ports");
		while (dir && (entry = readdir(dir))) {
			if (!port_is_named(entry->d_name, name))
				continue;
			snprintf(path, sizeof(path), "/dev/%s", entry->d_name);
			fd = open(path, O_WRONLY | O_CLOEXEC);
			if (fd >= 0) {
				closedir(dir);
				return fd;
			}
		}
		if (dir)
			closedir(dir);
		usleep(10000);
	}
	fail("no virtio port %s", name);
}

static void write_all(int fd, const char *data, size_t len)
{
	ssize_t n;

	while (len) {
		n = write(fd, data, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		data += n;
		len -= n;
	}
}

/*
 * The host's files, with what only a running system has. The project may lie
 * below a directory that gets a tmpfs: it is kept aside and put back.
 */
static void mount_all(const char *project, const char *out)
{
	static const char * const empty[] = { "/tmp", "/run", "/var/tmp", NULL };
	const char * const *dir;
	char path[PATH_MAX];

	make_dirs(ROOT);
	make_dirs("/project");
	do_mount("root", ROOT, "9p", MS_RDONLY, P9_OPTIONS "cache=loose");
	snprintf(path, sizeof(path), ROOT "%s", project);
	do_mount(path, "/project", NULL, MS_BIND, NULL);

	for (dir = empty; *dir; dir++) {
		snprintf(path, sizeof(path), ROOT "%s", *dir);
		if (!access(path, F_OK))
			do_mount("tmpfs", path, "tmpfs", 0, "mode=1777");
	}
	do_mount("proc", ROOT "/proc", "proc", 0, NULL);
	do_mount("sysfs", ROOT "/sys", "sysfs", 0, NULL);
	do_mount("devtmpfs", ROOT "/dev", "devtmpfs", 0, NULL);
	make_dirs(ROOT "/dev/pts");
	make_dirs(ROOT "/dev/shm");
	try_mount("devpts", ROOT "/dev/pts", NULL);
	try_mount("tmpfs", ROOT "/dev/shm", "mode=1777");
	try_mount("debugfs", ROOT "/sys/kernel/debug", NULL);
	try_mount("tracefs", ROOT "/sys/kernel/tracing", NULL);
	try_mount("bpf", ROOT "/sys/fs/bpf", NULL);
	try_mount("cgroup2", ROOT "/sys/fs/cgroup", NULL);

	snprintf(path, sizeof(path), ROOT "%s", project);
	if (access(path, F_OK)) {
		make_dirs(path);
		do_mount("/project", path, NULL, MS_BIND, NULL);
	}
	snprintf(path, sizeof(path), ROOT "%s", out);
	/* mmap: perf writes its files through a mapping. */
	do_mount("out", path, "9p", 0, P9_OPTIONS "cache=mmap");
}

static void enter(const char *project)
{
	/* Devtmpfs has no links of its own. */
	symlink("/proc/self/fd", ROOT "/dev/fd");
	symlink("/proc/self/fd/0", ROOT "/dev/stdin");
	symlink("/proc/self/fd/1", ROOT "/dev/stdout");
	symlink("/proc/self/fd/2", ROOT "/dev/stderr");
	if (chdir(ROOT))
		fail("chdir " ROOT);
	do_mount(".", "/", NULL, MS_MOVE, NULL);
	if (chroot("."))
		fail("chroot");
	if (chdir(project))
		fail("chdir %s", project);
}

static void loopback_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	ioctl(fd, SIOCSIFFLAGS, &ifr);
	close(fd);
}

/* SIGCHLD is only here to end a poll. */
static void on_child(int sig)
{
	(void)sig;
}

static pid_t start(char **argv, int out, int err)
{
	sigset_t none;
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	if (pid)
		return pid;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	execvp(argv[0], argv);
	fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

/* Copies what a pipe holds; false at its end. */
static bool forward(int from, int to)
{
	static char data[65536];
	ssize_t n = read(from, data, sizeof(data));

	if (n > 0)
		write_all(to, data, n);
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* Whether the command ended, with its status; orphans end unnoticed. */
static bool reap(pid_t command, int *status)
{
	bool ended = false;
	int st;
	pid_t pid;

	while ((pid = waitpid(-1, &st, WNOHANG)) > 0) {
		if (pid != command)
			continue;
		*status = WIFSIGNALED(st) ? 128 + WTERMSIG(st) : WEXITSTATUS(st);
		ended = true;
	}
	return ended;
}

static int run(char **argv, const int *ports)
{
	struct sigaction sa = { .sa_handler = on_child };
	struct pollfd fds[2];
	int pipes[2][2], status = 0, i;
	bool ended = false;
	sigset_t block, none;
	pid_t command;

	sigemptyset(&none);
	sigemptyset(&block);
	sigaddset(&block, SIGCHLD);
	sigprocmask(SIG_BLOCK, &block, NULL);
	sigaction(SIGCHLD, &sa, NULL);

	for (i = 0; i < 2; i++) {
		if (pipe2(pipes[i], O_CLOEXEC))
			fail("pipe");
		fcntl(pipes[i][0], F_SETFL, O_NONBLOCK);
		fds[i] = (struct pollfd){ .fd = pipes[i][0], .events = POLLIN };
	}
	command = start(argv, pipes[0][1], pipes[1][1]);
	for (i = 0; i < 2; i++)
		close(pipes[i][1]);

	/* What the command wrote before its end is in the pipes by then. */
	while (!ended) {
		ended = reap(command, &status);
		if (!ended)
			ppoll(fds, 2, NULL, &none);
		for (i = 0; i < 2; i++) {
			if (fds[i].fd >= 0 && !forward(fds[i].fd, ports[i]))
				fds[i].fd = -1;
		}
	}
	for (i = 0; i < 2; i++) {
		while (fds[i].fd >= 0 && poll(&fds[i], 1, 0) > 0 &&
		       forward(fds[i].fd, ports[i]))
			;
	}
	return status;
}

int main(void)
{
	char *text, *argv[MAX_ARGS + 1], *p, word[32];
	int ports[2], status_port, argc = 0, status;
	size_t size;

	mkdir("/dev", 0755);
	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	/* The kernel gave us no console where /dev/console was not there yet. */
	if (freopen("/dev/console", "w", stderr))
		setvbuf(stderr, NULL, _IOLBF, 0);

	load_modules();
	text = read_file("/command", &size);
	for (p = text; p < text + size && argc < MAX_ARGS; p += strlen(p) + 1)
		argv[argc++] = p;
	argv[argc] = NULL;
	if (argc < 3)
		fail("/command has %d strings", argc);

	ports[0] = open_port("stdout");
	ports[1] = open_port("stderr");
	status_port = open_port("status");
	mount_all(argv[0], argv[1]);
	enter(argv[0]);
	loopback_up();
	sethostname("vm", 2);
	setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
	/* The host's home is read-only, and perf keeps a cache there. */
	mkdir("/tmp/home", 0755);
	setenv("HOME", "/tmp/home", 1);
	setenv("VM", "1", 1);

	write_all(status_port, "up\n", 3);
	status = run(argv + 2, ports);
	sync();
	snprintf(word, sizeof(word), "exit %d\n", status);
	write_all(status_port, word, strlen(word));
	leave();
}
