// SPDX-License-Identifier: GPL-2.0
/* The rows of unwind tables, as oracle 2 needs them. */
#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "cfi-rows.h"

/* The only expression that matters: the linkage table's, on sp and ip. */
static bool eval_plt(const Dwarf_Op *ops, size_t nops, u64 ip,
		     s32 *off)
{
	s64 stack[16], a;
	int top = 0;
	size_t i;

	for (i = 0; i < nops; i++) {
		switch (ops[i].atom) {
		case DW_OP_breg4:	/* the CFA, as offset from sp */
		case DW_OP_breg7:
			stack[top++] = ops[i].number;
			break;
		case DW_OP_breg8:
		case DW_OP_breg16:
			stack[top++] = ip + ops[i].number;
			break;
		case DW_OP_lit0 ... DW_OP_lit31:
			stack[top++] = ops[i].atom - DW_OP_lit0;
			break;
		case DW_OP_and:
		case DW_OP_ge:
		case DW_OP_shl:
		case DW_OP_plus:
			if (top < 2)
				return false;
			a = stack[--top];
			if (ops[i].atom == DW_OP_and)
				stack[top - 1] &= a;
			else if (ops[i].atom == DW_OP_ge)
				stack[top - 1] = stack[top - 1] >= a;
			else if (ops[i].atom == DW_OP_shl)
				stack[top - 1] <<= a;
			else
				stack[top - 1] += a;
			break;
		default:
			return false;
		}
		if (top == 16)
			return false;
	}
	*off = top ? stack[top - 1] : 0;
	return top == 1;
}

/* The processor's number of one of DWARF's. */
static u8 hardware_reg(unsigned int reg)
{
	static const u8 regs[] = { 0, 2, 1, 3, 6, 7, 5, 4 };

	return reg < sizeof(regs) ? regs[reg] : reg;
}

/* What is at sp + n, or bp + n: the frame is realigned. False for other expressions. */
static bool truth_mem(const Dwarf_Op *ops, size_t nops, struct truth *t)
{
	if (nops < 2 || nops > 3 || ops[1].atom != DW_OP_deref ||
	    (ops[0].atom != DW_OP_breg6 && ops[0].atom != DW_OP_breg7) ||
	    (nops == 3 && ops[2].atom != DW_OP_plus_uconst))
		return false;
	t->kind = TRUTH_MEM;
	t->mem_bp = ops[0].atom == DW_OP_breg6;
	t->mem_off = ops[0].number;
	t->off = nops == 3 ? ops[2].number : 0;
	return true;
}

static void truth_cfa(struct cfi_rows *r, Dwarf_Frame *frame, u64 addr,
		      struct truth *t)
{
	unsigned int sp = r->image->is_64bit ? 7 : 4, bp = r->image->is_64bit ? 6 : 5;
	Dwarf_Op *ops;
	size_t nops;

	t->kind = TRUTH_ODD;
	if (dwarf_frame_cfa(frame, &ops, &nops) || !nops)
		return;
	if (nops == 1 && ops[0].atom == DW_OP_bregx) {
		t->off = ops[0].number2;
		if (ops[0].number == sp)
			t->kind = TRUTH_SP;
		else if (ops[0].number == bp)
			t->kind = TRUTH_BP;
		else
			t->kind = TRUTH_REG;
		t->reg = hardware_reg(ops[0].number);
	} else if (r->image->is_64bit && truth_mem(ops, nops, t)) {
		return;
	} else if (nops > 4 && eval_plt(ops, nops, addr, &t->off)) {
		t->kind = TRUTH_SP;
		t->end = addr + 1;	/* depends on ip */
	}
}

static void truth_bp(struct cfi_rows *r, Dwarf_Frame *frame, struct truth *t)
{
	unsigned int bp = r->image->is_64bit ? 6 : 5;
	Dwarf_Op mem[3], *ops;
	size_t nops;

	t->bp_known = false;
	if (!r->is_eh || dwarf_frame_register(frame, bp, mem, &ops, &nops))
		return;
	if (!nops) {
		t->bp_known = !ops;
		t->bp_same = !ops;
	} else if (r->image->is_64bit && nops == 2 && ops[1].atom == DW_OP_breg6) {
		/* An expression, of which libdw has the stack begin with the CFA. */
		t->bp_known = true;
		t->bp_at_bp = true;
		t->bp_off = ops[1].number;
	} else if (ops[0].atom == DW_OP_call_frame_cfa && nops <= 2) {
		t->bp_known = true;
		t->bp_same = false;
		t->bp_off = nops == 2 ? ops[1].number : 0;
	}
}

/**
 * truth_at - the row at an address
 * @r:		the rows
 * @addr:	the address
 * @t:		the row; kept while @addr stays in it
 *
 * Returns: false where there is none
 */
bool truth_at(struct cfi_rows *r, u64 addr, struct truth *t)
{
	Dwarf_Addr start, end;
	Dwarf_Frame *frame;
	Dwarf_Op mem[3], *ops;
	bool is_signal;
	size_t nops;
	int ra;

	if (addr >= t->start && addr < t->end)
		return true;
	t->start = 0;
	t->end = 0;
	if (dwarf_cfi_addrframe(r->cfi, addr, &frame))
		return false;
	ra = dwarf_frame_info(frame, &start, &end, &is_signal);
	memset(t, 0, sizeof(*t));
	t->start = start;
	t->end = end;
	t->is_signal = is_signal;
	truth_cfa(r, frame, addr, t);
	truth_bp(r, frame, t);
	/* An undefined return address: nobody called this. */
	if (!dwarf_frame_register(frame, ra, mem, &ops, &nops) && !nops && ops)
		t->kind = TRUTH_NONE;
	free(frame);
	return true;
}

static Elf_Data *section(struct elf_image *image, const char *name,
			 GElf_Shdr *shdr)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(image->elf, &names))
		return NULL;
	while ((scn = elf_nextscn(image->elf, scn))) {
		const char *s;

		gelf_getshdr(scn, shdr);
		s = elf_strptr(image->elf, names, shdr->sh_name);
		if (!s || strcmp(s, name) || shdr->sh_type == SHT_NOBITS)
			continue;
		if (shdr->sh_flags & SHF_COMPRESSED)
			elf_compress(scn, 0, 0);
		return elf_getdata(scn, NULL);
	}
	return NULL;
}

struct range {
	u64 start;
	u64 end;
};

/* How the addresses of a CIE's functions are written. */
static u8 fde_encoding(const struct cfi_rows *rows, const Dwarf_CIE *cie)
{
	const u8 *d = cie->augmentation_data;
	const char *a = cie->augmentation;
	u8 enc = DW_EH_PE_absptr, e;

	if (!rows->is_eh || *a++ != 'z')
		return enc;
	for (; *a; a++) {
		if (*a == 'R') {
			enc = *d++;
		} else if (*a == 'P') {
			e = *d++ & 7;
			d += e == DW_EH_PE_udata2 ? 2 :
			     e == DW_EH_PE_udata4 ? 4 :
			     e == DW_EH_PE_udata8 ? 8 : word_size(rows);
		} else if (*a == 'L') {
			d++;
		}
	}
	return enc;
}

/* An FDE's range; false for encodings that no one uses. */
static bool fde_range(struct cfi_rows *rows, const GElf_Shdr *shdr,
		      Elf_Data *data, Dwarf_FDE *fde, struct range *r)
{
	const unsigned char *p = fde->start;
	Dwarf_CFI_Entry cie;
	Dwarf_Off next;
	s64 v[2];
	u8 enc;
	int i;

	if (dwarf_next_cfi((unsigned char *)elf_getident(rows->image->elf, NULL),
			   data, rows->is_eh, fde->CIE_pointer, &next, &cie) ||
	    !dwarf_cfi_cie_p(&cie))
		return false;
	enc = fde_encoding(rows, &cie.cie);
	for (i = 0; i < 2; i++) {
		u64 at = shdr->sh_addr + (p - (unsigned char *)data->d_buf);
		s32 s32;

		switch (enc & 7) {
		case DW_EH_PE_udata4:
			memcpy(&s32, p, 4);
			v[i] = s32;
			p += 4;
			break;
		case DW_EH_PE_absptr:
		case DW_EH_PE_udata8:
			v[i] = 0;
			memcpy(&v[i], p, word_size(rows));
			p += word_size(rows);
			break;
		default:
			return false;
		}
		if (!i && (enc & 0x70) == DW_EH_PE_pcrel)
			v[i] += at;
	}
	r->start = rows->image->is_64bit ? (u64)v[0] : (u32)v[0];
	r->end = r->start + (enc & 7 ? (u32)v[1] : (u64)v[1]);
	return true;
}

/**
 * cfi_rows_walk - go through the functions that a file's unwind tables name
 * @rows:	the rows, made here
 * @image:	the file
 * @each:	called for each function, with its first address and its end
 * @ctx:	for @each
 *
 * Returns: 0, or -1 where there are no tables
 */
int cfi_rows_walk(struct cfi_rows *rows, struct elf_image *image,
		  void (*each)(void *ctx, u64 start, u64 end), void *ctx)
{
	unsigned char *ident = (unsigned char *)elf_getident(image->elf, NULL);
	Dwarf_Off off = 0, next;
	Dwarf_CFI_Entry entry;
	GElf_Shdr shdr;
	struct range r;
	Elf_Data *data;
	Dwarf *dw;
	int ret;

	rows->image = image;
	rows->is_eh = true;
	data = section(image, ".eh_frame", &shdr);
	if (data && data->d_size > 64) {
		rows->cfi = dwarf_getcfi_elf(image->elf);
	} else {
		rows->is_eh = false;
		data = section(image, ".debug_frame", &shdr);
		dw = dwarf_begin_elf(image->elf, DWARF_C_READ, NULL);
		rows->cfi = dw ? dwarf_getcfi(dw) : NULL;
	}
	if (!data || !rows->cfi)
		return -1;
	for (; ; off = next) {
		ret = dwarf_next_cfi(ident, data, rows->is_eh, off, &next,
				     &entry);
		if (ret > 0 || (ret < 0 && next == off))
			break;
		if (ret < 0 || dwarf_cfi_cie_p(&entry))
			continue;
		if (fde_range(rows, &shdr, data, &entry.fde, &r))
			each(ctx, r.start, r.end);
	}
	return 0;
}
