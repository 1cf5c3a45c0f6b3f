# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# How scripts/check runs its parts and counts what they print.
#
# Each part has a directory for what it makes, which is removed behind it: TMPDIR and, as root,
# /tmp too, as perf and its own tests write there whatever TMPDIR says. A part of "make check"
# that leaves something there has failed.
#
# All parts of a lane run one after the other, the lanes beside each other. A lane takes the first
# of its parts that waits for no other; host and host2 both take those of "both", so that neither
# is idle while such a part is left. A lane whose parts are over takes those of style and sources.
# In $state a part has the directory NAME.taken, the file NAME.runs with the time at which it began,
# NAME.waits with what it waits for, NAME.pid with its process group, NAME.done; totals has the
# results.
# shellcheck disable=SC2154 # scripts/check sets $here, $out, $extent, $other_linux and part_*

# counts FORMAT LOG: passed, failed, skipped and planned tests ("-": no plan).
counts()
{
	awk -v format="$1" '
	format == "tap" && /^1\.\.[0-9]+/ { planned += substr($1, 4); plan = 1 }
	format == "tap" && /^(not )?ok( |$)/ {
		if (tolower($0) ~ /# skip/) skipped++
		else if ($1 == "ok") passed++
		else failed++
	}
	format == "perf" && /^ *[0-9]+(\.[0-9]+)?: .*: (Ok|FAILED!|Skip.*)$/ {
		if (/: Ok$/) passed++
		else if (/: FAILED!$/) failed++
		else skipped++
	}
	END {
		total = passed + failed + skipped
		if (format == "perf" && total) { planned = total; plan = 1 }
		print passed + 0, failed + 0, skipped + 0, plan ? planned + 0 : "-"
	}' "$2"
}

# show_failures LOG: the failed tests and what each has said, which follows in TAP and
# stands before in what perf test prints; and the reports of sanitizers. A fuzzer's words are any bytes.
show_failures()
{
	LC_ALL=C awk '
	/^---- start ----/ { lines = 0; next }
	/: FAILED!$/ {
		for (i = lines > 20 ? lines - 20 : 0; i < lines; i++) print said[i % 20]
		print
	}
	/^ok / { left = 0 }
	/^not ok/ { left = 9 }
	/ERROR: .*Sanitizer/ { left = 30 }
	left-- > 0
	!/ \[Success\]$/ { said[lines++ % 20] = $0 }' "$1" | head -n 60 | sed 's/^/    /'
}

# report NAME LOG SECONDS PROCESSOR WHY PASSED FAILED SKIPPED: PROCESSOR are the seconds of
# processor time that it took; WHY, if any, is what failed beside tests. What failed is said
# once more at the end of all, where the last lines are all that is kept of what is printed.
report()
{
	printf '%-14s %5d passed %5d failed %5d skipped %6d s %6d s of a CPU\n' \
		"$1" "$6" "$7" "$8" "$3" "$4"
	[ "$7" -gt 0 ] || return 0
	{
		show_failures "$2"
		if [ -n "$5" ]; then
			echo "    it did not end well: $5"
			tail -n 15 "$2" | sed 's/^/    | /'
		fi
		echo "    the whole log of $1: ${2#"$here/"}"
	} | tee -a "$state/failures"
}

# cpu_seconds FILE: of a shell's children, from what its "times" has written there.
cpu_seconds()
{
	awk 'NR == 2 {
		for (i = 1; i <= 2; i++) {
			split($i, part, "[ms]")
			seconds += part[1] * 60 + part[2]
		}
		print int(seconds)
	}' "$1"
}

# Is there no time left?
over()
{
	[ -n "${CHECK_ENDS:-}" ] && [ "$EPOCHSECONDS" -ge "$CHECK_ENDS" ]
}

# May parts have a /tmp of their own? It takes root, and nothing of ours in the one that is hidden.
own_tmp()
{
	[ "$EUID" -eq 0 ] && [[ "$here/ $out/" != */tmp/* ]] &&
		unshare -m mount --bind "$state" /tmp 2> /dev/null
}

# What a part has left in /tmp, or in TMPDIR. perf leaves what it has read of the vDSO if it is
# killed, or ended by a signal that it has no handler for; who kills it can't know the name.
left_behind()
{
	find "$1" -mindepth 1 -maxdepth 1 ! -name 'perf-vdso.so-*' -printf '%f '
}

# print_part NAME: what it prints, until there is no time left. Then all that it has
# started is killed at once: a test that lost its program would fail. The lanes style and sources
# have a lower priority: kernels and VMs take longest, and nothing may delay them.
print_part()
{
	local command=() left

	if [[ ${part_lane[$1]} =~ ^(style|sources)$ ]] && [ ! -e "$state/host.over" ]; then
		command=(nice -n 10)
	fi
	if [ -n "${CHECK_ENDS:-}" ]; then
		left=$((CHECK_ENDS - EPOCHSECONDS))
		# 0 is no limit to timeout.
		[ "$left" -gt 0 ] || return
		command+=(timeout -s KILL "$left")
	fi
	# shellcheck disable=SC2016 # that shell's
	[ -z "$private" ] || command+=(unshare -m sh -c 'mount --bind "$TMPDIR" /tmp &&
		TMPDIR=/tmp exec "$@"' sh)
	command+=("$here/scripts/check")
	[ "$extent" = check ] || command+=("--$extent")
	# With a process group of its own, which can be ended as a whole.
	set -m
	LINUX=$other_linux TMPDIR=$state/$1.tmp "${command[@]}" --run "$1" &
	set +m
	echo $! > "$state/$1.pid"
	wait $!
}

# why_failed NAME STATUS PLANNED PASSED FAILED SKIPPED: what is wrong with the part beside the
# tests that have failed. A part that there was no time for has failed: nobody knows if it works.
why_failed()
{
	local ended=$(($4 + $5 + $6)) left

	if [ "$3" != "$ended" ] && over; then
		echo "no time was left (CHECK_ENDS), $ended of ${3/-/its} tests have ended"
	elif [ "$3" = - ]; then
		echo "no plan, exit status $2"
	elif [ "$3" -ne "$ended" ]; then
		echo "$3 tests planned, $ended run, exit status $2"
	elif [ "$2" -ne 0 ] && [ "$5" -eq 0 ]; then
		echo "exit status $2"
	elif [[ ,${part_when[$1]}, == *,check,* ]]; then
		left=$(left_behind "$state/$1.tmp")
		[ -z "$left" ] || echo "it has left in /tmp: $left"
	fi
}

# run_part NAME
run_part()
{
	local name=$1 log=$out/log/check-$1.log status=0 start=$EPOCHSECONDS
	local died p f s planned cpu

	# Tests run programs as other users, too.
	mkdir -m 1777 "$state/$name.tmp"
	times > "$state/$name.times"
	cpu=$(cpu_seconds "$state/$name.times")
	print_part "$name" > "$log" 2>&1 < /dev/null || status=$?
	times > "$state/$name.times"
	cpu=$(($(cpu_seconds "$state/$name.times") - cpu))
	read -r p f s planned < <(counts "${part_format[$name]}" "$log")
	died=$(why_failed "$name" "$status" "$planned" "$p" "$f" "$s")
	rm -rf "$state/$name.tmp"
	[ -z "$died" ] || f=$((f + 1))
	{
		flock 9
		report "$name" "$log" $((EPOCHSECONDS - start)) "$cpu" "$died" "$p" "$f" "$s"
		echo "$p $f $s" >&9
	} 9>> "$state/totals"
}

# pause SECONDS: by a read that gets nothing. A sleep is a process, which runs on if this shell is
# killed.
pause()
{
	read -r -t "$1" <> "$state/never" || :
}

# wait_of NAME: sets $other to the first of the chosen parts that it is to run after and that has
# not ended, or to nothing.
wait_of()
{
	for other in ${part_after[$1]}; do
		[[ " ${chosen[*]} " != *" $other "* ]] || [ -e "$state/$other.done" ] || return 0
	done
	other=''
}

# parts_of LANE: those that it may run, in their order.
parts_of()
{
	local lane name lanes=$1

	case $1 in
	host) lanes="host both" ;;
	host2) lanes=both ;;
	style) lanes="style sources" ;;
	esac
	for lane in $lanes; do
		for name in "${chosen[@]}"; do
			[ "${part_lane[$name]}" != "$lane" ] || echo "$name"
		done
	done
}

# take NAME...: sets $taken to the first of these parts that nobody has taken and that waits for no
# other; fails if none is left. To wait starts no process: several lanes wait for most of the time.
take()
{
	local name other first

	while :; do
		first=''
		for name; do
			[ ! -e "$state/$name.taken" ] || continue
			wait_of "$name"
			if [ -z "$other" ] && mkdir "$state/$name.taken" 2> /dev/null; then
				[ ! -e "$state/$name.waits" ] || rm -f "$state/$name.waits"
				taken=$name
				return
			fi
			[ -n "$first" ] || first=$name
			[ -z "$other" ] || [ "$first" != "$name" ] || echo "$other" > "$state/$name.waits"
		done
		[ -n "$first" ] || return
		pause 1
	done
}

# run_taken NAME...: those of these parts that nobody has taken
run_taken()
{
	local i taken

	while take "$@"; do
		for ((i = 0; i < ${#chosen[@]}; i++)); do
			[ "${chosen[i]}" != "$taken" ] || break
		done
		echo "part $((i + 1)) of ${#chosen[@]} begins: $taken"
		echo "$EPOCHSECONDS" > "$state/$taken.runs"
		run_part "$taken"
		rm -f "$state/$taken.runs" "$state/$taken.pid"
		: > "$state/$taken.done"
	done
}

# host_is_over: has all ended that is at the higher priority because of the lane host?
host_is_over()
{
	local name

	for name in $(parts_of host); do
		[ -e "$state/$name.done" ] || return
	done
}

# run_lane LANE: its own parts, then what is left of style and sources. These two run at a lower
# priority, so that at the end they would be the only ones, each on its own.
run_lane()
{
	local names

	mapfile -t names < <(parts_of "$1")
	run_taken "${names[@]}"
	! host_is_over || : > "$state/host.over"
	mapfile -t names < <(parts_of style)
	run_taken "${names[@]}"
}

# Each half minute a line: how far it is.
progress()
{
	local start=$EPOCHSECONDS file name line began other

	while pause 30; do
		line='' name=("$state"/*.done)
		[ -e "${name[0]}" ] || name=()
		for file in "$state"/*.runs; do
			# A part that ends now removes it, and $(()) of no number ends the shell.
			began=$(cat "$file") || continue
			line+=", ${file##*/}"
			line="${line%.runs} since $((EPOCHSECONDS - began)) s"
		done
		for file in "$state"/*.waits; do
			other=$(cat "$file") || continue
			line+=", ${file##*/}"
			line="${line%.waits} waits for $other"
		done
		echo "  $((EPOCHSECONDS - start)) s: ${#name[@]} of ${#chosen[@]} parts done; ${line#, }"
	done 2> /dev/null
}

# Ends all that was started.
stop_parts()
{
	local file

	trap - INT TERM EXIT
	kill "${lanes[@]}" "$progress" 2> /dev/null
	for file in "$state"/*.pid; do
		[ ! -e "$file" ] || kill -- "-$(cat "$file")" 2> /dev/null
	done
	rm -rf "$state"
}

# run_parts NAME...: its status is whether none has failed.
run_parts()
{
	local lane
	chosen=("$@") lanes=()

	state=$(mktemp -d)
	chmod 755 "$state"
	mkfifo "$state/never"
	private=
	! own_tmp || private=1
	progress &
	progress=$!
	trap stop_parts EXIT
	trap 'stop_parts; exit 130' INT TERM
	[ -n "$(parts_of host)" ] || : > "$state/host.over"
	for lane in $(for name; do echo "${part_lane[$name]}"; done | sed 's/^both$/host\nhost2/' |
		sort -u); do
		run_lane "$lane" &
		lanes+=($!)
	done
	wait "${lanes[@]}"
	lanes=()
	if [ -s "$state/failures" ]; then
		echo "what failed:"
		cat "$state/failures"
	fi
	awk '{ p += $1; f += $2; s += $3 }
		END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }' "$state/totals"
}
