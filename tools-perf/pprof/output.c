// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>
#include "../debug.h"
#include "output.h"

/* For the signal handler; the memory is freed after this was cleared. */
static const char *remove_on_signal;

static void remove_and_die(int sig)
{
	const char *path = READ_ONCE(remove_on_signal);

	if (path)
		unlink(path);
	signal(sig, SIG_DFL);
	raise(sig);
}

static void catch_signals(void)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGTERM };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(signals); i++) {
		/* As nohup has it. */
		if (signal(signals[i], remove_and_die) == SIG_IGN)
			signal(signals[i], SIG_IGN);
	}
}

static int say(const struct pprof_output *output, const char *what, int error)
{
	pr_err("Failed to %s %s: %s\n", what, output->path, strerror(error));
	return -1;
}

static int open_temporary(struct pprof_output *output)
{
	mode_t mask = umask(0);
	int fd;

	umask(mask);
	if (asprintf(&output->temporary, "%s.XXXXXX", output->path) < 0) {
		output->temporary = NULL;
		errno = ENOMEM;
		return -1;
	}
	fd = mkstemp(output->temporary);
	if (fd < 0) {
		int error = errno;

		zfree(&output->temporary);
		errno = error;
		return -1;
	}
	/* mkstemp() made it the user's alone. */
	if (fchmod(fd, 0666 & ~mask))
		pr_debug("Failed to set the mode of %s\n", output->temporary);
	WRITE_ONCE(remove_on_signal, output->temporary);
	catch_signals();
	return fd;
}

int pprof_output__open(struct pprof_output *output, const char *path, bool force)
{
	struct stat st;
	bool exists;
	int fd;

	memset(output, 0, sizeof(*output));
	output->path = path;
	output->force = force;
	output->fd = -1;
	exists = !stat(path, &st);
	if (exists && !force) {
		pr_err("Output file %s exists. Use --force to overwrite it.\n", path);
		return -1;
	}
	if (exists && S_ISDIR(st.st_mode))
		return say(output, "write", EISDIR);
	/* A device or a pipe is not replaced. */
	if (exists && !S_ISREG(st.st_mode))
		fd = open(path, O_WRONLY | O_CLOEXEC);
	else
		fd = open_temporary(output);
	if (fd < 0)
		return say(output, "create", errno);
	/* gzclose() closes its own. */
	output->fd = dup(fd);
	if (output->fd >= 0)
		output->gz = gzdopen(fd, "wb");
	if (!output->gz) {
		close(fd);
		pprof_output__discard(output);
		return say(output, "write", ENOMEM);
	}
	return 0;
}

void pprof_output__write(struct pprof_output *output, const void *data, size_t size)
{
	int error;

	/* What gzwrite() takes at a time is an int's. */
	while (size && !output->error) {
		unsigned int some = min(size, (size_t)1 << 20);

		errno = 0;
		if (gzwrite(output->gz, data, some) != (int)some) {
			gzerror(output->gz, &error);
			output->error = error == Z_MEM_ERROR ? ENOMEM : errno ?: EIO;
		}
		data += some;
		size -= some;
	}
}

/* What is in the file is on the disk before its name is. */
static int finish(struct pprof_output *output)
{
	struct stat st;

	errno = 0;
	if (gzclose(output->gz) != Z_OK && !output->error)
		output->error = errno ?: EIO;
	output->gz = NULL;
	if (!output->error && output->temporary && fsync(output->fd))
		output->error = errno;
	if (!fstat(output->fd, &st))
		output->size = st.st_size;
	if (close(output->fd) && !output->error)
		output->error = errno;
	output->fd = -1;
	return output->error ? -1 : 0;
}

/* Without --force nothing that came meanwhile is replaced. */
static int move_to_place(const struct pprof_output *output)
{
	if (output->force)
		return rename(output->temporary, output->path);
	if (!link(output->temporary, output->path))
		return unlink(output->temporary);
	if (errno == EEXIST)
		return -1;
	/* Some filesystems have no links. */
	return rename(output->temporary, output->path);
}

int pprof_output__commit(struct pprof_output *output)
{
	if (finish(output)) {
		pprof_output__discard(output);
		return say(output, "write", output->error);
	}
	if (output->temporary && move_to_place(output)) {
		output->error = errno;
		pprof_output__discard(output);
		return say(output, "create", output->error);
	}
	WRITE_ONCE(remove_on_signal, NULL);
	zfree(&output->temporary);
	return 0;
}

void pprof_output__discard(struct pprof_output *output)
{
	if (output->gz)
		gzclose(output->gz);
	output->gz = NULL;
	if (output->fd >= 0)
		close(output->fd);
	output->fd = -1;
	if (!output->temporary)
		return;
	unlink(output->temporary);
	WRITE_ONCE(remove_on_signal, NULL);
	zfree(&output->temporary);
}
