// SPDX-License-Identifier: GPL-2.0
/* x86 frame analysis: a small cache, as samples repeat their addresses. */
#include <linux/types.h>

#include "x86-frame-cache.h"

#define X86_FRAME_CACHE_PAGE	4096
#define X86_FRAME_CACHE_MULT	0x9e3779b97f4a7c15ULL

static unsigned int slot(u64 space, unsigned long ip)
{
	u64 hash = (ip ^ space * X86_FRAME_CACHE_MULT) * X86_FRAME_CACHE_MULT;

	return hash >> 40 & (X86_FRAME_CACHE_SIZE - 1);
}

static enum x86_frame_kind recall(const struct x86_frame_cache_entry *e,
				  struct x86_frame_rule *rule)
{
	rule->cfa_off = e->cfa_off;
	rule->ra_off = e->is_64bit ? -8 : -4;
	rule->fp_off = e->fp_off;
	rule->use_fp = e->use_fp;
	return e->kind;
}

/**
 * x86_frame_analyze_cached - x86_frame_analyze() with a cache in front
 * @cache:	the cache, used by nobody else meanwhile
 * @space:	a number for the address space, never used for another one
 * @mem:	the code
 * @ip:		the instruction, not yet run
 * @rule:	the answer, valid unless the kind is X86_FRAME_UNKNOWN
 *
 * An answer counts only while the bytes at @ip are those it was found with.
 * Code that is rewritten further on can leave a wrong answer behind, as for
 * any caller that looks at code which changes; so confirm the return address.
 *
 * Returns: what found the rule
 */
enum x86_frame_kind
x86_frame_analyze_cached(struct x86_frame_cache *cache, u64 space,
			 const struct x86_frame_mem *mem, unsigned long ip,
			 struct x86_frame_rule *rule)
{
	struct x86_frame_cache_entry *e = &cache->entries[slot(space, ip)];
	u64 code;

	/* Too near to the end of a page: rare, so not kept. */
	if ((ip & (X86_FRAME_CACHE_PAGE - 1)) >
	    X86_FRAME_CACHE_PAGE - sizeof(code) ||
	    mem->read(mem->ctx, ip, &code, sizeof(code)))
		return x86_frame_analyze(mem, ip, rule, &cache->work);
	if (e->used && e->ip == ip && e->space == space &&
	    e->is_64bit == mem->is_64bit && e->code == code)
		return recall(e, rule);
	e->used = false;
	e->ip = ip;
	e->space = space;
	e->is_64bit = mem->is_64bit;
	e->code = code;
	e->kind = x86_frame_analyze(mem, ip, rule, &cache->work);
	e->cfa_off = rule->cfa_off;
	e->fp_off = rule->fp_off;
	e->use_fp = rule->use_fp;
	e->used = true;
	return e->kind;
}
