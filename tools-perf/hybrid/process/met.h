/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_MET_H
#define __PERF_HYBRID_MET_H

#include "../rules/key-table.h"
#include "../rules/space.h"

/* What the kernel calls the mapping of each vDSO. */
#define HYBRID_MET_VDSO		"[vdso]"

/* Pages of the kernel's code that are noted, at most; a kernel with its modules has fewer. */
#define HYBRID_MET_PAGES	65536

/* The kernel and its modules begin and end at a multiple of this. */
#define HYBRID_MET_SHIFT	12

/* Files with one ident that are told apart, at most. */
#define HYBRID_MET_NAMESAKES	64

/**
 * struct hybrid_met_file - a file that samples were in
 * @ident: what the records of its mappings say; its path is owned
 * @file: which file; no file: not known
 * @number: how many other files with @ident were met before; 0 if @file is not known. Records of
 *	the file's mappings have the number, since they can't tell it by @ident.
 * @digest: of hybrid_digests_add(); 0: none
 * @pid: the process that had it mapped when it was met last
 */
struct hybrid_met_file {
	struct hybrid_ident	ident;
	struct hybrid_file_id	file;
	u32			number;
	u32			digest;
	pid_t			pid;
};

/**
 * typedef hybrid_met_fn - have the digest of a file computed
 * @arg: the owner's
 * @mapping: shows the file
 *
 * Return: as hybrid_digests_add().
 */
typedef u32 (*hybrid_met_fn)(void *arg, const struct hybrid_mapping *mapping);

/**
 * struct hybrid_met - the files and the code of the kernel that callchains led through
 *
 * By that the end of a recording knows which build-ids to write, without reading what was
 * recorded once more. Zeroed it is empty.
 *
 * @add_digest: called for each file that is known; NULL: there are no digests
 * @arg: for @add_digest
 * @nr_numbered: mappings that were found to show a file whose number is not 0
 * @files: no two have the same ident and file
 * @nr_files: number of @files
 * @slots: by a hash of the ident and of the file of @files: index + 1; by that of the ident alone:
 *	how many files have the ident
 * @pages: of the kernel's code: address >> HYBRID_MET_SHIFT, and nothing else
 * @last_pages: the last ones that were met, by their lowest bits
 * @gen: of the space that @start and @end are of
 * @start: of the mapping that was met last
 * @end: of the same
 * @in_low_vdso: a chain led through the vDSO of a process of 32 bits, which is none of @files
 * @failed: memory was short, or there are too many pages: something is missing
 */
struct hybrid_met {
	hybrid_met_fn		 add_digest;
	void			*arg;
	u64			 nr_numbered;
	struct hybrid_met_file	*files;
	u32			 nr_files;
	struct hybrid_key_table	 slots;
	struct hybrid_key_table	 pages;
	u64			 last_pages[16];
	u64			 gen;
	u64			 start;
	u64			 end;
	bool			 in_low_vdso;
	bool			 failed;
};

void hybrid_met_exit(struct hybrid_met *met);

/* Is a mapping that begins there one of a process of 32 bits? */
static inline bool hybrid_met_is_low(u64 start)
{
	return !(start >> 32);
}

/**
 * hybrid_met_file - note a file
 * @met: where
 * @ident: what a record of a mapping says of it; copied
 * @id: which file; NULL: not known
 * @pid: a process that has it mapped
 *
 * Return: what is known of it, valid until the next call; NULL if memory is short.
 */
struct hybrid_met_file *hybrid_met_file(struct hybrid_met *met, const struct hybrid_ident *ident,
					const struct hybrid_file_id *id, pid_t pid);

/**
 * hybrid_met_user - note the file that an address of user space is in, if any
 * @met: where
 * @space: of the process
 * @ip: the address
 */
void hybrid_met_user(struct hybrid_met *met, struct hybrid_space *space, u64 ip);

/**
 * hybrid_met_kernel - note the page of the kernel that an address is in
 * @met: where
 * @ip: the address
 */
void hybrid_met_kernel(struct hybrid_met *met, u64 ip);

/**
 * hybrid_met_chain - note all that a callchain leads through
 * @met: where
 * @space: of the process; NULL: its mappings are not known
 * @chain: with context words, as a sample has it
 * @nr: number of @chain
 */
void hybrid_met_chain(struct hybrid_met *met, struct hybrid_space *space, const u64 *chain,
		      unsigned int nr);

#endif /* __PERF_HYBRID_MET_H */
