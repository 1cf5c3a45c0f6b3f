# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What the tests of selftests/real share: each is a file NAME.sh with a function
# test_NAME; selftests/real/run sources them. TAP.
# shellcheck disable=SC2154,SC2034 # scripts/lib.sh sets $here; tests use the rest

perf=${PERF:-$here/out/bin/perf}
real=$here/selftests/real
truth=$here/selftests/truth
work=$here/out/selftests/real
# perf's cache of what it recorded is this run's own.
export HOME=$work/home PYTHONDONTWRITEBYTECODE=1
export LC_ALL=C.UTF-8
# The programs are Debian's, whatever else is in front of them here.
export PATH=/usr/bin:/usr/sbin:/bin:/sbin:$PATH

# The call graph of the source must be that of the machine code (truth.h).
keep_calls=(-fno-inline -fno-partial-inlining -fno-ipa-cp -fno-ipa-sra -fno-ipa-icf
	-fno-optimize-sibling-calls -fno-reorder-blocks-and-partition)
cflags=(-O2 -g0 -fomit-frame-pointer -Wall -I"$truth" -DHALF_A -DHALF_B "${keep_calls[@]}")

# need PACKAGE COMMAND TEXT: skip what TEXT names where the package's command is
# not there.
need()
{
	command -v "$2" > /dev/null && return
	tap_skip "$3" "no $2: it is in Debian's package $1"
	return 1
}

# builds TEXT COMMAND...: a program that does not build is a failed test.
builds()
{
	local said text=$1
	shift
	said=$("$@" 2>&1) && return
	tap 1 "$text builds" "$said"
	return 1
}

# record FILE OPTIONS... [-- COMMAND...]: perf's words go to FILE.log, the
# command's to FILE.out.
record()
{
	local data=$1
	shift
	"$perf" record -v "${rings[@]}" -e "${event:-cpu-clock}" -F "${hz:-2000}" --call-graph "${mode:-hybrid}" -o "$data" "$@" \
		> "$data.out" 2> "$data.log" < /dev/null
}

# exact TEXT FILE OPTIONS...: check-chains' line, and the wrong chains where what
# its options ask for is missed. At least 30 samples, so that a share says
# something.
exact()
{
	local text=$1 data=$2 said status=0 count
	shift 2
	said=$("$truth/check-chains" --perf "$perf" -v --max-lost 0 "$@" "$data" 2>&1) || status=1
	count=$(sed -n '1s/^samples=\([0-9]*\) .*/\1/p' <<< "$said")
	[ "${count:-0}" -ge "${min_samples:-30}" ] || status=1
	tap $status "$text: $(head -n 1 <<< "$said")" "$(head -n 60 <<< "$said")
$(closing "$data")"
}

# no_wrong FILE OPTIONS...: cut off, perhaps; wrong, none. A few in a thousand may
# be where registers are half another frame's: a signal's return, a thread's start.
no_wrong()
{
	local said data=$1
	shift

	said=$("$truth/check-chains" --perf "$perf" -v "$@" "$data")
	head -n 40 <<< "$said"
	sed -n '1s/^samples=\([0-9]*\) .* wrong=\([0-9]*\) .*/\1 \2/p' <<< "$said" |
		awk '{ exit !($1 >= 30 && $2 <= 1 + $1 / 200) }'
}

# closing FILE: perf's last line and the objects it blames.
closing()
{
	grep -aE '^hybrid: .* in |perf record: hybrid:' "$1.log" || tail -n 3 "$1.log"
}

# outcome FILE NAME: the number before or behind NAME in the closing line.
outcome()
{
	local counted

	counted=$(sed -n "s/.*perf record: hybrid: .*[ ,;]$2 \([0-9]*\).*/\1/p" "$1.log")
	echo "${counted:-0}"
}

# walked TEXT FILE PERCENT: of the last samples, of which perf record -v says how many came
# without a copy of their stack. They come by doubling numbers: a few say nothing.
walked()
{
	local text=$1 data=$2 said

	said=$(sed -n 's/^hybrid: samples \([0-9]*\) to \([0-9]*\): \([0-9.]*\) % without dump.*/\1 \2 \3/p' \
		"$data.log" | awk '$2 - $1 >= 400 { last = $3 } END { print last }')
	if [ -z "$said" ]; then
		tap_skip "$text: walked in the kernel" "too few samples"
		return
	fi
	awk -v s="$said" -v p="$3" 'BEGIN { exit !(s >= p) }'
	tap $? "$text: $said % of the last samples walked in the kernel" "$(closing "$data")"
}

# complete TEXT FILE SAMPLES PERCENT: at least so many samples, that share of them
# to the outermost frame. What was not is said in any case, by object and reason.
# In exec and exit there is no stack to read: up to one sample in fifty may be there,
# or any number with no_stack_is_right, for processes that do little else: these fork,
# too, and while a page of the stack is copied, it is not there.
# With guessed_is_right chains count, too, of which some frames are marked as guessed.
# On a machine that does other things a few may be lost: at most one in twenty.
complete()
{
	local text=$1 data=$2 said samples whole without status=0 name

	samples=$(sed -n 's/.*perf record: hybrid: \([0-9]*\) samples.*/\1/p' "$data.log")
	if [ -z "$samples" ]; then
		tap 1 "$text" "$(tail -n 5 "$data.log")"
		return
	fi
	whole=$(($(outcome "$data" complete) + $(outcome "$data" stitched)))
	[ -z "${guessed_is_right:-}" ] || whole=$((whole + $(outcome "$data" guessed)))
	without=$(outcome "$data" "frame pointer only")
	[ -n "${no_stack_is_right:-}" ] || [ "$without" -le $((samples / 50)) ] || without=0
	[ -z "${no_stack_is_right:-}" ] || without=$((without + $(outcome "$data" "not in memory")))
	whole=$((whole + without))
	said=$(awk -v w="$whole" -v n="$samples" 'BEGIN { printf "%.2f", n ? 100 * w / n : 0 }')
	awk -v s="$said" -v p="$4" 'BEGIN { exit !(s >= p) }' || status=1
	[ "$samples" -ge "$3" ] || status=1
	for name in shed lost; do
		[ $(($(outcome "$data" $name) * 20)) -le "$samples" ] || status=1
	done
	tap $status "$text: $said % of $samples samples to the outermost frame" "$(closing "$data")"
	[ $status -ne 0 ] || closing "$data" | sed -n 's/^hybrid:/#/p' | head -n 8
}

# calls FILE: the callers in its chains have called what the chains say, by the code
# (selftests/judge). None may be false that looks complete, and one in two hundred of a
# recording that does not, as most have few samples: all_calls sums up. A chain without a mark ends
# where a process or a thread begins.
calls()
{
	local said status=0

	said=$("$perf" script -i "$1" -F tid,time,ip,sym,dso,dsoff --ns --no-inline \
		--max-stack 1200 2> /dev/null |
		"$work/../judge/check-calls" -v --max-refuted 0.5 --max-complete 0 \
			--max-ends 0.1) || status=1
	tap $status "calls of ${1#./}: $(head -n 1 <<< "$said")" "$said"
	head -n 1 <<< "$said" >> judged
}

# all_calls: of all recordings one sample in two thousand may be false, or one.
all_calls()
{
	local said

	said=$(awk '{ sub(/^samples=/, ""); n += $1; sub(/^.*refuted=/, ""); r += $1 }
		END { printf "%d of %d samples are false", r, n; exit r > 1 && r * 2000 > n }' judged)
	tap $? "calls of all recordings: $said"
}

# chains_of FILE: a line for each sample: its symbols, innermost first, each with a
# ">" behind it; without the marks of what is cut off or guessed.
chains_of()
{
	"$perf" script -i "$1" -F ip,sym --no-inline --max-stack 1200 2> /dev/null |
		awk '/ \[(cut off|guessed)\]$/ { next }
			NF { $1 = ""; sub(/^ /, ""); chain = chain $0 ">" }
			!NF && chain { print chain; chain = "" }'
}

# has_chain FILE PATTERN: such a line matches.
has_chain()
{
	chains_of "$1" | grep -E -- "$2" > /dev/null
}

# has_share FILE OF PATTERN PERCENT: of the chains that OF matches, 30 at least, that share matches
# PATTERN.
has_share()
{
	chains_of "$1" | grep -E -- "$2" | awk -v pattern="$3" -v percent="$4" '
		{ n++; found += $0 ~ pattern }
		END { print found + 0 " of " n + 0; exit n < 30 || 100 * found < percent * n }'
}

# own_root DIRECTORY PROGRAM PACKAGES...: a root directory with what the next Debian has of these,
# and its libc; nothing is done if it has the program.
own_root()
(
	root=$1 program=$2
	shift 2
	[ ! -x "$root/$program" ] || return 0
	# shellcheck source=scripts/kernel-apt.sh
	. "$here/scripts/kernel-apt.sh"
	# shellcheck disable=SC2034 # apt_setup reads it
	suites=trixie
	apt_setup deb
	rm -rf "$root.new"
	mkdir -p "$root.new/tmp" && cd "$root.new" || exit 1
	apt_own get -qq download libc6 "$@" || exit 1
	for deb in *.deb; do
		dpkg-deb -x "$deb" . || exit 1
	done
	rm -f ./*.deb
	for name in lib lib64; do
		[ -e "$name" ] || ln -s "usr/$name" "$name"
	done
	mv "$root.new" "$root"
)

# forget_maps FILE...: the maps of compiled code that the recorded processes left.
forget_maps()
{
	local data pid

	for data; do
		for pid in $("$perf" script -i "$data" -F pid 2> /dev/null | sort -u); do
			rm -f "/tmp/perf-$pid.map"
		done
	done
}

# hides_evaluator DATA: what perf script --hide-evaluator prints is what it prints else, without native
# frames that stand before a function.
hides_evaluator()
{
	"$perf" script -i "$1" --no-inline -F ip,sym 2> /dev/null > with.txt
	"$perf" script -i "$1" --no-inline -F ip,sym --hide-evaluator 2> /dev/null > without.txt
	awk '
		{ is = $2 ~ /^(py|rb|pl|php)::/ }
		NR > 1 && !(held && is) { print line }
		{ line = $0; held = NF && !is }
		END { print line }
	' with.txt | cmp - without.txt && ! cmp -s with.txt without.txt
}

# lies KIND FUNCTION: ./liar says it has a runtime. perf ends, its file is small enough, and has the
# function that runs.
lies()
{
	local status=0

	timeout 300 "$perf" record "${rings[@]}" -e cpu-clock -F 1000 --call-graph hybrid \
		-o lies.data ./liar "$1" 2 > lies.log 2>&1 || status=1
	[ $status -eq 0 ] && [ "$(stat -c %s lies.data)" -lt 100000000 ] &&
		"$perf" script -i lies.data -F ip,sym 2> /dev/null > lies.script &&
		grep -q "$2" lies.script &&
		! grep -q '[[:cntrl:]]' <(tr -d '\t\n' < lies.script) && return
	tail -n 3 lies.log
	return 1
}

# all_lies NAME FUNCTION KIND...
all_lies()
{
	local name=$1 function=$2 kind

	shift 2
	for kind; do
		ok "$name: $kind" lies "$kind" "$function"
		rm -f lies.data
	done
}

# short_runs NAME EVALUATOR PREFIX PERCENT COMMAND...: a program that runs for some 50 ms of CPU time,
# five times, each in a recording of its own: of its samples in the evaluator that share has
# functions, by name.
short_runs()
{
	local name=$1 evaluator=$2 prefix=$3 percent=$4 status=0 named all i

	shift 4
	for i in 1 2 3 4 5; do
		record short.data "$@"
		"$perf" script -i short.data --no-inline -F ip,sym 2> /dev/null
	done | awk -v prefix="$prefix" -v evaluator="$evaluator" '
		$2 == evaluator { is = 1 }
		index($2, prefix "[unknown]") == 1 { lost = 1 }
		index($2, prefix) == 1 { is = has = 1 }
		!NF { all += is; named += has && !lost; is = has = lost = 0 }
		END { print named + 0, all + 0 }
	' > short.counts
	rm -f short.data
	read -r named all < short.counts
	[ "$all" -ge 50 ] && [ $((named * 100)) -ge $((all * percent)) ] || status=1
	tap $status "$name: short runs: $named of $all samples have functions"
}

# without_functions NAME LANGUAGE PREFIX COMMAND...: functions, whose names have the prefix, can be
# left out, and are where BPF does not walk.
without_functions()
{
	local name=$1 language=$2 prefix=$3

	shift 3
	record plain.data --no-interpreter-frames "$@"
	ok "$name: not with --no-interpreter-frames" has_none plain.data "$prefix"
	record dumps.data --no-kernel-walk "$@"
	ok "$name: without BPF perf says that it shows none" \
		grep -q "^hybrid: functions of $language are not shown" dumps.data.log
}

has_none()
{
	! "$perf" script -i "$1" --no-inline -F ip,sym 2> /dev/null | grep -m 1 "$2"
}

# has_source_line DATA FUNCTION PATTERN: of the frames of a function some are at such a line.
has_source_line()
{
	local said

	said=$("$perf" script -i "$1" -F ip,sym,srcline 2> /dev/null | grep -A 1 "$2" |
		grep -v -e :: -e '^--' | sort -u)
	grep -q "$3" <<< "$said" && return
	head -n 10 <<< "$said"
	return 1
}
