/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_JAVA_CODE_HASH_H
#define __HYBRID_JAVA_CODE_HASH_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/**
 * hybrid_java_code_hash - tell the blobs of one walk from those of another
 * @code_hash: that of the frames before, the innermost first; 0: none
 * @blob: address of the blob
 * @name: address of its name
 * @compile_id: number of the compilation
 * @frame_words: of the blob, at least 2: blobs without a frame are never freed, and do not count
 *
 * Return: the code_hash with this frame.
 */
static inline __u64 hybrid_java_code_hash(__u64 code_hash, __u64 blob, __u64 name, __u32 compile_id,
					  __u32 frame_words)
{
	code_hash = (code_hash ^ blob) * 0x9e3779b97f4a7c15ULL;
	code_hash = (code_hash ^ code_hash >> 32 ^ name) * 0x9e3779b97f4a7c15ULL;
	code_hash ^= code_hash >> 32 ^ ((__u64)compile_id << 32 | frame_words);
	code_hash *= 0x9e3779b97f4a7c15ULL;
	return code_hash ^ code_hash >> 32;
}

#endif /* __HYBRID_JAVA_CODE_HASH_H */
