/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __HYBRID_TEST_CODE_BYTES_H
#define __HYBRID_TEST_CODE_BYTES_H

#include <linux/types.h>
#include "x86_frame.h"

/* Where the code is that a test puts together, and how many bytes can be read there. */
#define CODE_BASE	0x400000
#define CODE_SIZE	0x10000

extern u8 code[CODE_SIZE];

/* Reads @code: of 64 bits, unless a test says otherwise. */
extern struct x86_frame_mem code_mem;

/* Puts @len bytes at @code + @at. */
void code_put(unsigned int at, const char *bytes, unsigned int len);

/* All of @code becomes @byte: 0xcc is int3, 0x90 nop. */
void code_fill(u8 byte);

/* Bytes of a string, without the one that ends it. */
#define CODE_PUT(at, bytes)	code_put(at, bytes, sizeof(bytes) - 1)

#endif /* __HYBRID_TEST_CODE_BYTES_H */
