/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_PROC_NUMBER_H
#define __PERF_HYBRID_PROC_NUMBER_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/**
 * hybrid_proc_number - read a number from a file of /proc
 * @path: of the file, of which the first KiB is read
 * @before: what stands in front of the number
 * @number: out
 *
 * Return: false if it is not there.
 */
static inline bool hybrid_proc_number(const char *path, const char *before, long *number)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[1024], *found;
	ssize_t got;

	if (fd < 0)
		return false;
	got = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[got > 0 ? got : 0] = 0;
	found = strstr(text, before);
	if (found)
		*number = strtol(found + strlen(before), NULL, 10);
	return found;
}

#endif /* __PERF_HYBRID_PROC_NUMBER_H */
