/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_HOLD_H
#define __PERF_HYBRID_HOLD_H

#include <stdbool.h>
#include <time.h>

/**
 * struct hybrid_hold - a file that can't become another one
 * @page: a page of it, mapped and never read: the kernel keeps the file for as long, and
 *	can be asked what mappings of it show; NULL: it is not held
 * @ctime: of the file, when that was read
 * @copied: what is read is a copy, made when that was its ctime
 */
struct hybrid_hold {
	void		*page;
	struct timespec	 ctime;
	bool		 copied;
};

/**
 * hybrid_hold_file - hold a file as it is now
 * @hold: of nothing; or of that file, as it was before
 * @fd: of the file
 *
 * Return: 0, or a negative errno.
 */
int hybrid_hold_file(struct hybrid_hold *hold, int fd);

/* Has the file of that descriptor changed since it is held? Its file system may be asked. */
bool hybrid_hold_changed(const struct hybrid_hold *hold, int fd);

void hybrid_hold_exit(struct hybrid_hold *hold);

#endif /* __PERF_HYBRID_HOLD_H */
