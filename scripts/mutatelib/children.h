/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Included before each source that is compiled for gcov. A process writes down which lines it ran
 * when it ends by exit(). With this it does so, too, if it ends by _exit(), as the children of
 * tests and perf's helper processes do. A test may have given its children a limit of the size of
 * files: what they write down would be cut off, and gcov would lose the lines of all processes.
 */
#ifndef _MUTATE_CHILDREN_H
#define _MUTATE_CHILDREN_H

/* As struct rlimit, and RLIMIT_FSIZE, of a header that a source may not want. */
struct mutate_limit {
	unsigned long soft, hard;
};

#define MUTATE_FSIZE	1

int mutate_getrlimit(int which, struct mutate_limit *limit) __asm__("getrlimit");
int mutate_setrlimit(int which, const struct mutate_limit *limit) __asm__("setrlimit");
void __gcov_dump(void);
void _exit(int status) __attribute__((noreturn));

static inline void __attribute__((noreturn, unused)) mutate_exit(int status)
{
	struct mutate_limit limit;

	if (!mutate_getrlimit(MUTATE_FSIZE, &limit)) {
		limit.soft = limit.hard;
		mutate_setrlimit(MUTATE_FSIZE, &limit);
	}
	__gcov_dump();
	_exit(status);
}

#define _exit(status)	mutate_exit(status)

#endif /* _MUTATE_CHILDREN_H */
