// SPDX-License-Identifier: GPL-2.0
/*
 * Tables by a key.
 */
#include <stdio.h>
#include <string.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include "call-history.h"
#include "key-table.h"
#include "keyed-hash.h"
#include "met.h"
#include "names-private.h"
#include "tap.h"

struct entry {
	u64	key;
	u32	value;
};

static void put(struct hybrid_key_table *table, u64 key, u32 value)
{
	const struct entry entry = { .key = key, .value = value }, *kept;

	kept = hybrid_key_table__put(table, &entry);
	check(kept && kept->key == key && kept->value == value);
}

static void keys(void)
{
	struct hybrid_key_table table = { .size = sizeof(struct entry) };
	const struct entry *found;
	u32 i;

	check(!hybrid_key_table__find(&table, 1));
	for (i = 1; i <= 40000; i++)
		put(&table, i * 8, i);
	put(&table, 16, 7);
	same(table.nr, 40000);
	for (i = 1; i <= 40000; i++) {
		found = hybrid_key_table__find(&table, i * 8);
		check(found && found->value == (i == 2 ? 7 : i));
	}
	check(!hybrid_key_table__find(&table, 4));
	hybrid_key_table__exit(&table);
	check(!hybrid_key_table__find(&table, 8));
	put(&table, 8, 1);
	hybrid_key_table__exit(&table);
}

/* What is more than that begins anew. */
static void many(void)
{
	struct hybrid_key_table table = { .size = sizeof(struct entry) };
	u32 i;

	for (i = 1; i <= 3U << (HYBRID_KEY_TABLE_BITS - 2); i++)
		put(&table, i, i);
	check(hybrid_key_table__find(&table, 1));
	put(&table, i, i);
	same(table.nr, 1);
	check(!hybrid_key_table__find(&table, 1) && hybrid_key_table__find(&table, i));
	same(table.bits, HYBRID_KEY_TABLE_BITS);
	hybrid_key_table__exit(&table);
}

static u32 nr_dropped;

static void count(void *entry)
{
	nr_dropped += ((struct entry *)entry)->value;
}

/* What an entry owns goes with it, once. */
static void dropped(void)
{
	struct hybrid_key_table table = {
		.size = sizeof(struct entry), .most_bits = 9, .drop = count,
	};
	u32 i;

	nr_dropped = 0;
	for (i = 1; i <= 384; i++)
		put(&table, i, 1);
	same(nr_dropped, 0);
	put(&table, 7, 1);
	/* There were 384: the table was full, and all went. */
	same(nr_dropped, 384);
	same(table.bits, 9);
	put(&table, 7, 1);
	same(nr_dropped, 385);
	hybrid_key_table__exit(&table);
	same(nr_dropped, 386);
}

/* Entries that a search of @key, which is there, looks at. */
static u32 nr_probes(const struct hybrid_key_table *table, u64 key)
{
	const struct entry *found = hybrid_key_table__find(table, key);
	u32 at;

	if (!found)
		return HYBRID_KEY_TABLE_PROBES;
	at = found - (const struct entry *)table->entries;
	return ((at - hybrid_hash(key, table->bits)) & ((1U << table->bits) - 1)) + 1;
}

#define KEYS	2048

/* All of which a process has made at once: what all searches together look at. */
static u64 all_probes(const u64 *keys)
{
	struct hybrid_key_table table = { .size = sizeof(struct entry) };
	u64 probes = 0;
	u32 i;

	for (i = 0; i < KEYS; i++)
		put(&table, keys[i], i);
	for (i = 0; i < KEYS; i++)
		probes += nr_probes(&table, keys[i]);
	hybrid_key_table__exit(&table);
	return probes;
}

/* As a process knows perf: of the keys in its source, or of those of another perf. */
static void one_place(u64 *keys, const struct hybrid_hash_keys *secret)
{
	const struct hybrid_hash_keys used = hybrid_hash_keys;
	u64 key = 0;
	u32 i;

	hybrid_hash_keys = *secret;
	for (i = 0; i < KEYS; i++) {
		do {
			key += 8;
		} while (hybrid_hash(key, 12));
		keys[i] = key;
	}
	hybrid_hash_keys = used;
}

/* Of a hash that everyone knows: multiplied by the golden ratio. */
static void one_place_of_all(u64 *keys)
{
	u64 key = 0;
	u32 i;

	for (i = 0; i < KEYS; i++) {
		do {
			key += 8;
		} while (hash_64(key, 12));
		keys[i] = key;
	}
}

static const struct hybrid_hash_keys secrets[] = {
	{ 0, 1 }, { 0x243f6a8885a308d3ULL, 0xd1b54a32d192ed03ULL },
	{ 0xfedcba9876543210ULL, 0xbf58476d1ce4e5b9ULL },
	{ 0x0123456789abcdefULL, 0x8cb92ba72f3d8dd7ULL },
	{ 0xa0761d6478bd642fULL, 0xe7037ed1a0b428dbULL },
};

/* Whatever keys a process chooses, twice what others take is the most. */
static void lies(void)
{
	const struct hybrid_hash_keys at_start = hybrid_hash_keys;
	u64 keys[KEYS], others;
	u32 secret, lie, i;

	/* The first is one that a process may think of, and not one that perf may have. */
	for (secret = 1; secret <= ARRAY_SIZE(secrets); secret++) {
		hybrid_hash_keys = secret < ARRAY_SIZE(secrets) ? secrets[secret] : at_start;
		for (i = 0; i < KEYS; i++)
			keys[i] = 0x7f0000000000ULL + i * 176;
		others = all_probes(keys);
		check(others < 2 * KEYS);
		one_place_of_all(keys);
		tap_check(all_probes(keys) <= 2 * others, __FILE__, __LINE__, "hash_64()");
		for (lie = 0; lie < ARRAY_SIZE(secrets); lie++) {
			if (lie == secret)
				continue;
			one_place(keys, &secrets[lie]);
			tap_check(all_probes(keys) <= 2 * others, __FILE__, __LINE__, "a secret");
		}
		/* Marks of one function; powers of two, and what differs in high bits alone. */
		for (i = 0; i < KEYS; i++)
			keys[i] = 0x7f0000001000ULL | (u64)i << 48;
		check(all_probes(keys) <= 2 * others);
		for (i = 0; i < KEYS; i++)
			keys[i] = (u64)(i + 1) << 32;
		check(all_probes(keys) <= 2 * others);
		for (i = 0; i < KEYS; i++)
			keys[i] = 1ULL << i % 64 ^ 1ULL << i / 64 ^ 0x5555000000000000ULL;
		check(all_probes(keys) <= 2 * others);
	}
	hybrid_hash_keys = at_start;
}

/* What searches for all entries together look at, whatever they are. */
static u64 probes_of(const struct hybrid_key_table *table)
{
	u32 mask = (1U << table->bits) - 1, i;
	u64 probes = 0, key;

	for (i = 0; i <= mask; i++) {
		memcpy(&key, table->entries + i * table->size, sizeof(key));
		if (key)
			probes += ((i - hybrid_hash(key, table->bits)) & mask) + 1;
	}
	return probes;
}

/* Calls of a thread: return addresses that a process chose. */
static u64 probes_of_calls(const u64 *keys)
{
	const struct hybrid_call outer = { 0x7ffc0000, 0x401000 };
	struct hybrid_call_history history = {};
	u64 probes;
	u32 i;

	for (i = 0; i < KEYS; i++) {
		const struct hybrid_call call = { 0x7ffc1000, keys[i] };

		hybrid_call_history_learn(&history, &call, &outer, true);
	}
	same(history.calls.nr, KEYS);
	probes = probes_of(&history.calls);
	hybrid_call_history_exit(&history);
	return probes;
}

/* Files: numbers of inodes, by which a file system of its user tells them apart. */
static u64 probes_of_files(const u64 *keys)
{
	struct hybrid_ident ident = { .path = "/a" };
	struct hybrid_met met = {};
	u64 probes;
	u32 i;

	for (i = 0; i < KEYS; i++) {
		ident.ino = keys[i];
		check(hybrid_met_file(&met, &ident, NULL, 1));
		hybrid_met_kernel(&met, keys[i] << HYBRID_MET_SHIFT);
	}
	same(met.nr_files, KEYS);
	same(met.pages.nr, KEYS);
	probes = probes_of(&met.slots) + probes_of(&met.pages);
	hybrid_met_exit(&met);
	return probes;
}

/* Functions of a runtime, and their files. */
static u64 probes_of_names(const u64 *keys)
{
	struct hybrid_names *names = hybrid_names__new(HYBRID_LANGUAGE_PYTHON);
	struct hybrid_names_quota quota = {};
	char text[9] = "";
	u64 probes;
	u32 i;

	for (i = 0; i < KEYS; i++) {
		const struct hybrid_function function = { .name = text, .file = text };

		snprintf(text, sizeof(text), "%08x", (u32)keys[i]);
		check(hybrid_names__function(names, &quota, &function));
	}
	same(names->by_content.nr, KEYS);
	same(names->by_file.nr, KEYS);
	probes = probes_of(&names->by_content) + probes_of(&names->by_file);
	hybrid_names__delete(names);
	return probes;
}

/* Each table whose keys a process may choose, beside those of functions of interpreters. */
static void users(void)
{
	static u64 (*const of[])(const u64 *keys) = {
		probes_of_calls, probes_of_files, probes_of_names,
	};
	u64 keys[KEYS], others;
	u32 i, user;

	for (user = 0; user < ARRAY_SIZE(of); user++) {
		for (i = 0; i < KEYS; i++)
			keys[i] = 0x400000 + i * 64;
		others = of[user](keys);
		one_place_of_all(keys);
		check(of[user](keys) <= 2 * others);
		one_place(keys, &secrets[1]);
		check(of[user](keys) <= 2 * others);
	}
}

/* Even if one knows the secret: a search ends soon. */
static void bound(void)
{
	struct hybrid_key_table table = { .size = sizeof(struct entry) };
	u64 keys[KEYS];
	u32 i;

	one_place(keys, &hybrid_hash_keys);
	for (i = 0; i < KEYS; i++) {
		put(&table, keys[i], i);
		check(nr_probes(&table, keys[i]) <= HYBRID_KEY_TABLE_PROBES);
		check(hybrid_key_table__find(&table, keys[i]));
	}
	hybrid_key_table__exit(&table);
}

/* 0 is no key. */
static void no_key(void)
{
	struct hybrid_key_table table = { .size = sizeof(struct entry) }, copy = table;
	const struct entry none = {};

	check(!hybrid_key_table__put(&table, &none) && !hybrid_key_table__find(&table, 0));
	put(&table, 8, 1);
	check(!hybrid_key_table__put(&table, &none) && !hybrid_key_table__find(&table, 0));
	hybrid_key_table__copy(&copy, &table);
	put(&copy, 16, 2);
	check(hybrid_key_table__find(&copy, 8) && !hybrid_key_table__find(&table, 16));
	hybrid_key_table__exit(&copy);
	hybrid_key_table__copy(&copy, &copy);
	check(!copy.entries);
	hybrid_key_table__exit(&table);
}

/* Bytes: other pieces, other places; and bits that cancel out in a hash by multiplication. */
static void bytes(void)
{
	u64 a[2] = { 1, 2 }, b[2] = { 1 | 1ULL << 63, 2 | 1ULL << 63 | 1ULL << 31 }, c[3] = { 0 };

	check(hybrid_hash_bytes(0, a, sizeof(a)) != hybrid_hash_bytes(0, b, sizeof(b)));
	b[1] = 2 | 1ULL << 63;
	check(hybrid_hash_bytes(0, a, sizeof(a)) != hybrid_hash_bytes(0, b, sizeof(b)));
	check(hybrid_hash_bytes(0, c, 8) != hybrid_hash_bytes(0, c, 16));
	check(hybrid_hash_bytes(0, c, 9) != hybrid_hash_bytes(0, c, 10));
	check(hybrid_hash_string("ab") != hybrid_hash_string("ba"));
	same(hybrid_hash_string("abcdefghi"), hybrid_hash_bytes(0, "abcdefghi", 9));
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "keys",			keys },
		{ "too many of them",		many },
		{ "what entries own",		dropped },
		{ "keys that a process chose",	lies },
		{ "tables that processes fill",	users },
		{ "keys of one place",		bound },
		{ "no key; copies",		no_key },
		{ "hashes of bytes",		bytes },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
