/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_EH_FRAME_H
#define __PERF_HYBRID_EH_FRAME_H

#include "fde.h"
#include "section.h"

struct hybrid_cfi;
struct hybrid_row;

/* Rows that a program may have put aside at a time; compilers put one or two. */
#define HYBRID_EH_KEPT	8

/**
 * struct hybrid_eh_place - where the caller's value of a register is
 * @kind: HYBRID_WHERE_SAME, _UNDEFINED, _CFA; any other: libdw is to be asked
 * @off: bytes from the CFA
 */
struct hybrid_eh_place {
	u8	kind;
	s64	off;
};

/**
 * struct hybrid_eh_state - a row as its FDE's program makes it
 * @cfa_known: the CFA is @cfa_reg + @cfa_off
 * @cfa_reg: by DWARF number
 * @cfa_off: bytes
 * @ip: return address
 * @sp: HYBRID_WHERE_SAME: the CFA
 * @bp: frame pointer
 */
struct hybrid_eh_state {
	bool			cfa_known;
	u64			cfa_reg;
	s64			cfa_off;
	struct hybrid_eh_place	ip;
	struct hybrid_eh_place	sp;
	struct hybrid_eh_place	bp;
};

/**
 * struct hybrid_eh_frame - .eh_frame, and the program of one of its FDEs
 *
 * Rows are mostly asked for one behind the other, so the program is stopped behind each.
 *
 * @tried: the sections were looked for
 * @section: .eh_frame
 * @hdr: .eh_frame_hdr
 * @nr: entries in the table of that; 0: there is none that can be used
 * @initial_of: the CIE that @initial is of, as &struct hybrid_section names it; ~0: none
 * @initial_known: it was understood
 * @initial: the row that it gives to begin with
 * @fde: that the program is of; empty: none
 * @program: its first byte
 * @at: not run yet
 * @end: of the program
 * @from: first address of the row @now
 * @to: and behind the last
 * @now: the row
 * @kept: rows put aside
 * @nr_kept: number of @kept
 */
struct hybrid_eh_frame {
	bool			 tried;
	struct hybrid_section	 section;
	struct hybrid_section	 hdr;
	u64			 nr;
	Dwarf_Off		 initial_of;
	bool			 initial_known;
	struct hybrid_eh_state	 initial;
	struct hybrid_fde	 fde;
	const u8		*program;
	const u8		*at;
	const u8		*end;
	u64			 from;
	u64			 to;
	struct hybrid_eh_state	 now;
	struct hybrid_eh_state	 kept[HYBRID_EH_KEPT];
	unsigned int		 nr_kept;
};

/* Can an .eh_frame_hdr be searched? */
bool hybrid_eh_frame_is_usual(const struct hybrid_section *hdr);

/**
 * hybrid_eh_frame_row - the row for one address, where .eh_frame says the usual of it
 * @cfi: the file's CFI
 * @addr: as the ELF file numbers them
 * @row: start, end and rule are filled in
 *
 * Return: false where libdw is to be asked.
 */
bool hybrid_eh_frame_row(struct hybrid_cfi *cfi, u64 addr, struct hybrid_row *row);

#endif /* __PERF_HYBRID_EH_FRAME_H */
