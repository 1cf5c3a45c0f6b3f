// SPDX-License-Identifier: GPL-2.0
/*
 * Samples of precise events. Their address is that of the instruction that is counted;
 * registers and stack are of later moments, and the stack may be of a later one than the
 * registers. The kernel's callchain begins where the interrupt was.
 */
#include <inttypes.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include "../rules/function.h"
#include "call-check.h"
#include "precise.h"

/* Calls of a chain that are looked at. */
#define MAX_CHECKED	8

/* Samples that fit one moment only, before an unknown processor counts as known. */
#define ENOUGH		32

/* What the calls of a chain say of it; the better, the higher. */
enum verdict {
	REFUTED,	/* one of them calls something else, or it leads nowhere at once */
	UNCLEAR,	/* it leads nowhere further out, or a call can't be followed */
	FITS,
};

/**
 * struct candidate - a moment that the sample may be unwound from
 * @way: which
 * @ip: the address whose rule holds
 * @sp: the stack pointer there
 */
struct candidate {
	enum hybrid_precise_way	way;
	u64			ip;
	u64			sp;
};

/* Looked up as a frame is: so its mapping is there, if it can be. */
static bool same_function(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u,
			  u64 ip, u64 other)
{
	struct hybrid_object *object;
	bool mapped;
	u64 start;

	hybrid_unwind_row(unwinder, u->space, ip, &mapped, &object);
	if (!mapped)
		return false;
	hybrid_unwind_row(unwinder, u->space, other, &mapped, &object);
	start = mapped ? hybrid_function_of(u, ip) : 0;
	return start && start == hybrid_function_of(u, other);
}

static enum verdict judge(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u)
{
	enum verdict verdict = FITS;
	unsigned int i;

	if (u->is_refuted && u->nr <= MAX_CHECKED)
		return REFUTED;
	for (i = 0; i + 1 < u->nr && i < MAX_CHECKED; i++) {
		/* What a signal interrupted has called nothing. */
		if (u->frames[i + 1].ip == u->frames[i + 1].ret)
			continue;
		switch (hybrid_leads_to(unwinder, u, u->frames[i + 1].ret, u->frames[i].ip,
					HYBRID_REACH_MAYBE)) {
		case HYBRID_REACH_NOT:
		case HYBRID_REACH_ELSEWHERE:
			return REFUTED;
		case HYBRID_REACH_FAR:
			verdict = UNCLEAR;
			break;
		case HYBRID_REACH_MAYBE:
		case HYBRID_REACH_INDIRECT:
		case HYBRID_REACH_THERE:
		default:
			break;
		}
	}
	/* A word of zero where the return address should be may be anything. */
	if (u->stop == HYBRID_STOP_OUTERMOST && u->nr == 1 &&
	    u->rule.kind != HYBRID_RULE_OUTERMOST)
		return UNCLEAR;
	if (u->stop <= HYBRID_STOP_DUMP_END)
		return verdict;
	return u->nr > 1 ? UNCLEAR : REFUTED;
}

static enum verdict try(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u,
			const struct candidate *from)
{
	u->regs.value[u->abi->ip] = from->ip;
	u->regs.value[u->abi->sp] = from->sp;
	u->user_at = 0;
	hybrid_unwind(unwinder, u);
	return judge(unwinder, u);
}

/* As the registers are that the record has; false where that is the caller's. */
static bool behind(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u, u64 ip,
		   struct candidate *from)
{
	struct hybrid_object *object;
	enum hybrid_effect after;
	bool mapped;
	u64 next;

	hybrid_unwind_row(unwinder, u->space, ip, &mapped, &object);
	if (!hybrid_space_find(u->space, ip))
		return false;
	after = hybrid_memory_after(unwinder->memory, u->space, u->pid, u->abi, ip, &next);
	from->way = HYBRID_PRECISE_RETIRED;
	from->ip = after == HYBRID_EFFECT_NEXT ? next : ip;
	from->sp = u->regs.value[u->abi->sp];
	if (after == HYBRID_EFFECT_CALL)
		from->sp += u->abi->word;
	return after != HYBRID_EFFECT_RETURN;
}

/* A sample of a processor that is not known fits one moment and not the other. */
static void learn(struct hybrid_precise *precise, enum hybrid_precise_way way)
{
	if (precise->moment != HYBRID_SKID_UNKNOWN)
		return;
	if (way == HYBRID_PRECISE_INTERRUPT)
		precise->interrupt++;
	else
		precise->retired++;
	if (precise->interrupt > ENOUGH && precise->interrupt > 8 * precise->retired)
		precise->moment = HYBRID_SKID_ADDRESS;
	else if (precise->retired > ENOUGH && precise->retired > 8 * precise->interrupt)
		precise->moment = HYBRID_SKID_STACK;
}

/*
 * A function that has returned by the time the stack is copied may have been followed by
 * another, called from the same one: then its return address stands where the first one's
 * was. Where the call may have led to either, it belongs to the one that ran last.
 */
static bool was_followed(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u,
			 const struct candidate *retired, const struct candidate *interrupt)
{
	u64 ret = u->nr > 1 ? u->frames[1].ret : 0;

	if (!ret || u->frames[1].ip == ret ||
	    hybrid_leads_to(unwinder, u, ret, u->frames[0].ip, HYBRID_REACH_MAYBE) !=
	    HYBRID_REACH_INDIRECT ||
	    same_function(unwinder, u, retired->ip, interrupt->ip))
		return false;
	return try(unwinder, u, interrupt) == FITS && u->nr > 1 && u->frames[1].ret == ret;
}

/* Those of @from, the likelier one first, that the calls do not refute. */
static bool choose(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u,
		   struct hybrid_precise *precise, const struct candidate *from, unsigned int nr,
		   enum hybrid_precise_way *way)
{
	enum verdict verdicts[2] = {};
	unsigned int best = 0, i;

	for (i = 0; i < nr; i++) {
		verdicts[i] = try(unwinder, u, &from[i]);
		if (verdicts[i] > verdicts[best])
			best = i;
		if (verdicts[best] == FITS && precise->moment != HYBRID_SKID_UNKNOWN)
			break;
	}
	if (verdicts[best] == REFUTED)
		return false;
	if (nr == 2 && verdicts[!best] == REFUTED && verdicts[best] == FITS)
		learn(precise, from[best].way);
	if (i < nr && nr == 2 && !best && from[0].way == HYBRID_PRECISE_RETIRED) {
		best = was_followed(unwinder, u, &from[0], &from[1]);
		i = nr;
	}
	*way = from[best].way;
	if (i == nr && best != nr - 1)
		try(unwinder, u, &from[best]);
	return true;
}

/* Without the kernel's chain: the sampled address, and callers unless calls refute them. */
static void unwind_plain(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u,
			 struct hybrid_precise *precise, u64 ip)
{
	struct candidate from = { HYBRID_PRECISE_RETIRED, ip, u->regs.value[u->abi->sp] };
	bool retired = precise->moment == HYBRID_SKID_STACK;

	if ((!retired || behind(unwinder, u, ip, &from)) &&
	    try(unwinder, u, &from) != REFUTED) {
		precise->ways[HYBRID_PRECISE_RETIRED]++;
		return;
	}
	u->nr = 1;
	u->sure = 1;
	u->stop = HYBRID_STOP_BAD_FRAME;
	precise->ways[HYBRID_PRECISE_REFUTED]++;
}

static bool is_kernel(const struct hybrid_unwind *u)
{
	return (s64)u->regs.value[u->abi->sp] < 0;
}

bool hybrid_precise_unwind(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u,
			   struct hybrid_precise *precise)
{
	u64 ip = u->regs.value[u->abi->ip], sp = u->regs.value[u->abi->sp], at;
	struct candidate from[2];
	enum hybrid_precise_way way;
	unsigned int nr = 0;
	bool retired_first;

	precise->first = 0;
	if (precise->moment == HYBRID_SKID_NONE) {
		hybrid_unwind(unwinder, u);
		return true;
	}
	at = u->nr_user ? u->user[0] : 0;
	if (is_kernel(u)) {
		precise->ways[HYBRID_PRECISE_KERNEL]++;
		if (at && same_function(unwinder, u, ip, at))
			precise->first = ip;
		return false;
	}
	if (!at) {
		unwind_plain(unwinder, u, precise, ip);
		precise->first = ip;
		return true;
	}
	/* Of those that fit, the first is taken. */
	retired_first = precise->moment == HYBRID_SKID_STACK ||
			precise->retired > precise->interrupt;
	if (retired_first && behind(unwinder, u, ip, &from[nr]))
		nr++;
	from[nr++] = (struct candidate) { HYBRID_PRECISE_INTERRUPT, at, sp };
	if (!retired_first && precise->moment == HYBRID_SKID_UNKNOWN &&
	    behind(unwinder, u, ip, &from[nr]))
		nr++;
	way = HYBRID_PRECISE_INTERRUPT;
	if (precise->moment == HYBRID_SKID_ADDRESS) {
		try(unwinder, u, &from[0]);
	} else if (!choose(unwinder, u, precise, from, nr, &way)) {
		precise->ways[HYBRID_PRECISE_REFUTED]++;
		return false;
	}
	precise->ways[way]++;
	if (way == HYBRID_PRECISE_RETIRED || same_function(unwinder, u, ip, at))
		precise->first = ip;
	return true;
}

void hybrid_precise_walked(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u,
			   struct hybrid_precise *precise, u64 ip)
{
	precise->first = 0;
	if (precise->moment == HYBRID_SKID_NONE)
		return;
	precise->ways[HYBRID_PRECISE_INTERRUPT]++;
	if (u->nr && same_function(unwinder, u, ip, u->frames[0].ip))
		precise->first = ip;
}

void hybrid_precise_put_first(const struct hybrid_precise *precise, u64 *chain, unsigned int nr)
{
	unsigned int i;

	for (i = 0; precise->first && i + 1 < nr; i++) {
		if (chain[i] == PERF_CONTEXT_USER) {
			chain[i + 1] = precise->first;
			return;
		}
	}
}

void hybrid_precise_print(const struct hybrid_precise *precise, FILE *out)
{
	static const char * const names[HYBRID_PRECISE_NR] = {
		[HYBRID_PRECISE_INTERRUPT] = "from where the interrupt was",
		[HYBRID_PRECISE_RETIRED] = "from the sampled instruction",
		[HYBRID_PRECISE_KERNEL] = "interrupted in the kernel",
		[HYBRID_PRECISE_REFUTED] = "that fit neither",
	};
	unsigned int i;

	if (precise->moment == HYBRID_SKID_NONE)
		return;
	fprintf(out, "hybrid: precise event:");
	for (i = 0; i < HYBRID_PRECISE_NR; i++)
		fprintf(out, "%s %" PRIu64 " %s", i ? "," : "", precise->ways[i], names[i]);
	fputc('\n', out);
}
