#!/bin/bash
# perf record --call-graph hybrid with perf record's other options
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2317,SC2154 # hybrid_check calls the tests, hybrid.sh sets variables

set -e

# shellcheck source=lib/hybrid.sh
. "$(dirname "$0")"/lib/hybrid.sh

clock=(-e cpu-clock:u -F 1000)

# with OPTION...: recording the program works, and what it gives is right.
with()
{
	record "${clock[@]}" "$@" "$calls" 0.2 && calls_are_true "$data"
}

# attach OPTION...: the same for one that runs already; PID stands for its PID.
attach()
{
	local pid ret=0

	hybrid_start "$calls" 60
	pid=$child
	hybrid_runs calls || return 1
	record "${clock[@]}" "${@/PID/$pid}" -- "$dir/used" "$pid" calls 200 || ret=1
	hybrid_stop "$pid"
	[ "$ret" -eq 0 ] && calls_are_true "$data" 20
}

# events EVENT [OPTION...]: the same with other events.
events()
{
	local event=$1

	shift
	record -e "$event" "$@" "$calls" 0.2 && reads_clean "$data" &&
		chains "$data" --comm calls |
			true_chains "^([^;]+;)*${calls_true#^}" "$calls_own" 40
}

# refused PATTERN OPTION...: in one line that names the option and the reason.
refused()
{
	local pattern=$1

	shift
	rm -rf "$data"
	one_line "$pattern" timeout 300 perf record --call-graph hybrid "${clock[@]}" -o "$data" \
		"$@" "$calls" 0.1 || return 1
	[ "$(wc -l <<< "$(perf record --call-graph hybrid "${clock[@]}" -o "$data" \
		"$@" "$calls" 0.1 2>&1)")" -eq 1 ]
}

# ignored NAME OPTION...: as if it were not there, but for one line that says so.
ignored()
{
	local name=$1

	shift
	with "$@" || return 1
	cat "$log"
	[ "$(grep -c "^--call-graph hybrid ignores $name: " "$log")" -eq 1 ]
}

# The rings of very many threads: what they take together is bounded.
test_many_rings()
{
	local pid rings size

	build_sleepers || return 1
	hybrid_start "$dir/sleepers" 200 60
	pid=$child
	hybrid_tasks "$pid" 201 || return 1
	record -v -e cpu-clock:u --call-graph hybrid,65528 -p "$pid" --per-thread -- true || return 1
	hybrid_stop "$pid"
	size=$(sed -n 's/^mmap size \([0-9]*\)B$/\1/p' "$log" | head -n 1)
	rings=201
	echo "$rings rings of ${size:-no} bytes"
	[ -n "$size" ] && [ $((rings * (size >> 20))) -le 512 ]
}

# Linux before 7.3 marks the record of a mapping as one with a build-id where another
# recording beside this one asks for that, and puts the file's numbers there: the
# first is that of the device, whose upper half is 0.
mappings_damaged()
{
	perf script --show-mmap-events -i "$data" 2> /dev/null |
		grep -q 'PERF_RECORD_MMAP2.*<00000000[0-9a-f]*>'
}

# like_fp OPTION...: works, or what this machine can't do fails as it does with fp.
like_fp()
{
	local ours=0 theirs=0

	with "$@" && return 0
	if mappings_damaged; then
		echo "another recording runs: this kernel damages the mappings"
		return 77
	fi
	rm -rf "$data"
	perf record --call-graph fp "${clock[@]}" -o "$data" "$@" "$calls" 0.2 \
		> /dev/null 2> "$dir/theirs" || theirs=$?
	rm -rf "$data"
	perf record --call-graph hybrid "${clock[@]}" -o "$data" "$@" "$calls" 0.2 \
		> /dev/null 2> "$log" || ours=$?
	[ "$ours" -ne 0 ] && [ "$ours" -eq "$theirs" ] && diff "$dir/theirs" "$log" || return 1
	echo "not on this machine"
	return 77
}

test_user_regs()
{
	with --user-regs=ip,sp || return 1
	perf evlist -v -i "$data" > "$dir/evlist"
	cat "$dir/evlist"
	grep -q 'sample_regs_user: 0x180' "$dir/evlist" && grep -q REGS_USER "$dir/evlist" &&
		! grep -qi STACK_USER "$dir/evlist" || return 1
	perf script -F uregs -i "$data" | awk 'NF && !/^ *ABI:2 +SP:0x[0-9a-f]+ +IP:0x[0-9a-f]+ *$/ {
		print "regs: " $0; bad = 1 } END { exit bad || NR < 40 }' || return 1
	# The registers are the innermost frame's.
	perf script -F ip,uregs -i "$data" 2> /dev/null | awk '
	/^[ \t]+[0-9a-f]+ *$/ { if (!ip) ip = $1; next }
	/IP:0x/ { sub(/.*IP:0x/, ""); n++; if ($1 != ip) bad++ }
	/^$/ { ip = "" }
	END { print bad + 0 " of " n " differ"; exit bad || n < 40 }'
}

# regs OPTION: interrupt registers stay; user registers don't come with them.
test_intr_regs()
{
	with "$1" || return 1
	perf evlist -v -i "$data" > "$dir/evlist"
	grep -q REGS_INTR "$dir/evlist" && ! grep -q REGS_USER "$dir/evlist" &&
		perf script -F iregs -i "$data" | grep -q 'AX:0x'
}

test_pipe()
{
	perf record --call-graph hybrid "${clock[@]}" -o - "$calls" 0.2 2> "$log" > "$dir/pipe" ||
		{ cat "$log"; return 1; }
	[ "$(samples_read)" -ge 40 ] || return 1
	perf report -i - --stdio -g caller --no-children < "$dir/pipe" > "$dir/read" 2> "$dir/warnings" ||
		return 1
	cat "$dir/warnings"
	! unusual < "$dir/warnings" &&
		grep -q 'middle' "$dir/read" && grep -q '_start' "$dir/read" || return 1
	# Without a file between, too.
	perf record --call-graph hybrid "${clock[@]}" -o - "$calls" 0.2 2> /dev/null |
		perf script -i - -F ip,sym | grep -q ' middle$'
}

test_switch_output()
{
	local file files=0

	# It may end right behind a switch: the last file is one without a sample then.
	record "${clock[@]}" --switch-output=1s "$calls" 2.5 || return 1
	for file in "$data".2*; do
		files=$((files + 1))
		[ "$files" -le 2 ] || chains "$file" | grep -q . || continue
		calls_are_true "$file" 1 || return 1
	done
	rm -f "$data".2*
	[ "$files" -ge 2 ]
}

test_max_size()
{
	# It stops the program, with a status that says so.
	record "${clock[@]}" -F 4000 --max-size=64K "$calls" 20
	grep -q 'size limit reached' "$log" && calls_are_true "$data" &&
		[ "$(stat -c %s "$data")" -lt 400000 ]
}

test_max_stack()
{
	record "${clock[@]}" --max-stack 4 "$calls" 0.2 && reads_clean "$data" || return 1
	chains "$data" | grep '^leaf;' | sort | uniq -c
	# What is left out is said to be.
	[ "$(chains "$data" | grep -c '^leaf;middle;outer;main;\[cut')" -ge 40 ] &&
		! chains "$data" | grep -v ';\[cut[^;]*$' | grep -q '^[^;]*;[^;]*;[^;]*;[^;]*;'
}

test_tracepoint()
{
	local event=sched:sched_process_exit

	perf record -e "$event" -o "$data" true > /dev/null 2>&1 || { echo "no tracepoints"; return 77; }
	record -e "$event" sh -c "$calls 0.01; true" && reads_clean "$data" && calls_exit
}

# A task exits in libc: what called it is known, too.
calls_exit()
{
	chains "$data" --comm calls
	[ "$(chains "$data" --comm calls | grep -cE ';(__libc_start|__libc_start_call_main)[^;]*;.*_start$')" -eq 1 ]
}

test_uprobe()
{
	local event=probe_hybrid_$$ ret=0

	perf probe -q -x "$calls" "$event:middle=middle" > "$log" 2>&1 ||
		{ echo "no uprobes"; return 77; }
	events "$event:middle" -c 1 --call-graph hybrid,1024 || ret=1
	[ "$ret" -ne 0 ] || [ "$(chains "$data" | grep -vc '^middle;outer;main;')" -eq 0 ] || ret=1
	perf probe -q -d "$event:middle" > /dev/null 2>&1
	return "$ret"
}

# No event of the file asks for registers or a stack, nor says how much of them.
no_dump_attr()
{
	perf evlist -v -i "$data" > "$dir/evlist"
	! grep -E 'REGS_USER|STACK_USER|sample_(regs|stack)_user' "$dir/evlist"
}

test_off_cpu()
{
	perf record --off-cpu -e dummy -o "$data" sleep 0.1 > /dev/null 2>&1 &&
		perf evlist -i "$data" 2> /dev/null | grep -q offcpu-time ||
		{ echo "no --off-cpu"; return 77; }
	with --off-cpu && no_dump_attr || return 1
	# Not each time does a short sleep leave a sample, with fp neither.
	for _ in 1 2 3 4 5; do
		record -e cpu-clock --off-cpu sleep 0.3 || return 1
		perf script -i "$data" -F event,ip,sym | grep -q offcpu-time && return 0
	done
	return 1
}

# An event that has no callchain has nothing that goes with one.
test_no_callgraph()
{
	record -e cpu-clock:u,task-clock/call-graph=no/u -F 1000 "$calls" 0.2 && no_dump_attr
}

# Events that differ in their call-graph keep each their own.
test_mixed()
{
	rm -f "$data"
	perf record -e cpu-clock/call-graph=hybrid,freq=1000/u,task-clock/call-graph=dwarf,freq=500/u \
		-o "$data" "$calls" 0.3 > /dev/null 2> "$log" || { cat "$log"; return 1; }
	perf evlist -v -i "$data" > "$dir/evlist"
	cat "$dir/evlist"
	! grep '^cpu-clock' "$dir/evlist" | grep -q STACK_USER &&
		grep '^task-clock' "$dir/evlist" | grep -q STACK_USER || return 1
	calls_are_true "$data" 60
}

# test_locked COMMAND...: memory that root may lock no more of than others, as in most
# containers; the command runs another so. What is beyond the limit may be in use by other
# recordings, of root's on this machine.
test_locked()
{
	local kib=$((4096 * $(nproc --all)))

	[ "$(id -u)" -eq 0 ] && "$@" true 2> /dev/null ||
		{ echo "not root, or no $1"; return 77; }
	(
		ulimit -l "$kib" || { echo "no limit of $kib KiB"; exit 77; }
		"$@" perf record --call-graph hybrid "${clock[@]}" -o "$data" "$calls" 0.2 \
			> "$dir/stdout" 2> "$log" || { cat "$log"; exit 1; }
	) && calls_are_true "$data"
}

# perf's nice value while it records, by its process's line in /proc, and the workload's.
# shellcheck disable=SC2016 # a shell of perf's expands it
nice_values()
{
	record -e cpu-clock:u -F 100 \
		sh -c 'echo "$(cut -d " " -f 19 "/proc/$PPID/stat") $(nice)"' || return 1
	cat "$dir/stdout"
}

# The workload may raise its own priority; perf's is above that where it may be, and who has
# chosen one gets that.
test_priority()
{
	local usual expected

	usual=$(nice)
	expected="$usual $usual"
	if [ "$usual" -eq 0 ] && [ "$(nice -n -10 nice 2> /dev/null)" = -10 ]; then
		expected="-10 0"
	fi
	[ "$(nice_values)" = "$expected" ] || { echo "not $expected"; nice_values; return 1; }
	renice -n 15 -p "$BASHPID" > /dev/null || return 1
	[ "$(nice_values)" = "15 15" ] || { echo "not 15 15"; nice_values; return 1; }
}

hybrid_init
hybrid_check "-a" record "${clock[@]}" -a "$calls" 0.2
hybrid_check "-a, chains" calls_are_true "$data"
hybrid_check "-C" record "${clock[@]}" -C 0 taskset -c 0 "$calls" 0.2
hybrid_check "-C, chains" calls_are_true "$data"
hybrid_check "-p" attach -p PID
hybrid_check "-t" attach -t PID
hybrid_check "-p --per-thread" attach -p PID --per-thread
hybrid_check "-p --no-inherit" attach -p PID --no-inherit
hybrid_check "-c" events cpu-clock:u -c 1000000
hybrid_check "--call-graph hybrid,65528" with --call-graph hybrid,65528
hybrid_check "several events" events cpu-clock,page-faults,context-switches -F 1000
hybrid_check "group" events '{cpu-clock,page-faults}' -F 1000
hybrid_check "leader sampling" events '{cpu-clock,page-faults}:S' -F 1000
hybrid_check "tracepoint" test_tracepoint
hybrid_check "uprobe" test_uprobe
hybrid_check "mixed per-event terms" test_mixed
hybrid_check "call-graph=no" test_no_callgraph
hybrid_check "-b" like_fp -b
hybrid_check "--user-regs" test_user_regs
hybrid_check "--intr-regs" test_intr_regs --intr-regs=ax,ip
hybrid_check "-I" test_intr_regs -I
hybrid_check "-o -" test_pipe
hybrid_check "--switch-output" test_switch_output
hybrid_check "--max-size" test_max_size
hybrid_check "--max-stack" test_max_stack
hybrid_check "--off-cpu" test_off_cpu
# So small a ring holds but 30 dumps of the usual size.
for option in "-z" "--no-inherit" "-m 64 --call-graph hybrid,1024" "-m 4M" \
	"--timestamp-boundary" "--buildid-all" \
	"--no-buildid" "--no-buildid-mmap" "--no-buildid-cache" "--buildid-mmap" "-D 50" "-s" "-d" \
	"-k mono" "--sample-cpu" "--sample-identifier" "--weight" "--code-page-size" "--kcore" "--per-thread" "--synth no"; do
	# shellcheck disable=SC2086 # an option and its value
	hybrid_check "$option" like_fp $option
done
hybrid_check "--overwrite" refused '--overwrite: .* gone' --overwrite
hybrid_check "--threads" refused '--threads: one thread .* order' --threads
hybrid_check "an event that is overwritten" refused \
	'with task-clock/overwrite/u: .* gone' -e task-clock/overwrite/u
hybrid_check "--aio" ignored --aio --aio
hybrid_check "--affinity" ignored --affinity --affinity node
hybrid_check "--mmap-flush" ignored --mmap-flush --mmap-flush 64K
hybrid_check "the rings of many threads" test_many_rings
hybrid_check "memory that may not be locked" test_locked setpriv --bounding-set -ipc_lock
hybrid_check "root of a user namespace" test_locked unshare -r
hybrid_check "who is run first" eval '(test_priority)'
hybrid_check "--tail-synthesize" refused '--tail-synthesize: .* from the start' --tail-synthesize
hybrid_done
