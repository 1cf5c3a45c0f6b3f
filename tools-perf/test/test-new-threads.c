// SPDX-License-Identifier: GPL-2.0
/* Which threads are met for the first time, and which of them began meanwhile. */
#include <string.h>
#include <linux/kernel.h>
#include "new-threads.h"
#include "tap.h"

#define PID	1000
#define TID	1001

static struct hybrid_new_threads threads;

static void begin(void)
{
	memset(&threads, 0, sizeof(threads));
}

static void test_old(void)
{
	begin();
	same(hybrid_new_threads_meet(&threads, PID, TID), HYBRID_THREAD_OLD);
	same(hybrid_new_threads_meet(&threads, PID, TID), HYBRID_THREAD_MET);
	/* A process's first thread is none to be met. */
	same(hybrid_new_threads_meet(&threads, PID, PID), HYBRID_THREAD_MET);
}

static void test_begun(void)
{
	begin();
	hybrid_new_threads_begun(&threads, TID);
	same(hybrid_new_threads_meet(&threads, PID, TID), HYBRID_THREAD_BEGUN);
	same(hybrid_new_threads_meet(&threads, PID, TID), HYBRID_THREAD_MET);
}

/* Its first sample may be in another ring, which is looked at before. */
static void test_begun_late(void)
{
	begin();
	same(hybrid_new_threads_meet(&threads, PID, TID), HYBRID_THREAD_OLD);
	hybrid_new_threads_begun(&threads, TID);
	same(hybrid_new_threads_meet(&threads, PID, TID), HYBRID_THREAD_BEGUN);
}

/* Another one takes its place. */
static void test_shared(void)
{
	begin();
	hybrid_new_threads_begun(&threads, TID);
	same(hybrid_new_threads_meet(&threads, PID, TID + HYBRID_NEW_THREADS), HYBRID_THREAD_OLD);
	same(hybrid_new_threads_meet(&threads, PID, TID), HYBRID_THREAD_OLD);
	same(hybrid_new_threads_meet(&threads, PID, -TID), HYBRID_THREAD_OLD);
}

static const struct tap_test tests[] = {
	{ "a thread that ran before", test_old },
	{ "a thread that begins", test_begun },
	{ "a thread whose beginning is seen after it", test_begun_late },
	{ "threads with the same end of their number", test_shared },
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
