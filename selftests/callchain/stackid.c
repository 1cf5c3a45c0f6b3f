// SPDX-License-Identifier: GPL-2.0
/*
 * What bpf_get_stackid() sees of a user stack: a BPF program on a uprobe at
 * leaf(), which has no frame pointer. Prints the functions that it found,
 * innermost first: "leaf caller outer" is right.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>

#include "bpf-program.h"

#define CALLED		__attribute__((noinline, noclone))
#define MAX_DEPTH	16

/* Counted in assembler, so that no call becomes a jump and nothing is left out. */
static int sum;

CALLED __attribute__((optimize("omit-frame-pointer"))) void leaf(int i)
{
	(void)i;
	asm volatile("incl %0" : "+m" (sum));
}

CALLED void caller(int i)
{
	leaf(i);
	asm volatile("incl %0" : "+m" (sum));
}

CALLED void outer(int i)
{
	caller(i);
	asm volatile("incl %0" : "+m" (sum));
}

/* bpf_get_stackid(ctx, map, BPF_F_USER_STACK); return 0; */
static int load_program(int map)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = 2,
		  .src_reg = BPF_PSEUDO_MAP_FD, .imm = map },
		{},
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3, .imm = BPF_F_USER_STACK },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_stackid },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return load_insns(BPF_PROG_TYPE_KPROBE, insns, ARRAY_SIZE(insns));
}

/* Where in this file an address of it is. */
static unsigned long file_offset(unsigned long addr)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end, offset;
	char line[4200];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 &&
		    addr >= start && addr < end) {
			fclose(maps);
			return addr - start + offset;
		}
	}
	fputs("stackid: an address of its own is not mapped\n", stderr);
	exit(2);
}

static void attach(int program, unsigned long offset)
{
	struct perf_event_attr attr = {
		.size		= sizeof(attr),
		.uprobe_path	= (unsigned long)"/proc/self/exe",
		.probe_offset	= offset,
	};
	FILE *type = fopen("/sys/bus/event_source/devices/uprobe/type", "r");
	int fd;

	if (!type || fscanf(type, "%u", &attr.type) != 1)
		die("the type of uprobe events");
	fclose(type);
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	if (fd < 0)
		die("perf_event_open");
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		die("PERF_EVENT_IOC_SET_BPF");
}

/* The functions are short, and stand in no order that could be relied on. */
static const char *name_of(unsigned long ip)
{
	static const struct {
		const char	*name;
		void		(*start)(int i);
	} functions[] = { { "leaf", leaf }, { "caller", caller }, { "outer", outer } };
	const char *name = NULL;
	unsigned long best = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		unsigned long start = (unsigned long)functions[i].start;

		if (ip >= start && ip < start + 64 && start > best) {
			best = start;
			name = functions[i].name;
		}
	}
	return name;
}

static void print_stacks(int map)
{
	unsigned long ips[MAX_DEPTH];
	unsigned int key;
	int i;
	union bpf_attr attr = {
		.map_fd		= map,
		.next_key	= (unsigned long)&key,
	};

	if (bpf(BPF_MAP_GET_NEXT_KEY, &attr))
		die("no stack in the map");
	attr = (union bpf_attr) {
		.map_fd	= map,
		.key	= (unsigned long)&key,
		.value	= (unsigned long)ips,
	};
	if (bpf(BPF_MAP_LOOKUP_ELEM, &attr))
		die("BPF_MAP_LOOKUP_ELEM");
	for (i = 0; i < MAX_DEPTH && ips[i]; i++) {
		const char *name = name_of(ips[i]);

		if (!name)
			break;
		printf("%s%s", i ? " " : "", name);
	}
	printf("\n");
}

int main(void)
{
	int map = make_map(BPF_MAP_TYPE_STACK_TRACE, MAX_DEPTH * 8, 4);

	attach(load_program(map), file_offset((unsigned long)leaf));
	outer(1);
	print_stacks(map);
	return 0;
}
