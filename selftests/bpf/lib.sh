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

# library_chains DATA LEAST: each chain through the library (library.S) names all its
# callers, and there are so many. With the rules of another file some lack one.
library_chains()
{
	"$perf" script -i "$1" -F ip,sym 2> /dev/null | awk -v least="$2" '
		BEGIN { RS = "" }
		/library_leaf/ {
			nr++
			if (!/leaf[^\n]*\n[^\n]*middle[^\n]*\n[^\n]*entry[^\n]*\n[^\n]*main/)
				wrong = wrong "\n" $0
		}
		END { print nr + 0 " chains" wrong; exit nr < least || wrong != "" }'
}
