/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_NAME_TEXT_H
#define __PERF_HYBRID_NAME_TEXT_H

#include <stddef.h>

/**
 * hybrid_name_shown - the character at the beginning of a name
 * @name: any bytes, not empty
 *
 * Return: number of its bytes if it is a character in UTF-8 that a terminal only shows; 0 if it
 * controls the terminal or the direction of writing, or if the first byte is not UTF-8.
 */
unsigned int hybrid_name_shown(const char *name);

/**
 * hybrid_name_text - a name that a process has chosen, as readers may show it
 * @out: UTF-8 without control characters, and a 0; "?" if the name is empty
 * @room: in @out, 8 at least; what does not fit is cut off behind a whole character
 * @name: any bytes
 *
 * Unpatched tools print names of symbols as they are, to terminals and into JSON. Bytes
 * that are a control character, or no UTF-8, become \xHH.
 *
 * Return: bytes of @out without the 0.
 */
size_t hybrid_name_text(char *out, size_t room, const char *name);

#endif /* __PERF_HYBRID_NAME_TEXT_H */
