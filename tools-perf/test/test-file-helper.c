// SPDX-License-Identifier: GPL-2.0
/*
 * What a helper says of the files that it opens, copies and reads. The test is in place of perf.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "content.h"
#include "elf-file.h"
#include "file-helper.h"
#include "file-id.h"
#include "tap.h"

/* On a file system that is not local, and no ELF file: its first bytes are copied. */
#define NOTES	"/sys/kernel/notes"
#define COPIED	64

/* Where the helper has an overlay. */
#define AT	"/mnt"
#define TEXT	"It is on an overlay, and longer than what is copied of a file that is no ELF file."

/* What can't be opened, and nobody says why. */
#define NO_ERROR	"/no/error"

/* Of no process. */
#define NO_PID	0x7fffffff

/* A helper's socket, and the first process. */
static int helper = -1;
static pid_t first;

/*
 * As perf's, it may open something else first: then the file is descriptor 0, or what is opened
 * after it.
 */
static int open_file(const struct hybrid_mapping *mapping)
{
	static unsigned int nr;
	const char *path = mapping->object->ident.path;
	int other, fd, err;

	if (!strcmp(path, NO_ERROR))
		return -1;
	other = nr++ % 2 ? open("/", O_PATH | O_CLOEXEC) : -1;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	err = errno;
	close(other);
	errno = err;
	return fd;
}

static bool say(const void *data, size_t size, const int *fds)
{
	return check(!hybrid_helper_send(helper, data, size, fds));
}

static struct hybrid_helper_answer hear(int *fds)
{
	struct hybrid_helper_answer answer = {};

	same(hybrid_helper_receive(helper, &answer, sizeof(answer), fds, 0), sizeof(answer));
	return answer;
}

/* Whether that is all about a file. */
static bool is_ready(void)
{
	int fds[2];

	return hear(fds).is_ready && fds[0] < 0 && fds[1] < 0;
}

/* A helper; before that its process does what it needs. False: it can't. */
static bool start(bool (*prepare)(void))
{
	int sockets[2], fds[2] = { -1, -1 }, to_first[2];
	char byte;

	check(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, to_first));
	first = fork();
	if (!first) {
		/* A helper closes this: it has no descriptor 0 then. */
		if (to_first[1] != STDIN_FILENO)
			dup2(to_first[1], STDIN_FILENO);
		if (prepare && !prepare())
			_exit(1);
		hybrid_helper_send(STDIN_FILENO, "", 1, NULL);
		hybrid_helper_main(STDIN_FILENO, open_file);
	}
	close(to_first[1]);
	if (hybrid_helper_receive(to_first[0], &byte, 1, fds, 0) != 1) {
		close(to_first[0]);
		waitpid(first, NULL, 0);
		return false;
	}
	check(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets));
	fds[0] = sockets[1];
	check(!hybrid_helper_send(to_first[0], "", 1, fds));
	close(sockets[1]);
	close(to_first[0]);
	helper = sockets[0];
	check(is_ready());
	return true;
}

/* When nobody has anything to say to it, a helper ends, as does the first process. */
static void end(void)
{
	struct hybrid_helper_answer answer;
	int fds[2];

	shutdown(helper, SHUT_WR);
	same(hybrid_helper_receive(helper, &answer, sizeof(answer), fds, 0), 0);
	close(helper);
	same(waitpid(first, NULL, 0), first);
}

static void ask(u32 kind, const char *path, pid_t pid, const struct hybrid_file_id *file)
{
	static struct hybrid_helper_request request;

	memset(&request, 0, sizeof(request));
	request.kind = kind;
	request.mapping.pid = pid;
	if (file)
		request.file = *file;
	strcpy(request.path, path);
	say(&request, sizeof(request), NULL);
}

/* So many bytes may be copied or read. */
static void allow(u64 most)
{
	static struct hybrid_helper_request request = { .kind = HYBRID_HELPER_GO };

	request.most = most;
	say(&request, sizeof(request), NULL);
}

/* What is opened, or can't be. */
static void opened(void)
{
	struct hybrid_helper_answer answer;
	struct stat st;
	int fds[2];

	check(start(NULL));
	ask(HYBRID_HELPER_OPEN, "/nothing/there", getpid(), NULL);
	same(hear(fds).error, ENOENT);
	check(fds[0] < 0 && is_ready());
	/* The error of the file before is not taken for that of the next one. */
	ask(HYBRID_HELPER_OPEN, NO_ERROR, getpid(), NULL);
	same(hear(fds).error, ENOENT);
	check(fds[0] < 0 && is_ready());
	ask(HYBRID_HELPER_OPEN, elf_file_path("small.so"), getpid(), NULL);
	answer = hear(fds);
	check(!answer.error && !answer.needed && !answer.is_copy && !answer.has_file);
	check(!fstat(fds[0], &st) && fds[1] < 0);
	same(answer.dev, st.st_dev);
	close(fds[0]);
	check(is_ready());
	end();
}

/* The copy of a file has no more than that; the helper goes on, whatever becomes of it. */
static void copied(void)
{
	struct hybrid_helper_answer answer;
	unsigned int i;
	int fds[2];

	if (access(NOTES, R_OK))
		return;
	check(start(NULL));
	for (i = 0; i < 5; i++) {
		ask(HYBRID_HELPER_OPEN, NOTES, getpid(), NULL);
		answer = hear(fds);
		check(!answer.error && fds[0] < 0);
		same(answer.needed, COPIED);
		allow(i < 2 ? COPIED : i == 2 ? 0 : i == 3 ? COPIED - 1 : 1);
		if (i != 2) {
			answer = hear(fds);
			check(answer.is_copy && !answer.has_file && !answer.is_ready);
			same(answer.error, i < 2 ? 0 : EIO);
			same(fds[0] >= 0, i < 2);
			same(fds[1], -1);
			close(fds[0]);
		}
		check(is_ready());
	}
	/* It has nothing to be copied. */
	ask(HYBRID_HELPER_OPEN, "/proc/self", getpid(), NULL);
	answer = hear(fds);
	same(answer.error, EIO);
	check(!answer.needed && fds[0] < 0 && is_ready());
	end();
}

/* A helper ends if it is answered by something else. */
static void answered_wrongly(void)
{
	if (access(NOTES, R_OK))
		return;
	check(start(NULL));
	ask(HYBRID_HELPER_OPEN, NOTES, getpid(), NULL);
	same(hear((int [2]) {}).needed, COPIED);
	say("", 1, NULL);
	end();
}

static void digests(void)
{
	const char *path = elf_file_path("small.so");
	int file = open(path, O_RDONLY | O_CLOEXEC), fds[2];
	u8 expected[HYBRID_DIGEST_SIZE];
	struct hybrid_helper_answer answer;
	struct hybrid_file_id id = {};
	unsigned int i;

	check(!hybrid_content_digest(file, expected) && !hybrid_file_id_read(file, &id));
	check(start(NULL));
	for (i = 0; i < 3; i++) {
		/* The last time it is another file. */
		id.ino += i == 2;
		ask(HYBRID_HELPER_DIGEST, path, getpid(), &id);
		answer = hear(fds);
		same(answer.needed, lseek(file, 0, SEEK_END));
		allow(i ? answer.needed : 0);
		if (i) {
			answer = hear(fds);
			same(answer.error, i == 2 ? ESTALE : 0);
			check(!memcmp(answer.digest, expected, sizeof(expected)));
			check(fds[0] < 0 && !answer.is_ready);
		}
		check(is_ready());
	}
	close(file);
	end();
}

static bool mount_overlay(void)
{
	int fd;

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", AT, "tmpfs", 0, NULL) || mkdir(AT "/a", 0700) || mkdir(AT "/b", 0700))
		return false;
	fd = open(AT "/a/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, TEXT, strlen(TEXT)) != (ssize_t)strlen(TEXT))
		return false;
	close(fd);
	return !mount("none", AT, "overlay", 0, "lowerdir=" AT "/a:" AT "/b");
}

/* A file that root's overlay has comes with its copy, unless it can't be copied. */
static void on_overlay(void)
{
	static const struct {
		pid_t	pid;
		u64	most;
		bool	has_file;
	} cases[] = { { 0, COPIED, true }, { NO_PID, COPIED, false }, { 0, COPIED - 1, false } };
	struct hybrid_helper_answer answer;
	unsigned int i;
	struct stat st;
	char byte;
	int fds[2];

	if (!start(mount_overlay))
		return;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		ask(HYBRID_HELPER_OPEN, AT "/file", cases[i].pid ?: getpid(), NULL);
		same(hear(fds).needed, COPIED);
		allow(cases[i].most);
		answer = hear(fds);
		same(answer.has_file, cases[i].has_file);
		same(fds[0] >= 0, cases[i].most == COPIED);
		same(fds[1] >= 0, cases[i].has_file);
		if (fds[1] >= 0) {
			/* The copy has no more than is read, and the file has all. */
			check(pread(fds[0], &byte, 1, COPIED) == 1 && !byte);
			check(pread(fds[1], &byte, 1, COPIED) == 1 && byte == TEXT[COPIED]);
			check(!fstat(fds[1], &st));
			same(answer.ctime.tv_sec, st.st_ctim.tv_sec);
			same(answer.ctime.tv_nsec, st.st_ctim.tv_nsec);
		}
		close(fds[0]);
		close(fds[1]);
		check(is_ready());
	}
	end();
}

static int peer = -1;

static void send_byte(int signal __maybe_unused)
{
	hybrid_helper_send(peer, "a", 1, NULL);
}

/*
 * A signal does not end the wait for a message: its handler sends it. What is no socket has no
 * messages, and without one there is nothing to wait for.
 */
static void interrupted(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	const struct itimerspec soon = { .it_value = { .tv_nsec = 10000000 } };
	const struct sigaction action = { .sa_handler = send_byte };
	timer_t timer;
	int sockets[2], fds[2], fd = open("/", O_RDONLY | O_CLOEXEC);
	char byte = 0;

	same(hybrid_helper_receive(fd, &byte, 1, fds, 0), (u64)-1);
	same(errno, ENOTSOCK);
	close(fd);
	check(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets));
	same(hybrid_helper_receive(sockets[0], &byte, 1, fds, MSG_DONTWAIT), (u64)-1);
	same(errno, EAGAIN);
	peer = sockets[1];
	check(!sigaction(SIGUSR1, &action, NULL));
	check(!timer_create(CLOCK_MONOTONIC, &event, &timer));
	check(!timer_settime(timer, 0, &soon, NULL));
	same(hybrid_helper_receive(sockets[0], &byte, 1, fds, 0), 1);
	same(byte, 'a');
	check(fds[0] < 0 && fds[1] < 0);
	timer_delete(timer);
	close(sockets[0]);
	close(sockets[1]);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "helper: files that are opened", opened },
		{ "helper: copies", copied },
		{ "helper: a wrong answer", answered_wrongly },
		{ "helper: a signal while it waits", interrupted },
		{ "helper: digests", digests },
		{ "helper: files on an overlay", on_overlay },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
