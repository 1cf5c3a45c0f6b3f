// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "pinned-file.h"

int hybrid_pin_file(struct hybrid_pinned_file *hold, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	hold->ctime = st.st_ctim;
	if (hold->page)
		return 0;
	/* Shared, because hybrid_pin_again() maps the page again without a descriptor. */
	hold->page = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
	if (hold->page != MAP_FAILED)
		return 0;
	hold->page = NULL;
	return -errno;
}

/* mremap() with an old size of 0 makes a second mapping of the same pages: mremap(2). */
int hybrid_pin_again(struct hybrid_pinned_file *hold, const struct hybrid_pinned_file *other)
{
	*hold = *other;
	hold->page = mremap(other->page, 0, sysconf(_SC_PAGESIZE), MREMAP_MAYMOVE);
	if (hold->page != MAP_FAILED)
		return 0;
	hold->page = NULL;
	return -errno;
}

bool hybrid_pinned_file_changed(const struct hybrid_pinned_file *hold, int fd)
{
	struct stat st;

	return fstat(fd, &st) || st.st_ctim.tv_sec != hold->ctime.tv_sec ||
	       st.st_ctim.tv_nsec != hold->ctime.tv_nsec;
}

void hybrid_unpin_file(struct hybrid_pinned_file *hold)
{
	if (hold->page)
		munmap(hold->page, sysconf(_SC_PAGESIZE));
	hold->page = NULL;
}
