/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_BLAKE2B_H
#define __PERF_HYBRID_BLAKE2B_H

#include <stddef.h>
#include <linux/types.h>

/* Bytes of the digest, and of the blocks that it is computed by. */
#define BLAKE2B_256_SIZE	32
#define BLAKE2B_BLOCK		128

/**
 * struct blake2b - BLAKE2b-256 (RFC 7693) of bytes that come piece by piece
 * @state: the hash so far
 * @total: bytes that were added
 * @block: the last of them, which are not in @state yet
 * @used: number of bytes in @block
 */
struct blake2b {
	u64	state[8];
	u64	total;
	u8	block[BLAKE2B_BLOCK];
	size_t	used;
};

void blake2b_init(struct blake2b *hash);
void blake2b_add(struct blake2b *hash, const void *data, size_t size);

/* @digest: out: BLAKE2B_256_SIZE bytes. The hash is of no use after that. */
void blake2b_end(struct blake2b *hash, u8 *digest);

#endif /* __PERF_HYBRID_BLAKE2B_H */
