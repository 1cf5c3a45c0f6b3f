# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # run sets what is shared
#
# Samples that come with a dump: how long it is, what it has room for, and which they are.

# Before the first rules are loaded the program writes dumps: as long as the stack is, where
# the kernel's take their whole size, and with room for large frames.
length_of_dumps()
{
	local data=$dir/length.data

	record "$data" -m 16M "$OUT/calls.nofp" 1 && awk '
		/^hybrid: samples 1 to 1: 0.00 % without dump/ { bytes = $10 }
		END {
			print "the first one has " bytes + 0 " bytes"
			exit !(bytes > 1000 && bytes < 30000)
		}' "$data.log" &&
		record "$data" -m 16M "$OUT/bigframes.nofp" 1 && awk '
		match($0, /truncated [0-9]+/) { cut = substr($0, RSTART + 10, RLENGTH - 10) }
		/^hybrid: BPF walked/ { left = $7 }
		END {
			print left + 0 " dumps of large frames, " cut + 0 " too short"
			exit left < 1 || cut > 0
		}' "$data.log"
}

# The pages of a stack that are not in memory are left out of a dump, and what is behind them
# is there.
holes_in_dumps()
{
	local data=$dir/holes.data

	record "$data" -m 16M "$dir/holes" 1 && awk '
		match($0, /not in memory [0-9]+/) { cut = substr($0, RSTART + 14, RLENGTH - 14) }
		/^hybrid: BPF walked/ { left = $7 }
		END { print left + 0 " dumps, " cut + 0 " cut off"; exit left < 1 || cut > 0 }' \
		"$data.log" &&
		chains_through "$data" 1 holes_leaf inner middle outer main
}

# A program whose stack pointer, frame pointer and stack are anything, at 10 kHz: the
# recording ends well, and of the program beside it no chain is wrong.
wild_beside()
{
	local data=$dir/wild.data said

	# shellcheck disable=SC2016 # the inner shell's
	record "$data" -F 10000 sh -c '"$1" 3 "$3" & "$2" 3; wait' sh "$dir/wild" \
		"$OUT/calls.nofp" "$RANDOM" && walked "$data.log" || return 1
	said=$("$truth/check-chains" --perf "$perf" -v --min-exact 90 --min-root 90 \
		"$data" 2>&1) && grep -q ' wrong=0 ' <<< "$said" && return
	echo "$said"
	return 1
}

# ring_size OPTION...: bytes of one, without its first page.
ring_size()
{
	# shellcheck disable=SC2034 # record() has it
	local rings=()

	record "$dir/rings.data" "$@" true &&
		awk -v page="$(getconf PAGESIZE)" '/^mmap size/ && !nr++ {
			print substr($3, 1, length($3) - 1) - page }' "$dir/rings.data.log"
}

# Few samples have dumps where BPF serves all events: 8 MiB are enough, but not for another
# event; and what -m says counts.
sizes_of_rings()
{
	local few all given

	few=$(ring_size) && given=$(ring_size -m 2M) &&
		all=$(ring_size -e page-faults/call-graph=hybrid/) || return 1
	echo "$few bytes, with another event $all, with -m 2M $given"
	rm -f "$dir"/rings.data*
	[ "$few" -le $((8 << 20)) ] && [ "$few" -ge $((512 << 10)) ] && [ "$all" -gt "$few" ] &&
		[ "$given" -eq $((2 << 20)) ]
}

# test_dumps NAME [OPTION...] PROGRAM: the program of BPF can't make such samples. They
# have their dumps, and are unwound by these.
test_dumps()
{
	local data=$dir/dumps.data name=$1 program=${*: -1} said
	shift

	if [ ! -x "$program" ]; then
		tap_skip "$name" "there is no ${program##*/}"
	elif ! record "$data" "$@" 1; then
		tap 1 "$name" "perf record failed: $(tail -n 3 "$data.log")"
	else
		said=$(awk '/^hybrid: BPF walked/ { walked = $4 }
			match($0, /hybrid: [0-9]+ samples: complete [0-9]+/) {
				split(substr($0, RSTART), word, " ")
				complete = word[5]
			}
			END {
				print complete + 0 " complete, BPF walked " walked + 0
				exit walked > 0 || complete < 1
			}' "$data.log")
		tap $? "$name: $said" "$(grep -a '^hybrid' "$data.log")"
	fi
	rm -f "$data" "$data.log"
}
