// SPDX-License-Identifier: GPL-2.0
/*
 * Probes on random instructions of a program, and return probes on its functions: each takes
 * a sample with a callchain, and most run a BPF program that takes the user's stack twice.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <linux/perf_event.h>

#include "../bpf-program.h"
#include "fuzz.h"

#define MAX_OFFSETS	65536
#define MAX_DEPTH	48
#define NR_PROBES	8

/* @taken: stacks of the program; @ips: the last one. */
struct result {
	uint64_t	taken;
	uint64_t	ips[MAX_DEPTH];
};

static unsigned long insns[MAX_OFFSETS], functions[MAX_OFFSETS];
static unsigned int nr_insns, nr_functions;
static int results, stacks, program;
static unsigned int uprobe_type;

/* Each line is "i OFFSET" or, of a function's first instruction, "f OFFSET". */
static void read_offsets(void)
{
	FILE *file = fopen(target_list, "r");
	unsigned long offset;
	char what;

	if (!file)
		die(target_list);
	while (fscanf(file, " %c %lx", &what, &offset) == 2) {
		if (what == 'f' && nr_functions < MAX_OFFSETS)
			functions[nr_functions++] = offset;
		if (nr_insns < MAX_OFFSETS)
			insns[nr_insns++] = offset;
	}
	fclose(file);
	if (!nr_functions)
		die(target_list);
}

static unsigned int pmu_type(const char *name)
{
	char path[128];
	unsigned int type;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", name);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%u", &type) != 1)
		die(path);
	fclose(file);
	return type;
}

static void load_program(void)
{
	/* BPF_IMM and BPF_K are 0, as BPF_LD and BPF_ADD are. */
	const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 6, .src_reg = 1 },
		{ .code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = 10, .off = -4 },
		{ .code = BPF_LD | BPF_DW, .dst_reg = 1,
		  .src_reg = BPF_PSEUDO_MAP_FD, .imm = results },
		{},
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 2, .src_reg = 10 },
		{ .code = BPF_ALU64 | BPF_ADD, .dst_reg = 2, .imm = -4 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_map_lookup_elem },
		{ .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = 0, .off = 14 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 7, .src_reg = 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 1, .imm = 1 },
		{ .code = BPF_STX | BPF_ATOMIC | BPF_DW, .dst_reg = 7, .src_reg = 1,
		  .imm = BPF_ADD },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 1, .src_reg = 6 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 2, .src_reg = 7 },
		{ .code = BPF_ALU64 | BPF_ADD, .dst_reg = 2,
		  .imm = offsetof(struct result, ips) },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3, .imm = MAX_DEPTH * 8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 4, .imm = BPF_F_USER_STACK },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_stack },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 1, .src_reg = 6 },
		{ .code = BPF_LD | BPF_DW, .dst_reg = 2,
		  .src_reg = BPF_PSEUDO_MAP_FD, .imm = stacks },
		{},
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3,
		  .imm = BPF_F_USER_STACK | BPF_F_REUSE_STACKID },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_stackid },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	program = load_insns(BPF_PROG_TYPE_KPROBE, code, ARRAY_SIZE(code));
}

/* How many stacks the BPF program has taken. */
static unsigned long stacks_taken(void)
{
	unsigned int key = 0;
	struct result result = {};
	union bpf_attr attr = {
		.map_fd	= results,
		.key	= (unsigned long)&key,
		.value	= (unsigned long)&result,
	};

	if (bpf(BPF_MAP_LOOKUP_ELEM, &attr))
		die("BPF_MAP_LOOKUP_ELEM");
	return result.taken;
}

/* A copy in memory: the kernel may write to it, and its pages are not the host's. */
static void copy_target(const char *to)
{
	static char data[65536];
	int from = open(target_path, O_RDONLY | O_CLOEXEC);
	int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	ssize_t len;

	if (from < 0 || fd < 0)
		die(target_path);
	while ((len = read(from, data, sizeof(data))) > 0)
		if (write(fd, data, len) != len)
			die(to);
	close(from);
	close(fd);
}

static pid_t run_target(const char *path)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	execl(path, path, NULL);
	_exit(127);
}

/* On the process, or on all that run the file. */
static void open_probe(struct events *events, struct rng *rng, const char *path, pid_t pid)
{
	bool is_return = one_in(rng, 3);
	struct perf_event_attr attr = {
		.type		= uprobe_type,
		.config		= is_return,
		.config1	= (unsigned long)path,
		.config2	= is_return || one_in(rng, 4) ?
				  functions[rng_below(rng, nr_functions)] :
				  insns[rng_below(rng, nr_insns)],
		.sample_period	= 1 + rng_below(rng, 4),
	};
	int cpu = rng_below(rng, sysconf(_SC_NPROCESSORS_ONLN));
	int fd = events_add(events, rng, &attr, one_in(rng, 4) ? -1 : pid, cpu);

	if (fd < 0)
		return;
	count(PROBES, 1);
	if (!one_in(rng, 4))
		ioctl(fd, PERF_EVENT_IOC_SET_BPF, program);
}

/* Probes come and go while the program runs. */
static void probe_target(struct rng *rng, const char *path)
{
	static const struct watched watched;
	struct events clocks, probes = {};
	pid_t pid = run_target(path);
	unsigned int i, round;

	events_open(&clocks, rng, pid, &watched);
	for (round = 0; round < 4 && waitpid(pid, NULL, WNOHANG) == 0; round++) {
		for (i = 0; i < NR_PROBES; i++)
			open_probe(&probes, rng, path, pid);
		for (i = 0; i < 4; i++) {
			usleep(20000);
			events_read(&probes);
			events_read(&clocks);
		}
		events_close(&probes, rng);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	events_close(&clocks, rng);
}

void job_probes(struct rng *rng)
{
	double end = now() + JOB_SECONDS;
	char path[64];

	read_offsets();
	uprobe_type = pmu_type("uprobe");
	results = make_map(BPF_MAP_TYPE_ARRAY, sizeof(struct result), 1);
	stacks = make_map(BPF_MAP_TYPE_STACK_TRACE, MAX_DEPTH * 8, 64);
	load_program();
	snprintf(path, sizeof(path), "/tmp/fuzz-target-%d", getpid());
	copy_target(path);
	do
		probe_target(rng, path);
	while (now() < end || !stacks_taken());
	unlink(path);
	count(BPF_STACKS, stacks_taken());
}
