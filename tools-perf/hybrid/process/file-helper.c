// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <linux/kernel.h>
#include <linux/magic.h>
#include "../rules/debug-file.h"
#include "file-copy.h"
#include "file-helper.h"
#include "mount.h"

int hybrid_helper_send(int socket, const void *data, size_t size, const int *fds)
{
	char control[CMSG_SPACE(2 * sizeof(int))] = {};
	struct iovec part = { .iov_base = (void *)data, .iov_len = size };
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *cmsg;
	unsigned int nr = 0;

	while (fds && nr < 2 && fds[nr] >= 0)
		nr++;
	if (nr) {
		msg.msg_control = control;
		msg.msg_controllen = CMSG_SPACE(nr * sizeof(int));
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(nr * sizeof(int));
		memcpy(CMSG_DATA(cmsg), fds, nr * sizeof(int));
	}
	return sendmsg(socket, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)size ? 0 : -1;
}

ssize_t hybrid_helper_receive(int socket, void *data, size_t size, int *fds, int flags)
{
	char control[CMSG_SPACE(2 * sizeof(int))];
	struct iovec part = { .iov_base = data, .iov_len = size };
	struct msghdr msg = {
		.msg_iov = &part, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg;
	ssize_t got;

	fds[0] = -1;
	fds[1] = -1;
	do {
		got = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC | flags);
	} while (got < 0 && errno == EINTR && !(flags & MSG_DONTWAIT));
	cmsg = got > 0 ? CMSG_FIRSTHDR(&msg) : NULL;
	if (cmsg && cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_RIGHTS)
		memcpy(fds, CMSG_DATA(cmsg),
		       min_t(size_t, 2 * sizeof(int), cmsg->cmsg_len - CMSG_LEN(0)));
	return got;
}

/*
 * May perf map the file and close it? Whoever mounted what lies below an overlay may let close()
 * wait for ever: root is trusted not to.
 */
static bool is_roots_overlay(int fd, pid_t pid)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && (u32)fs.f_type == OVERLAYFS_SUPER_MAGIC &&
	       hybrid_mounts_are_own(pid);
}

static bool is_changed(int fd, const struct stat *before)
{
	struct stat now;

	return fstat(fd, &now) || now.st_ctim.tv_sec != before->st_ctim.tv_sec ||
	       now.st_ctim.tv_nsec != before->st_ctim.tv_nsec;
}

/* May so many bytes be copied or read? Returns 0 if not; negative: the connection is closed. */
static s64 ask(int socket, u64 needed)
{
	struct hybrid_helper_answer answer = { .needed = needed, .error = needed ? 0 : EIO };
	static struct hybrid_helper_request go;
	int fds[2];

	if (hybrid_helper_send(socket, &answer, sizeof(answer), NULL))
		return -1;
	if (answer.error)
		return 0;
	if (hybrid_helper_receive(socket, &go, sizeof(go), fds, 0) != sizeof(go))
		return -1;
	return go.most;
}

static int copy(int socket, const struct hybrid_helper_request *request, int fd)
{
	struct hybrid_helper_answer answer = { .is_copy = true };
	s64 most = ask(socket, hybrid_copy_size(fd));
	int fds[2] = { -1, -1 };
	struct stat st;

	if (most <= 0)
		return most;
	fds[0] = fstat(fd, &st) ? -1 : hybrid_copy(fd, most);
	if (fds[0] < 0) {
		answer.error = EIO;
	} else if (!is_changed(fd, &st) && is_roots_overlay(fd, request->mapping.pid)) {
		answer.has_file = true;
		answer.ctime = st.st_ctim;
		fds[1] = fd;
	}
	if (hybrid_helper_send(socket, &answer, sizeof(answer), fds))
		return -1;
	if (fds[0] >= 0)
		close(fds[0]);
	return 0;
}

static int digest(int socket, const struct hybrid_helper_request *request, int fd)
{
	struct hybrid_helper_answer answer = {};
	struct stat st;
	s64 most = ask(socket, fstat(fd, &st) ? 0 : st.st_size);

	if (most <= 0)
		return most;
	answer.error = -hybrid_content_digest(fd, answer.digest);
	if (!answer.error && !hybrid_file_id_is_of(&request->file, fd))
		answer.error = ESTALE;
	return hybrid_helper_send(socket, &answer, sizeof(answer), NULL);
}

static int serve(int socket, struct hybrid_helper_request *request, hybrid_open_fn open)
{
	struct hybrid_helper_answer answer = {};
	struct hybrid_object object = { .ident = request->ident, .file = request->file };
	int fds[2] = { -1, -1 }, err = 0;
	struct stat st;

	request->path[sizeof(request->path) - 1] = 0;
	object.ident.path = request->path;
	request->mapping.object = &object;
	request->mapping.record = NULL;
	if (request->kind == HYBRID_HELPER_DEBUG)
		fds[0] = hybrid_debuginfod_find(object.ident.build_id, object.ident.build_id_size);
	else
		fds[0] = open(&request->mapping);
	if (fds[0] < 0)
		answer.error = errno ?: ENOENT;
	else if (request->kind == HYBRID_HELPER_DIGEST)
		err = digest(socket, request, fds[0]);
	else if (!hybrid_file_is_local(fds[0]))
		err = copy(socket, request, fds[0]);
	else if (!fstat(fds[0], &st))
		answer.dev = st.st_dev;
	if (answer.error || answer.dev)
		err = hybrid_helper_send(socket, &answer, sizeof(answer), fds);
	if (fds[0] >= 0)
		close(fds[0]);
	return err;
}

static int say_ready(int socket)
{
	const struct hybrid_helper_answer answer = { .is_ready = true };

	return hybrid_helper_send(socket, &answer, sizeof(answer), NULL);
}

static void work(int socket, hybrid_open_fn open) __attribute__((noreturn));

static void work(int socket, hybrid_open_fn open)
{
	static struct hybrid_helper_request request;
	int fds[2];

	while (!say_ready(socket) &&
	       hybrid_helper_receive(socket, &request, sizeof(request), fds, 0) ==
	       sizeof(request)) {
		errno = 0;
		if (serve(socket, &request, open))
			break;
	}
	_exit(0);
}

void hybrid_helper_main(int socket, hybrid_open_fn open)
{
	int fds[2];
	char byte;

	/* The other end of the socket may be among them. */
	if (socket > 3)
		syscall(__NR_close_range, 3, socket - 1, 0);
	syscall(__NR_close_range, socket + 1, ~0U, 0);
	/* perf says when it is over. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);
	while (hybrid_helper_receive(socket, &byte, sizeof(byte), fds, 0) == sizeof(byte)) {
		if (fds[0] >= 0 && !fork()) {
			close(socket);
			work(fds[0], open);
		}
		if (fds[0] >= 0)
			close(fds[0]);
	}
	_exit(0);
}
