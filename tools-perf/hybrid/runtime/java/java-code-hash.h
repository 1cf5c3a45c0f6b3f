/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_JAVA_CODE_HASH_H
#define __HYBRID_JAVA_CODE_HASH_H

#include "../../bpf_skel/made-code.h"

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
	code_hash = hybrid_code_hash(code_hash, blob);
	code_hash = hybrid_code_hash(code_hash, name);
	return hybrid_code_hash(code_hash, (__u64)compile_id << 32 | frame_words);
}

#endif /* __HYBRID_JAVA_CODE_HASH_H */
