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

# The source of a program whose work() has the true chain leaf;middle;outer, with
# what follows on stdin.
work_and()
{
	cat <<- 'EOF'
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <pthread.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	#include <sys/wait.h>
	#include <time.h>
	#include <unistd.h>

	#define FN __attribute__((noinline, noclone))
	volatile unsigned long sink;

	static double now(clockid_t clock)
	{
		struct timespec ts;

		clock_gettime(clock, &ts);
		return ts.tv_sec + ts.tv_nsec / 1e9;
	}

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
		double end = now(CLOCK_THREAD_CPUTIME_ID) + seconds;

		while (now(CLOCK_THREAD_CPUTIME_ID) < end)
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
