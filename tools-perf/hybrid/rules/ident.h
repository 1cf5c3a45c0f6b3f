/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_IDENT_H
#define __PERF_HYBRID_IDENT_H

#include <linux/types.h>

#define HYBRID_BUILD_ID_SIZE	20

/**
 * struct hybrid_ident - what a record says of the file that a mapping shows
 *
 * Files that differ can have the same: anyone may give his file the build-id of another, and
 * a mount namespace of his own gives it that path. See struct hybrid_file_id.
 *
 * @path: as the mapping names it; never NULL
 * @build_id_size: bytes of @build_id; 0: the numbers below are known in its place
 * @maj: device
 * @min: device
 * @ino: inode; with no build-id and inode 0, @path alone tells files apart
 * @ino_generation: of the inode
 */
struct hybrid_ident {
	const char	*path;
	u8		 build_id[HYBRID_BUILD_ID_SIZE];
	u8		 build_id_size;
	u32		 maj;
	u32		 min;
	u64		 ino;
	u64		 ino_generation;
};

#endif /* __PERF_HYBRID_IDENT_H */
