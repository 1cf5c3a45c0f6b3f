# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What the tests of the walk by BPF share, for scripts that source it behind lib.sh and
# tap.sh; they set perf.

events=(-e cpu-clock)
config=''

# record DATA [OPTION...] COMMAND...: with BPF; the log is DATA.log.
record()
{
	local data=$1
	shift
	# lib.sh sets rings, and who sources this perf.
	# shellcheck disable=SC2154
	PERF_CONFIG=${config:-/dev/null} "$perf" record -v "${rings[@]}" "${events[@]}" -F 1000 \
		--call-graph hybrid -o "$data" "$@" > "$data.log" 2>&1
}

# walked LOG [SHARE]: did the program walk one sample in four, or more; or that share?
walked()
{
	awk -v least="${2:-0.25}" '/^hybrid: BPF walked/ { walked = $4; left = $7 }
	     END { exit !(walked > 0 && walked >= (walked + left) * least) }' "$1" && return
	grep -a '^hybrid' "$1"
	return 1
}

# chains_through DATA LEAST FUNCTION CALLER...: each chain with the function names its callers,
# one after the other, and there are so many. A name is a part of the symbol's. As many percent as
# most_cut_off has may be cut off, and say so.
chains_through()
{
	local data=$1 least=$2 function=$3 callers=$3 caller

	shift 3
	for caller; do
		callers+=$'[^\n]*\n[^\n]*'$caller
	done
	"$perf" script -i "$data" -F ip,sym 2> /dev/null | FUNCTION=$function CALLERS=$callers \
		awk -v least="$least" -v most_cut_off="${most_cut_off:-0}" '
		BEGIN { RS = "" }
		$0 ~ ENVIRON["FUNCTION"] {
			nr++
			if ($0 ~ /\[cut off\]/)
				cut_off++
			else if ($0 !~ ENVIRON["CALLERS"])
				wrong = wrong "\n" $0
		}
		END {
			print nr + 0 " chains, " cut_off + 0 " cut off" wrong
			exit nr < least || cut_off * 100 > nr * most_cut_off || wrong != ""
		}'
}

# library_chains DATA LEAST: through the library (library.S). With the rules of another file
# some lack a caller. A file that is written anew before perf has unwound the last samples of it
# can't be read any more: those say that they are cut off.
library_chains()
{
	local most_cut_off=5

	chains_through "$1" "$2" library_leaf middle entry main
}

# why_not LOG: what keeps BPF from walking here; nothing where it does.
why_not()
{
	if ! grep -q '^hybrid: BPF walked' "$1"; then
		grep -m 1 'stack dumps' "$1" || echo "no BPF here"
	fi
}

# is_broken REASON: on the kernel that the program was written on, root may load it.
is_broken()
{
	[[ $(uname -r) == 6.18.* && -e /sys/kernel/btf/vmlinux &&
		$1 == *"can't be loaded"* && $1 != *"not permitted"* ]]
}

# needs_bpf DATA: all is skipped where BPF may not be loaded, and where a kernel other than
# 6.18 refuses the program. It records to DATA.
needs_bpf()
{
	local reason

	record "$1" true
	reason=$(why_not "$1.log")
	rm -f "$1" "$1.log"
	[ -n "$reason" ] || return 0
	if is_broken "$reason"; then
		tap 1 "stacks walked by BPF" "$reason"
	else
		tap_skip "stacks walked by BPF" "$reason"
	fi
	tap_end
	exit
}
