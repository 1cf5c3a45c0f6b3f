/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _CFI_ROWS_H
#define _CFI_ROWS_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "elf-image.h"

enum truth_kind {
	TRUTH_SP,	/* CFA = sp + off */
	TRUTH_BP,	/* CFA = bp + off */
	TRUTH_REG,	/* CFA = another register + off */
	TRUTH_MEM,	/* CFA = what is at sp + mem_off, or bp + mem_off, + off */
	TRUTH_ODD,	/* another expression */
	TRUTH_NONE,	/* there is no caller */
};

/**
 * struct truth - a row
 * @start:	the first address that it is for
 * @end:	the first that it is not for
 * @kind:	where the CFA counts from
 * @off:	the CFA, as offset from there
 * @reg:	TRUTH_REG: the register, by the processor's numbers
 * @mem_bp:	TRUTH_MEM: the place counts from bp
 * @mem_off:	TRUTH_MEM: the place
 * @bp_known:	the table tells where the caller's bp is
 * @bp_same:	still in bp
 * @bp_at_bp:	or there, as offset from bp
 * @bp_off:	or there, as offset from the CFA
 * @is_signal:	of a signal trampoline
 */
struct truth {
	u64	start;
	u64	end;
	enum truth_kind	kind;
	s32		off;
	u8		reg;
	bool		mem_bp;
	s32		mem_off;
	bool		bp_known;
	bool		bp_same;
	bool		bp_at_bp;
	s32		bp_off;
	bool		is_signal;
};

/**
 * struct cfi_rows - unwind tables
 * @image:	their file
 * @cfi:	libdw's view of them
 * @is_eh:	they are .eh_frame
 */
struct cfi_rows {
	struct elf_image	*image;
	Dwarf_CFI		*cfi;
	bool			is_eh;
};

static inline int word_size(const struct cfi_rows *rows)
{
	return rows->image->is_64bit ? 8 : 4;
}

bool truth_at(struct cfi_rows *r, u64 addr, struct truth *t);
int cfi_rows_walk(struct cfi_rows *rows, struct elf_image *image,
		  void (*each)(void *ctx, u64 start, u64 end), void *ctx);

#endif /* _CFI_ROWS_H */
