// SPDX-License-Identifier: GPL-2.0
/*
 * Replay a kept sample: walk its stack by the unwinder of ../hybrid, and print
 * each frame, the rule that led to its caller, and where the rule came from.
 *
 * It is the unwinder alone: what perf record joins to its frames where a dump
 * ends, the kernel's chain and the thread's tail, is not in a sample.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <dwarf.h>
#include <linux/kernel.h>
#include "abi.h"
#include "place.h"
#include "rows.h"
#include "sample.h"

#define USAGE	"usage: replay [--root DIRECTORY] SAMPLE\n"

static struct hybrid_objects objects;
static struct hybrid_unwinder unwinder;
static struct hybrid_frame frames[HYBRID_MAX_FRAMES], steps[HYBRID_MAX_FRAMES];

/**
 * struct step - from one frame to its caller
 * @u: the walk up to the frame: its sp and bp, and the sample
 * @frame: as the whole walk has it
 * @next: its caller, NULL where it is the last
 * @mapping: of the frame; NULL: none
 * @row: NULL: none
 * @rule: that was used; kind NONE: the frame pointer
 * @by_code: it is what the code itself tells
 */
struct step {
	struct hybrid_unwind		 u;
	const struct hybrid_frame	*frame;
	const struct hybrid_frame	*next;
	const struct hybrid_mapping	*mapping;
	struct hybrid_row		*row;
	const struct hybrid_rule	*rule;
	bool				 by_code;
};

static void print_offset(const char *text, const char *base, s64 off)
{
	printf("%s%s", text, base);
	if (off)
		printf(" %c %" PRIu64, off < 0 ? '-' : '+', off < 0 ? -(u64)off : (u64)off);
}

static void print_rule(const struct hybrid_abi *abi, const struct hybrid_rule *rule)
{
	const char *sp = sample_register(abi, abi->sp), *bp = sample_register(abi, abi->bp);

	printf("CFA =");
	if (rule->kind == HYBRID_RULE_DEREF)
		printf(" what is at");
	print_offset(" ", rule->base == HYBRID_BASE_BP ? bp : sp, rule->cfa_off);
	if (rule->deref_off)
		print_offset(",", "", rule->deref_off);
	print_offset(", ra at ", "CFA", rule->ra_off);
	if (rule->bp == HYBRID_BP_UNDEFINED)
		printf(", %s undefined", bp);
	else if (rule->bp != HYBRID_BP_SAME)
		printf(", %s", bp);
	if (rule->bp == HYBRID_BP_AT_CFA)
		print_offset(" at ", "CFA", rule->bp_off);
	else if (rule->bp == HYBRID_BP_AT_BP)
		print_offset(" at ", bp, rule->bp_off);
}

/* In words, where it is a register and an offset, or what is there in memory. */
static void print_ops(const struct hybrid_abi *abi, const Dwarf_Op *ops, unsigned int nr)
{
	const char *base;

	/* libdw puts the CFA first, which such an expression does not look at. */
	if (nr == 2 && ops[0].atom == DW_OP_call_frame_cfa) {
		ops++;
		nr--;
	}
	if (!nr || nr > 2 || ops[0].atom < DW_OP_breg0 || ops[0].atom > DW_OP_breg31 ||
	    (nr == 2 && ops[1].atom != DW_OP_deref)) {
		printf("an expression of %u operations", nr);
		return;
	}
	base = sample_register(abi, ops[0].atom - DW_OP_breg0);
	print_offset(nr == 2 ? "what is at " : "", base, ops[0].number);
}

static void print_where(const struct hybrid_abi *abi, unsigned int reg,
			const struct hybrid_where *where)
{
	if (where->kind == HYBRID_WHERE_SAME ||
	    (where->kind == HYBRID_WHERE_UNDEFINED && reg != abi->ip))
		return;
	printf(", %s", reg == abi->ip ? "ra" : sample_register(abi, reg));
	switch (where->kind) {
	case HYBRID_WHERE_CFA:
		print_offset(" at ", "CFA", where->off);
		break;
	case HYBRID_WHERE_CFA_VALUE:
		print_offset(" = ", "CFA", where->off);
		break;
	case HYBRID_WHERE_REG:
		printf(" in %s", sample_register(abi, where->off));
		break;
	case HYBRID_WHERE_EXPR:
		printf(" at ");
		print_ops(abi, where->ops, where->nr_ops);
		break;
	case HYBRID_WHERE_VALUE:
		printf(" = ");
		print_ops(abi, where->ops, where->nr_ops);
		break;
	default:
		printf(" undefined");
	}
}

/* A row that needs more than sp and bp: with all its registers. */
static void print_full(const struct step *step)
{
	const struct hybrid_abi *abi = step->u.abi;
	const struct hybrid_full_row *full;
	unsigned int i;

	full = hybrid_cfi_full(&step->mapping->object->cfi, step->row);
	if (!full) {
		printf("a row that can't be read");
		return;
	}
	printf("CFA = ");
	print_ops(abi, full->cfa.ops, full->cfa.nr_ops);
	for (i = 0; i < abi->nr; i++)
		print_where(abi, i, &full->reg[i]);
}

/* The section that covers an address; NULL: none. */
static const char *section_of(struct hybrid_cfi *cfi, u64 vaddr)
{
	struct hybrid_row row;
	Dwarf_Frame *frame;

	/* What libdw was not needed for it has not opened. */
	if (!hybrid_cfi_libdw_row(cfi, vaddr, &row))
		hybrid_row_exit(&row);
	if (cfi->eh && !dwarf_cfi_addrframe(cfi->eh, vaddr, &frame)) {
		free(frame);
		return ".eh_frame";
	}
	if (cfi->debug && !dwarf_cfi_addrframe(cfi->debug, vaddr - cfi->debug_bias, &frame)) {
		free(frame);
		return ".debug_frame";
	}
	return NULL;
}

/* Where the rule came from, in the order in which object.c asks. */
static void print_source(const struct step *step)
{
	struct hybrid_object *object = step->mapping ? step->mapping->object : NULL;
	const struct hybrid_row *row = step->row;
	const char *section;
	u64 vaddr = 0;

	if (!row) {
		printf("no CFI (%s)", !step->mapping ? "no map" : !object ? "no file" :
		       object->why ? object->why : "not in an executable segment");
		return;
	}
	place_address(step->mapping, step->frame->ip, &vaddr);
	section = section_of(&object->cfi, vaddr);
	if (step->by_code)
		printf("%s: the code itself", section ? "CFI that led nowhere" : "no CFI");
	else if (section && row->rule.kind == HYBRID_RULE_NONE)
		printf("%s that can't be read", section);
	else if (section)
		printf("%s", section);
	else if (row->rule.kind == HYBRID_RULE_OUTERMOST)
		printf("no CFI: %s", row->rule.signal ? "start of a context" :
		       "entry of a program");
	else
		printf("no CFI");
	if (step->by_code)
		return;
	if (row->rule.signal)
		printf(", signal frame");
	if (row->rule.kind == HYBRID_RULE_FULL)
		printf(", all registers");
	if (row->popped)
		printf(", behind a pop");
}

static void print_step_rule(const struct step *step)
{
	const struct hybrid_abi *abi = step->u.abi;
	const struct hybrid_rule by_bp = {
		.kind = HYBRID_RULE_CFA, .base = HYBRID_BASE_BP, .bp = HYBRID_BP_AT_CFA,
		.cfa_off = 2 * abi->word, .ra_off = -abi->word, .bp_off = -2 * abi->word,
	};

	printf("    rule: ");
	if (step->rule->kind == HYBRID_RULE_OUTERMOST)
		printf("none, nothing called this");
	else if (step->rule->kind == HYBRID_RULE_SIGRETURN)
		printf("registers as the signal found them");
	else if (step->rule->kind == HYBRID_RULE_FULL)
		print_full(step);
	else
		print_rule(abi, step->rule->kind == HYBRID_RULE_NONE ? &by_bp : step->rule);
	printf("\n    from: ");
	print_source(step);
	if (step->rule->kind == HYBRID_RULE_NONE)
		printf(": frame pointer");
	putchar('\n');
}

/* What was read, or could not be, at the place that the rule names. */
static void print_return(const struct step *step)
{
	const struct hybrid_unwind *u = &step->u;
	const struct hybrid_rule *rule = step->rule;
	u64 at, value, cfa = step->frame->cfa;
	s64 off;

	if (rule->kind == HYBRID_RULE_OUTERMOST || (!cfa && !step->next))
		return;
	printf("    CFA 0x%" PRIx64, cfa);
	if (step->next)
		printf(", return address 0x%" PRIx64, step->next->ret);
	off = rule->kind == HYBRID_RULE_NONE ? -u->abi->word : rule->ra_off;
	at = cfa + off;
	if (!step->next && rule->kind == HYBRID_RULE_FULL)
		printf(", return address not to be had");
	else if (!step->next && hybrid_unwind_read(u, at, u->abi->word, &value))
		printf(", return address at 0x%" PRIx64 ": not in the dump", at);
	else if (!step->next)
		printf(", return address 0x%" PRIx64 " at 0x%" PRIx64 ": not followed", value, at);
	putchar('\n');
}

/*
 * A walk of one frame less tells with which registers a frame was left; the
 * rule is the row's, but where that led nowhere or there is none, the code's.
 */
static void take_step(const struct hybrid_unwind *u, unsigned int i, struct step *step)
{
	static const struct hybrid_rule none;
	const struct hybrid_rule *code;
	struct hybrid_object *object;
	bool mapped, retried;

	step->u = *u;
	step->u.frames = steps;
	step->u.max_frames = i + 1;
	hybrid_unwind(&unwinder, &step->u);
	step->frame = &u->frames[i];
	step->next = i + 1 < u->nr ? &u->frames[i + 1] : NULL;
	step->row = hybrid_unwind_row(&unwinder, u->space, step->frame->ip, &mapped, &object);
	step->mapping = hybrid_space_find(u->space, step->frame->ip);
	step->rule = step->row ? &step->row->rule : &none;
	step->by_code = false;
	if (!step->row || !step->next)
		return;
	retried = !i && steps[0].cfa != step->frame->cfa;
	if (step->rule->kind != HYBRID_RULE_NONE && !retried)
		return;
	code = hybrid_object_code_rule(step->row, step->mapping, step->frame->ret);
	if (code->kind == HYBRID_RULE_NONE)
		return;
	if (code->kind == HYBRID_RULE_CFA && step->frame->cfa != code->cfa_off +
	    (code->base == HYBRID_BASE_BP ? step->u.bp : step->u.sp))
		return;
	step->rule = code;
	step->by_code = true;
}

static void print_frame(const struct hybrid_unwind *u, unsigned int i)
{
	const struct hybrid_abi *abi = u->abi;
	struct step step;

	take_step(u, i, &step);
	if (step.mapping && step.mapping->object)
		place_check(step.mapping->object);
	printf("#%-2u 0x%" PRIx64 " ", i, step.frame->ip);
	place_print(step.mapping, step.frame->ip);
	printf("    %s 0x%" PRIx64 ", %s ", sample_register(abi, abi->sp), step.u.sp,
	       sample_register(abi, abi->bp));
	if (step.u.bp_known)
		printf("0x%" PRIx64 "\n", step.u.bp);
	else
		printf("not known\n");
	print_step_rule(&step);
	print_return(&step);
}

static void print_stop(const struct hybrid_unwind *u)
{
	static const char * const words[HYBRID_STOP_NR] = {
		[HYBRID_STOP_OUTERMOST]	 = "the outermost frame is reached",
		[HYBRID_STOP_LIMIT]	 = "there are more frames than any sample may have",
		[HYBRID_STOP_DUMP_END]	 = "the stack goes on behind its dump",
		[HYBRID_STOP_NO_MAP]	 = "the return address is in no map",
		[HYBRID_STOP_NO_CFI]	 = "neither CFI nor a frame pointer leads on",
		[HYBRID_STOP_UNREAD]	 = "the file is not there yet",
		[HYBRID_STOP_BAD_FRAME]	 = "the CFI led nowhere: not up the stack, or unreadable",
	};

	printf("stop: %u frames; %s", u->nr, words[u->stop]);
	if (u->stop != HYBRID_STOP_OUTERMOST && u->stop != HYBRID_STOP_LIMIT && u->failed_in)
		printf(" (%s)", u->failed_in->ident.path);
	putchar('\n');
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "root", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	struct hybrid_unwind u = { .frames = frames, .max_frames = HYBRID_MAX_FRAMES };
	unsigned int i;
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (option == 'h')
			return printf(USAGE) < 0;
		if (option != 'r')
			return 1;
		place_root = optarg;
	}
	if (optind + 1 != argc) {
		fputs(USAGE, stderr);
		return 1;
	}
	hybrid_objects_init(&objects, place_open, hybrid_x86_abi);
	sample_read(argv[optind], &objects, &u);
	hybrid_unwind(&unwinder, &u);
	for (i = 0; i < u.nr; i++)
		print_frame(&u, i);
	print_stop(&u);
	place_exit();
	hybrid_space_put(u.space);
	hybrid_objects_exit(&objects);
	return 0;
}
