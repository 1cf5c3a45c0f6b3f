// SPDX-License-Identifier: GPL-2.0
/*
 * Samples of precise events, made from single steps: ip, registers and stack are of
 * different moments, as struct model says. What was true at the two moments goes to a
 * file beside: the shadow stack.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../frame/shadow.h"
#include "data-file.h"
#include "model.h"

#define MAX_CHAIN	127
#define PAGE		4096

/* What a system call's interrupt has for registers. */
#define KERNEL_STACK	0xffffc90000123e58UL
#define KERNEL_CODE	0xffffffff81234567UL

/**
 * struct moment - where the program was
 * @regs:	its registers
 * @depth:	calls that it was in
 * @calls:	they
 */
struct moment {
	struct user_regs_struct	 regs;
	unsigned int		 depth;
	struct shadow_call	*calls;
};

/**
 * struct maker - makes the samples of one model
 * @model:	which
 * @data:	the file
 * @truth:	the file beside
 * @wait:	instructions before the next sample begins
 * @since:	instructions since it began; 0: none has
 * @early:	at ip
 * @after:	registers behind the instruction there
 * @made:	samples
 */
struct maker {
	const struct model	*model;
	struct data_file	 data;
	FILE			*truth;
	unsigned int		 wait;
	unsigned int		 since;
	struct moment		 early;
	struct user_regs_struct	 after;
	unsigned int		 made;
};

static struct shadow program;
static struct maker makers[MODELS];
static unsigned int interval = 100;
static u64 now;

static void note(struct moment *moment, const struct user_regs_struct *regs)
{
	moment->regs = *regs;
	moment->depth = program.depth;
	memcpy(moment->calls, program.calls, program.depth * sizeof(*moment->calls));
}

/* The time, which moment, ip, what was called last; then the return addresses. */
static void print_moment(FILE *file, const char *word, const struct user_regs_struct *regs,
			 const struct shadow_call *calls, unsigned int depth)
{
	fprintf(file, "%llu %s %llx %lx", (unsigned long long)now, word, regs->rip,
		depth ? calls[depth - 1].entry : 0);
	while (depth--)
		fprintf(file, " %lx", calls[depth].ra);
	fputc('\n', file);
}

/* As the kernel walks, from the interrupt's registers. */
static unsigned int walk(const struct user_regs_struct *regs, u64 *chain)
{
	unsigned long fp = regs->rbp, frame[2];
	unsigned int nr = 0;

	chain[nr++] = PERF_CONTEXT_USER;
	chain[nr++] = regs->rip;
	while (nr < MAX_CHAIN && fp && !(fp % 8) &&
	       !shadow_read(&program, fp, frame, sizeof(frame))) {
		chain[nr++] = frame[1];
		fp = frame[0];
	}
	return nr;
}

/* As much as can be read from @sp on: the stack ends where a page does. */
static u64 dump(unsigned long sp, u8 *stack)
{
	u64 size = DATA_FILE_STACK, over;

	memset(stack, 0, size);
	while (size && shadow_read(&program, sp, stack, size)) {
		over = (sp + size) % PAGE ?: PAGE;
		size -= over < size ? over : size;
	}
	return size;
}

static void finish(struct maker *m, const struct user_regs_struct *regs)
{
	static u8 stack[DATA_FILE_STACK] __attribute__((aligned(8)));
	u64 chain[MAX_CHAIN + 2];
	struct data_sample s = {
		.time = now, .pid = program.pid, .ip = m->early.regs.rip, .regs = *regs,
		.chain = chain, .stack = stack,
	};

	if (m->model->kind == MODEL_RETIRED)
		s.regs = m->after;
	if (m->model->kind == MODEL_KERNEL) {
		chain[s.nr++] = PERF_CONTEXT_KERNEL;
		chain[s.nr++] = KERNEL_CODE;
		s.regs.rsp = KERNEL_STACK;
		s.regs.rbp = KERNEL_STACK + 48;
	} else {
		s.size = dump(s.regs.rsp, stack);
	}
	s.nr += walk(regs, chain + s.nr);
	data_file_sample(&m->data, &s);
	print_moment(m->truth, "early", &m->early.regs, m->early.calls, m->early.depth);
	print_moment(m->truth, "interrupt", regs, program.calls, program.depth);
	m->made++;
	m->since = 0;
	m->wait = 1 + random() % (2 * interval);
}

/* Before the instruction at @regs. */
static void sample(struct maker *m, const struct user_regs_struct *regs, bool is_syscall)
{
	unsigned int later = m->model->later + (m->model->kind == MODEL_RETIRED);

	if (!m->since && m->wait) {
		m->wait--;
		return;
	}
	if (!m->since) {
		note(&m->early, regs);
		if (m->model->kind != MODEL_KERNEL && !later) {
			finish(m, regs);
			return;
		}
		m->since = 1;
		return;
	}
	if (m->since == 1)
		m->after = *regs;
	if (m->model->kind == MODEL_KERNEL) {
		/* Behind the system call's instruction: there its interrupt returns. */
		if (is_syscall)
			finish(m, regs);
		else if (m->since++ == later)
			m->since = 0;
	} else if (m->since++ == later) {
		finish(m, regs);
	}
}

static void write_maps(struct maker *m)
{
	char path[32], line[4096];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", program.pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		data_file_map(&m->data, program.pid, now, line);
	if (f)
		fclose(f);
}

static bool is_syscall_at(unsigned long ip)
{
	u8 bytes[2];

	return !shadow_read(&program, ip, bytes, 2) && bytes[0] == 0x0f && bytes[1] == 0x05;
}

/* mmap(), mprotect() and munmap() */
static bool changes_maps(const struct user_regs_struct *regs)
{
	return regs->orig_rax >= 9 && regs->orig_rax <= 11;
}

static void run(struct user_regs_struct *regs, unsigned long max)
{
	bool was_syscall = false, is_syscall;
	int sig = 0;
	size_t i;

	for (now = 1; now <= max; now++) {
		/* rax is a system call's number, and orig_rax is set by it. */
		is_syscall = regs->rax < 512 && is_syscall_at(regs->rip);
		for (i = 0; i < MODELS; i++)
			sample(&makers[i], regs, was_syscall);
		if (!shadow_step(&program, regs, &sig))
			break;
		was_syscall = is_syscall;
		for (i = 0; is_syscall && changes_maps(regs) && i < MODELS; i++)
			write_maps(&makers[i]);
	}
}

static bool begin(struct maker *m, const struct model *model, const char *dir, bool plain,
		  const char *name)
{
	char path[PATH_MAX];

	m->model = model;
	m->wait = 1 + random() % (2 * interval);
	m->early.calls = calloc(SHADOW_MAX, sizeof(*m->early.calls));
	snprintf(path, sizeof(path), "%s/%s.data", dir, model->name);
	if (!m->early.calls ||
	    !data_file_begin(&m->data, path, model->precise, model->cpuid, plain))
		return false;
	snprintf(path, sizeof(path), "%s/%s.truth", dir, model->name);
	m->truth = fopen(path, "w");
	data_file_exec(&m->data, program.pid, name);
	write_maps(m);
	return m->truth;
}

static const char usage[] =
	"usage: make-samples [-n INSTRUCTIONS] [-i INTERVAL] [-s SEED] [-p] DIRECTORY PROGRAM [ARG...]\n"
	"  -n  how many to run, 60000\n"
	"  -i  instructions from one sample of a model to the next, on average, 100\n"
	"  -s  what the samples are chosen by\n"
	"  -p  files as of --call-graph dwarf, without the kernel's user chain\n";

int main(int argc, char **argv)
{
	struct user_regs_struct regs;
	unsigned long max = 60000;
	bool plain = false, ok;
	size_t i;
	int c;

	while ((c = getopt(argc, argv, "+n:i:s:p")) >= 0) {
		switch (c) {
		case 'n':
			max = strtoul(optarg, NULL, 0);
			break;
		case 'i':
			interval = atoi(optarg);
			break;
		case 's':
			srandom(atoi(optarg));
			break;
		case 'p':
			plain = true;
			break;
		default:
			fputs(usage, stderr);
			return 2;
		}
	}
	if (argc - optind < 2 || !interval) {
		fputs(usage, stderr);
		return 2;
	}
	ok = shadow_start(&program, argv + optind + 1, &regs) && program.mem.is_64bit &&
	     shadow_to_entry(&program, &regs);
	if (!ok)
		fprintf(stderr, "make-samples: %s: can't be run, or has no 64-bit code\n",
			argv[optind + 1]);
	for (i = 0; ok && i < MODELS; i++) {
		ok = begin(&makers[i], &models[i], argv[optind], plain, argv[optind + 1]);
		if (!ok)
			perror(argv[optind]);
	}
	if (ok)
		run(&regs, max);
	for (i = 0; ok && i < MODELS; i++) {
		ok = data_file_end(&makers[i].data) && !fclose(makers[i].truth);
		printf("%s %u\n", models[i].name, makers[i].made);
	}
	if (program.pid > 0)
		kill(program.pid, SIGKILL);
	return !ok;
}
