#!/bin/bash
# perf record --call-graph hybrid while processes and their mappings change (exclusive)
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2317,SC2154 # hybrid_check calls the tests, hybrid.sh sets variables

set -e

# shellcheck source=lib/hybrid.sh
. "$(dirname "$0")"/lib/hybrid.sh

clock=(-e cpu-clock:u -F 1000)

inner='^leaf;middle;outer;'

no_map_lost()
{
	cat "$log"
	[ "$(total "no map")" -eq 0 ]
}

# rooted CALLERS MIN: each chain with leaf goes on over CALLERS.
rooted()
{
	reads_clean "$data" && chains "$data" | true_chains "$inner$1" '^leaf$' "$2"
}

test_threads()
{
	work_and <<- 'EOF' | build threads -pthread || return 1
	static void *run(void *arg) { work(0.1); return arg; }

	int main(void)
	{
		pthread_t t[6];
		int i;

		for (i = 0; i < 6; i++)
			pthread_create(&t[i], 0, run, 0);
		for (i = 0; i < 6; i++)
			pthread_join(t[i], 0);
		return 0;
	}
	EOF
	record "${clock[@]}" "$dir/threads" && no_map_lost && rooted 'run;([^;]+;)*[^;]*clone3?$' 120
}

# Threads that come when all those before have ended, but for the first, which
# sleeps and (at so low a frequency) hardly ever shows in a sample.
test_later_threads()
{
	work_and <<- 'EOF' | build later -pthread || return 1
	static void *run(void *arg) { work(0.1); return arg; }

	int main(void)
	{
		pthread_t t[4];
		int i, round;

		for (round = 0; round < 4; round++) {
			for (i = 0; i < 4; i++)
				pthread_create(&t[i], 0, run, 0);
			for (i = 0; i < 4; i++)
				pthread_join(t[i], 0);
		}
		return 0;
	}
	EOF
	record -e cpu-clock:u -F 200 "$dir/later" && no_map_lost &&
		rooted 'run;([^;]+;)*[^;]*clone3?$' 60
}

# Many processes that live for some milliseconds: fork, and fork and exec.
test_short_lived()
{
	work_and <<- 'EOF' | build short || return 1
	int main(int argc, char **argv)
	{
		int i;

		if (argc > 1) {
			work(0.005);
			return 0;
		}
		for (i = 0; i < 60; i++) {
			if (!(i & 1 ? fork() : vfork()))
				execl(argv[0], argv[0], "child", (char *)0);
			if (!fork()) {
				work(0.005);
				_exit(0);
			}
			wait(0);
			wait(0);
		}
		return 0;
	}
	EOF
	record "${clock[@]}" "$dir/short" && no_map_lost && rooted 'main;([^;]+;)*_start$' 120
}

# The same addresses hold one library, then the other, all the time.
test_dlopen()
{
	local color

	for color in red blue; do
		build "lib$color.so" -shared -fPIC "-DNAME(x)=${color}_##x" <<- 'EOF' || return 1
		#define FN __attribute__((noinline, noclone))
		volatile unsigned long sink;

		FN unsigned long NAME(leaf)(unsigned long n)
		{
			unsigned long i;
			char room[sizeof("NAME(x)") * 8];

			room[0] = n;
			for (i = 0; i < n; i++)
				sink += i + *(volatile char *)room;
			return sink;
		}

		FN unsigned long NAME(run)(unsigned long n) { return NAME(leaf)(n) + 1; }
		EOF
	done
	work_and <<- 'EOF' | build dl "-DDIR=\"$dir\"" -ldl || return 1
	static double seconds = 0.5, last;

	FN unsigned long call(const char *lib, const char *name)
	{
		void *handle = dlopen(lib, RTLD_NOW);
		unsigned long (*run)(unsigned long) = dlsym(handle, name), sum = 0;
		int i;

		for (i = 0; i < 20 && time_left(&seconds, &last); i++)
			sum += run(100000);
		dlclose(handle);
		return sum;
	}

	int main(void)
	{
		while (seconds > 0) {
			sink += call(DIR "/libred.so", "red_run");
			sink += call(DIR "/libblue.so", "blue_run");
		}
		return 0;
	}
	EOF
	record "${clock[@]}" "$dir/dl" && no_map_lost && reads_clean "$data" || return 1
	chains "$data" | true_chains '^(red_leaf;red_run|blue_leaf;blue_run);call;main;([^;]+;)*_start$' \
		'_leaf$' 100 || return 1
	for color in red blue; do
		chains "$data" | grep -q "^${color}_leaf;" || { echo "none of $color"; return 1; }
	done
}

test_made_code()
{
	build_made || return 1
	record "${clock[@]}" "$dir/made" 0.5 &&
		rooted 'run;\[unknown\];through;main;([^;]+;)*_start$' 100
}

# The program's file is gone, or another, before perf looks at it.
test_deleted()
{
	local change

	for change in 'rm -f' 'cp /bin/true'; do
		cp "$calls" "$dir/calls-gone"
		hybrid_start "$dir/calls-gone" 60
		hybrid_runs calls-gone || return 1
		if [ "$change" = 'rm -f' ]; then
			rm -f "$dir/calls-gone"
		else
			cp /bin/true "$dir/calls-new"
			mv "$dir/calls-new" "$dir/calls-gone"
		fi
		record "${clock[@]}" -p "$child" -- "$dir/used" "$child" calls-gone 200 || return 1
		hybrid_stop "$child"
		cat "$log"
		# There are no symbols to be read by name: count what was unwound.
		[ "$(total complete)" -ge 20 ] || return 1
		[ "$(total complete)" -ge $(($(samples_read) * 99 / 100)) ] || return 1
		# All end at the functions that call main(), which itself is seldom sampled.
		ips "$data" | awk -F ';' '
			NF < 4 || NF > 9 { print NF " frames: " $0; next }
			{ of_main += NF == 4 }
			++ends[$(NF - 2) ";" $(NF - 1) ";" $NF] > most { most++ }
			END {
				print most " of " NR " have the same end, " of_main + 0 " in main()"
				exit NR - most > 1 + NR / 100 || of_main > 1 + NR / 20
			}' || return 1
	done
}

# A path that names another file in perf's own mount namespace.
test_mount_namespace()
{
	mkdir -p "$dir/private"
	cp /bin/true "$dir/private/calls"
	unshare -m true 2> /dev/null || { echo "no unshare -m"; return 77; }
	mkdir -p "$dir/hidden"
	cp "$calls" "$dir/hidden/calls"
	# shellcheck disable=SC2016 # for the inner shell
	record "${clock[@]}" unshare -m sh -c \
		'mount --bind "$1/hidden" "$1/private" && "$1/private/calls" 0.4' sh "$dir" || return 1
	no_map_lost || return 1
	[ "$(total complete)" -ge 80 ] &&
		[ "$(total complete)" -ge $(($(samples_read) * 98 / 100)) ]
}

# attach OPTION...: one that runs already is unwound from its first sample.
attach()
{
	hybrid_start "$calls" 60
	hybrid_runs calls || return 1
	record "${clock[@]}" "${@/PID/$child}" -- "$dir/used" "$child" calls 200 || return 1
	hybrid_stop "$child"
	# Of a machine with all CPUs in use some samples have no dump: these are marked.
	reads_clean "$data" && chains "$data" --comm calls | grep -v ';\[cut$' |
		true_chains "$calls_true" "$calls_own" 20 || return 1
	chains "$data" --comm calls | head -n 1 | grep -qE "$calls_true"
}

test_32_bit()
{
	build_calls calls32 -m32 2> /dev/null > /dev/null && "$dir/calls32" 0 ||
		{ echo "no cc -m32"; return 77; }
	record "${clock[@]}" "$dir/calls32" 0.5 && no_map_lost || return 1
	chains "$data" --comm calls32 | true_chains "$inner"'main;([^;]+;)*_start$' '^leaf$' 100
}

# perf stands still as long as the program lives, and can't read its vDSO from it then.
# Its system calls are made there.
test_32_bit_gone()
{
	local all right

	build asks32 -m32 2> /dev/null > /dev/null <<- 'EOF' && "$dir/asks32" ||
	#include <time.h>
	#include <unistd.h>

	int main(void)
	{
		clock_t end = clock() + CLOCKS_PER_SEC / 3;

		while (clock() < end)
			getppid();
		return 0;
	}
	EOF
		{ echo "no cc -m32"; return 77; }
	# shellcheck disable=SC2016 # for the inner shell
	record "${clock[@]}" sh -c 'kill -STOP "$PPID"; "$1"; kill -CONT "$PPID"' sh \
		"$dir/asks32" || return 1
	perf script -i "$data" --comm asks32 -F ip,sym,dso --no-inline > "$dir/gone" 2> /dev/null
	all=$(awk 'BEGIN { RS = "" } /vdso/ && / main / { n++ } END { print n + 0 }' "$dir/gone")
	right=$(awk 'BEGIN { RS = "" }
		/vdso/ && / main / && /_start/ && !/\[(guessed|cut off)\]/ { n++ }
		END { print n + 0 }' "$dir/gone")
	echo "$right of $all samples in the vDSO reach _start"
	[ "$all" -ge 20 ] && [ "$right" -ge $((all - 1 - all / 50)) ]
}

hybrid_init
hybrid_check "threads" test_threads
hybrid_check "later threads" test_later_threads
hybrid_check "short-lived processes" test_short_lived
hybrid_check "dlopen and dlclose" test_dlopen
hybrid_check "code made at run time" test_made_code
hybrid_check "object deleted or replaced" test_deleted
hybrid_check "mount namespace" test_mount_namespace
hybrid_check "attach, -p" attach -p PID
hybrid_check "attach, -a" attach -a
hybrid_check "32-bit program" test_32_bit
hybrid_check "32-bit program that is gone" test_32_bit_gone
hybrid_done
