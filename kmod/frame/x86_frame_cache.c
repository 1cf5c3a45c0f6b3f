// SPDX-License-Identifier: GPL-2.0
/*
 * x86 frame analysis: a small cache, as samples repeat their addresses, or come
 * to others in the same straight code.
 */
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>

#include "x86_frame_cache.h"

/* Blocks that one scan fills, at most. */
#define X86_FRAME_CACHE_FILL	4

/* Any numbers: without them, a key of zeroes would make products of zero. */
#define X86_FRAME_CACHE_MIX0	0x9e3779b97f4a7c15ULL
#define X86_FRAME_CACHE_MIX1	0xd6e8feb86659fd93ULL

static_assert(X86_FRAME_CACHE_SETS > 128 || sizeof(struct x86_frame_cache) <= 16 << 10);

/*
 * Both halves of the product. What a change of one factor does to it depends on all of
 * the other, so that without the key no two changes can be found that cancel.
 */
static __always_inline u64 mix(u64 a, u64 b)
{
#ifdef __SIZEOF_INT128__
	__uint128_t product = (__uint128_t)a * b;

	return product ^ product >> 64;
#else
	/* In perf on i386, whose cache nobody else has code in. */
	return a * b ^ (a >> 32) * (b >> 32);
#endif
}

/*
 * The tag of the block with @addr, which is within a page, and is read for it;
 * 0 where it can't be. Two blocks have the same one of 64 bits by chance once
 * in longer than anybody measures, and then the return address has to be
 * confirmed all the same.
 */
static __always_inline u64 block_tag(struct x86_frame_cache *cache, u64 space,
				     const struct x86_frame_mem *mem, unsigned long addr)
{
	const u64 key = cache->key[0] ^ X86_FRAME_CACHE_MIX0;
	u8 *window = cache->work.window;
	u64 hash, words[2];
	int i;

	static_assert(X86_FRAME_CACHE_BLOCK == X86_FRAME_WINDOW);
	addr &= -(unsigned long)X86_FRAME_CACHE_BLOCK;
	if (mem->read(mem->ctx, addr, window, X86_FRAME_CACHE_BLOCK))
		return 0;
	hash = mix((addr | mem->is_64bit) ^ key, space ^ cache->key[1] ^ X86_FRAME_CACHE_MIX1);
	for (i = 0; i < X86_FRAME_CACHE_BLOCK; i += sizeof(words)) {
		memcpy(words, window + i, sizeof(words));
		hash = mix(words[0] ^ key, words[1] ^ hash);
	}
	return hash ?: 1;
}

static struct x86_frame_cache_entry *find_set(struct x86_frame_cache *cache,
					      u64 tag)
{
	return cache->sets[tag & (X86_FRAME_CACHE_SETS - 1)];
}

static bool is_same(const struct x86_frame_cache_entry *a,
		    const struct x86_frame_cache_entry *b)
{
	return a->tag == b->tag && a->cfa_words == b->cfa_words &&
	       a->fp_words == b->fp_words && a->mem_words == b->mem_words &&
	       a->use_fp == b->use_fp && a->reg == b->reg && a->kind == b->kind;
}

static void keep(struct x86_frame_cache *cache,
		 const struct x86_frame_cache_entry *new)
{
	struct x86_frame_cache_entry *e = find_set(cache, new->tag);
	unsigned int i;

	for (i = 0; i < X86_FRAME_CACHE_WAYS; i++)
		if (is_same(&e[i], new)) {
			e[i].ips |= new->ips;
			return;
		}
	e[cache->victim++ % X86_FRAME_CACHE_WAYS] = *new;
}

/*
 * Keeps an answer, in @new but for the tag, for all instructions that the
 * analysis says it is for.
 */
static void keep_run(struct x86_frame_cache *cache, u64 space,
		     const struct x86_frame_mem *mem, unsigned long ip,
		     struct x86_frame_cache_entry *new)
{
	unsigned int left = cache->work.run, fill, from, len;

	for (fill = 0; left && fill < X86_FRAME_CACHE_FILL; fill++) {
		new->tag = block_tag(cache, space, mem, ip);
		if (!new->tag)
			return;
		from = ip & (X86_FRAME_CACHE_BLOCK - 1);
		len = X86_FRAME_CACHE_BLOCK - from;
		if (len > left)
			len = left;
		new->ips = (~0ULL >> (64 - len)) << from;
		keep(cache, new);
		ip += len;
		left -= len;
	}
}

/* Apart from the analysis, which needs the stack. */
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

/* The entry with the answer for @ip, NULL where there is none. */
static noinline struct x86_frame_cache_entry *
find_ip(struct x86_frame_cache *cache, u64 space,
	const struct x86_frame_mem *mem, unsigned long ip)
{
	struct x86_frame_cache_entry *e;
	u64 tag = block_tag(cache, space, mem, ip);
	unsigned int i;

	if (!tag)
		return NULL;
	e = find_set(cache, tag);
	for (i = 0; i < X86_FRAME_CACHE_WAYS; i++, e++)
		if (e->tag == tag &&
		    e->ips >> (ip & (X86_FRAME_CACHE_BLOCK - 1)) & 1)
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
 * x86_frame_recall - the answer that the cache has
 * @cache:	the cache, used by nobody else meanwhile
 * @space:	a number for the address space, never used for another one
 * @mem:	the code
 * @ip:		the instruction, not yet run
 * @rule:	the answer, valid unless the kind is X86_FRAME_UNKNOWN or X86_FRAME_NR
 *
 * It counts only while the code around is what it was found with.  Code that is
 * rewritten further on can leave a wrong answer behind, as for any caller that
 * looks at code which changes; so confirm the return address.
 *
 * Returns: what found the rule; X86_FRAME_NR: the cache has no answer
 */
enum x86_frame_kind x86_frame_recall(struct x86_frame_cache *cache, u64 space,
				     const struct x86_frame_mem *mem, unsigned long ip,
				     struct x86_frame_rule *rule)
{
	const struct x86_frame_cache_entry *e = find_ip(cache, space, mem, ip);

	return e ? recall(e, mem->is_64bit ? 8 : 4, rule) : X86_FRAME_NR;
}

/**
 * x86_frame_search - x86_frame_analyze(), whose answer the cache keeps
 * @cache:	the cache, used by nobody else meanwhile
 * @space:	a number for the address space, never used for another one
 * @mem:	the code
 * @ip:		the instruction, not yet run
 * @rule:	the answer, valid unless the kind is X86_FRAME_UNKNOWN
 *
 * It is kept for the straight code from @ip on that it holds for.
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
	/* What a look settles costs little; what was cut short is not the answer. */
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
