#!/bin/bash
# hybrid unwinding for perf script, report, inject, top and trace (exclusive)
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2317,SC2154 # hybrid_check calls the tests, hybrid.sh sets variables

set -e

# shellcheck source=lib/hybrid.sh
. "$(dirname "$0")"/lib/hybrid.sh

# with_config LINE... -- COMMAND...: with a perf config file of these lines.
with_config()
{
	: > "$dir/config"
	while [ "$1" != -- ]; do
		echo "$1" >> "$dir/config"
		shift
	done
	shift
	PERF_CONFIG=$dir/config "$@"
}

record_dwarf()
{
	dwarf=$dir/dwarf.data
	[ -s "$dwarf" ] && return
	perf record -e cpu-clock:u -F 1000 --call-graph dwarf -o "$dwarf" "$calls" 0.5 \
		> /dev/null 2> "$log" || { cat "$log"; return 1; }
	ips "$dwarf" --unwind-style libdw > "$dir/libdw.ips"
	chains "$dwarf" --unwind-style libdw |
		true_chains "$calls_true" "$calls_own" 100
}

# same_ips FILE: as libdw's, sample by sample. Before main, in the dynamic
# linker's start, libdw leaves out some.
same_ips()
{
	local differ

	[ "$(wc -l < "$1")" -eq "$(wc -l < "$dir/libdw.ips")" ] ||
		{ wc -l "$1" "$dir/libdw.ips"; return 1; }
	differ=$(diff "$1" "$dir/libdw.ips" | grep -c '^<')
	echo "$differ of $(wc -l < "$1") chains differ from libdw's"
	diff "$1" "$dir/libdw.ips" | head -n 6
	[ "$differ" -le $((2 + $(wc -l < "$1") / 100)) ]
}

test_script()
{
	record_dwarf && ips "$dwarf" --unwind-style hybrid > "$dir/ips" && same_ips "$dir/ips"
}

test_script_config()
{
	record_dwarf || return 1
	with_config '[unwind]' 'style = hybrid' -- ips "$dwarf" > "$dir/ips"
	same_ips "$dir/ips" || return 1
	# That it was read shows in a style that there is not.
	! with_config '[unwind]' 'style = none-such' -- perf script -i "$dwarf" > /dev/null 2>&1 ||
		[ -n "$(with_config '[unwind]' 'style = none-such' -- perf script -i "$dwarf" 2>&1 > /dev/null)" ]
}

test_script_max_stack()
{
	record_dwarf || return 1
	ips "$dwarf" --unwind-style hybrid --max-stack 3 > "$dir/ips"
	cut -d ';' -f 1-3 "$dir/libdw.ips" > "$dir/first"
	[ "$(diff "$dir/ips" "$dir/first" | grep -c '^<')" -le 5 ]
}

report()
{
	perf report -i "$dwarf" --stdio --no-children --no-inline -g caller,0.5,callee --percent-limit 5 \
		"$@" 2> "$dir/warnings" | grep -v '^#'
}

test_report()
{
	record_dwarf || return 1
	report --unwind-style libdw > "$dir/libdw.report"
	report --unwind-style hybrid > "$dir/report"
	unusual < "$dir/warnings" && return 1
	diff "$dir/report" "$dir/libdw.report" && grep -q middle "$dir/report" || return 1
	with_config '[unwind]' 'style = hybrid' -- report > "$dir/report"
	diff "$dir/report" "$dir/libdw.report"
}

# The converted file has plain callchains, the same, and no dumps.
test_inject()
{
	record_dwarf || return 1
	perf inject --convert-callchain --unwind-style hybrid -i "$dwarf" -o "$dir/converted" 2> "$log" ||
		{ cat "$log"; return 1; }
	cat "$log"
	reads_clean "$dir/converted" || return 1
	perf evlist -v -i "$dir/converted" | grep -qE 'REGS_USER|STACK_USER|sample_stack_user' && return 1
	ips "$dir/converted" > "$dir/ips"
	same_ips "$dir/ips" && [ "$(stat -c %s "$dir/converted")" -lt $(($(stat -c %s "$dwarf") / 20)) ]
}

test_inject_config()
{
	record_dwarf || return 1
	with_config '[unwind]' 'style = hybrid' -- \
		perf inject --convert-callchain -i "$dwarf" -o "$dir/converted2" 2> "$log" || return 1
	ips "$dir/converted2" > "$dir/ips"
	same_ips "$dir/ips"
}

# On a terminal, how far it is; else nothing of that.
test_inject_progress()
{
	local inject="inject --convert-callchain --unwind-style hybrid -i $dir/dwarf.data -o $dir/progress.data"

	record_dwarf || return 1
	script -qec true /dev/null > /dev/null 2>&1 || { echo "no script"; return 77; }
	# shellcheck disable=SC2086 # words
	script -qec "perf $inject" /dev/null > "$log" 2>&1 && perf $inject 2> "$dir/warnings" ||
		{ cat "$log"; return 1; }
	tr '\r' '\n' < "$log" | grep -o 'Processing .*%' | sort -u > "$dir/shown"
	tail -n 3 "$dir/shown"
	grep -qE '^Processing events\.\.\. +[0-9]+%$' "$dir/shown" &&
		[ "$(wc -l < "$dir/shown")" -ge 20 ] && ! grep Processing "$dir/warnings"
}

# A way to record is none to read a file: what to do instead is said.
test_report_refused()
{
	record_dwarf &&
		one_line 'perf record --call-graph hybrid; .*--unwind-style hybrid' \
			perf report -i "$dwarf" --call-graph hybrid
}

test_inject_refused()
{
	record -e cpu-clock:u "$calls" 0.1 &&
		one_line 'event cpu-clock:u has callchains that need no conversion' \
			perf inject --convert-callchain -i "$data" -o "$dir/refused" || return 1
	perf record -e cpu-clock:u -o "$data" "$calls" 0.1 > /dev/null 2>&1 &&
		one_line 'event cpu-clock:u was not recorded with --call-graph dwarf' \
			perf inject --convert-callchain -i "$data" -o "$dir/refused"
}

# A hybrid file and a converted dwarf file of the same program say the same.
test_same_as_converted()
{
	record_dwarf && [ -s "$dir/converted" ] && record -e cpu-clock:u -F 1000 "$calls" 0.2 || return 1
	chains "$data" --comm calls | grep '^leaf' | sort -u > "$dir/live"
	chains "$dir/converted" --comm calls | grep '^leaf' | sort -u > "$dir/later"
	diff "$dir/live" "$dir/later"
}

test_record_mode()
{
	rm -f "$data"
	with_config '[call-graph]' 'record-mode = hybrid' -- \
		perf record -g -e cpu-clock:u -F 1000 -o "$data" "$calls" 0.3 > /dev/null 2> "$log"
	grep -q 'hybrid: [1-9]' "$log" || { cat "$log"; return 1; }
	perf evlist -v -i "$data" | grep -q STACK_USER && return 1
	calls_are_true "$data" 60 || return 1
	# So little holds no frame: complete is only what was sampled in _start itself.
	with_config '[call-graph]' 'record-mode = hybrid' 'dump-size = 8' -- \
		perf record -g -e cpu-clock:u -F 1000 --no-kernel-walk -o "$data" "$calls" 0.1 \
		> /dev/null 2> "$log"
	grep samples: "$log"
	[ "$(total complete)" -le "$(chains "$data" | grep -c '^_start$')" ] &&
		[ "$(total truncated)" -ge 20 ]
}

test_record_mode_bad()
{
	one_line 'range 8 to 65528' with_config '[call-graph]' 'record-mode = hybrid,7' -- \
		perf record -g -e cpu-clock:u -o "$data" true
}

# top_shows PROGRAM CALLER OPTION...: perf top on a program, until it has shown
# callers or 50 s are over. Where $cpu is set, on that CPU. Where $more_ms is set perf top
# goes on until the program has used so many milliseconds of CPU time more.
top_shows()
{
	local found=1 top program=$1 caller=$2

	shift 2
	if [ -n "$cpu" ]; then
		hybrid_start taskset -c "$cpu" "$program" 60
		set -- -C "$cpu" --comms "${program##*/}" "$@"
	else
		hybrid_start "$program" 60
		set -- -p "$child" "$@"
	fi
	perf top --stdio -d 1 -e cpu-clock:u "$@" < <(sleep 60) > "$dir/top" 2>&1 &
	top=$!
	children+=("$top")
	for _ in $(seq 100); do
		sleep 0.5
		grep -q '_start' "$dir/top" && grep -q "$caller" "$dir/top" && { found=0; break; }
		kill -0 "$top" 2> /dev/null || break
	done
	[ -z "$more_ms" ] || "$dir/used" "$child" "${program##*/}" "$more_ms"
	hybrid_stop "$top" INT
	hybrid_stop "$child"
	[ "$found" -eq 0 ] || tail -n 20 "$dir/top"
	return "$found"
}

test_top()
{
	top_shows "$calls" middle --call-graph hybrid
}

# Of a CPU, and of a process, BPF walks the stacks where it may be loaded.
test_top_bpf()
{
	local cpu first more_ms=2000

	first=$(awk '/^Cpus_allowed_list/ { split($2, list, /[-,]/); print list[1] }' \
		/proc/self/status)
	for cpu in "$first" ''; do
		top_shows "$calls" middle -v -F 200 --call-graph hybrid || return 1
		! grep -a 'hybrid: samples have stack dumps' "$dir/top" || return 77
		grep -ao 'hybrid: BPF walked.*' "$dir/top"
		grep -aq 'hybrid: BPF walked [0-9][0-9]' "$dir/top" || return 1
	done
}

test_top_made()
{
	build_made && top_shows "$dir/made" through --call-graph hybrid
}

test_top_config()
{
	with_config '[call-graph]' 'record-mode = hybrid' -- top_shows "$calls" middle -g
}

test_trace()
{
	build naps <<- 'EOF'
	#include <time.h>

	#define FN __attribute__((noinline, noclone))
	static const struct timespec ts = { .tv_nsec = 1000 };

	FN int sleeps(void) { return nanosleep(&ts, 0) + 1; }

	FN int asleep(void) { return sleeps() + 1; }

	int main(void)
	{
		int i, r = 0;

		for (i = 0; i < 20; i++)
			r += asleep();
		return r == 0;
	}
	EOF
	timeout 300 perf trace -e clock_nanosleep "$dir/naps" > /dev/null 2>&1 ||
		{ echo "no perf trace"; rm "$dir/naps"; return 77; }
	trace_shows
}

trace_shows()
{
	timeout 300 perf trace --call-graph hybrid -e clock_nanosleep "$dir/naps" > "$dir/trace" 2>&1 ||
		{ cat "$dir/trace"; return 1; }
	tail -n 12 "$dir/trace"
	[ "$(grep -c 'clock_nanosleep(' "$dir/trace")" -eq 20 ] &&
		[ "$(grep -cE '\<sleeps \(' "$dir/trace")" -eq 20 ] &&
		[ "$(grep -cE '\<asleep \(' "$dir/trace")" -eq 20 ] &&
		[ "$(grep -cE '\<main \(' "$dir/trace")" -eq 20 ]
}

# Some kernels say then of this one's mappings, too, that they have the build-id.
test_trace_beside()
{
	local status=0 other

	[ -x "$dir/naps" ] || { echo "no perf trace"; return 77; }
	perf record -a -e dummy -o "$dir/beside" sleep 300 > "$dir/log" 2>&1 &
	other=$!
	for _ in $(seq 300); do
		pgrep -P "$other" -x sleep > /dev/null && break
		sleep 0.1
	done
	trace_shows || status=1
	kill -INT "$other"
	wait "$other"
	return "$status"
}

hybrid_init
hybrid_check "perf script --unwind-style" test_script
hybrid_check "perf script, unwind.style" test_script_config
hybrid_check "perf script --max-stack" test_script_max_stack
hybrid_check "perf report" test_report
hybrid_check "perf inject --unwind-style" test_inject
hybrid_check "perf inject, unwind.style" test_inject_config
hybrid_check "perf inject, progress" test_inject_progress
hybrid_check "perf report --call-graph hybrid" test_report_refused
hybrid_check "perf inject of a hybrid file" test_inject_refused
hybrid_check "live and later" test_same_as_converted
hybrid_check "call-graph.record-mode" test_record_mode
hybrid_check "call-graph.record-mode, bad" test_record_mode_bad
hybrid_check "perf top" test_top
hybrid_check "perf top, by BPF" test_top_bpf
hybrid_check "perf top, call-graph.record-mode" test_top_config
hybrid_check "perf top, code made at run time" test_top_made
hybrid_check "perf trace" test_trace
hybrid_check "perf trace beside a recording" test_trace_beside
hybrid_done
