/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_MET_H
#define __PERF_HYBRID_MET_H

#include "../rules/space.h"

/* What the kernel calls the mapping of each vDSO. */
#define HYBRID_MET_VDSO		"[vdso]"

/* Pages of the kernel's code that are noted, at most; a kernel with its modules has fewer. */
#define HYBRID_MET_PAGES	65536

/* The kernel and its modules begin and end at a multiple of this. */
#define HYBRID_MET_SHIFT	12

/**
 * struct hybrid_met_file - a file that samples were in
 * @ident: what the records of its mappings say; its path is owned
 * @pid: the process that had it mapped when it was met last
 */
struct hybrid_met_file {
	struct hybrid_ident	ident;
	pid_t			pid;
};

/**
 * struct hybrid_met - the files and the code of the kernel that callchains led through
 *
 * By that the end of a recording knows which build-ids to write, without reading what was
 * recorded once more. Zeroed it is empty.
 *
 * @files: no two have the same ident
 * @nr_files: number of @files
 * @file_slots: index in @files plus 1, by hash; 0: free
 * @nr_file_slots: a power of two; 0: none yet
 * @pages: of the kernel's code, by hash: address >> HYBRID_MET_SHIFT; 0: free
 * @nr_pages: of @pages that are not free
 * @nr_page_slots: a power of two; 0: none yet
 * @last_page: the last one that was met
 * @gen: of the space that @start and @end are of
 * @start: of the mapping that was met last
 * @end: of the same
 * @in_low_vdso: a chain led through the vDSO of a process of 32 bits, which is none of @files
 * @failed: memory was short, or there are too many pages: something is missing
 */
struct hybrid_met {
	struct hybrid_met_file	*files;
	u32			 nr_files;
	u32			*file_slots;
	u32			 nr_file_slots;
	u64			*pages;
	u32			 nr_pages;
	u32			 nr_page_slots;
	u64			 last_page;
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
 * @pid: a process that has it mapped
 */
void hybrid_met_file(struct hybrid_met *met, const struct hybrid_ident *ident, pid_t pid);

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
