/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_SECTION_H
#define __PERF_HYBRID_SECTION_H

#include <stdbool.h>
#include <elfutils/libdw.h>
#include <linux/types.h>

struct hybrid_fde;

/**
 * struct hybrid_section - CFI as it stands in a file
 * @ident: of the file
 * @data: bytes
 * @vaddr: of the first
 * @bias: what to add to an address for the object's own
 * @is_eh: .eh_frame, and not .debug_frame
 * @cie_at: offset of @cie; ~0: none
 * @cie: the CIE that was asked for last
 * @encoding: of the addresses of its FDEs, DW_EH_PE_*; DW_EH_PE_omit: not known, or there is
 *	no such CIE
 */
struct hybrid_section {
	const unsigned char	*ident;
	Elf_Data		*data;
	u64			 vaddr;
	u64			 bias;
	bool			 is_eh;
	Dwarf_Off		 cie_at;
	Dwarf_CIE		 cie;
	u8			 encoding;
};

/**
 * hybrid_section_open - find a section of a file
 * @sec: out: @bias is 0
 * @elf: a file in memory: from hybrid_elf_part() or hybrid_elf_cfi(); may be NULL
 * @name: ".eh_frame" or ".debug_frame"; or another one, of which only the bytes are asked for
 *
 * Return: false where there is none.
 */
bool hybrid_section_open(struct hybrid_section *sec, Elf *elf, const char *name);

/**
 * hybrid_section_range - the addresses that an FDE is about
 * @sec: that it is in
 * @fde: from dwarf_next_cfi()
 * @range: out
 *
 * Return: what stands behind the addresses, up to @fde's end; NULL where they can't be read,
 * or are none.
 */
const u8 *hybrid_section_range(struct hybrid_section *sec, const Dwarf_FDE *fde,
			       struct hybrid_fde *range);

#endif /* __PERF_HYBRID_SECTION_H */
