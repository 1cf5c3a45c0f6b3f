# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Test results in TAP, for scripts that source it.

tap_number=0 tap_failed=0

# tap STATUS TEXT [DETAIL]: one result, and below it what went wrong.
tap()
{
	tap_number=$((tap_number + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_number - $2"
		return
	fi
	tap_failed=1
	echo "not ok $tap_number - $2"
	[ -z "${3:-}" ] || echo "# ${3//$'\n'/$'\n'# }"
}

tap_skip()
{
	tap_number=$((tap_number + 1))
	echo "ok $tap_number - $1 # SKIP $2"
}

# ok TEXT COMMAND...: the command succeeds. What takes long is worth knowing.
ok()
{
	local text=$1 said status=0 began=$SECONDS
	shift
	said=$("$@" 2>&1) || status=1
	tap $status "$text" "$said"
	[ $((SECONDS - began)) -lt 10 ] || echo "# $((SECONDS - began)) s"
}

# executes PROGRAM ARGUMENT...: does this machine? Some kernels, and some hypervisors, run no
# 32-bit programs, whatever the compiler makes: 126 is bash's word for that.
executes()
{
	local status=0

	"$@" > /dev/null 2>&1 || status=$?
	[ $status -ne 126 ]
}

# build_in PART ARGUMENT...: "make" in that folder of selftests; parts that run beside
# each other build the same programs.
build_in()
{
	# flock would make a file of that name. lib.sh sets both.
	# shellcheck disable=SC2154
	mkdir -p "$out/selftests" &&
		flock "$out/selftests" make -s -C "$here/selftests/$1" "${@:2}"
}

# says PATTERN COMMAND...: the command fails, with one line on standard error
# that matches.
says()
{
	local pattern=$1 said
	shift
	said=$("$@" 2>&1 > /dev/null) && { echo "it succeeded"; return 1; }
	echo "$said"
	[ "$(wc -l <<< "$said")" -eq 1 ] && grep -q -- "$pattern" <<< "$said"
}

# The plan, last; its status is that of the whole.
tap_end()
{
	echo "1..$tap_number"
	return $tap_failed
}
