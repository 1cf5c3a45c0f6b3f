/* SPDX-License-Identifier: GPL-2.0 */
/* Code that is sampled with a stack pointer and a frame pointer register as given. */
#ifndef _PRECISE_CODE_H
#define _PRECISE_CODE_H

/* Counts down. */
void spin(void *sp, unsigned long bp, unsigned long times);
/* Is in read() nearly all the time. */
void enter(void *sp, unsigned long bp, int fd, void *buffer, unsigned long size);

/* From here to there they have these registers. */
extern const char spin_start[], spin_end[], enter_start[], enter_end[];

#endif /* _PRECISE_CODE_H */
