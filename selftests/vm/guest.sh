# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Part of the tests that run in a VM: what it printed goes to files of $work.
# lib.sh sets $here and $out, the test $work; ok is of tap.sh.
# shellcheck disable=SC2154,SC2034 # options and ko are for those who source this

# in_vm NAME OPTION... -- COMMAND...: scripts/vm with these; standard output goes
# to $work/NAME. Where it fails, the end of what it said is printed.
in_vm()
{
	local name=$1
	shift
	"$here/scripts/vm" "$@" > "$work/$name" 2> "$work/$name.err" ||
		{ tail -n 40 "$work/$name" "$work/$name.err"; return 1; }
}

# kernel_options DIRECTORY: sets $options to what scripts/vm needs for that kernel of
# out/, with its module where it has one.
kernel_options()
{
	options=(--kernel "$out/$1/bzImage")
	if [ -e "$out/$1/perf_hybrid.ko" ]; then
		echo "$out/$1/perf_hybrid.ko" > "$work/modules"
		options+=(--modules "$work/modules")
	fi
}

# build_module NAME KDIR: perf_hybrid.ko for that kernel; $ko is its path.
build_module()
{
	ok "$1: the module builds" sh -c "\"$here/scripts/kmod\" \"$2\" > \"$work/ko\""
	ko=$(cat "$work/ko")
}

# lines NAME PATTERN COUNT: that many lines match, neither more nor fewer.
lines()
{
	local count

	count=$(grep -cE -- "$2" "$work/$1")
	[ "$count" -eq "$3" ] || { echo "$count lines match $2, not $3"; cat "$work/$1"; return 1; }
}
