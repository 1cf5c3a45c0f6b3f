#!/bin/bash
# perf record --call-graph hybrid: chains, file and totals
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2317,SC2154 # hybrid_check calls the tests, hybrid.sh sets variables

set -e

# shellcheck source=lib/hybrid.sh
. "$(dirname "$0")"/lib/hybrid.sh

# Functions that libc calls back, and that call libc: Debian's, Ubuntu's and
# Fedora's libc differ in frame pointers, so this shows more than one's own code.
build_callbacks()
{
	clock_and <<- 'EOF' | build callbacks
	#include <stdlib.h>
	#include <string.h>

	static char a[4096], b[4096];
	static int v[512];
	volatile int sink;

	FN int leaf(void)
	{
		int i;

		for (i = 0; i < 300; i++)
			sink += i;
		return 1;
	}

	FN int compare(const void *x, const void *y)
	{
		int c = leaf();

		return c * (*(const int *)x - *(const int *)y);
	}

	FN int sorter(void)
	{
		int i;

		for (i = 0; i < 512; i++)
			v[i] = (i * 7919) % 521;
		qsort(v, 512, sizeof(*v), compare);
		return v[0] + 1;
	}

	FN int comparer(void)
	{
		int i, r = 0;

		for (i = 0; i < 20000; i++)
			r += memcmp(a, b, sizeof(a) - (i & 7)) + 1;
		return r;
	}

	int main(int argc, char **argv)
	{
		double seconds = atof(argv[1]), last = 0;

		while (time_left(&seconds, &last)) {
			sink += sorter();
			if (time_left(&seconds, &last))
				sink += comparer();
		}
		return 0;
	}
	EOF
}

test_chains()
{
	record -e cpu-clock:u -F 1000 "$calls" 0.5 && calls_are_true "$data" 100
}

test_kernel_chains()
{
	# Kernel part first, then the user part of the same sample.
	record -e cpu-clock -F 1000 "$calls" 0.3 && reads_clean "$data" || return 1
	chains "$data" --comm calls |
		true_chains "^([^;]+;)*${calls_true#^}" "$calls_own" 60
}

test_callbacks()
{
	local found all libc='([^;]+;)'

	build_callbacks && record -e cpu-clock:u -F 1000 "$dir/callbacks" 0.5 || return 1
	# libc's own functions may have no symbol, but there are not many of them.
	chains_without_loader "$data" --comm callbacks |
		true_chains "^((leaf;)?compare;$libc+sorter;|$libc*sorter;|$libc?comparer;|$libc?$libc?$libc?$libc?)main;$libc*_start\$" \
			'.' 100 || return 1
	# memcmp has no frame of its own: a frame-pointer walk loses comparer.
	all=$(chains "$data" --comm callbacks | wc -l)
	found=$(chains "$data" --comm callbacks | grep -cE "^$libc{1,2}comparer;main;")
	echo "samples in memcmp with their caller: $found of $all"
	[ "$found" -ge $((all / 20)) ]
}

test_breakpoint()
{
	local at

	# Exactly at a function's first instruction, where no frame stands yet.
	build_calls fixed -no-pie || return 1
	at=$(nm "$dir/fixed" | awk '$3 == "middle" { print $1 }')
	# Some hypervisors have breakpoints that are never hit.
	if ! perf stat -x, -e "mem:0x$at:x:u" "$dir/fixed" 0.05 2>&1 | grep -q '^[1-9].*mem:'; then
		echo "no breakpoints"
		return 77
	fi
	record -e "mem:0x$at:x:u" -c 1 "$dir/fixed" 0.05 || return 1
	reads_clean "$data" && chains "$data" | true_chains "$calls_true" "$calls_own" 10 || return 1
	[ "$(chains "$data" | grep -c '^middle;outer;main;')" -eq "$(chains "$data" | wc -l)" ]
}

test_attr()
{
	record -e cpu-clock:u -F 1000 "$calls" 0.2 || return 1
	perf evlist -v -i "$data" > "$dir/evlist"
	cat "$dir/evlist"
	grep -q 'sample_type: [^,]*CALLCHAIN' "$dir/evlist" &&
		! grep -qE 'REGS_USER|STACK_USER|sample_(regs|stack)_user' "$dir/evlist"
}

test_size()
{
	local samples size

	record -e cpu-clock:u -F 2000 "$calls" 0.3 || return 1
	samples=$(samples_read)
	size=$(stat -c %s "$data")
	echo "$samples samples in $size bytes"
	# Seven frames are 56 bytes; a dump alone would be 8192.
	[ "$samples" -ge 120 ] && [ "$size" -lt $((samples * 160 + 20000)) ]
}

# The samples in a file, as perf itself counts them.
samples_in()
{
	perf report --stats -i "$1" 2> /dev/null | sed -n 's/.*SAMPLE events: *\([0-9]*\).*/\1/p' |
		head -n 1
}

test_totals()
{
	local name sum=0 read shed in_file

	record "$@" || return 1
	cat "$log"
	[ "$(grep -c '^\[ perf record: hybrid: ' "$log")" -eq 1 ] || return 1
	for name in complete stitched guessed "frame pointer only" truncated "not in memory" "no map" "no CFI" \
		"bad CFI" "not read" shed; do
		[ -n "$(total "$name")" ] || { echo "no total for $name"; return 1; }
		sum=$((sum + $(total "$name")))
	done
	# The line has what is not zero, with -v all of it.
	! grep 'hybrid: [0-9]* samples:.*[:,;] \(stitched\|no map\|shed\|lost\) 0' "$log" || return 1
	read=$(samples_read) shed=$(total shed) in_file=$(samples_in "$data")
	echo "sum $sum, read $read, shed $shed, in the file ${in_file:-none}"
	[ "$read" -gt 0 ] && [ "$sum" -eq "$read" ] && [ "$in_file" -eq $((read - shed)) ]
}

test_complete()
{
	# What the closing line says of the chains is what they are.
	test_totals -e cpu-clock:u -F 1000 "$calls" 0.3 || return 1
	[ $(($(total complete) + $(total stitched) + 1)) -ge $(($(samples_read) * 99 / 100)) ]
}

test_stopped()
{
	# A ring that is found full is not one that perf can't empty: what was lost in
	# the meantime is lost, but no dump is shed. (Rings that a BPF program writes to
	# have room for samples without a dump.)
	record -v -e cpu-clock:u -F 2000 --no-kernel-walk sh -c \
		"kill -STOP \$PPID; '$calls' 1; kill -CONT \$PPID; '$calls' 0.3" || return 1
	cat "$log"
	[ "$(total lost)" -ge 10 ] && ! grep 'dumps shed' "$log"
}

# A dump that is too small is said, with the size to ask for; no other is. It ends inside of
# the second frame, so that no earlier sample shows the rest.
test_deeper()
{
	record -e cpu-clock:u -F 1000 --no-kernel-walk --call-graph hybrid,16 "$calls" 0.2 ||
		return 1
	cat "$log"
	grep -q '^\[ perf record: [0-9]* % of the stacks are deeper than 16 bytes: --call-graph hybrid,64 shows more' "$log" &&
		record -e cpu-clock:u -F 1000 "$calls" 0.2 && ! grep 'deeper than' "$log"
}

test_quiet()
{
	record -q -e cpu-clock:u -F 1000 "$calls" 0.1 || return 1
	cat "$log"
	! grep -q 'hybrid' "$log"
}

test_verbose()
{
	# A dump that ends inside of the second frame. If perf is early it reads the rest from the
	# process, so only few chains are truncated.
	record -v -e cpu-clock:u -F 1000 --no-kernel-walk --call-graph hybrid,16 "$calls" 0.3 ||
		return 1
	grep hybrid "$log"
	[ "$(total truncated)" -ge 1 ] &&
		grep -qE "^hybrid: +[0-9]+ truncated in $calls" "$log" &&
		grep -q 'samples:.*, no map [0-9]*,.*, shed [0-9]*; lost [0-9]' "$log" || return 1
	# Without -v only the totals.
	record -e cpu-clock:u -F 1000 --call-graph hybrid,16 "$calls" 0.1 || return 1
	! grep -q '^hybrid:' "$log"
}

# live_lines OPTION... COMMAND: a line a second, by the clock, and all of it true.
live_lines()
{
	record -v -e cpu-clock:u "$@" || return 1
	grep -E '^hybrid: +[0-9]+ s: ' "$log" > "$dir/live"
	cat "$dir/live"
	awk -v all="$(samples_read)" '
	$2 <= last { bad = 1 }
	{ last = $2 }
	/: no samples$/ { next }
	{ sum = $6 + $9 + $12 + $15; n += $4 }
	sum < 99.97 || sum > 100.03 || !/ complete, .* stitched, .* others, .* shed; so far / { bad = 1 }
	END { print n + 0 " of " all " samples"; exit bad || !NR || n > all }' "$dir/live"
}

test_live()
{
	# Where perf has hardly a sample to wake up for, too.
	live_lines -F 1000 "$calls" 1.5 && live_lines sleep 1.5 || return 1
	record -e cpu-clock:u "$calls" 1.5 || return 1
	! grep '^hybrid:' "$log"
}

# A library without CFI and without frame pointers.
build_blind()
{
	build libblind.so -shared -fPIC -fno-asynchronous-unwind-tables -fno-unwind-tables <<- 'EOF'
	volatile unsigned long sink;

	__attribute__((noinline, noclone)) long blind_leaf(long n)
	{
		long i;

		for (i = 0; i < n; i++)
			sink += i;
		return sink;
	}

	long blind(long n) { return blind_leaf(n) + 1; }
	EOF
	clock_and <<- 'EOF' | build blind "$dir/libblind.so" -Wl,-rpath,"$dir"
	#include <stdlib.h>

	long blind(long n);

	int main(int argc, char **argv)
	{
		double seconds = atof(argv[1]), last = 0;

		while (time_left(&seconds, &last))
			blind(100000);
		return 0;
	}
	EOF
}

hybrid_init
build_blind
hybrid_check "user chains" test_chains
hybrid_check "kernel and user chains" test_kernel_chains
hybrid_check "chains through libc" test_callbacks
hybrid_check "breakpoint at a function's first instruction" test_breakpoint
hybrid_check "attributes of the file" test_attr
hybrid_check "size of the file" test_size
hybrid_check "totals of one program" test_complete
hybrid_check "totals of all CPUs" test_totals -e cpu-clock -F 500 -a sleep 0.5
hybrid_check "totals of several events" test_totals -e cpu-clock,page-faults -F 1000 "$calls" 0.3
hybrid_check "totals with failures" test_totals -e cpu-clock:u -F 1000 "$dir/blind" 0.3
hybrid_check "perf was not run for a second" test_stopped
hybrid_check "stacks deeper than their dumps" test_deeper
hybrid_check "--quiet" test_quiet
hybrid_check "--verbose" test_verbose
hybrid_check "--verbose, each second" test_live
hybrid_done
