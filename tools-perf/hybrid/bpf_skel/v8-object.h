/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_V8_OBJECT_H
#define __HYBRID_V8_OBJECT_H

/*
 * Objects of V8, as 10.2 to 13.6 have them on x86-64: what BPF and perf read of them. What differs
 * is in struct hybrid_walk_v8. And what a record has of a function.
 */
#include "python-text.h"

/* The lowest bits of a pointer to an object, include/v8-internal.h: kHeapObjectTag. */
#define V8_TAG			1
#define V8_TAG_MASK		7

/* include/v8-internal.h: kStringRepresentationMask. */
#define V8_STRING_KIND		7

/* Kinds of strings, src/objects/instance-type.h: StringRepresentationTag. */
enum {
	V8_STRING_SEQ		= 0,
	V8_STRING_CONS		= 1,
	V8_STRING_EXTERNAL	= 2,
	V8_STRING_SLICED	= 3,
	V8_STRING_THIN		= 5,
};

/* src/objects/scope-info.h: kScopeInfoMaxInlinedLocalNamesSize. */
#define V8_MAX_NAMED_LOCALS	75
#define V8_MAX_LOCALS		4096

/* Words of a ScopeInfo behind its locals, that are looked through. */
#define V8_SCOPE_WORDS		10

/* src/objects/scope-info.tq: the word with the first position, if that is before the locals. */
#define V8_POSITIONS_INDEX	3

/*
 * Of struct hybrid_walk_text, a function of V8: @function is the address of its SharedFunctionInfo;
 * @type and @size are two of its words: its script, and its name or ScopeInfo; @line and @states[0]
 * are the positions of its first character and behind its last one, negative if they are not known;
 * @states[1] is its mark. @bytes are struct hybrid_walk_v8_source, the name of the function and
 * that of the script: parts of strings, each after HYBRID_V8_PART().
 */
#define HYBRID_V8_PART(size, width)	((__u16)((size) << 1 | ((width) - 1)))
#define HYBRID_V8_PART_SIZE(head)	((__u32)(head) >> 1)
#define HYBRID_V8_PART_WIDTH(head)	(((head) & 1) + 1)

/* Characters of a name that are read at most, and bytes of one in a record. */
#define HYBRID_V8_TEXT			512
#define HYBRID_V8_PIECE			544

/**
 * struct hybrid_walk_v8_source - the text of a function's script
 * @chars: address of its characters, if these are in no object; else 0
 * @length: number of characters; 0: unknown
 * @width: bytes of each
 */
struct hybrid_walk_v8_source {
	__u64	chars;
	__u32	length;
	__u32	width;
};

#endif /* __HYBRID_V8_OBJECT_H */
