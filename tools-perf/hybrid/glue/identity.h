/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_IDENTITY_H
#define __PERF_HYBRID_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>
#include "../../dso.h"

/*
 * The identity of a mapped file: a digest of its content. Anybody can give his file the build-id of
 * another. perf record writes the digest into the table of build-ids, after the path's end. perf
 * then takes symbols, code and lines of the file only from a file with that content. Other perfs
 * ignore the digest.
 */
struct hybrid_file_id;
struct nsinfo;
struct perf_record_header_build_id;
struct perf_session;

/* Bytes that follow a path in the table, at most. */
#define HYBRID_IDENTITY_TAIL	64

/* Characters that the build-id cache adds to a build-id, at most. */
#define HYBRID_IDENTITY_NAME	17

/* HAVE_DSO_IDENTITY: perf's struct dso has room for it. */
#if defined(HAVE_HYBRID_SUPPORT) && defined(HAVE_DSO_IDENTITY)

/* Tells files with one path and build-id apart. @number: as struct hybrid_met_file has it */
static inline void hybrid_identity__set_number(struct dso_id *id, u32 number)
{
	id->namesake = number;
}

/**
 * hybrid_identity__set - set the identity of a dso
 * @dso: of a file in user space, with a build-id
 * @digest: hybrid_content_digest()
 * @file: which file has that digest; NULL: not known
 */
void hybrid_identity__set(struct dso *dso, const u8 *digest, const struct hybrid_file_id *file);

void hybrid_identity__free(struct dso *dso);

/**
 * hybrid_identity__tail - what the table of build-ids has of a dso, after its path
 * @dso: any
 * @out: HYBRID_IDENTITY_TAIL bytes
 *
 * Return: bytes, a multiple of 8; 0: the dso has no identity.
 */
size_t hybrid_identity__tail(const struct dso *dso, void *out);

/**
 * hybrid_identity__read - read an entry of the table of build-ids
 * @session: with the dso
 * @entry: the entry's beginning, in this machine's byte order
 * @path: its path, with a NUL after @size bytes
 * @size: number of bytes that follow @entry
 *
 * Return: false if the entry has no identity; it is perf's then.
 */
bool hybrid_identity__read(struct perf_session *session,
			   const struct perf_record_header_build_id *entry, const char *path,
			   size_t size);

/**
 * hybrid_identity__look - find out which files have the content of a dso, before they are read
 * @dso: any
 *
 * Call it in perf's own mount namespace.
 */
void hybrid_identity__look(struct dso *dso);

/**
 * hybrid_identity__refuses - may a file not be read for a dso?
 * @dso: hybrid_identity__look() was called
 * @type: enum dso_binary_type of the file
 *
 * The file at the dso's path is refused if it has another content. Debug files are refused if
 * files with the build-id were found, but none of them has the content.
 */
bool hybrid_identity__refuses(struct dso *dso, int type);

/**
 * hybrid_identity__cached - the file of a dso in the build-id cache
 * @dso: any
 * @link: where the cache has the first file with the dso's build-id
 * @path: out: PATH_MAX bytes: folder of the file with the dso's content
 *
 * Return: false if @link is right; then @path is not set.
 */
bool hybrid_identity__cached(struct dso *dso, const char *link, char *path);

/**
 * hybrid_identity__cache_as - what the build-id cache is to call a file
 * @dso: hit
 * @name: path of the file, in the dso's mount namespace
 * @sbuild_id: its build-id; out: the name; room for HYBRID_IDENTITY_NAME more bytes
 *
 * Return: false if the cache has the file already, or @name is not the file that was mapped, or it
 * is not at hand.
 */
bool hybrid_identity__cache_as(struct dso *dso, const char *name, char *sbuild_id);

/**
 * hybrid_identity__is_at_hand - can perf record open a file?
 * @nsi: mount namespace; NULL: perf's own
 * @path: of the file in there
 *
 * Call it in perf's own mount namespace.
 *
 * Return: false if whoever made a FUSE file system could let perf wait for ever.
 */
bool hybrid_identity__is_at_hand(const struct nsinfo *nsi, const char *path);

/**
 * hybrid_identity__choose - the user has put a file into the build-id cache
 * @sbuild_id: of the file
 * @name: its path; perf warns if the cache has another file with the build-id
 *
 * perf uses the file for all dsos with the build-id, also those with another content: it may be
 * the file before it was stripped.
 */
void hybrid_identity__choose(const char *sbuild_id, const char *name);

/* Removes files from the build-id cache that stand beside the one with a build-id. */
void hybrid_identity__remove(const char *sbuild_id);

/* From where lines of a dso are read: a path; NULL: no file has its content. */
const char *hybrid_identity__line_file(struct dso *dso);

/*
 * Of perf top and trace: files at the paths of mappings are those that are mapped. They come before
 * the build-id cache.
 */
void hybrid_identity__set_live(void);

#else /* HAVE_HYBRID_SUPPORT && HAVE_DSO_IDENTITY */

#include <linux/compiler.h>

static inline void hybrid_identity__set_number(struct dso_id *id __maybe_unused,
					       u32 number __maybe_unused)
{
}

static inline void hybrid_identity__set(struct dso *dso __maybe_unused,
					const u8 *digest __maybe_unused,
					const struct hybrid_file_id *file __maybe_unused)
{
}

static inline void hybrid_identity__free(struct dso *dso __maybe_unused)
{
}

static inline size_t hybrid_identity__tail(const struct dso *dso __maybe_unused,
					   void *tail __maybe_unused)
{
	return 0;
}

static inline bool
hybrid_identity__read(struct perf_session *session __maybe_unused,
		      const struct perf_record_header_build_id *entry __maybe_unused,
		      const char *path __maybe_unused, size_t size __maybe_unused)
{
	return false;
}

static inline void hybrid_identity__look(struct dso *dso __maybe_unused)
{
}

static inline bool hybrid_identity__refuses(struct dso *dso __maybe_unused,
					    int type __maybe_unused)
{
	return false;
}

static inline bool hybrid_identity__cached(struct dso *dso __maybe_unused,
					   const char *link __maybe_unused,
					   char *path __maybe_unused)
{
	return false;
}

static inline bool hybrid_identity__cache_as(struct dso *dso __maybe_unused,
					     const char *name __maybe_unused,
					     char *sbuild_id __maybe_unused)
{
	return true;
}

static inline bool hybrid_identity__is_at_hand(const struct nsinfo *nsi __maybe_unused,
					       const char *path __maybe_unused)
{
	return true;
}

static inline void hybrid_identity__choose(const char *sbuild_id __maybe_unused,
					   const char *name __maybe_unused)
{
}

static inline void hybrid_identity__remove(const char *sbuild_id __maybe_unused)
{
}

static inline const char *hybrid_identity__line_file(struct dso *dso)
{
	return dso__long_name(dso);
}

static inline void hybrid_identity__set_live(void)
{
}

#endif /* HAVE_HYBRID_SUPPORT && HAVE_DSO_IDENTITY */

#endif /* __PERF_HYBRID_IDENTITY_H */
