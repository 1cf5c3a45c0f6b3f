/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_VDSO32_H
#define __PERF_HYBRID_VDSO32_H

#include <sys/types.h>

/**
 * hybrid_read_vdso32 - read the vDSO of i386 programs from one that is made for it
 * @image: where to; not read before
 * @size: bytes that are mapped of it
 *
 * For samples of programs that have ended before perf came to them. perf's own
 * perf-read-vdso32 needs an i386 compiler, which packages of perf are built
 * without, and popen(), whose SIGCHLD would end the recording. It takes a
 * millisecond; not for several threads at a time.
 *
 * Return: bytes read, or -1 with errno, which is ENOEXEC where the kernel
 * executes no i386 programs.
 */
ssize_t hybrid_read_vdso32(void *image, size_t size);

#endif /* __PERF_HYBRID_VDSO32_H */
