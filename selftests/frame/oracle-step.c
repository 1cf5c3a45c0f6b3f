// SPDX-License-Identifier: GPL-2.0
/*
 * Oracle 3: a program is single-stepped with a shadow stack beside it, and at
 * every instruction that it runs the caller that the analysis gives, with a
 * step by frame pointers where it gives none, must be the one on top of the
 * shadow stack.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/user.h>
#include <unistd.h>

#include "../../kmod/frame/x86_frame_cache.h"
#include "shadow.h"

#define MISS_MAX	4096

struct miss {
	unsigned long	ip;
	unsigned long	times;
	unsigned long	truth;
	unsigned long	found;
	int		kind;
};

struct stepper {
	struct shadow		shadow;
	struct x86_frame_cache	cache;
	unsigned long		steps;
	unsigned long		right;
	unsigned long		plain_right;
	unsigned long		lost;
	unsigned long		wrong;
	unsigned long		invented;
	unsigned long		rejected;
	unsigned long		believed;
	unsigned long		kinds[X86_FRAME_NR];
	struct miss		miss[MISS_MAX];
	unsigned int		nr_miss;
	bool			debug;
};

static struct stepper st;

/* What a walk by frame pointers finds, 0 for nothing. */
static unsigned long plain_caller(struct stepper *s,
				  const struct user_regs_struct *regs)
{
	unsigned int word = s->shadow.word;

	if (regs->rbp < regs->rsp || regs->rbp & (word - 1))
		return 0;
	return shadow_word(&s->shadow, regs->rbp + word);
}

/* By the processor's numbers; 0 for those that the analysis does not name. */
static unsigned long register_of(const struct user_regs_struct *regs, unsigned int nr)
{
	const unsigned long values[] = {
		regs->rax, regs->rcx, regs->rdx, regs->rbx, 0, 0, 0, 0, regs->r8, regs->r9,
		regs->r10, regs->r11, regs->r12, regs->r13, regs->r14, regs->r15,
	};

	return nr < sizeof(values) / sizeof(*values) ? values[nr] : 0;
}

/* @confirmed: out: is it a rule's, and not the step by frame pointers? */
static unsigned long find_caller(struct stepper *s, const struct user_regs_struct *regs,
				 int *kind, bool *confirmed)
{
	struct x86_frame_mem *mem = &s->shadow.mem;
	struct x86_frame_rule rule;
	unsigned long cfa, ra;

	*confirmed = false;
	*kind = x86_frame_analyze_cached(&s->cache, 0, mem, regs->rip, &rule);
	s->kinds[*kind]++;
	if (*kind == X86_FRAME_UNKNOWN || *kind == X86_FRAME_SIGNAL)
		return plain_caller(s, regs);
	cfa = rule.use_fp ? regs->rbp : regs->rsp;
	if (*kind == X86_FRAME_SCAN_MEM)
		cfa = shadow_word(&s->shadow, cfa + rule.mem_off);
	else if (*kind == X86_FRAME_SCAN_REG)
		cfa = register_of(regs, rule.reg);
	cfa += rule.cfa_off;
	if (cfa > regs->rsp && !(cfa & (s->shadow.word - 1))) {
		ra = shadow_word(&s->shadow, cfa + rule.ra_off);
		if (x86_frame_call_before(mem, ra) ||
		    x86_frame_sigreturn(mem, ra) != X86_SIGRETURN_NONE) {
			*confirmed = true;
			return ra;
		}
	}
	s->rejected++;
	return plain_caller(s, regs);
}

static void note_miss(struct stepper *s, unsigned long ip, unsigned long truth,
		      unsigned long found, int kind)
{
	unsigned int i;

	for (i = 0; i < s->nr_miss; i++)
		if (s->miss[i].ip == ip) {
			s->miss[i].times++;
			return;
		}
	if (s->nr_miss < MISS_MAX)
		s->miss[s->nr_miss++] =
			(struct miss) { ip, 1, truth, found, kind };
}

static void check(struct stepper *s, const struct user_regs_struct *regs)
{
	unsigned int depth = s->shadow.depth;
	unsigned long truth = depth ? s->shadow.calls[depth - 1].ra : 0;
	unsigned long found, plain = plain_caller(s, regs);
	bool confirmed;
	int kind;

	found = find_caller(s, regs, &kind, &confirmed);
	s->steps++;
	s->plain_right += plain == truth;
	if (found == truth) {
		s->right++;
		return;
	}
	s->believed += confirmed;
	if (!truth)
		s->invented++;
	else if (!found)
		s->lost++;
	else
		s->wrong++;
	note_miss(s, regs->rip, truth, found, kind);
}

static void run(struct stepper *s, struct user_regs_struct *regs, unsigned long skip,
		unsigned long max)
{
	int sig = 0;

	while (s->steps < max) {
		/* A pending signal is delivered before the instruction. */
		if (!sig) {
			if (skip)
				skip--;
			else
				check(s, regs);
		}
		if (!shadow_step(&s->shadow, regs, &sig))
			break;
	}
}

static void where(struct stepper *s, unsigned long ip, char *buf, size_t len)
{
	char line[512], path[32], name[256];
	unsigned long start, end, off;
	FILE *f;

	snprintf(buf, len, "%#lx", ip);
	snprintf(path, sizeof(path), "/proc/%d/maps", s->shadow.pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		name[0] = 0;
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %255s", &start, &end,
			   &off, name) < 3 || ip < start || ip >= end)
			continue;
		snprintf(buf, len, "%s+%#lx", name, ip - start + off);
	}
	if (f)
		fclose(f);
}

static void report(struct stepper *s, int list)
{
	char ip[320], truth[320], found[320];
	unsigned int i, best;

	printf("instructions %lu right %.4f%% lost %lu wrong %lu ", s->steps,
	       s->steps ? 100.0 * s->right / s->steps : 0, s->lost, s->wrong);
	printf("invented %lu unconfirmed %lu confirmed but wrong %lu; ",
	       s->invented, s->rejected, s->believed);
	printf("frame pointers alone %.2f%%\n",
	       s->steps ? 100.0 * s->plain_right / s->steps : 0);
	while (list-- > 0) {
		for (best = 0, i = 1; i < s->nr_miss; i++)
			if (s->miss[i].times > s->miss[best].times)
				best = i;
		if (!s->nr_miss || !s->miss[best].times)
			break;
		where(s, s->miss[best].ip, ip, sizeof(ip));
		where(s, s->miss[best].truth, truth, sizeof(truth));
		where(s, s->miss[best].found, found, sizeof(found));
		printf("  %lu times %s kind %d caller %s found %s\n",
		       s->miss[best].times, ip, s->miss[best].kind, truth, found);
		s->miss[best].times = 0;
	}
}

static const char usage[] =
	"usage: oracle-step [-s SKIP] [-n MAX] [-l NUMBER] [-r MIN-RIGHT] [-c] PROGRAM [ARG...]\n"
	"  -s  do not check the first SKIP instructions\n"
	"  -n  stop after MAX checked instructions\n"
	"  -l  list the places with the most misses\n"
	"  -r  fail where less (in percent) is right, or a caller is invented\n"
	"  -c  fail where a rule's caller is confirmed and wrong\n";

int main(int argc, char **argv)
{
	unsigned long skip = 0, max = -1UL;
	struct user_regs_struct regs;
	double min_right = -1;
	bool confirmed = false;
	int c, list = 0;

	while ((c = getopt(argc, argv, "+s:n:l:r:c")) >= 0) {
		switch (c) {
		case 's':
			skip = strtoul(optarg, NULL, 0);
			break;
		case 'n':
			max = strtoul(optarg, NULL, 0);
			break;
		case 'l':
			list = atoi(optarg);
			break;
		case 'r':
			min_right = atof(optarg);
			break;
		case 'c':
			confirmed = true;
			break;
		default:
			fputs(usage, stderr);
			return 2;
		}
	}
	if (optind >= argc) {
		fputs(usage, stderr);
		return 2;
	}
	if (!shadow_start(&st.shadow, argv + optind, &regs))
		return 2;
	run(&st, &regs, skip, max);
	report(&st, list);
	kill(st.shadow.pid, SIGKILL);
	if (!st.steps)
		return 2;
	return 100.0 * st.right / st.steps < min_right ||
	       (min_right >= 0 && st.invented) || (confirmed && st.believed);
}
