// SPDX-License-Identifier: GPL-2.0
/*
 * x86 frame analysis: a cache, because samples repeat their addresses, or fall into the same
 * straight code.
 */
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>

#include "x86_frame_cache.h"

/* How many blocks the result of one search is stored for, at most. */
#define X86_FRAME_CACHE_FILL	4

/* Any numbers: otherwise zeroes would make all products zero. */
#define X86_FRAME_CACHE_MIX0	0x9e3779b97f4a7c15ULL
#define X86_FRAME_CACHE_MIX1	0xd6e8feb86659fd93ULL

static_assert(X86_FRAME_CACHE_SETS > 128 || sizeof(struct x86_frame_cache) <= 16 << 10);

/* Combines both halves of the product: each bit of it depends on all bits of both factors. */
static __always_inline u64 mix(u64 a, u64 b)
{
#ifdef __SIZEOF_INT128__
	__uint128_t product = (__uint128_t)a * b;

	return product ^ product >> 64;
#else
	/* perf on i386 */
	return a * b ^ (a >> 32) * (b >> 32);
#endif
}

/*
 * Reads the block with @addr, which is within a page, and returns its hash; 0 if it can't be read.
 *
 * The hash needs no secret. Keys have the address space itself, so a program that writes code with
 * the hash of other code gets a wrong rule for its own code only. Otherwise two blocks of a program
 * have the same key and set with a chance that does not matter, because return addresses are
 * confirmed anyway.
 */
static __always_inline u64 block_hash(struct x86_frame_cache *cache,
				      const struct x86_frame_mem *mem, unsigned long addr)
{
	u8 *window = cache->work.window;
	u64 hash, words[2];
	int i;

	static_assert(X86_FRAME_CACHE_BLOCK == X86_FRAME_WINDOW);
	addr &= -(unsigned long)X86_FRAME_CACHE_BLOCK;
	if (mem->read(mem->ctx, addr, window, X86_FRAME_CACHE_BLOCK))
		return 0;
	hash = mix((addr | mem->is_64bit) ^ X86_FRAME_CACHE_MIX0, X86_FRAME_CACHE_MIX1);
	for (i = 0; i < X86_FRAME_CACHE_BLOCK; i += sizeof(words)) {
		memcpy(words, window + i, sizeof(words));
		hash = mix(words[0] ^ X86_FRAME_CACHE_MIX0, words[1] ^ hash);
	}
	return hash ?: 1;
}

/* The set depends on the space, too, because programs have the same code at the same addresses. */
static struct x86_frame_cache_entry *find_set(struct x86_frame_cache *cache, u64 space, u64 hash)
{
	return cache->sets[((hash >> 32) + space) & (X86_FRAME_CACHE_SETS - 1)];
}

/* The low bits of @hash that fit, above the address space. */
static u64 key_of(u64 space, u64 hash)
{
	return hash << X86_FRAME_CACHE_SPACE | (space & ((1ULL << X86_FRAME_CACHE_SPACE) - 1));
}

static bool is_same(const struct x86_frame_cache_entry *a,
		    const struct x86_frame_cache_entry *b)
{
	return a->key == b->key && a->cfa_words == b->cfa_words &&
	       a->fp_words == b->fp_words && a->mem_words == b->mem_words &&
	       a->use_fp == b->use_fp && a->reg == b->reg && a->kind == b->kind;
}

static void keep(struct x86_frame_cache *cache, struct x86_frame_cache_entry *e,
		 const struct x86_frame_cache_entry *new)
{
	unsigned int i;

	for (i = 0; i < X86_FRAME_CACHE_WAYS; i++)
		if (is_same(&e[i], new)) {
			e[i].ips |= new->ips;
			return;
		}
	e[cache->victim++ % X86_FRAME_CACHE_WAYS] = *new;
}

/* Stores a result for all instructions that it is valid for. Sets the key and the ips of @new. */
static void keep_run(struct x86_frame_cache *cache, u64 space,
		     const struct x86_frame_mem *mem, unsigned long ip,
		     struct x86_frame_cache_entry *new)
{
	unsigned int left = cache->work.run, fill, from, len;
	u64 hash;

	for (fill = 0; left && fill < X86_FRAME_CACHE_FILL; fill++) {
		hash = block_hash(cache, mem, ip);
		if (!hash)
			return;
		new->key = key_of(space, hash);
		from = ip & (X86_FRAME_CACHE_BLOCK - 1);
		len = X86_FRAME_CACHE_BLOCK - from;
		if (len > left)
			len = left;
		new->ips = (~0ULL >> (64 - len)) << from;
		keep(cache, find_set(cache, space, hash), new);
		ip += len;
		left -= len;
	}
}

/* Not inlined: the search needs the stack. */
static noinline void keep_rule(struct x86_frame_cache *cache, u64 space,
			       const struct x86_frame_mem *mem,
			       unsigned long ip,
			       const struct x86_frame_rule *rule,
			       enum x86_frame_kind kind)
{
	int ws = mem->is_64bit ? 8 : 4;
	struct x86_frame_cache_entry new = {
		.cfa_words = rule->cfa_off / ws,
		.fp_words = rule->fp_off / ws,
		.mem_words = rule->mem_off / ws,
		.use_fp = rule->use_fp,
		.reg = rule->reg,
		.kind = kind,
	};

	keep_run(cache, space, mem, ip, &new);
}

/* Returns the entry with the result for @ip, or NULL. */
static noinline struct x86_frame_cache_entry *
find_ip(struct x86_frame_cache *cache, u64 space,
	const struct x86_frame_mem *mem, unsigned long ip)
{
	u64 hash = block_hash(cache, mem, ip);
	u64 key = key_of(space, hash);
	struct x86_frame_cache_entry *e;
	unsigned int i;

	if (!hash)
		return NULL;
	e = find_set(cache, space, hash);
	for (i = 0; i < X86_FRAME_CACHE_WAYS; i++, e++)
		if (e->key == key && e->ips >> (ip & (X86_FRAME_CACHE_BLOCK - 1)) & 1)
			return e;
	return NULL;
}

static enum x86_frame_kind recall(const struct x86_frame_cache_entry *e, int ws,
				  struct x86_frame_rule *rule)
{
	rule->cfa_off = e->cfa_words * ws;
	rule->ra_off = -ws;
	rule->fp_off = e->fp_words * ws;
	rule->use_fp = e->use_fp;
	rule->fp_lost = false;
	rule->reg = e->reg;
	rule->mem_off = e->mem_words * ws;
	return e->kind;
}

/**
 * x86_frame_recall - look up a result in the cache
 * @cache:	the cache; nobody else uses it meanwhile
 * @space:	a number of the address space, never used for another one
 * @mem:	the code
 * @ip:		the instruction, not yet executed
 * @rule:	the rule, valid unless X86_FRAME_UNKNOWN or X86_FRAME_NR is returned
 *
 * A result is used only if the code of its block has not changed. If code outside of the block
 * was rewritten, the result may be wrong; so confirm the return address.
 *
 * Returns: what found the rule; X86_FRAME_NR: the cache has no result
 */
enum x86_frame_kind x86_frame_recall(struct x86_frame_cache *cache, u64 space,
				     const struct x86_frame_mem *mem, unsigned long ip,
				     struct x86_frame_rule *rule)
{
	const struct x86_frame_cache_entry *e = find_ip(cache, space, mem, ip);

	return e ? recall(e, mem->is_64bit ? 8 : 4, rule) : X86_FRAME_NR;
}

/**
 * x86_frame_search - x86_frame_analyze(), and store the result in the cache
 * @cache:	the cache; nobody else uses it meanwhile
 * @space:	a number of the address space, never used for another one
 * @mem:	the code
 * @ip:		the instruction, not yet executed
 * @rule:	the rule, valid unless X86_FRAME_UNKNOWN or X86_FRAME_SIGNAL is returned
 *
 * The result is stored for the straight code from @ip on that it is valid for.
 *
 * Returns: what found the rule
 */
enum x86_frame_kind x86_frame_search(struct x86_frame_cache *cache, u64 space,
				     const struct x86_frame_mem *mem, unsigned long ip,
				     struct x86_frame_rule *rule)
{
	unsigned int spent = cache->spent < X86_FRAME_INSNS ? cache->spent : X86_FRAME_INSNS;
	enum x86_frame_kind kind;

	kind = x86_frame_analyze_within(mem, ip, rule, &cache->work,
					X86_FRAME_INSNS - spent);
	/* Not the result of a look, which costs little, nor of a search that was cut short. */
	if (cache->work.insns && (kind != X86_FRAME_UNKNOWN || !spent ||
				  cache->work.insns < cache->work.limit))
		keep_rule(cache, space, mem, ip, rule, kind);
	return kind;
}

/* x86_frame_recall(), or else x86_frame_search() */
enum x86_frame_kind
x86_frame_analyze_cached(struct x86_frame_cache *cache, u64 space,
			 const struct x86_frame_mem *mem, unsigned long ip,
			 struct x86_frame_rule *rule)
{
	enum x86_frame_kind kind = x86_frame_recall(cache, space, mem, ip, rule);

	if (kind != X86_FRAME_NR)
		return kind;
	return x86_frame_search(cache, space, mem, ip, rule);
}
