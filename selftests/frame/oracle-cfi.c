// SPDX-License-Identifier: GPL-2.0
/*
 * Oracle 2: the analysis against the unwind tables, at every instruction
 * boundary that control flow reaches.
 *
 * See Documentation/frame-analysis.md for the rules by which a row of the
 * tables does not count.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cfi-rows.h"
#include "elf-image.h"
#include "flow.h"

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
	"scan-sp", "scan-bp", "scan-mem", "scan-reg", "signal"
};

static const char * const truth_names[] = {
	[TRUTH_SP] = "sp", [TRUTH_BP] = "bp", [TRUTH_REG] = "reg", [TRUTH_MEM] = "mem",
	[TRUTH_ODD] = "odd", [TRUTH_NONE] = "none",
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
	struct cfi_rows		rows;
	unsigned long		nr_functions;
	int			list;
	unsigned long		stride;
	enum verdict		list_verdict;
	bool			list_lost;
	bool			framed;		/* the function has a frame by bp */
	struct x86_frame_work	work;
	struct stats		st;
};

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
	if (t->bp_at_bp)
		return !r->use_fp || !r->fp_off || r->cfa_off + r->fp_off == t->bp_off;
	if (t->bp_same ? !r->fp_off : r->fp_off == t->bp_off)
		return true;
	if (fi->reached && fi->bp_same &&
	    (!r->fp_off || -r->fp_off == fi->save))
		return true;
	/* The row names a slot that has been popped: bp has its old value. */
	return !t->bp_same && !r->fp_off && sp_depth(t, fi) != FLOW_NONE &&
	       -t->bp_off > sp_depth(t, fi);
}

/* Where sp is restored from elsewhere, only a row that says the same is to compare with. */
static enum verdict judge_kept(const struct x86_frame_rule *r, enum x86_frame_kind kind,
			       const struct truth *t, const struct flow_insn *fi)
{
	if (kind == X86_FRAME_SCAN_REG ? t->kind != TRUTH_REG || t->reg != r->reg :
	    t->kind != TRUTH_MEM || t->mem_bp != r->use_fp || t->mem_off != r->mem_off)
		return UNVERIFIED;
	if (t->off != r->cfa_off)
		return WRONG_CFA;
	return t->bp_at_bp || bp_right(r, t, fi) ? RIGHT : WRONG_BP;
}

static enum verdict judge(const struct x86_frame_rule *r,
			  enum x86_frame_kind kind, const struct truth *t,
			  const struct flow_insn *fi)
{
	s32 depth;

	if (kind == X86_FRAME_UNKNOWN || kind == X86_FRAME_SIGNAL)
		return t->kind == TRUTH_NONE ? RIGHT : UNKNOWN;
	if (t->kind == TRUTH_NONE)
		return INVENTED;
	if (kind == X86_FRAME_SCAN_MEM || kind == X86_FRAME_SCAN_REG)
		return judge_kept(r, kind, t, fi);
	depth = r->use_fp ? bp_depth(t, fi) : sp_depth(t, fi);
	if (depth == FLOW_NONE)
		/*
		 * A row that counts from bp contradicts a frame that starts
		 * elsewhere; any other says nothing.
		 */
		return UNVERIFIED;
	if (depth != r->cfa_off)
		return WRONG_CFA;
	return r->fp_lost || bp_right(r, t, fi) ? RIGHT : WRONG_BP;
}

/* Would a step by frame pointers find the return address here? */
static bool plain_step_right(const struct oracle *o, const struct truth *t,
			     const struct flow_insn *fi)
{
	return t->kind == TRUTH_NONE || bp_depth(t, fi) == 2 * word_size(&o->rows);
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
	if (kind != X86_FRAME_UNKNOWN && kind != X86_FRAME_SIGNAL)
		printf(" %s%+d bp %d", r->use_fp ? "bp" : "sp", r->cfa_off,
		       r->fp_off);
	if (kind == X86_FRAME_SCAN_MEM || kind == X86_FRAME_SCAN_REG)
		printf(" reg %d mem %d", r->reg, r->mem_off);
	printf(" row %s%+d bp %s%d", truth_names[t->kind], t->off, t->bp_same ? "same " : "",
	       t->bp_off);
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
	kind = x86_frame_analyze(&o->mem, addr, &rule, &o->work);
	v = judge(&rule, kind, &t, fi);
	o->st.insns += o->work.insns;
	o->st.budget += v == UNKNOWN && o->work.took >= X86_FRAME_INSNS;
	o->st.total++;
	o->st.verdict[v]++;
	o->st.kinds[kind][v]++;
	lost = v == WRONG_CFA || v == INVENTED;
	if (kind == X86_FRAME_UNKNOWN || kind == X86_FRAME_SIGNAL)
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
		    !truth_at(&o->rows, start + fi->off, &t))
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
		    truth_at(&o->rows, start + flow->insns[i].off, &a) &&
		    truth_at(&o->rows, start + flow->insns[end].off, &b) &&
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
	if (flow.nr && truth_at(&o->rows, start, &t)) {
		bool entry = t.kind == TRUTH_SP && t.off == word_size(&o->rows);

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
		o->framed = truth_at(&o->rows, start + flow.insns[i].off, &t) &&
			    t.kind == TRUTH_BP && t.off == 2 * word_size(&o->rows);
	memset(&t, 0, sizeof(t));
	for (i = 0; i < flow.nr; i++) {
		struct flow_insn *fi = &flow.insns[i];

		if (fi->unreachable)
			o->st.padding++;
		else if (!truth_at(&o->rows, start + fi->off, &t))
			o->st.no_row++;
		else if (t.is_signal)
			o->st.signal++;
		else
			check_one(o, start + fi->off, &t, &flow, fi);
	}
	flow_free(&flow);
}

static void check_fde(void *ctx, u64 start, u64 end)
{
	struct oracle *o = ctx;

	if (o->nr_functions++ % o->stride == 0)
		check_function(o, start, end);
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
	"usage: oracle-cfi [-bv] [-s STRIDE] [-l NUMBER] [-w VERDICT|lost] [-n NAME]\n"
	"                  [-W MAX-WRONG] [-L MAX-LOST] [-U MAX-UNKNOWN] FILE\n"
	"  -b  count rules that do not know the caller's bp, too\n"
	"  -s  take one function in STRIDE\n"
	"  -l  list that many boundaries with the verdict that -w names\n"
	"  -W -L -U  fail where the share (in percent) is higher\n";

/* How many percent of a verdict are allowed, and what is printed. */
struct options {
	double max_wrong;
	double max_lost;
	double max_unknown;
	const char *name;
	bool verbose;
};

static void set_verdict(struct oracle *o, const char *name)
{
	int v;

	o->list_lost = !strcmp(name, "lost");
	for (v = 0; v < NR_VERDICTS; v++)
		if (!strcmp(name, verdict_names[v]))
			o->list_verdict = v;
}

/* Returns false for an option that there is not. */
static bool set_option(struct oracle *o, struct options *options, int c)
{
	switch (c) {
	case 'b':
		o->mem.any_bp = true;
		break;
	case 'v':
		options->verbose = true;
		break;
	case 's':
		o->stride = strtoul(optarg, NULL, 0);
		break;
	case 'l':
		o->list = atoi(optarg);
		break;
	case 'w':
		set_verdict(o, optarg);
		break;
	case 'n':
		options->name = optarg;
		break;
	case 'W':
		options->max_wrong = atof(optarg);
		break;
	case 'L':
		options->max_lost = atof(optarg);
		break;
	case 'U':
		options->max_unknown = atof(optarg);
		break;
	default:
		return false;
	}
	return true;
}

static bool is_allowed(const struct stats *st, const struct options *options)
{
	unsigned long wrong = st->verdict[WRONG_CFA] + st->verdict[WRONG_BP] +
			      st->verdict[INVENTED];

	return share(wrong, st) <= options->max_wrong &&
	       share(st->lost, st) <= options->max_lost &&
	       share(st->verdict[UNKNOWN], st) <= options->max_unknown;
}

int main(int argc, char **argv)
{
	struct options options = { .max_wrong = 100, .max_lost = 100, .max_unknown = 100 };
	struct oracle o = { .stride = 1, .list_verdict = WRONG_CFA };
	bool valid = true;
	int c;

	while (valid && (c = getopt(argc, argv, "bvs:l:w:n:W:L:U:")) >= 0)
		valid = set_option(&o, &options, c);
	if (!valid || optind != argc - 1 || !o.stride) {
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
	if (cfi_rows_walk(&o.rows, &o.image, check_fde, &o) || !o.st.total) {
		fprintf(stderr, "%s: no unwind tables\n", argv[optind]);
		return 2;
	}
	report(&o.st, options.name ? options.name : argv[optind], options.verbose);
	elf_image_close(&o.image);
	return !is_allowed(&o.st, &options);
}
