// SPDX-License-Identifier: GPL-2.0
/* BLAKE2b-256 without a key: "b2sum -l 256" computes the same. */
#include <string.h>
#include <linux/kernel.h>
#include "blake2b.h"

#define ROUNDS	12

static const u64 start[8] = {
	0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
	0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};

static const u8 order[ROUNDS][16] = {
	{ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	{ 14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3 },
	{ 11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4 },
	{ 7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8 },
	{ 9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13 },
	{ 2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9 },
	{ 12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11 },
	{ 13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10 },
	{ 6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5 },
	{ 10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0 },
	{ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	{ 14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3 },
};

static inline u64 rotate(u64 value, unsigned int bits)
{
	return value >> bits | value << (64 - bits);
}

static inline void mix(u64 *a, u64 *b, u64 *c, u64 *d, u64 x, u64 y)
{
	*a += *b + x;
	*d = rotate(*d ^ *a, 32);
	*c += *d;
	*b = rotate(*b ^ *c, 24);
	*a += *b + y;
	*d = rotate(*d ^ *a, 16);
	*c += *d;
	*b = rotate(*b ^ *c, 63);
}

static inline void do_round(u64 *v, const u64 *m, const u8 *s)
{
	mix(&v[0], &v[4], &v[8], &v[12], m[s[0]], m[s[1]]);
	mix(&v[1], &v[5], &v[9], &v[13], m[s[2]], m[s[3]]);
	mix(&v[2], &v[6], &v[10], &v[14], m[s[4]], m[s[5]]);
	mix(&v[3], &v[7], &v[11], &v[15], m[s[6]], m[s[7]]);
	mix(&v[0], &v[5], &v[10], &v[15], m[s[8]], m[s[9]]);
	mix(&v[1], &v[6], &v[11], &v[12], m[s[10]], m[s[11]]);
	mix(&v[2], &v[7], &v[8], &v[13], m[s[12]], m[s[13]]);
	mix(&v[3], &v[4], &v[9], &v[14], m[s[14]], m[s[15]]);
}

/* @last: there is no block after this one. */
static void compress(struct blake2b *hash, const u8 *block, bool last)
{
	u64 v[16], m[16];
	unsigned int i;

	memcpy(m, block, sizeof(m));
	memcpy(v, hash->state, sizeof(hash->state));
	memcpy(v + 8, start, sizeof(start));
	v[12] ^= hash->total;
	if (last)
		v[14] = ~v[14];
#pragma GCC unroll 12
	for (i = 0; i < ROUNDS; i++)
		do_round(v, m, order[i]);
	for (i = 0; i < 8; i++)
		hash->state[i] ^= v[i] ^ v[i + 8];
}

void blake2b_init(struct blake2b *hash)
{
	memcpy(hash->state, start, sizeof(start));
	hash->state[0] ^= 0x01010000 ^ BLAKE2B_256_SIZE;
	hash->total = 0;
	hash->used = 0;
}

void blake2b_add(struct blake2b *hash, const void *data, size_t size)
{
	const u8 *at = data;
	size_t part;

	while (size) {
		/* The last block is compressed by blake2b_end(). */
		if (hash->used == BLAKE2B_BLOCK) {
			hash->total += BLAKE2B_BLOCK;
			compress(hash, hash->block, false);
			hash->used = 0;
		}
		if (!hash->used && size > BLAKE2B_BLOCK) {
			hash->total += BLAKE2B_BLOCK;
			compress(hash, at, false);
			part = BLAKE2B_BLOCK;
		} else {
			part = min(size, BLAKE2B_BLOCK - hash->used);
			memcpy(hash->block + hash->used, at, part);
			hash->used += part;
		}
		at += part;
		size -= part;
	}
}

void blake2b_end(struct blake2b *hash, u8 *digest)
{
	memset(hash->block + hash->used, 0, BLAKE2B_BLOCK - hash->used);
	hash->total += hash->used;
	compress(hash, hash->block, true);
	memcpy(digest, hash->state, BLAKE2B_256_SIZE);
}
