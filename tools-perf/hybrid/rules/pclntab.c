// SPDX-License-Identifier: GPL-2.0
/*
 * Rules from the table by which Go's runtime walks its stacks: what a stripped Go
 * program has in place of CFI. Go's linker makes .debug_frame of the same table
 * (src/cmd/link/internal/ld/dwarf.go, writeframes()).
 *
 * The functions stand in order of their addresses, each with an offset to a struct
 * _func (src/runtime/runtime2.go; src/cmd/link/internal/ld/pcln.go writes them). Its
 * pcsp is the offset of pairs: how the distance from sp to the return address changes,
 * and for how many bytes of code it is that (src/runtime/symtab.go, pcvalue(), step()).
 */
#include <stdint.h>
#include <string.h>
#include <linux/kernel.h>
#include "arch.h"
#include "fde.h"
#include "object.h"
#include "pclntab.h"

/* Changes of sp that are followed in a function: go itself has 81 at most. */
#define MAX_STEPS	16384

/* No frame is larger (src/cmd/internal/obj/x86/obj6.go takes 2 GiB for an error). */
#define MAX_FRAME	0x40000000

/* A closure's function is looked for among so many, in front of it and behind it. */
#define NEAR		4096
#define MAX_NAME	256

/* struct _func */
#define NAME_AT		4
#define PCSP_AT		16

/* Flags of a function: src/runtime/symtab.go (later src/internal/abi), funcFlag_*. */
#define TOP_FRAME	1	/* no Go function has called it: goexit, mstart, rt0_go, sigtramp */
#define SP_WRITE	2	/* it sets sp to what the table can't say */
#define IS_ASM		4

/**
 * struct function - an entry of the table
 * @start: its first address
 * @end: the address behind its last
 * @pcsp: offset in the table of its distances
 * @flags: see above
 * @name: offset in the table
 */
struct function {
	u64	start;
	u64	end;
	u64	pcsp;
	u64	name;
	u8	flags;
};

struct pairs {
	const struct hybrid_object	*object;
	u64				 at;
	bool				 bad;
};

static bool read_u32(const struct hybrid_object *object, u64 at, u32 *value)
{
	return hybrid_pclntab_read(object, at, value, sizeof(*value));
}

bool hybrid_pclntab_function(const struct hybrid_object *object, u32 i, struct hybrid_fde *fde)
{
	const struct hybrid_pclntab *tab = &object->pclntab;
	u32 start, end;

	/* The last one is followed by where it ends. */
	if (!read_u32(object, tab->functab + i * 8ULL, &start) ||
	    !read_u32(object, tab->functab + i * 8ULL + 8, &end) || start >= end)
		return false;
	fde->start = tab->text + start;
	fde->end = tab->text + end;
	return fde->end > fde->start;
}

/* The last function that begins at or before an address. */
static bool find_index(const struct hybrid_object *object, u64 vaddr, u32 *index)
{
	const struct hybrid_pclntab *tab = &object->pclntab;
	u32 low = 0, high = tab->nr, start;

	if (vaddr < tab->text || vaddr - tab->text > UINT32_MAX)
		return false;
	while (low < high) {
		u32 mid = low + (high - low) / 2;

		if (!read_u32(object, tab->functab + mid * 8ULL, &start))
			return false;
		if (start <= vaddr - tab->text)
			low = mid + 1;
		else
			high = mid;
	}
	*index = low - 1;
	return low;
}

static bool find_function(const struct hybrid_object *object, u64 vaddr, struct function *fn)
{
	const struct hybrid_pclntab *tab = &object->pclntab;
	u32 index, offset, start, name, pcsp;
	struct hybrid_fde fde;
	u64 at;

	if (!find_index(object, vaddr, &index) ||
	    !hybrid_pclntab_function(object, index, &fde) ||
	    vaddr < fde.start || vaddr >= fde.end ||
	    !read_u32(object, tab->functab + index * 8ULL + 4, &offset))
		return false;
	at = tab->functab + offset;
	if (!read_u32(object, at, &start) || tab->text + start != fde.start ||
	    !read_u32(object, at + NAME_AT, &name) || !read_u32(object, at + PCSP_AT, &pcsp) ||
	    !hybrid_pclntab_read(object, at + tab->flag_at, &fn->flags, 1))
		return false;
	fn->start = fde.start;
	fn->end = fde.end;
	/* Offset 0 stands for none. */
	fn->pcsp = pcsp ? tab->pctab + pcsp : 0;
	fn->name = tab->names + name;
	return true;
}

bool hybrid_pclntab_around(struct hybrid_object *object, u64 vaddr, struct hybrid_fde *fde)
{
	struct function fn;

	if (!hybrid_pclntab_find(object) || !find_function(object, vaddr, &fn))
		return false;
	fde->start = fn.start;
	fde->end = fn.end;
	return true;
}

static u32 read_varint(struct pairs *pairs)
{
	u32 value = 0;
	unsigned int shift;
	u8 byte;

	for (shift = 0; shift < 32; shift += 7) {
		if (!hybrid_pclntab_read(pairs->object, pairs->at++, &byte, 1))
			break;
		value |= (u32)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	pairs->bad = true;
	return 0;
}

/* The distance at @vaddr, and the addresses that it holds for. */
static bool find_distance(const struct hybrid_object *object, const struct function *fn, u64 vaddr,
			  struct hybrid_fde *range, s32 *distance)
{
	struct pairs pairs = { .object = object, .at = fn->pcsp };
	u32 value = -1, change, bytes;
	unsigned int i;
	u64 at = fn->start;

	for (i = 0; fn->pcsp && i < MAX_STEPS; i++) {
		change = read_varint(&pairs);
		bytes = read_varint(&pairs);
		/* No change ends it, but for the first one, from -1. */
		if (pairs.bad || (!change && i))
			return false;
		value += change & 1 ? ~(change >> 1) : change >> 1;
		if (bytes > fn->end - at)
			return false;
		if (vaddr - at < bytes) {
			range->start = at;
			range->end = at + bytes;
			*distance = value;
			return true;
		}
		at += bytes;
	}
	return false;
}

static bool is_named(const struct hybrid_object *object, const struct function *fn,
		     const char *name)
{
	u64 at = fn->name;
	char byte;

	do {
		if (!hybrid_pclntab_read(object, at++, &byte, 1) || byte != *name)
			return false;
	} while (*name++);
	return true;
}

/*
 * The distances hold up to where it sets sp: from there on it may be on another stack.
 * cgocallback() makes a frame of the same size on the stack that it switches to
 * (src/runtime/traceback.go says so, too).
 */
static bool limit_to_own_stack(struct hybrid_object *object, const struct function *fn, u64 vaddr,
			       struct hybrid_fde *range)
{
	struct hybrid_code code = hybrid_object_code(object);
	u64 limit;

	if (!(fn->flags & SP_WRITE) || is_named(object, fn, "runtime.cgocallback"))
		return true;
	limit = object->cfi.abi->arch->sets_sp(&code, fn->start, fn->end);
	range->end = min(range->end, limit);
	return vaddr < limit;
}

/*
 * The compiler saves the frame pointer below the return address of each frame that
 * is not empty (src/cmd/internal/obj/x86/obj6.go, preprocess()). In what is written in
 * assembler a frame may be none that the assembler has made.
 */
static void frame_rule(const struct hybrid_object *object, const struct function *fn, s32 distance,
		       struct hybrid_rule *rule)
{
	struct hybrid_code code = hybrid_object_code(object);

	rule->kind = HYBRID_RULE_CFA;
	rule->base = HYBRID_BASE_SP;
	rule->cfa_off = distance + 8;
	rule->ra_off = -8;
	if (!distance)
		rule->bp = HYBRID_BP_SAME;
	else if (fn->flags & IS_ASM &&
		 !object->cfi.abi->arch->saves_bp(&code, fn->start, fn->end, distance - 8))
		rule->bp = HYBRID_BP_UNDEFINED;
	else
		rule->bp = HYBRID_BP_AT_CFA;
	rule->bp_off = rule->bp == HYBRID_BP_AT_CFA ? -16 : 0;
}

bool hybrid_pclntab_row(struct hybrid_object *object, u64 vaddr, struct hybrid_row *row)
{
	struct hybrid_fde range;
	struct function fn;
	s32 distance;

	if (!find_function(object, vaddr, &fn))
		return false;
	memset(row, 0, sizeof(*row));
	row->start = vaddr;
	row->end = vaddr + 1;
	/* The kernel calls sigtramp(): its caller is what the signal interrupted. */
	if (fn.flags & TOP_FRAME && !is_named(object, &fn, "runtime.sigtramp")) {
		row->rule.kind = HYBRID_RULE_OUTERMOST;
		row->start = fn.start;
		row->end = fn.end;
		return true;
	}
	if (!find_distance(object, &fn, vaddr, &range, &distance) ||
	    distance < 0 || distance > MAX_FRAME || distance % 8 ||
	    !limit_to_own_stack(object, &fn, vaddr, &range))
		return true;
	row->start = range.start;
	row->end = range.end;
	frame_rule(object, &fn, distance, &row->rule);
	return true;
}

/* The name of a function: @size bytes of it at most, the end included; 0: it is longer. */
static unsigned int read_name(const struct hybrid_object *object, u32 index, char *name,
			      unsigned int size)
{
	const struct hybrid_pclntab *tab = &object->pclntab;
	u32 offset, at;
	unsigned int i;

	if (!read_u32(object, tab->functab + index * 8ULL + 4, &offset) ||
	    !read_u32(object, tab->functab + offset + NAME_AT, &at))
		return 0;
	for (i = 0; i < size; i++) {
		if (!hybrid_pclntab_read(object, tab->names + at + i, &name[i], 1))
			return 0;
		if (!name[i])
			return i;
	}
	return 0;
}

/* How much of a closure's name is that of what it was written in; 0: it is no closure's. */
static unsigned int parent_length(const char *name, unsigned int len)
{
	unsigned int suffix = strlen(".func"), end = len;

	while (len && name[len - 1] >= '0' && name[len - 1] <= '9')
		len--;
	if (len == end || len <= suffix || strncmp(name + len - suffix, ".func", suffix))
		return 0;
	return len - suffix;
}

bool hybrid_pclntab_parent(struct hybrid_object *object, u64 vaddr, struct hybrid_fde *fde)
{
	char closure[MAX_NAME], name[MAX_NAME];
	unsigned int len;
	u32 index, at, i;

	if (!hybrid_pclntab_find(object) || !find_index(object, vaddr, &index))
		return false;
	len = parent_length(closure, read_name(object, index, closure, sizeof(closure)));
	for (i = 2; len && i < 2 * NEAR; i++) {
		/* One in front, one behind. */
		at = i & 1 ? index + i / 2 : index - i / 2;
		if (at < object->pclntab.nr && read_name(object, at, name, sizeof(name)) == len &&
		    !memcmp(name, closure, len))
			return hybrid_pclntab_function(object, at, fde);
	}
	return false;
}
