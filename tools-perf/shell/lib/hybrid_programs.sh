# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# What the tests of --call-graph hybrid record. Sourced by hybrid.sh.
# shellcheck disable=SC2154 # hybrid.sh has $dir

# build NAME [OPTION...]: a program in $dir from the C source on stdin.
build()
{
	local name=$1

	shift
	cc -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -o "$dir/$name" \
		-x c - -x none "$@" 2> "$dir/cc.log" ||
		{ cat "$dir/cc.log"; return 1; }
}

# The source of a clock for programs that are sampled, with what follows on stdin.
# What the host of a virtual machine takes away counts as CPU time, and has no
# samples: of more than 2 ms between two looks at the clock no more is counted.
clock_and()
{
	cat <<- 'EOF'
	#define _GNU_SOURCE
	#include <time.h>

	#define FN __attribute__((noinline, noclone))

	static double now(clockid_t clock)
	{
		struct timespec ts;

		clock_gettime(clock, &ts);
		return ts.tv_sec + ts.tv_nsec / 1e9;
	}

	/* Is there CPU time left of *seconds? last: 0 at first. */
	static int time_left(double *seconds, double *last)
	{
		double at = now(CLOCK_THREAD_CPUTIME_ID);

		if (*last)
			*seconds -= at - *last < 2e-3 ? at - *last : 2e-3;
		*last = at;
		return *seconds > 0;
	}
	EOF
	cat
}

# The source of a program whose work() has the true chain leaf;middle;outer, with
# what follows on stdin.
work_and()
{
	clock_and <<- 'EOF'
	#include <dlfcn.h>
	#include <pthread.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	#include <sys/wait.h>
	#include <unistd.h>

	volatile unsigned long sink;

	FN unsigned long leaf(unsigned long n)
	{
		unsigned long i;

		for (i = 0; i < n; i++)
			sink += i;
		return sink;
	}

	FN unsigned long middle(unsigned long n) { return leaf(n) + 1; }

	FN unsigned long outer(unsigned long n) { return middle(n) + 1; }

	static inline __attribute__((always_inline)) void work(double seconds)
	{
		double last = 0;

		while (time_left(&seconds, &last))
			outer(100000);
	}
	EOF
	cat
}

# build_calls NAME [OPTION...]: a program each of whose functions has one caller,
# so that the innermost one tells the whole chain.
# usage: NAME SECONDS, of CPU time
build_calls()
{
	work_and <<- 'EOF' | build "$@"
	int main(int argc, char **argv)
	{
		work(argc > 1 ? atof(argv[1]) : 1);
		return 0;
	}
	EOF
}

# A program whose run() is called through Python's trampoline for each function:
# sub $8,%rsp; call *%rcx; add $8,%rsp; ret. No file has it, no CFI, and bp is
# anything. Its callers are through() and main().
# usage: made SECONDS, of CPU time
build_made()
{
	work_and <<- 'EOF' | build made
	#include <sys/mman.h>

	static const unsigned char code[] = {
		0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3
	};
	static double seconds;

	FN static void run(void)
	{
		work(seconds);
		sink++;
	}

	FN static void through(void (*made)(long, long, long, void (*)(void)))
	{
		made(0, 0, 0, run);
		sink++;
	}

	int main(int argc, char **argv)
	{
		void *made = mmap(0, 4096, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		seconds = argc > 1 ? atof(argv[1]) : 1;
		memcpy(made, code, sizeof(code));
		mprotect(made, 4096, PROT_READ | PROT_EXEC);
		through(made);
		return 0;
	}
	EOF
}

# NAME N SECONDS: N threads that each sleep (sleepers) or compute (spinners), beside the
# one that made them.
build_tasks()
{
	local name=$1

	shift
	build "$name" -pthread "$@" <<- 'EOF'
	#include <pthread.h>
	#include <stdlib.h>
	#include <unistd.h>

	static int seconds;
	volatile int sink;

	static void *spin(void *arg)
	{
		while (SPIN)
			sink++;
		return arg;
	}

	static void *rest(void *arg)
	{
		sleep(seconds);
		return arg;
	}

	int main(int argc, char **argv)
	{
		int i, nr = argc > 2 ? atoi(argv[1]) : 0;
		pthread_t t;

		seconds = argc > 2 ? atoi(argv[2]) : 0;
		for (i = 0; i < nr; i++)
			pthread_create(&t, 0, SPIN ? spin : rest, 0);
		sleep(seconds);
		return 0;
	}
	EOF
}

build_sleepers() { build_tasks sleepers -DSPIN=0; }
build_spinners() { build_tasks spinners -DSPIN=1; }
