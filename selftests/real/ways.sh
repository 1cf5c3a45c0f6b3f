# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # real.sh sets what is shared
#
# Do perf top and trace, and perf report of a file with stack dumps, show the callchains that perf
# record writes? Each program makes one system call from one place, so that all samples have the
# same chain.

# Of chains, a line each, the one that most samples have.
most()
{
	sort | uniq -c | sort -rn | sed -n '1s/^ *[0-9]* //p'
}

# by_script FILE [OPTION...]: the innermost function first. What has no symbol is [unknown].
by_script()
{
	"$perf" script -i "$1" "${@:2}" -F ip,sym 2> /dev/null | awk '
		function end() { if (chain) print chain; chain = "" }
		!NF { end(); next }
		{ $1 = ""; sub(/^ /, ""); chain = chain (chain ? ">" : "") $0 }
		END { end() }' | most
}

by_trace()
{
	awk '
		/^ {30}/ { sub(/^ +/, ""); sub(/ \([^()]*\)$/, ""); sub(/^\[0x[0-9a-f]+\]$/, "[unknown]"); chain = chain (chain ? ">" : "") $0; next }
		chain { print chain; chain = "" }' "$1" | most
}

# What it has shown last; it may be in the midst of the next picture.
by_top()
{
	awk '
		/ ---/ { sub(/.* ---/, ""); chain = $0; on = 1; next }
		on && NF { gsub(/^[ |]+|[ |]+$/, ""); sub(/^0x[0-9a-f]+$/, "[unknown]"); chain = $0 ">" chain; next }
		on { last = chain; on = 0 }
		END { print last }' <(tr '\r' '\n' < "$1")
}

getppid=syscalls:sys_enter_getppid

# top_shows PID CHAIN: its first samples are of what it does not know yet.
top_shows()
{
	local top keeper i seen=1

	# It asks for keys; the end of its input would be one.
	mkfifo keys
	sleep 300 > keys &
	keeper=$!
	"$perf" top --call-graph hybrid -e "$getppid" -c 1 -d 1 --stdio -p "$1" < keys > top.out 2> top.err &
	top=$!
	for ((i = 0; i < 90 && seen; i++)); do
		sleep 1
		[ "$(by_top top.out)" != "$2" ] || seen=0
	done
	kill -INT "$top"
	kill "$keeper"
	wait "$top" "$keeper" 2> /dev/null
	rm -f keys
	[ "$seen" = 0 ] || { echo "perf top shows $(by_top top.out), perf record $2"; tail -n 20 top.out top.err; }
	return "$seen"
}

# trace_shows PID CHAIN
trace_shows()
{
	timeout -s INT 90 "$perf" trace --call-graph hybrid -e "$getppid" -p "$1" -o trace.out 2> trace.err &
	local trace=$! i seen=1

	for ((i = 0; i < 80 && seen; i++)); do
		sleep 1
		# Those after the first ones.
		[ "$(tail -n 200 trace.out 2> /dev/null | by_trace /dev/stdin)" != "$2" ] || seen=0
	done
	kill -INT "$trace"
	wait "$trace" 2> /dev/null
	[ "$seen" = 0 ] || { echo "perf record shows $2"; tail -n 30 trace.out trace.err; }
	return "$seen"
}

# report_shows PID CHAIN
report_shows()
{
	local said

	"$perf" record -q -e "$getppid" -c 1 --call-graph dwarf,16384 -o dwarf.data -p "$1" sleep 1 > dwarf.log 2>&1
	said=$(by_script dwarf.data --unwind-style=hybrid)
	rm -f dwarf.data
	echo "$said, perf record: $2"
	[ "$said" = "$2" ]
}

# same_ways NAME FUNCTIONS WAYS PROGRAM...: they show what perf record does, and that has the
# functions.
same_ways()
{
	local name=$1 functions=$2 ways=$3 pid chain way

	shift 3
	"$@" > /dev/null &
	pid=$!
	sleep 1
	"$perf" record -q -e "$getppid" -c 1 --call-graph hybrid -o ways.data -p "$pid" sleep 3 > ways.data.log 2>&1
	chain=$(by_script ways.data)
	[[ $chain =~ $functions ]]
	tap $? "$name: perf record" "$chain does not match $functions
$(tail -n 5 ways.data.log)"
	for way in $ways; do
		ok "$name: perf $way shows the same" "${way}_shows" "$pid" "${chain:-none}"
	done
	kill "$pid"
	wait "$pid" 2> /dev/null
}

# The functions of interpreters are tested beside them: python.sh, selftests/matrix.
test_ways()
{
	local at

	if [ ! -r /sys/kernel/tracing/events/syscalls/sys_enter_getppid/id ]; then
		tap_skip "system calls" "no tracefs here"
		return
	fi
	builds "ways" gcc "${cflags[@]}" -o ways "$real/ways.c" || return
	builds "jit" gcc -O2 -g0 -fomit-frame-pointer -Wall -rdynamic -o jit "$real/jit.c" || return
	builds "made" gcc -shared -nostdlib -Wl,-Ttext-segment=0x10000000 \
		-Wl,-z,noseparate-code -o made.so "$real/made.S" || return
	at=0x$(nm made.so | sed -n 's/ T made$//p')
	same_ways "C" 'inner>middle>outer>main>' 'report trace top' ./ways
	same_ways "made code" 'callback>\[unknown\]>run_made>main>' 'trace top' \
		./jit ./made.so "$at" 240
}
