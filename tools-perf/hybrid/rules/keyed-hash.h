/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_KEYED_HASH_H
#define __PERF_HYBRID_KEYED_HASH_H

#include <stddef.h>
#include <linux/types.h>

/**
 * struct hybrid_hash_keys - what a process would have to know to choose keys of one place
 * @mask: any number
 * @factor: any odd number
 *
 * They are other numbers each time that perf is started.
 */
struct hybrid_hash_keys {
	u64	mask;
	u64	factor;
};

extern struct hybrid_hash_keys hybrid_hash_keys;

/* Both halves of the product, so that each bit of the word moves bits that nobody can foresee. */
static inline u64 hybrid_hash_mix(u64 hash, u64 word)
{
	u64 a = hash ^ word, b = hybrid_hash_keys.factor;
#ifdef __SIZEOF_INT128__
	__uint128_t product = (__uint128_t)a * b;

	return (u64)product ^ (u64)(product >> 64);
#else
	return a * b ^ (a >> 32) * (b >> 32) ^ (u64)(u32)a * (u32)b >> 32;
#endif
}

/**
 * hybrid_hash - the place of a key in a table
 * @key: as a process, a file or a record has it
 * @bits: binary logarithm of the number of places, 1 to 64
 */
static inline u64 hybrid_hash(u64 key, unsigned int bits)
{
	u64 hash = hybrid_hash_mix(hybrid_hash_keys.mask, key);

	/* Twice: of addresses in a row one product alone makes heaps. */
	return hybrid_hash_mix(hybrid_hash_keys.mask, hash) >> (64 - bits);
}

/**
 * hybrid_hash_bytes - go on with a hash
 * @hash: of what stands before; 0 at first
 * @data: any bytes
 * @size: of @data
 */
u64 hybrid_hash_bytes(u64 hash, const void *data, size_t size);

/* The same of a string. */
u64 hybrid_hash_string(const char *text);

#endif /* __PERF_HYBRID_KEYED_HASH_H */
