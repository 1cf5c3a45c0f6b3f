// SPDX-License-Identifier: GPL-2.0
/*
 * Hashes with a secret. Processes and files choose the keys of our tables: addresses, names,
 * numbers. With a hash that everyone knows they choose keys that all belong to one place.
 */
#include <string.h>
#include <sys/auxv.h>
#include <linux/kernel.h>
#include "keyed-hash.h"

/* As good as those without a secret, where the kernel gives no random bytes. */
struct hybrid_hash_keys hybrid_hash_keys = {
	.mask = 0x243f6a8885a308d3ULL, .factor = 0xd1b54a32d192ed03ULL,
};

/* The kernel gives each program 16 random bytes: no system call, and no file. */
static void __attribute__((constructor)) choose_keys(void)
{
	const void *random = (const void *)getauxval(AT_RANDOM);

	if (!random)
		return;
	memcpy(&hybrid_hash_keys, random, sizeof(hybrid_hash_keys));
	hybrid_hash_keys.factor |= 1;
}

u64 hybrid_hash_bytes(u64 hash, const void *data, size_t size)
{
	u64 word;

	/* The size is a part of it: no two pieces can be cut at another place. */
	hash = hybrid_hash_mix(hash ^ hybrid_hash_keys.mask, size);
	while (size) {
		size_t part = min(size, sizeof(word));

		word = 0;
		memcpy(&word, data, part);
		hash = hybrid_hash_mix(hash, word);
		data = (const u8 *)data + part;
		size -= part;
	}
	return hash;
}

u64 hybrid_hash_string(const char *text)
{
	return hybrid_hash_bytes(0, text, strlen(text));
}
