# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Part of the tests that run in a VM: what it printed goes to files of $work.
# lib.sh sets $here and $out, the test $work; ok is of tap.sh.
#
# A VM takes long to come up, so it is one for many commands: each is planned, boot runs
# them, ran tells how one went.
#
#	plan uname uname -r
#	plan date date
#	ok "the VM" boot --stock 6.1
#	ok "uname" ran uname
# shellcheck disable=SC2154,SC2034 # options and ko are for those who source this

# Seconds that one command in a VM may take, by the guest's clock, and all of them, by
# the host's: far more than they do, so that what hangs comes to an end.
test_limit=900
vm_limit=3600

# in_vm NAME OPTION... -- COMMAND...: scripts/vm with these; standard output goes
# to $work/NAME. Where it fails, the end of what it said is printed.
in_vm()
{
	local name=$1
	shift
	"$here/scripts/vm" "$@" > "$work/$name" 2> "$work/$name.err" ||
		{ tail -n 40 "$work/$name" "$work/$name.err"; return 1; }
}

# plan NAME COMMAND...: let boot run it; what it prints will be in $work/NAME.
plan()
{
	local name=$1
	shift
	rm -f "$work/$name" "$work/$name.err" "$work/$name.status"
	echo "$name ${*@Q}" >> "$work/plan"
}

# boot OPTION...: runs in one scripts/vm with these options what was planned since the
# last one. Fails where the kernel reports something, or the VM does not come to the end.
boot()
{
	local shared status=0

	mkdir -p "$out/vm"
	shared=$(mktemp -d "$out/vm/boot.XXXXXX")
	mv "$work/plan" "$shared/"
	"$here/scripts/vm" --timeout "$vm_limit" "$@" -- \
		selftests/vm/several "$shared" "$test_limit" > "$work/boot" 2>&1 || status=$?
	cp "$shared"/* "$work/"
	rm -rf "$shared" "$work/plan"
	[ $status -eq 0 ] || { echo "exit status $status"; tail -n 100 "$work/boot"; return 1; }
}

# ran NAME: it was run and succeeded; else the end of what it said.
ran()
{
	if [ ! -e "$work/$1.status" ]; then
		echo "the VM ended before it"
		return 1
	fi
	[ "$(cat "$work/$1.status")" -ne 0 ] || return 0
	echo "exit status $(cat "$work/$1.status")"
	tail -n 40 "$work/$1" "$work/$1.err"
	return 1
}

# kernel_options DIRECTORY: sets $options to what scripts/vm needs for that kernel of
# out/, with its module where it has one.
kernel_options()
{
	options=(--kernel "$out/$1/bzImage")
	if [ -e "$out/$1/perf_unwind_rules.ko" ]; then
		echo "$out/$1/perf_unwind_rules.ko" > "$work/modules"
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
	[ "${count:-0}" -eq "$3" ] || { echo "$count lines match $2, not $3"; cat "$work/$1"; return 1; }
}
