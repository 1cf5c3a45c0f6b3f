/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _DATA_FILE_H
#define _DATA_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/user.h>

#include <linux/perf_event.h>
#include <linux/types.h>

/* As perf record --call-graph hybrid asks for them: all but the segments. */
#define DATA_FILE_REGS	0xff0fffULL

/* Bytes of the stack in a sample. */
#define DATA_FILE_STACK	16384

/**
 * struct data_file - a perf.data file of one event, being written
 * @file:	open
 * @attr:	of the event
 * @cpuid:	of the processor
 * @plain:	as of --call-graph dwarf: the chain has no user part
 */
struct data_file {
	FILE			*file;
	struct perf_event_attr	 attr;
	const char		*cpuid;
	bool			 plain;
};

/**
 * struct data_sample - what a sample says
 * @time:	its time
 * @pid:	the process
 * @ip:		sampled address
 * @regs:	the user's registers; their rip is not looked at: @ip stands there
 * @chain:	the kernel's callchain
 * @nr:		of @chain
 * @stack:	DATA_FILE_STACK bytes
 * @size:	those that are the task's
 */
struct data_sample {
	u64			 time;
	pid_t			 pid;
	u64			 ip;
	struct user_regs_struct	 regs;
	const u64		*chain;
	unsigned int		 nr;
	const void		*stack;
	u64			 size;
};

/* Returns: false where the file can't be written. */
bool data_file_begin(struct data_file *f, const char *path, unsigned int precise,
		     const char *cpuid, bool plain);
void data_file_exec(struct data_file *f, pid_t pid, const char *name);

/* A mapping, by its line of /proc/PID/maps. */
void data_file_map(struct data_file *f, pid_t pid, u64 time, const char *line);
void data_file_sample(struct data_file *f, const struct data_sample *s);
bool data_file_end(struct data_file *f);

#endif
