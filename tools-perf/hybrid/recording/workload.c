// SPDX-License-Identifier: GPL-2.0
/*
 * The command that perf record is about to run. If it is an interpreter BPF is told before it
 * begins, so that its first samples have functions, too.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <internal/lib.h>
#include <linux/kernel.h>
#include "../../build-id.h"
#include "../../event.h"
#include "../../symbol.h"
#include "../process/command.h"
#include "../runtime/runtime.h"
#include "recording.h"

/* For how long, in ms, the command has to wait. The compiler takes about 2 ms. */
#define WAIT_MS		200

/**
 * struct workload - a command that is looked at
 * @hr: the recording
 * @load: all rules of an interpreter and of libc are loaded, too
 * @is_told: BPF was told of an interpreter
 */
struct workload {
	struct hybrid_record	*hr;
	bool			 load;
	bool			 is_told;
};

/* perf's record of a mapping, as the kernel would have it. */
static void set_event(struct perf_record_mmap2 *event, const struct stat *st, void *at,
		      const char *path)
{
	struct build_id bid;

	event->header.type = PERF_RECORD_MMAP2;
	event->header.misc = PERF_RECORD_MISC_USER;
	event->pid = getpid();
	event->start = (uintptr_t)at;
	event->len = PERF_ALIGN(st->st_size, page_size);
	event->prot = PROT_READ | PROT_EXEC;
	snprintf(event->filename, sizeof(event->filename), "%s", path);
	if (filename__read_build_id(path, &bid) > 0) {
		event->header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
		event->build_id_size = bid.size;
		memcpy(event->build_id, bid.data, sizeof(event->build_id));
		return;
	}
	event->maj = major(st->st_dev);
	event->min = minor(st->st_dev);
	event->ino = st->st_ino;
}

/* perf maps the file itself meanwhile: that shows which one it is, as for any other process. */
static void tell_file(struct workload *workload, const char *path)
{
	struct perf_record_mmap2 *event = calloc(1, sizeof(*event));
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	void *at = MAP_FAILED;
	struct stat st;

	if (event && fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode))
		at = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at != MAP_FAILED) {
		set_event(event, &st, at, path);
		workload->is_told |= hybrid_early_tell(workload->hr, event, workload->load);
		munmap(at, st.st_size);
	}
	if (fd >= 0)
		close(fd);
	free(event);
}

static bool is_libc(const char *path)
{
	return strstarts(strrchr(path, '/') ?: path, "/libc.so.");
}

static void tell_library(void *arg, const char *path)
{
	struct workload *workload = arg;

	if (hybrid_runtime_is_likely(path) || (workload->load && is_libc(path)))
		tell_file(workload, path);
}

void hybrid_record__command(struct hybrid_record *hr, const char *name)
{
	struct workload workload = { .hr = hr };
	char path[PATH_MAX];

	if (!hr || !hr->walker.bpf || !hr->walker.compiler || hr->names.is_off ||
	    hybrid_command_program(name, path))
		return;
	workload.load = hybrid_runtime_is_likely(path);
	if (workload.load)
		tell_file(&workload, path);
	/* Of a library that is an interpreter; or of libc. */
	hybrid_command_libraries(path, tell_library, &workload);
	if (!workload.is_told)
		return;
	hybrid_compiler_hand_over(hr->walker.compiler);
	hybrid_compiler_wait(hr->walker.compiler, WAIT_MS);
}
