// SPDX-License-Identifier: GPL-2.0
/*
 * Oracle 2: the analysis against the unwind tables, at every instruction
 * boundary that control flow reaches.
 *
 * See Documentation/frame-analysis.md for the rules by which a row of the
 * tables does not count.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf-image.h"
#include "flow.h"

enum truth_kind {
	TRUTH_SP,	/* CFA = sp + off */
	TRUTH_BP,	/* CFA = bp + off */
	TRUTH_ODD,	/* an expression, another register */
	TRUTH_NONE,	/* there is no caller */
};

struct truth {
	u64	start;
	u64	end;
	enum truth_kind	kind;
	s32		off;
	bool		bp_known;
	bool		bp_same;
	s32		bp_off;
	bool		is_signal;
};

enum verdict {
	RIGHT,
	UNKNOWN,
	WRONG_CFA,
	WRONG_BP,
	INVENTED,
	UNVERIFIED,
	NR_VERDICTS
};

static const char * const verdict_names[] = {
	"right", "unknown", "wrong-cfa", "wrong-bp", "invented", "unverified"
};

static const char * const kind_names[X86_FRAME_NR] = {
	"unknown", "entry", "prologue", "epilogue", "ret", "plt",
	"scan-sp", "scan-bp"
};

struct stats {
	unsigned long	total;
	unsigned long	verdict[NR_VERDICTS];
	unsigned long	kinds[X86_FRAME_NR][NR_VERDICTS];
	unsigned long	padding;
	unsigned long	no_row;
	unsigned long	row_wrong;
	unsigned long	signal;
	unsigned long	lost_plain;
	unsigned long	lost;
	unsigned long	framed;
	unsigned long	framed_lost;
	unsigned long	budget;		/* unknown, as that is used up */
	unsigned long	insns;
};

struct oracle {
	struct elf_image	image;
	struct x86_frame_mem	mem;
	Dwarf_CFI		*cfi;
	bool			is_eh;
	int			list;
	unsigned long		stride;
	enum verdict		list_verdict;
	bool			list_lost;
	bool			framed;		/* the function has a frame by bp */
	struct x86_frame_work	work;
	struct stats		st;
};

static int word_size(const struct oracle *o)
{
	return o->image.is_64bit ? 8 : 4;
}

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

static void truth_cfa(struct oracle *o, Dwarf_Frame *frame, u64 addr,
		      struct truth *t)
{
	unsigned int sp = o->image.is_64bit ? 7 : 4, bp = o->image.is_64bit ? 6 : 5;
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
	} else if (nops > 4 && eval_plt(ops, nops, addr, &t->off)) {
		t->kind = TRUTH_SP;
		t->end = addr + 1;	/* depends on ip */
	}
}

static void truth_bp(struct oracle *o, Dwarf_Frame *frame, struct truth *t)
{
	unsigned int bp = o->image.is_64bit ? 6 : 5;
	Dwarf_Op mem[3], *ops;
	size_t nops;

	t->bp_known = false;
	if (!o->is_eh || dwarf_frame_register(frame, bp, mem, &ops, &nops))
		return;
	if (!nops) {
		t->bp_known = !ops;
		t->bp_same = !ops;
	} else if (ops[0].atom == DW_OP_call_frame_cfa && nops <= 2) {
		t->bp_known = true;
		t->bp_same = false;
		t->bp_off = nops == 2 ? ops[1].number : 0;
	}
}

/* The row at @addr; false where there is none. */
static bool truth_at(struct oracle *o, u64 addr, struct truth *t)
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
	if (dwarf_cfi_addrframe(o->cfi, addr, &frame))
		return false;
	ra = dwarf_frame_info(frame, &start, &end, &is_signal);
	memset(t, 0, sizeof(*t));
	t->start = start;
	t->end = end;
	t->is_signal = is_signal;
	truth_cfa(o, frame, addr, t);
	truth_bp(o, frame, t);
	/* An undefined return address: nobody called this. */
	if (!dwarf_frame_register(frame, ra, mem, &ops, &nops) && !nops && ops)
		t->kind = TRUTH_NONE;
	free(frame);
	return true;
}

/* CFA - bp where rows and flow make bp a standing frame; FLOW_NONE if not. */
static s32 bp_depth(const struct truth *t, const struct flow_insn *fi)
{
	if (t->kind == TRUTH_BP)
		return t->off;
	return fi->reached ? fi->bp : FLOW_NONE;
}

static s32 sp_depth(const struct truth *t, const struct flow_insn *fi)
{
	if (t->kind == TRUTH_SP)
		return t->off;
	return fi->reached ? fi->sp : FLOW_NONE;
}

static bool bp_right(const struct x86_frame_rule *r, const struct truth *t,
		     const struct flow_insn *fi)
{
	if (!t->bp_known)
		return true;
	if (t->bp_same ? !r->fp_off : r->fp_off == t->bp_off)
		return true;
	if (fi->reached && fi->bp_same &&
	    (!r->fp_off || -r->fp_off == fi->save))
		return true;
	/* The row names a slot that has been popped: bp has its old value. */
	return !t->bp_same && !r->fp_off && sp_depth(t, fi) != FLOW_NONE &&
	       -t->bp_off > sp_depth(t, fi);
}

static enum verdict judge(const struct x86_frame_rule *r,
			  enum x86_frame_kind kind, const struct truth *t,
			  const struct flow_insn *fi)
{
	s32 depth;

	if (kind == X86_FRAME_UNKNOWN)
		return t->kind == TRUTH_NONE ? RIGHT : UNKNOWN;
	if (t->kind == TRUTH_NONE)
		return INVENTED;
	depth = r->use_fp ? bp_depth(t, fi) : sp_depth(t, fi);
	if (depth == FLOW_NONE)
		/*
		 * A row that counts from bp contradicts a frame that starts
		 * elsewhere; any other says nothing.
		 */
		return UNVERIFIED;
	if (depth != r->cfa_off)
		return WRONG_CFA;
	return bp_right(r, t, fi) ? RIGHT : WRONG_BP;
}

/* Would a step by frame pointers find the return address here? */
static bool plain_step_right(const struct oracle *o, const struct truth *t,
			     const struct flow_insn *fi)
{
	return t->kind == TRUTH_NONE || bp_depth(t, fi) == 2 * word_size(o);
}

/*
 * A row of the tables is wrong where the flow from the function's entry,
 * all paths agreeing, contradicts it.
 */
static bool row_is_wrong(const struct oracle *o, struct truth *t,
			 const struct flow *function, const struct flow_insn *fi)
{
	s32 flow;

	/* A return takes what is at sp. */
	flow = t->kind == TRUTH_SP ?
	       flow_straight(function, fi - function->insns) : FLOW_NONE;
	if (flow != FLOW_NONE && flow != t->off) {
		t->off = flow;
		t->bp_known = false;
		return true;
	}
	if (!o->image.is_64bit || !fi->reached || !fi->from_entry)
		return false;
	if (t->kind != TRUTH_SP && t->kind != TRUTH_BP)
		return false;
	flow = t->kind == TRUTH_SP ? fi->sp : fi->bp;
	if (flow == FLOW_NONE || flow == t->off)
		return false;
	t->off = flow;
	t->bp_known = false;
	return true;
}

static void list_one(struct oracle *o, u64 addr, enum verdict v,
		     enum x86_frame_kind kind, const struct x86_frame_rule *r,
		     const struct truth *t, const struct flow_insn *fi)
{
	printf("  %#lx %s %s", addr, verdict_names[v], kind_names[kind]);
	if (kind != X86_FRAME_UNKNOWN)
		printf(" %s%+d bp %d", r->use_fp ? "bp" : "sp", r->cfa_off,
		       r->fp_off);
	printf(" row %s%+d bp %s%d", t->kind == TRUTH_SP ? "sp" :
	       t->kind == TRUTH_BP ? "bp" : t->kind == TRUTH_ODD ? "odd" :
	       "none", t->off, t->bp_same ? "same " : "", t->bp_off);
	if (fi->reached)
		printf(" flow sp %d bp %d", fi->sp, fi->bp);
	printf("\n");
}

static void check_one(struct oracle *o, u64 addr, struct truth *row,
		      const struct flow *function, const struct flow_insn *fi)
{
	struct x86_frame_rule rule = { 0 };
	struct truth t = *row;
	enum x86_frame_kind kind;
	enum verdict v;
	bool lost;

	o->st.row_wrong += row_is_wrong(o, &t, function, fi);
	kind = x86_frame_analyze_work(&o->mem, addr, &rule, &o->work);
	v = judge(&rule, kind, &t, fi);
	o->st.insns += o->work.insns;
	o->st.budget += v == UNKNOWN && o->work.insns >= X86_FRAME_INSNS;
	o->st.total++;
	o->st.verdict[v]++;
	o->st.kinds[kind][v]++;
	lost = v == WRONG_CFA || v == INVENTED;
	if (kind == X86_FRAME_UNKNOWN)
		lost = !plain_step_right(o, &t, fi);
	o->st.lost += lost;
	o->st.framed += o->framed;
	o->st.framed_lost += o->framed && lost;
	o->st.lost_plain += !plain_step_right(o, &t, fi);
	if (o->list && ((o->list_lost && lost) ||
			(!o->list_lost && v == o->list_verdict))) {
		o->list--;
		list_one(o, addr, v, kind, &rule, &t, fi);
	}
}

/*
 * Blocks that only a jump table or an exception reaches: sp is there what it
 * is at the indirect jumps, or else at the calls, where all of these agree.
 */
static s32 usual_depth(const struct flow *flow, bool calls)
{
	s32 depth = FLOW_NONE;
	u32 i;

	for (i = 0; i < flow->nr; i++) {
		const struct flow_insn *fi = &flow->insns[i];

		if (!(calls ? fi->is_call : fi->is_indirect) || !fi->reached)
			continue;
		if (depth != FLOW_NONE && fi->sp != depth)
			return FLOW_NONE;
		depth = fi->sp;
	}
	return depth;
}

static void seed_rest(struct oracle *o, struct flow *flow, u64 start)
{
	struct truth t = { 0 };
	s32 depth;
	u32 i;

	for (i = 0; i < flow->nr; i++) {
		struct flow_insn *fi = &flow->insns[i];

		if (fi->reached || fi->unreachable ||
		    !truth_at(o, start + fi->off, &t))
			continue;
		if (i && !fi[-1].ends && fi[-1].reached)
			continue;
		depth = t.kind == TRUTH_SP ? t.off : usual_depth(flow, false);
		if (depth == FLOW_NONE)
			depth = usual_depth(flow, true);
		flow_seed(flow, i, depth, t.kind == TRUTH_BP ? t.off :
			  FLOW_NONE, t.bp_known && !t.bp_same ? -t.bp_off :
			  FLOW_NONE, false);
		flow_run(flow);
	}
}

static bool same_row(const struct truth *a, const struct truth *b)
{
	return a->kind == b->kind && a->off == b->off;
}

/*
 * A call never returns where the row behind it (behind the padding that
 * follows it, if any) differs from its own: neither a call nor padding
 * changes the frame, so nothing flows there.  Such padding is not reached.
 */
static void mark_noreturn(struct oracle *o, struct flow *flow, u64 start)
{
	struct truth a = { 0 }, b = { 0 };
	u32 i, end;

	if (!o->image.is_64bit)
		return;
	for (i = 0; i + 1 < flow->nr; i = end) {
		end = i + 1;
		if (!flow->insns[i].is_call)
			continue;
		while (end < flow->nr && flow->insns[end].is_pad &&
		       !flow->insns[end].is_target)
			end++;
		if (end < flow->nr &&
		    truth_at(o, start + flow->insns[i].off, &a) &&
		    truth_at(o, start + flow->insns[end].off, &b) &&
		    same_row(&a, &b))
			continue;
		flow->insns[i].ends = true;
		while (++i < end)
			flow->insns[i].unreachable = true;
	}
}

static void check_function(struct oracle *o, u64 start, u64 end)
{
	struct truth t = { 0 };
	struct flow flow;
	u64 off = start - o->image.base;
	u32 i;

	if (off >= o->image.size || end - o->image.base > o->image.size ||
	    end <= start || flow_decode(&flow, o->image.bytes + off,
					end - start, o->image.is_64bit))
		return;
	mark_noreturn(o, &flow, start);
	if (flow.nr && truth_at(o, start, &t)) {
		bool entry = t.kind == TRUTH_SP && t.off == word_size(o);

		flow_seed(&flow, 0, t.kind == TRUTH_SP ? t.off : FLOW_NONE,
			  t.kind == TRUTH_BP ? t.off : FLOW_NONE,
			  t.bp_known && !t.bp_same ? -t.bp_off : FLOW_NONE,
			  entry);
		flow_run(&flow);
		seed_rest(o, &flow, start);
	}
	memset(&t, 0, sizeof(t));
	o->framed = false;
	for (i = 0; i < flow.nr && !o->framed; i++)
		o->framed = truth_at(o, start + flow.insns[i].off, &t) &&
			    t.kind == TRUTH_BP && t.off == 2 * word_size(o);
	memset(&t, 0, sizeof(t));
	for (i = 0; i < flow.nr; i++) {
		struct flow_insn *fi = &flow.insns[i];

		if (fi->unreachable)
			o->st.padding++;
		else if (!truth_at(o, start + fi->off, &t))
			o->st.no_row++;
		else if (t.is_signal)
			o->st.signal++;
		else
			check_one(o, start + fi->off, &t, &flow, fi);
	}
	flow_free(&flow);
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

/* An FDE's range; false for encodings that no one uses. */
static bool fde_range(struct oracle *o, const GElf_Shdr *shdr, Elf_Data *data,
		      Dwarf_FDE *fde, Dwarf_Off off, struct range *r)
{
	const unsigned char *p = fde->start;
	u8 enc = DW_EH_PE_absptr;
	Dwarf_CFI_Entry cie;
	Dwarf_Off next;
	s64 v[2];
	int i;

	(void)off;
	if (dwarf_next_cfi((unsigned char *)elf_getident(o->image.elf, NULL), data,
			   o->is_eh, fde->CIE_pointer, &next, &cie) ||
	    !dwarf_cfi_cie_p(&cie))
		return false;
	if (o->is_eh && cie.cie.augmentation[0] == 'z') {
		const char *a = cie.cie.augmentation + 1;
		const u8 *d = cie.cie.augmentation_data;

		for (; *a; a++) {
			if (*a == 'R') {
				enc = *d++;
			} else if (*a == 'P') {
				u8 e = *d++ & 7;

				d += e == DW_EH_PE_udata2 ? 2 :
				     e == DW_EH_PE_udata4 ? 4 :
				     e == DW_EH_PE_udata8 ? 8 : word_size(o);
			} else if (*a == 'L') {
				d++;
			}
		}
	}
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
			memcpy(&v[i], p, word_size(o));
			p += word_size(o);
			break;
		default:
			return false;
		}
		if (!i && (enc & 0x70) == DW_EH_PE_pcrel)
			v[i] += at;
	}
	r->start = o->image.is_64bit ? (u64)v[0] : (u32)v[0];
	r->end = r->start + (enc & 7 ? (u32)v[1] : (u64)v[1]);
	return true;
}

static int check_all(struct oracle *o)
{
	Dwarf_Off off = 0, next;
	Dwarf_CFI_Entry entry;
	struct range r;
	unsigned long nr = 0;
	GElf_Shdr shdr;
	Elf_Data *data;
	Dwarf *dw = NULL;
	int ret;

	o->is_eh = true;
	data = section(&o->image, ".eh_frame", &shdr);
	if (data && data->d_size > 64) {
		o->cfi = dwarf_getcfi_elf(o->image.elf);
	} else {
		o->is_eh = false;
		data = section(&o->image, ".debug_frame", &shdr);
		dw = dwarf_begin_elf(o->image.elf, DWARF_C_READ, NULL);
		o->cfi = dw ? dwarf_getcfi(dw) : NULL;
	}
	if (!data || !o->cfi)
		return -1;
	for (; ; off = next) {
		ret = dwarf_next_cfi((unsigned char *)elf_getident(o->image.elf, NULL),
				     data, o->is_eh, off, &next, &entry);
		if (ret > 0 || (ret < 0 && next == off))
			break;
		if (ret < 0 || dwarf_cfi_cie_p(&entry))
			continue;
		if (fde_range(o, &shdr, data, &entry.fde, off, &r) &&
		    nr++ % o->stride == 0)
			check_function(o, r.start, r.end);
	}
	return 0;
}

static double share(unsigned long part, const struct stats *st)
{
	return st->total ? 100.0 * part / st->total : 0;
}

static void report(const struct stats *st, const char *name, bool verbose)
{
	unsigned long wrong = st->verdict[WRONG_CFA] + st->verdict[WRONG_BP] +
			      st->verdict[INVENTED];
	int k, v;

	printf("%-22s %9lu %7.3f %7.3f %7.4f %7.4f %7.3f %7.3f %7.3f %6lu %5lu %5lu\n",
	       name, st->total, share(st->verdict[RIGHT], st),
	       share(st->verdict[UNKNOWN], st), share(wrong, st),
	       share(st->verdict[UNVERIFIED], st), share(st->lost_plain, st),
	       share(st->lost, st),
	       st->framed ? 100.0 * st->framed_lost / st->framed : 0, st->padding,
	       st->row_wrong, st->no_row);
	if (!verbose)
		return;
	printf("    unknown as the budget is used up %.3f, decoded %.1f\n",
	       share(st->budget, st), (double)st->insns / st->total);
	for (k = 0; k < X86_FRAME_NR; k++) {
		printf("    %-10s", kind_names[k]);
		for (v = 0; v < NR_VERDICTS; v++)
			printf(" %s %lu", verdict_names[v], st->kinds[k][v]);
		printf("\n");
	}
}

static const char usage[] =
	"usage: oracle-cfi [-v] [-s STRIDE] [-l NUMBER] [-w VERDICT|lost] [-n NAME]\n"
	"                  [-W MAX-WRONG] [-L MAX-LOST] [-U MAX-UNKNOWN] FILE\n"
	"  -s  take one function in STRIDE\n"
	"  -l  list that many boundaries with the verdict that -w names\n"
	"  -W -L -U  fail where the share (in percent) is higher\n";

int main(int argc, char **argv)
{
	double max_wrong = 100, max_lost = 100, max_unknown = 100;
	struct oracle o = { .stride = 1, .list_verdict = WRONG_CFA };
	const char *name = NULL;
	bool verbose = false;
	unsigned long wrong;
	int c, v;

	while ((c = getopt(argc, argv, "vs:l:w:n:W:L:U:")) >= 0) {
		switch (c) {
		case 'v':
			verbose = true;
			break;
		case 's':
			o.stride = strtoul(optarg, NULL, 0);
			break;
		case 'l':
			o.list = atoi(optarg);
			break;
		case 'w':
			o.list_lost = !strcmp(optarg, "lost");
			for (v = 0; v < NR_VERDICTS; v++)
				if (!strcmp(optarg, verdict_names[v]))
					o.list_verdict = v;
			break;
		case 'n':
			name = optarg;
			break;
		case 'W':
			max_wrong = atof(optarg);
			break;
		case 'L':
			max_lost = atof(optarg);
			break;
		case 'U':
			max_unknown = atof(optarg);
			break;
		default:
			fputs(usage, stderr);
			return 2;
		}
	}
	if (optind != argc - 1 || !o.stride) {
		fputs(usage, stderr);
		return 2;
	}
	if (elf_image_open(&o.image, argv[optind])) {
		fprintf(stderr, "%s: no ELF file\n", argv[optind]);
		return 2;
	}
	o.mem.read = elf_image_read;
	o.mem.ctx = &o.image;
	o.mem.is_64bit = o.image.is_64bit;
	if (check_all(&o) || !o.st.total) {
		fprintf(stderr, "%s: no unwind tables\n", argv[optind]);
		return 2;
	}
	report(&o.st, name ? name : argv[optind], verbose);
	wrong = o.st.verdict[WRONG_CFA] + o.st.verdict[WRONG_BP] +
		o.st.verdict[INVENTED];
	elf_image_close(&o.image);
	return share(wrong, &o.st) > max_wrong ||
	       share(o.st.lost, &o.st) > max_lost ||
	       share(o.st.verdict[UNKNOWN], &o.st) > max_unknown;
}
