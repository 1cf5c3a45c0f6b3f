# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2034 # who sources it uses $calls
# What the tests of --call-graph hybrid share.

# A file that sources this calls hybrid_init, then hybrid_check for each of its
# tests, then hybrid_done. All files are in $dir, and all processes of
# hybrid_start's end with the script.

# shellcheck source=hybrid_programs.sh
. "$(dirname "${BASH_SOURCE[0]}")"/hybrid_programs.sh

dir=
err=0
children=()

hybrid_cleanup()
{
	trap - EXIT TERM INT
	[ ${#children[@]} -eq 0 ] || kill -9 "${children[@]}" 2> /dev/null || true
	wait 2> /dev/null || true
	[ -z "$dir" ] || rm -rf "$dir"
}

hybrid_trap()
{
	echo "Unexpected signal in ${FUNCNAME[1]}"
	hybrid_cleanup
	exit 1
}

hybrid_skip_all()
{
	echo "Skip: $1"
	hybrid_cleanup
	exit 2
}

hybrid_init()
{
	trap hybrid_trap EXIT TERM INT
	dir=$(mktemp -d "${hybrid_tmp:-/tmp}/__perf_test.hybrid.XXXXX")
	data=$dir/perf.data
	log=$dir/log
	# The cache of build-ids, ~/.debug, would change under tests that run meanwhile.
	export HOME=$dir
	# perf's default, half a second, may be too short on a busy machine to read the
	# mappings of a process.
	printf '[core]\n\tproc-map-timeout = 60000\n' > "$dir/.perfconfig"

	[ "$(uname -m)" = x86_64 ] || hybrid_skip_all "not x86_64"
	command -v cc > /dev/null || hybrid_skip_all "no cc"
	if ! perf record --call-graph hybrid -e dummy:u -o "$data" true > /dev/null 2> "$log" &&
	   grep -qE 'Unknown --call-graph|needs a perf built' "$log"; then
		hybrid_skip_all "this perf has no --call-graph hybrid"
	fi

	# What perf says of this machine with any file is none of our business.
	perf record -e cpu-clock:u -g -o "$data" true > /dev/null 2> "$log" ||
		hybrid_skip_all "perf record does not work: $(tail -n 1 "$log")"
	{
		perf report --stdio -i "$data"
		perf script -i "$data"
	} 2>&1 > /dev/null | sort -u > "$dir/usual"
	build_calls calls || hybrid_skip_all "cc builds no program"
	calls=$dir/calls
	write_used
}

hybrid_done()
{
	hybrid_cleanup
	exit $err
}

# hybrid_check NAME COMMAND...: one test. The command is a function that says
# what is wrong; it returns 77 where it can't run, having said why.
hybrid_check()
{
	local name=$1 ret=0

	shift
	"$@" > "$dir/said" 2>&1 || ret=$?
	case $ret in
	0) echo "$name [Success]" ;;
	77) echo "$name [Skipped $(tail -n 1 "$dir/said")]" ;;
	*)
		echo "$name [Failed]"
		tail -n 30 "$dir/said" | sed 's/^/    /'
		err=1
		;;
	esac
}

calls_true='^(((leaf;)?middle;)?outer;|([^;]*(clock|unknown)[^;]*;)*)main;([^;]+;)*_start$'
calls_own='^(leaf|middle|outer|main)$'

# hybrid_start COMMAND...: in the background; its PID is in $child.
hybrid_start()
{
	"$@" > /dev/null 2>&1 &
	child=$!
	children+=("$child")
}

# hybrid_stop PID [SIGNAL]
hybrid_stop()
{
	kill "-${2:-TERM}" "$1" 2> /dev/null
	wait "$1" 2> /dev/null
	return 0
}

# The script $dir/used PID NAME MILLISECONDS: waits until the process, as the program
# NAME, has used so much CPU time from now on; for at most a minute of time. perf
# record -p ends with it: how busy the machine is does not matter.
write_used()
{
	cat > "$dir/used" <<- 'EOF'
	#!/bin/sh
	# The 14th word of the line, which is in ticks.
	ticks()
	{
		sed -n "s/^$1 ($2) \([^ ]* \)\{11\}\([0-9]*\) .*/\2/p" "/proc/$1/stat" 2> /dev/null
	}

	hz=$(getconf CLK_TCK)
	end= tries=0
	while [ $tries -lt 600 ]; do
		now=$(ticks "$1" "$2")
		if [ -n "$now" ]; then
			: "${end:=$((now + hz * $3 / 1000))}"
			[ "$now" -lt "$end" ] || exit 0
		fi
		tries=$((tries + 1))
		sleep 0.1
	done
	echo "$2 ($1) was not given $3 ms of CPU time in a minute" >&2
	exit 1
	EOF
	chmod +x "$dir/used"
}

# hybrid_runs NAME: waits until $child, as the program NAME, has used 30 ms of CPU
# time. Before that it may still be this shell, or in the dynamic linker.
hybrid_runs()
{
	"$dir/used" "$child" "$1" 30
}

# hybrid_tasks PID N: waits until the process has N threads; for at most a minute.
hybrid_tasks()
{
	local tries tasks

	for tries in {1..600}; do
		tasks=(/proc/"$1"/task/*)
		[ ${#tasks[@]} -lt "$2" ] || return 0
		sleep 0.1
	done
	echo "process $1 has ${#tasks[@]} threads of $2 after $((tries / 10)) s"
	return 1
}

# record OPTION... [COMMAND]: into $data; what perf says is in $log.
record()
{
	rm -f "$data"
	perf record --call-graph hybrid -o "$data" "$@" > "$dir/stdout" 2> "$log" &&
		return 0
	echo "perf record --call-graph hybrid $*: exit status $?"
	cat "$log"
	return 1
}

# total NAME: a figure of the line that closes the recording; 0 where that line does
# not have it, as it has what is not zero.
total()
{
	local line

	line=$(grep 'hybrid: [0-9]* samples:' "$log") || return 1
	grep -q "[:,;] $1 [0-9]" <<< "$line" || line=": $1 0"
	sed -n "s/.*[:,;] $1 \([0-9]*\).*/\1/p" <<< "$line"
}

samples_read()
{
	sed -n 's/.*hybrid: \([0-9]*\) samples.*/\1/p' "$log"
}

# chains FILE [OPTION...]: the symbols of each sample in one line, innermost first.
chains()
{
	local file=$1

	shift
	perf script -i "$file" -F ip,sym --no-inline "$@" 2> /dev/null | awk '
	/^[ \t]*$/ { if (chain) print chain; chain = ""; next }
	{ chain = chain (chain ? ";" : "") $2 }
	END { if (chain) print chain }'
}

# chains_without_loader FILE [OPTION...]: the same without the chains that end at the first
# instructions of the dynamic linker or of the program: the slower memory is given to a new
# program, the more samples its start has.
chains_without_loader()
{
	local file=$1

	shift
	perf script -i "$file" -F ip,sym,dso --no-inline "$@" 2> /dev/null | awk '
	/^[ \t]*$/ { if (chain && !start) print chain; chain = ""; next }
	{ start = ($2 == "_start" || $2 == "[unknown]") && ($NF ~ /\/ld-/ || !chain) }
	{ chain = chain (chain ? ";" : "") $2 }
	END { if (chain && !start) print chain }'
}

# ips FILE [OPTION...]: the same with addresses.
ips()
{
	local file=$1

	shift
	perf script -i "$file" -F ip --no-inline "$@" 2> /dev/null | awk '
	/^[ \t]*$/ { if (chain) print chain; chain = ""; next }
	{ chain = chain (chain ? ";" : "") $1 }
	END { if (chain) print chain }'
}

# true_chains PATTERN OWN MIN: of the chains on stdin with a function that
# matches OWN, at least 99 % must match PATTERN; there must be MIN of them, which
# is a fifth of what the time of the program gives at its frequency, or less.
# Others (the dynamic linker's start, exec) don't count.
# By the environment: awk takes the backslashes out of what -v gives it.
true_chains()
{
	pattern=$1 own=$2 min=$3 awk -F ';' '
	BEGIN {
		pattern = ENVIRON["pattern"]
		own = ENVIRON["own"]
		min = ENVIRON["min"] + 0
	}
	{
		ours = 0
		for (i = 1; i <= NF; i++)
			if ($i ~ own) { ours = 1; break }
		if (!ours) next
		total++
		if ($0 ~ pattern) exact++
		else if (wrong++ < 5) print "wrong: " $0
	}
	END {
		printf "%d of %d chains are true, of at least %d\n", exact, total, min
		exit total < min || exact < 0.99 * total
	}'
}

# unusual: what perf does not say of any file, and not that records were lost: on
# a busy machine that is nobody's fault.
unusual()
{
	sort -u | comm -23 - "$dir/usual" |
		grep -vE '^$|^Warning:$|^Processed [0-9]+ (events|samples) and lost|^Check IO/CPU overload!$'
}

# reads_clean FILE: perf report and perf script say no more than they usually do.
reads_clean()
{
	local said

	said=$({ perf report --no-inline --stdio -i "$1" && perf script --no-inline -i "$1"; } 2>&1 > "$dir/read" ||
		echo "exit status $?")
	said=$(unusual <<< "$said")
	[ -n "$said" ] || { [ -s "$dir/read" ] && return 0; said="nothing in it"; }
	echo "reading the file: $said"
	return 1
}

# calls_are_true FILE [MIN]: a recording of the program calls.
calls_are_true()
{
	reads_clean "$1" &&
		chains "$1" --comm calls | true_chains "$calls_true" "$calls_own" "${2:-40}"
}

# one_line PATTERN COMMAND...: it fails and says so in one line that matches.
one_line()
{
	local pattern=$1 status=0 said

	shift
	said=$("$@" 2>&1 > /dev/null) || status=$?
	echo "$*: exit status $status: $said"
	case $status in
	0|124|134|137|139) return 1 ;; # also by a timeout or a crash
	esac
	[ "$(grep -cE -- "$pattern" <<< "$said")" -eq 1 ]
}
