/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Included before each source that is compiled for gcov. A process writes down which lines it ran
 * when it ends by exit(). With this it does so, too, if it ends by _exit(), as the children of
 * tests and perf's helper processes do.
 */
#ifndef _MUTATE_CHILDREN_H
#define _MUTATE_CHILDREN_H

void __gcov_dump(void);
void _exit(int status) __attribute__((noreturn));

static inline void __attribute__((noreturn, unused)) mutate_exit(int status)
{
	__gcov_dump();
	_exit(status);
}

#define _exit(status)	mutate_exit(status)

#endif /* _MUTATE_CHILDREN_H */
