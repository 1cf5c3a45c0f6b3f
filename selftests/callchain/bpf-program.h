/* SPDX-License-Identifier: GPL-2.0 */
/* What programs that load a BPF program by hand have in common. */
#ifndef _BPF_PROGRAM_H
#define _BPF_PROGRAM_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <linux/bpf.h>

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))

static inline void die(const char *what)
{
	perror(what);
	exit(2);
}

static inline int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static inline int make_map(unsigned int type, unsigned int value_size, unsigned int entries)
{
	union bpf_attr attr = {
		.map_type	= type,
		.key_size	= 4,
		.value_size	= value_size,
		.max_entries	= entries,
	};
	int fd = bpf(BPF_MAP_CREATE, &attr);

	if (fd < 0)
		die("BPF_MAP_CREATE");
	return fd;
}

static inline int load_insns(unsigned int type, const struct bpf_insn *insns, unsigned int nr)
{
	static char log[16384];
	union bpf_attr attr = {
		.prog_type	= type,
		.insn_cnt	= nr,
		.insns		= (unsigned long)insns,
		.license	= (unsigned long)"GPL",
		.log_buf	= (unsigned long)log,
		.log_size	= sizeof(log),
		.log_level	= 1,
	};
	int fd = bpf(BPF_PROG_LOAD, &attr);

	if (fd < 0) {
		fputs(log, stderr);
		die("BPF_PROG_LOAD");
	}
	return fd;
}

#endif /* _BPF_PROGRAM_H */
