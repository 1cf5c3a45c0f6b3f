/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_FILE_DIGEST_H
#define __PERF_HYBRID_FILE_DIGEST_H

#include "../rules/content.h"
#include "../rules/space.h"

struct hybrid_loader;

/* Digests of files, computed in the background while the recording goes on. */
struct hybrid_digests;

/*
 * Files whose digest is computed or waits for that; each has a descriptor. A user's share is
 * HYBRID_FILE_UNREAD.
 */
#define HYBRID_DIGESTS_UNREAD	128

/* All files that have a digest. */
#define HYBRID_DIGESTS_ALL	65536

/**
 * hybrid_digests_new - an empty set
 * @loader: finds files, and has those read that are not local; NULL: there are no digests
 *
 * Return: to be given to hybrid_digests_delete(); NULL if memory is short.
 */
struct hybrid_digests *hybrid_digests_new(struct hybrid_loader *loader);

/* Before the loader. A thread is not waited for: the last one frees the set when it returns. */
void hybrid_digests_delete(struct hybrid_digests *digests);

/**
 * hybrid_digests_add - have the digest of a file computed
 * @digests: NULL does nothing
 * @mapping: shows the file, and has an object; a file that has changed since has no digest
 *
 * Waits for nobody. What is read is of the share of the file's user (HYBRID_FILE_DIGESTS).
 *
 * Return: a number for hybrid_digests_get(); 0 if there is no room now.
 */
u32 hybrid_digests_add(struct hybrid_digests *digests, const struct hybrid_mapping *mapping);

/* Goes on with what has ended meanwhile, without waiting; to be called now and then. */
void hybrid_digests_look(struct hybrid_digests *digests);

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
