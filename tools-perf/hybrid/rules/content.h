/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_CONTENT_H
#define __PERF_HYBRID_CONTENT_H

#include <stdbool.h>
#include "blake2b.h"

#define HYBRID_DIGEST_SIZE	BLAKE2B_256_SIZE

/* What is read of one file, at most. */
#define HYBRID_DIGEST_MOST	(512ULL << 20)

/**
 * hybrid_content_digest - a digest of what names, code and lines of a file are read from
 * @fd: of a regular file
 * @digest: out: HYBRID_DIGEST_SIZE bytes
 *
 * The digest is of the file's size, its headers, and the contents of all sections but loaded data
 * (.rodata, .eh_frame, .data) and sections of debug information over 16 MiB. Of a file without
 * section headers it is of the segments with code.
 *
 * Two files with one digest have the same symbols and the same code at the same addresses. Nobody
 * can make another file with a given digest.
 *
 * Return: 0; -EINVAL if the file is no ELF file of this machine's byte order, or its headers are
 * wrong; -EFBIG if there is more to be read than HYBRID_DIGEST_MOST, or more than the file has, as
 * sections overlap; -EIO.
 */
int hybrid_content_digest(int fd, u8 *digest);

/**
 * hybrid_content_is_same - have two files the same bytes?
 * @a: of a regular file
 * @b: of another one
 *
 * Comparing a file with a copy whose digest is known is much cheaper than another digest.
 *
 * Return: false, too, if they are larger than HYBRID_DIGEST_MOST, or one can't be read.
 */
bool hybrid_content_is_same(int a, int b);

#endif /* __PERF_HYBRID_CONTENT_H */
