/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_UTF8_H
#define __PERF_HYBRID_UTF8_H

#include <linux/types.h>

/**
 * hybrid_utf8_put - write a character in UTF-8
 * @out: where to
 * @room: bytes there
 * @c: the character, less than 0x110000
 *
 * Return: number of bytes; 0 if there is no room.
 */
unsigned int hybrid_utf8_put(char *out, unsigned int room, u32 c);

#endif /* __PERF_HYBRID_UTF8_H */
