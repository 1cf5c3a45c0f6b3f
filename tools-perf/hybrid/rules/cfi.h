/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_CFI_H
#define __PERF_HYBRID_CFI_H

#include <linux/rbtree.h>
#include "eh-frame.h"
#include "expr.h"
#include "rule.h"

enum hybrid_where_kind {
	HYBRID_WHERE_SAME,
	HYBRID_WHERE_UNDEFINED,
	HYBRID_WHERE_CFA,	/* in memory at CFA + off */
	HYBRID_WHERE_CFA_VALUE,	/* is CFA + off */
	HYBRID_WHERE_REG,	/* in another register: off is its number */
	HYBRID_WHERE_EXPR,	/* in memory at what ops compute */
	HYBRID_WHERE_VALUE,	/* is what ops compute */
};

struct hybrid_where {
	u8		 kind;
	u16		 nr_ops;
	s64		 off;
	Dwarf_Op	*ops;	/* owned */
};

/**
 * struct hybrid_full_row - a row with all its registers
 * @cfa: HYBRID_WHERE_VALUE always
 * @reg: where the caller's registers are, by DWARF number
 */
struct hybrid_full_row {
	struct hybrid_where	cfa;
	struct hybrid_where	reg[HYBRID_MAX_REGS];
};

/**
 * struct hybrid_row - one row of the CFI table, compiled
 * @node: in its object's tree, by @start
 * @start: first address, as the ELF file numbers them
 * @end: address behind the last
 * @begins: it is the first row of its FDE; always false if libdw has read the row
 * @popped: begins right behind a pop or leave, see hybrid_row_popped()
 * @restored: all registers are the caller's, see hybrid_row_restored()
 * @asked: the state of what is stored of its object for which it was to be loaded, see
 *	compiler.h; 0: never
 * @rule: what unwinding needs nearly always
 * @code: where @rule is HYBRID_RULE_NONE, what the code itself tells
 * @code_at: file offset that @code is for, plus 1; 0: none yet
 * @code_led: by @code a sample came to who has called, or out of its dump
 * @code_failed: by @code a sample came to what has not called
 * @full: the whole row; compiled when first asked for (HYBRID_RULE_FULL: at
 *	once), NULL before
 */
struct hybrid_row {
	struct rb_node		 node;
	u64			 start;
	u64			 end;
	bool			 begins;
	bool			 popped;
	bool			 restored;
	u32			 asked;
	struct hybrid_rule	 rule;
	struct hybrid_rule	 code;
	u64			 code_at;
	bool			 code_led;
	bool			 code_failed;
	struct hybrid_full_row	*full;
};

/**
 * struct hybrid_cfi - the CFI of one ELF file
 * @abi: by the file's class
 * @elf: the file; its headers alone if there is @fd
 * @fd: of the file; -1: @elf has all of it
 * @user: whose share it is; NULL: there is no bound
 * @is_refused: the user was over his share, or the file too large: rows may be missing
 * @sections: of @elf, with .eh_frame and its header; NULL: not read yet, or there are none
 * @sections_tried: they were looked for
 * @eh_frame: .eh_frame, as far as libdw is not needed
 * @eh: .eh_frame, NULL where there is none, or no address was looked for yet
 * @eh_tried: one was: libdw reads all of the section before it finds the first
 * @debug: .debug_frame, of the file or of its debug file; NULL where there is
 *	none
 * @debug_bias: what the debug file's addresses are less than the file's
 */
struct hybrid_cfi {
	const struct hybrid_abi	*abi;
	Elf			*elf;
	int			 fd;
	struct hybrid_file_user	*user;
	bool			 is_refused;
	Elf			*sections;
	bool			 sections_tried;
	struct hybrid_eh_frame	 eh_frame;
	Dwarf_CFI		*eh;
	bool			 eh_tried;
	Dwarf_CFI		*debug;
	u64			 debug_bias;
};

/**
 * hybrid_cfi_sections - .eh_frame and .eh_frame_hdr of a file
 * @cfi: the file's CFI
 *
 * Return: a file in memory that has them; NULL if there are none, or @cfi->is_refused.
 */
Elf *hybrid_cfi_sections(struct hybrid_cfi *cfi);

/* Gives back what was read of .eh_frame. */
void hybrid_cfi_forget(struct hybrid_cfi *cfi);

/* Was some of it read? */
static inline bool hybrid_cfi_is_read(const struct hybrid_cfi *cfi)
{
	return cfi->eh_tried || cfi->eh_frame.tried || cfi->sections_tried;
}

/* Is it a register and an offset? By DWARF number. */
bool hybrid_op_register(const Dwarf_Op *op, u64 *reg, s64 *off);

/**
 * hybrid_cfi_row - compile the row for one address
 * @cfi: the file's CFI
 * @addr: as the ELF file numbers them
 * @row: start, end and rule are filled in; rule.kind is HYBRID_RULE_NONE where
 *	no CFI covers @addr
 *
 * Return: 0, or -ENOMEM.
 */
int hybrid_cfi_row(struct hybrid_cfi *cfi, u64 addr, struct hybrid_row *row);

/* The same by libdw alone. */
int hybrid_cfi_libdw_row(struct hybrid_cfi *cfi, u64 addr, struct hybrid_row *row);

/**
 * hybrid_cfi_full - the whole row, compiled now if it was not yet
 * @cfi: the file's CFI
 * @row: from hybrid_cfi_row()
 *
 * Return: owned by @row; NULL where memory is short or the row can't be read.
 */
const struct hybrid_full_row *hybrid_cfi_full(struct hybrid_cfi *cfi, struct hybrid_row *row);

/**
 * hybrid_row_popped - the instruction before a row was a pop or a leave
 * @cfi: the file's CFI
 * @row: from hybrid_cfi_row()
 *
 * Compilers do not say in the CFI that an epilogue restores registers: the row
 * behind "leave" still has rbp saved at what is now below the stack pointer,
 * where no dump reaches, and a signal handler may have overwritten it. But what
 * was popped is in the register again. (A leaf function may really keep a
 * register there, in the red zone; it moves it there and pops nothing.)
 */
void hybrid_row_popped(const struct hybrid_cfi *cfi, struct hybrid_row *row);

/**
 * hybrid_row_restored - a row of a function that has left its realigned frame
 * @row: from hybrid_cfi_row()
 *
 * There the CFI has registers saved at places that count from rbp, and says so to
 * the end. Once rbp is popped it is the caller's frame that they count from.
 */
void hybrid_row_restored(struct hybrid_row *row);

void hybrid_row_exit(struct hybrid_row *row);

#endif /* __PERF_HYBRID_CFI_H */
