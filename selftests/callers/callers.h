/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs in which functions have several callers. Which one called is not to be
 * seen in the program: it says so itself, in a log on the clock that perf records
 * with (-k CLOCK_MONOTONIC), a file for each thread, mapped into memory.
 *
 * Functions are FN_A() and FN_B() of truth.h, whose truth line is "@logged" for
 * one that begins with ENTER() and ends with LEAVE(). Any other line is that of a
 * function that is not logged: it may stand innermost, and nowhere else.
 *
 * A struct call_event says what holds from its time on. The instructions before
 * ENTER() has read the clock are the callee's, too: check-callers knows.
 */
#ifndef SELFTESTS_CALLERS_H
#define SELFTESTS_CALLERS_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "truth.h"

/**
 * enum call_kind - what an event of the log is
 * @CALL_ENTER: a function was called
 * @CALL_LEAVE: it returns, or it goes on to another by a jump
 * @CALL_SIGNAL: a signal's handler was called by the kernel
 * @CALL_SIGNAL_END: it returns to what it interrupted
 * @CALL_SWITCH: the thread goes on with another stack
 * @CALL_CODE: the code with the number @what is written, or freed
 * @CALL_MADE: the next function that is entered runs the code with that number
 */
enum call_kind {
	CALL_ENTER = 1,
	CALL_LEAVE,
	CALL_SIGNAL,
	CALL_SIGNAL_END,
	CALL_SWITCH,
	CALL_CODE,
	CALL_MADE,
};

/**
 * struct call_event - an event of the log, 16 bytes
 * @time: ns, CLOCK_MONOTONIC
 * @kind: enum call_kind; 0 behind the last one
 * @what: offset of the function's name in section call_names, or the number of the stack or of
 *	the code
 */
struct call_event {
	uint64_t	time;
	uint32_t	kind;
	uint32_t	what;
};

#define CALL_LOG_EVENTS		(4 << 20)

extern const char __start_call_names[];

#ifdef HALF_A
__thread struct call_event *call_log;
__thread uint32_t call_log_nr;
#else
extern __thread struct call_event *call_log;
extern __thread uint32_t call_log_nr;
#endif

/*
 * A signal may come anywhere in here, and its handler logs, too: the events are in
 * the order of their times only once they are sorted.
 */
__spin void call_event(enum call_kind kind, uint32_t what)
{
	struct timespec ts;
	uint32_t nr;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	nr = __atomic_fetch_add(&call_log_nr, 1, __ATOMIC_RELAXED);
	if (nr >= CALL_LOG_EVENTS)
		abort();
	call_log[nr] = (struct call_event) {
		.time	= ts.tv_sec * 1000000000ull + ts.tv_nsec,
		.kind	= kind,
		.what	= what,
	};
}

/* The name is a section's for its offset to be the function's number. */
#define CALL_EVENT(kind, fn) do {						\
	static const char call_name[]						\
		__attribute__((section("call_names"), used)) = #fn;		\
										\
	call_event(kind, call_name - __start_call_names);			\
} while (0)

#define ENTER(fn)	CALL_EVENT(CALL_ENTER, fn)
#define LEAVE(fn)	CALL_EVENT(CALL_LEAVE, fn)
#define HANDLER_ENTER(fn)	CALL_EVENT(CALL_SIGNAL, fn)
#define HANDLER_LEAVE(fn)	CALL_EVENT(CALL_SIGNAL_END, fn)

/* The thread's log, PREFIX.TID, before its first event. */
FN_A(void, open_log, (const char *prefix), "@thread")
{
	const size_t size = CALL_LOG_EVENTS * sizeof(struct call_event);
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s.%ld", prefix, syscall(SYS_gettid));
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, size)) {
		perror(path);
		exit(1);
	}
	call_log = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (call_log == MAP_FAILED) {
		perror(path);
		exit(1);
	}
	call_log_nr = 0;
	close(fd);
}

/* Work without a frame, which any function may call. */
FN_B(void, burn, (unsigned long n), "@any")
{
	spin(n);
}

/* A page of the stack that was never touched is in no dump. */
__spin void touch(char *room, size_t size)
{
	size_t i;

	for (i = 0; i < size; i += 4096)
		room[i] = 1;
	keep(room);
}

/* xorshift, from 1 on; no call, and the same in every run. */
__spin uint32_t any(uint32_t *state)
{
	*state += !*state;
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* Rounds of work: one at least, as none would be as many as there are numbers. */
__spin unsigned long some(uint32_t *state, uint32_t most)
{
	return 1 + any(state) % most;
}

/* Runs NR_THREADS threads, which are given numbers that none had in another round. */
#define RUN_THREADS(worker, round) do {						\
	pthread_t threads[NR_THREADS];						\
	uintptr_t i;								\
										\
	for (i = 0; i < NR_THREADS; i++) {					\
		if (pthread_create(&threads[i], NULL, worker,			\
				   (void *)((round) * NR_THREADS + i)))		\
			abort();						\
	}									\
	for (i = 0; i < NR_THREADS; i++)					\
		pthread_join(threads[i], NULL);					\
} while (0)

/* main.h's main() logs, too. usage: PROGRAM SECONDS LOG */
#define SETUP() do {			\
	if (argc < 3)			\
		exit(2);		\
	open_log(argv[2]);		\
	ENTER(main);			\
} while (0)
#define CLEANUP()	LEAVE(main)

#endif
