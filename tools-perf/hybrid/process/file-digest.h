/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_FILE_DIGEST_H
#define __PERF_HYBRID_FILE_DIGEST_H

#include "../rules/content.h"
#include "../rules/file-id.h"

/* Digests of files, computed by threads while the recording goes on. */
struct hybrid_digests;

/* Files whose digest is computed or waits for that: each has a descriptor. */
#define HYBRID_DIGESTS_WAITING	64

/* All files that have a digest. */
#define HYBRID_DIGESTS_ALL	65536

/* What is read of all files, in bytes. */
#define HYBRID_DIGESTS_BYTES	(4ULL << 30)

/**
 * hybrid_digests_new - an empty set
 *
 * Return: to be given to hybrid_digests_delete(); NULL if memory is short.
 */
struct hybrid_digests *hybrid_digests_new(void);

/* A thread that waits for a file system is not waited for: it frees the set when it returns. */
void hybrid_digests_delete(struct hybrid_digests *digests);

/**
 * hybrid_digests_add - have the digest of a file computed
 * @digests: NULL does nothing
 * @fd: of the file, O_PATH is enough; the callee's from now on; may be negative
 * @id: of the file as it was mapped: a file that has changed since has no digest
 *
 * Return: a number for hybrid_digests_get(); 0 if there is no room now.
 */
u32 hybrid_digests_add(struct hybrid_digests *digests, int fd, const struct hybrid_file_id *id);

/**
 * hybrid_digests_wait - wait until all digests are computed
 * @digests: NULL does nothing
 * @ns: for so long at most
 */
void hybrid_digests_wait(struct hybrid_digests *digests, u64 ns);

/**
 * hybrid_digests_get - the digest of a file
 * @digests: set
 * @number: from hybrid_digests_add()
 * @digest: out: HYBRID_DIGEST_SIZE bytes
 *
 * Return: false if the digest is not known (yet).
 */
bool hybrid_digests_get(struct hybrid_digests *digests, u32 number, u8 *digest);

#endif /* __PERF_HYBRID_FILE_DIGEST_H */
