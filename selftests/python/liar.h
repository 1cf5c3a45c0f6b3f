/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What programs share that say they have a runtime, and lie: two threads run for some seconds.
 */
#ifndef SELFTESTS_LIAR_H
#define SELFTESTS_LIAR_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define exported __attribute__((visibility("default"), used))

/**
 * struct liar - such a program
 * @build: makes what a runtime has
 * @lie: changes it, by the kind of lie that the command line names
 * @run: runs code of the runtime until then
 */
struct liar {
	void		(*build)(void);
	void		(*lie)(const char *kind);
	unsigned int	(*run)(double end);
};

struct liar_thread {
	const struct liar	*liar;
	double			 end;
};

static inline uint64_t at(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static inline double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* Not to be worked out when it is compiled. */
static inline unsigned int spin_until(double end)
{
	unsigned int n = 0;

	while (now() < end) {
		while (++n % 100000)
			asm("" : "+r"(n));
	}
	return n;
}

static inline void *liar_other(void *arg)
{
	const struct liar_thread *thread = arg;

	thread->liar->run(thread->end);
	return NULL;
}

/* usage: PROGRAM KIND SECONDS */
static inline int liar_main(const struct liar *liar, int argc, char **argv)
{
	struct liar_thread thread = { .liar = liar };
	pthread_t more;

	if (argc != 3)
		return 2;
	thread.end = now() + atof(argv[2]);
	liar->build();
	liar->lie(argv[1]);
	if (pthread_create(&more, NULL, liar_other, &thread))
		return 1;
	liar->run(thread.end);
	pthread_join(more, NULL);
	puts("done");
	return 0;
}

#endif /* SELFTESTS_LIAR_H */
