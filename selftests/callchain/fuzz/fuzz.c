// SPDX-License-Identifier: GPL-2.0
/*
 * A fuzzer for a kernel that walks user stacks: rounds of jobs, two at a time, with numbers
 * from a seed, until a file is there.
 *
 * usage: fuzz STOP SEED [JOB [ROUND]]
 *
 * With JOB that one alone; with ROUND that round alone. Each job runs at least once. Programs
 * and files of the jobs are in the directory of this program. Prints what was done, a number
 * and its name in each line.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "fuzz.h"

/* By the guest's clock: far more than a job takes. */
#define STUCK_SECONDS	300

unsigned long *counts;
const char *target_path, *target_list;

static char directory[PATH_MAX];

void die(const char *what)
{
	perror(what);
	_exit(2);
}

double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static char *beside(const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", directory, name) < 0)
		die(name);
	return path;
}

/*
 * A program of its own: NAME SECONDS [SEED]. One with a seed has events of its own; random ones
 * beside them would leave it no time. What it prints is in @said.
 */
static void job_program(struct rng *rng, const char *name, bool has_seed, char *said, size_t size)
{
	static const struct watched watched;
	double end = now() + STUCK_SECONDS;
	char seconds[16], seed[16];
	struct events events = {};
	int status = 0, out[2];
	ssize_t len;
	pid_t pid;

	if (pipe(out))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		snprintf(seconds, sizeof(seconds), "%d", JOB_SECONDS);
		snprintf(seed, sizeof(seed), "%d", (int)rng_below(rng, 1 << 30));
		dup2(out[1], STDOUT_FILENO);
		close(out[0]);
		close(out[1]);
		execl(beside(name), name, seconds, has_seed ? seed : NULL, NULL);
		die(name);
	}
	close(out[1]);
	if (!has_seed)
		events_open(&events, rng, pid, &watched);
	while (now() < end && waitpid(pid, &status, WNOHANG) == 0) {
		usleep(20000);
		events_read(&events);
	}
	events_close(&events, rng);
	/* It is short, so all of it is in the pipe. */
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	len = read(out[0], said, size - 1);
	said[len > 0 ? len : 0] = '\0';
	close(out[0]);
	if (status)
		die(name);
}

static void job_hostile(struct rng *rng)
{
	char said[256];

	job_program(rng, "hostile", false, said, sizeof(said));
}

/* Samples, whole callchains, too long ones, updates */
static void job_rules(struct rng *rng)
{
	unsigned long nr[4];
	char said[256], *at = said;
	int i;

	job_program(rng, "rules-fuzz", true, said, sizeof(said));
	for (i = 0; i < 4; i++)
		nr[i] = strtoul(at, &at, 10);
	count(SAMPLES, nr[0]);
	count(BY_RULES, nr[1]);
	count(TOO_LONG, nr[2]);
}

/* The last number is what was left in a table: nothing. */
static void job_attacks(struct rng *rng)
{
	char said[256], *last;

	job_program(rng, "rules-attack", true, said, sizeof(said));
	last = strrchr(said, ' ');
	if (!last || strtol(last, NULL, 10))
		die("rules-attack: what is left in a table");
}

static const struct job {
	const char	*name;
	void		(*run)(struct rng *rng);
} jobs[] = {
	{ "registers", job_registers }, { "probes", job_probes }, { "mappings", job_mappings },
	{ "rules", job_rules }, { "attacks", job_attacks }, { "hostile", job_hostile },
};

static unsigned int nr_rounds[ARRAY_SIZE(jobs)];

/* What the kernel reports stands behind this on the console. */
static void announce(const struct job *job, uint64_t seed, unsigned int round)
{
	FILE *file = fopen("/dev/kmsg", "w");

	if (!file)
		return;
	fprintf(file, "<4>vm: test fuzz %llu, %s, round %u\n", (unsigned long long)(seed >> 32),
		job->name, round);
	fclose(file);
}

static pid_t start(const struct job *job, uint64_t seed, unsigned int round)
{
	struct rng rng = { .state = seed + round };
	pid_t pid;

	announce(job, seed, round);
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	/* All that it starts can be ended with it. */
	setpgid(0, 0);
	rng.state = rng_next(&rng);
	events_load_rules(-1);
	job->run(&rng);
	_exit(0);
}

static bool finish(pid_t pid)
{
	double end = now() + STUCK_SECONDS;
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (now() > end) {
			count(STUCK, 1);
			kill(-pid, SIGKILL);
			waitpid(pid, &status, 0);
			return false;
		}
		usleep(20000);
	}
	kill(-pid, SIGKILL);
	return status == 0;
}

static int find_job(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(jobs); i++)
		if (!strcmp(jobs[i].name, name))
			return i;
	die(name);
}

static const char *const names[NR_WHATS] = {
	[SAMPLES] = "samples", [FRAMES] = "frames", [DEFERRED] = "deferred",
	[BY_RULES] = "by_rules", [ATTEMPTS] = "attempts", [EVENTS] = "events",
	[PROBES] = "probes", [BPF_STACKS] = "bpf_stacks", [MAPPINGS] = "mappings",
	[TOO_LONG] = "too_long", [STUCK] = "stuck",
};

static void print(unsigned int rounds, unsigned int failed)
{
	size_t i;

	printf("%u rounds\n", rounds);
	for (i = 0; i < ARRAY_SIZE(jobs); i++)
		printf("%u rounds of %s\n", nr_rounds[i], jobs[i].name);
	for (i = 0; i < NR_WHATS; i++)
		printf("%lu %s\n", counts[i], names[i]);
	printf("%u failed\n", failed);
}

int main(int argc, char **argv)
{
	int only = argc > 3 ? find_job(argv[3]) : -1, job, at_once;
	unsigned int round = argc > 4 ? atoi(argv[4]) : 0, first = round, failed = 0, i;
	struct rng pick;
	uint64_t seed;
	pid_t pids[2];

	if (argc < 3) {
		fprintf(stderr, "usage: fuzz STOP SEED [JOB [ROUND]]\n");
		return 2;
	}
	/* Each round adds its number. */
	seed = strtoull(argv[2], NULL, 0) << 32;
	pick.state = seed + round;
	if (!realpath(argv[0], directory))
		die(argv[0]);
	dirname(directory);
	target_path = beside("fuzz-target");
	target_list = beside("fuzz-target.list");
	counts = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (counts == MAP_FAILED)
		die("mmap");
	at_once = argc > 4 ? 1 : 2;
	do {
		for (i = 0; (int)i < at_once; i++, round++) {
			job = round < ARRAY_SIZE(jobs) ? round : rng_below(&pick, ARRAY_SIZE(jobs));
			if (only >= 0)
				job = only;
			nr_rounds[job]++;
			pids[i] = start(&jobs[job], seed, round);
		}
		for (i = 0; (int)i < at_once; i++)
			failed += !finish(pids[i]);
	} while (argc <= 4 && ((only < 0 && round < ARRAY_SIZE(jobs)) || access(argv[1], F_OK)));
	print(round - first, failed);
	return failed ? 1 : 0;
}
