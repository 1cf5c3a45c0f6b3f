// SPDX-License-Identifier: GPL-2.0
/*
 * Are the user registers and the stack of a sample of the moment that its chain is of?
 * The events are those of precise_pmu.ko, whose registers are of another moment. Where a
 * table of unwind rules is attached they have to be the chain's all the same.
 *
 * usage: precise
 *
 * Prints a line for each of: without and with a table, interrupted in user space and in
 * the kernel; how many samples there were, how many of them are of one moment, and how
 * many have what the driver says.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../perf_events/unwind_rules.h"
#include "precise-code.h"

#define TYPE	"/sys/bus/event_source/devices/precise_test/type"
#define PERIOD	1000000
#define SECONDS	1
/* A busy machine gives few in a second: rounds of that, until there are as many. */
#define ENOUGH	20
#define ROUNDS	30
/* What precise_pmu.ko adds to the stack pointer. */
#define SKID	128
#define BP	0x5ca1ab1eUL
#define TOP	0x57ac57acUL
#define KERNEL	(1UL << 63)

static char buffer[1 << 20];
static unsigned long stack[DUMP_SIZE / sizeof(long) * 4];

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static void sampled_attr(struct perf_event_attr *attr)
{
	FILE *file = fopen(TYPE, "r");

	rules_attr(attr, NULL);
	if (!file || fscanf(file, "%u", &attr->type) != 1)
		die(TYPE);
	fclose(file);
	attr->bp_type = 0;
	attr->bp_len = 0;
	attr->config = (unsigned long)die;
	attr->sample_period = PERIOD;
	attr->exclude_kernel = 0;
	attr->exclude_callchain_kernel = 0;
	attr->disabled = 1;
}

/* The first address of the chain in user space. */
static unsigned long user_ip(const struct sample *sample)
{
	unsigned int i;

	for (i = 0; i < sample->nr; i++) {
		if (sample->ip[i] < KERNEL)
			return sample->ip[i];
	}
	return 0;
}

struct counts {
	unsigned int	samples;
	unsigned int	same;
	unsigned int	driver;
};

static void count(const struct sample *sample, bool in_kernel, struct counts *counts)
{
	unsigned long ip = user_ip(sample);
	unsigned long start = (unsigned long)(in_kernel ? enter_start : spin_start);
	unsigned long end = (unsigned long)(in_kernel ? enter_end : spin_end);
	bool was_in_kernel = sample->ip[0] >= KERNEL;

	if (ip < start || ip >= end || was_in_kernel != in_kernel)
		return;
	counts->samples++;
	counts->same += sample->reg_ip == ip && sample->reg_bp == BP &&
			sample->reg_sp == (unsigned long)stack && sample->dump == DUMP_SIZE &&
			sample->top == TOP;
	counts->driver += sample->reg_ip == (unsigned long)die && sample->reg_bp != BP &&
			  (in_kernel ? sample->reg_sp >= KERNEL && !sample->dump :
				       sample->reg_sp == (unsigned long)stack + SKID &&
				       sample->top != TOP);
}

static void run(bool in_kernel)
{
	time_t end = time(NULL) + SECONDS;
	int zero = open("/dev/zero", O_RDONLY);

	while (time(NULL) <= end) {
		if (in_kernel)
			enter(stack, BP, zero, buffer, sizeof(buffer));
		else
			spin(stack, BP, 100000);
	}
	close(zero);
}

static void sample(bool with_store, bool in_kernel)
{
	struct perf_event_mmap_page *ring;
	struct counts counts = {};
	struct perf_event_attr attr;
	unsigned int round;
	struct sample one;
	int event, i = 0;

	sampled_attr(&attr);
	attr.unwind_rules = with_store;
	event = event_open(&attr, -1);
	if (event < 0)
		die("perf_event_open");
	if (with_store && attach(unwind_table_open(), event))
		die("PERF_UNWIND_ATTACH");
	ring = ring_map(event);
	if (ring == MAP_FAILED)
		die("mmap");
	ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
	for (round = 0; round < ROUNDS && counts.samples < ENOUGH; round++) {
		run(in_kernel);
		for (; ring_nth(ring, i, &one) > i; i++)
			count(&one, in_kernel, &counts);
	}
	ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
	printf("%s %s %u %u %u\n", with_store ? "table" : "none", in_kernel ? "kernel" : "user",
	       counts.samples, counts.same, counts.driver);
	close(event);
}

int main(void)
{
	unsigned int i;

	stack[0] = TOP;
	for (i = 0; i < 4; i++)
		sample(i & 2, i & 1);
	return 0;
}
