// SPDX-License-Identifier: GPL-2.0
/*
 * Runs another BPF program nearly all the time, which loops: one of a tracepoint. (That of
 * a system call would not do: such programs sleep on Linux 7.3, and keep no other out.)
 *
 * usage: other SECONDS; 4 where there can be no such program. Mounts what it needs in a
 * namespace of its own.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "clock.h"

#define ROUNDS		20000
#define NR_INSNS	5
#define TRACING		"/sys/kernel/tracing"
#define NOT_HERE	4

#define INSN(code_, dst, off_, imm_) \
	((struct bpf_insn) { .code = (code_), .dst_reg = (dst), .off = (off_), .imm = (imm_) })

static int tracepoint_id(void)
{
	int id = -1;
	FILE *file;

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return -1;
	mount("tracefs", TRACING, "tracefs", 0, NULL);
	file = fopen(TRACING "/events/oom/oom_score_adj_update/id", "r");
	if (!file)
		return -1;
	if (fscanf(file, "%d", &id) != 1)
		id = -1;
	fclose(file);
	return id;
}

static int load_program(void)
{
	const struct bpf_insn insns[NR_INSNS] = {
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_1, 0, ROUNDS),
		INSN(BPF_ALU64 | BPF_SUB | BPF_K, BPF_REG_1, 0, 1),
		INSN(BPF_JMP | BPF_JNE | BPF_K, BPF_REG_1, -2, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0),
	};
	union bpf_attr attr = {
		.prog_type	= BPF_PROG_TYPE_TRACEPOINT,
		.insns		= (unsigned long)insns,
		.insn_cnt	= NR_INSNS,
		.license	= (unsigned long)"GPL",
	};

	return syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

/* In this process alone. */
static int attach(int id, int program)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_TRACEPOINT,
		.size		= sizeof(attr),
		.config		= id,
		.sample_period	= 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	return fd < 0 ? fd : ioctl(fd, PERF_EVENT_IOC_SET_BPF, program);
}

int main(int argc, char **argv)
{
	int id = tracepoint_id(), program = load_program();
	int file = open("/proc/self/oom_score_adj", O_WRONLY);
	double end;

	if (argc != 2)
		return 2;
	if (id < 0 || program < 0 || file < 0 || attach(id, program))
		return NOT_HERE;
	for (end = now() + atof(argv[1]); now() < end;)
		if (write(file, "0", 1) != 1)
			return 1;
	return 0;
}
