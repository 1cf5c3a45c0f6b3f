#!/bin/bash
# perf record --call-graph hybrid while perf is not run, so that rings fill up
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2317,SC2154 # hybrid_check calls the tests, hybrid.sh sets variables

set -e

# shellcheck source=lib/hybrid.sh
. "$(dirname "$0")"/lib/hybrid.sh

# Page faults lose records beside samples of the clock: those are none of its own.
test_lost()
{
	build faults <<- 'EOF' || return 1
	#include <sys/mman.h>

	int main(void)
	{
		int i, round;

		for (round = 0; round < 60; round++) {
			char *p = mmap(0, 1000 * 4096, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			madvise(p, 1000 * 4096, MADV_NOHUGEPAGE);
			for (i = 0; i < 1000; i++)
				p[i * 4096] = 1;
			munmap(p, 1000 * 4096);
		}
		return 0;
	}
	EOF
	record -m 8 -e cpu-clock/freq=100/u,page-faults/call-graph=no,period=1/u sh -c \
		"kill -STOP \$PPID; '$dir/faults'; kill -CONT \$PPID; '$calls' 0.3" || return 1
	cat "$log"
	# 60,000 faults in rings with room for a thousand; a minute has 6,000 samples.
	perf script -i "$data" --show-lost-events 2> /dev/null | grep 'PERF_RECORD_LOST_SAMPLES' |
		sort | uniq -c | sort -rn | head -n 5
	[ "$(total lost)" -lt 20000 ]
}

# Rings that are full all at once are more than one of them holds.
test_compressed()
{
	local pid ret=0

	perf check feature -q zstd || { echo "no zstd"; return 77; }
	build_spinners || return 1
	hybrid_start "$dir/spinners" 24 120
	pid=$child
	hybrid_tasks "$pid" 25 || return 1
	record -z -m 8 --per-thread -e cpu-clock:u -F 4000 --call-graph hybrid,64 -p "$pid" -- \
		sh -c "kill -STOP \$PPID; sleep 2; kill -CONT \$PPID; sleep 1" || ret=1
	hybrid_stop "$pid"
	[ "$ret" -eq 0 ] || return 1
	cat "$log"
	reads_clean "$data" && [ "$(chains "$data" | wc -l)" -ge 400 ]
}

# A library that is mapped while there is no room for the record of it.
test_lost_mapping()
{
	build liblate.so -shared -fPIC <<- 'EOF' || return 1
	#include <time.h>

	volatile int late_sink;

	int late(double seconds)
	{
		clock_t until = clock() + seconds * CLOCKS_PER_SEC;
		int i;

		while (clock() < until) {
			for (i = 0; i < 1000000; i++)
				late_sink += i;
		}
		return late_sink;
	}
	EOF
	work_and <<- 'EOF' | build late -ldl || return 1
	#include <dlfcn.h>
	#include <fcntl.h>
	#include <signal.h>
	#include <sys/mman.h>
	#include <unistd.h>

	int main(int argc, char **argv)
	{
		int i, fd = open(argv[1], O_RDONLY);
		int (*late)(double);
		void *p;

		kill(getppid(), SIGSTOP);
		work(0.5);
		/* A sample leaves room for records that are smaller. */
		for (i = 0; i < 2000; i++) {
			p = mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
			munmap(p, 4096);
		}
		late = (int (*)(double))dlsym(dlopen(argv[1], RTLD_NOW), "late");
		work(0.2);
		kill(getppid(), SIGCONT);
		return late(1) == 7;
	}
	EOF
	# BPF sheds dumps where a ring is as small as these.
	record -v -m 8 --no-kernel-walk -e cpu-clock:u -F 1000 "$dir/late" "$dir/liblate.so" ||
		return 1
	grep hybrid "$log"
	reads_clean "$data" || return 1
	[ "$(total lost)" -ge 50 ] && grep 'synthesized anew' "$log" || return 1
	chains "$data" --comm late | grep -E 'late;' |
		true_chains '^([^;]*clock[^;]*;)*late;main;([^;]+;)*_start$' '^late$' 100
}

hybrid_init
hybrid_check "an event that loses records" test_lost
hybrid_check "-z, all rings full" test_compressed
hybrid_check "the record of a mapping is lost" test_lost_mapping
hybrid_done
