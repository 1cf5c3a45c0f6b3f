/* SPDX-License-Identifier: GPL-2.0 */
/* What the jobs of the fuzzer have in common. */
#ifndef _FUZZ_H
#define _FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PAGE		4096UL
#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))

/* A job has so much of the guest's time, or more if it has done nothing by then. */
#define JOB_SECONDS	3

/**
 * enum what - what was done, as fuzz prints it
 * @SAMPLES:	samples read from ring buffers
 * @FRAMES:	addresses in their callchains
 * @DEFERRED:	callchains that came later, in records of their own
 * @BY_RULES:	samples whose callchain loaded rules completed
 * @ATTEMPTS:	random registers and code that were run
 * @EVENTS:	events that were opened
 * @PROBES:	probes that were opened, of all events
 * @BPF_STACKS:	times that a BPF program took the user's stack in a handler
 * @MAPPINGS:	changes of mappings
 * @TOO_LONG:	callchains that are longer than the event allows
 * @STUCK:	jobs that did not end
 */
enum what {
	SAMPLES, FRAMES, DEFERRED, BY_RULES, ATTEMPTS, EVENTS, PROBES, BPF_STACKS, MAPPINGS,
	TOO_LONG, STUCK, NR_WHATS
};

/* How often, of all processes: in shared memory. */
extern unsigned long *counts;

static inline void count(enum what what, unsigned long nr)
{
	__atomic_fetch_add(&counts[what], nr, __ATOMIC_RELAXED);
}

/* Numbers from a seed: the same seed gives the same numbers (splitmix64). */
struct rng {
	uint64_t state;
};

static inline uint64_t rng_next(struct rng *rng)
{
	uint64_t x = rng->state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/* 0 to @limit - 1 */
static inline uint64_t rng_below(struct rng *rng, uint64_t limit)
{
	return rng_next(rng) % limit;
}

static inline bool one_in(struct rng *rng, uint64_t n)
{
	return rng_below(rng, n) == 0;
}

void die(const char *what) __attribute__((noreturn));
/* Seconds of a clock that does not go back. */
double now(void);

/* Is a job's time over, and was something done since there was @before of it? */
static inline bool is_over(double end, enum what what, unsigned long before)
{
	return now() >= end && __atomic_load_n(&counts[what], __ATOMIC_RELAXED) > before;
}

/* events.c */

/**
 * struct watched - addresses that events may be for
 * @code:	instructions, at which events are counted; 0: none
 * @data:	words, whose reads and writes are counted, in the kernel, too
 */
struct watched {
	unsigned long	code[2];
	unsigned long	data[2];
};

#define MAX_EVENTS	16
#define MAX_RINGS	8

/**
 * struct events - open events of a process, with ring buffers
 * @fds:	all of them
 * @rings:	for each CPU the ring buffer that they share there
 */
struct events {
	int		fds[MAX_EVENTS * MAX_RINGS];
	void		*rings[MAX_RINGS];
	unsigned int	nr_fds;
	unsigned int	nr_rings;
};

void events_open(struct events *events, struct rng *rng, pid_t pid,
		 const struct watched *watched);
/* Adds one, whose attribute the caller has begun: its type, and what is counted. */
struct perf_event_attr;
int events_add(struct events *events, struct rng *rng, struct perf_event_attr *attr, pid_t pid,
	       int cpu);
void events_read(struct events *events);
void events_close(struct events *events, struct rng *rng);
/* Loads rules for a file of unwind_rules_code.S into the tables that events are attached to. */
void events_load_rules(int fd);

/* The jobs; each returns at the end of its time. */
void job_registers(struct rng *rng);
void job_mappings(struct rng *rng);
void job_probes(struct rng *rng);

/* The linker's: the first byte of this program, and the end of its code. */
extern const unsigned char __executable_start[], __etext[];

/* The files of job_probes(): a program, and a list of its instructions' offsets. */
extern const char *target_path, *target_list;

#endif /* _FUZZ_H */
