// SPDX-License-Identifier: GPL-2.0
/*
 * What nearly all of a file's .eh_frame says, read without libdw: that runs an FDE's
 * program from its beginning for each row, and keeps all FDEs that it has seen in a tree.
 * Here one run gives all rows of an FDE.
 *
 * What is left to libdw: files without the usual .eh_frame_hdr, signal frames, rows whose
 * CFA, stack pointer or frame pointer need more than one offset, and whatever looks wrong.
 */
#include <dwarf.h>
#include <string.h>
#include <linux/kernel.h>
#include "cfi.h"

#define HDR_SIZE	12
#define ENTRY_SIZE	8

enum form {
	UNKNOWN,
	NONE,
	BYTES_1,
	BYTES_2,
	BYTES_4,
	ULEB,
	SLEB,
	BLOCK,
};

/* What stands behind an operation. */
static const u8 forms[][2] = {
	[DW_CFA_nop]			= { NONE },
	[DW_CFA_advance_loc1]		= { BYTES_1 },
	[DW_CFA_advance_loc2]		= { BYTES_2 },
	[DW_CFA_advance_loc4]		= { BYTES_4 },
	[DW_CFA_offset_extended]	= { ULEB, ULEB },
	[DW_CFA_restore_extended]	= { ULEB },
	[DW_CFA_undefined]		= { ULEB },
	[DW_CFA_same_value]		= { ULEB },
	[DW_CFA_register]		= { ULEB, ULEB },
	[DW_CFA_remember_state]		= { NONE },
	[DW_CFA_restore_state]		= { NONE },
	[DW_CFA_def_cfa]		= { ULEB, ULEB },
	[DW_CFA_def_cfa_register]	= { ULEB },
	[DW_CFA_def_cfa_offset]		= { ULEB },
	[DW_CFA_def_cfa_expression]	= { BLOCK },
	[DW_CFA_expression]		= { ULEB, BLOCK },
	[DW_CFA_offset_extended_sf]	= { ULEB, SLEB },
	[DW_CFA_def_cfa_sf]		= { ULEB, SLEB },
	[DW_CFA_def_cfa_offset_sf]	= { SLEB },
	[DW_CFA_val_offset]		= { ULEB, ULEB },
	[DW_CFA_val_offset_sf]		= { ULEB, SLEB },
	[DW_CFA_val_expression]		= { ULEB, BLOCK },
	[DW_CFA_GNU_args_size]		= { ULEB },
};

static bool read_bytes(const u8 **at, const u8 *end, unsigned int size, u64 *value)
{
	*value = 0;
	if ((u64)(end - *at) < size)
		return false;
	memcpy(value, *at, size);
	*at += size;
	return true;
}

static bool read_leb(const u8 **at, const u8 *end, bool is_signed, u64 *value)
{
	unsigned int shift;
	u8 byte;

	*value = 0;
	for (shift = 0; shift < 63 && *at < end; shift += 7) {
		byte = *(*at)++;
		*value |= (u64)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (is_signed && byte & 0x40)
			*value |= ~0ULL << (shift + 7);
		return true;
	}
	return false;
}

static bool read_operand(enum form form, const u8 **at, const u8 *end, u64 *value)
{
	switch (form) {
	case BYTES_1:
		return read_bytes(at, end, 1, value);
	case BYTES_2:
		return read_bytes(at, end, 2, value);
	case BYTES_4:
		return read_bytes(at, end, 4, value);
	case ULEB:
	case SLEB:
		return read_leb(at, end, form == SLEB, value);
	case BLOCK:
		if (!read_leb(at, end, false, value) || *value > (u64)(end - *at))
			return false;
		*at += *value;
		return true;
	case NONE:
	case UNKNOWN:
	default:
		return true;
	}
}

/* An operation with its operands; those of the short forms are as of the long ones. */
static bool read_op(struct hybrid_eh_frame *eh, u8 *op, u64 *first, u64 *second)
{
	u8 low;

	*op = *eh->at++;
	low = *op & 0x3f;
	*first = low;
	switch (*op & 0xc0) {
	case DW_CFA_advance_loc:
		*op = DW_CFA_advance_loc1;
		return true;
	case DW_CFA_offset:
		*op = DW_CFA_offset_extended;
		return read_leb(&eh->at, eh->end, false, second);
	case DW_CFA_restore:
		*op = DW_CFA_restore_extended;
		return true;
	default:
		return low < ARRAY_SIZE(forms) && forms[low][0] != UNKNOWN &&
		       read_operand(forms[low][0], &eh->at, eh->end, first) &&
		       read_operand(forms[low][1], &eh->at, eh->end, second);
	}
}

/* NULL: what becomes of it does not matter here. */
static struct hybrid_eh_place *place_of(const struct hybrid_abi *abi,
					struct hybrid_eh_state *state, u64 reg)
{
	if (reg == abi->ip)
		return &state->ip;
	if (reg == abi->sp)
		return &state->sp;
	return reg == abi->bp ? &state->bp : NULL;
}

static void set_place(const struct hybrid_abi *abi, struct hybrid_eh_frame *eh, u64 reg,
		      enum hybrid_where_kind kind, u64 off)
{
	struct hybrid_eh_place *place = place_of(abi, &eh->now, reg);

	if (place)
		*place = (struct hybrid_eh_place) { kind, off };
}

static bool restore_place(const struct hybrid_abi *abi, struct hybrid_eh_frame *eh, u64 reg)
{
	struct hybrid_eh_place *place = place_of(abi, &eh->now, reg);

	if (place)
		*place = *place_of(abi, &eh->initial, reg);
	/* Where a program begins is what its CIE has said: that can't go back to it. */
	return eh->initial_known;
}

static bool keep_state(struct hybrid_eh_frame *eh)
{
	if (eh->nr_kept == HYBRID_EH_KEPT)
		return false;
	eh->kept[eh->nr_kept++] = eh->now;
	return true;
}

static bool take_state(struct hybrid_eh_frame *eh)
{
	if (!eh->nr_kept)
		return false;
	eh->now = eh->kept[--eh->nr_kept];
	return true;
}

/* All but those that end a row. */
static bool run_op(const struct hybrid_abi *abi, struct hybrid_eh_frame *eh, u8 op, u64 first,
		   u64 second)
{
	u64 factor = eh->section.cie.data_alignment_factor;

	switch (op) {
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
		set_place(abi, eh, first, HYBRID_WHERE_CFA, second * factor);
		return true;
	case DW_CFA_restore_extended:
		return restore_place(abi, eh, first);
	case DW_CFA_undefined:
		set_place(abi, eh, first, HYBRID_WHERE_UNDEFINED, 0);
		return true;
	case DW_CFA_same_value:
		set_place(abi, eh, first, HYBRID_WHERE_SAME, 0);
		/* Of sp that means the CFA here. */
		return first != abi->sp;
	case DW_CFA_register:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		set_place(abi, eh, first, HYBRID_WHERE_EXPR, 0);
		return true;
	case DW_CFA_remember_state:
		return keep_state(eh);
	case DW_CFA_restore_state:
		return take_state(eh);
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
		eh->now.cfa_known = true;
		eh->now.cfa_reg = first;
		eh->now.cfa_off = op == DW_CFA_def_cfa ? second : second * factor;
		return true;
	case DW_CFA_def_cfa_register:
		eh->now.cfa_reg = first;
		return true;
	case DW_CFA_def_cfa_offset:
		eh->now.cfa_off = first;
		return true;
	case DW_CFA_def_cfa_offset_sf:
		eh->now.cfa_off = first * factor;
		return true;
	case DW_CFA_def_cfa_expression:
		eh->now.cfa_known = false;
		return true;
	default:
		return true;
	}
}

/* Runs the program up to where the row ends: how many bytes it is long; 0: to the end. */
static u64 run_row(const struct hybrid_abi *abi, struct hybrid_eh_frame *eh)
{
	u64 first, second;
	u8 op;

	while (eh->at < eh->end) {
		if (!read_op(eh, &op, &first, &second))
			goto odd;
		if (op < DW_CFA_advance_loc1 || op > DW_CFA_advance_loc4) {
			if (!run_op(abi, eh, op, first, second))
				goto odd;
			continue;
		}
		first *= eh->section.cie.code_alignment_factor;
		if (first)
			return first;
	}
	return 0;

odd:
	/* From here on nothing is known. */
	eh->at = eh->end;
	eh->now.cfa_known = false;
	return 0;
}

static void next_row(const struct hybrid_abi *abi, struct hybrid_eh_frame *eh)
{
	u64 size;

	eh->from = eh->to;
	size = run_row(abi, eh);
	eh->to = size && size < eh->fde.end - eh->from ? eh->from + size : eh->fde.end;
}

/* What an FDE of the CIE that was asked for last begins with. */
static void run_cie(const struct hybrid_abi *abi, struct hybrid_eh_frame *eh)
{
	const Dwarf_CIE *cie = &eh->section.cie;

	eh->initial_of = eh->section.cie_at;
	eh->initial_known = false;
	if (cie->return_address_register != abi->ip || cie->augmentation[0] != 'z' ||
	    strspn(cie->augmentation + 1, "RPL") != strlen(cie->augmentation + 1))
		return;
	/* The psABI says where the other two are. */
	eh->now = (struct hybrid_eh_state) { .ip.kind = HYBRID_WHERE_EXPR };
	eh->nr_kept = 0;
	eh->at = cie->initial_instructions;
	eh->end = cie->initial_instructions_end;
	/* It is one row. */
	eh->initial_known = !run_row(abi, eh) && eh->now.cfa_known;
	eh->initial = eh->now;
}

static bool run_from_start(const struct hybrid_abi *abi, struct hybrid_eh_frame *eh)
{
	if (eh->initial_of != eh->section.cie_at)
		run_cie(abi, eh);
	return eh->initial_known;
}

static u64 table_word(const struct hybrid_eh_frame *eh, u64 index, unsigned int which)
{
	s32 word;

	memcpy(&word, eh->hdr.data->d_buf + HDR_SIZE + index * ENTRY_SIZE + which * sizeof(word),
	       sizeof(word));
	return eh->hdr.vaddr + word;
}

/* Offset in .eh_frame of the last FDE that does not begin behind an address. */
static u64 search(const struct hybrid_eh_frame *eh, u64 addr)
{
	u64 low = 0, high = eh->nr;

	while (low < high) {
		u64 mid = low + (high - low) / 2;

		if (addr < table_word(eh, mid, 0))
			high = mid;
		else
			low = mid + 1;
	}
	return low ? table_word(eh, low - 1, 1) - eh->section.vaddr : ~0ULL;
}

static bool find_fde(const struct hybrid_abi *abi, struct hybrid_eh_frame *eh, u64 addr)
{
	u64 off = search(eh, addr), len;
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	eh->fde.end = eh->fde.start;
	if (off >= eh->section.data->d_size ||
	    dwarf_next_cfi(eh->section.ident, eh->section.data, true, off, &next, &entry) ||
	    dwarf_cfi_cie_p(&entry))
		return false;
	eh->program = hybrid_section_range(&eh->section, &entry.fde, &eh->fde);
	/* What is not known of the CIE is not known of its FDEs. */
	if (!eh->program || !run_from_start(abi, eh) ||
	    !read_leb(&eh->program, entry.fde.end, false, &len) ||
	    len > (u64)(entry.fde.end - eh->program)) {
		eh->fde.end = eh->fde.start;
		return false;
	}
	eh->program += len;
	eh->end = entry.fde.end;
	eh->from = eh->fde.end;
	return addr >= eh->fde.start && addr < eh->fde.end;
}

/* What linkers write: a count of 4 bytes, and a table of offsets from itself. */
bool hybrid_eh_frame_is_usual(const struct hybrid_section *hdr)
{
	static const u8 usual[] = { 1, 0x1b, 0x03, 0x3b };

	return hdr->data->d_size >= HDR_SIZE && !memcmp(hdr->data->d_buf, usual, sizeof(usual));
}

static void open_sections(struct hybrid_eh_frame *eh, Elf *elf)
{
	u32 nr;
	s32 at;

	*eh = (struct hybrid_eh_frame) { .tried = true, .initial_of = ~0ULL };
	if (!hybrid_section_open(&eh->section, elf, ".eh_frame") ||
	    !hybrid_section_open(&eh->hdr, elf, ".eh_frame_hdr") ||
	    eh->hdr.ident[EI_CLASS] != ELFCLASS64 || eh->hdr.ident[EI_DATA] != ELFDATA2LSB ||
	    !hybrid_eh_frame_is_usual(&eh->hdr))
		return;
	memcpy(&at, eh->hdr.data->d_buf + 4, sizeof(at));
	memcpy(&nr, eh->hdr.data->d_buf + 8, sizeof(nr));
	if (eh->hdr.vaddr + 4 + at == eh->section.vaddr &&
	    nr <= (eh->hdr.data->d_size - HDR_SIZE) / ENTRY_SIZE)
		eh->nr = nr;
}

static bool fits(s64 off)
{
	return off == (s32)off;
}

static bool make_rule(const struct hybrid_abi *abi, const struct hybrid_eh_state *now,
		      struct hybrid_rule *rule)
{
	if (!now->cfa_known || now->sp.kind != HYBRID_WHERE_SAME)
		return false;
	if (now->ip.kind == HYBRID_WHERE_UNDEFINED) {
		rule->kind = HYBRID_RULE_OUTERMOST;
		return true;
	}
	if (now->ip.kind != HYBRID_WHERE_CFA || now->bp.kind > HYBRID_WHERE_CFA ||
	    (now->cfa_reg != abi->sp && now->cfa_reg != abi->bp) ||
	    !fits(now->cfa_off) || !fits(now->ip.off) || !fits(now->bp.off))
		return false;
	rule->kind = HYBRID_RULE_CFA;
	rule->base = now->cfa_reg == abi->sp ? HYBRID_BASE_SP : HYBRID_BASE_BP;
	rule->cfa_off = now->cfa_off;
	rule->ra_off = now->ip.off;
	rule->bp = now->bp.kind == HYBRID_WHERE_SAME ? HYBRID_BP_SAME :
		   now->bp.kind == HYBRID_WHERE_CFA ? HYBRID_BP_AT_CFA : HYBRID_BP_UNDEFINED;
	rule->bp_off = now->bp.off;
	return true;
}

bool hybrid_eh_frame_row(struct hybrid_cfi *cfi, u64 addr, struct hybrid_row *row)
{
	struct hybrid_eh_frame *eh = &cfi->eh_frame;

	if (!eh->tried)
		open_sections(eh, hybrid_cfi_sections(cfi));
	if (!eh->nr)
		return false;
	if ((addr < eh->fde.start || addr >= eh->fde.end) && !find_fde(cfi->abi, eh, addr))
		return false;
	if (addr < eh->from) {
		eh->now = eh->initial;
		eh->nr_kept = 0;
		eh->at = eh->program;
		eh->to = eh->fde.start;
	}
	while (addr >= eh->to)
		next_row(cfi->abi, eh);
	memset(&row->rule, 0, sizeof(row->rule));
	row->start = eh->from;
	row->end = eh->to;
	row->begins = eh->from == eh->fde.start;
	return make_rule(cfi->abi, &eh->now, &row->rule);
}
