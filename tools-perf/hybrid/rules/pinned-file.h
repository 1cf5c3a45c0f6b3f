/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_PINNED_FILE_H
#define __PERF_HYBRID_PINNED_FILE_H

#include <stdbool.h>
#include <time.h>

/**
 * struct hybrid_pinned_file - a file that can't become another one
 * @page: a page of it, mapped and never read: the kernel keeps the file for as long, and
 *	can be asked what mappings of it show; NULL: it is not held
 * @ctime: of the file, when that was read
 * @copied: what is read is a copy, made when that was its ctime
 */
struct hybrid_pinned_file {
	void		*page;
	struct timespec	 ctime;
	bool		 copied;
};

/**
 * hybrid_pin_file - hold a file as it is now
 * @hold: of nothing; or of that file, as it was before
 * @fd: of the file
 *
 * Return: 0, or a negative errno.
 */
int hybrid_pin_file(struct hybrid_pinned_file *hold, int fd);

/**
 * hybrid_pin_again - hold the file of another struct hybrid_pinned_file
 * @hold: out: the same file, with the ctime that @other has
 * @other: one that holds a file
 *
 * Does not wait for the file system.
 *
 * Return: 0, or a negative errno.
 */
int hybrid_pin_again(struct hybrid_pinned_file *hold, const struct hybrid_pinned_file *other);

/* Has the file of that descriptor changed since it is held? Its file system may be asked. */
bool hybrid_pinned_file_changed(const struct hybrid_pinned_file *hold, int fd);

void hybrid_unpin_file(struct hybrid_pinned_file *hold);

#endif /* __PERF_HYBRID_PINNED_FILE_H */
