/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One sample in a text file, as scripts/keep-sample writes it, or by hand:
 *
 *	hybrid-sample 1
 *	abi 64
 *	rip 55d13ff6128a
 *	rsp 7fff19961b78
 *	rbp 5c50
 *	map 55d13ff61000 55d13ff62000 1000 fe:00:409614 /usr/bin/program
 *	map 7f9c7b63a000 7f9c7b63c000 0 [vdso]
 *	stack 7fff19961b78
 *	b012f63fd1550000 0000000000000000
 *	end
 *
 * The first line names the format, and "end" is the last, so that a file that
 * was cut off shows. Numbers are hexadecimal but for the inode. In this order:
 *
 * abi 64|32
 * REGISTER VALUE
 *	rax to rip and r8 to r15, or eax to eip with abi 32. The instruction
 *	pointer, the stack pointer and the frame pointer must be there.
 * map START END OFFSET [ID] PATH
 *	an executable mapping, lowest first, none overlapping. ID tells whether
 *	PATH is still the file that was mapped: device and inode as in
 *	/proc/PID/maps but for the colon between them, or a build-id. Where PATH
 *	does not begin with one slash no file is behind it, but for [vdso]: that
 *	is the vdso of the kernel that runs now, and 64 bits only. A path in its
 *	place takes a copy of another.
 * stack ADDRESS
 *	and the bytes from there on, as they are in memory: two digits each,
 *	blanks between them as one likes, at most 64 KiB.
 *
 * Empty lines and lines that begin with "#" are comments.
 */
#ifndef __HYBRID_REPLAY_SAMPLE_H
#define __HYBRID_REPLAY_SAMPLE_H

#include "unwind.h"

/**
 * sample_register - name of a register
 * @abi: of the task
 * @reg: DWARF number
 */
const char *sample_register(const struct hybrid_abi *abi, unsigned int reg);

/**
 * sample_read - read a sample; where it is wrong, say so and exit with 1
 * @path: of the file
 * @objects: gets what is mapped
 * @u: out: abi, space, regs and dump; all else is left alone
 */
void sample_read(const char *path, struct hybrid_objects *objects, struct hybrid_unwind *u);

#endif /* __HYBRID_REPLAY_SAMPLE_H */
