#!/bin/bash
# perf data convert --to-pprof
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2317 # check calls the tests

set -e

err=0
dir=$(mktemp -d /tmp/__perf_test.pprof.XXXXX)
data=$dir/perf.data
out=$dir/out

cleanup()
{
	rm -rf "$dir"
	trap - EXIT TERM INT
}

trap_cleanup()
{
	echo "Unexpected signal in ${FUNCNAME[1]}"
	cleanup
	exit 1
}
trap trap_cleanup EXIT TERM INT

skip()
{
	echo "Skip: $1"
	cleanup
	exit 2
}

# check NAME COMMAND...
check()
{
	local name=$1

	shift
	if "$@" > "$dir/said" 2>&1; then
		echo "$name [Success]"
	else
		echo "$name [Failed]"
		sed 's/^/    /' "$dir/said"
		err=1
	fi
}

convert()
{
	rm -rf "$out"
	mkdir "$out"
	perf data convert -i "$1" --to-pprof "$out/perf.pb.gz" "${@:2}" 2> "$dir/log"
}

# The strings of a profile stand in it as they are.
has()
{
	local word

	gzip -dc "$out/perf.pb.gz" > "$dir/profile" || return 1
	for word; do
		grep -qa -- "$word" "$dir/profile" || { echo "no $word"; return 1; }
	done
}

test_convert()
{
	local samples

	convert "$data" || { cat "$dir/log"; return 1; }
	samples=$(perf script -G -i "$data" -F ip 2> /dev/null | grep -c .)
	grep -q "($samples samples, " "$dir/log" || { cat "$dir/log"; echo "$samples"; return 1; }
	has samples count cpu nanoseconds pid tid comm noploop
}

test_no_symbols()
{
	convert "$data" --no-symbols && has samples || return 1
	! has test_noploop noploop.c
}

test_pipe()
{
	rm -rf "$out"
	mkdir "$out"
	perf record -e cpu-clock:u -g -o - perf test -w noploop 0.2 2> "$dir/log" |
		perf data convert -i - --to-pprof "$out/perf.pb.gz" 2> "$dir/log" ||
		{ cat "$dir/log"; return 1; }
	has samples noploop
}

# refused PATTERN: the last command failed with one line, and left nothing.
refused()
{
	cat "$dir/log"
	[ "$(wc -l < "$dir/log")" -eq 1 ] && grep -q -- "$1" "$dir/log" && [ -z "$(ls -A "$out")" ]
}

test_no_input() { ! convert "$dir/nowhere" && refused 'nowhere'; }

test_damaged()
{
	head -c 20000 /dev/urandom > "$dir/noise"
	! convert "$dir/noise" && refused 'incompatible\|noise\|format'
}

test_exists()
{
	convert "$data" || return 1
	cp "$out/perf.pb.gz" "$dir/before"
	! perf data convert -i "$data" --to-pprof "$out/perf.pb.gz" 2> "$dir/log" &&
		grep -q 'Use --force' "$dir/log" && cmp "$dir/before" "$out/perf.pb.gz" &&
		perf data convert --force -i "$data" --to-pprof "$out/perf.pb.gz" 2> "$dir/log"
}

# A limit of the size of files does what a full disk does.
test_full_disk()
{
	rm -rf "$out"
	mkdir "$out"
	(
		trap "" XFSZ
		ulimit -f 0
		perf data convert -i "$data" --to-pprof "$out/perf.pb.gz"
	) 2>&1 | cat > "$dir/log"
	[ "${PIPESTATUS[0]}" -ne 0 ] && refused 'File too large'
}

perf check feature -q libprotobuf-c || skip "perf was built without libprotobuf-c"
perf record -e cpu-clock:u -F 1000 -g -o "$data" perf test -w noploop 0.3 \
	> /dev/null 2> "$dir/log" ||
	skip "perf record does not work: $(tail -n 1 "$dir/log")"
check "all samples" test_convert
check "--no-symbols" test_no_symbols
check "from a pipe" test_pipe
check "no input" test_no_input
check "a damaged input" test_damaged
check "an output that exists" test_exists
check "a full disk" test_full_disk
cleanup
exit $err
