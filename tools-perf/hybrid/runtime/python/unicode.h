/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_PYTHON_UNICODE_H
#define __PERF_HYBRID_PYTHON_UNICODE_H

#include "layout.h"

/* Bytes of a string, its end included. What is longer is cut off. */
#define PYTHON_TEXT	512

/**
 * python_text - read a string of CPython's
 * @pm: the process
 * @layout: of its CPython
 * @addr: of the string
 * @out: in UTF-8; room for PYTHON_TEXT. Bytes of 0 are left out
 *
 * Include/cpython/unicodeobject.h: strings that the compiler makes follow their head.
 *
 * Return: false if it can't be read, or is stored in another way; an empty string is a string.
 */
bool python_text(struct hybrid_process_memory *pm, const struct python_layout *layout, u64 addr,
		 char *out);

/**
 * python_decode - the same, of characters that were read
 * @layout: of its CPython
 * @state: of the string, that says how they are stored
 * @bytes: the characters
 * @size: bytes of these
 * @out: as python_text()
 */
bool python_decode(const struct python_layout *layout, u32 state, const u8 *bytes, size_t size,
		   char *out);

#endif /* __PERF_HYBRID_PYTHON_UNICODE_H */
